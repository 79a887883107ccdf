"""Dask: partitions stay where they are, functions go to them, and what they find is merged two by two on the workers.

Every function is pure and starts from a partition, so that Dask can do it again when a worker is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import dask

from ._part_source import EncodedParts
from ._parts import Encoded, Names, Part, split_frame

T = TypeVar("T")


@dataclass
class DaskParts:
    """The partitions of a Dask data frame."""

    frame: Any
    names: Names
    partitions: list[Any] = field(init=False)

    def __post_init__(self) -> None:
        self.names.check([str(name) for name in self.frame.columns])
        self.partitions = list(self.frame.to_delayed())

    def first(self, work: Callable[[Part], T]) -> T:
        """On the first partition that has rows."""
        for partition in self.partitions:
            found = dask.compute(dask.delayed(_on_rows)(partition, self.names, work))[0]
            if found is not None:
                return found
        raise ValueError("The table has no rows.")

    def reduce(self, work: Callable[[Part], T | None], merge: Callable[[T, T], T]) -> T | None:
        """On all partitions."""
        tasks = [dask.delayed(_on_part)(partition, self.names, work) for partition in self.partitions]
        return _merged(tasks, merge)

    def encode(self, work: Callable[[Part], Encoded]) -> EncodedParts:
        """In the memory of the workers."""
        tasks = [dask.delayed(_on_part)(partition, self.names, work) for partition in self.partitions]
        return DaskEncoded(list(dask.persist(*tasks)))


@dataclass
class DaskEncoded:
    """Encoded partitions, in the memory of the workers."""

    parts: list[Any]

    def reduce(self, work: Callable[[Encoded], T], merge: Callable[[T, T], T]) -> T:
        """On all of them."""
        found = _merged([dask.delayed(work)(part) for part in self.parts], merge)
        if found is None:
            raise ValueError("The table has no rows.")
        return found

    def close(self) -> None:
        """The workers forget what nobody holds."""
        self.parts = []


def _on_part(frame: Any, names: Names, work: Callable[[Part], T]) -> T:
    return work(split_frame(frame, names))


def _on_rows(frame: Any, names: Names, work: Callable[[Part], T]) -> T | None:
    return work(split_frame(frame, names)) if len(frame) else None


def _merged(tasks: list[Any], merge: Callable[[T, T], T]) -> T | None:
    """Merge results two by two."""
    while len(tasks) > 1:
        pairs = [tasks[i : i + 2] for i in range(0, len(tasks), 2)]
        tasks = [dask.delayed(_both)(merge, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return dask.compute(tasks[0])[0] if tasks else None


def _both(merge: Callable[[T, T], T], one: T | None, other: T | None) -> T | None:
    return other if one is None else one if other is None else merge(one, other)
