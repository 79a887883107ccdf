"""The leaves of a tree, one below the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._validation import check_optional_integer
from ..estimators import Model, readable_tree_of
from ..explain import boxes_of, conditions_of
from ..fitted import Fitted
from ..tree import threshold_text
from ._axes import BESIDE, BLACK, axes_of, finish, write_percent
from ._posteriors import NodePosterior, Posteriors, posteriors_of
from ._words import wrap_text

_ROW = 0.36  # height of a leaf, in inches
_LABEL = 3.4  # width of a rule, in inches


def leaves(model: Model, *, max_leaves: int | None = 40, ax: Any = None) -> Axes:
    """Draw what every leaf knows, in the order of their estimates, with its rule, rows and 90 % interval.

    Parameters
    ----------
    model
        A fitted tree; of a tree space its modal tree is drawn.
    max_leaves
        Most leaves to draw, those with most rows; None: all.
    ax
        Axes to draw on; None: a new figure, as high as the leaves need.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import BayesianTreeClassifier, plot
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X[::2], y[::2])
    >>> ax = plot.leaves(model)
    >>> ax.get_xlabel()
    'probability of 1'
    """
    fitted = readable_tree_of(model)
    every = np.flatnonzero(fitted.trees.is_leaf)
    most = check_optional_integer("max_leaves", max_leaves, low=1)
    drawn = every[np.argsort(-fitted.trees.n_node_samples[every], kind="stable")[:most]]
    posteriors = posteriors_of(fitted, np.sort(drawn))
    order = _leaf_order(posteriors)
    row = max(_ROW, 0.09 * len(posteriors.classes))
    ax = axes_of(ax, size=(8.5, min(1.2 + row * len(order), 100.0)))
    for place, node in enumerate(order):
        _draw_leaf(ax, place, posteriors.nodes[node])
    if posteriors.classes:
        _write_legend(ax, posteriors)
    _write_labels(ax, fitted, order, posteriors)
    ax.set(xlim=(posteriors.low, posteriors.high), ylim=(-0.5, len(order) - 0.1))
    ax.set_xlabel(wrap_text(posteriors.quantity, 5.0, 10, 2))
    left_out = f"\n(the {len(order)} leaves with most rows, of {len(every)})" if len(order) < len(every) else ""
    if posteriors.is_share:
        write_percent(ax.xaxis)
    return finish(ax, f"What does each leaf know?{left_out}", left=False)


def _leaf_order(posteriors: Posteriors) -> list[int]:
    """Leaves by their estimate, the lowest first; with several classes, class by class."""

    def key(node: int) -> tuple[int, float]:
        posterior = posteriors.nodes[node]
        return posterior.main, posterior.estimates[posterior.main].value

    return sorted(posteriors.nodes, key=key)


def _draw_leaf(ax: Axes, place: int, posterior: NodePosterior) -> None:
    """A density on a line of its own, with the interval below it; or a point for each class."""
    main = posterior.estimates[posterior.main]
    if posterior.curve is not None:
        values, density = posterior.curve
        heights = place + 0.8 * density / density.max()
        ax.fill_between(values, heights, place, color=main.colour, alpha=0.3, lw=0)
        ax.plot(values, heights, color=main.colour, lw=1)
    spread = np.zeros(1) if len(posterior.estimates) == 1 else np.linspace(0.3, -0.3, len(posterior.estimates))
    for estimate, shift in zip(posterior.estimates, spread, strict=True):
        y = place + float(shift)
        if np.isfinite(estimate.low):
            ax.plot([estimate.low, estimate.high], [y, y], color=estimate.colour, lw=2, solid_capstyle="butt")
        if np.isfinite(estimate.value):
            edge = BLACK if posterior.curve is not None else estimate.colour
            ax.plot(estimate.value, y, "o", color=estimate.colour, mec=edge, mew=0.5, ms=4, clip_on=False)


def _write_labels(ax: Axes, fitted: Fitted, order: list[int], posteriors: Posteriors) -> None:
    """The rule of every leaf, with its rows; of many classes the class before it."""
    boxes, number = {box.leaf: box for box in boxes_of(fitted.trees, fitted.schema)}, threshold_text(fitted.trees)
    labels = []
    for node in order:
        rule = " and ".join(conditions_of(fitted.trees, fitted.schema, boxes[node], number)) or "all rows"
        class_text = f"{posteriors.nodes[node].labels[0]}: " if posteriors.of_decided_class else ""
        labels.append(wrap_text(f"n = {fitted.trees.n_node_samples[node]:,}, {class_text}{rule}", _LABEL, 7.5, 2))
    ax.set_yticks(np.arange(len(order)), labels, fontsize=7.5)


def _write_legend(ax: Axes, posteriors: Posteriors) -> None:
    """Names beside the plot, where they hide nothing."""
    handles = [ax.plot([], [], "o-", color=colour, markersize=4)[0] for _, colour in posteriors.classes]
    names = [wrap_text(name, 1.8, 9, 2) for name, _ in posteriors.classes]
    ax.legend(handles, names, **BESIDE)
