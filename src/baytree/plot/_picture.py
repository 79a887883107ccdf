"""One tree as boxes, lines and small posteriors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from .._words import count_text
from ..fitted import Fitted, split_facts
from ._axes import BLACK, GREY
from ._layout import NodeBox, drawn_nodes, leaves_below, place_boxes
from ._posteriors import Estimate, NodePosterior, Posteriors, posteriors_of
from ._words import escape_text, text_width, wrap_text

_LINE = 1.25  # height of a line of text, in font sizes
_PADDING = 0.07


@dataclass(frozen=True)
class Style:
    """Sizes in inches, of the font in points, and whether a split shows its odds."""

    slot: float  # width of an end with the room beside it
    picture: float  # height of a small posterior
    gap: float  # between levels
    size: float
    details: bool

    @property
    def end_width(self) -> float:
        """Width of the box of an end."""
        return self.slot - 0.1

    @property
    def split_width(self) -> float:
        """Width that the box of a split has at most."""
        return 2 * self.slot - 0.1

    def height(self, text: str) -> float:
        """Height of a text."""
        return (text.count("\n") + 1) * self.size * _LINE / 72


LARGE = Style(slot=1.15, picture=0.5, gap=0.34, size=8, details=True)
SMALL = Style(slot=0.72, picture=0.32, gap=0.22, size=7, details=False)


class TreePicture:
    """The texts of a tree's nodes and the places of their boxes."""

    def __init__(self, fitted: Fitted, split: frozenset[int], style: Style) -> None:
        self.fitted = fitted
        self.tree = fitted.trees
        self.schema = fitted.schema
        self.style = style
        nodes = drawn_nodes(self.tree, split)
        self.ends = {node for node in nodes if node not in split}
        self.posteriors: Posteriors = posteriors_of(fitted, np.array(sorted(self.ends)))
        self.texts = {node: self._text(node) for node in nodes}
        sizes = {node: self._size(node, text) for node, text in self.texts.items()}
        self.boxes = place_boxes(self.tree, sizes, split, slot=style.slot, gap=style.gap)
        self.width = max(box.x for box in self.boxes.values()) + style.slot / 2
        self.height = -min(box.bottom for box in self.boxes.values())

    def _text(self, node: int) -> str:
        rows = f"n = {self.tree.n_node_samples[node]:,}"
        if node in self.ends:
            return "\n".join([*self._end_lines(self.posteriors.nodes[node]), rows, *self._last_line(node)])
        width = self.style.split_width - 2 * _PADDING
        question, _ = self.tree.split(node).question(self.schema)
        subject = self.tree.split(node).subject(self.schema)
        rule = self._rule(subject, question.removeprefix(f"{subject} "), width)
        if not self.style.details:
            return rule
        odds, *column, last = split_facts(self.fitted, node)
        rows = last.replace("n=", "n = ", 1)
        facts = [odds, *column, rows]
        return "\n".join([rule, *(wrap_text(fact, width, self.style.size, 2) for fact in facts)])

    def _rule(self, feature: str, condition: str, width: float) -> str:
        """The rule of a split, on one line where it fits."""
        size = self.style.size
        together = escape_text(f"{feature} {condition}")
        if text_width(together, size) <= width:
            return together
        return f"{wrap_text(feature, width, size, 3)}\n{wrap_text(condition, width, size, 3)}"

    def _end_lines(self, posterior: NodePosterior) -> list[str]:
        lines = posterior.labels if self.style.details else posterior.labels[:1]
        return [wrap_text(line, self.style.end_width - _PADDING, self.style.size, 2) for line in lines]

    def _last_line(self, node: int) -> list[str]:
        """The leaves of a closed branch; the terms of a leaf with a model, whose numbers are of its average row."""
        if not self.tree.is_leaf[node]:
            return [f"… {leaves_below(self.tree, node):,} leaves"]
        n_terms = int(self.tree.leaves.n_terms[node])
        return [f"model of {count_text(n_terms, 'term')}"] if n_terms else []

    def _size(self, node: int, text: str) -> tuple[float, float]:
        height = self.style.height(text) + _PADDING
        if node in self.ends:
            return self.style.end_width, height + self.style.picture + _PADDING
        width = text_width(text, self.style.size) + 2 * _PADDING
        return min(width, self.style.split_width), height

    def draw(self, ax: Axes, left: float, top: float, scale: float) -> None:
        """Draw with the upper left corner at a place; `scale` is the size of an inch of the picture on paper."""
        boxes = {node: NodeBox(box.x + left, box.top + top, box.width, box.height) for node, box in self.boxes.items()}
        for node in boxes:
            if node not in self.ends:
                self._draw_branches(ax, node, boxes, scale)
        for node, box in boxes.items():
            self._draw_node(ax, node, box, scale)

    def _draw_branches(self, ax: Axes, node: int, boxes: dict[int, NodeBox], scale: float) -> None:
        """Lines to the children, with what sends a row there."""
        parent = boxes[node]
        words = ("yes", "no") if self.tree.split(node).question(self.schema)[1] else ("no", "yes")
        for child, word, side in (
            (boxes[int(self.tree.children_left[node])], words[0], "right"),
            (boxes[int(self.tree.children_right[node])], words[1], "left"),
        ):
            fork = child.top + 0.6 * self.style.gap
            way = [parent.x, parent.x, child.x, child.x], [parent.bottom, fork, fork, child.top]
            ax.plot(*way, color=GREY, lw=0.8 * scale, zorder=1)
            space = 0.04 if side == "left" else -0.04
            size = 0.85 * self.style.size * scale
            ax.text(child.x + space, fork - 0.03, word, ha=side, va="top", size=size, color="#555555")

    def _draw_node(self, ax: Axes, node: int, box: NodeBox, scale: float) -> None:
        end, leaf = node in self.ends, bool(self.tree.is_leaf[node])
        corner = (box.x - box.width / 2, box.bottom)
        ax.add_patch(
            Rectangle(
                corner,
                box.width,
                box.height,
                facecolor="white" if end else "#f2f2f2",
                edgecolor=GREY,
                linewidth=0.6 * scale,
                linestyle="--" if end and not leaf else "-",
                zorder=2,
            )
        )
        text_top = box.top - _PADDING / 2
        if end:
            room = NodeBox(box.x, box.top - _PADDING, box.width - 2 * _PADDING, self.style.picture)
            _draw_posterior(ax, self.posteriors, self.posteriors.nodes[node], room, scale)
            text_top = room.bottom - _PADDING / 2
        middle = (text_top + box.bottom + _PADDING / 4) / 2
        size = self.style.size * scale
        ax.text(box.x, middle, self.texts[node], ha="center", va="center", size=size, linespacing=1.15, zorder=3)


def _draw_posterior(ax: Axes, posteriors: Posteriors, posterior: NodePosterior, room: NodeBox, scale: float) -> None:
    """A density, as high as there is room for; bars where there is a class for each; else a dot."""
    left = room.x - room.width / 2
    ax.plot([left, left + room.width], [room.bottom] * 2, color=GREY, lw=0.6 * scale, zorder=3)

    def across(value: Any) -> Any:
        return left + (np.clip(value, posteriors.low, posteriors.high) - posteriors.low) / span * room.width

    span = posteriors.high - posteriors.low
    main = posterior.estimates[posterior.main]
    if posteriors.of_decided_class:
        _draw_one_bar(ax, main, room, scale)
    elif posteriors.classes:
        _draw_bars(ax, posterior, room, scale)
    elif posterior.curve is not None:
        values, density = posterior.curve
        heights = room.bottom + density / density.max() * room.height
        ax.fill_between(across(values), heights, room.bottom, color=main.colour, alpha=0.3, lw=0, zorder=3)
        ax.plot(across(values), heights, color=main.colour, lw=scale, zorder=3)
    elif np.isfinite(main.value):
        ax.plot(across(main.value), room.bottom, "o", color=main.colour, markersize=4 * scale, zorder=3)


def _draw_one_bar(ax: Axes, estimate: Estimate, room: NodeBox, scale: float) -> None:
    """A bar from the left, as long as a probability."""
    left, middle, height = room.x - room.width / 2, room.bottom + 0.5 * room.height, 0.36 * room.height
    ax.add_patch(
        Rectangle(
            (left, middle - height / 2), estimate.value * room.width, height, color=estimate.colour, lw=0, zorder=3
        )
    )
    ends = [left + end * room.width for end in (estimate.low, estimate.high)]
    ax.plot(ends, [middle, middle], color=BLACK, lw=0.8 * scale, zorder=4)


def _draw_bars(ax: Axes, posterior: NodePosterior, room: NodeBox, scale: float) -> None:
    step = room.width / len(posterior.estimates)
    for i, bar in enumerate(posterior.estimates):
        x = room.x - room.width / 2 + (i + 0.5) * step
        corner = (x - 0.4 * step, room.bottom)
        ax.add_patch(Rectangle(corner, 0.8 * step, bar.value * room.height, color=bar.colour, lw=0, zorder=3))
        ends = [room.bottom + end * room.height for end in (bar.low, bar.high)]
        ax.plot([x, x], ends, color=BLACK, lw=0.8 * scale, zorder=4)
