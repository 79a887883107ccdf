"""Databases that a test can put tables into."""

from __future__ import annotations

import uuid

import pytest

from baytree.export import to_sql
from tests.postgres import as_arguments


def scored_by_sql(model, rows):
    """What the SQL of a model gives for a table, in the order of its rows."""
    duckdb = pytest.importorskip("duckdb")
    table = rows.assign(row=range(len(rows))) if hasattr(rows, "assign") else rows
    with duckdb.connect() as connection:
        connection.register("rows", table)
        return connection.execute(to_sql(model, columns=["row"])).df().sort_values("row")


@pytest.fixture(scope="module")
def duckdb():
    """What puts a frame into DuckDB."""
    ibis = pytest.importorskip("ibis")
    connection = ibis.duckdb.connect()

    def put(frame):
        name = f"t{len(connection.list_tables())}"
        connection.con.register("given", frame)
        connection.con.execute(f'create table "{name}" as select * from given')
        return connection.table(name)

    yield put
    connection.disconnect()


@pytest.fixture(scope="module")
def in_postgres(postgres):
    """What puts a frame into PostgreSQL."""
    ibis = pytest.importorskip("ibis")
    connection = ibis.postgres.connect(**as_arguments(postgres))

    def put(frame):
        name = f"engines_{uuid.uuid4().hex}"  # other tests have tables there
        plain = frame.set_axis([f"c{i}" for i in range(frame.shape[1])], axis=1)
        connection.create_table(name, plain)
        for old, new in zip(plain.columns, frame.columns, strict=True):
            quoted = new.replace('"', '""')
            connection.con.execute(f'alter table "{name}" rename column {old} to "{quoted}"')
        return connection.table(name)

    yield put
    connection.disconnect()


@pytest.fixture(params=["duckdb", "in_postgres"])
def put(request):
    """What puts a frame into a database."""
    return request.getfixturevalue(request.param)
