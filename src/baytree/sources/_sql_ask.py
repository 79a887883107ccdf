"""Questions to a database, which Ctrl-C ends.

DuckDB answers within this process, and hears no Ctrl-C before it is done with some statements. So a thread asks it, and
this one waits; or reads the last answer meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from typing import Any, TypeVar

from ._ctrl_c import ctrl_c_is_no_error, raise_if_asked

Answer = TypeVar("Answer")
_SECONDS = (
    0.05  # between two looks for Ctrl-C; and between two calls to end a query, which may not have begun at the first
)


def answer(backend: Any, ask: Callable[[], Answer]) -> Answer:
    """The answer to one question."""
    with closing(answers(backend, [ask])) as found:
        return next(found)


def answers(backend: Any, asks: Iterable[Callable[[], Answer]]) -> Generator[Answer, None, None]:
    """The answers in turn; whoever reads them must not ask anything else before all have come."""
    if backend.name == "duckdb":
        yield from _one_ahead(backend.con, asks)
        return
    for ask in asks:
        with ctrl_c_is_no_error():
            found = ask()
        yield found


def _one_ahead(connection: Any, asks: Iterable[Callable[[], Answer]]) -> Generator[Answer, None, None]:
    thread, asked = ThreadPoolExecutor(1), list[Future[Answer]]()
    try:
        for ask in asks:
            asked.append(thread.submit(ask))
            if len(asked) > 1:
                yield _result(asked)
        while asked:
            yield _result(asked)
    finally:
        thread.shutdown(wait=False, cancel_futures=True)
        while running := [own for own in asked if not own.done()]:
            connection.interrupt()
            wait(running, _SECONDS)


def _result(asked: list[Future[Answer]]) -> Answer:
    with ctrl_c_is_no_error():
        while not asked[0].done():  # the signal may come to another thread, which does not wake this one
            wait(asked[:1], _SECONDS)
            raise_if_asked()
        found = asked[0].result()
    asked.pop(0)
    return found
