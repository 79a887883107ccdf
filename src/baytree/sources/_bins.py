"""Exact quantile bins of columns that are seen part by part.

A bin ends at the value of rank ceil(k n / max_bins), so the bins do not depend on how the rows are divided. One pass
counts the values between some splitters; a second one collects those near the ends of bins. The splitters decide how
many values are collected, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..growth import ColumnBins

_SPLITTERS = 4095
_SAMPLE = 2**15
_MOST_COLLECTED = 2**22  # values of a column
_SPLITTERS_AGAIN = 60000  # of a second count


def splitters_of(values: FloatArray) -> FloatArray:
    """Numbers that divide some values about evenly."""
    present = values[~np.isnan(values)] + 0.0
    chosen = np.sort(present[:: max(1, len(present) // _SAMPLE)])
    return np.unique(chosen[:: max(1, len(chosen) // _SPLITTERS)])[:_SPLITTERS]


@dataclass(frozen=True)
class IntervalCounts:
    """How many values of a column lie between splitters, and the values themselves while they are few."""

    splitters: FloatArray
    counts: IntArray  # of values up to each splitter and above the one before, and of those above the last
    lows: FloatArray  # the lowest of them, NaN where there are none
    distinct: FloatArray | None  # None: there are more than max_bins

    def merged(self, other: IntervalCounts, max_bins: int) -> IntervalCounts:
        """The count of both."""
        distinct = None
        if self.distinct is not None and other.distinct is not None:
            both = np.union1d(self.distinct, other.distinct)
            distinct = both if len(both) <= max_bins else None
        return IntervalCounts(self.splitters, self.counts + other.counts, np.fmin(self.lows, other.lows), distinct)

    def holds_end(self, max_bins: int) -> BoolArray:
        """Which of the intervals hold the end of a bin."""
        n, upto = int(self.counts.sum()), np.cumsum(self.counts)
        return np.asarray(_ended(upto, n, max_bins) > _ended(upto - self.counts, n, max_bins))

    @property
    def has_one_value(self) -> BoolArray:
        """Which of the intervals hold one value, however often."""
        return np.append(self.lows[:-1] == self.splitters, False)

    def is_collected(self, max_bins: int) -> BoolArray:
        """Which of the intervals must be looked into."""
        return self.holds_end(max_bins) & ~self.has_one_value

    def is_fine(self, max_bins: int) -> bool:
        """Whether what is to be collected fits into memory."""
        return self.distinct is not None or int(self.counts[self.is_collected(max_bins)].sum()) <= _MOST_COLLECTED

    def finer_splitters(self, max_bins: int) -> FloatArray:
        """Splitters that divide the intervals which must be looked into; each stays within its old bounds."""
        wide = np.flatnonzero(self.is_collected(max_bins))
        edges = np.append(self.splitters, np.finfo(np.float64).max)
        held = np.flatnonzero(self.holds_end(max_bins))
        before = edges[held[held > 0] - 1]
        held_edges = edges[held[held < len(self.splitters)]]
        a_piece = max(2, _SPLITTERS_AGAIN // max(len(wide), 1))
        pieces = [_between(self.lows[i], edges[i], a_piece) for i in wide]
        return np.unique(np.concatenate([held_edges, before, *pieces]))


def _between(low: float, high: float, n: int) -> FloatArray:
    """Numbers between two, evenly spread over what float64 can tell apart."""
    ends = _ordered(np.array([low, high]))
    steps = (int(ends[1]) - int(ends[0])) / n
    inner = np.array([int(ends[0]) + int(steps * k) for k in range(n)], dtype=np.uint64)
    return _values(np.unique(inner))


_SIGN = np.uint64(2**63)


def _ordered(values: FloatArray) -> AnyArray:
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values(ordered: AnyArray) -> FloatArray:
    return np.where(ordered & _SIGN, ordered ^ _SIGN, ~ordered).view(np.float64)


def _ended(rank: IntArray, n: int, max_bins: int) -> IntArray:
    """How many bins end at or before a rank."""
    return rank * max_bins // n if n < 2**40 else np.array([int(r) * max_bins // n for r in rank], dtype=np.int64)


def count(matrix: FloatArray, splitters: dict[int, FloatArray], max_bins: int) -> dict[int, IntervalCounts]:
    """Count the values of some columns."""
    found = _core.interval_counts(matrix, list(splitters), list(splitters.values()), max_bins, 1)
    result = {}
    for column, (counts, lows, distinct) in zip(splitters, found, strict=True):
        are_few = len(distinct) > 0 or not counts.any()
        result[column] = IntervalCounts(splitters[column], counts, lows, distinct if are_few else None)
    return result


def collect(matrix: FloatArray, counted: dict[int, IntervalCounts], max_bins: int) -> dict[int, FloatArray]:
    """The values of some columns in the intervals that hold the ends of bins."""
    ends, chosen = [], []
    for own in counted.values():
        wanted = own.is_collected(max_bins)
        last = np.append(np.flatnonzero(wanted[1:] != wanted[:-1]), len(wanted) - 1)  # of neighbours that are alike
        ends.append(own.splitters[last[:-1]])
        chosen.append(wanted[last].astype(np.uint8))
    return dict(zip(counted, _core.values_in_intervals(matrix, list(counted), ends, chosen, 1), strict=True))


def _runs(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """The distinct values of some in ascending order, and how often each occurs."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
    return values[starts], np.diff(np.append(starts, len(values)))


def _near_ends(counted: IntervalCounts, collected: FloatArray, max_bins: int) -> tuple[FloatArray, IntArray, IntArray]:
    """The values of the intervals that hold the ends of bins: in ascending order, how often each occurs, and where."""
    holds_end, has_one_value = counted.holds_end(max_bins), counted.has_one_value
    one = np.flatnonzero(holds_end & has_one_value)
    value, times = _runs(collected)
    place = np.searchsorted(counted.splitters, value)
    wanted = (holds_end & ~has_one_value)[place]
    value, times, place = (
        np.concatenate([many[wanted], few[one]])
        for many, few in ((value, counted.lows), (times, counted.counts), (place, np.arange(len(counted.counts))))
    )
    order = np.argsort(value)
    return value[order], times[order], place[order]


def bins_of(counted: IntervalCounts, collected: FloatArray | None, max_bins: int, *, has_missing: bool) -> ColumnBins:
    """The bins of a column from its count and what was collected, in ascending order."""
    if counted.distinct is not None or collected is None:
        values = np.zeros(0) if counted.distinct is None else counted.distinct
        return ColumnBins(values, values, has_missing)
    value, times, place = _near_ends(counted, collected, max_bins)
    n, before = int(counted.counts.sum()), np.cumsum(counted.counts) - counted.counts
    is_first = np.diff(place, prepend=-1) != 0  # of its interval
    upto = np.cumsum(times)
    rank = before[place] + upto - (upto - times)[is_first][np.cumsum(is_first) - 1]
    is_end = _ended(rank, n, max_bins) > _ended(rank - times, n, max_bins)
    filled = np.flatnonzero(counted.counts)
    low_of_next = np.append(counted.lows[filled], np.nan)[np.searchsorted(filled, place, "right")]
    following = np.where(np.append(is_first[1:], True), low_of_next, np.append(value[1:], np.nan))
    highs = value[is_end]
    lows = np.append(counted.lows[filled[:1]], following[is_end])[: len(highs)]
    return ColumnBins(lows, highs, has_missing)
