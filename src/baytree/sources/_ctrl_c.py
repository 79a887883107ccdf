"""Ctrl-C where others' code runs: no driver makes an error of it, and no destructor loses it.

Python drops what is raised in ``__del__``, and the expressions of Ibis have one. So the signal is remembered, and
raised at the next step.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

_asked = threading.Event()


@contextmanager
def ctrl_c_is_remembered() -> Iterator[None]:
    """Remember Ctrl-C while a fit runs; handlers of the user's own stay as they are."""
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    _asked.clear()
    signal.signal(signal.SIGINT, _remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _asked.clear()


def _remember(number: int, frame: FrameType | None) -> None:
    _asked.set()
    signal.default_int_handler(number, frame)


def raise_if_asked() -> None:
    """Raise what was lost."""
    if _asked.is_set():
        raise KeyboardInterrupt


@contextmanager
def ctrl_c_is_no_error() -> Iterator[None]:
    """Raise KeyboardInterrupt where a driver makes an error of it."""
    raise_if_asked()
    try:
        yield
    except Exception as error:
        own: BaseException | None = error
        while own is not None:
            own = own.__cause__ or own.__context__
            if isinstance(own, KeyboardInterrupt):
                raise own from None
        raise
    raise_if_asked()


def end_running_query(backend: Any) -> None:
    """End what Ctrl-C left running: between two lines of PostgreSQL's driver it leaves a connection that waits."""
    connection: Any = getattr(backend, "con", None)
    if not hasattr(connection, "pgconn") or connection.info.transaction_status.name != "ACTIVE":
        return
    with suppress(Exception):  # a connection that was lost runs nothing
        connection.cancel()
        while connection.pgconn.flush():
            pass
        while connection.pgconn.get_result() is not None:
            pass
        connection.rollback()
