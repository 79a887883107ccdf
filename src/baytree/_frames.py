"""Columns of data frames (pandas, polars, pyarrow), through narwhals."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ._cells import Cells, NumberCells, TextCells, cells_of_objects
from ._typing import FloatArray
from ._validation import describe_column

try:
    import narwhals as nw
except ImportError:  # scikit-learn brings it from 1.9 on
    nw = None  # type: ignore[assignment]


def check_frame(X: Any) -> None:
    """Refuse a data frame that cannot be read: lazy, or with two columns of one name."""
    if nw is None:
        raise ImportError("Reading a data frame needs narwhals: pip install 'baytree[frames]'.")
    if hasattr(type(X), "collect"):
        raise TypeError("X is a lazy table: collect() it first.")
    labels = list(X.column_names if hasattr(type(X), "column_names") else X.columns)
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise ValueError(f"X has {labels.count(twice[0])} columns of the name {twice[0]!r}: names must be unique.")


def frame_columns(X: Any, names: Any) -> list[Cells]:
    """Read every column of a data frame."""
    frame = nw.from_native(X, eager_only=True)
    if 0 in frame.shape:
        what = "sample(s)" if frame.shape[0] == 0 else "feature(s)"
        raise ValueError(f"Found array with 0 {what} (shape={frame.shape}) while a minimum of 1 is required.")
    return [_cells(series, describe_column(i, names)) for i, series in enumerate(frame.iter_columns())]


def _cells(series: Any, column: str) -> Cells:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return NumberCells(_numbers(series))
    if dtype.is_temporal():
        raise TypeError(
            f"{column} of X holds dates or times ({dtype}): turn it into a number, say the days since a date."
        )
    if dtype in (nw.Categorical, nw.Enum, nw.String):
        return _labels(series, column)
    return cells_of_objects(series.to_list(), column)


def _numbers(series: Any) -> FloatArray:
    missing = series.is_null().to_numpy()
    if series.dtype == nw.Float64 and not missing.any():
        return np.asarray(series.to_numpy(), dtype=np.float64)
    numbers = np.full(len(series), np.nan)
    numbers[~missing] = series.drop_nulls().cast(nw.Float64).to_numpy()
    return numbers


def _labels(series: Any, column: str) -> Cells:
    """Text, or categories: of numbers, of text, or of something else that is shown as text."""
    values = series.to_list()
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    values = [None if gap else value for value, gap in zip(values, missing, strict=True)]
    kinds = {type(value) for value in values} - {type(None)}
    if all(kind is str or issubclass(kind, (bool, int, float, np.number, np.bool_)) for kind in kinds):
        cells = cells_of_objects(values, column)
        return NumberCells(cells.numbers, are_levels=True) if isinstance(cells, NumberCells) else cells
    text = {value: str(value) for value in set(values) if value is not None}
    return TextCells([text.get(value) for value in values], missing)
