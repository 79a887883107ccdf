"""Codes of columns of many bins, by tables from slices of a column's range to the bins that begin or end near them.

A CASE over hundreds of bins in dozens of columns is what databases are slow at; a join with a small table is not.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import ibis
import numpy as np

from .._typing import AnyArray
from ..growth import ColumnBins
from ._ctrl_c import ctrl_c_is_no_error
from ._sql_whole import number, real

_FEWEST_BINS = 24  # a CASE does for fewer
_SLICES_A_BIN = 8
_MOST_ENDS = 6  # of bins near a slice


@dataclass(frozen=True)
class Slices:
    """The range of a column in slices of equal width, and for each of them the bins that its values can be in."""

    low: float
    factor: float  # slices a unit
    base: AnyArray  # the first bin that the values of a slice can be in
    ends: AnyArray  # by slice: the ends of this bin and the next ones, as far as they are near

    @classmethod
    def of(cls, bins: ColumnBins) -> Slices | None:
        """Those of a column; None where it has few bins, or slices would not tell them apart."""
        n_bins = len(bins.highs)
        width = float(bins.highs[-1] - bins.lows[0]) if n_bins else 0.0
        n_slices = _SLICES_A_BIN * n_bins
        factor = (n_slices - 1) / width if width > 0 else np.inf
        if n_bins < _FEWEST_BINS or not 0 < factor < np.inf:
            return None
        place = np.floor((bins.highs[:-1] - bins.lows[0]) * factor)
        # A neighbour more on either side: where arithmetic rounds in another way, a value may be in the next slice.
        slices = np.arange(n_slices)
        base, stop = np.searchsorted(place, slices - 2, "right"), np.searchsorted(place, slices + 1, "right")
        most = int((stop - base).max())
        if most > _MOST_ENDS:
            return None
        near = base[:, None] + np.arange(max(most, 1))
        ends = np.where(near < stop[:, None], bins.highs[np.minimum(near, n_bins - 1)], bins.highs[-1])
        return cls(float(bins.lows[0]), float(factor), base, ends)


@dataclass
class SliceTables:
    """Temporary tables of the slices of columns."""

    backend: Any
    names: list[str] = field(default_factory=list, init=False)

    def coded(self, rows: Any, columns: dict[str, tuple[Any, int, Slices]], others: dict[str, Any]) -> Any:
        """A table of other expressions and of the codes of columns: values, code of missing ones, slices."""
        chosen = dict(others)
        for code, (column, _, own) in columns.items():
            value = number(column)
            place = ((value - real(own.low)) * real(own.factor)).floor().cast("int32")
            chosen |= {f"v_{code}": value, f"s_{code}": place}
        joined = rows.select(**chosen)
        for code, (_, _, own) in columns.items():
            table = self._table(code, own)
            joined = joined.left_join(table, joined[f"s_{code}"] == table[f"k_{code}"])
        codes = {}
        for code, (_, missing, own) in columns.items():
            value = joined[f"v_{code}"]
            beyond = [ibis.ifelse(value > joined[f"e{i}_{code}"], 1, 0) for i in range(own.ends.shape[1])]
            found = reduce(add, beyond, joined[f"b_{code}"])
            codes[code] = ibis.ifelse(value.isnull(), missing, found).cast("int32")
        return joined.select(*others, **codes)

    def _table(self, code: str, own: Slices) -> Any:
        name = f"baytree_{uuid.uuid4().hex[:12]}"
        rows = (
            f"({i}, {base}, {', '.join(_real(end) for end in ends)})"
            for i, (base, ends) in enumerate(zip(own.base.tolist(), own.ends.tolist(), strict=True))
        )
        names = ", ".join([f"k_{code}", f"b_{code}", *(f"e{i}_{code}" for i in range(own.ends.shape[1]))])
        values = f"SELECT * FROM (VALUES {', '.join(rows)}) AS slices({names})"  # noqa: S608
        self.names.append(name)
        with ctrl_c_is_no_error():
            self.backend.raw_sql(f"CREATE TEMPORARY TABLE {name} AS {values}")
        return self.backend.sql(f"SELECT * FROM {name}")  # noqa: S608

    def close(self) -> None:
        """Drop them."""
        for name in self.names:
            with suppress(Exception):  # a connection that was lost has no temporary tables any more
                self.backend.raw_sql(f"DROP TABLE IF EXISTS {name}")
        self.names = []


def _real(value: float) -> str:
    """A number as SQL reads it, to the last bit."""
    return f"CAST('{value!r}' AS DOUBLE PRECISION)"
