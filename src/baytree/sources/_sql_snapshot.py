"""Fixes the rows for all queries of a fit: a transaction that sees one state of the database, and fixed rows."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from ibis.expr import operations as ops

from ._sql_dialects import dialect_of
from ._sql_temporary import TemporaryTables

# Of these every query may give other rows, or other values.
_UNSTABLE = (ops.Limit, ops.Sample, ops.Impure, ops.RowNumber, ops.First, ops.Last, ops.Arbitrary)
_TEXTS = (ops.SQLQueryResult, ops.SQLStringView)
_UNSTABLE_TEXT = re.compile(
    r"\b(limit|fetch|top|sample|tablesample|rand\w*|\w*uuid\w*|row_number|first|last|any_value)\b"
)


def is_unstable(table: Any) -> bool:
    """Whether two queries of a table may give other rows though the database does not change."""
    node = table.op()
    return bool(node.find(_UNSTABLE)) or any(_UNSTABLE_TEXT.search(text.query.lower()) for text in node.find(_TEXTS))


def fixed_rows(table: Any, temporary: TemporaryTables) -> Any:
    """A table whose rows stay the same: itself, or a temporary copy of what every query would draw anew."""
    if not is_unstable(table):
        return table
    if not temporary.are_possible(table):
        raise ValueError(
            "The table has a limit, a sample or random values, so that every query may see other rows, and the "
            "database allows no temporary tables: store the rows in a table and give that."
        )
    return temporary.copy_of(table)


class Snapshot:
    """A transaction in which all queries see the same state of the database, in DuckDB and PostgreSQL.

    A transaction of the user's own is left alone. Where there is none, sums show whether the rows stay the same.
    """

    def __init__(self, backend: Any) -> None:
        self._backend, self._dialect = backend, dialect_of(backend)
        begin = self._dialect.begin
        self.is_open = begin is not None and self._dialect.is_idle(backend)
        if self.is_open and begin is not None:
            self._dialect.run(backend, begin)

    def close(self, *, keep: bool = False) -> None:
        """End the transaction; `keep` keeps the temporary tables that were written in it."""
        if not self.is_open:
            return
        self.is_open = False
        end = "COMMIT" if keep else "ROLLBACK"
        if keep:
            self._dialect.run(self._backend, end)
        else:
            with suppress(Exception):  # a lost connection has no transaction
                self._dialect.run(self._backend, end)
