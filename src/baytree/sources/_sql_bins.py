"""Where the bins of columns in a database end.

The range of a column is divided into slices of equal width, which are counted; only the values of slices that hold the
end of a bin are fetched. A value is in the slice that its place is cast to: databases cast in different ways, but none
of them changes the order of values. Window functions find the ends where slices divide a column badly. A range may be
guessed: the count tells whether a value lies outside.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import ibis
import numpy as np

from .._typing import AnyArray
from ..growth import ColumnBins
from ._bins import IntervalCounts, bins_of
from ._sql_fixed_point import as_number, fetch, fetch_arrays, number, real
from ._sql_values import TemporaryTables

_SLICES = 2**16  # as many as 16 bits can count
_MOST_FETCHED = 2**20  # values of a column


@dataclass(frozen=True)
class Range:
    """The lowest and the highest value of a column (None: it has no numbers), and whether values are missing."""

    low: float | None
    high: float | None
    has_missing: bool
    has_nan: bool = False
    is_guess: bool = False

    def value(self, column: Any) -> Any:
        """The column as float64, null where it is missing."""
        return number(column) if self.has_nan else as_number(column)

    @property
    def factor(self) -> float:
        """Slices a unit; not finite where there are none."""
        width = 0.0 if self.low is None or self.high is None else self.high - self.low
        return (_SLICES - 2) / width if width > 0 else math.inf

    def widened(self) -> Range:
        """A guess, from the range of some values."""
        low, high = self.low or 0.0, self.high or 0.0
        more = (high - low) / 4
        return replace(self, low=low - more, high=high + more, is_guess=True)


@dataclass(frozen=True)
class SliceCounts:
    """The slices of a column that have values, in ascending order, how many, and which of them are to be fetched."""

    of: Range
    slices: AnyArray
    counts: AnyArray
    near: AnyArray


def find_bins(
    rows: Any, ranges: dict[str, Range], max_bins: int, look: Callable[[str], Range]
) -> dict[str, ColumnBins]:
    """The bins of columns of numbers; `look` finds the range of a column where a guess was wrong."""
    result, wanted = {}, {}
    for name, guess_or_range in ranges.items():
        own = guess_or_range
        counted = _slices_to_fetch(rows, name, own, max_bins)
        if counted is None and own.is_guess:
            own = look(name)
            counted = _slices_to_fetch(rows, name, own, max_bins)
        if counted is None:
            result[name] = _by_extremes(rows, name, own, max_bins)
        else:
            wanted[name] = counted
    for name, counted in wanted.items():
        values = _collect(rows, name, counted.of, counted.slices[counted.near])
        known = _known_near_ends(counted.counts, counted.near, values)
        result[name] = bins_of(known, values, max_bins, has_missing=counted.of.has_missing)
    return result


def _slices_to_fetch(rows: Any, name: str, of: Range, max_bins: int) -> SliceCounts | None:
    """None where slices divide the column badly, or a value lies outside of a range that was guessed."""
    if not 0 < of.factor < math.inf:
        return None
    found = _count(rows, name, of)
    if found is None:
        return None
    slices, counts = found
    near = _near_ends(counts, max_bins)
    if len(slices) <= max_bins or counts[near].sum() > _MOST_FETCHED:
        return None
    return SliceCounts(of, slices, counts, near)


def _near_ends(counts: AnyArray, max_bins: int) -> AnyArray:
    """Which slices hold the end of a bin, or come right behind one that does; the first has the lowest value."""
    nothing = np.full(len(counts), np.nan)
    holds_end = IntervalCounts(nothing, np.append(counts, 0), np.append(nothing, np.nan), None).holds_end(max_bins)
    return holds_end[:-1] | np.append(True, holds_end[:-2])


def _known_near_ends(counts: AnyArray, near: AnyArray, values: AnyArray) -> IntervalCounts:
    """The count of slices, given the values of some of them, in ascending order.

    Nothing is asked of the other slices; that they end with those before them leaves all in order.
    """
    lows, highs = np.full(len(counts) + 1, np.nan), np.full(len(counts), -np.inf)
    stop = np.cumsum(counts[near])
    lows[:-1][near], highs[near] = values[stop - counts[near]], values[stop - 1]
    return IntervalCounts(np.maximum.accumulate(highs), np.append(counts, 0), lows, None)


def _by_extremes(rows: Any, name: str, of: Range, max_bins: int) -> ColumnBins:
    """The same where slices may have a single value each: none of these must be looked into."""
    if not 0 < of.factor < math.inf:
        return _by_window(rows, name, of, max_bins)
    table = _values(rows, name, of).mutate(slice=lambda t: _slice(t.v, of, rows.get_backend()))
    asked = {"n": table.count(), "low": table.v.min(), "high": table.v.max()}
    found = fetch_arrays(table.group_by("slice").aggregate(**asked))
    order = np.argsort(found["slice"])
    slices, counts, lows, highs = (found[key][order] for key in ("slice", "n", "low", "high"))
    counted = IntervalCounts(highs + 0.0, np.append(counts, 0), np.append(lows + 0.0, np.nan), None)
    inside = counted.is_collected(max_bins)
    if len(slices) <= max_bins:
        if counted.has_one_value[:-1].all():
            return ColumnBins(counted.splitters, counted.splitters, of.has_missing)
        return _by_window(rows, name, of, max_bins)
    if counts[inside[:-1]].sum() > _MOST_FETCHED:
        return _by_window(rows, name, of, max_bins)
    values = _collect(rows, name, of, slices[inside[:-1]])
    return bins_of(counted, values, max_bins, has_missing=of.has_missing)


def _slice(value: Any, of: Range, backend: Any) -> Any:
    kind = "uint16" if backend.name == "duckdb" else "int32"  # not all databases have both
    place = (value - real(of.low or 0.0)) * real(of.factor)
    return place.try_cast(kind) if of.is_guess else place.cast(kind)


def _values(rows: Any, name: str, of: Range) -> Any:
    value = of.value(rows[name])
    return (rows.filter(value.notnull()) if of.has_missing else rows).select(v=value)


def _count(rows: Any, name: str, of: Range) -> tuple[AnyArray, AnyArray] | None:
    """The slices that have values, in ascending order, and their counts; None where a value has no slice."""
    table = _values(rows, name, of).select(slice=lambda t: _slice(t.v, of, rows.get_backend()))
    found = fetch_arrays(table.group_by("slice").aggregate(n=table.count()))
    if found["slice"].dtype.kind == "f":  # with a null
        return None
    order = np.argsort(found["slice"])
    return found["slice"][order], found["n"][order]


def _collect(rows: Any, name: str, of: Range, slices: AnyArray) -> AnyArray:
    """The values in some slices, in ascending order."""
    if len(slices) == 0:
        return np.zeros(0)
    table, backend = _values(rows, name, of), rows.get_backend()
    of_value, tables = _slice(table.v, of, backend), TemporaryTables(backend)
    try:
        if backend.name == "duckdb":  # a list of hundreds of numbers takes Ibis long to compile
            wanted = tables.of_values({"wanted": slices})
            is_wanted = of_value.isin(wanted["wanted"])
        else:
            is_wanted = of_value.isin(slices.tolist())
        return np.sort(fetch_arrays(table.filter(is_wanted))["v"] + 0.0)
    finally:
        tables.drop()


def _by_window(rows: Any, name: str, of: Range, max_bins: int) -> ColumnBins:
    """One query for a column; window functions find the ends."""
    value = number(rows[name])
    known = rows.filter(value.notnull()).select(v=value)
    few = fetch(known.distinct().limit(max_bins + 1))["v"]
    if len(few) <= max_bins:
        values = np.sort(np.array(few, dtype=np.float64)) + 0.0
        return ColumnBins(values, values, of.has_missing)
    counts = known.group_by("v").aggregate(n=lambda t: t.count())
    upto = counts.n.sum().over(ibis.cumulative_window(order_by=counts.v))
    total = counts.n.sum().over(ibis.window())
    counts = counts.mutate(upto=upto, total=total, next=counts.v.lead().over(order_by=counts.v))
    ended = (counts.upto * max_bins / counts.total).floor()
    before = ((counts.upto - counts.n) * max_bins / counts.total).floor()
    found = fetch(counts.filter(ended > before).select("v", "next").order_by("v"))
    highs = np.array(found["v"], dtype=np.float64)
    return ColumnBins(np.array([of.low or 0.0, *found["next"][:-1]], dtype=np.float64) + 0.0, highs, of.has_missing)
