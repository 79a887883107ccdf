"""The paper's figures, drawn from the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from baytree import BayesianTreeClassifier, PartitionPrior, partition_space
from baytree._typing import AnyArray, FloatArray
from benchmarks.paper_sets import DataSet

try:
    import matplotlib as mpl
    from matplotlib.figure import Figure
except ImportError:
    mpl = None  # type: ignore[assignment]

BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"


def check_matplotlib() -> None:
    """Say so before any work is done."""
    if mpl is None:
        raise ImportError("The figures need matplotlib: pip install 'baytree[plot]', or leave them out.")


def draw_all(folder: Path, ripley: DataSet | None) -> list[tuple[str, str]]:
    """Draw every figure into a folder; return file names and captions."""
    check_matplotlib()
    drawn = [_figure_1(folder), _two_gaussians(folder), _beta_leaves(folder)]
    return [*drawn, _smoothing(folder, ripley)] if ripley is not None else drawn


def _axes(n: int, height: float = 3.2) -> tuple[Figure, list[Any]]:
    figure = Figure(figsize=(4.5 * n, height), layout="constrained")
    axes = [figure.add_subplot(1, n, i + 1) for i in range(n)]
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _figure_1(folder: Path) -> tuple[str, str]:
    X = np.array([[0.0], [0.5], [1.25], [1.5], [1.75]])
    space = partition_space(X, [1, 1, 1, 0, 0], prior=1.0)
    figure, (axes,) = _axes(1)
    names = ["no split", *(f"≤ {t:g}" for t in space["threshold"][1:])]
    axes.bar(names, np.exp(space["log_likelihood"]), color=[GREY, *[BLUE] * 4])
    axes.set(xlabel="split of x", ylabel="likelihood", title="Likelihoods of the partitions")
    figure.savefig(folder / "figure_1.png", dpi=110)
    return "figure_1.png", (
        "Figure 1 of the paper: five points, outcomes 1, 1, 1, 0, 0, prior Beta(1, 1). The likelihoods are "
        "1/60, 1/60, 1/36, 1/12 and 1/40."
    )


def two_gaussians(n: int, seed: int) -> tuple[FloatArray, AnyArray, Any]:
    """The paper's mixture: points, colours, and the probability of green anywhere."""
    random = np.random.default_rng(seed)
    first = random.random(n) < 0.5
    X = np.where(
        first[:, None], random.normal((-1, -1), np.sqrt(2), (n, 2)), random.normal((1, 3), np.sqrt(0.5), (n, 2))
    )
    y = np.where(random.random(n) < np.where(first, 0.25, 0.75), "green", "red")
    one, other = stats.multivariate_normal((-1, -1), 2), stats.multivariate_normal((1, 3), 0.5)
    return X, y, lambda at: (0.25 * one.pdf(at) + 0.75 * other.pdf(at)) / (one.pdf(at) + other.pdf(at))


def _two_gaussians(folder: Path) -> tuple[str, str]:
    X, y, probability = two_gaussians(500, 0)
    space = partition_space(X, y)
    figure, (left, right) = _axes(2)
    for feature, colour in ((0, ORANGE), (1, BLUE)):
        splits = space[space["feature"] == feature]
        left.plot(
            splits["threshold"], splits["log_posterior"], ".", markersize=3, color=colour, label=f"x{feature + 1}"
        )
        mode = splits["threshold"][np.argmax(splits["log_posterior"])]
        (right.axvline if feature == 0 else right.axhline)(mode, color=colour, label=f"mode of x{feature + 1}")
    left.axhline(space["log_posterior"][0], color=GREY, label="no split")
    left.set(xlabel="threshold", ylabel="log probability", title="Partition space")
    left.legend()
    grid = np.stack(np.meshgrid(np.linspace(-6, 4, 120), np.linspace(-6, 6, 120)), axis=-1)
    surface = right.contourf(grid[..., 0], grid[..., 1], probability(grid), levels=12, cmap="cividis", alpha=0.8)
    for label, marker in (("green", "o"), ("red", "x")):
        right.plot(*X[y == label].T, marker, markersize=2.5, color="black" if label == "red" else "white")
    right.set(xlabel="x1", ylabel="x2", title="Probability of green, and the modes")
    figure.colorbar(surface, ax=right)
    right.legend(loc="lower right", fontsize=7)
    figure.savefig(folder / "figure_3.png", dpi=110)
    return "figure_3.png", (
        "The two-Gaussian example: log probabilities of all partitions, and the modal split of each dimension over "
        "the true probability of green (white points; red ones are black crosses). 500 points, seed 0."
    )


def _beta_leaves(folder: Path) -> tuple[str, str]:
    X, y, _ = two_gaussians(500, 0)
    model = BayesianTreeClassifier(prior=1.0, prune=False, max_leaf_nodes=3).fit(X, y)
    tree = model.tree_
    figure, (left, right) = _axes(2)
    where = {0: (0.5, 1.0)}
    width = 0.5
    for node in range(tree.node_count):
        x, height = where[node]
        if tree.is_leaf[node]:
            text = "Beta({:g}, {:g})".format(*tree.posterior[node])
        else:
            text = f"x{tree.feature[node] + 1} ≤ {tree.threshold[node]:.2f}"
            for child, side in ((tree.children_left[node], -1), (tree.children_right[node], 1)):
                step = width / 2 ** (tree.depth[node] + 1)
                where[int(child)] = (x + side * step, height - 0.4)
                left.plot([x, x + side * step], [height, height - 0.4], color=GREY, zorder=0)
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": BLUE if tree.is_leaf[node] else GREY}
        left.text(x, height, text, ha="center", va="center", bbox=box, fontsize=8)
    left.set(xlim=(0, 1), ylim=(0, 1.15), title="Tree")
    left.axis("off")
    grid = np.linspace(0, 1, 400)
    for node, style in zip(np.flatnonzero(tree.is_leaf).tolist(), ("-", "--", ":"), strict=False):
        label = "Beta({:g}, {:g})".format(*tree.posterior[node])
        right.plot(grid, stats.beta(*tree.posterior[node]).pdf(grid), style, color=BLUE, label=label)
    right.set(xlabel="probability of green", ylabel="posterior density", title="Leaves")
    right.legend()
    figure.savefig(folder / "figure_5.png", dpi=110)
    return (
        "figure_5.png",
        "A tree of three leaves on the same points, prior Beta(1, 1), and the posterior in each leaf.",
    )


def _smoothing(folder: Path, ripley: DataSet) -> tuple[str, str]:
    figure, axes = _axes(2, 3.6)
    X = ripley.X_test if ripley.X_test is not None else ripley.X
    literal = PartitionPrior(split=0.99, proper=False, choose="partition")
    grid = np.stack(np.meshgrid(np.linspace(-1.3, 1.0, 200), np.linspace(-0.3, 1.2, 200)), axis=-1)
    for one, delta in zip(axes, (0.0, 0.1), strict=True):
        model = BayesianTreeClassifier(
            prior="paper", prune=False, partition_prior=literal, thresholds="midpoint", smoothing=delta
        ).fit(ripley.X, ripley.y)
        surface = model.predict_proba(grid.reshape(-1, 2))[:, 0].reshape(200, 200)
        drawn = one.imshow(surface, origin="lower", extent=(-1.3, 1.0, -0.3, 1.2), vmin=0, vmax=1, cmap="cividis")
        one.plot(*X.T, ".", markersize=1, color="white", alpha=0.6)
        one.set(title=f"δ = {delta:g}, {model.get_n_leaves()} leaves", xlabel="x1", ylabel="x2", aspect="auto")
    figure.colorbar(drawn, ax=axes, label="probability of class 0")
    figure.savefig(folder / "figure_6.png", dpi=110)
    return "figure_6.png", (
        "Ripley's set: probability of class 0 without and with smoothing, splits as probable at every depth; the "
        "points are those of the test set."
    )
