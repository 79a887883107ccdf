"""From a table as it comes to a float64 matrix: numbers as they are, levels as their positions, gaps as NaN."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np
from scipy import sparse

from ._cells import Cells, NumberCells, cells_of_objects
from ._frames import check_frame, frame_columns
from ._typing import AnyArray, FloatArray
from ._validation import describe_column, shown

# One entry per column: its levels in ascending order, or None for a column of numbers.
Categories = tuple[AnyArray | None, ...]


def as_table(X: Any) -> Any:
    """Return X as a data frame, a sparse matrix or an array, whichever it is nearest to."""
    if is_frame(X):
        check_frame(X)
    elif not sparse.issparse(X) and not isinstance(X, np.ndarray):
        array = np.asarray(X)
        # NumPy turns a list of numbers and text into text.
        return np.array(X, dtype=object) if array.dtype.kind in "US" else array
    return X


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns of their own type: pandas, polars, pyarrow."""
    return hasattr(type(X), "columns") or hasattr(type(X), "column_names")


def may_hold_text(X: Any) -> bool:
    """Whether an array is of a type that may hold text."""
    return isinstance(X, np.ndarray) and X.dtype.kind in "OUS"


def read_new_table(X: Any, categorical_features: Any, names: Any) -> tuple[Any, Categories]:
    """Read a table at fit: a matrix of numbers and codes, and the levels of the columns that are categorical."""
    by_dtype = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    if (categorical_features is None or by_dtype) and not is_frame(X) and not may_hold_text(X):
        return X, (None,) * X.shape[1]
    columns = _read_columns(X, names)
    chosen = choose_categorical(categorical_features, columns, names)
    categories: list[AnyArray | None] = []
    for i, (cells, is_categorical) in enumerate(zip(columns, chosen, strict=True)):
        if cells.kind == "text" and not is_categorical:
            name = describe_column(i, names)
            raise ValueError(f"{name} of X holds text: name it in categorical_features, or turn it into numbers.")
        categories.append(cells.levels() if is_categorical else None)
    return _matrix(columns, tuple(categories), names), tuple(categories)


def read_known_table(X: Any, categories: Categories, names: Any) -> Any:
    """Read a table at predict."""
    if not is_frame(X) and not may_hold_text(X) and all(levels is None for levels in categories):
        return X
    return _matrix(_read_columns(X, names), categories, names)


def _matrix(columns: list[Cells], categories: Categories, names: Any) -> FloatArray:
    result = np.empty((len(columns[0].missing), len(columns)), order="F")
    for i, (cells, levels) in enumerate(zip(columns, categories, strict=True)):
        result[:, i] = _column(cells, levels, describe_column(i, names))
    return result


def _column(cells: Cells, levels: AnyArray | None, name: str) -> FloatArray:
    """The cells of a column as float64, checked against what the column held in training."""
    if cells.missing.all():
        return np.full(len(cells.missing), np.nan)
    held = "text" if levels is not None and levels.dtype.kind == "O" else "numbers"
    if cells.kind != held and (levels is None or len(levels) > 0):
        raise ValueError(f"{name} of X holds {cells.kind}, but held {held} in training: convert it.")
    if levels is not None:
        return cells.codes(levels)
    assert isinstance(cells, NumberCells)  # noqa: S101, for the type checker
    return cells.numbers


def _read_columns(X: Any, names: Any) -> list[Cells]:
    if is_frame(X):
        return frame_columns(X, names)
    if sparse.issparse(X):
        raise TypeError("A sparse X holds numbers only: categorical_features needs a dense table.")
    if may_hold_text(X):
        return [cells_of_objects(column.tolist(), describe_column(i, names)) for i, column in enumerate(X.T)]
    return [NumberCells(column) for column in X.T]


def choose_categorical(categorical_features: Any, columns: list[Cells], names: Any) -> list[bool]:
    """Read the `categorical_features` parameter: which columns are categorical."""
    d = len(columns)
    what = "categorical_features must be None, 'from_dtype', a mask, or positions or names of columns"
    if categorical_features is None:
        return [False] * d
    if isinstance(categorical_features, str):
        if categorical_features != "from_dtype":
            raise ValueError(f"{what}; got {shown(categorical_features)}.")
        return [cells.are_levels for cells in columns]
    try:
        wanted = np.asarray(categorical_features)
    except ValueError:
        wanted = np.empty((0, 0))
    if wanted.ndim != 1 or (len(wanted) and wanted.dtype.kind not in "biuUO"):
        raise TypeError(f"{what}; got {shown(categorical_features)}.")
    chosen = np.zeros(d, dtype=bool)
    if wanted.dtype.kind == "b":
        if len(wanted) != d:
            raise ValueError(f"categorical_features is a mask of {len(wanted)} columns, but X has {d}.")
        return wanted.tolist()
    for column in wanted.tolist():
        chosen[column_position("categorical_features", column, d, names)] = True
    return chosen.tolist()


def column_position(parameter: str, column: Any, n_columns: int, names: Any) -> int:
    """The position of a column that a parameter gives by name or by position."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(f"{parameter} names the column {column!r}, but the columns of X have no names.")
        found = [i for i, name in enumerate(names) if name == column]
        if not found:
            raise ValueError(
                f"{parameter} names the column {column!r}, which X does not have: {_nearest(column, names)}"
            )
        return found[0]
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)):
        raise TypeError(f"{parameter} must give columns by name or position; got {shown(column)}.")
    if not -n_columns <= column < n_columns:
        raise ValueError(f"{parameter} gives column {column}, but X has {n_columns} columns.")
    return int(column) % n_columns


def _nearest(name: str, names: Any) -> str:
    near = get_close_matches(name, [str(known) for known in names], n=1)
    return f"did you mean {near[0]!r}?" if near else f"it has {shown([str(known) for known in names])}."
