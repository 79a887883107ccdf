"""Axes to draw on, and what the plots share: colours, titles, legends, bars, intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._validation import short_repr
from ..figures import Figure

try:
    import matplotlib.pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.ticker import PercentFormatter
except ImportError as error:
    raise ImportError("baytree.plot needs matplotlib: pip install 'baytree[plot]'") from error

# Okabe and Ito's colours, which colour-blind readers tell apart; grey in place of yellow, which is no colour for text.
BLUE, VERMILION, GREY, BLACK = "#0072b2", "#d55e00", "#999999", "#000000"
CLASS_COLOURS = (BLUE, VERMILION, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", BLACK, GREY)
TEXT_SIZE = 9.0
TITLE_SIZE = 10.0
# Legends: where nothing is behind them, over the data, and beside the plot.
CLEAR: dict[str, Any] = {"frameon": False, "fontsize": TEXT_SIZE}
OVER_DATA: dict[str, Any] = {"framealpha": 0.85, "edgecolor": "none", "fontsize": TEXT_SIZE}
BESIDE: dict[str, Any] = {**CLEAR, "loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
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
        raise TypeError(f"ax must be None or a matplotlib Axes; got {short_repr(ax)}.")
    return ax


def finish(ax: Axes, title: str, *, left: bool = True) -> Axes:
    """Write the title, and take the frame away but for the axis below and the one on the left."""
    ax.set_title(title, fontsize=TITLE_SIZE)
    ax.spines[["top", "right"] if left else ["top", "right", "left"]].set_visible(False)
    if not left:
        ax.tick_params(axis="y", length=0)
    return ax


def write_percent(*axes: Any, decimals: int | None = 0) -> None:
    """Write the numbers of an axis as percentages."""
    for axis in axes:
        axis.set_major_formatter(PercentFormatter(1.0, decimals, " %"))


def draw_bars(
    ax: Axes, names: Sequence[str], lengths: Any, texts: Sequence[str], colours: Any, start: float = 0.0
) -> None:
    """Draw bars from the left, the first above, with their names before them and texts behind."""
    places = np.arange(len(names))
    bars = ax.barh(places, lengths, left=start, color=colours)
    ax.bar_label(bars, texts, padding=3, fontsize=TEXT_SIZE)
    ax.set_yticks(places, names, fontsize=TEXT_SIZE)
    ax.set_ylim(len(names) - 0.4, -0.6)


def error_bars_of(figure: Figure) -> FloatArray:
    """The lengths of an interval to either side of its estimate; it may end at a share of 0 or 1."""
    return np.maximum([[figure.estimate - figure.low], [figure.high - figure.estimate]], 0)
