"""Predict the rows of any source, without fetching them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from ..estimators import Model, fitted_of, read_rows
from ..fitted import Fitted
from ..sources import SourceKind, eager, frames_of, kind_of, predict_dask_array, predict_spark, read_batches
from ..table import nearest_name


def predict(model: Model, source: Any) -> Any:
    """Predict the rows of a source; they are read only when the result is.

    Parameters
    ----------
    model
        A fitted tree, tree space or forest.
    source
        As in `fit`. Features that the model does not use may be absent, and further columns are kept.

    Returns
    -------
    Any
        The rows with new columns: ``prediction``, and for a classifier the probability of each class as
        ``probability_<label>``, in the order of ``classes_``. A frame for a frame, an iterator of frames for batches, a
        Dask or Spark data frame for one, an Ibis expression for an Ibis table. For a Dask array, a Dask data frame of
        the new columns alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier, engines
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> engines.predict(model, X[:1])["prediction"].tolist()
    [0]
    """
    fitted, kind = fitted_of(model), kind_of(source)
    if kind is SourceKind.IBIS:
        from ._sql_predict import predict_table  # noqa: PLC0415

        return predict_table(fitted, source)
    predict_one = partial(_predict_frame, fitted)
    if kind is SourceKind.FRAME:
        return predict_one(source)
    if kind is SourceKind.DASK_ARRAY:
        return predict_dask_array(partial(_predict_array, fitted), source)
    if kind is SourceKind.DASK:
        return source.map_partitions(predict_one, meta=dask_meta(fitted, source))
    if kind is SourceKind.SPARK:
        _check_columns(fitted, source.columns)
        return predict_spark(predict_one, source, _empty_predictions(fitted))
    return _predict_frames(predict_one, read_batches(source, kind))


def _predict_frames(predict_one: Any, read: Any) -> Iterator[Any]:
    for frame in frames_of(read()):
        yield predict_one(frame)


def column_names(fitted: Fitted) -> list[str]:
    """The names of the columns that predictions add."""
    names = fitted.value_names
    if fitted.outcome.predicts_classes:
        return ["prediction", *names]
    return ["prediction"] if len(names) == 1 else [f"prediction_{i}" for i in range(len(names))]


def dask_meta(fitted: Fitted, source: Any) -> Any:
    """An empty frame with the columns of the result, which Dask asks for."""
    _check_columns(fitted, [str(name) for name in source.columns])
    return _with_columns(source._meta, _empty_predictions(fitted))


def _predict_frame(fitted: Fitted, frame: Any) -> Any:
    table = eager(frame)
    features = _features(fitted, table)
    new = _predictions(fitted, features) if len(table) else _empty_predictions(fitted)
    if table.implementation.is_pandas_like():
        return _with_columns(table.to_native(), new)
    backend = nw.get_native_namespace(table)
    series = [nw.new_series(name, values, backend=backend) for name, values in new.items()]
    return table.with_columns(*series).to_native()


def _features(fitted: Fitted, table: nw.DataFrame[Any]) -> Any:
    """The features in their order; those that no split uses may be absent."""
    names = fitted.schema.names
    if names is None:
        return table.to_native()
    columns = {str(name): name for name in table.columns}  # names in pandas may be numbers
    _check_columns(fitted, list(columns))
    unused = [nw.lit(None).alias(name) for name in names if name not in columns]
    table = table.with_columns(*unused) if unused else table
    return table.select([columns.get(name, name) for name in names]).to_native()


def _check_columns(fitted: Fitted, columns: list[str]) -> None:
    """Raise an error if a table lacks a column that the model uses."""
    for i in [] if fitted.schema.names is None else fitted.used_features:
        name = fitted.schema.name(i)
        if name not in columns:
            raise ValueError(f"The table has no column {name!r}, which the model needs: {nearest_name(name, columns)}")


def _with_columns(frame: Any, new: dict[str, Any]) -> Any:
    """Add all columns to a frame of pandas at once; one by one, each would be a separate block of memory."""
    pandas = nw.get_native_namespace(frame)
    kept = frame.drop(columns=[name for name in new if name in frame.columns])
    return pandas.concat([kept, pandas.DataFrame(new, index=frame.index)], axis=1)


def _empty_predictions(fitted: Fitted) -> dict[str, Any]:
    """The new columns of a frame that has no rows."""
    columns = dict.fromkeys(column_names(fitted), np.zeros(0))
    outcome = fitted.outcome
    return columns | {"prediction": outcome.labels[:0]} if outcome.predicts_classes else columns


def _predict_array(fitted: Fitted, X: Any) -> Any:
    import pandas as pd  # noqa: PLC0415

    return pd.DataFrame(_predictions(fitted, X) if len(X) else _empty_predictions(fitted))


def _predictions(fitted: Fitted, features: Any) -> dict[str, Any]:
    """The new columns of a frame that has rows."""
    rows = read_rows(fitted, features)
    mean = fitted.mean(rows)
    names = column_names(fitted)
    if not fitted.outcome.predicts_classes:
        return dict(zip(names, mean.T, strict=True))
    predicted = fitted.outcome.labels[fitted.class_codes(rows, mean=mean)]
    return dict(zip(names, [predicted, *mean.T], strict=True))
