"""Axes to draw on, and colours."""

from __future__ import annotations

from typing import Any

from .._validation import shown

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
except ImportError as error:
    raise ImportError("baytree.plot needs matplotlib: pip install 'baytree[plot]'") from error

# Okabe and Ito's colours, which colour-blind readers tell apart; grey in place of yellow, which is no colour for text.
BLUE, VERMILION, GREY, BLACK = "#0072b2", "#d55e00", "#999999", "#000000"
CLASS_COLOURS = (BLUE, VERMILION, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", BLACK, GREY)
BLUE_TO_VERMILION = LinearSegmentedColormap.from_list("baytree", [BLUE, "#f7f7f7", VERMILION])


def class_colour(position: int) -> str:
    """The colour of a class; they come round again after eight."""
    return CLASS_COLOURS[position % len(CLASS_COLOURS)]


def axes_of(ax: Any, *, size: tuple[float, float] = (6.0, 4.0)) -> Axes:
    """The Axes given, or one that fills a new figure."""
    if ax is None:
        return plt.subplots(figsize=size, layout="constrained")[1]
    return check_axes(ax)


def check_axes(ax: Any) -> Axes:
    """Refuse what cannot be drawn on."""
    if not isinstance(ax, Axes):
        raise TypeError(f"ax must be None or a matplotlib Axes; got {shown(ax)}.")
    return ax


def open_frame(ax: Axes, *, left: bool = True) -> None:
    """Take the frame away but for the axis below, and the one on the left."""
    ax.spines[["top", "right"] if left else ["top", "right", "left"]].set_visible(False)
    if not left:
        ax.tick_params(axis="y", length=0)
