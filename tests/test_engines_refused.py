"""What cannot be read is refused in one sentence, and the model stays as it was."""

from __future__ import annotations

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from baytree import engines
from tests.sources import assert_same_model, model_of

random = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": random.normal(size=300), "b": random.integers(0, 5, 300)})
FRAME["y"] = (random.random(300) < np.where(FRAME["a"] > 0, 0.9, 0.1)).astype(int)


def shrinking():
    """A function that has fewer rows whenever it is called."""
    left = iter([300, 300, 200, 100])
    return lambda: [FRAME[: next(left)]]


def used(frames):
    """A function that returns the same iterator whenever it is called."""
    one = iter(frames)
    return lambda: one


TWICE = FRAME.set_axis(["a", "a", "y"], axis=1)
SOURCES = {
    "fewer rows": (shrinking, ValueError, "gave 300 rows when it was read first and 200 when it was read again"),
    "used iterator": (lambda: used([FRAME[:100], FRAME[100:]]), ValueError, "same iterator twice, .* a new iterator"),
    "used up": (lambda: used([FRAME]), ValueError, "it must return a new iterator whenever it is called"),
    "used generator": (lambda: used(f for f in [FRAME]), ValueError, "it must return a new iterator"),
    "one frame": (lambda: lambda: FRAME, TypeError, "returned one DataFrame: it must return an iterator of frames"),
    "one polars frame": (lambda: lambda: pl.from_pandas(FRAME), TypeError, "returned one DataFrame: it must return an"),
    "None": (lambda: lambda: None, TypeError, "The function must return an iterator of frames; got NoneType"),
    "arrays": (lambda: lambda: [FRAME.to_numpy()], TypeError, "Batches must be data frames of .*; got ndarray"),
    "lazy": (lambda: pl.from_pandas(FRAME).lazy(), TypeError, "is a lazy table: collect"),
    "lazy batches": (lambda: lambda: [pl.from_pandas(FRAME).lazy()], TypeError, "is a lazy table: collect"),
    "relation": (lambda: duckdb.sql("SELECT 1 AS a, 0 AS y"), TypeError, "A DuckDBPyRelation is no data frame"),
    "twice": (lambda: TWICE, ValueError, "has 2 columns of the name 'a': names must be unique"),
    "twice, arrow": (lambda: pa.table([[1], [2], [0]], ["a", "a", "y"]), ValueError, "has 2 columns of the name 'a'"),
    "twice, dask": (lambda: dd.from_pandas(TWICE, npartitions=2), ValueError, "has 2 columns of the name 'a'"),
}


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize(("source", "error", "message"), SOURCES.values(), ids=SOURCES.keys())
def test_what_cannot_be_read_is_one_sentence(source, error, message, cache):
    model = model_of("classes")
    with pytest.raises(error, match=message) as caught:
        engines.fit(model, source(), cache=cache)
    assert "\n" not in str(caught.value)
    assert not hasattr(model, "fitted_")


def test_a_used_iterator_is_refused_where_all_is_known():
    known = engines.describe(model_of("classes"), FRAME)
    with pytest.raises(ValueError, match="it must return a new iterator"):
        engines.fit(model_of("classes"), used([FRAME[:100], FRAME[100:]]), **known)


@pytest.mark.parametrize("way", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_the_target_may_be_its_own_weight(way):
    frame = FRAME.assign(y=FRAME["y"] + 1)
    model = engines.fit(model_of("classes"), way(frame), weight="y")
    expected = model_of("classes").fit(frame[["a", "b"]], frame["y"], sample_weight=frame["y"])
    assert_same_model(model, expected)
