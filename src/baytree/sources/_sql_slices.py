"""Codes of columns of many bins in DuckDB, which are looked up by slices of equal width.

DuckDB is slow at a CASE over hundreds of bins in dozens of columns, and fast at looking up elements of lists. So a
value is scaled to a number w, which begins at 1.5 and grows by one per slice, and is in slice floor(w). Its code is
floor(w / 2 + shift), with a shift for each slice, chosen so that w / 2 + shift passes an integer where a bin ends
within the slice. Each end lies between two values of the column, far enough from both that rounding does not matter.
Where a user gave the bins, values may lie anywhere: then rounding may lead to a neighbouring bin, and comparisons with
the ends of the bin that was found decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import numpy as np

from .._typing import AnyArray
from ..growth import ColumnBins
from ._sql_dialects import real
from ._sql_fixed_point import floor
from ._sql_lookups import LookedUpColumn, join_labels
from ._sql_temporary import TemporaryTables

_MIN_BINS = 24  # a CASE is fast enough for fewer
_SLICES_PER_BIN = (8, 32, 128)  # the first that separates the ends of bins
_MAX_ENDS = 4  # of bins in a slice
_MIN_GAP = 2.0**-30  # between the values on both sides of an end, in slices


@dataclass(frozen=True)
class Slices:
    """The range of a column in slices of equal width, and the ends of bins in each slice."""

    low: float
    factor: float  # slices per unit
    shift: AnyArray  # for each slice
    further_ends: AnyArray  # for each slice, its second and further ends

    @classmethod
    def of(cls, bins: ColumnBins) -> Slices | None:
        """The slices of a column; None if it has few bins, or slices cannot separate them."""

        def ends(low: float, factor: float) -> AnyArray | None:
            before, after = ((values - low) * factor for values in (bins.highs[:-1], bins.lows[1:]))
            return before / 2 + after / 2 if (after - before >= _MIN_GAP).all() else None

        return cls._of(len(bins.highs), bins.lows[:1], bins.highs[-1:], ends)

    @classmethod
    def of_limits(cls, limits: AnyArray) -> Slices | None:
        """The slices of a column that has values anywhere between these limits of its bins, and beyond them."""

        def ends(low: float, factor: float) -> AnyArray | None:
            scaled = (limits - low) * factor
            return scaled if (np.diff(scaled) >= _MIN_GAP).all() else None

        return cls._of(len(limits) + 1, limits[:1], limits[-1:], ends)

    @classmethod
    def _of(
        cls, n_bins: int, lowest: AnyArray, highest: AnyArray, ends: Callable[[float, float], AnyArray | None]
    ) -> Slices | None:
        width = float(highest[0] - lowest[0]) if n_bins >= _MIN_BINS else 0.0
        if not 0 < width < np.inf or not np.isfinite(n_bins * _SLICES_PER_BIN[-1] / width):
            return None
        slices = None
        for times in _SLICES_PER_BIN:
            factor = times * n_bins / width
            low = float(lowest[0]) - 1.5 / factor
            scaled = ends(low, factor)
            if scaled is None:
                return None
            slices = cls._of_ends(low, factor, times * n_bins, scaled)
            if slices.further_ends.shape[1] == 0:
                return slices
        return slices if slices is not None and slices.further_ends.shape[1] < _MAX_ENDS else None

    @classmethod
    def _of_ends(cls, low: float, factor: float, n_slices: int, ends: AnyArray) -> Slices:
        slices = np.arange(n_slices + 3)
        first, stop = (np.searchsorted(np.floor(ends), slices, side) for side in ("left", "right"))
        most = int((stop - first).max())
        near = np.append(ends, np.full(max(most, 1), np.inf))[first[:, None] + np.arange(max(most, 1))]
        near[first[:, None] + np.arange(near.shape[1]) >= stop[:, None]] = np.inf
        has_end = stop > first
        shift = first + np.where(has_end, 1 - np.where(has_end, near[:, 0], 0) / 2, 0.25 - slices / 2)
        return cls(low, factor, shift, near[:, 1:])

    def scaled(self, value: Any) -> Any:
        """The number w of a value."""
        return (value - real(self.low)) * real(self.factor)

    def codes(self, w: Any, lookups: list[Any]) -> Any:
        """The codes of scaled values, given the entries of `by_slice` for their slices."""
        code = floor(w * 0.5 + lookups[0])
        return reduce(add, [ibis.ifelse(w > end, 1.0, 0.0) for end in lookups[1:]], code)

    @property
    def by_slice(self) -> list[AnyArray]:
        """The arrays that are looked up by slice."""
        return [self.shift, *self.further_ends.T]


@dataclass(frozen=True)
class SlicedColumn:
    """A column whose codes are looked up by slices."""

    value: Any  # null where it is missing
    missing: int  # code of missing values, and of unexpected ones
    slices: Slices
    limits: AnyArray | None = None  # of bins that a user gave
    infinite: int = 0  # code of infinite values in these

    @property
    def scaled(self) -> Any:
        """The number w of each value; beyond the slices, that of the first or the last one."""
        w = self.slices.scaled(self.value)
        if self.limits is None:
            return w
        last = float(len(self.slices.shift) - 1)
        return ibis.cases((w < 1.0, 1.0), (w > last, last), else_=w)

    @property
    def arrays(self) -> list[AnyArray]:
        """The arrays that are looked up by slice, and the limits of bins from -inf to inf, by code."""
        by_slice = [array[1:] for array in self.slices.by_slice]
        return by_slice if self.limits is None else [*by_slice, np.concatenate([[-np.inf], self.limits, [np.inf]])]

    def exact(self, code: Any, value: Any, limit: Callable[[Any], Any]) -> Any:
        """The code by comparisons with the limits of the bin that was found and, at infinity, `infinite`."""
        place = code.cast("int64")
        above, below = value > limit(place + 2), value <= limit(place + 1)
        code = code + ibis.cases((above, 1.0), (below, -1.0), else_=0.0)
        return ibis.ifelse(value.isinf(), float(self.infinite), code)


# DuckDB reads an element of a list as fast as an entry of a table. An index in Ibis would allow negative positions.
_element = ibis.udf.scalar.builtin(
    lambda values, place: None,  # noqa: ARG005
    name="list_extract",
    signature=((dt.Array(dt.float64), dt.int64), dt.float64),
)


def encode_by_slices(
    tables: TemporaryTables,
    rows: Any,
    columns: dict[str, SlicedColumn],
    looked_up: dict[str, LookedUpColumn],
    others: dict[str, Any],
) -> Any:
    """A table of the codes of columns, by slices or by their labels, and of other expressions."""
    scaled = {f"w_{name}": column.scaled for name, column in columns.items()}
    values = {f"v_{name}": column.value for name, column in columns.items() if column.limits is not None}
    labels = {name: column.value for name, column in looked_up.items()}
    joined, codes = join_labels(tables, rows.select(**others, **scaled, **values, **labels), looked_up)
    if not columns:
        return joined.select(*others, **codes)
    joined, lookups = _lists(tables, joined, columns)
    for name, column in columns.items():
        code = column.slices.codes(joined[f"w_{name}"], lookups[name])
        if column.limits is not None:
            limits = joined[f"l{len(column.arrays) - 1}_{name}"]
            code = column.exact(code, joined[f"v_{name}"], partial(_element, limits))
        codes[name] = code.fill_null(float(column.missing))
    return joined.select(*others, **codes)


def _lists(tables: TemporaryTables, table: Any, columns: dict[str, SlicedColumn]) -> tuple[Any, dict[str, list[Any]]]:
    """Look up by a table of one row, with a list for each array of a column's slices."""
    lists = [
        f"CAST('{array.tolist()}' AS DOUBLE[]) AS l{k}_{name}"
        for name, column in columns.items()
        for k, array in enumerate(column.arrays)
    ]
    joined = table.cross_join(tables.of_text(f"SELECT {', '.join(lists)}"))
    lookups = {}
    for name, column in columns.items():
        place = floor(joined[f"w_{name}"]).cast("int64")
        lookups[name] = [_element(joined[f"l{k}_{name}"], place) for k in range(len(column.slices.by_slice))]
    return joined, lookups
