"""Which databases can grow a tree."""

from __future__ import annotations

from typing import Any

from ibis.common.exceptions import IbisError

_WITHOUT = {"sqlite": "SQLite", "polars": "the polars backend of Ibis"}  # the SQL that a fit needs


def backend_of(table: Any) -> Any:
    """The database of an Ibis table; one that cannot grow a tree is refused."""
    try:
        backend = table.get_backend()
    except IbisError:
        raise ValueError(
            "The Ibis table belongs to no database: take it from a connection, as in connection.table('rows')."
        ) from None
    if backend.name in _WITHOUT:
        raise ValueError(
            f"A tree cannot be grown in {_WITHOUT[backend.name]}: use DuckDB, PostgreSQL or a warehouse such as "
            "BigQuery, Snowflake or Spark, or give the rows as a data frame."
        )
    return backend
