"""Figures with 90 % intervals: the same rows always give the same figures.

Shares have the central interval of their Beta posterior under Jeffreys' prior. Means have the normal interval of their
standard error. Ratios of events have the interval of a Gamma posterior. A row of weight 2 counts as two rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ._typing import BoolArray, FloatArray
from ._words import estimate_text, percent_text, range_text

LEVEL = 0.9  # of all intervals
Z = float(stats.norm.ppf(0.5 + LEVEL / 2))


@dataclass(frozen=True)
class Figure:
    """A number with its 90 % interval; NaN where it is not defined.

    Attributes
    ----------
    estimate
        The number; ``float(figure)`` is the same.
    low, high
        The ends of its interval.
    is_share
        Whether the number is a proportion, which is printed in percent.

    Examples
    --------
    >>> from baytree import metrics
    >>> figure = metrics.gini(["good", "bad", "good", "bad"], [0.1, 0.8, 0.4, 0.3], positive="bad")
    >>> float(figure)
    0.5
    """

    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    is_share: bool = False

    @property
    def is_known(self) -> bool:
        """Whether there is a number."""
        return math.isfinite(self.estimate)

    def __float__(self) -> float:
        return self.estimate

    def __str__(self) -> str:
        return f"{self.text()} ({self.interval()})" if self.interval() else self.text()

    def text(self) -> str:
        """The number to read."""
        if not self.is_known:
            return "–"
        return percent_text(self.estimate) if self.is_share else estimate_text(self.estimate)

    def interval(self) -> str:
        """The interval to read."""
        return "" if not math.isfinite(self.low) else range_text(self.low, self.high, share=self.is_share)


def share(hits: float, misses: float) -> Figure:
    """The share of hits, with the interval of its Beta posterior."""
    n = hits + misses
    if n <= 0:
        return Figure(is_share=True)
    low, high = stats.beta(hits + 0.5, misses + 0.5).interval(LEVEL)
    # The interval need not hold a share of 0 or 1, and then begins or ends there.
    return Figure(hits / n, 0.0 if hits == 0 else float(low), 1.0 if misses == 0 else float(high), is_share=True)


def mean(values: FloatArray, weight: FloatArray, figure: Callable[[float], float] = float) -> Figure:
    """A rising or falling function of a mean, with the interval of its standard error."""
    n = float(weight.sum())
    if n <= 0 or not np.all(np.isfinite(values[weight > 0])):
        return Figure()
    centre = float(np.average(values, weights=weight))
    spread = float(np.average((values - centre) ** 2, weights=weight))
    half = Z * math.sqrt(spread / max(n - 1, 1))
    ends = figure(centre - half), figure(centre + half)
    return Figure(figure(centre), min(ends), max(ends))


def ratio(events: float, expected: float) -> Figure:
    """Events over those that were expected, with the interval of a Gamma posterior."""
    if expected <= 0 or not math.isfinite(expected):
        return Figure()
    low, high = stats.gamma(events + 0.5, scale=1 / expected).interval(LEVEL)
    return Figure(events / expected, float(low) if events > 0 else 0.0, float(high))


def share_of(hit: BoolArray, weight: FloatArray) -> Figure:
    """The share of rows of which something is true."""
    return share(float(weight[hit].sum()), float(weight[~hit].sum()))
