"""Columns that belong to the rows and are not features: weights, exposure, events, groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ._columns import check_names

_IN_FIT = {"weight": "sample_weight"}  # where the estimators have another name


def take_beside(table: pa.Table, beside: dict[str, str], path: str) -> tuple[pa.Table, dict[str, Any]]:
    """The table without these columns, and the columns as `fit` takes them."""
    for name, column in beside.items():
        check_names([column], table, f"--{name}", path)
    found = {_IN_FIT.get(name, name): _values(table[column]) for name, column in beside.items()}
    return _without(table, beside.values()), found


def _values(column: pa.ChunkedArray) -> Any:
    if pa.types.is_decimal(column.type):
        column = pc.cast(column, pa.float64())
    return np.asarray(column)


def _without(table: pa.Table, names: Iterable[str]) -> pa.Table:
    return table.drop_columns(sorted(set(names) & set(table.column_names)))
