"""Quantile bins of columns in a database.

The range of a column is divided into slices of equal width, whose values are counted, and only the values of slices
that contain the end of a bin are fetched. The number of a slice comes from a cast to an integer, which rounds
differently in different databases but always keeps the order of values. Window functions find the ends if slices divide
a column badly. A range may be a guess: the counts show whether a value lies outside.
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
from ._sql_execution import fetch, fetch_arrays
from ._sql_fixed_point import as_number, number, real
from ._sql_temporary import TemporaryTables

_SLICES = 2**16  # numbers of 16 bits
_MAX_FETCHED = 2**20  # values of a column


@dataclass(frozen=True)
class Range:
    """The lowest and the highest value of a column, and whether values are missing."""

    low: float | None  # None for a column without numbers
    high: float | None
    has_missing: bool
    has_nan: bool = False
    is_guess: bool = False

    def value(self, column: Any) -> Any:
        """The column as float64, with null for missing values."""
        return number(column) if self.has_nan else as_number(column)

    @property
    def factor(self) -> float:
        """The number of slices per unit; not finite for an empty range."""
        width = 0.0 if self.low is None or self.high is None else self.high - self.low
        return (_SLICES - 2) / width if width > 0 else math.inf

    def widen(self) -> Range:
        """Guess the range of all values from that of some."""
        low, high = self.low or 0.0, self.high or 0.0
        more = (high - low) / 4
        return replace(self, low=low - more, high=high + more, is_guess=True)


@dataclass(frozen=True)
class SliceCounts:
    """The slices of a column that have values, in ascending order, with their counts; `near` marks those to fetch."""

    of: Range
    slices: AnyArray
    counts: AnyArray
    near: AnyArray


def find_bins(
    rows: Any, ranges: dict[str, Range], max_bins: int, exact_range: Callable[[str], Range]
) -> dict[str, ColumnBins]:
    """Find the bins of numeric columns; `exact_range` finds the range of a column whose guess was wrong."""
    result, counted = {}, {}
    for name, guess_or_range in ranges.items():
        column_range = guess_or_range
        slices = _slices_to_fetch(rows, name, column_range, max_bins)
        if slices is None and column_range.is_guess:
            column_range = exact_range(name)
            slices = _slices_to_fetch(rows, name, column_range, max_bins)
        if slices is None:
            result[name] = _bins_by_extremes(rows, name, column_range, max_bins)
        else:
            counted[name] = slices
    for name, slices in counted.items():
        values = _collect(rows, name, slices.of, slices.slices[slices.near])
        counts = _interval_counts(slices.counts, slices.near, values)
        result[name] = bins_of(counts, values, max_bins, has_missing=slices.of.has_missing)
    return result


def _slices_to_fetch(rows: Any, name: str, of: Range, max_bins: int) -> SliceCounts | None:
    """Count the slices; None if they divide the column badly, or a value lies outside of a guessed range."""
    if not 0 < of.factor < math.inf:
        return None
    pair = _count(rows, name, of)
    if pair is None:
        return None
    slices, counts = pair
    near = _is_near_end(counts, max_bins)
    if len(slices) <= max_bins or counts[near].sum() > _MAX_FETCHED:
        return None
    return SliceCounts(of, slices, counts, near)


def _is_near_end(counts: AnyArray, max_bins: int) -> AnyArray:
    """Which slices contain the end of a bin, or follow one that does; also the first, which has the lowest value."""
    unknown = np.full(len(counts), np.nan)
    holds_end = IntervalCounts(unknown, np.append(counts, 0), np.append(unknown, np.nan), None).holds_end(max_bins)
    return holds_end[:-1] | np.append(True, holds_end[:-2])


def _interval_counts(counts: AnyArray, near: AnyArray, values: AnyArray) -> IntervalCounts:
    """The counts between splitters, given the sorted values of the slices near ends of bins.

    The limits of the other slices do not matter; they repeat those of earlier slices, so that all are in order.
    """
    lows, highs = np.full(len(counts) + 1, np.nan), np.full(len(counts), -np.inf)
    stop = np.cumsum(counts[near])
    lows[:-1][near], highs[near] = values[stop - counts[near]], values[stop - 1]
    return IntervalCounts(np.maximum.accumulate(highs), np.append(counts, 0), lows, None)


def _bins_by_extremes(rows: Any, name: str, of: Range, max_bins: int) -> ColumnBins:
    """Find the bins by the extremes of each slice: the values of slices with a single one need not be fetched."""
    if not 0 < of.factor < math.inf:
        return _bins_by_window(rows, name, of, max_bins)
    table = _values(rows, name, of).mutate(slice=lambda t: _slice(t.v, of, rows.get_backend()))
    aggregates = {"n": table.count(), "low": table.v.min(), "high": table.v.max()}
    arrays = fetch_arrays(table.group_by("slice").aggregate(**aggregates))
    order = np.argsort(arrays["slice"])
    slices, n_values, lows, highs = (arrays[key][order] for key in ("slice", "n", "low", "high"))
    counts = IntervalCounts(highs + 0.0, np.append(n_values, 0), np.append(lows + 0.0, np.nan), None)
    is_collected = counts.is_collected(max_bins)[:-1]
    if len(slices) <= max_bins:
        if counts.has_one_value[:-1].all():
            return ColumnBins(counts.splitters, counts.splitters, of.has_missing)
        return _bins_by_window(rows, name, of, max_bins)
    if n_values[is_collected].sum() > _MAX_FETCHED:
        return _bins_by_window(rows, name, of, max_bins)
    values = _collect(rows, name, of, slices[is_collected])
    return bins_of(counts, values, max_bins, has_missing=of.has_missing)


def _slice(value: Any, of: Range, backend: Any) -> Any:
    kind = "uint16" if backend.name == "duckdb" else "int32"  # not all databases have both
    place = (value - real(of.low or 0.0)) * real(of.factor)
    return place.try_cast(kind) if of.is_guess else place.cast(kind)


def _values(rows: Any, name: str, of: Range) -> Any:
    value = of.value(rows[name])
    return (rows.filter(value.notnull()) if of.has_missing else rows).select(v=value)


def _count(rows: Any, name: str, of: Range) -> tuple[AnyArray, AnyArray] | None:
    """The slices that have values, in ascending order, and their counts; None if a value has no slice."""
    table = _values(rows, name, of).select(slice=lambda t: _slice(t.v, of, rows.get_backend()))
    arrays = fetch_arrays(table.group_by("slice").aggregate(n=table.count()))
    if arrays["slice"].dtype.kind == "f":  # with a null
        return None
    order = np.argsort(arrays["slice"])
    return arrays["slice"][order], arrays["n"][order]


def _collect(rows: Any, name: str, of: Range, slices: AnyArray) -> AnyArray:
    """The values in some slices, in ascending order."""
    if len(slices) == 0:
        return np.zeros(0)
    table, backend = _values(rows, name, of), rows.get_backend()
    of_value, tables = _slice(table.v, of, backend), TemporaryTables(backend)
    try:
        if backend.name == "duckdb":  # Ibis is slow to compile a list of hundreds of numbers
            chosen = tables.of_values({"slice": slices})
            is_chosen = of_value.isin(chosen["slice"])
        else:
            is_chosen = of_value.isin(slices.tolist())
        return np.sort(fetch_arrays(table.filter(is_chosen))["v"] + 0.0)
    finally:
        tables.drop()


def _bins_by_window(rows: Any, name: str, of: Range, max_bins: int) -> ColumnBins:
    """Find the bins of one column by a query with window functions."""
    value = number(rows[name])
    present = rows.filter(value.notnull()).select(v=value)
    few = fetch(present.distinct().limit(max_bins + 1))["v"]
    if len(few) <= max_bins:
        values = np.sort(np.array(few, dtype=np.float64)) + 0.0
        return ColumnBins(values, values, of.has_missing)
    counts = present.group_by("v").aggregate(n=lambda t: t.count())
    upto = counts.n.sum().over(ibis.cumulative_window(order_by=counts.v))
    total = counts.n.sum().over(ibis.window())
    counts = counts.mutate(upto=upto, total=total, next=counts.v.lead().over(order_by=counts.v))
    ended = (counts.upto * max_bins / counts.total).floor()
    before = ((counts.upto - counts.n) * max_bins / counts.total).floor()
    ends = fetch(counts.filter(ended > before).select("v", "next").order_by("v"))
    highs = np.array(ends["v"], dtype=np.float64)
    return ColumnBins(np.array([of.low or 0.0, *ends["next"][:-1]], dtype=np.float64) + 0.0, highs, of.has_missing)
