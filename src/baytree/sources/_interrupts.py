"""Ctrl-C while code of other packages runs: drivers turn it into errors of their own, and destructors lose it.

Python ignores exceptions in ``__del__``, and the expressions of Ibis have one. So the signal is remembered and raised
at the next step.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

_interrupted = threading.Event()


@contextmanager
def remember_interrupts() -> Iterator[None]:
    """Remember Ctrl-C while a fit runs; custom handlers are left in place."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    _interrupted.clear()
    signal.signal(signal.SIGINT, _remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _interrupted.clear()


def _remember(number: int, frame: FrameType | None) -> None:
    _interrupted.set()
    signal.default_int_handler(number, frame)


def raise_remembered_interrupt() -> None:
    """Raise KeyboardInterrupt if there was a Ctrl-C."""
    if _interrupted.is_set():
        raise KeyboardInterrupt


@contextmanager
def interrupts_from_drivers() -> Iterator[None]:
    """Raise KeyboardInterrupt where a driver turns it into an error of its own."""
    raise_remembered_interrupt()
    try:
        yield
    except Exception as error:
        cause: BaseException | None = error
        while cause is not None:
            cause = cause.__cause__ or cause.__context__
            if isinstance(cause, KeyboardInterrupt):
                raise cause from None
        raise
    raise_remembered_interrupt()


def end_running_query(backend: Any) -> None:
    """Cancel a query that Ctrl-C left running; it can leave a connection of PostgreSQL's driver waiting."""
    connection: Any = getattr(backend, "con", None)
    if not hasattr(connection, "pgconn") or connection.info.transaction_status.name != "ACTIVE":
        return
    with suppress(Exception):  # a lost connection runs nothing
        connection.cancel()
        while connection.pgconn.flush():
            pass
        while connection.pgconn.get_result() is not None:
            pass
        connection.rollback()
