"""From a table as it comes to a float64 matrix: numbers as they are, levels as their positions, gaps as NaN."""

from __future__ import annotations

from collections.abc import Iterable
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
        return X
    if sparse.issparse(X):
        return X
    if isinstance(X, np.ma.MaskedArray):
        text = may_hold_text(X.data)
        X = np.ma.filled(X.astype(object if text else np.float64), None if text else np.nan)
    elif not isinstance(X, np.ndarray):
        array = np.asarray(X)
        # NumPy turns a list of numbers and text into text.
        X = np.array(X, dtype=object) if array.dtype.kind in "US" else array
    if X.dtype.kind in "mM":
        raise TypeError(f"X holds dates or times ({X.dtype}): turn them into numbers, say the days since a date.")
    if X.dtype.names is not None:
        raise TypeError("X is a structured array: pass a data frame, or a plain array.")
    return X


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns of their own type: pandas, polars, pyarrow."""
    return hasattr(type(X), "columns") or hasattr(type(X), "column_names")


def may_hold_text(X: Any) -> bool:
    """Whether an array is of a type that may hold text."""
    return isinstance(X, np.ndarray) and X.dtype.kind in "OUST"


def read_new_table(X: Any, categorical_features: Any, names: Any) -> tuple[Any, Categories]:
    """Read a table at fit: a matrix of numbers and codes, and the levels of the columns that are categorical."""
    by_dtype = isinstance(categorical_features, str) and categorical_features == "from_dtype"
    plain = not is_frame(X) and not may_hold_text(X)
    if plain and (categorical_features is None or by_dtype):
        return X, (None,) * X.shape[1]
    if sparse.issparse(X):
        if any(choose_categorical(categorical_features, X.shape[1], names)):
            raise TypeError("A sparse X holds numbers only: categorical_features needs a dense table.")
        return X, (None,) * X.shape[1]
    columns = _read_columns(X, names)
    chosen = [cells.are_levels for cells in columns]
    if not by_dtype:
        chosen = choose_categorical(categorical_features, len(columns), names)
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
    if isinstance(cells, NumberCells):
        return cells.numbers if levels is None else _level_codes(cells, levels, name)
    return cells.codes(levels if levels is not None else np.zeros(0))


def _level_codes(cells: NumberCells, levels: AnyArray, name: str) -> FloatArray:
    """Codes of levels that are numbers; float64 must tell them apart."""
    size = float(np.nanmax(np.abs(cells.numbers)))
    if np.isinf(size):
        raise ValueError(f"{name} of X has an infinite value as a level: replace it, or make it NaN if it is unknown.")
    if size >= 2**53:
        raise ValueError(f"{name} of X has levels beyond 2**53, which float64 cannot tell apart: turn them into text.")
    return cells.codes(levels)


def _read_columns(X: Any, names: Any) -> list[Cells]:
    if is_frame(X):
        return frame_columns(X, names)
    if may_hold_text(X):
        return [cells_of_objects(column.tolist(), describe_column(i, names)) for i, column in enumerate(X.T)]
    return [NumberCells(column) for column in X.T]


def choose_categorical(categorical_features: Any, n_columns: int, names: Any) -> list[bool]:
    """Read the `categorical_features` parameter, but for "from_dtype": which columns are categorical."""
    what = "categorical_features must be None, 'from_dtype', a mask, or positions or names of columns"
    if categorical_features is None:
        return [False] * n_columns
    if isinstance(categorical_features, (str, dict)) or not isinstance(categorical_features, Iterable):
        raise ValueError(f"{what}; got {shown(categorical_features)}.")
    wanted = [column.item() if isinstance(column, np.generic) else column for column in categorical_features]
    if wanted and all(isinstance(column, bool) for column in wanted):
        if len(wanted) != n_columns:
            raise ValueError(f"categorical_features is a mask of {len(wanted)} columns, but X has {n_columns}.")
        return wanted
    chosen = {column_position("categorical_features", column, n_columns, names) for column in wanted}
    return [i in chosen for i in range(n_columns)]


def as_dict_by_column(parameter: str, value: Any, n_columns: int, names: Any) -> dict[int, Any] | None:
    """A parameter that is given by name or position, by position; None where it is given in order."""
    if hasattr(value, "index") and hasattr(value, "to_dict"):  # a pandas Series; its own labels are names
        value = value.to_dict()
    if not isinstance(value, dict):
        return None
    result: dict[int, Any] = {}
    for column, entry in value.items():
        position = column_position(parameter, column, n_columns, names)
        if position in result:
            raise ValueError(f"{parameter} gives {describe_column(position, names).lower()} twice.")
        result[position] = entry
    return result


def column_position(parameter: str, column: Any, n_columns: int, names: Any) -> int:
    """The position of a column that a parameter gives by name or by position."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(f"{parameter} names the column {column!r}, but the columns of X have no names.")
        found = [i for i, name in enumerate(names) if name == column]
        if not found:
            raise ValueError(
                f"{parameter} names the column {column!r}, which X does not have: {nearest(column, names)}"
            )
        return found[0]
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)):
        raise TypeError(f"{parameter} must give columns by name or position; got {shown(column)}.")
    if not -n_columns <= column < n_columns:
        raise ValueError(f"{parameter} gives column {column}, but X has {n_columns} columns.")
    return int(column) % n_columns


def nearest(name: str, names: Any) -> str:
    """What to say of a name that is not among the names of a table."""
    near = get_close_matches(name, [str(known) for known in names], n=1)
    return f"did you mean {near[0]!r}?" if near else f"it has {shown([str(known) for known in names])}."
