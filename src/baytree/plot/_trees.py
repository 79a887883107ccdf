"""The most probable trees of a tree space."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from .._validation import check_integer, check_optional_integer, shown
from ..estimators import Model, fitted_of
from ..fitted import ModelKind
from ._layout import opened
from ._picture import SMALL, TreePicture
from ._sheet import Sheet

_MOST_ENDS = 16  # of a tree: branches beyond stay closed
_BETWEEN = 0.45  # trees, in inches
_TITLE = 0.42
_NARROWEST = 1.5  # so that the title has room


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
    >>> from matplotlib import pyplot as plt
    >>> from sklearn.datasets import load_iris
    >>> from baytree import TreeSpaceClassifier, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> space = TreeSpaceClassifier(max_nodes=50).fit(X, y)
    >>> ax = plot.trees(space, n=2)
    >>> len(ax.texts) > 0
    True
    >>> plt.close()
    """
    fitted = fitted_of(space)
    if fitted.kind is not ModelKind.SPACE:
        raise TypeError(f"space must be a tree space of baytree, whose trees have weights; got {shown(space)}.")
    n, max_depth = check_integer("n", n, low=1), check_optional_integer("max_depth", max_depth, low=0)
    pictures = [TreePicture(tree, opened(tree.trees, max_depth, _MOST_ENDS), SMALL) for tree in fitted.best_trees(n)]
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
