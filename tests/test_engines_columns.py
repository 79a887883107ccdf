"""`features` and `drop` choose the columns at every source, and the tree is that of these columns in memory."""

from __future__ import annotations

import dask.array as da
import dask.dataframe as dd
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from baytree import engines
from tests.sources import assert_same_model, fitted_in_memory, model_of, table_of

# Dask and DuckDB warn of their own affairs.
pytestmark = pytest.mark.filterwarnings("ignore")


def with_other_columns():
    """A table with columns that no fit could read: names of the rows, dates, lists."""
    frame, names = table_of("classes")
    n = len(frame)
    frame.insert(0, "id", [f"row {i}" for i in range(n)])
    frame["opened"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n), unit="D")
    frame["history"] = [[1, 2]] * n
    return frame, names


FRAME, NAMES = with_other_columns()
OTHERS = ["id", "opened", "history"]
FEATURES = [name for name in FRAME.columns if name not in [*OTHERS, "y"]]


def parquet(folder):
    FRAME[:250].to_parquet(folder / "a.parquet")
    FRAME[250:].assign(id=range(len(FRAME) - 250)).to_parquet(folder / "b.parquet")  # numbers here, text there
    return folder


SOURCES = {
    "frame": lambda _: FRAME,
    "polars": lambda _: pl.from_pandas(FRAME),
    "arrow": lambda _: pa.Table.from_pandas(FRAME),
    "function": lambda _: lambda: [FRAME[:250], FRAME[250:]],
    "parquet": parquet,
    "data set": lambda _: ds.dataset(pa.Table.from_pandas(FRAME)),
    "scanner": lambda _: ds.dataset(pa.Table.from_pandas(FRAME)).scanner(),
    "lazy frame": lambda _: pl.from_pandas(FRAME).lazy(),
    "dask": lambda _: dd.from_pandas(FRAME, npartitions=2),
}


@pytest.mark.parametrize("name", SOURCES)
def test_columns_are_chosen_by_name(name, tmp_path):
    expected = fitted_in_memory(model_of("classes"), FRAME[[*FEATURES, "y"]], NAMES)
    source = SOURCES[name](tmp_path)
    dropped = engines.fit(model_of("classes"), source, drop=OTHERS)
    assert_same_model(dropped, expected)
    other_order = FEATURES[::-1]
    expected = fitted_in_memory(model_of("classes"), FRAME[[*other_order, "y"]], NAMES)
    assert_same_model(engines.fit(model_of("classes"), source, features=other_order), expected)


def test_columns_are_chosen_in_a_database(duckdb):
    expected = fitted_in_memory(model_of("classes"), FRAME[[*FEATURES, "y"]], NAMES)
    table = duckdb(FRAME)
    assert_same_model(engines.fit(model_of("classes"), table, drop=OTHERS), expected)
    assert_same_model(engines.fit(model_of("classes"), table, features=FEATURES), expected)
    known = engines.describe(model_of("classes"), table, drop=OTHERS)
    assert list(known["dtypes"]) == FEATURES
    assert_same_model(engines.fit(model_of("classes"), table, drop=OTHERS, **known), expected)


def test_a_relation_of_duckdb_is_read_in_batches():
    import duckdb

    expected = fitted_in_memory(model_of("classes"), FRAME[[*FEATURES, "y"]], NAMES)
    frame = FRAME  # noqa: F841  which DuckDB finds by its name
    with duckdb.connect() as connection:
        relation = connection.sql("SELECT * FROM frame")
        model = engines.fit(model_of("classes"), relation, drop=OTHERS)
        assert_same_model(model, expected)
        predicted = pd.concat(batch.to_pandas() for batch in engines.predict(model, relation))
    assert list(predicted["prediction"]) == list(model.predict(FRAME[FEATURES]))


def test_a_lazy_frame_is_predicted_in_batches():
    model = fitted_in_memory(model_of("classes"), FRAME[[*FEATURES, "y"]], NAMES)
    predicted = pl.concat(engines.predict(model, pl.from_pandas(FRAME).lazy()))
    assert predicted["prediction"].to_list() == list(model.predict(FRAME[FEATURES]))


def test_columns_of_files_of_text(tmp_path):
    frame = FRAME.drop(columns="history")
    frame.to_csv(tmp_path / "all.csv", index=False)
    frame[:250].to_csv(tmp_path / "a.tsv.gz", sep="\t", index=False)
    frame[250:].to_csv(tmp_path / "b.tsv.gz", sep="\t", index=False)
    read = pd.read_csv(tmp_path / "all.csv")
    expected = fitted_in_memory(model_of("classes"), read[[*FEATURES, "y"]], NAMES)
    several = [tmp_path / "a.tsv.gz", str(tmp_path / "b.tsv.gz")]
    for source in (tmp_path / "all.csv", str(tmp_path / "*.tsv.gz"), several):
        model = engines.fit(model_of("classes"), source, drop=["id", "opened"])
        assert_same_model(model, expected)
    predicted = pd.concat(batch.to_pandas() for batch in engines.predict(model, tmp_path / "all.csv"))
    assert list(predicted["prediction"]) == list(model.predict(read[FEATURES]))


def test_types_of_files_of_text(tmp_path):
    """Types are those of the first block; whole numbers are numbers, and dtypes says otherwise."""
    random = np.random.default_rng(0)
    n = 400_000  # several blocks
    frame = pd.DataFrame({"a": random.integers(0, 9, n).astype(float), "code": random.integers(10, 20, n).astype(str)})
    frame["y"] = (frame["a"] > 4).astype(int)
    frame.loc[n - 1, "a"] = 2.5
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)
    expected = fitted_in_memory(model_of("classes"), frame, {})
    assert_same_model(engines.fit(model_of("classes"), path, dtypes={"code": "category"}), expected)
    frame.loc[n - 1, "code"] = "A"
    wide = pd.concat([frame.assign(more="x" * 20)] * 1)
    wide.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"The file 'rows.csv' cannot be read as CSV \(.*'A'.*give the type of that"):
        engines.fit(model_of("classes"), path, drop=["more"])
    with pytest.raises(FileNotFoundError, match=r"There is no file '.*none.csv': give the path of a CSV file"):
        engines.fit(model_of("classes"), tmp_path / "none.csv")


ELSEWHERE = {
    "lazy frame": lambda _: pl.from_pandas(FRAME[[*FEATURES, "y"]]).lazy(),
    "dask": lambda _: dd.from_pandas(FRAME[[*FEATURES, "y"]], npartitions=2),
    "parquet": lambda folder: FRAME[[*FEATURES, "y"]].to_parquet(folder / "a.parquet") or folder,
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_the_estimator_itself_fits_rows_elsewhere(name, tmp_path):
    expected = fitted_in_memory(model_of("classes"), FRAME[[*FEATURES, "y"]], NAMES)
    source = ELSEWHERE[name](tmp_path)
    model = model_of("classes")
    assert model.fit(source, "y") is model
    assert_same_model(model, expected)
    with pytest.raises(TypeError, match="are not in memory: give y as the name of its column, or collect X"):
        model.fit(source, FRAME["y"])
    if name != "parquet":
        with pytest.raises(TypeError, match=r"whose rows are not in memory: fit and engines.predict take it"):
            model.predict(source)


def test_the_estimator_itself_fits_columns_by_their_names(duckdb):
    frame, names = table_of("poisson", weighted=True)
    expected = fitted_in_memory(model_of("poisson"), frame, names)
    assert_same_model(model_of("poisson").fit(duckdb(frame), "y", sample_weight="w", exposure="time"), expected)
    with pytest.raises(TypeError, match="whose rows are not in memory"):
        expected.predict(duckdb(frame))
    arrays = da.from_array(frame[["x", "noise"]].to_numpy(), chunks=(100, 2)), da.from_array(frame["y"], chunks=100)
    expected = model_of("normal").fit(frame[["x", "noise"]].to_numpy(), frame["y"])
    assert_same_model(model_of("normal").fit(*arrays), expected)


WRONG = {
    "both": ({"features": ["x"], "drop": ["id"]}, ValueError, "features and drop are both given: give one of them"),
    "text": ({"drop": "id"}, TypeError, "drop must be a list of the names of columns; got 'id'"),
    "number": ({"features": 3}, TypeError, "features must be a list of the names of columns; got 3"),
    "position": ({"features": ["x", 3]}, TypeError, "features must be a list of the names of columns; 3 is none"),
    "twice": ({"features": ["x", "x"]}, ValueError, "features names the column 'x' twice"),
    "target": ({"features": ["x", "y"]}, ValueError, "features names the column 'y', which is the target"),
    "weight": ({"drop": ["x"], "weight": "x"}, ValueError, "drop names the column 'x', which is the weight"),
    "unknown": ({"features": ["noises"]}, ValueError, "features names the column 'noises', .*: did you mean 'noise'"),
    "unknown to drop": ({"drop": ["idd"]}, ValueError, "drop names the column 'idd', which the table does not have"),
    "none": ({"features": []}, ValueError, "there are no features"),
    "all": ({"drop": [*OTHERS, *FEATURES]}, ValueError, "those that drop names: there are no features"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_choice_is_one_sentence(name, duckdb):
    arguments, kind, message = WRONG[name]
    for source in (FRAME, dd.from_pandas(FRAME, npartitions=2), lambda: [FRAME], duckdb(FRAME)):
        with pytest.raises(kind, match=message):
            engines.fit(model_of("classes"), source, **arguments)


def test_columns_of_arrays_have_no_names():
    X = da.from_array(np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"features and drop are names, .* as in X\[:, \[0, 2\]\]"):
        engines.fit(model_of("classes"), X, target=X[:, 0], drop=["a"])


NO_SOURCES = {
    "array": (np.zeros((3, 2)), r"ndarray is no source: call model.fit\(X, y\)"),
    "series": (FRAME["x"], "Series is no source: give the frame that it is a column of, and its name as target"),
    "iterator": (
        iter([FRAME]),
        "source can be read only once .*: give a function that returns a new iterator",
    ),
    "reader": (pa.Table.from_pandas(FRAME).to_reader(), "RecordBatchReader is no source: it can be read once only"),
    "dict": ({"a": [1]}, "dict is no source: make a data frame of it"),
    "number": (3, "source must be a data frame, a path of Parquet or CSV files .* or a relation of DuckDB; got int"),
    "column": (ibis.table({"x": "float64"}, name="rows").x, "source must be a data frame, .*; got FloatingColumn"),
}


@pytest.mark.parametrize("name", NO_SOURCES)
def test_what_is_no_source_says_what_to_pass(name):
    source, message = NO_SOURCES[name]
    with pytest.raises(TypeError, match=message):
        engines.fit(model_of("classes"), source)
    model = fitted_in_memory(model_of("classes", max_depth=1), FRAME[["x", "y"]], NAMES)
    with pytest.raises(TypeError, match=message):
        engines.predict(model, source)
