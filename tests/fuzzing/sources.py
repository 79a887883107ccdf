"""Tables of odd types and weights at every source: the model of the table in memory, bit for bit, or its refusal."""

from __future__ import annotations

import sqlite3
import tempfile
import warnings
from collections.abc import Callable
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from numpy.testing import assert_array_equal

from baytree import PartitionPrior, engines
from baytree.export._sql_text import identifier
from tests.fuzzing.case import Case, Skipped
from tests.sources import OUTCOMES, assert_same_model, divided, fitted_in_memory, model_of

_NAMES = ("a", "b c", 'the "d"', "größe", "it's", "select", "x;y", "1", "%s")
_TEXTS = ("", " ", "a'b", '"', "né", "🦊", "nan", "None", "two\nlines", "1", "%s", "x" * 300, "true", "\\")
_LABELS = (("no", "yes", "it's"), (0, 1, 2), (False, True, True), (-1, 1, 1), ("", " ", "né"))


def check_sources(case: Case) -> str:
    """One table in memory and at a source, whose rows are divided at random."""
    random = case.random
    outcome = str(random.choice(OUTCOMES))
    frame, names = _table(random, outcome)
    options = _options(random, frame.drop(columns=["y", *names.values()]))
    way = _WAYS[random.choice(len(_WAYS), p=[0.2, 0.14, 0.1, 0.2, 0.34, 0.02])]
    expected = _result(lambda: fitted_in_memory(model_of(outcome, **options), frame, names))
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        for of_drivers in (DeprecationWarning, FutureWarning, ResourceWarning):
            warnings.simplefilter("ignore", of_drivers)
        source, given = way(random, frame, Path(folder)), {}
        if way is not _frames:
            given = _orders(frame)
        result = _result(lambda: engines.fit(model_of(outcome, **options), source, **names, **given))
        if isinstance(expected, Exception) or isinstance(result, Exception):
            if type(expected) is not type(result):
                raise AssertionError(f"In memory: {expected!r}. At the source: {result!r}.")
            return f"sources: {way.__name__[1:]}, refused"
        assert_same_model(result, expected)
        numbered = frame.assign(row=np.arange(len(frame)))
        for where in [way, _sqlite] if random.random() < 0.3 else [way]:
            _check_predictions(expected, where(random, numbered, Path(folder) / "to predict"), frame)
    return f"sources: {way.__name__[1:]}"


def _result(fit: Callable):
    """What a fit gives, or its refusal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of weights and of equal rows
        try:
            return fit()
        except (ValueError, TypeError) as refusal:
            return refusal


def _check_predictions(model, source, frame) -> None:
    """Compare the predictions of a source, which come in any order, with those in memory."""
    predicted, features = _fetched(engines.predict(model, source)), frame[list(model.feature_names_in_)]
    predicted = predicted.sort_values("row")
    assert_array_equal(predicted["row"], np.arange(len(frame)))
    if hasattr(model, "classes_"):
        columns, expected = [f"probability_{label}" for label in model.classes_], model.predict_proba(features)
    else:
        columns, expected = ["prediction"], model.predict(features)[:, None]
    assert_array_equal(predicted[columns].to_numpy(float), expected)


def _fetched(predicted) -> pd.DataFrame:
    """The rows of a result of `engines.predict`, as a frame of pandas."""
    for name in ("execute", "compute", "to_pandas"):
        if hasattr(predicted, name):
            return getattr(predicted, name)()
    return predicted if isinstance(predicted, pd.DataFrame) else pd.concat(list(map(_fetched, predicted)))


def _table(random, outcome):
    """A table with its target, and the names of the columns that are no features."""
    n = int(random.choice([1, 4, 15, 60, 300]))
    kinds = random.choice(list(_COLUMNS), random.integers(1, 6))
    names = random.permutation(_NAMES)[: len(kinds)]
    frame = pd.DataFrame({name: _COLUMNS[kind](random, n) for name, kind in zip(names, kinds, strict=True)})
    signal = frame.apply(lambda column: pd.factorize(column)[0]).to_numpy().sum(axis=1)
    signal = (signal > np.median(signal)) ^ (random.random(n) < 0.1)
    others = {}
    if outcome == "classes":
        labels = np.array(_LABELS[random.integers(len(_LABELS))])
        y = labels[signal.astype(int) + (random.random(n) < 0.1)]
        y = y.astype(object) if y.dtype.kind == "U" else y
    elif outcome == "normal":
        y = (random.choice([0, 1e4]) + 3 * signal + random.normal(size=n)) * 10.0 ** random.integers(-6, 7)
        y[random.random(n) < random.choice([0, 0, 0, 0.01])] = np.inf
    elif outcome == "exponential":
        y = random.exponential(1 + 3 * signal)
        frame["ended"] = random.random(n) < 0.8
        others["event"] = "ended"
    else:
        exposure = random.choice([1.0, 0.0]) + random.uniform(0, 3, n) * 10.0 ** random.integers(-3, 4)
        y = random.poisson(np.minimum(exposure * (1 + 3 * signal), 1e6))
        frame["time"] = exposure
        others["exposure"] = "time"
    frame["y"] = y
    if random.random() < 0.6:
        frame["w"] = _weights(random, n)
        others["weight"] = "w"
    return frame, others


def _weights(random, n):
    return {
        "whole": lambda: random.integers(0, 5, n),
        "real": lambda: np.where(random.random(n) < 0.1, 0.0, random.uniform(0.5, 2, n)),
        "wide": lambda: 10.0 ** random.uniform(-9, 6, n),
        "equal": lambda: np.full(n, 1e-9),
        "zero": lambda: np.zeros(n),
        "wrong": lambda: np.where(random.random(n) < 0.1, random.choice([-1.0, np.nan, np.inf]), 1.0),
    }[str(random.choice(["whole", "real", "wide", "equal", "zero", "wrong"], p=[0.3, 0.3, 0.25, 0.05, 0.03, 0.07]))]()


def _with_missing(random, values, missing=None):
    """The values, as objects, some of which are missing."""
    gone = random.random(len(values)) < random.choice([0, 0.3])
    return [missing if absent else value for absent, value in zip(gone, values, strict=True)]


def _numbers(random, n):
    values = random.normal(size=n) * 10.0 ** random.integers(-9, 10)
    values = np.round(values, int(random.integers(0, 6))) if random.random() < 0.5 else values
    odd = random.random(n) < random.choice([0, 0.1])
    values[odd] = random.choice([0.0, -0.0, 5e-324, 1e300, -1e300], odd.sum())
    values[random.random(n) < random.choice([0, 0, 0, 0, 0.02])] = random.choice([np.inf, -np.inf])
    return np.array(_with_missing(random, values, np.nan))


def _small_floats(random, n):
    return random.normal(size=n).astype(np.float32)


def _integers(random, n):
    low = int(random.choice([-3, 2**53 - 3, -(2**53) - 3, 2**62]))
    values = (low + random.integers(0, 7, n)).astype(np.int64)
    return pd.array(_with_missing(random, values.tolist(), pd.NA), dtype="Int64") if random.random() < 0.5 else values


def _decimals(random, n):
    return np.array(_with_missing(random, [Decimal(int(v)) / 100 for v in random.integers(-500, 500, n)]), dtype=object)


def _truth(random, n):
    values = random.random(n) < 0.4
    return pd.array(_with_missing(random, values, pd.NA), dtype="boolean") if random.random() < 0.5 else values


def _text(random, n):
    return np.array(_with_missing(random, random.choice(np.array(_TEXTS, dtype=object), n)), dtype=object)


def _categories(random, n, *, ordered=False):
    labels = random.permutation(np.array(_TEXTS, dtype=object))[: random.integers(1, len(_TEXTS))]
    values = pd.Categorical(_with_missing(random, random.choice(labels, n)), labels, ordered=ordered)
    return values if ordered else values.remove_unused_categories()  # most sources cannot store them


def _ordered(random, n):
    return _categories(random, n, ordered=True)


def _constant(random, n):
    return np.full(n, random.choice([0.0, -1.5, np.nan]))


_COLUMNS = {
    "numbers": _numbers,
    "float32": _small_floats,
    "integers": _integers,
    "decimals": _decimals,
    "truth": _truth,
    "text": _text,
    "categories": _categories,
    "ordered": _ordered,
    "constant": _constant,
}


def _options(random, features):
    """Parameters of the estimator."""
    options = {
        # With fewer, a column whose order is given keeps all of its categories, and one in memory does not.
        "max_bins": int(random.choice([20, 255, 1000] if _orders(features)["dtypes"] else [2, 5, 20, 255, 1000])),
        "min_samples_leaf": int(random.choice([1, 1, 5])),
        "max_depth": [None, None, 1, 3][random.integers(4)],
        "max_leaf_nodes": [None, None, 3][random.integers(3)],
        "min_weight_fraction_leaf": float(random.choice([0.0, 0.0, 0.05])),
        "smoothing": float(random.choice([0.0, 0.0, 0.3])),
        "prune": bool(random.random() < 0.5),
        "partition_prior": PartitionPrior(
            split=float(random.choice([0.99, 0.5])), location=str(random.choice(["uniform", "distance"]))
        ),
    }
    if random.random() < 0.2:
        options["feature_prior"] = {features.columns[0]: float(random.choice([0.0, 2.0]))}
    if random.random() < 0.1:
        options["prior"] = "evidence"
    return options


def _orders(frame):
    """The order of the ordered columns, which most sources cannot store."""
    ordered = {name: column.cat.categories.tolist() for name, column in frame.items() if _has_order(column)}
    return {"dtypes": dict.fromkeys(ordered, "ordered"), "categories": ordered}


def _has_order(column) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered


def _as_arrow(frame):
    """The table of Arrow; a column without any value is one of text in memory."""
    try:
        import pyarrow as pa
    except ImportError as missing:
        raise Skipped(str(missing)) from None
    plain = frame.assign(**{name: column.astype(object) for name, column in frame.items() if _is_category(column)})
    table = pa.Table.from_pandas(plain, preserve_index=False)
    for i, of in enumerate(table.schema):
        if pa.types.is_null(of.type):
            table = table.set_column(i, of.name, table.column(i).cast(pa.string()))
    return table


def _is_category(column) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype)


def _parts(random, frame):
    return divided(frame, int(random.choice([1, 2, 5])), seed=int(random.integers(1000)))


def _frames(random, frame, _):
    parts = _parts(random, frame)
    return lambda: iter(parts)


def _arrow(random, frame, _):
    parts = list(map(_as_arrow, _parts(random, frame)))
    schema = _as_arrow(frame).schema
    parts = [part.cast(schema) for part in parts]
    return lambda: iter(parts)


def _polars(random, frame, folder):
    parts = list(map(pl.from_arrow, _arrow(random, frame, folder)()))
    return lambda: iter(parts)


def _parquet(random, frame, folder):
    import pyarrow.parquet as pq

    folder = folder / "parquet"
    folder.mkdir(parents=True)
    for i, part in enumerate(_arrow(random, frame, folder)()):
        pq.write_table(part, folder / f"{i}.parquet", row_group_size=int(random.choice([10, 1000])))
    return folder


def _duckdb(_, frame, __):
    ibis = _ibis()
    return ibis.duckdb.connect().create_table("rows", _as_arrow(frame))


def _sqlite(_, frame, folder):
    """A file of SQLite, with the types that it has."""
    ibis, table = _ibis(), _as_arrow(frame)
    types = [_sqlite_type(str(field.type)) for field in table.schema]
    columns = [f"{identifier(name)} {dtype}" for name, dtype in zip(table.column_names, types, strict=True)]
    values = [
        [None if v is None else float(v) if dtype == "REAL" else v for v in column.to_pylist()]
        for dtype, column in zip(types, table.columns, strict=True)
    ]
    folder.mkdir(exist_ok=True)
    with closing(sqlite3.connect(folder / "rows.db")) as connection:
        connection.execute(f"CREATE TABLE rows ({', '.join(columns)})")
        connection.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * len(columns))})", zip(*values, strict=True))
        connection.commit()
    return ibis.sqlite.connect(folder / "rows.db").table("rows")


def _sqlite_type(of_arrow: str) -> str:
    known = {"bool": "BOOLEAN", "int64": "INTEGER", "string": "TEXT", "large_string": "TEXT"}
    return known.get(of_arrow, "REAL")


def _ibis():
    try:
        import ibis
    except ImportError as missing:
        raise Skipped(str(missing)) from None
    return ibis


def _dask(random, frame, _):
    try:
        import dask.dataframe as dd
    except ImportError as missing:
        raise Skipped(str(missing)) from None
    plain = frame.assign(**{name: column.astype(object) for name, column in frame.items() if _is_category(column)})
    for name, column in frame.items():
        if any(isinstance(value, Decimal) for value in column):
            plain[name] = column.astype(float)  # Dask makes text of objects
    return dd.from_pandas(plain, npartitions=int(random.choice([1, 3])))


_WAYS = (_frames, _arrow, _polars, _parquet, _duckdb, _dask)
