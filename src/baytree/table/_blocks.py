"""Work beside other work: blocks of rows, each read on a thread of its own, and what can wait for its turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

import numpy as np

from .._typing import AnyArray

Result = TypeVar("Result")

_SHORT = 2**16  # rows that one thread reads before others have started


def by_block(read: Callable[[AnyArray], Result], matrix: AnyArray, n_threads: int) -> list[Result]:
    """What is read of each block of a matrix, in order; numpy lets threads work side by side."""
    n_blocks = min(n_threads, len(matrix) // _SHORT)
    if n_blocks <= 1:
        return [read(matrix)]
    with ThreadPoolExecutor(n_blocks) as pool:
        return list(pool.map(read, np.array_split(matrix, n_blocks)))


@contextmanager
def beside(work: Callable[[], Result], n_threads: int) -> Iterator[Callable[[], Result]]:
    """Do some work while the block runs, where there are threads for it; what is given returns the result."""
    if n_threads == 1:
        yield work
        return
    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(work).result
