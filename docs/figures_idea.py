"""The pictures of docs/how_it_works.md, drawn by docs/figures.py."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy import stats

from baytree import BayesianForestClassifier, BayesianTreeClassifier, partition_space
from benchmarks.paper_sets import make_ripley

IMAGES = Path(__file__).parent / "images"
BLUE, ORANGE, GREY = "#0072b2", "#d55e00", "#999999"


def draw_idea() -> None:
    """Draw all of them."""
    draw_partitions()
    draw_posteriors()
    draw_prunings()
    draw_forest()


def draw_partitions() -> None:
    """Five points and their five partitions, each with its posterior probability (figure 1 of the paper)."""
    x, y = np.arange(1.0, 6.0), np.array([1, 1, 1, 0, 0])
    space = partition_space(x.reshape(-1, 1), y, prior=1.0)
    figure, rows = plt.subplots(len(space), 2, figsize=(7, 3.6), width_ratios=(3, 2), layout="constrained")
    for (left, right), partition in zip(rows, space, strict=True):
        for label, colour in ((1, ORANGE), (0, BLUE)):
            left.plot(x[y == label], np.zeros(np.sum(y == label)), "o", color=colour, markersize=9)
        if np.isfinite(partition["threshold"]):
            left.axvline(partition["threshold"], color="black", lw=1.5)
        name = "no split" if partition["feature"] < 0 else f"x ≤ {partition['threshold']:g}"
        left.text(0.2, 0, name, va="center", fontsize=9)
        left.set(xlim=(0, 5.6), ylim=(-1, 1))
        share = np.exp(partition["log_posterior"])
        right.barh(0, share, color=ORANGE if share > 0.5 else GREY, height=0.9)
        right.text(share + 0.02, 0, f"{share:.1%}", va="center", fontsize=9)
        right.set(xlim=(0, 1.15), ylim=(-1, 1))
        for ax in (left, right):
            ax.axis("off")
    rows[0, 0].set_title("five rows of two classes, and every way to split them", fontsize=9)
    rows[0, 1].set_title("posterior probability", fontsize=9)
    figure.savefig(IMAGES / "idea_partitions.png", dpi=200)


def draw_posteriors() -> None:
    """What leaves with the same share of one class know, by how many rows they have."""
    p = np.linspace(0, 1, 801)
    figure, ax = plt.subplots(figsize=(7, 2.6), layout="constrained")
    for rows, colour in ((5, GREY), (20, BLUE), (100, ORANGE)):
        hits = round(0.8 * rows)
        leaf = stats.beta(1 + hits, 1 + rows - hits)
        low, high = leaf.interval(0.9)
        ax.fill_between(p, leaf.pdf(p), color=colour, alpha=0.2, lw=0)
        ax.plot(p, leaf.pdf(p), color=colour, lw=1.3, label=f"{hits} of {rows} rows: 90 % in {low:.2f} to {high:.2f}")
    ax.set(xlabel="probability of the class", xlim=(0, 1), ylim=(0, None))
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.legend(frameon=False, loc="upper left")
    figure.savefig(IMAGES / "idea_posteriors.png", dpi=200)


def draw_prunings() -> None:
    """The log posterior of the tree as its leaves are added, best first, and the pruning that is kept."""
    X, y = make_ripley(1000, random_state=0)
    kept = BayesianTreeClassifier().fit(X, y)
    sizes = np.arange(1, kept.grown_tree_.n_leaves + 1)
    scores = [kept.grown_tree_.prune_to_leaf_count(int(n)).log_posterior() for n in sizes]
    figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
    ax.plot(sizes, scores, ".-", color=GREY, lw=1, markersize=5, label="the grown tree, leaf by leaf")
    ax.plot(
        kept.get_n_leaves(), kept.log_posterior_, "o", color=ORANGE, markersize=8, label="the most probable pruning"
    )
    ax.set_xticks(sizes)
    ax.set(xlabel="leaves", ylabel="log posterior", ylim=(kept.log_posterior_ - 40, kept.log_posterior_ + 5))
    ax.legend(frameon=False, loc="lower right")
    figure.savefig(IMAGES / "idea_pruning.png", dpi=200)


def draw_forest() -> None:
    """Trees of a forest and their average, on Ripley's mixture."""
    X, y = make_ripley(250, random_state=0)
    X_new, y_new = make_ripley(20_000, random_state=1)
    forest = BayesianForestClassifier(random_state=0).fit(X, y)
    trees = forest.trees_
    models = {"one tree of the forest": trees[0], "another one": trees[1], "the average of a hundred": forest}
    side, low, high = 200, X.min(axis=0), X.max(axis=0)
    grid = np.stack(np.meshgrid(*np.linspace(low, high, side).T), axis=-1).reshape(-1, 2)
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.0), layout="constrained")
    for ax, (name, model) in zip(axes, models.items(), strict=True):
        surface = model.predict_proba(grid)[:, 1].reshape(side, side)
        extent = (low[0], high[0], low[1], high[1])
        ax.imshow(surface, extent=extent, origin="lower", cmap="RdBu_r", vmin=-0.15, vmax=1.15, aspect="auto")
        for label, colour in ((0, "#053061"), (1, "#67001f")):
            ax.plot(*X[y == label].T, ".", color=colour, markersize=2)
        ax.set(title=f"{name}\n{model.score(X_new, y_new):.1%} of new rows right")
        ax.set_xticks([])
        ax.set_yticks([])
    figure.savefig(IMAGES / "idea_forest.png", dpi=200)
