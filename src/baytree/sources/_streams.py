"""Objects of other libraries that give their rows in batches: functions that read them, any number of times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ._roles import ColumnRoles


def read_lazy_frame(frame: Any, names: ColumnRoles | None, n_rows: int) -> Callable[[], Iterable[Any]]:
    """A function that reads a LazyFrame of polars in batches, all columns or those that a fit reads."""
    if names is not None:
        names.check(frame.collect_schema().names())
        frame = frame.select(names.needed(frame.collect_schema().names()))
    if hasattr(frame, "collect_batches"):
        return lambda: iter(frame.collect_batches(chunk_size=n_rows))
    return lambda: frame.collect(engine="streaming").iter_slices(n_rows)


def read_relation(relation: Any, names: ColumnRoles | None, n_rows: int) -> Callable[[], Iterable[Any]]:
    """A function that runs a relation of DuckDB and reads its rows in batches."""
    import duckdb  # noqa: PLC0415

    if names is not None:
        names.check(relation.columns)
    columns = relation.columns if names is None else names.needed(relation.columns)

    def batches() -> Iterator[Any]:
        # A relation runs once; each selection from it is one of its own.
        return iter(relation.select(*map(duckdb.ColumnExpression, columns)).fetch_arrow_reader(n_rows))

    return batches


def read_scanner(scanner: Any) -> Callable[[], Iterable[Any]]:
    """A function that reads what a scanner of pyarrow scans."""
    return lambda: iter(scanner.to_batches())
