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
from ..growth import ColumnBins, other_rows
from ._bins import ColumnValues, IntervalCounts, bins_of, n_ended_bins
from ._sql_dialects import dialect_of, real
from ._sql_execution import fetch, fetch_arrays
from ._sql_fixed_point import as_number, number
from ._sql_temporary import TemporaryTables

_SLICES = 2**16  # numbers of 16 bits
_MAX_FETCHED = 2**20  # values of a column
_ROUNDING = 1e-9  # more than float64 loses in a number of bins


@dataclass(frozen=True)
class Range:
    """The lowest and the highest value of a column, and whether values are missing."""

    low: float | None  # None for a column without numbers
    high: float | None
    has_missing: bool
    has_nan: bool = False
    is_guess: bool = False
    n_missing: int = 0

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
    n_values: AnyArray
    weight: AnyArray  # of the rows; the number of values if rows have no weights
    near: AnyArray


@dataclass(frozen=True)
class BinQueries:
    """Rows whose columns are divided into bins, by the weights of rows if there are any."""

    rows: Any
    weight: Any  # integer weight of each row; None for 1
    max_bins: int

    def values(self, name: str, of: Range) -> Any:
        """The values of a column that are not missing, and the weights of their rows."""
        value = of.value(self.rows[name])
        present = self.rows.filter(value.notnull()) if of.has_missing else self.rows
        return present.select(v=value, **({} if self.weight is None else {"w": self.weight}))

    def sums(self, table: Any) -> dict[str, Any]:
        """Aggregates: the number of values, and the sum of their weights."""
        return {"n": table.count(), **({} if self.weight is None else {"w": table.w.sum().cast("int64")})}

    @property
    def backend(self) -> Any:
        """The database."""
        return self.rows.get_backend()


def find_bins(
    of_rows: BinQueries, ranges: dict[str, Range], exact_range: Callable[[str], Range]
) -> dict[str, ColumnBins]:
    """Find the bins of numeric columns; `exact_range` finds the range of a column whose guess was wrong."""
    result, counted = {}, {}
    for name, guess_or_range in ranges.items():
        column_range = guess_or_range
        slices = _slices_to_fetch(of_rows, name, column_range)
        if slices is None and column_range.is_guess:
            column_range = exact_range(name)
            slices = _slices_to_fetch(of_rows, name, column_range)
        if slices is None:
            result[name] = _bins_by_extremes(of_rows, name, column_range)
        else:
            counted[name] = slices
    for name, slices in counted.items():
        collected = _collect(of_rows, name, slices.of, slices.slices[slices.near])
        counts = _interval_counts(slices, collected.values)
        result[name] = bins_of(counts, collected, of_rows.max_bins, has_missing=slices.of.has_missing)
    return result


def _slices_to_fetch(of_rows: BinQueries, name: str, of: Range) -> SliceCounts | None:
    """Count the slices; None if they divide the column badly, or a value lies outside of a guessed range."""
    if not 0 < of.factor < math.inf:
        return None
    arrays = _count(of_rows, name, of)
    if arrays is None:
        return None
    slices, n_values, weight = arrays
    near = _is_near_end(weight, of_rows.max_bins)
    if len(slices) <= of_rows.max_bins or n_values[near].sum() > _MAX_FETCHED:
        return None
    return SliceCounts(of, slices, n_values, weight, near)


def _is_near_end(counts: AnyArray, max_bins: int) -> AnyArray:
    """Which slices contain the end of a bin, or follow one that does; also the first, which has the lowest value."""
    unknown = np.full(len(counts), np.nan)
    holds_end = IntervalCounts(unknown, np.append(counts, 0), np.append(unknown, np.nan), None).holds_end(max_bins)
    return holds_end[:-1] | np.append(True, holds_end[:-2])


def _interval_counts(slices: SliceCounts, values: AnyArray) -> IntervalCounts:
    """The counts between splitters, given the sorted values of the slices near ends of bins.

    The limits of the other slices do not matter; they repeat those of earlier slices, so that all are in order.
    """
    n_slices, near, n_near = len(slices.slices), slices.near, slices.n_values[slices.near]
    if len(values) != n_near.sum():
        raise other_rows("a column has other values")
    lows, highs = np.full(n_slices + 1, np.nan), np.full(n_slices, -np.inf)
    stop = np.cumsum(n_near)
    lows[:-1][near], highs[near] = values[stop - n_near], values[stop - 1]
    return IntervalCounts(np.maximum.accumulate(highs), np.append(slices.weight, 0), lows, None)


def _bins_by_extremes(of_rows: BinQueries, name: str, of: Range) -> ColumnBins:
    """Find the bins by the extremes of each slice: the values of slices with a single one need not be fetched."""
    max_bins = of_rows.max_bins
    if not 0 < of.factor < math.inf:
        return _bins_by_window(of_rows, name, of)
    table = of_rows.values(name, of).mutate(slice=lambda t: _slice(t.v, of, of_rows.backend))
    aggregates = of_rows.sums(table) | {"low": table.v.min(), "high": table.v.max()}
    arrays = fetch_arrays(table.group_by("slice").aggregate(**aggregates))
    if arrays["slice"].dtype.kind == "f":  # with a null
        raise other_rows(f"column {name!r} has other values")
    order = np.argsort(arrays["slice"])
    slices, n_values, lows, highs = (arrays[key][order] for key in ("slice", "n", "low", "high"))
    weight = arrays["w"][order] if "w" in arrays else n_values
    counts = IntervalCounts(highs + 0.0, np.append(weight, 0), np.append(lows + 0.0, np.nan), None)
    is_collected = counts.is_collected(max_bins)[:-1]
    if len(slices) <= max_bins:
        if counts.has_one_value[:-1].all():
            return ColumnBins(counts.splitters, counts.splitters, of.has_missing)
        return _bins_by_window(of_rows, name, of)
    if n_values[is_collected].sum() > _MAX_FETCHED:
        return _bins_by_window(of_rows, name, of)
    collected = _collect(of_rows, name, of, slices[is_collected])
    return bins_of(counts, collected, max_bins, has_missing=of.has_missing)


def _slice(value: Any, of: Range, backend: Any) -> Any:
    place = (value - real(of.low or 0.0)) * real(of.factor)
    return dialect_of(backend).slice_number(place)


def _count(of_rows: BinQueries, name: str, of: Range) -> tuple[AnyArray, AnyArray, AnyArray] | None:
    """The slices that have values, in ascending order, their counts and weights; None if a value has no slice."""
    table = of_rows.values(name, of).mutate(slice=lambda t: _slice(t.v, of, of_rows.backend)).drop("v")
    arrays = fetch_arrays(table.group_by("slice").aggregate(**of_rows.sums(table)))
    if arrays["slice"].dtype.kind == "f":  # with a null
        if of.is_guess:
            return None
        raise other_rows(f"column {name!r} has other values")
    order = np.argsort(arrays["slice"])
    n_values = arrays["n"][order]
    return arrays["slice"][order], n_values, arrays["w"][order] if "w" in arrays else n_values


def _collect(of_rows: BinQueries, name: str, of: Range, slices: AnyArray) -> ColumnValues:
    """The values in some slices, in ascending order."""
    if len(slices) == 0:
        return ColumnValues(np.zeros(0), None if of_rows.weight is None else np.zeros(0, dtype=np.int64))
    table, backend = of_rows.values(name, of), of_rows.backend
    of_value, tables = _slice(table.v, of, backend), TemporaryTables(backend)
    try:
        if dialect_of(backend).reads_arrow:  # Ibis is slow to compile a list of hundreds of numbers
            chosen = tables.of_values({"slice": slices})
            is_chosen = of_value.isin(chosen["slice"])
        else:
            is_chosen = of_value.isin(slices.tolist())
        arrays = fetch_arrays(table.filter(is_chosen))
        return ColumnValues.sorted([ColumnValues(arrays["v"] + 0.0, arrays.get("w"))])
    finally:
        tables.drop()


def _bins_by_window(of_rows: BinQueries, name: str, of: Range) -> ColumnBins:
    """Find the bins of one column by a query with window functions."""
    max_bins = of_rows.max_bins
    present = of_rows.values(name, replace(of, has_missing=True, has_nan=True))
    few = fetch(present.select("v").distinct().limit(max_bins + 1))["v"]
    if len(few) <= max_bins:
        values = np.sort(np.array(few, dtype=np.float64)) + 0.0
        return ColumnBins(values, values, of.has_missing)
    weight = present.count() if of_rows.weight is None else present.w.sum().cast("int64")
    counts = present.group_by("v").aggregate(n=weight)
    upto = counts.n.sum().over(ibis.cumulative_window(order_by=counts.v)).cast("int64")
    total = counts.n.sum().over(ibis.window()).cast("int64")
    counts = counts.mutate(upto=upto, total=total, next=counts.v.lead().over(order_by=counts.v))
    # Rounding may find values that end no bin; whole numbers decide.
    times = real(float(max_bins)) / counts.total.cast("float64")
    ended = (counts.upto.cast("float64") * times + real(_ROUNDING)).floor()
    before = ((counts.upto - counts.n).cast("float64") * times - real(_ROUNDING)).floor()
    fetched = fetch(counts.filter(ended > before).order_by("v"))
    rank, n = (np.array(fetched[key], dtype=np.int64) for key in ("upto", "n"))
    is_end = n_ended_bins(rank, fetched["total"][0], max_bins) > n_ended_bins(rank - n, fetched["total"][0], max_bins)
    highs, following = (np.array(fetched[key], dtype=np.float64)[is_end] for key in ("v", "next"))
    return ColumnBins(np.append(of.low or 0.0, following[:-1]) + 0.0, highs, of.has_missing)
