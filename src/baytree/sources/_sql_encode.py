"""Codes of columns of many bins: slices of equal width lead from a value to its bin.

A CASE over hundreds of bins in dozens of columns is what databases are slow at. A value is in slice floor(w), where w
grows with it from 1.5 on by one a slice, and its code is floor(w / 2 + shift of the slice): where a bin ends within
the slice, the shift is such that a whole number is passed there. Each end lies between two values of the column, far
enough from both for any way to round.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import numpy as np

from .._typing import AnyArray
from ..growth import ColumnBins
from ._sql_fixed_point import floor, real
from ._sql_values import TemporaryTables

_FEWEST_BINS = 24  # a CASE does for fewer
_SLICES_A_BIN = (8, 32, 128)  # the first that divides the bins
_MOST_ENDS = 4  # of bins in a slice
_LEAST_GAP = 2.0**-30  # between the values on both sides of an end, in slices


@dataclass(frozen=True)
class Slices:
    """The range of a column in slices of equal width, and for each of them where bins end."""

    low: float
    factor: float  # slices a unit
    shift: AnyArray  # by slice
    beyond: AnyArray  # by slice: the second and further ends in it

    @classmethod
    def of(cls, bins: ColumnBins) -> Slices | None:
        """Those of a column; None where it has few bins, or slices would not tell them apart."""
        n_bins = len(bins.highs)
        width = float(bins.highs[-1] - bins.lows[0]) if n_bins else 0.0
        if n_bins < _FEWEST_BINS or not 0 < width < np.inf or not np.isfinite(n_bins * _SLICES_A_BIN[-1] / width):
            return None
        found = None
        for times in _SLICES_A_BIN:
            found = cls._of(bins, times * n_bins, width)
            if found is None or found.beyond.shape[1] == 0:
                return found
        return found if found is not None and found.beyond.shape[1] < _MOST_ENDS else None

    @classmethod
    def _of(cls, bins: ColumnBins, n_slices: int, width: float) -> Slices | None:
        factor = n_slices / width
        low = float(bins.lows[0]) - 1.5 / factor
        before, after = ((own - low) * factor for own in (bins.highs[:-1], bins.lows[1:]))
        if not (after - before >= _LEAST_GAP).all():
            return None
        ends = before / 2 + after / 2
        slices = np.arange(n_slices + 3)
        first, stop = (np.searchsorted(np.floor(ends), slices, side) for side in ("left", "right"))
        most = int((stop - first).max())
        near = np.append(ends, np.full(max(most, 1), np.inf))[first[:, None] + np.arange(max(most, 1))]
        near[first[:, None] + np.arange(near.shape[1]) >= stop[:, None]] = np.inf
        has_end = stop > first
        shift = first + np.where(has_end, 1 - np.where(has_end, near[:, 0], 0) / 2, 0.25 - slices / 2)
        return cls(low, factor, shift, near[:, 1:])

    def place(self, value: Any) -> Any:
        """The w of a value."""
        return (value - real(self.low)) * real(self.factor)

    def codes(self, w: Any, found: list[Any]) -> Any:
        """The codes of some w, given what was found of their slices."""
        code = floor(w * 0.5 + found[0])
        return reduce(add, [ibis.ifelse(w > end, 1.0, 0.0) for end in found[1:]], code)

    @property
    def by_slice(self) -> list[AnyArray]:
        """What is to be found of a slice."""
        return [self.shift, *self.beyond.T]


@dataclass(frozen=True)
class Sliced:
    """A column whose codes slices lead to."""

    value: Any  # null where it is missing
    missing: int | None  # the code of missing values; None: there are none
    slices: Slices


# DuckDB takes an element of a list as quickly as an element of a table; an index of Ibis' own counts from behind, too.
_element = ibis.udf.scalar.builtin(
    lambda values, place: None,  # noqa: ARG005
    name="list_extract",
    signature=((dt.Array(dt.float64), dt.int64), dt.float64),
)


def coded_by_slices(tables: TemporaryTables, rows: Any, columns: dict[str, Sliced], others: dict[str, Any]) -> Any:
    """A table of other expressions and of the codes of columns."""
    table = rows.select(**others, **{f"w_{name}": own.slices.place(own.value) for name, own in columns.items()})
    if not columns:
        return table
    joined, found = (_lists if tables.backend.name == "duckdb" else _joins)(tables, table, columns)
    codes = {}
    for name, own in columns.items():
        code = own.slices.codes(joined[f"w_{name}"], found[name])
        codes[name] = code if own.missing is None else code.fill_null(float(own.missing))
    return joined.select(*others, **codes)


def _lists(tables: TemporaryTables, table: Any, columns: dict[str, Sliced]) -> tuple[Any, dict[str, list[Any]]]:
    """One row, of a list for all that is to be found of the slices of a column."""
    by_slice = {name: own.slices.by_slice for name, own in columns.items()}
    lists = [
        f"CAST('{own[1:].tolist()}' AS DOUBLE[]) AS l{k}_{name}"
        for name, all_own in by_slice.items()
        for k, own in enumerate(all_own)
    ]
    joined = table.cross_join(tables.of_text(f"SELECT {', '.join(lists)}"))
    found = {}
    for name, all_own in by_slice.items():
        place = floor(joined[f"w_{name}"]).cast("int64")
        found[name] = [_element(joined[f"l{k}_{name}"], place) for k in range(len(all_own))]
    return joined, found


def _joins(tables: TemporaryTables, table: Any, columns: dict[str, Sliced]) -> tuple[Any, dict[str, list[Any]]]:
    """A table for each column, of a row for each slice."""
    joined, found = table, {}
    for name, own in columns.items():
        found[name] = [f"l{k}_{name}" for k in range(len(own.slices.by_slice))]
        by_slice = own.slices.by_slice
        numbered = {f"k_{name}": np.arange(len(by_slice[0])), **dict(zip(found[name], by_slice, strict=True))}
        slices = tables.of_values(numbered)
        joined = joined.left_join(slices, floor(joined[f"w_{name}"]).cast("int32") == slices[f"k_{name}"])
    return joined, {name: [joined[of] for of in own] for name, own in found.items()}
