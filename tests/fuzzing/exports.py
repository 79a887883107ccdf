"""Exports against the model, at rows that are hard to score."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from baytree.export import _sql_walk, shap_values, to_sql
from baytree.export._sql_text import identifier
from tests.databases import scored_by_sql
from tests.fuzzing.case import Case
from tests.scoring import as_arrow, scored


def check_exports(case: Case) -> str:
    """A model of the same seed, in SQL and with SHAP values: what it predicts for rows that are hard to score."""
    drawn = scored(1000 + case.seed)
    predicted = scored_by_sql(drawn.model, as_arrow(drawn.rows, drawn.kinds))
    names = [f"probability_{name}" for name in drawn.fitted.class_names] or ["mean"]
    assert_allclose(predicted[names], drawn.mean(), rtol=1e-12, atol=1e-14)
    if np.all(np.isfinite(drawn.mean())):
        shap = shap_values(drawn.model, drawn.rows)
        total = (shap.base + shap.values.sum(axis=1)).reshape(drawn.mean().shape)
        assert_allclose(total, drawn.mean(), rtol=1e-9, atol=1e-10 * np.abs(drawn.mean()).max())
    return "exports"


def check_boundaries(case: Case) -> str:
    """Rows on thresholds, a float beside them, missing, and of categories that were not seen: DuckDB and SQLite."""
    drawn = scored(5000 + case.seed)
    rows, names = (
        as_arrow(drawn.rows, drawn.kinds),
        [f"probability_{name}" for name in drawn.fitted.class_names] or ["mean"],
    )
    query = to_sql(drawn.model, dialect="sqlite", columns=["row"])
    predicted = _in_sqlite(rows, query).sort_values("row")
    assert_allclose(predicted[names].to_numpy(float), drawn.mean(), rtol=1e-12, atol=1e-14)
    walked, kept = [], _sql_walk.FEWEST_NODES
    _sql_walk.FEWEST_NODES = 0
    try:
        for run, dialect in ((_in_sqlite, "sqlite"), (_in_duckdb, "duckdb")):
            text = to_sql(drawn.model, dialect=dialect, columns=["row"])
            predicted = run(rows, text).sort_values("row")
            walked.append("baytree_walk" in text)
            assert_allclose(predicted[names].to_numpy(float), drawn.mean(), rtol=1e-12, atol=1e-14)
    finally:
        _sql_walk.FEWEST_NODES = kept
    return f"boundaries: {'table of steps' if any(walked) else 'cases'}"


def _in_duckdb(table, query):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("rows", table)
        return connection.execute(query).df()


def _in_sqlite(table, query):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE TABLE rows ({', '.join(map(identifier, table.column_names))})")
        values = zip(*(column.to_pylist() for column in table.columns), strict=True)
        connection.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * table.num_columns)})", values)
        cursor = connection.execute(query)
        return pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])
