"""Exact quantile bins of columns that are read part by part.

A bin ends at the value of rank ceil(k n / max_bins), so the bins do not depend on how the rows are divided into parts;
a row of weight 2 counts as two rows. One pass counts the values between splitters; a second pass collects the values
near the ends of bins. With weights another pass between them adds these up, since their unit is known only after the
first. The splitters affect how many values are collected, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from .. import _core
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..growth import ColumnBins

_SPLITTERS = 4095
_SAMPLE = 2**15
_MAX_COLLECTED = 2**22  # values of a column
_SPLITTERS_AGAIN = 60000  # of a second count


def splitters_of(values: FloatArray) -> FloatArray:
    """Choose splitters that divide some values about evenly."""
    present = values[~np.isnan(values)] + 0.0
    chosen = np.sort(present[:: max(1, len(present) // _SAMPLE)])
    return np.unique(chosen[:: max(1, len(chosen) // _SPLITTERS)])[:_SPLITTERS]


@dataclass(frozen=True)
class IntervalCounts:
    """Counts of the values of a column between splitters, and the values themselves while they are few."""

    splitters: FloatArray
    counts: IntArray  # values up to each splitter and above the one before, and above the last; or their weights
    lows: FloatArray  # the lowest value of each interval, NaN for an empty one
    distinct: FloatArray | None  # None for more than max_bins distinct values
    n_values: IntArray | None = None  # where `counts` has weights

    def merge(self, other: IntervalCounts, max_bins: int) -> IntervalCounts:
        """The counts of two parts."""
        distinct = None
        if self.distinct is not None and other.distinct is not None:
            both = np.union1d(self.distinct, other.distinct)
            distinct = both if len(both) <= max_bins else None
        n_values = None if self.n_values is None or other.n_values is None else self.n_values + other.n_values
        lows = np.fmin(self.lows, other.lows)
        return IntervalCounts(self.splitters, self.counts + other.counts, lows, distinct, n_values)

    def holds_end(self, max_bins: int) -> BoolArray:
        """Which intervals contain the end of a bin."""
        n, upto = int(self.counts.sum()), np.cumsum(self.counts)
        return np.asarray(n_ended_bins(upto, n, max_bins) > n_ended_bins(upto - self.counts, n, max_bins))

    @property
    def has_one_value(self) -> BoolArray:
        """Which intervals contain a single distinct value."""
        return np.append(self.lows[:-1] == self.splitters, False)

    def is_collected(self, max_bins: int) -> BoolArray:
        """The intervals whose values must be collected."""
        return self.holds_end(max_bins) & ~self.has_one_value

    def is_fine(self, max_bins: int) -> bool:
        """Whether the values to be collected fit into memory."""
        n_values = self.counts if self.n_values is None else self.n_values
        return self.distinct is not None or int(n_values[self.is_collected(max_bins)].sum()) <= _MAX_COLLECTED

    def finer_splitters(self, max_bins: int) -> FloatArray:
        """Splitters that divide the intervals to be collected, within their old limits."""
        wide = np.flatnonzero(self.is_collected(max_bins))
        edges = np.append(self.splitters, np.finfo(np.float64).max)
        with_end = np.flatnonzero(self.holds_end(max_bins))
        before = edges[with_end[with_end > 0] - 1]
        after = edges[with_end[with_end < len(self.splitters)]]
        n_pieces = max(2, _SPLITTERS_AGAIN // max(len(wide), 1))
        pieces = [_evenly_spaced(self.lows[i], edges[i], n_pieces) for i in wide]
        return np.unique(np.concatenate([after, before, *pieces]))


def _evenly_spaced(low: float, high: float, n: int) -> FloatArray:
    """Numbers between two others, evenly spaced in the order of float64s."""
    ends = _sortable_bits(np.array([low, high]))
    steps = (int(ends[1]) - int(ends[0])) / n
    inner = np.array([int(ends[0]) + int(steps * k) for k in range(n)], dtype=np.uint64)
    return _values(np.unique(inner))


_SIGN = np.uint64(2**63)


def _sortable_bits(values: FloatArray) -> AnyArray:
    bits = (values + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _values(ordered: AnyArray) -> FloatArray:
    return np.where(ordered & _SIGN, ordered ^ _SIGN, ~ordered).view(np.float64)


def n_ended_bins(rank: IntArray, n: int, max_bins: int) -> IntArray:
    """The number of bins that end at or before a rank."""
    if n < 2**40:
        return rank * max_bins // n
    ends = np.array([-(-k * n // max_bins) for k in range(1, max_bins + 1)], dtype=np.int64)
    return np.asarray(np.searchsorted(ends, rank, side="right"))


def count(
    matrix: FloatArray, splitters: dict[int, FloatArray], max_bins: int, weight: IntArray | None = None
) -> dict[int, IntervalCounts]:
    """Count the values of some columns, by the integer weights of their rows if these are given."""
    columns = _core.interval_counts(matrix, list(splitters), list(splitters.values()), max_bins, None, 1)
    result = {}
    for column, (counts, lows, distinct) in zip(splitters, columns, strict=True):
        are_few = len(distinct) > 0 or not counts.any()
        result[column] = IntervalCounts(splitters[column], counts, lows, distinct if are_few else None)
    if weight is None:
        return result
    columns = _core.interval_counts(matrix, list(splitters), list(splitters.values()), 0, weight, 1)
    return {
        column: replace(of_values, counts=weights, n_values=of_values.counts)
        for (column, of_values), (weights, _, _) in zip(result.items(), columns, strict=True)
    }


class ColumnValues(NamedTuple):
    """Some values of a column, and the weights of their rows."""

    values: FloatArray
    weight: IntArray | None = None

    @classmethod
    def sorted(cls, parts: list[ColumnValues]) -> ColumnValues:
        """The values of all parts in ascending order."""
        values, weight = np.concatenate([part.values for part in parts]), None
        order = np.argsort(values, kind="stable")
        if parts[0].weight is not None:
            weight = np.concatenate([part.weight for part in parts if part.weight is not None])[order]
        return cls(values[order], weight)


def collect(
    matrix: FloatArray, counts: dict[int, IntervalCounts], max_bins: int, weight: IntArray | None = None
) -> dict[int, ColumnValues]:
    """Collect the values of some columns in the intervals that contain ends of bins."""
    ends, chosen = [], []
    for column in counts.values():
        is_collected = column.is_collected(max_bins)
        # Neighbouring intervals that are both collected, or both not, become one interval.
        last = np.append(np.flatnonzero(is_collected[1:] != is_collected[:-1]), len(is_collected) - 1)
        ends.append(column.splitters[last[:-1]])
        chosen.append(is_collected[last].astype(np.uint8))
    collected = _core.values_in_intervals(matrix, list(counts), ends, chosen, weight, 1)
    return {column: ColumnValues(*pair) for column, pair in zip(counts, collected, strict=True)}


def _runs(values: FloatArray, weight: IntArray | None) -> tuple[FloatArray, IntArray]:
    """The distinct ones of sorted values, and how often each occurs, or the weight of its rows."""
    starts = np.flatnonzero(np.append(True, values[1:] != values[:-1])[: len(values)])
    if weight is None or len(values) == 0:
        return values[starts], np.diff(np.append(starts, len(values)))
    return values[starts], np.add.reduceat(weight, starts)


def _values_near_ends(
    counts: IntervalCounts, collected: ColumnValues, max_bins: int
) -> tuple[FloatArray, IntArray, IntArray]:
    """The distinct values in the intervals that contain ends of bins, how often each occurs, and its interval."""
    holds_end, has_one_value = counts.holds_end(max_bins), counts.has_one_value
    one = np.flatnonzero(holds_end & has_one_value)
    value, times = _runs(*collected)
    interval = np.searchsorted(counts.splitters, value)
    is_near = (holds_end & ~has_one_value)[interval]
    value, times, interval = (
        np.concatenate([many[is_near], few[one]])
        for many, few in ((value, counts.lows), (times, counts.counts), (interval, np.arange(len(counts.counts))))
    )
    order = np.argsort(value)
    return value[order], times[order], interval[order]


def bins_of(counts: IntervalCounts, collected: ColumnValues | None, max_bins: int, *, has_missing: bool) -> ColumnBins:
    """The bins of a column from its counts and the collected values, which are sorted."""
    if counts.distinct is not None or collected is None:
        distinct = np.zeros(0) if counts.distinct is None else counts.distinct
        return ColumnBins(distinct, distinct, has_missing)
    value, times, interval = _values_near_ends(counts, collected, max_bins)
    n, before = int(counts.counts.sum()), np.cumsum(counts.counts) - counts.counts
    is_first = np.diff(interval, prepend=-1) != 0  # of its interval
    upto = np.cumsum(times)
    rank = before[interval] + upto - (upto - times)[is_first][np.cumsum(is_first) - 1]
    is_end = n_ended_bins(rank, n, max_bins) > n_ended_bins(rank - times, n, max_bins)
    filled = np.flatnonzero(counts.counts)
    low_of_next = np.append(counts.lows[filled], np.nan)[np.searchsorted(filled, interval, "right")]
    following = np.where(np.append(is_first[1:], True), low_of_next, np.append(value[1:], np.nan))
    highs = value[is_end]
    lows = np.append(counts.lows[filled[:1]], following[is_end])[: len(highs)]
    return ColumnBins(lows, highs, has_missing)
