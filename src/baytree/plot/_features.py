"""Which feature a node should be split along."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from .._validation import check_integer
from ..estimators import Model, readable_tree_of
from ..fitted import Fitted
from ._axes import BLUE, GREY, TEXT_SIZE, axes_of, draw_bars, finish
from ._words import wrap_text

_LEAST = 0.0005  # share of a feature that has a bar of its own


def feature_posterior(model: Model, *, node: int = 0, max_features: int = 15, ax: Any = None) -> Axes:
    """Draw how probably a node is split along each feature, and how probably it is not split.

    Parameters
    ----------
    model
        A fitted tree; of a tree space, a node of its modal tree is drawn.
    node
        Number of the node; 0 is the root.
    max_features
        Bars for so many features at most, the most probable; one more bar is for all others together. A feature
        with less than one in two thousand is one of the others.
    ax
        Axes to draw on; None: a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import BayesianTreeClassifier, plot
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X[::2], y[::2])
    >>> ax = plot.feature_posterior(model)
    >>> ax.get_xlabel()
    'posterior probability'
    """
    fitted = readable_tree_of(model)
    node, max_features = check_integer("node", node, low=0), check_integer("max_features", max_features, low=1)
    if node >= fitted.trees.node_count:
        raise ValueError(f"node must be one of the tree's {fitted.trees.node_count} nodes; got {node}.")
    bars = _bars(fitted, node, max_features)
    ax = axes_of(ax, size=(6.0, 0.9 + 0.26 * len(bars)))
    names, shares, colours = zip(*bars, strict=True)
    draw_bars(ax, names, shares, [_percent(share) for share in shares], colours)
    ax.set(xlim=(0, 1.12 * max(shares)), xlabel="posterior probability")
    return finish(ax, f"Which feature should split {'the root' if node == 0 else f'node {node}'}?", left=False)


def _bars(fitted: Fitted, node: int, max_features: int) -> list[tuple[str, float, str]]:
    """Name, share and colour of each bar, from above."""
    *shares, no_split = fitted.trees.feature_posterior[node].tolist()
    order = sorted(range(len(shares)), key=lambda feature: -shares[feature])
    drawn = [feature for feature in order[:max_features] if shares[feature] >= _LEAST]
    bars = [(wrap_text(fitted.schema.name(feature), 2.6, TEXT_SIZE, 2), shares[feature], BLUE) for feature in drawn]
    others = order[len(drawn) :]
    if others:
        name = f"{len(others)} {'other ' if drawn else ''}feature{'s' if len(others) > 1 else ''}"
        bars.append((name, sum(shares[feature] for feature in others), GREY))
    return [*bars, ("no split", no_split, GREY)]


def _percent(share: float) -> str:
    return f"{share:.0%}" if share >= 0.0995 else f"{share:.1%}" if share >= _LEAST else "< 0.1%"
