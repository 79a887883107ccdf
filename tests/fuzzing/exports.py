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
    own = scored(1000 + case.seed)
    found = scored_by_sql(own.model, as_arrow(own.rows, own.kinds))
    names = [f"probability_{name}" for name in own.fitted.class_names] or ["mean"]
    assert_allclose(found[names], own.mean(), rtol=1e-12, atol=1e-14)
    if np.all(np.isfinite(own.mean())):
        shap = shap_values(own.model, own.rows)
        total = (shap.base + shap.values.sum(axis=1)).reshape(own.mean().shape)
        assert_allclose(total, own.mean(), rtol=1e-9, atol=1e-10 * np.abs(own.mean()).max())
    return "exports"


def check_boundaries(case: Case) -> str:
    """Rows on thresholds, a float beside them, missing, and of categories that were not seen: DuckDB and SQLite."""
    own = scored(5000 + case.seed)
    rows, names = as_arrow(own.rows, own.kinds), [f"probability_{name}" for name in own.fitted.class_names] or ["mean"]
    query = to_sql(own.model, dialect="sqlite", columns=["row"])
    found = _in_sqlite(rows, query).sort_values("row")
    assert_allclose(found[names].to_numpy(float), own.mean(), rtol=1e-12, atol=1e-14)
    walked, kept = [], _sql_walk.FEWEST_NODES
    _sql_walk.FEWEST_NODES = 0
    try:
        for run, dialect in ((_in_sqlite, "sqlite"), (_in_duckdb, "duckdb")):
            text = to_sql(own.model, dialect=dialect, columns=["row"])
            found = run(rows, text).sort_values("row")
            walked.append("baytree_walk" in text)
            assert_allclose(found[names].to_numpy(float), own.mean(), rtol=1e-12, atol=1e-14)
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
