"""What a database cannot be fitted on is refused as elsewhere, in one sentence that names the column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from baytree import engines
from tests.sources import assert_same_model, fitted_in_memory, model_of, table_of

ibis = pytest.importorskip("ibis")
# Ibis and its drivers warn of their own affairs.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.assign(y=np.where(np.arange(len(frame)) % 5 == 0, None, frame["y"])), "must be complete"),
        (lambda frame: frame.assign(x=np.where(np.arange(len(frame)) % 5 == 0, np.inf, 1.0)), "has an infinite value"),
        (lambda frame: frame.assign(x=pd.Timestamp("2020-01-01")), "turn it into numbers"),
        (lambda frame: frame[:0], "No row counts"),
        (lambda frame: frame.assign(w=-1.0), "negative or infinite weight"),
        (lambda frame: frame.rename(columns={"y": "z"}), "The table has no column 'y'"),
    ],
)
def test_what_cannot_be_fitted_is_one_sentence(duckdb, change, message):
    frame, names = table_of("normal", weighted=True, n=50)
    with pytest.raises((ValueError, TypeError), match=message):
        engines.fit(model_of("normal"), duckdb(change(frame)), **names)


@pytest.mark.parametrize(("y", "message"), [(-1.0, "negative"), (0.5, "not a whole number")])
def test_wrong_counts_are_refused(duckdb, y, message):
    frame, names = table_of("poisson", n=50)
    frame["y"] = frame["y"].astype(float)
    frame.loc[7, "y"] = y
    with pytest.raises(ValueError, match=message):
        engines.fit(model_of("poisson"), duckdb(frame), **names)


def test_decimals_of_postgres_may_be_nan(in_postgres):
    frame, names = table_of("classes", n=300)
    frame["x"] = np.arange(300) % 40 / 4
    frame.loc[frame.index % 7 == 0, "x"] = np.nan
    table = in_postgres(frame)
    connection = table.get_backend()
    connection.con.execute(f'alter table "{table.get_name()}" alter column x type numeric(9, 2)')
    connection.con.execute(f"update \"{table.get_name()}\" set x = 'NaN' where x is null")
    table = connection.table(table.get_name())
    assert table.x.type().is_decimal()
    expected = fitted_in_memory(model_of("classes", max_bins=9), frame, names)
    assert_same_model(engines.fit(model_of("classes", max_bins=9), table, **names), expected)
    known = engines.describe(model_of("classes", max_bins=9), table, **names)
    assert_same_model(engines.fit(model_of("classes", max_bins=9), table, **names, **known), expected)


TRUTH = pd.array([None, True] * 25, dtype="boolean")


@pytest.mark.parametrize(
    ("outcome", "names", "columns", "message"),
    [
        ("classes", {"weight": "w"}, {"w": TRUTH}, "Column 'w' holds a missing, negative or infinite weight"),
        ("classes", {}, {"y": TRUTH}, "Column 'y' holds missing or infinite values"),
        ("normal", {}, {"y": TRUTH}, "Column 'y' holds missing or infinite values"),
        ("classes", {}, {"y": np.where(np.arange(50) == 9, np.inf, 1.0)}, "Column 'y' holds missing or infinite"),
        ("exponential", {"event": "w"}, {"y": 1.0, "w": TRUTH}, "Column 'w' holds missing or infinite values"),
        ("poisson", {"exposure": "w"}, {"w": TRUTH}, "Column 'w' holds missing or infinite values"),
        ("classes", {"exposure": "w"}, {"w": 1.0}, "exposure is for outcome='poisson' or 'negative_binomial' only"),
        ("classes", {"event": "w"}, {"w": 1.0}, "event is for outcome="),
        ("normal", {}, {"y": "much"}, "Column 'y' holds text, but is given as y: turn it into numbers"),
        ("classes", {"weight": "w"}, {"w": "much"}, "Column 'w' holds text, but is given as weight"),
        ("exponential", {"event": "w"}, {"y": 1.0, "w": "ended"}, "Column 'w' holds text, but is given as event"),
        ("normal", {"weight": "w"}, {"w": pd.Timestamp("2020-01-01")}, "Column 'w' holds timestamp"),
        ("classes", {}, {"y": np.arange(50) / 4}, "Unknown label type: continuous"),
    ],
)
def test_wrong_targets_are_one_sentence(put, outcome, names, columns, message):
    frame = pd.DataFrame({"x": np.arange(50.0), "y": np.arange(50) % 2}).assign(**columns)
    with pytest.raises((ValueError, TypeError), match=message):
        engines.fit(model_of(outcome), put(frame), **names)


@pytest.mark.parametrize(
    ("outcome", "names", "columns"),
    [
        ("classes", {}, {"y": np.nan}),
        ("normal", {}, {"y": np.nan}),
        ("poisson", {"exposure": "e"}, {"e": 0.0}),
        ("exponential", {"event": "e"}, {"e": 0.5}),
    ],
)
def test_rows_of_weight_zero_must_be_right_too(duckdb, outcome, names, columns):
    names = {"weight": "w", **names}
    frame = pd.DataFrame({"x": np.arange(50.0), "y": np.arange(50) % 2 + 1.0, "w": 1.0, "e": 1.0})
    frame = frame[["x", "y", *names.values()]]
    for column, wrong in {"w": 0.0, **columns}.items():
        frame.loc[7, column] = wrong
    for source in (frame, duckdb(frame)):
        with pytest.raises(ValueError, match=r"missing|NaN|must be"):
            engines.fit(model_of(outcome), source, **names)


@pytest.mark.parametrize(("outcome", "y"), [("classes", 0.5), ("poisson", -1.0)])
def test_rows_of_weight_zero_may_have_any_number(duckdb, outcome, y):
    frame = pd.DataFrame({"x": np.arange(50.0), "y": np.arange(50) // 25 + 0.0, "w": 1.0})
    frame.loc[7, ["y", "w"]] = y, 0.0
    model = engines.fit(model_of(outcome), duckdb(frame), weight="w")
    assert_same_model(model, fitted_in_memory(model_of(outcome), frame, {"weight": "w"}))


def no_tables(table):
    """What comes from a database, or from Ibis, and is no table of a database; and what is said of it."""
    return [
        (table.x, "got FloatingColumn"),
        (ibis._.x, "got Deferred"),
        (table.get_backend(), "no source|got Backend"),
    ]


def test_what_is_no_table_of_a_database_is_one_sentence(duckdb):
    frame = pd.DataFrame({"x": np.arange(50.0), "y": np.arange(50) % 2})
    model = fitted_in_memory(model_of("classes"), frame, {})
    for source, message in no_tables(duckdb(frame)):
        with pytest.raises(TypeError, match=message):
            engines.fit(model_of("classes"), source)
        with pytest.raises(TypeError, match=message):
            engines.predict(model, source)


def test_databases_that_cannot_grow_a_tree_are_refused():
    frame = pd.DataFrame({"x": np.arange(50.0), "y": np.arange(50) % 2})
    of_no_database = ibis.table({"x": "float64", "y": "int64"}, name="rows")
    sources = [
        (of_no_database, "belongs to no database"),
        (ibis.sqlite.connect().create_table("rows", frame), "A tree cannot be grown in SQLite"),
        (ibis.polars.connect().create_table("rows", frame), "cannot be grown in the polars backend"),
    ]
    for source, message in sources:
        with pytest.raises(ValueError, match=message):
            engines.fit(model_of("classes"), source)
    model = fitted_in_memory(model_of("classes"), frame, {})
    predicted = engines.predict(model, sources[1][0]).order_by("x").execute()
    assert predicted["prediction"].tolist() == model.predict(frame[["x"]]).tolist()
    for source in (of_no_database, sources[2][0]):
        with pytest.raises(ValueError, match="runs no SQL: give a frame"):
            engines.predict(model, source)
