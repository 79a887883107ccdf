"""The column to predict: its rows, its values, and whether they are classes or numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._typing import AnyArray
from .._words import count_text, listed, number_text
from ..table import nearest_name
from ._columns import is_number
from ._files import named

FEW_VALUES = 20  # whole numbers with so many values are taken for classes


@dataclass(frozen=True)
class Task:
    """What is predicted from a table, and why it is taken for that."""

    table: pa.Table  # the rows whose target is known, without it
    y: AnyArray
    name: str  # of the target
    kind: str  # "classification" or "regression"
    why: str
    n_left_out: int  # rows whose target is missing

    @property
    def is_classification(self) -> bool:
        """Whether classes are predicted."""
        return self.kind == "classification"


def find_task(table: pa.Table, target: str, path: str, kind: str | None) -> Task:
    """Take the target out of a table; `kind` where the user says what it is."""
    if target not in table.column_names:
        near = nearest_name(target, table.column_names)
        raise ValueError(f"{named(path)} has no column {target!r}: {near}")
    column = table[target]
    known = pc.is_valid(column)
    if pa.types.is_floating(column.type):
        known = pc.and_(known, pc.invert(pc.is_nan(column)))
    n_known = pc.sum(known).as_py() or 0
    if n_known == 0:
        raise ValueError(f"No row of {path!r} has a value in the column {target!r}.")
    rows = table.filter(known)
    y = _values(rows[target], target)
    told, why = _guess(y) if kind is None else (kind, "as --task says")
    y = _checked(y, told, target)
    return Task(rows.drop_columns([target]), y, target, told, why, table.num_rows - n_known)


def _values(column: pa.ChunkedArray, target: str) -> AnyArray:
    kind = column.type
    if pa.types.is_temporal(kind):
        raise ValueError(f"The column {target!r} holds dates or times, which cannot be predicted: make numbers of it.")
    if is_number(kind) and not pa.types.is_integer(kind):
        y = np.asarray(pc.cast(column, pa.float64()))
        # Whole numbers are often read as real ones, because some were missing.
        return y.astype(np.int64) if np.all(y == np.round(y)) and np.all(np.abs(y) < 2**53) else y
    return np.array(column.to_pylist())


def _guess(y: AnyArray) -> tuple[str, str]:
    values = np.unique(y)
    if y.dtype.kind in "iuf" and (y.dtype.kind == "f" or len(values) > FEW_VALUES):
        return "regression", f"numbers from {number_text(float(values[0]))} to {number_text(float(values[-1]))}"
    told = listed([str(value) for value in values.tolist()], 10)
    what = "whole numbers" if y.dtype.kind in "iu" else "values"
    return "classification", f"{count_text(len(values), 'value')}: {told}" if len(values) < 3 else (
        f"{len(values):,} different {what}: {told}"
    )


def _checked(y: AnyArray, kind: str, target: str) -> AnyArray:
    values = np.unique(y)
    if len(values) == 1:
        raise ValueError(f"The column {target!r} is always {str(values[0])!r}: there is nothing to predict.")
    if kind == "regression" and y.dtype.kind not in "iuf":
        raise ValueError(f"--task regression needs numbers, but the column {target!r} holds {str(y[0])!r}.")
    if kind == "regression" and not np.all(np.isfinite(y)):
        raise ValueError(f"The column {target!r} holds an infinite value: leave its row out.")
    if kind == "classification" and len(values) == len(y):
        raise ValueError(
            f"Every row has its own value in the column {target!r}: there are no classes to learn. Was it meant as "
            "--target? For numbers: --task regression."
        )
    return y
