"""Trees as boxes and lines: one, or the most probable of a tree space."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from .._validation import check_integer, check_optional_integer, short_repr
from ..estimators import Model, fitted_of, readable_tree_of
from ..fitted import Fitted, ModelKind
from ._axes import check_axes
from ._layout import open_nodes
from ._picture import LARGE, SMALL, TreePicture
from ._sheet import Sheet, scale_on

_READABLE = 0.7  # of the size of a figure of its own
_FEWEST = 4
_MOST_ENDS = 16  # of a tree of a tree space: branches beyond stay closed
_BETWEEN = 0.45  # trees, in inches
_TITLE = 0.42
_NARROWEST = 1.5  # so that the title has room


def tree(model: Model, *, max_depth: int | None = None, max_leaves: int | None = 24, ax: Any = None) -> Axes:
    """Draw a fitted tree: splits with their odds against no split, leaves with their posteriors.

    A leaf with a linear model shows the posterior of its average row and the number of terms; `export.to_text` has
    the terms.

    Parameters
    ----------
    model
        A fitted tree; of a tree space its modal tree is drawn.
    max_depth
        Deepest level to draw; None for all.
    max_leaves
        Most leaves and closed branches to draw: the branches with most rows are opened first, those that stay closed
        have a dashed frame and say how many leaves they have. None: all leaves.
    ax
        Axes to draw on: as many branches are opened as can be read there. None: a new figure, as large as the tree
        needs.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import BayesianTreeClassifier, plot
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X[::2], y[::2])
    >>> ax = plot.tree(model)
    >>> len(ax.texts) > model.get_n_leaves()
    True
    """
    fitted = readable_tree_of(model)
    max_depth = check_optional_integer("max_depth", max_depth, low=0)
    max_leaves = check_optional_integer("max_leaves", max_leaves, low=1)
    picture = TreePicture(fitted, open_nodes(fitted.trees, max_depth, max_leaves), LARGE)
    if ax is not None:
        picture = _shrink_to_fit(fitted, picture, max_depth, check_axes(ax))
    sheet = Sheet(picture.posteriors, picture.width, picture.height, ax)
    left = (sheet.width - picture.width) / 2
    picture.draw(sheet.ax, left, sheet.top, sheet.scale)
    sheet.write_heading(left + picture.boxes[0].x)
    return sheet.ax


def _shrink_to_fit(fitted: Fitted, picture: TreePicture, max_depth: int | None, ax: Axes) -> TreePicture:
    """The picture with fewer branches, until it can be read on the Axes there are."""
    n_ends = len(picture.ends)
    while n_ends > _FEWEST and scale_on(ax, picture.posteriors, picture.width, picture.height) < _READABLE:
        n_ends = max(_FEWEST, n_ends - max(1, n_ends // 8))
        picture = TreePicture(fitted, open_nodes(fitted.trees, max_depth, n_ends), LARGE)
    return picture


def trees(space: Model, *, n: int = 4, max_depth: int | None = None, ax: Any = None) -> Axes:
    """Draw the most probable trees of a tree space side by side, with their weights.

    Parameters
    ----------
    space
        A fitted tree space.
    n
        How many trees at most.
    max_depth
        Deepest level to draw; None for all. Nodes at which the drawing ends have a dashed frame.
    ax
        Axes to draw on, in which everything is made to fit; None: a new figure, as large as the trees need.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import TreeSpaceClassifier, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> space = TreeSpaceClassifier(max_nodes=50).fit(X, y)
    >>> ax = plot.trees(space, n=2)
    >>> len(ax.texts) > 0
    True
    """
    fitted = fitted_of(space)
    if fitted.kind is not ModelKind.SPACE:
        raise TypeError(f"space must be a tree space of baytree, whose trees have weights; got {short_repr(space)}.")
    n, max_depth = check_integer("n", n, low=1), check_optional_integer("max_depth", max_depth, low=0)
    pictures = [
        TreePicture(tree, open_nodes(tree.trees, max_depth, _MOST_ENDS), SMALL) for tree in fitted.best_trees(n)
    ]
    widths = [max(picture.width, _NARROWEST) for picture in pictures]
    width = sum(widths) + _BETWEEN * (len(widths) - 1)
    sheet = Sheet(pictures[0].posteriors, width, max(picture.height for picture in pictures) + _TITLE, ax)
    left = 0.0
    for picture, room, weight, share in zip(
        pictures, widths, fitted.tree_weights(n), fitted.tree_shares(n), strict=True
    ):
        begin = left + (room - picture.width) / 2
        title = f"weight {weight:.0%}\n({share:.2g} of all trees)"
        size = SMALL.size * 1.1 * sheet.scale
        sheet.ax.text(left + room / 2, sheet.top, title, ha="center", va="top", size=size)
        picture.draw(sheet.ax, begin, sheet.top - _TITLE, sheet.scale)
        left += room + _BETWEEN
    sheet.write_heading(width / 2)
    return sheet.ax
