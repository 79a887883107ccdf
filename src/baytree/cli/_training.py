"""What a model is fitted to: the table, the target and the columns that are used."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._words import count_text
from ._beside import take_beside
from ._columns import Columns, check_names, choose_columns
from ._features import Features
from ._files import named
from ._read import read_table
from ._sniff import Reading
from ._talk import Talk
from ._task import Task, find_task


@dataclass(frozen=True)
class Training:
    """Rows to fit to."""

    path: str
    task: Task
    columns: Columns
    beside: dict[str, Any]  # what `fit` takes besides X and y

    def tell(self, talk: Talk) -> None:
        """Say what was read and what becomes of it."""
        task, columns = self.task, self.columns
        name = "standard input" if self.path == "-" else self.path
        rows = count_text(len(task.y) + task.n_left_out, "row")
        talk.heading(f"What was read from {name}")
        talk.say(f"{rows}, {count_text(columns.table.num_columns, 'column')} to predict from: {columns.kinds()}")
        talk.say(f"{task.name!r} is predicted by {task.kind}: {task.why}{self._other_task()}")
        if task.n_left_out:
            talk.note(f"Left out: {count_text(task.n_left_out, 'row')} without a value in {task.name!r}.")
        for column, reason in columns.left_out.items():
            keep = f" To use it: --keep {shlex.quote(column)}" if reason.startswith("looks like") else ""
            talk.note(f"{column!r} is left out{', ' if reason.startswith('as') else ': it '}{reason}.{keep}")
        for note in columns.notes:
            talk.note(note)

    def _other_task(self) -> str:
        """How to have it otherwise, where that could be meant."""
        is_guess = not self.task.why.startswith("as --task")
        if is_guess and self.task.is_classification and self.task.y.dtype.kind in "iu" and len(set(self.task.y)) > 2:
            return " (where these are amounts: --task regression)"
        return ""


def read_training(
    path: str,
    target: str,
    *,
    reading: Reading,
    task: str | None,
    beside: dict[str, str],
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
) -> Training:
    """Read a table, take out its target and choose the columns to fit to."""
    table = read_table(path, reading)
    found = find_task(table, target, path, task)
    check_names(keep, table, "--keep", path)
    check_names(drop, table, "--drop", path)
    if target in (*keep, *drop, *beside.values()):
        raise ValueError(f"{target!r} is the target: it cannot be something else, too.")
    rest, given = take_beside(found.table, beside, path)
    if rest.num_columns == 0:
        raise ValueError(f"{named(path)} has no column to predict from.")
    return Training(path, found, choose_columns(rest, keep, drop), given)


def read_for_model(
    estimator: Any, path: str, target: str, *, reading: Reading, beside: dict[str, str]
) -> tuple[Any, Any, dict[str, Any]]:
    """Read the rows of a model that is fitted already: X, y and what is beside them."""
    fitted = estimator.fitted_
    table = read_table(path, reading)
    found = find_task(table, target, path, "regression" if fitted.classes is None else "classification")
    rest, given = take_beside(found.table, beside, path)
    features = Features(fitted, tuple(reading.means_missing))
    features.check(rest.column_names, path)
    return features.read(rest), found.y, given
