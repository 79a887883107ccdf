"""Dialects: what a fit needs to know of a database, as one object for each that is known well.

The plain dialect uses nothing but SQL that every database has, as Ibis and sqlglot write it.
"""

from __future__ import annotations

from typing import Any

import ibis
import ibis.expr.datatypes as dt
import numpy as np
import sqlglot

from .._typing import AnyArray


def real(value: float) -> Any:
    """A number as text, which every database rounds to the nearest float64; not all do so with decimals."""
    return ibis.literal(repr(float(value))).cast("float64")


class Dialect:
    """A database of which nothing is known."""

    small_code = "int16"  # type of codes of eight bits
    begin: str | None = None  # statement that begins a transaction that sees one state of the database
    has_lists = False  # whether codes are looked up in lists, as fast as in tables
    reads_arrow = False  # whether tables of Arrow are read where they are
    runs_here = False  # whether the database runs in this process, so that text is faster than expressions
    finds_extremes_slowly = False  # as slow as counting
    stores_structs_faster = False  # than columns, whose distinct values are estimated

    def is_idle(self, backend: Any) -> bool:  # noqa: ARG002
        """Whether no transaction of the user's is open."""
        return False

    def statement(self, backend: Any, text: str) -> str:
        """A statement in the words of PostgreSQL, in those of the database."""
        (translated,) = sqlglot.transpile(text, read="postgres", write=backend.dialect)
        return translated

    def run(self, backend: Any, statement: str) -> None:
        """Run a statement that has no result."""
        backend.raw_sql(statement)

    def odd_values(self, values: Any) -> Any:
        """An aggregate that is not 0 where a column has NaN or infinite values; None where its extremes show it."""
        return (values - values).sum()  # 0 unless the value is NaN or infinite

    def slice_number(self, place: Any) -> Any:
        """A number of a slice as an integer; null for one that is out of range, if the database can do that."""
        return place.cast("int32")

    def search(self, value: Any, limits: AnyArray) -> Any:
        """The number of limits that are below each value."""
        return _bisect(value, limits, 0, len(limits))


class _WordsOfPostgres(Dialect):
    """A database that understands statements in the words of PostgreSQL."""

    def statement(self, backend: Any, text: str) -> str:  # noqa: ARG002
        """The statement itself."""
        return text


class DuckDB(_WordsOfPostgres):
    """DuckDB, which runs in this process."""

    small_code = "uint8"  # it groups by these without hashing
    begin = "BEGIN TRANSACTION"
    has_lists = reads_arrow = runs_here = finds_extremes_slowly = stores_structs_faster = True

    def is_idle(self, backend: Any) -> bool:
        """Whether no transaction is open: then every statement has its own number."""
        one, other = (backend.con.sql("SELECT txid_current()").fetchone() for _ in range(2))
        return bool(one != other)

    def odd_values(self, values: Any) -> Any:
        """NaN, which is the highest value, except where the extremes come from the footer of a Parquet file."""
        return values.isnan().any()

    def slice_number(self, place: Any) -> Any:
        """A small integer, or null."""
        return place.try_cast("uint16")


class PostgreSQL(_WordsOfPostgres):
    """PostgreSQL."""

    begin = "BEGIN ISOLATION LEVEL REPEATABLE READ"

    def is_idle(self, backend: Any) -> bool:
        """Whether no transaction is open."""
        return bool(backend.con.autocommit) and backend.con.info.transaction_status.name == "IDLE"

    def run(self, backend: Any, statement: str) -> None:
        """Run a statement outside of the transactions that Ibis opens."""
        backend.con.execute(statement)

    def odd_values(self, values: Any) -> Any:  # noqa: ARG002
        """None: NaN is the highest value, so that the extremes show it."""
        return None

    def search(self, value: Any, limits: AnyArray) -> Any:
        """The number of limits below each value, which a function finds in an array of the next higher numbers."""
        numbers = ",".join(map(repr, np.nextafter(limits, np.inf).tolist()))
        return _width_bucket(value, ibis.literal(f"{{{numbers}}}").cast("array<float64>")).cast("int32")


_width_bucket = ibis.udf.scalar.builtin(
    lambda value, limits: None,  # noqa: ARG005
    name="width_bucket",
    signature=((dt.float64, dt.Array(dt.float64)), dt.int32),
)
_PLAIN = Dialect()
_KNOWN = {"duckdb": DuckDB(), "postgres": PostgreSQL()}


def dialect_of(backend: Any) -> Dialect:
    """The dialect of a database of Ibis."""
    return _KNOWN.get(backend.name, _PLAIN)


def _bisect(value: Any, limits: AnyArray, first: int, stop: int) -> Any:
    """The number of limits below each value, between `first` and `stop`."""
    if first == stop:
        return ibis.literal(first, "int32")
    middle = (first + stop) // 2
    below, above = _bisect(value, limits, first, middle), _bisect(value, limits, middle + 1, stop)
    return ibis.ifelse(value <= real(limits[middle]), below, above)
