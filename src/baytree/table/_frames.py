"""Columns of data frames (pandas, polars, pyarrow), through narwhals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from .._typing import FloatArray, IntArray
from ._values import NumberValues, Values, values_of_labels, values_of_objects, values_of_text

_ELSEWHERE = ("dask", "dask_expr", "duckdb", "_duckdb", "ibis")  # packages whose frames read nothing before they must


def check_frame(X: Any) -> None:
    """Refuse a data frame that cannot be read: lazy, or with two columns of one name."""
    if hasattr(type(X), "collect") or type(X).__module__.partition(".")[0] in _ELSEWHERE:
        raise TypeError(
            f"X is a {type(X).__name__}, whose rows are not in memory: fit and engines.predict take it, for anything "
            "else fetch its rows first."
        )
    check_unique(list(X.column_names if hasattr(type(X), "column_names") else X.columns))


def check_unique(labels: list[Any]) -> None:
    """Refuse two columns of one name."""
    twice = [label for label, count in Counter(labels).items() if count > 1]
    if twice:
        raise ValueError(f"X has {labels.count(twice[0])} columns of the name {twice[0]!r}: names must be unique.")


def frame_columns(X: Any, positions: Sequence[int], describe: Any) -> list[Values]:
    """Read some columns of a data frame; `describe` names a column in an error."""
    frame = nw.from_native(X, eager_only=True)
    if 0 in frame.shape:
        what = "sample(s)" if frame.shape[0] == 0 else "feature(s)"
        raise ValueError(f"Found array with 0 {what} (shape={frame.shape}) while a minimum of 1 is required.")
    names = frame.columns
    dtypes = X.dtypes.tolist() if frame.implementation.is_pandas() else [None] * len(names)
    return [_pandas_values(X, i, dtypes[i]) or _values(frame[names[i]], describe(i)) for i in positions]


def _pandas_values(X: Any, position: int, dtype: Any) -> Values | None:
    """A column of pandas with numbers in a NumPy array, or with text: most are, and are read at once. Else None."""
    if isinstance(dtype, np.dtype) and dtype.kind in "fiub":
        numbers = np.asarray(X.iloc[:, position], dtype=np.float64)
        return NumberValues(numbers, are_truth_values=dtype.kind == "b")
    if getattr(dtype, "name", None) in ("str", "string"):
        return values_of_text(X.iloc[:, position].tolist())
    return None


def _values(series: Any, column: str) -> Values:
    dtype = series.dtype
    if dtype == nw.Boolean:
        return NumberValues(_numbers(series), are_truth_values=True)
    if dtype.is_numeric():
        return NumberValues(_numbers(series))
    if dtype.is_temporal():
        raise TypeError(
            f"{column} of X holds dates or times ({dtype}): turn it into a number, say the days since a date, or "
            "leave it out."
        )
    if dtype in (nw.Categorical, nw.Enum):
        positions, labels = _dictionary(series)
        return values_of_labels(positions, labels, column, are_ordered=_is_ordered(series))
    if dtype == nw.String:
        return values_of_text(series.to_list())
    return values_of_objects(series.to_list(), column)


def _numbers(series: Any) -> FloatArray:
    if series.null_count() == 0:
        return _present_numbers(series)
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    numbers = np.full(len(series), np.nan)
    numbers[~missing] = _present_numbers(series.drop_nulls())
    return numbers


def _present_numbers(series: Any) -> FloatArray:
    # Arrow refuses to cast whole numbers beyond 2**53, NumPy rounds them.
    is_long = series.dtype in (nw.Int64, nw.UInt64)
    if series.dtype == nw.Decimal:
        series = series.cast(nw.String)  # Arrow casts one decimal of seven to a neighbour of the nearest float64
    return np.asarray((series if is_long else series.cast(nw.Float64)).to_numpy(), dtype=np.float64)


def _is_ordered(series: Any) -> bool:
    """Whether a categorical column has an order: pandas' ordered ones, polars' Enum, Arrow's ordered dictionaries."""
    return series.dtype == nw.Enum or bool(getattr(getattr(series.to_native(), "type", None), "ordered", False))


def _dictionary(series: Any) -> tuple[IntArray, list[Any]]:
    """The position of each row's label, -1 where it is missing, and the labels."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        return np.asarray(native.cat.codes, dtype=np.int64), native.cat.categories.tolist()
    if series.implementation.is_polars():
        codes = native.to_physical().cast(int).fill_null(-1).to_numpy()
        return (codes, native.dtype.categories.to_list()) if series.dtype == nw.Enum else _renumber(codes, native)
    values = series.to_list()
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    labels = _arrow_labels(native, series.name)
    place = {label: i for i, label in enumerate(labels)}
    positions = np.array(
        [-1 if is_missing else place[value] for value, is_missing in zip(values, missing, strict=True)], dtype=np.int64
    )
    return positions, labels


def _renumber(codes: IntArray, native: Any) -> tuple[IntArray, list[Any]]:
    """The codes of a polars Categorical number the labels of all columns: number those that this one has."""
    known = codes >= 0
    _, first, positions = np.unique(codes[known], return_index=True, return_inverse=True)
    result = np.full(len(codes), -1, dtype=np.int64)
    result[known] = positions
    return result, native.gather(np.flatnonzero(known)[first]).to_list()


def _arrow_labels(native: Any, name: str) -> list[Any]:
    """The labels of an Arrow dictionary column, whose chunks may differ in theirs."""
    chunks = native.chunks if hasattr(native, "chunks") else [native]
    lists = [chunk.dictionary.to_pylist() for chunk in chunks]
    if native.type.ordered and any(labels != lists[0] for labels in lists):
        raise ValueError(
            f"Column {name!r} of X has ordered categories that differ from chunk to chunk: unify them first."
        )
    return list(dict.fromkeys(label for labels in lists for label in labels))
