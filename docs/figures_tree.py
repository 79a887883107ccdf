"""The picture of a tree with call-outs, for the README and the landing page."""

from __future__ import annotations

import matplotlib.pyplot as plt

from baytree import plot

_INK = "#333333"
_PAPER = {"boxstyle": "round,pad=0.35", "facecolor": "#fff8e1", "edgecolor": "#b8860b", "linewidth": 0.8}


def draw_annotated_tree(model, path) -> None:
    """Draw a tree and say what each line of a split and of a leaf means."""
    axes = plot.tree(model)
    figure = axes.figure
    width, height = figure.get_size_inches()
    figure.set_size_inches(width + 4.4, height)
    left, right = axes.get_xlim()
    axes.set_xlim(left - 2.2, right + 2.2)
    texts = {text.get_text(): text for text in axes.texts if "n = " in text.get_text()}
    root = next(iter(texts.values()))
    leaf = min((text for text in texts.values() if "split" not in text.get_text()), key=lambda t: t.get_position()[0])
    last = max((text for text in texts.values() if "split" not in text.get_text()), key=lambda t: t.get_position()[0])
    figure.canvas.draw()
    for text, side, line, label in (
        (root, -1, 0, "condition:\nrows that meet it go left"),
        (root, -1, 1, "odds of splitting this node\nover leaving it whole"),
        (root, 1, 2, "probability of this column,\nand of the runner-up"),
        (root, 1, 4, "training rows in the node"),
        (leaf, -1, 0, "predicted class"),
        (leaf, -1, 1, "probability in this leaf"),
        (last, 1, -2, "90 % interval\nof the probability"),
        (leaf, -1, 3, "training rows in the leaf"),
    ):
        _point_at(axes, text, side, line, label)
    figure.savefig(path, dpi=200, bbox_inches="tight")
    plt.close(figure)


def _point_at(axes, text, side, line, label) -> None:
    """A call-out at a line of a text, on its left (-1) or right (1) side."""
    box = text.get_window_extent().transformed(axes.transData.inverted())
    n_lines = text.get_text().count("\n") + 1
    height = box.height / n_lines
    y = box.y1 - (line % n_lines + 0.5) * height
    edge = box.x0 if side < 0 else box.x1
    x = axes.get_xlim()[0] + 0.95 if side < 0 else axes.get_xlim()[1] - 0.95
    spread = (line % n_lines - (n_lines - 1) / 2) * 0.17  # call-outs of neighbouring lines do not overlap
    axes.annotate(
        label,
        xy=(edge + 0.02 * side, y),
        xytext=(x, y - spread * 1.6),
        ha="center",
        va="center",
        fontsize=8,
        color=_INK,
        bbox=_PAPER,
        arrowprops={"arrowstyle": "-", "color": _PAPER["edgecolor"], "linewidth": 0.8},
        zorder=10,
    )
