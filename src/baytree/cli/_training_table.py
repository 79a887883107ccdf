"""The table that a model is fitted to: its target, and whether that holds classes or numbers, and its features."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._typing import AnyArray
from .._validation import FEW_NUMBERS
from .._words import count_text, list_text, number_text
from ._columns import FeatureColumns, check_column, check_names, choose_features, is_number, take_metadata
from ._console import Console
from ._files import TextFormat, source_text
from ._table import read_table


@dataclass(frozen=True)
class Target:
    """The target of a training table: its values, its task, and the reason for that task."""

    y: AnyArray
    name: str
    task: str  # "classification" or "regression"
    reason: str
    n_missing: int  # rows that are left out, because they have no target

    @property
    def is_classification(self) -> bool:
        """Whether classes are predicted."""
        return self.task == "classification"


@dataclass(frozen=True)
class TrainingTable:
    """The rows of a fit: features, target, and the columns that describe the rows."""

    path: str
    target: Target
    features: FeatureColumns
    metadata: dict[str, Any]  # what `fit` takes besides X and y

    def describe(self, console: Console) -> None:
        """Write what was read and what becomes of it."""
        target, features = self.target, self.features
        rows = count_text(len(target.y) + target.n_missing, "row")
        columns = count_text(features.table.num_columns, "column")
        console.heading(f"Data: {'standard input' if self.path == '-' else self.path}")
        console.line(f"{rows}, {columns} to predict from: {features.kinds()}")
        console.line(f"{target.name!r} is predicted by {target.task}: {target.reason}{self._other_task()}")
        if target.n_missing:
            console.note(f"Left out: {count_text(target.n_missing, 'row')} without a value in {target.name!r}.")
        for column, reason in features.left_out.items():
            keep = f" To use it: --keep {shlex.quote(column)}" if reason.startswith("looks like") else ""
            console.note(f"{column!r} is left out{', ' if reason.startswith('as') else ': it '}{reason}.{keep}")
        for note in features.notes:
            console.note(note)

    def _other_task(self) -> str:
        """A hint at the option for the other task, where the user may have meant it."""
        target = self.target
        is_guess = not target.reason.startswith("as --task")
        if is_guess and target.is_classification and target.y.dtype.kind in "iu" and len(set(target.y)) > 2:
            return " (where these are amounts: --task regression)"
        return ""


def read_training_table(
    path: str,
    target: str,
    *,
    text_format: TextFormat,
    task: str | None,
    metadata: dict[str, str],
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> TrainingTable:
    """Read a table, take out its target and choose the columns to fit to."""
    table = read_table(path, text_format)
    rest, training_target = take_target(table, target, path, task)
    check_names(keep, table.column_names, "--keep", path)
    check_names(drop, table.column_names, "--drop", path)
    if target in (*keep, *drop, *metadata.values()):
        raise ValueError(f"{target!r} is the target: it cannot be something else, too.")
    rest, values = take_metadata(rest, metadata, path)
    if rest.num_columns == 0:
        raise ValueError(f"{source_text(path)} has no column to predict from.")
    return TrainingTable(path, training_target, choose_features(rest, keep, drop), values)


def take_target(table: pa.Table, name: str, path: str, task: str | None) -> tuple[pa.Table, Target]:
    """The rows that have a target, without it, and the target; `task` where the user says what it is."""
    check_column(name, table.column_names, path)
    column = table[name]
    known = pc.is_valid(column)
    if pa.types.is_floating(column.type):
        known = pc.and_(known, pc.invert(pc.is_nan(column)))
    n_known = pc.sum(known).as_py() or 0
    if n_known == 0:
        raise ValueError(f"No row of {path!r} has a value in the column {name!r}.")
    rows = table.filter(known)
    y = _values(rows[name], name)
    task, reason = _guess_task(y) if task is None else (task, "as --task says")
    _check_target(y, task, name)
    return rows.drop_columns([name]), Target(y, name, task, reason, table.num_rows - n_known)


def _values(column: pa.ChunkedArray, name: str) -> AnyArray:
    kind = column.type
    if pa.types.is_temporal(kind):
        raise ValueError(f"The column {name!r} holds dates or times, which cannot be predicted: make numbers of it.")
    if is_number(kind) and not pa.types.is_integer(kind):
        y = np.asarray(pc.cast(column, pa.float64()))
        # Whole numbers are often read as real ones, because some were missing.
        return y.astype(np.int64) if np.all(y == np.round(y)) and np.all(np.abs(y) < 2**53) else y
    return np.array(column.to_pylist())


def _guess_task(y: AnyArray) -> tuple[str, str]:
    """The task, and why."""
    values = np.unique(y)
    if y.dtype.kind in "iuf" and (y.dtype.kind == "f" or len(values) > FEW_NUMBERS):
        return "regression", f"numbers from {number_text(float(values[0]))} to {number_text(float(values[-1]))}"
    names = list_text([str(value) for value in values.tolist()], 10)
    if len(values) < 3:
        return "classification", f"{count_text(len(values), 'value')}: {names}"
    kind = "whole numbers" if y.dtype.kind in "iu" else "values"
    return "classification", f"{len(values):,} different {kind}: {names}"


def _check_target(y: AnyArray, task: str, name: str) -> None:
    values = np.unique(y)
    if len(values) == 1:
        raise ValueError(f"The column {name!r} is always {str(values[0])!r}: there is nothing to predict.")
    if task == "regression" and y.dtype.kind not in "iuf":
        raise ValueError(f"--task regression needs numbers, but the column {name!r} holds {str(y[0])!r}.")
    if task == "regression" and not np.all(np.isfinite(y)):
        raise ValueError(f"The column {name!r} holds an infinite value: leave its row out.")
    if task == "classification" and len(values) == len(y):
        raise ValueError(
            f"Every row has its own value in the column {name!r}: there are no classes to learn. Was it meant as "
            "--target? For numbers: --task regression."
        )
