"""The statements of a fit in warehouses that the tests cannot run: compiled by Ibis and parsed by sqlglot."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from baytree.growth import ColumnBins
from baytree.table import Column, Kind

ibis = pytest.importorskip("ibis")
sqlglot = pytest.importorskip("sqlglot")

from baytree.sources._roles import ColumnRoles  # noqa: E402
from baytree.sources._sql_backend import backend_of  # noqa: E402
from baytree.sources._sql_columns import ColumnQueries  # noqa: E402
from baytree.sources._sql_dialects import Dialect, dialect_of  # noqa: E402
from baytree.sources._sql_fixed_point import code_expression  # noqa: E402
from baytree.sources._sql_histograms import ClassAggregation, Layout, NumberAggregation  # noqa: E402
from baytree.sources._sql_lookups import LookedUpColumn, join_labels  # noqa: E402
from baytree.sources._sql_packing import Packing  # noqa: E402
from baytree.sources._sql_temporary import TemporaryTables  # noqa: E402

ENGINES = {"snowflake": "snowflake", "bigquery": "bigquery", "trino": "trino", "databricks": "spark"}
TYPES = {"x": "float64", "flag": "boolean", "city": "string", "y": "string", "w": "float64"}
ENDS = np.linspace(-1, 1, 40)
CITIES = [f"it's {i}" for i in range(30)]


class Recorder:
    """A database that keeps what it should run."""

    def __init__(self, engine):
        self.name, self.dialect, self.statements = engine, ENGINES[engine], []

    def raw_sql(self, statement):
        self.statements.append(statement)

    def sql(self, query):
        return ibis.table({"a": "int64"}, name="given")

    def create_table(self, name, obj, temp):
        assert temp
        return ibis.table(ibis.memtable(obj).schema() if hasattr(obj, "column_names") else obj.schema(), name=name)

    def drop_table(self, name, force):
        pass


def parsed(engine, expression):
    """A query as sqlglot reads it in the words of an engine."""
    return sqlglot.parse_one(ibis.to_sql(expression, dialect=engine), read=ENGINES[engine])


def codes_of(rows, engine):
    """The codes of columns of each kind."""
    bins = ColumnBins(ENDS, ENDS, has_missing=True)
    two = ColumnBins(np.arange(2.0), np.arange(2.0), has_missing=False)
    few = Column(Kind.CATEGORY, np.array(CITIES[:2], dtype=object))
    dialect = dialect_of(SimpleNamespace(name=engine))
    return {
        "c0": code_expression(rows.x, bins, Column(), dialect, is_specified=True),
        "c1": code_expression(rows.flag, two, Column(Kind.TRUTH), dialect, is_specified=False),
        "c2": code_expression(rows.city, two, few, dialect, is_specified=True),
    }


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_are_encoded(engine):
    rows = ibis.table(TYPES, name="rows")
    assert type(dialect_of(SimpleNamespace(name=engine))) is Dialect
    packing = Packing.of([42, 3, 4], SimpleNamespace(name=engine))
    codes = rows.select(**codes_of(rows, engine))
    packed = codes.select(**packing.pack([codes[f"c{i}"] for i in range(3)]))
    select = parsed(engine, packed)
    assert list(select.named_selects) == packing.names
    assert len(list(select.find_all(sqlglot.exp.If))) >= len(ENDS) - 1
    assert parsed(engine, packed.select(code=packing.code(packed, 2)))


@pytest.mark.parametrize("engine", ENGINES)
def test_many_categories_are_joined(engine):
    rows = ibis.table(TYPES, name="rows")
    tables, column = TemporaryTables(Recorder(engine)), LookedUpColumn(rows.city, CITIES, 31)
    joined, codes = join_labels(tables, rows.select(c0=column.value), {"c0": column})
    select = parsed(engine, joined.select(**codes))
    assert len(list(select.find_all(sqlglot.exp.Join))) == 1
    assert len(list(select.find_all(sqlglot.exp.If))) + len(list(select.find_all(sqlglot.exp.Coalesce))) < 5


@pytest.mark.parametrize("engine", ENGINES)
def test_histograms_and_ranges_are_asked_for(engine):
    packing = Packing.of([42, 3, 4], SimpleNamespace(name=engine))
    coded = ibis.table(dict.fromkeys(packing.names, "int64") | dict.fromkeys(["u0", "w"], "int64") | {"part": "int32"})
    layout = Layout(packing, np.array([0, 42, 45, 49]), np.arange(49))
    for aggregation in (ClassAggregation(layout, 3, True, 1000), NumberAggregation(layout, 1, True)):
        queries = layout.queries(coded, aggregation)
        assert queries
        for query in queries:
            assert parsed(engine, query).find(sqlglot.exp.Group)
    rows = ibis.table(TYPES, name="rows")
    columns = ColumnQueries(rows, ColumnRoles("y", "w"))
    assert columns.features == ["x", "flag", "city"]


@pytest.mark.parametrize("engine", ENGINES)
def test_statements_are_in_the_words_of_the_engine(engine):
    backend = Recorder(engine)
    values = {"part": np.arange(2), "low": np.array([0.5, 1e-300]), "chosen": np.array(["01", ""])}
    TemporaryTables(backend).of_values(values)
    (statement,) = backend.statements
    assert "DOUBLE PRECISION" not in statement
    (tree,) = sqlglot.parse(statement, read=ENGINES[engine])
    assert tree.find(sqlglot.exp.Select)
    assert {"0.5", "1e-300", "01"} <= {literal.this for literal in tree.find_all(sqlglot.exp.Literal)}


def test_sql_server_is_refused():
    """Ibis has no words for NaN and infinity there."""
    table = SimpleNamespace(get_backend=lambda: SimpleNamespace(name="mssql"))
    with pytest.raises(ValueError, match="A tree cannot be grown in SQL Server: use DuckDB, PostgreSQL or a warehouse"):
        backend_of(table)
