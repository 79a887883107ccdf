"""A sheet for trees: inches to draw in, on a figure of the right size or on what Axes there are."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from ._axes import check_axes
from ._posteriors import Posteriors
from ._words import escape_text, text_width, wrap_text

_WIDEST, _HIGHEST = 200.0, 100.0  # figures, in inches: beyond this matplotlib cannot save them at 300 dpi
_NARROWEST = 4.6  # a sheet, so that the heading has room
_MARGIN = 0.1
_LINE = 0.17
_BETWEEN = 0.15  # classes
_SIZE = 9.0
_MOST_CLASSES = 12  # named in the heading


class Sheet:
    """Room for a heading and for pictures of a given width and height below it; the corner above is at (0, 0)."""

    def __init__(self, posteriors: Posteriors, width: float, height: float, ax: Any) -> None:
        self.width = max(width, _NARROWEST)
        self.lines = _heading(posteriors, self.width)
        self.top = -_LINE * len(self.lines) - 0.12
        high = height - self.top
        shown = (self.width + 2 * _MARGIN, high + 2 * _MARGIN)
        self.ax = _whole_figure(*shown) if ax is None else check_axes(ax)
        self.ax.set(xlim=(-_MARGIN, self.width + _MARGIN), ylim=(-high - _MARGIN, _MARGIN), aspect="equal", anchor="N")
        self.ax.set_axis_off()
        self.scale = _scale(self.ax, *shown)

    def write_heading(self, x: float) -> None:
        """Write what the small pictures show, centred as near to a place as the sheet allows."""
        for i, pieces in enumerate(self.lines):
            width = _width(pieces)
            begin = min(max(x - width / 2, 0.0), max(self.width - width, 0.0))
            for text, colour in pieces:
                place = {"ha": "left", "va": "top", "size": _SIZE * self.scale, "color": colour}
                self.ax.text(begin, -_LINE * i, text, **place)  # type: ignore[arg-type]
                begin += text_width(text, _SIZE) + _BETWEEN


def scale_on(ax: Axes, posteriors: Posteriors, width: float, height: float) -> float:
    """The scale of a picture on Axes, relative to its size in a figure of its own."""
    width = max(width, _NARROWEST)
    high = height + _LINE * len(_heading(posteriors, width)) + 0.12
    return _scale(ax, width + 2 * _MARGIN, high + 2 * _MARGIN)


def _width(pieces: list[tuple[str, str]]) -> float:
    return sum(text_width(text, _SIZE) + _BETWEEN for text, _ in pieces) - _BETWEEN


def _heading(posteriors: Posteriors, width: float) -> list[list[tuple[str, str]]]:
    """Lines of coloured pieces of text: the caption, and the classes where each has its colour."""
    lines = [[(line, "black")] for line in wrap_text(posteriors.caption, width, _SIZE, 3).split("\n")]
    row: list[tuple[str, str]] = []
    for name, colour in posteriors.classes[:_MOST_CLASSES]:
        piece = wrap_text(f"■ {name}", 3.0, _SIZE), colour
        if row and _width([*row, piece]) > width:
            lines.append(row)
            row = []
        row.append(piece)
    more = len(posteriors.classes) - _MOST_CLASSES
    rest = [[(escape_text(f"and {more} more, in the order of classes_"), "black")]] if more > 0 else []
    return [*lines, *([row] if row else []), *rest]


def _whole_figure(width: float, height: float) -> Axes:
    """Axes that are a new figure: a unit is an inch, where the figure is not too large for that."""
    shrink = min(1.0, _WIDEST / width, _HIGHEST / height)
    return plt.figure(figsize=(width * shrink, height * shrink)).add_axes((0.0, 0.0, 1.0, 1.0))


def _scale(ax: Axes, width: float, height: float) -> float:
    """The length on paper of an inch of the drawing; never more than one, so that letters do not grow."""
    place = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    return float(min(1.0, place.width / width, place.height / height))
