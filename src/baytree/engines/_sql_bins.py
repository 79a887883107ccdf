"""Where the bins of columns in a database end.

The range of a column is divided into slices of equal width, which are counted; only the values of slices that hold the
end of a bin are fetched. Window functions find the ends where slices divide a column badly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import numpy as np

from .._typing import AnyArray
from ..growth import ColumnBins
from ._bins import Counted, bins_of
from ._sql_whole import as_number, fetch, fetch_arrays, number, real

_SLICES = 2**15  # as many as 16 bits can count
_MOST_FETCHED = 2**20  # values of a column


@dataclass(frozen=True)
class Range:
    """The lowest and the highest value of a column (None: it has no numbers), and whether values are missing."""

    low: float | None
    high: float | None
    has_missing: bool
    has_nan: bool = False

    def value(self, column: Any) -> Any:
        """The column as float64, null where it is missing."""
        return number(column) if self.has_nan else as_number(column)

    @property
    def factor(self) -> float:
        """Slices a unit; not finite where there are none."""
        width = 0.0 if self.low is None or self.high is None else self.high - self.low
        return (_SLICES - 1) / width if width > 0 else math.inf


def find_bins(rows: Any, ranges: dict[str, Range], max_bins: int) -> dict[str, ColumnBins]:
    """The bins of columns of numbers."""
    result = {}
    sliced = {name: own for name, own in ranges.items() if 0 < own.factor < math.inf}
    counted = _count(rows, sliced)
    wanted = {}
    for name, own in ranges.items():
        if name not in counted:
            result[name] = _by_window(rows, name, own, max_bins)
            continue
        slices, found = counted[name]
        inside = found.is_collected(max_bins)
        if len(slices) <= max_bins and found.has_one_value[:-1].all():
            result[name] = ColumnBins(found.splitters, found.splitters, own.has_missing)
        elif len(slices) <= max_bins or found.counts[inside].sum() > _MOST_FETCHED:
            result[name] = _by_window(rows, name, own, max_bins)
        else:
            wanted[name] = own, slices[inside[:-1]]
    for name, values in _collect(rows, wanted).items():
        result[name] = bins_of(counted[name][1], values, max_bins, has_missing=ranges[name].has_missing)
    return result


def _slice(value: Any, of: Range) -> Any:
    return ((value - real(of.low or 0.0)) * real(of.factor)).floor().cast("int16")


def _values(rows: Any, name: str, of: Range) -> Any:
    value = of.value(rows[name])
    return (rows.filter(value.notnull()) if of.has_missing else rows).select(v=value)


def _count(rows: Any, ranges: dict[str, Range]) -> dict[str, tuple[AnyArray, Counted]]:
    """The slices that have values, in ascending order, and their counts."""
    result = {}
    for name, own in ranges.items():
        table = _values(rows, name, own).mutate(slice=lambda t, own=own: _slice(t.v, own))
        found = fetch_arrays(table.group_by("slice").aggregate(n=table.count(), low=table.v.min(), high=table.v.max()))
        order = np.argsort(found["slice"])
        counts, lows, highs = (found[key][order] for key in ("n", "low", "high"))
        of_slices = Counted(highs + 0.0, np.append(counts, 0), np.append(lows + 0.0, np.nan), None)
        result[name] = found["slice"][order], of_slices
    return result


# A list of hundreds of numbers takes Ibis long to compile.
_bit = ibis.udf.scalar.builtin(
    lambda bits, place: None,  # noqa: ARG005
    name="get_bit",
    signature=((dt.string, dt.int32), dt.int32),
)


def _is_one_of(place: Any, places: AnyArray, backend: Any) -> Any:
    if backend.name != "duckdb":
        return place.isin(places.tolist())
    bits = np.full(_SLICES, "0")
    bits[places] = "1"
    return _bit("".join(bits), place.cast("int32")) == 1


def _collect(rows: Any, wanted: dict[str, tuple[Range, AnyArray]]) -> dict[str, AnyArray]:
    result = {}
    for name, (of, slices) in wanted.items():
        table = _values(rows, name, of)
        chosen = table.filter(_is_one_of(_slice(table.v, of), slices, rows.get_backend()))
        found = fetch_arrays(chosen.group_by("v").aggregate(n=chosen.count()))
        result[name] = np.repeat(found["v"] + 0.0, found["n"])
    return result


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
