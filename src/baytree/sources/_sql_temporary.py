"""Temporary tables of a database."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import ibis
import pyarrow

from .._typing import AnyArray
from ._sql_dialects import dialect_of
from ._sql_execution import run_query


@dataclass
class TemporaryTables:
    """Temporary tables, which are dropped when they are no longer needed."""

    backend: Any
    names: list[str] = field(default_factory=list, init=False)

    def are_possible(self, rows: Any) -> bool:
        """Whether the database allows temporary tables; each one raises its own kind of error if not."""
        try:
            self.of_query(rows.limit(0).select(nothing=ibis.literal(0, "int32")))
        except Exception:  # noqa: BLE001
            return False
        finally:
            self.drop()
        return True

    def of_query(self, query: Any, updated: str | None = None) -> Any:
        """Store the result of a query.

        While DuckDB writes, it estimates the number of distinct values of each column, which takes longer than writing,
        but not of the fields of a struct. So the columns are fields, except one that is to be updated.
        """
        as_struct = dialect_of(self.backend).stores_structs_faster
        stored = query
        if as_struct:
            others = {} if updated is None else {updated: query[updated]}
            stored = query.select(row=ibis.struct({n: query[n] for n in query.columns if n != updated}), **others)
        table = run_query(self.backend, partial(self.backend.create_table, self._add_name(), obj=stored, temp=True))
        return table.unpack("row") if as_struct else table

    def copy_of(self, table: Any) -> Any:
        """Store a table of the user's as it is."""
        return run_query(self.backend, partial(self.backend.create_table, self._add_name(), obj=table, temp=True))

    def of_values(self, columns: dict[str, AnyArray]) -> Any:
        """Store numbers and texts of digits, which Ibis would read slowly."""
        if not dialect_of(self.backend).reads_arrow:
            rows = zip(*(column.tolist() for column in columns.values()), strict=True)
            values = ", ".join(f"({', '.join(map(_literal, row))})" for row in rows)
            return self.of_text(f"SELECT * FROM (VALUES {values}) AS given({', '.join(columns)})")  # noqa: S608
        return self.of_arrow(pyarrow.table(columns))

    def of_arrow(self, table: pyarrow.Table) -> Any:
        """Store a table of Arrow."""
        if not dialect_of(self.backend).reads_arrow:
            return self.copy_of(table)
        name = _new_name()
        self.backend.con.register(name, table)
        try:
            return self.of_text(f"SELECT * FROM {name}")  # noqa: S608
        finally:
            self.backend.con.unregister(name)

    def of_text(self, query: str) -> Any:
        """Store the result of a query whose text contains nothing from a user."""
        name = self._add_name()
        self.run(f"CREATE TEMPORARY TABLE {name} AS {query}")
        return self.backend.sql(f"SELECT * FROM {name}")  # noqa: S608

    def run(self, statement: str) -> None:
        """Run a statement whose text contains nothing from a user."""
        text = dialect_of(self.backend).statement(self.backend, statement)
        run_query(self.backend, partial(self.backend.raw_sql, text))

    def _add_name(self) -> str:
        self.names.append(_new_name())
        return self.names[-1]

    def drop(self, names: list[str] | None = None) -> None:
        """Drop some of them, or all."""
        for name in list(self.names if names is None else names):
            with suppress(Exception):  # a lost connection has no temporary tables
                self.backend.drop_table(name, force=True)
            self.names.remove(name)


def _new_name() -> str:
    return f"baytree_{uuid.uuid4().hex[:12]}"


def _literal(value: Any) -> str:
    """A number in SQL, exact to the last bit, or a text of digits."""
    return f"CAST('{value!r}' AS DOUBLE PRECISION)" if isinstance(value, float) else repr(value)
