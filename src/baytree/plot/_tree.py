"""A tree."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from .._validation import check_optional_integer
from ..estimators import Model, fitted_tree_of
from ._picture import LARGE, TreePicture
from ._sheet import Sheet


def tree(model: Model, *, max_depth: int | None = None, ax: Any = None) -> Axes:
    """Draw a fitted tree: splits with their odds against no split, leaves with their posteriors.

    Parameters
    ----------
    model
        A fitted tree; of a tree space its modal tree is drawn.
    max_depth
        Deepest level to draw; None for all. Nodes at which the drawing ends have a dashed frame.
    ax
        Axes to draw on, in which everything is made to fit; None: a new figure, as large as the tree needs.

    Returns
    -------
    matplotlib Axes
    """
    picture = TreePicture(fitted_tree_of(model), check_optional_integer("max_depth", max_depth, low=0), LARGE)
    sheet = Sheet(picture.posteriors, picture.width, picture.height, ax)
    left = (sheet.width - picture.width) / 2
    picture.draw(sheet.ax, left, sheet.top, sheet.scale)
    sheet.write_heading(left + picture.boxes[0].x)
    return sheet.ax
