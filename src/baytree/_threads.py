"""Work shared by threads of Python, where any can be started."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def map_on_threads(
    function: Callable[[Item], Result], items: Sequence[Item], n_threads: int, stop: Event | None = None
) -> list[Result]:
    """Apply a function to all items, on this thread and on as many others as can be started.

    An exception, as of Ctrl-C, sets `stop` for the calls that are at work. It is raised once all of them have ended.
    """
    results: dict[int, Result] = {}
    places, lock = iter(range(len(items))), Lock()
    failures: list[BaseException] = []
    stop = Event() if stop is None else stop

    def work() -> None:
        try:
            while not stop.is_set():
                with lock:
                    place = next(places, None)
                if place is None:
                    return
                results[place] = function(items[place])
        except BaseException as failure:  # noqa: BLE001 - raised below, in the thread of the caller
            failures.append(failure)
            stop.set()

    others = _started(work, min(n_threads, len(items)) - 1)
    work()
    for thread in others:
        thread.join()
    if failures:
        raise failures[0]
    return [results[place] for place in range(len(items))]


def _started(work: Callable[[], None], n_threads: int) -> list[Thread]:
    """Threads at work: fewer where the system has no memory or no room for more."""
    threads: list[Thread] = []
    for _ in range(n_threads):
        thread = Thread(target=work)
        try:
            thread.start()
        except RuntimeError:
            break
        threads.append(thread)
    return threads
