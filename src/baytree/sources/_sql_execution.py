"""Running queries of a database so that Ctrl-C ends them, and fetching their results.

DuckDB runs within this process, and does not notice Ctrl-C during some statements. So another thread runs its queries,
while this one waits, or reads the previous result.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

from ibis.expr.operations import DatabaseTable

from .._typing import AnyArray
from ._interrupts import interrupts_from_drivers, raise_remembered_interrupt
from ._sql_dialects import dialect_of

Result = TypeVar("Result")
_QUERIES_AT_ONCE = 7  # as many as there are codes of eight bits in a packed integer
# Between two checks for Ctrl-C, and between two attempts to end a query, which may not have begun at the first.
_SECONDS = 0.05


def run_query(backend: Any, query: Callable[[], Result]) -> Result:
    """Run one query."""
    with closing(run_queries(backend, [query])) as results:
        return next(results)


def run_queries(backend: Any, queries: Iterable[Callable[[], Result]]) -> Generator[Result, None, None]:
    """Run queries and yield their results in turn; no other query may run before the last result is read."""
    if dialect_of(backend).runs_here:
        yield from _run_one_ahead(backend.con, queries)
        return
    for query in queries:
        with interrupts_from_drivers():
            result = query()
        yield result


def _run_one_ahead(connection: Any, queries: Iterable[Callable[[], Result]]) -> Generator[Result, None, None]:
    thread, futures = ThreadPoolExecutor(1), list[Future[Result]]()
    try:
        for query in queries:
            futures.append(thread.submit(query))
            if len(futures) > 1:
                yield _first_result(futures)
        while futures:
            yield _first_result(futures)
    finally:
        thread.shutdown(wait=False, cancel_futures=True)
        while running := [future for future in futures if not future.done()]:
            connection.interrupt()
            wait(running, _SECONDS)


def _first_result(futures: list[Future[Result]]) -> Result:
    with interrupts_from_drivers():
        while not futures[0].done():  # the signal may arrive in another thread, which does not wake this one
            wait(futures[:1], _SECONDS)
            raise_remembered_interrupt()
        result = futures[0].result()
    futures.pop(0)
    return result


def fetch(expression: Any) -> dict[str, list[Any]]:
    """The result of a query, by column."""
    table = run_query(expression.get_backend(), expression.to_pyarrow)
    return dict(zip(table.column_names, (column.to_pylist() for column in table.columns), strict=True))


class PreparedQueries:
    """Queries that run repeatedly, on tables that differ only in their names.

    Ibis compiles a query whenever it runs, which can take longer than running it. DuckDB gets the text instead, of
    several queries at a time, so that each of its threads has one.
    """

    def __init__(self, table: Any, queries: Callable[[Any], list[Any]]) -> None:
        self.name, self.queries, self.backend = stored_name(table), queries, table.get_backend()
        self.texts: list[str] | None = None
        if dialect_of(self.backend).runs_here:
            expressions = queries(table)
            texts = [self.backend.compile(expression) for expression in expressions]
            self.schema = expressions[0].schema().to_pyarrow()
            starts = range(0, len(texts), _QUERIES_AT_ONCE)
            self.texts = [" UNION ALL ".join(texts[start : start + _QUERIES_AT_ONCE]) for start in starts]

    def for_table(self, table: Any) -> list[Callable[[], dict[str, AnyArray]]]:
        """The queries on a table; each returns arrays of numbers without missing values."""
        if self.texts is None:
            return [partial(read_arrays, expression) for expression in self.queries(table)]
        return [partial(self._fetch, text.replace(self.name, stored_name(table))) for text in self.texts]

    def _fetch(self, text: str) -> dict[str, AnyArray]:
        return _arrays(self.backend.con.sql(text).to_arrow_table().cast(self.schema))


def stored_name(table: Any) -> str:
    """The name of the stored table that an expression reads."""
    (stored,) = table.op().find(DatabaseTable)
    return str(stored.name)


def fetch_arrays(expression: Any) -> dict[str, AnyArray]:
    """The result of a query as arrays of numbers, without missing values."""
    return run_query(expression.get_backend(), partial(read_arrays, expression))


def read_arrays(expression: Any) -> dict[str, AnyArray]:
    """The result of a query as arrays; Ctrl-C may not end it."""
    return _arrays(expression.to_pyarrow())


def _arrays(table: Any) -> dict[str, AnyArray]:
    return {name: column.to_numpy() for name, column in zip(table.column_names, table.columns, strict=True)}
