"""Draw the README's figure: ``make figures``."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from scipy import stats
from sklearn.datasets import load_breast_cancer

from baytree import BayesianTreeClassifier, partition_space

IMAGES = Path(__file__).parent / "images"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"  # told apart by colour-blind readers


def main() -> None:
    """Where the first cut may lie, and what the leaves know."""
    mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, data.target_names[data.target]
    model = BayesianTreeClassifier().fit(X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    draw_cuts(left, X, y)
    draw_leaves(right, model)
    figure.savefig(IMAGES / "posterior.png", dpi=110)


def draw_cuts(axes, X, y) -> None:
    """Posterior probability of every cut of the two best features."""
    space = partition_space(X, y)
    for name, colour in (("worst perimeter", BLUE), ("worst radius", ORANGE)):
        of_feature = space[space["feature"] == list(X.columns).index(name)]
        scale = (of_feature["threshold"] - X[name].min()) / np.ptp(X[name])
        axes.semilogy(scale, np.exp(of_feature["log_posterior"]), ".", color=colour, markersize=3, label=name)
    axes.set(
        title="How probable is each first cut?",
        xlabel="threshold, as a share of the feature's range",
        ylabel="posterior probability",
        ylim=(1e-12, 1),
        xlim=(0.2, 0.4),
    )
    axes.legend(frameon=False, loc="upper right")


def draw_leaves(axes, model) -> None:
    """Posterior density of the probability of a malignant tumour in each leaf."""
    p = np.linspace(0, 1, 801)
    for leaf in np.flatnonzero(model.tree_.is_leaf):
        benign, malignant = model.tree_.posterior[leaf]
        density = stats.beta(malignant, benign).pdf(p)
        colour = ORANGE if malignant > benign else BLUE
        axes.fill_between(p, density, color=colour, alpha=0.25, lw=0)
        axes.plot(p, density, color=colour, lw=1.2)
        top = density.argmax()
        axes.annotate(
            f"n={model.tree_.n_node_samples[leaf]}",
            (p[top], density[top]),
            ha="center",
            va="bottom",
            color=GREY,
            fontsize=8,
        )
    axes.set(title="What does each leaf know?", xlabel="probability that the tumour is malignant", xlim=(0, 1))
    axes.set_ylim(0, axes.get_ylim()[1] * 1.08)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


if __name__ == "__main__":
    main()
