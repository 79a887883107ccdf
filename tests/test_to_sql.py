"""Models as SQL: three databases predict what the model predicts, whatever the names and categories are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from baytree import (
    BayesianForestClassifier,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)
from baytree.export import to_ibis, to_sql
from baytree.export._sql_text import DIALECTS, identifier, number_literal, text_literal
from baytree.fitted import ModelKind
from tests.own_outcomes import Rates, TwoRates
from tests.scoring import N_MODELS, NASTY, as_arrow, scored
from tests.sql_engines import TYPES, DuckDB

duckdb = pytest.importorskip("duckdb")
GROUPS = [range(first, first + 10) for first in range(0, N_MODELS, 10)]


def assert_predicts_the_same(database, case):
    fitted = case.fitted
    interval = None if case.is_average else 0.8
    query = to_sql(case.model, dialect=database.dialect, columns=["row"], interval=interval, std=case.std is not None)
    predicted = database.run(as_arrow(case.rows, case.kinds), query).sort_values("row")
    names = [f"probability_{name}" for name in fitted.class_names] or ["mean"]
    expected = case.mean()
    numbers = predicted[names].to_numpy(float)
    if case.std is not None:
        assert_allclose(predicted["std"].to_numpy(float), case.std, rtol=1e-9 if case.is_average else 1e-12)
    if case.is_average:
        assert_allclose(numbers, expected, rtol=1e-12, atol=1e-14)
    else:
        assert_array_equal(predicted["leaf"], case.model.apply(case.rows))
        assert_array_equal(numbers, expected)
        ends = case.model.predict_interval(case.rows, level=0.8).reshape(len(predicted), -1)
        assert_allclose(predicted.filter(regex=r"^(low|high)(_|$)").to_numpy(float), ends, rtol=1e-12)
    if case.is_classifier:
        clear = case.clear()
        assert_array_equal(predicted["prediction"].to_numpy()[clear], case.model.predict(case.rows)[clear])


@pytest.mark.parametrize("seeds", GROUPS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_databases_predict_what_the_model_predicts(database, seeds):
    for seed in seeds:
        assert_predicts_the_same(database, scored(seed))


def test_forests_as_tables_of_steps_predict_what_the_model_predicts(database, monkeypatch):
    """As they are written where they are large, whose cases within cases would take databases minutes to plan."""
    monkeypatch.setattr("baytree.export._sql_walk.FEWEST_NODES", 0)
    forests = [case for case in map(scored, range(N_MODELS)) if case.fitted.kind is ModelKind.FOREST]
    forests = [case for case in forests if case.fitted.routed.trees.is_plain]
    assert len(forests) > 5
    for case in forests:
        has_splits = not case.fitted.routed.trees.is_leaf.all()
        assert ("baytree_walk" in to_sql(case.model, dialect=database.dialect)) == has_splits
        assert_predicts_the_same(database, case)


def test_cases_are_nested_as_far_as_a_database_can(database, monkeypatch):
    """Deeper trees are routed in steps of so many levels."""
    dialect = replace(DIALECTS[database.dialect], most_nested=1)
    monkeypatch.setitem(DIALECTS, database.dialect, dialect)
    for seed in range(0, N_MODELS, 3):
        assert_predicts_the_same(database, scored(seed))


@pytest.mark.parametrize("fewest", [0, 10**9])
def test_deep_trees_and_forests(database, fewest, monkeypatch):
    monkeypatch.setattr("baytree.export._sql_walk.FEWEST_NODES", fewest)
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(3000, 4)), columns=list("abcd"))
    y = (X["a"] * X["b"] + X["c"] + random.normal(size=3000) > 0).astype(int)
    forest = BayesianForestClassifier(2, partition_prior=0.99, random_state=0).fit(X, y)
    rows = X[:100]
    table = pa.table({"row": np.arange(100), **{name: rows[name] for name in rows}})
    assert forest.fitted_.trees.max_depth > 18
    for model in (forest, *forest.trees_[:1]):
        predicted = database.run(table, to_sql(model, dialect=database.dialect, columns=["row"])).sort_values("row")
        assert_allclose(predicted["probability_1"].to_numpy(float), model.predict_proba(rows)[:, 1], rtol=1e-12)


@pytest.mark.parametrize("fewest", [0, 10**9])
@pytest.mark.parametrize("kind", ["tree", "forest"])
def test_extreme_rows_of_hyperplanes_fail_no_query(database, kind, fewest, monkeypatch):
    """PostgreSQL refuses products that overflow or vanish; the model has infinities and zeros there."""
    monkeypatch.setattr("baytree.export._sql_walk.FEWEST_NODES", fewest)
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(300, 3)), columns=list("abc"))
    y = (X["a"] + 3 * X["b"] - X["c"] / 3 > 0).astype(int)
    made = {"tree": BayesianTreeClassifier(partitions="oblique"), "forest": BayesianForestClassifier(3, random_state=0)}
    model = made[kind].fit(X, y)
    assert len(model.fitted_.trees.hyperplane_coefficient)
    extreme = [1.7e308, -1.7e308, 1e300, 5e-324, -5e-324, 1e-310, 0.0, np.nan, 1.0]
    rows = pd.DataFrame([(a, b, c) for a in extreme for b in extreme for c in extreme], columns=list("abc"))
    rows = rows[(rows.abs() > 1e299).sum(axis=1) < 2]  # two may cancel
    table = pa.table({"row": np.arange(len(rows)), **{name: pa.array(rows[name], from_pandas=True) for name in "abc"}})
    predicted = database.run(table, to_sql(model, dialect=database.dialect, columns=["row"])).sort_values("row")
    assert_allclose(predicted["probability_1"].to_numpy(float), model.predict_proba(rows)[:, 1], rtol=1e-12)


def test_thresholds_next_to_zero(database):
    """SQLite reads the smallest numbers as 0."""
    x = np.repeat([0.0, 1.0, -1.0], 40)
    X = pd.DataFrame({"x": x + np.random.default_rng(0).normal(size=120) / 100})
    model = BayesianTreeClassifier(max_depth=2).fit(X, (x != 0).astype(int))
    tree = model.tree_
    tiny = np.where(tree.threshold > 0, 5e-324, -5e-324)
    fitted = replace(model.fitted_, trees=replace(tree, threshold=np.where(tree.is_leaf, tree.threshold, tiny)))
    model = BayesianTreeClassifier.from_fitted(replace(fitted, grown_tree=None), model.get_params(deep=False))
    assert tree.n_leaves == 3
    rows = pd.DataFrame({"x": [0.0, 5e-324, 1e-323, 1.5e-323, -5e-324, -1e-323]})
    query = to_sql(model, dialect=database.dialect, columns=["row"])
    predicted = database.run(pa.table({"row": np.arange(6), "x": rows["x"]}), query).sort_values("row")
    assert_array_equal(predicted["leaf"], model.apply(rows))


def test_every_number_is_read_back_as_it_is(database):
    random = np.random.default_rng(0)
    numbers = np.concatenate(
        [
            random.normal(size=300),
            random.normal(size=300) * 10.0 ** random.uniform(-250, 250, 300),
            [
                0.0,
                5e-324,
                -5e-324,
                1e-310,
                2.2250738585072014e-308,
                1e22,
                1e23,
                5e-7,
                0.1,
                1 / 3,
                1.7976931348623157e308,
                -1.7e308,
                123456789012345.6,
                2.0**53 + 2,
            ],
        ]
    )
    row = ", ".join(f"{number_literal(x, DIALECTS[database.dialect])} AS c{i}" for i, x in enumerate(numbers))
    predicted = database.run(pa.table({"row": [0]}), f"SELECT {row} FROM rows")
    assert_array_equal(predicted.to_numpy(float)[0], numbers)


def test_a_table_in_a_schema_and_names_that_clash():
    model = BayesianTreeClassifier().fit(pd.DataFrame({"a": [0.0, 1.0] * 20}), [0, 1] * 20)
    assert 'FROM "my ""schema"""."rows" AS t' in to_sql(model, table=('my "schema"', "rows"))
    for columns in (["leaf"], ["PREDICTION"], ["a", "A"], ["probability_1"]):
        with pytest.raises(ValueError, match="two columns of the name"):
            to_sql(model, columns=columns)
    assert to_sql(model, columns=["a"]).startswith('SELECT routed."a", leaf')
    for wrong in ("", (), ("a", 3), None, 5):
        with pytest.raises((ValueError, TypeError), match="table"):
            to_sql(model, table=wrong)
    with pytest.raises(ValueError, match="columns must be a list of names"):
        to_sql(model, columns="id")


def test_what_sql_cannot_hold_is_refused_in_one_sentence():
    frame = pd.DataFrame({"a\0b": [0.0, 1.0] * 20, "c": ["x\0", "y\0"] * 20})
    with pytest.raises(ValueError, match=r"SQL cannot hold the name 'a\\x00b': it has a null character"):
        to_sql(BayesianTreeClassifier().fit(frame[["a\0b"]], [0, 1] * 20))
    with pytest.raises(ValueError, match="null character"):
        to_sql(BayesianTreeClassifier().fit(frame[["c"]], [0, 1] * 20))
    with pytest.raises(ValueError, match="null character"):
        text_literal("a\0")
    labels = np.array([0, 2**64 - 1], dtype=np.uint64)[[0, 1] * 20]
    with pytest.raises(ValueError, match=r"SQL cannot hold the class 18446744073709551615"):
        to_sql(BayesianTreeClassifier().fit(frame[["c"]].replace({"x\0": "x", "y\0": "y"}), labels))
    space = TreeSpaceClassifier(max_nodes=20).fit(np.random.default_rng(0).random((60, 2)), [0, 1] * 30)
    with pytest.raises(ValueError, match="interval of an average over trees is not in their leaves"):
        to_sql(space, interval=0.9)
    with pytest.raises(ValueError, match="Classes have no standard deviation: leave std out"):
        to_sql(space, std=True)
    with pytest.raises(TypeError, match="std must be True or False"):
        to_sql(space, std=1)
    long = np.array(["x" * 70, "y"])[[0, 1] * 20]
    with pytest.raises(ValueError, match="too long for the database"):
        to_sql(BayesianTreeClassifier().fit(frame[["c"]].replace({"x\0": "x", "y\0": "y"}), long), dialect="postgres")


def test_a_space_that_is_too_wide_is_refused(monkeypatch):
    monkeypatch.setattr("baytree.export._sql._MOST_COLUMNS", 10)
    random = np.random.default_rng(0)
    X = random.random((200, 3))
    with pytest.raises(ValueError, match=r"SQL cannot hold an average that is \d+ nodes wide: explore less"):
        to_sql(TreeSpaceClassifier(max_nodes=100).fit(X, (X.sum(axis=1) > 1.5)))
    with pytest.raises(ValueError, match="SQL cannot hold a forest of more than 10 trees"):
        to_sql(BayesianForestClassifier(n_estimators=11).fit(X, (X.sum(axis=1) > 1.5)))


def test_an_outcome_of_the_users_own_has_as_many_means_as_it_says():
    X, y = np.arange(40.0)[:, None], np.repeat([1, 9], 20)
    with pytest.raises(ValueError, match="has no distribution: leave interval out"):
        to_sql(BayesianTreeRegressor(outcome=Rates()).fit(X, y), interval=0.9)
    with pytest.raises(ValueError, match="has no distribution: leave std out"):
        to_sql(BayesianTreeRegressor(outcome=Rates()).fit(X, y), std=True)
    heavy = TreeSpaceRegressor(outcome="exponential", prior=[1.5, 1.0], max_nodes=5).fit(X, y, event=np.arange(40) < 1)
    with pytest.raises(ValueError, match="A node of the tree space has an infinite variance"):
        to_sql(heavy, std=True)
    model = BayesianTreeRegressor(outcome=TwoRates()).fit(X, y)
    predicted = DuckDB().run(pa.table({"x0": X[:, 0]}), to_sql(model))
    assert_array_equal(predicted[["mean_0", "mean_1"]], model.predict(X))


def test_other_dialects_come_from_sqlglot():
    pytest.importorskip("sqlglot")
    frame = pd.DataFrame({"it's": [0.0, 1.0] * 20, "text": ["a", "b'\\"] * 20})
    model = BayesianTreeClassifier(prior=0.1).fit(frame, [0, 1] * 20)
    for dialect in ("bigquery", "snowflake", "mysql", "spark", "tsql", "oracle", "clickhouse"):
        assert "SELECT" in to_sql(model, dialect=dialect)
    space = TreeSpaceClassifier(max_nodes=5).fit(frame, [0, 1] * 20)
    assert "MATERIALIZED" not in to_sql(space, dialect="bigquery")
    with pytest.raises(ValueError, match="dialect must be one of"):
        to_sql(model, dialect="no such database")


@pytest.mark.parametrize(
    "dialect", ["bigquery", "snowflake", "mysql", "spark", "tsql", "oracle", "clickhouse", "trino"]
)
def test_names_and_text_come_through_sqlglot_as_they_are(dialect):
    sqlglot = pytest.importorskip("sqlglot")
    for name in NASTY:
        frame = pd.DataFrame({name: [text for text in NASTY for _ in range(6)]})
        model = BayesianTreeClassifier(prior=0.05, prune=False).fit(frame, np.arange(len(frame)) // 6 % 2)
        try:
            text = to_sql(model, dialect=dialect)
        except ValueError as error:  # some versions of sqlglot forget to escape what some dialects escape
            assert "sqlglot cannot write a name or a category" in str(error)  # noqa: PT017
            continue
        query = sqlglot.parse_one(text, read=dialect)
        texts = {node.this for node in query.find_all(sqlglot.exp.Literal) if node.is_string}
        names = {node.this for node in query.find_all(sqlglot.exp.Identifier)}
        assert name in names
        assert texts
        assert texts <= {*NASTY, "0", "1"}


@pytest.mark.parametrize("seed", [0, 3, 7, 12, 20])
@pytest.mark.parametrize("backend", ["duckdb", "sqlite"])
@pytest.mark.filterwarnings("ignore")  # between Ibis, pandas and DuckDB
def test_ibis_predicts_the_same(backend, seed, tmp_path):
    ibis = pytest.importorskip("ibis")
    case = scored(seed)
    rows = as_arrow(case.rows, case.kinds)
    if backend == "duckdb":
        connection = duckdb.connect()
        connection.register("some_rows", rows)
        tables = ibis.duckdb.from_connection(connection)
    else:
        with closing(sqlite3.connect(tmp_path / "rows.db")) as connection:
            types = [f"{identifier(field.name)} {TYPES[field.type]}" for field in rows.schema]
            connection.execute(f"CREATE TABLE some_rows ({', '.join(types)})")
            values = zip(*(column.to_pylist() for column in rows.columns), strict=True)
            connection.executemany(f"INSERT INTO some_rows VALUES ({', '.join('?' * rows.num_columns)})", values)
            connection.commit()
        tables = ibis.sqlite.connect(tmp_path / "rows.db")
    predicted = to_ibis(case.model, tables.table("some_rows"), columns=["row"]).order_by("row").execute()
    names = [f"probability_{name}" for name in case.fitted.class_names] or ["mean"]
    assert_allclose(predicted[names].to_numpy(float), case.mean(), rtol=1e-12)
    tables.disconnect()


def test_ibis_needs_a_table_of_ibis():
    with pytest.raises(TypeError, match="Ibis table"):
        to_ibis(scored(0).model, scored(0).rows)
