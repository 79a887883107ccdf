"""Short temporary tables of our own numbers."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ibis
import pyarrow

from .._typing import AnyArray
from ._sql_ask import answer


@dataclass
class TemporaryTables:
    """Tables that are dropped when they are not of use any more."""

    backend: Any
    names: list[str] = field(default_factory=list, init=False)

    def are_possible(self, rows: Any) -> bool:
        """Whether the database takes some; one that does not says so in its own way."""
        try:
            self.of_query(rows.limit(0).select(nothing=ibis.literal(0, "int32")))
        except Exception:  # noqa: BLE001
            return False
        finally:
            self.drop()
        return True

    def of_query(self, query: Any, apart: str | None = None) -> Any:
        """What a query returns, as a table.

        DuckDB estimates how many values each column has while it writes, which takes longer than to write; it does not
        for the fields of a struct. A column that is to be updated stays apart.
        """
        is_duckdb = self.backend.name == "duckdb"
        stored = query
        if is_duckdb:
            others = {} if apart is None else {apart: query[apart]}
            stored = query.select(row=ibis.struct({n: query[n] for n in query.columns if n != apart}), **others)
        table = answer(self.backend, partial(self.backend.create_table, self._added_name(), obj=stored, temp=True))
        return table.unpack("row") if is_duckdb else table

    def of_values(self, columns: dict[str, AnyArray]) -> Any:
        """Numbers and digits; Ibis would take long to read them."""
        if self.backend.name != "duckdb":
            rows = zip(*(own.tolist() for own in columns.values()), strict=True)
            values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
            return self.of_text(f"SELECT * FROM (VALUES {values}) AS given({', '.join(columns)})")  # noqa: S608
        given = _new_name()
        self.backend.con.register(given, pyarrow.table(columns))
        try:
            return self.of_text(f"SELECT * FROM {given}")  # noqa: S608
        finally:
            self.backend.con.unregister(given)

    def of_text(self, query: str) -> Any:
        """What a query returns that has no word of anybody else in it."""
        name = self._added_name()
        self.run(f"CREATE TEMPORARY TABLE {name} AS {query}")
        return self.backend.sql(f"SELECT * FROM {name}")  # noqa: S608

    def run(self, statement: str) -> None:
        """Run a statement that has no word of anybody else in it."""
        answer(self.backend, partial(self.backend.raw_sql, statement))

    def _added_name(self) -> str:
        self.names.append(_new_name())
        return self.names[-1]

    def drop(self, names: list[str] | None = None) -> None:
        """Drop some of them, or all."""
        for name in list(self.names if names is None else names):
            with suppress(Exception):  # a connection that was lost has no temporary tables any more
                self.backend.drop_table(name, force=True)
            self.names.remove(name)


def _new_name() -> str:
    return f"baytree_{uuid.uuid4().hex[:12]}"


def real_text(value: float) -> str:
    """A number as SQL reads it, to the last bit."""
    return f"CAST('{value!r}' AS DOUBLE PRECISION)"


def _literal(value: Any) -> str:
    return real_text(value) if isinstance(value, float) else repr(value)
