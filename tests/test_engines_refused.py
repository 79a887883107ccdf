"""What cannot be read is refused in one sentence, and the model stays as it was."""

from __future__ import annotations

import re
import warnings

import dask.dataframe as dd
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from baytree import BayesianTreeClassifier, engines
from tests.sources import assert_same_model, fitted_in_memory, model_of

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
    "lazy batches": (lambda: lambda: [pl.from_pandas(FRAME).lazy()], TypeError, "X is a LazyFrame, whose rows are not"),
    "connection": (duckdb.connect, TypeError, r"DuckDBPyConnection is no source: .* connection\.table\('rows'\)"),
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


@pytest.mark.parametrize("way", [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas])
def test_predictions_need_the_columns_that_the_tree_uses(way):
    model = fitted_in_memory(model_of("classes", max_depth=1), FRAME, {})
    assert model.tree_.feature[0] == 0
    expected = model.predict(FRAME[["a", "b"]])
    for columns in (["a"], ["y", "a"], ["b", "a"]):
        predicted = engines.predict(model, way(FRAME[columns]))
        assert_array_equal(np.asarray(predicted["prediction"]), expected)
        assert "b" in columns or "b" not in names_of(predicted)
    message = "^The table has no column 'a', which the model needs: it has "
    with pytest.raises(ValueError, match=message):
        engines.predict(model, way(FRAME[["y", "b"]]))
    with pytest.raises(ValueError, match=message):
        next(engines.predict(model, lambda: [way(FRAME[["y", "b"]])]))


def names_of(frame):
    """The names of the columns of a frame of any library."""
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


def test_predictions_of_dask_need_them_too():
    model = fitted_in_memory(model_of("classes", max_depth=1), FRAME, {})
    with pytest.raises(ValueError, match="The table has no column 'a', which the model needs"):
        engines.predict(model, dd.from_pandas(FRAME[["b"]], npartitions=2))
    predicted = engines.predict(model, dd.from_pandas(FRAME[["a"]], npartitions=2)).compute()
    assert_array_equal(np.asarray(predicted["prediction"]), model.predict(FRAME[["a", "b"]]))


def test_many_classes_are_predicted_without_a_warning():
    frame = FRAME.assign(y=np.arange(300) % 100)
    model = fitted_in_memory(model_of("classes"), frame, {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicted = engines.predict(model, dd.from_pandas(frame, npartitions=2)).compute()
        here = engines.predict(model, frame.assign(prediction="old"))
    assert_array_equal(predicted["probability_99"], model.predict_proba(frame[["a", "b"]])[:, 99])
    assert_array_equal(here["prediction"], model.predict(frame[["a", "b"]]))
    assert here.columns.is_unique


WRONG = [("max_bins", -1), ("max_bins", 2.5), ("max_bins", "a"), ("max_bins", 10**9), ("smoothing", -1), ("n_jobs", 0)]


@pytest.mark.parametrize(("parameter", "value"), WRONG)
def test_parameters_are_checked_before_anything_is_read(parameter, value):
    model = BayesianTreeClassifier(**{parameter: value})
    with pytest.raises((TypeError, ValueError), match=f"^{parameter} must be") as said:
        model.fit(FRAME[["a", "b"]], FRAME["y"])
    for ask in (engines.fit, engines.describe):
        with pytest.raises(said.type, match=re.escape(str(said.value))):
            ask(model, lambda: pytest.fail("it is read"))


def test_what_is_no_model_is_one_sentence():
    for ask in (engines.fit, engines.describe):
        with pytest.raises(TypeError, match=r"not a class: write BayesianTreeClassifier\(\)\."):
            ask(BayesianTreeClassifier, FRAME)
        for other in (DecisionTreeClassifier(), make_pipeline(BayesianTreeClassifier()), None):
            with pytest.raises(TypeError, match="model must be an estimator of baytree; got"):
                ask(other, FRAME)


@pytest.mark.parametrize("dtype", [object, "str", "string", "category"])
def test_a_missing_label_is_the_same_sentence_everywhere(dtype, tmp_path):
    labels = pd.Series(np.where(FRAME["y"] == 1, "yes", "no"), dtype=dtype)
    labels[7] = None
    frame = FRAME.assign(y=labels)
    frame.to_parquet(tmp_path / "one.parquet")
    others = (pl.from_pandas(frame), pa.Table.from_pandas(frame), dd.from_pandas(frame, npartitions=1))
    for source in (frame, *others, tmp_path, lambda: [frame]):
        with pytest.raises(ValueError, match=r"^y has a missing label \(.*\) in row 7: remove the row or name it\.$"):
            engines.fit(model_of("classes"), source)
    with pytest.raises(ValueError, match=r"^y has a missing label \(.*\) in row 7: remove the row or name it\.$"):
        model_of("classes").fit(frame[["a", "b"]], frame["y"])


def test_a_missing_number_among_objects_is_one_sentence():
    frame = FRAME.astype({"y": object})
    frame.loc[7, "y"] = pd.NA
    with pytest.raises(ValueError, match=r"^y has a missing value \(<NA>\) in row 7: remove the row\.$"):
        engines.fit(model_of("normal"), frame)


def test_labels_may_be_a_dictionary_of_arrow(tmp_path):
    frame = FRAME.assign(y=pd.Categorical(np.where(FRAME["y"] == 1, "yes", "no")))
    expected = fitted_in_memory(model_of("classes"), frame, {})
    frame.to_parquet(tmp_path / "one.parquet")
    assert_same_model(engines.fit(model_of("classes"), tmp_path), expected)
