"""A tree."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from .._validation import check_optional_integer
from ..estimators import Model, readable_tree_of
from ..fitted import Fitted
from ._canvas import check_axes
from ._layout import opened
from ._picture import LARGE, TreePicture
from ._sheet import Sheet, scale_on

_READABLE = 0.7  # of the size of a figure of its own
_FEWEST = 4


def tree(model: Model, *, max_depth: int | None = None, max_leaves: int | None = 24, ax: Any = None) -> Axes:
    """Draw a fitted tree: splits with their odds against no split, leaves with their posteriors.

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
    >>> from matplotlib import pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import BayesianTreeClassifier, plot
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X[::2], y[::2])
    >>> ax = plot.tree(model)
    >>> len(ax.texts) > model.get_n_leaves()
    True
    >>> plt.close()
    """
    fitted = readable_tree_of(model)
    max_depth = check_optional_integer("max_depth", max_depth, low=0)
    max_leaves = check_optional_integer("max_leaves", max_leaves, low=1)
    picture = TreePicture(fitted, opened(fitted.trees, max_depth, max_leaves), LARGE)
    if ax is not None:
        picture = _that_fits(fitted, picture, max_depth, check_axes(ax))
    sheet = Sheet(picture.posteriors, picture.width, picture.height, ax)
    left = (sheet.width - picture.width) / 2
    picture.draw(sheet.ax, left, sheet.top, sheet.scale)
    sheet.write_heading(left + picture.boxes[0].x)
    return sheet.ax


def _that_fits(fitted: Fitted, picture: TreePicture, max_depth: int | None, ax: Axes) -> TreePicture:
    """The picture with fewer branches, until it can be read on the Axes there are."""
    n_ends = len(picture.ends)
    while n_ends > _FEWEST and scale_on(ax, picture.posteriors, picture.width, picture.height) < _READABLE:
        n_ends = max(_FEWEST, n_ends - max(1, n_ends // 8))
        picture = TreePicture(fitted, opened(fitted.trees, max_depth, n_ends), LARGE)
    return picture
