"""Codes of categories, by a join with a table of the labels: a CASE over them takes as long as there are labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ibis
import numpy as np
import pyarrow

from ._sql_fixed_point import is_missing
from ._sql_temporary import TemporaryTables

MIN_LABELS = 24  # a CASE is fast enough for fewer


@dataclass(frozen=True)
class LookedUpColumn:
    """A column of categories."""

    column: Any
    labels: list[Any]  # by code; all text or all numbers
    unexpected: int  # code of other values

    @property
    def value(self) -> Any:
        """The label of each row; null where it is missing."""
        value = self.column if self.column.type().is_string() else self.column.cast("float64") + 0.0
        return ibis.ifelse(is_missing(self.column), ibis.null(value.type()), value)

    @property
    def table(self) -> pyarrow.Table:
        """The labels and their codes."""
        dtype = pyarrow.string() if isinstance(self.labels[0], str) else pyarrow.float64()
        codes = np.arange(len(self.labels), dtype=np.int32)
        return pyarrow.table({"label": pyarrow.array(self.labels, dtype), "code": codes})


def join_labels(tables: TemporaryTables, rows: Any, columns: dict[str, LookedUpColumn]) -> tuple[Any, dict[str, Any]]:
    """Join rows, which have the label of each column under its name, with tables of codes; also returns the codes."""
    codes = {}
    for name, column in columns.items():
        labels = tables.of_arrow(column.table).rename({f"label_{name}": "label", f"code_{name}": "code"})
        rows = rows.left_join(labels, rows[name] == labels[f"label_{name}"])
        found = rows[f"code_{name}"].fill_null(column.unexpected)
        codes[name] = ibis.ifelse(rows[name].isnull(), len(column.labels), found).cast("int32")
    return rows, codes
