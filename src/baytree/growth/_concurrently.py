"""Work that is done while other work goes on, where there are threads for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")


@contextmanager
def concurrently(work: Callable[[], Result], n_threads: int) -> Iterator[Callable[[], Result]]:
    """Do some work while the block runs, where there are threads for it; what is given returns the result."""
    if n_threads == 1:
        yield work
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result
