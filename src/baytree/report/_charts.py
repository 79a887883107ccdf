"""Charts as SVG, which need no script; the script moves the point of the threshold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from .._typing import FloatArray
from .._words import estimate_text, percent_text
from ..evaluation import CalibrationBin
from ..figures import Figure
from ._html import element

_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 444.0, 22.0, 322.0  # the inside of a chart


@dataclass(frozen=True)
class _PlotArea:
    """The plot area of a chart, which maps numbers to positions."""

    low: float
    high: float

    def x(self, value: float) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * (value - self.low) / (self.high - self.low), 1)

    def y(self, value: float) -> float:
        return round(_BOTTOM - (_BOTTOM - _TOP) * (value - self.low) / (self.high - self.low), 1)

    def axes(self, across: str, up: str, *, is_share: bool) -> str:
        """Two axes with ticks and titles."""
        text = percent_text if is_share else estimate_text
        ticks = round_numbers(self.low, self.high)
        marks = "".join(
            f'<text x="{self.x(tick)}" y="{_BOTTOM + 18}" text-anchor="middle">{escape(text(tick))}</text>'
            f'<text x="{_LEFT - 6}" y="{self.y(tick) + 4}" text-anchor="end">{escape(text(tick))}</text>'
            f'<path class="grid" d="M{self.x(tick)} {_TOP} V{_BOTTOM} M{_LEFT} {self.y(tick)} H{_RIGHT}"/>'
            for tick in ticks
        )
        return (
            f'{marks}<path class="axis" d="M{_LEFT} {_TOP} V{_BOTTOM} H{_RIGHT}"/>'
            f'<text x="{(_LEFT + _RIGHT) / 2}" y="{_BOTTOM + 42}" text-anchor="middle">{escape(across)}</text>'
            f'<text x="{_LEFT - 56}" y="12">{escape(up)}</text>'
        )


def round_numbers(low: float, high: float) -> list[float]:
    """Four to six numbers between two others that are easy to read."""
    rough = (high - low) / 5
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(digit * size for digit in (1, 2, 2.5, 5, 10) if digit * size >= rough * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [i * step for i in range(first, last + 1)]


def _chart(inside: str, label: str, **attributes: object) -> str:
    return element("svg", inside, class_="chart", viewBox="0 0 476 376", role="img", aria_label=label, **attributes)


def calibration_chart(bins: Sequence[CalibrationBin], predicted: str, observed: str) -> str:
    """Predicted against observed, with intervals; on the dashed line they agree."""
    ends = [number for group in bins for number in (group.predicted, group.observed.low, group.observed.high)]
    is_share = bins[0].observed.is_share
    low, high = (0.0, 1.0) if is_share else (min(ends), max(ends))
    frame = _PlotArea(low, high if high > low else low + 1.0)
    marks = "".join(
        f'<path class="range" d="M{frame.x(b.predicted)} {frame.y(b.observed.low)} V{frame.y(b.observed.high)}"/>'
        f'<circle class="mark" cx="{frame.x(b.predicted)}" cy="{frame.y(b.observed.estimate)}" r="4"/>'
        for b in bins
    )
    ideal = f'<path class="ideal" d="M{_LEFT} {_BOTTOM} L{_RIGHT} {_TOP}"/>'
    inside = frame.axes(predicted, observed, is_share=is_share) + ideal + marks
    return _chart(inside, f"{observed} against {predicted}; the table below has the figures")


def curve_chart(
    name: str, across: FloatArray, up: FloatArray, point: tuple[Figure, Figure], titles: tuple[str, str], *, ideal: bool
) -> str:
    """A curve over all thresholds with the point of one of them, and its intervals as a cross."""
    frame = _PlotArea(0.0, 1.0)
    points = " L".join(f"{frame.x(float(x))} {frame.y(float(y))}" for x, y in zip(across, up, strict=True))
    line = f'<path class="ideal" d="M{_LEFT} {_BOTTOM} L{_RIGHT} {_TOP}"/>' if ideal else ""
    x, y = point
    cross = ""
    if x.is_known and y.is_known:
        cx, cy = frame.x(x.estimate), frame.y(y.estimate)
        ends = f"M{frame.x(x.low)} {cy} H{frame.x(x.high)} M{cx} {frame.y(y.low)} V{frame.y(y.high)}"
        cross = f'<path class="cross" d="{ends}"/><circle class="here" cx="{cx}" cy="{cy}" r="6"/>'
    inside = frame.axes(*titles, is_share=True) + line + f'<path class="line" d="M{points}"/>'
    place = f"{_LEFT} {_RIGHT} {_TOP} {_BOTTOM}"
    return _chart(f"{inside}<g>{cross}</g>", f"{titles[1]} against {titles[0]}", id=name, data_place=place)


def dot(figure: Figure, low: float, high: float) -> str:
    """An estimate with its interval on a line of its own."""
    if not figure.is_known or not high > low:
        return ""

    def x(value: float) -> float:
        return round(4 + 112 * min(max((value - low) / (high - low), 0.0), 1.0), 1)

    interval = f'<path class="range" d="M{x(figure.low)} 7 H{x(figure.high)}"/>' if np.isfinite(figure.low) else ""
    return (
        '<svg class="dot" viewBox="0 0 120 14" width="120" height="14" aria-hidden="true"><path class="axis" d="M4 7 '
        f'H116"/>{interval}<circle class="mark" cx="{x(figure.estimate)}" cy="7" r="3.5"/></svg>'
    )
