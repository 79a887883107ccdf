"""Parquet files and Arrow tables: whatever their types, the tree is that of the same frame in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from baytree import engines
from tests.sources import assert_same_model, fitted_in_memory, model_of


def numbers_and_labels(n=400):
    """A frame whose class depends on `k`, and some noise."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"k": random.integers(0, 9, n), "x": random.normal(size=n)})
    return frame.assign(y=np.where(random.random(n) < np.where(frame["k"] > 4, 0.9, 0.1), "yes", "no"))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("dtype", "low", "high"), [("int64", 2**62, 2**63 - 1), ("uint64", 2**63, 2**64 - 1)])
def test_whole_numbers_that_float64_must_round(dtype, low, high, missing, tmp_path):
    frame = numbers_and_labels()
    random = np.random.default_rng(1)
    frame["long"] = random.integers(low, high, len(frame), dtype=dtype)
    frame["y"] = np.where(frame["long"] > low + (high - low) // 3, "yes", frame["y"])
    if missing:
        frame["long"] = frame["long"].astype(dtype.replace("int", "Int").replace("uI", "UI"))
        frame.loc[random.random(len(frame)) < 0.1, "long"] = pd.NA
    frame.to_parquet(tmp_path / "long.parquet")
    expected = fitted_in_memory(model_of("classes"), frame, {})
    assert 2 in expected.tree_.feature
    table = pa.Table.from_pandas(frame, preserve_index=False)
    as_arrow = frame.astype({"long": f"{dtype}[pyarrow]"})
    for source in (frame, as_arrow, pl.from_pandas(frame), table, tmp_path, ds.dataset(table), lambda: [table]):
        assert_same_model(engines.fit(model_of("classes"), source), expected)
    assert_same_model(model_of("classes").fit(table.drop(["y"]), frame["y"]), expected)


def written(folder, **frames):
    """A folder of Parquet files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        frame.to_parquet(folder / f"{name}.parquet", index=False)
    return folder


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool", "Int16"])
def test_files_may_differ_in_types_of_numbers(dtype, cache, tmp_path):
    frame = numbers_and_labels()
    one, two = frame[:200], frame[200:]
    two = two.assign(k=(two["k"] + 0.5 if dtype.startswith("float") else two["k"] % 2).astype(dtype))
    whole = pd.concat([one.astype({"k": "float64"}), two.astype({"k": "float64"})])
    folder = written(tmp_path, a=one, b=two[["y", "x", "k"]], c=frame[:0].astype({"k": "str"}))
    assert_same_model(
        engines.fit(model_of("classes"), folder, cache=cache), fitted_in_memory(model_of("classes"), whole, {})
    )


def test_files_may_differ_in_categories(tmp_path):
    frame = numbers_and_labels()
    frame["k"] = frame["k"].map("city {}".format)
    expected = fitted_in_memory(model_of("classes"), frame, {})
    folder = written(tmp_path, a=frame[:200].astype({"k": "category"}), b=frame[200:])
    assert_same_model(engines.fit(model_of("classes"), folder), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda f: f.assign(k=f["k"].astype(str)), "^Column 'k' holds numbers in the file 'a.parquet' and text in 'b"),
        (lambda f: f.assign(y=1), "^Column 'y' holds text in the file 'a.parquet' and numbers in 'b.parquet': give it"),
        (lambda f: f.drop(columns="x"), "^The file 'b.parquet' has no column 'x', which 'a.parquet' has: give all"),
        (lambda f: f.assign(more=1), "^The file 'a.parquet' has no column 'more', which 'b.parquet' has: give all"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(change, message, tmp_path, monkeypatch):
    frame = numbers_and_labels()
    folder = written(tmp_path, a=frame[:200], b=change(frame[200:]))
    model = model_of("classes")
    monkeypatch.setattr("baytree.sources._parquet.batches_of_files", lambda *_: pytest.fail("rows are read"))
    for source in (folder, [folder / "a.parquet", folder / "b.parquet"]):
        with pytest.raises(ValueError, match=message):
            engines.fit(model, source)
    assert not hasattr(model, "fitted_")


def test_predictions_need_no_equal_files(tmp_path):
    frame = numbers_and_labels()
    model = fitted_in_memory(model_of("classes"), frame, {})
    folder = written(tmp_path, a=frame[:200].drop(columns="y"), b=frame[200:].assign(y=1, more="text"))
    predicted = pa.concat_tables([part.select(["k", "prediction"]) for part in engines.predict(model, folder)])
    assert predicted["prediction"].to_pylist() == model.predict(frame[["k", "x"]]).tolist()


def test_names_of_columns_must_be_unique_in_a_file(tmp_path):
    pq.write_table(pa.table([[1, 2], [3, 4], [0, 1]], ["a", "a", "y"]), tmp_path / "twice.parquet")
    with pytest.raises(ValueError, match=r"The file 'twice.parquet' has 2 columns of the name 'a': names must be"):
        engines.fit(model_of("classes"), tmp_path)


@pytest.mark.parametrize("are_numbers", [False, True])
def test_names_of_folders_are_a_column(are_numbers, tmp_path):
    frame = numbers_and_labels().rename(columns={"k": "g"})[["x", "y", "g"]]
    frame["g"] = frame["g"] if are_numbers else frame["g"].map("a b/{}".format)
    expected = fitted_in_memory(model_of("classes"), frame[["x", "g", "y"]], {})
    table = pa.Table.from_pandas(frame, preserve_index=False)
    ds.write_dataset(
        table,
        tmp_path / "run=3",
        format="parquet",
        partitioning=ds.partitioning(pa.schema([table.schema.field("g")]), flavor="hive"),
    )
    files = sorted((tmp_path / "run=3").rglob("*.parquet"))
    assert len(files) == 9
    for source in (tmp_path / "run=3", str(tmp_path / "run=3" / "g=*" / "*.parquet"), files):
        assert_same_model(engines.fit(model_of("classes"), source), expected)
    predicted = pa.concat_tables(engines.predict(expected, tmp_path / "run=3"))
    pairs = [set(zip(rows["g"], rows["x"], strict=True)) for rows in (predicted.to_pandas(), frame)]
    assert pairs[0] == pairs[1]
    frame.to_parquet(files[0].with_name("own.parquet"))  # a file may have the column itself
    assert engines.fit(model_of("classes"), files[0].with_name("own.parquet")).schema_.names == ("x", "g")


def test_a_folder_may_stand_for_a_missing_value(tmp_path):
    frame = numbers_and_labels().drop(columns="k")
    for name, g in {"g=1": 1.0, "g=__HIVE_DEFAULT_PARTITION__": np.nan}.items():
        written(tmp_path / name, part=frame[:200] if g == 1 else frame[200:])
    whole = frame.assign(g=np.where(np.arange(len(frame)) < 200, 1.0, np.nan))
    assert_same_model(engines.fit(model_of("classes"), tmp_path), fitted_in_memory(model_of("classes"), whole, {}))


def test_every_way_to_name_files(tmp_path):
    frame = numbers_and_labels()
    expected = fitted_in_memory(model_of("classes"), frame, {})
    folder = written(tmp_path / "some", a=frame[:200], b=frame[200:])
    for name in ("readme.txt", "_SUCCESS", ".hidden.parquet"):
        (folder / name).write_text("no rows")
    ways = (
        folder,
        f"{folder}/*.parquet",
        f"{folder}/*",
        f"{tmp_path}/**/[ab].parquet",
        [folder / "a.parquet", str(folder / "b.parquet")],
        (f"{folder}/a*", folder / "b.parquet"),
        folder.as_uri(),
    )
    for source in ways:
        assert_same_model(engines.fit(model_of("classes"), source), expected)
        assert sum(map(len, engines.predict(expected, source))) == len(frame)
    (folder / "a.parquet").rename(folder / "000000_0")  # as Hive names its files
    assert_same_model(engines.fit(model_of("classes"), folder), expected)


def test_paths_that_lead_nowhere_are_one_sentence(tmp_path):
    (tmp_path / "readme.txt").write_text("no rows")
    with pytest.raises(ValueError, match=r"The folder '.*' has no Parquet file in it\."):
        engines.fit(model_of("classes"), tmp_path)
    with pytest.raises(ValueError, match=r"Nothing that matches '.*' is a Parquet file or a folder of them\."):
        engines.fit(model_of("classes"), f"{tmp_path}/*")
    for path in (tmp_path / "none.parquet", f"{tmp_path}/*.parquet"):
        with pytest.raises(FileNotFoundError, match=r"There is no file or folder '.*parquet': give the path of a Parq"):
            engines.fit(model_of("classes"), path)
    with pytest.raises(ValueError, match="source is an empty list"):
        engines.fit(model_of("classes"), [])
    (tmp_path / "damaged.parquet").write_text("no rows")
    with pytest.raises(ValueError, match=r"damaged\.parquet"):
        engines.fit(model_of("classes"), tmp_path)
