"""Databases that run the SQL of a model on a table."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pandas as pd
import pyarrow as pa
import pytest

from baytree.export._sql_text import identifier


class DuckDB:
    dialect = "duckdb"

    def __init__(self):
        self.connection = pytest.importorskip("duckdb").connect()

    def run(self, table, query):
        self.connection.register("rows", table)
        return self.connection.execute(query).df()


class SQLite:
    dialect = "sqlite"

    def run(self, table, query):
        with closing(sqlite3.connect(":memory:")) as connection:
            return self.run_in(connection, table, query)

    def run_in(self, connection, table, query):
        names = ", ".join(identifier(name) for name in table.column_names)
        connection.execute(f"CREATE TABLE rows ({names})")
        marks = ", ".join("?" * table.num_columns)
        values = zip(*(column.to_pylist() for column in table.columns), strict=True)
        connection.executemany(f"INSERT INTO rows VALUES ({marks})", values)
        cursor = connection.execute(query)
        return pd.DataFrame(cursor.fetchall(), columns=[column[0] for column in cursor.description])


TYPES = {pa.int64(): "BIGINT", pa.float64(): "DOUBLE PRECISION", pa.string(): "TEXT", pa.bool_(): "BOOLEAN"}


class PostgreSQL:
    dialect = "postgres"

    def __init__(self, connection):
        psycopg = pytest.importorskip("psycopg")
        self.connection = psycopg.connect(connection, autocommit=True)

    def run(self, table, query):
        columns = [f"{identifier(field.name)} {TYPES[field.type]}" for field in table.schema]
        cursor = self.connection.cursor()
        cursor.execute(f"CREATE TEMP TABLE rows ({', '.join(columns)})".encode())
        with cursor.copy(b"COPY rows FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                copy.write_row(row)
        cursor.execute(query.encode())
        result = pd.DataFrame(cursor.fetchall(), columns=[column.name for column in cursor.description])
        cursor.execute(b"DROP TABLE rows")
        return result


@pytest.fixture(params=["duckdb", "sqlite", "postgres"])
def database(request):
    if request.param == "sqlite":
        yield SQLite()
        return
    engine = DuckDB() if request.param == "duckdb" else PostgreSQL(request.getfixturevalue("postgres"))
    yield engine
    engine.connection.close()
