"""The model of a command: made, read from a file, written to one; and the tables that it takes."""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..fitted import Fitted
from ..table import Kind, nearest_name
from ._columns import is_text, take_metadata
from ._files import TextFormat, check_exists
from ._numbers import NumberMarks
from ._table import TableParts, read_table
from ._training_table import take_target


def make_model(kind: str, task: str, **options: Any) -> Any:
    """A model that is not fitted yet; options that are None are left to it."""
    from .. import estimators

    name = {"tree": "BayesianTree", "space": "TreeSpace", "forest": "BayesianForest"}[kind]
    suffix = "Classifier" if task == "classification" else "Regressor"
    parameters = {option: value for option, value in options.items() if value is not None}
    if kind == "forest":
        parameters["random_state"] = 0
    return getattr(estimators, name + suffix)(**parameters)


def read_model(path: str) -> Any:
    """A model from a file, or from standard input."""
    from ..estimators import from_document, load
    from ..persistence import read_content

    if path == "-":
        return from_document(*read_content(sys.stdin.buffer.read(), "standard input"))
    check_exists(path)
    return load(path)


def write_model(estimator: Any, out: str) -> None:
    """A model to a file, or to standard output."""
    if out != "-":
        estimator.save(out)
        return
    with tempfile.TemporaryDirectory() as folder:
        estimator.save(Path(folder) / "model")
        sys.stdout.buffer.write((Path(folder) / "model").read_bytes())


@dataclass(frozen=True)
class FeatureReader:
    """Takes the columns of a model out of a table; text is read as what the model expects."""

    fitted: Fitted
    missing: tuple[str, ...]  # texts that mean a missing value
    marks: NumberMarks = field(default_factory=NumberMarks)

    @classmethod
    def of(cls, estimator: Any, parts: TableParts, text_format: TextFormat, path: str) -> FeatureReader:
        """The reader of a table part by part; refuses a table that lacks a column which the model uses."""
        reader = cls(estimator.fitted_, text_format.missing_texts, parts.marks)
        reader.check(parts.names, path)
        return reader

    def check(self, names: list[str], path: str) -> None:
        """Refuse a table that lacks a column which the model uses."""
        schema = self.fitted.schema
        if schema.names is None:
            if len(names) != schema.n_features:
                raise ValueError(
                    f"The model was fitted without column names and takes {schema.n_features} columns in order, but "
                    f"{path!r} has {len(names)}."
                )
            return
        lacking = [schema.names[i] for i in self.fitted.used_features if schema.names[i] not in names]
        if lacking:
            more = f" (and {len(lacking) - 1} more)" if len(lacking) > 1 else ""
            raise ValueError(
                f"{path!r} has no column {lacking[0]!r}{more}, which the model uses: {nearest_name(lacking[0], names)}"
            )

    def read(self, table: pa.Table, first_row: int = 1) -> Any:
        """The model's columns in its order; those that it does not use need not be there."""
        schema = self.fitted.schema
        names = schema.names or tuple(table.column_names)
        used = set(self.fitted.used_features.tolist())
        columns: dict[str, Any] = {}
        for i, name in enumerate(names):
            if name in table.column_names:
                columns[name] = self._column(name, table[name], i, first_row, strict=i in used)
            else:
                is_category = schema.columns[i].categories is not None
                columns[name] = pa.nulls(table.num_rows, pa.string() if is_category else pa.float64())
        if schema.names is None:
            return np.column_stack([np.asarray(pc.cast(column, pa.float64())) for column in columns.values()])
        return pa.table(columns)

    def read_target(self, column: pa.ChunkedArray, name: str, classes: set[str], first_row: int) -> list[Any]:
        """Values of the target: of some classes or, where there are none, numbers; None where one is missing."""
        if is_text(column.type):
            missing = pa.array([text for text in self.missing if text not in classes], pa.string())
            column = pc.if_else(pc.is_in(column, missing), pa.scalar(None, pa.string()), column)
            if not classes:
                column = self._cast(name, pc.utf8_trim_whitespace(self.marks.plain(column)), pa.float64(), first_row)
        return [None if value != value else value for value in column.to_pylist()]

    def read_case(self, values: dict[str, str]) -> Any:
        """One row of which some values are given as text; the others are missing."""
        names = [self.fitted.schema.name(i) for i in range(self.fitted.schema.n_features)]
        for name in values:
            if name not in names:
                raise ValueError(f"The model has no column {name!r}: {nearest_name(name, names)}")
        texts = dict.fromkeys(names, "") | values
        return self.read(pa.table({name: pa.array([text], pa.string()) for name, text in texts.items()}))

    def _column(self, name: str, column: Any, position: int, first_row: int, *, strict: bool) -> Any:
        expected = self.fitted.schema.columns[position]
        has_names = expected.categories is not None and expected.categories.dtype.kind not in "iuf"
        if not is_text(column.type):
            if has_names and pa.types.is_integer(column.type):
                return pc.cast(column, pa.string())  # categories that are written like numbers
            return pc.cast(column, pa.float64()) if pa.types.is_decimal(column.type) else column
        text = pc.if_else(pc.is_in(column, pa.array(self.missing)), pa.scalar(None, pa.string()), column)
        if has_names:
            return text
        trimmed = pc.utf8_trim_whitespace(self.marks.plain(text))
        kind = pa.bool_() if expected.kind is Kind.TRUTH else pa.float64()
        try:
            return self._cast(name, trimmed, kind, first_row)
        except ValueError:
            if strict:
                raise
            return pa.nulls(len(column), kind)

    @staticmethod
    def _cast(name: str, text: pa.ChunkedArray, kind: pa.DataType, first_row: int) -> pa.ChunkedArray:
        try:
            return pc.cast(text, kind)
        except pa.ArrowInvalid:
            raise _type_error(name, text, kind, first_row) from None


def _type_error(name: str, text: Any, kind: pa.DataType, first_row: int) -> ValueError:
    """An error about the first value that is not of the type the model expects."""
    row, value = 0, ""
    for row, value in enumerate(text.to_pylist()):  # noqa: B007 - the message names the last one
        try:
            pc.cast(pa.array([value], pa.string()), kind)
        except pa.ArrowInvalid:
            break
    what = "a number" if pa.types.is_floating(kind) else "true or false"
    advice = f"If it means missing: --missing {value!r}"
    if re.search(r"\d[.,]\d", value):
        advice = "If its decimal mark is another one: --decimal . or --decimal ,"
    return ValueError(
        f"Row {first_row + row:,} has {value!r} in the column {name!r}, where the model expects {what}. {advice}"
    )


def read_rows_for(
    estimator: Any, path: str, target: str, *, text_format: TextFormat, metadata: dict[str, str]
) -> tuple[Any, Any, dict[str, Any]]:
    """Read the rows of a model that is fitted already: X, y and what describes the rows."""
    fitted = estimator.fitted_
    task = "regression" if not fitted.outcome.predicts_classes else "classification"
    rest, known = take_target(read_table(path, text_format), target, path, task)
    rest, values = take_metadata(rest, metadata, path)
    reader = FeatureReader(fitted, text_format.missing_texts)
    reader.check(rest.column_names, path)
    return reader.read(rest), known.y, values
