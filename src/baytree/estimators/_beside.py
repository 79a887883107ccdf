"""Work that is done beside other work, where there are threads for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")


@contextmanager
def beside(work: Callable[[], Result], n_threads: int) -> Iterator[Callable[[], Result]]:
    """Do some work while the block runs, where there are threads for it; what is given returns the result."""
    if n_threads == 1:
        yield work
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result
