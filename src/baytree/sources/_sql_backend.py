"""The database of a fit: whether it can grow a tree, and its settings during the fit."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

from ibis.common.exceptions import IbisError

from ._sql_execution import fetch

_UNSUPPORTED = {  # they lack SQL that a fit needs
    "mssql": "SQL Server",
    "polars": "the polars backend of Ibis",
    "sqlite": "SQLite",
}

# DuckDB groups without hashing if the keys, which are the part of a node and the code, have at most this many bits. It
# then reads through all keys of so many bits, which is faster unless there are far fewer rows.
_HASH, _MAX_BITS = "perfect_ht_threshold", 22
_MAX_BITS_OF_THREADS = 24  # of all threads together, each of which has its own table
_MAX_PARTS = 2**10 - 2  # ten bits; the parts of more nodes are counted faster in separate tables
_MAX_GROUPS = 8
_ORDER = "preserve_insertion_order"  # slow, and not needed for rows whose codes are stored


def backend_of(table: Any) -> Any:
    """The database of an Ibis table; raises an error if it cannot grow a tree."""
    try:
        backend = table.get_backend()
    except IbisError:
        raise ValueError(
            "The Ibis table belongs to no database: take it from a connection, as in connection.table('rows')."
        ) from None
    if backend.name in _UNSUPPORTED:
        raise ValueError(
            f"A tree cannot be grown in {_UNSUPPORTED[backend.name]}: use DuckDB, PostgreSQL or a warehouse such as "
            "BigQuery, Snowflake or Spark, or give the rows as a data frame."
        )
    return backend


class ConnectionSettings:
    """Settings of a connection for the duration of a fit; `close` restores them."""

    def __init__(self, backend: Any) -> None:
        self.backend, self.before = backend, {}
        if backend.name == "duckdb":
            names = [_HASH, _ORDER, "threads"]
            settings = ", ".join(f"current_setting('{name}')" for name in names)
            self.before = dict(zip(names, backend.con.sql(f"SELECT {settings}").fetchone(), strict=True))
            n_threads = int(self.before.pop("threads"))
            self.max_bits = min(_MAX_BITS, _MAX_BITS_OF_THREADS - n_threads.bit_length())
            self._set(_HASH, self.max_bits)

    @property
    def can_update(self) -> bool:
        """Whether updating some rows of a table is faster than writing it anew."""
        return bool(self.before)

    def forget_order(self) -> None:
        """Let DuckDB change the order of rows; before, a view with a limit would have other rows in every query."""
        if self.before:
            self._set(_ORDER, False)

    def tune_for(self, rows: Any) -> None:
        """Tune the settings for counting some rows."""
        if self.before:
            bits = int(fetch(rows.aggregate(n=rows.count()))["n"][0]).bit_length() + 1
            self._set(_HASH, min(bits, self.max_bits))

    def groups(self, n_nodes: int, n_parts: int) -> list[tuple[int, int]]:
        """The ranges of nodes that are counted together."""
        size = n_nodes
        if self.before:
            size = max(_MAX_PARTS // n_parts, math.ceil(n_nodes / _MAX_GROUPS), 1)
        return [(first, min(first + size, n_nodes)) for first in range(0, n_nodes, size)]

    def _set(self, name: str, value: Any) -> None:
        self.backend.raw_sql(f"SET {name} = {value}")

    def close(self) -> None:
        """Restore the previous settings."""
        for name, value in self.before.items():
            with suppress(Exception):  # a lost connection has no settings
                self._set(name, value)
        self.before = {}
