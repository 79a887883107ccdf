"""Dask: functions are sent to the partitions, and their results are merged on the workers, 16 at a time.

Encoded partitions are joined where they are, so that a pass over them has as many tasks as the workers can use, however
many partitions there are. Every function is pure and starts from a partition, so that Dask can repeat it when a worker
is lost.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, reduce
from operator import add
from typing import Any, TypeVar

import dask
import numpy as np
from distributed import futures_of, wait

from ..growth import EncodedRows, KeyedParts, KeyedRows, join_rows, split_by_hash, with_keys
from ..table import check_frame
from ._part_source import EncodedParts
from ._part_sums import PartSums
from ._parts import EncodedPart, Part, join_parts, split_frame
from ._roles import ColumnRoles
from ._source import require

T = TypeVar("T")
_AT_ONCE = 16  # results that a task merges
_GROUPS = 4  # of encoded partitions for each thread of a worker
_BLOCK_BYTES = 2**26  # of joined rows, which are copied for it
_MOST_BUCKETS = 32  # parts of rows with keys; each partition sends a piece to each of them


@dataclass(frozen=True)
class DaskParts:
    """The pieces of a Dask collection, each of which becomes a part."""

    pieces: list[Any]
    make: Callable[[Any], Part]

    def first(self, work: Callable[[Part], T]) -> T:
        """Apply a function to the first part that has rows."""
        for piece in self.pieces:
            result = dask.compute(dask.delayed(_apply_to_rows)(piece, self.make, work))[0]
            if result is not None:
                return result
        raise ValueError("The table has no rows.")

    def reduce(self, work: Callable[[Part], T | None], merge: Callable[[T, T], T]) -> T | None:
        """Apply a function to all parts and merge the results."""
        return _merge(self._each(work), merge)

    def encode(self, work: Callable[[Part], EncodedPart]) -> EncodedParts:
        """Encode the parts, into the memory of the workers."""
        return DaskEncoded(_join_where_they_are(list(dask.persist(*self._each(work)))))

    def _each(self, work: Callable[[Part], Any]) -> list[Any]:
        """A task for each part."""
        make, work = _sent_once(self.make), _sent_once(work)
        return [dask.delayed(_apply)(piece, make, work) for piece in self.pieces]


def parts_of_frame(frame: Any, names: ColumnRoles) -> DaskParts:
    """The partitions of a Dask data frame."""
    check_frame(frame._meta)
    names.check([str(name) for name in frame.columns])
    if names.features is not None or names.drop:
        frame = frame[names.needed(list(frame.columns))]
        names = names.without_drop()
    return DaskParts(list(frame.to_delayed()), partial(split_frame, names=names))


def parts_of_array(X: Any, target: Any, weight: Any = None, **extras: Any) -> DaskParts:
    """The blocks of rows of a Dask array, with the blocks of y, weights and extras."""
    arrays = {"target": target, "weight": weight} | extras
    arrays = {name: array for name, array in arrays.items() if array is not None}
    if X.ndim != 2:
        raise ValueError(f"A Dask array must have two axes, rows and columns; it has {X.ndim}.")
    for name, array in arrays.items():
        if not hasattr(array, "dask") or getattr(array, "ndim", 0) != 1:
            got = type(array).__name__
            raise TypeError(f"With a Dask array, {name} must be a Dask array of one axis; got {got}.")
    X = X.rechunk({1: -1})
    pieces: list[dict[str, Any]] = [{"X": block} for block in X.to_delayed().ravel()]
    for name, array in arrays.items():
        blocks = _align_blocks(array, X, name).to_delayed().ravel()
        for piece, block in zip(pieces, blocks, strict=True):
            piece[name] = block
    return DaskParts(pieces, _part_of_blocks)


def predict_array(work: Callable[[Any], Any], X: Any) -> Any:
    """Apply a function to each block of rows; the results are the partitions of a Dask data frame."""
    import dask.dataframe as dd  # noqa: PLC0415

    blocks = X.rechunk({1: -1}).to_delayed().ravel()
    meta = work(np.zeros((1, X.shape[1])))[:0]
    return dd.from_delayed([dask.delayed(work)(block) for block in blocks], meta=meta, verify_meta=False)


def _align_blocks(array: Any, X: Any, name: str) -> Any:
    """Divide an array into blocks of the same rows as those of X."""
    is_unknown = np.isnan([*array.shape, X.shape[0]]).any()
    if is_unknown and array.numblocks[0] == X.numblocks[0]:
        return array
    if is_unknown or array.shape[0] != X.shape[0]:
        raise ValueError(f"{name} must have a value for each row of the Dask array, in blocks of the same rows.")
    return array.rechunk((X.chunks[0],))


def _part_of_blocks(blocks: dict[str, Any]) -> Part:
    extras = {name: block for name, block in blocks.items() if name not in ("X", "target", "weight")}
    return Part(np.asarray(blocks["X"]), np.asarray(blocks["target"]), blocks.get("weight"), extras)


@dataclass
class DaskEncoded:
    """Encoded partitions in the memory of the workers, in groups."""

    groups: list[Any]  # each a list of parts

    def reduce(self, work: Callable[[EncodedPart], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to all parts and merge the results."""
        result = self._merged(work, merge)
        if result is None:
            raise ValueError("The table has no rows.")
        return result

    def _merged(self, work: Callable[[EncodedPart], T | None], merge: Callable[[T, T], T]) -> T | None:
        work, merge = _sent_once(work), _sent_once(merge)
        return _merge([dask.delayed(_merge_group)(group, work, merge) for group in self.groups], merge)

    def map(self, work: Callable[[EncodedPart], EncodedPart]) -> EncodedParts:
        """Apply a function to the parts, on their workers."""
        work = _sent_once(work)
        return DaskEncoded(list(dask.persist(*(dask.delayed(_map_group)(group, work) for group in self.groups))))

    def sums(self) -> PartSums | None:
        """The sums of the rows that were encoded."""
        return self._merged(_sums_of, add)

    def rows_in_memory(self) -> EncodedRows | None:
        """None: the rows are on the workers."""
        return None

    def keyed(self) -> KeyedParts:
        """The rows with their keys: they move so that all that are equal are on one worker."""
        n = min(len(self.groups), _MOST_BUCKETS)
        pieces = [dask.delayed(_split_group, nout=n)(group, n) for group in self.groups]
        return DaskKeyed(list(dask.persist(*(dask.delayed(_join)(*bucket) for bucket in zip(*pieces, strict=True)))))

    def close(self) -> None:
        """Release the memory of the workers."""
        self.groups = []


@dataclass
class DaskKeyed:
    """Encoded rows with their keys in the memory of the workers."""

    parts: list[Any]

    def rows_in_memory(self) -> KeyedRows | None:
        """None: the rows are on the workers."""
        return None

    def reduce(self, work: Callable[[KeyedRows], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to all parts and merge the results."""
        work, merge = _sent_once(work), _sent_once(merge)
        return require(_merge([dask.delayed(_call)(work, part) for part in self.parts], merge))

    def close(self) -> None:
        """Release the memory of the workers."""
        self.parts = []


def _join(*pieces: EncodedRows) -> KeyedRows:
    return with_keys(join_rows(pieces))


def _sums_of(part: EncodedPart) -> PartSums | None:
    return part.sums


def _apply(piece: Any, make: Callable[[Any], Part], work: Callable[[Part], T]) -> T:
    return work(make(piece))


def _apply_to_rows(piece: Any, make: Callable[[Any], Part], work: Callable[[Part], T]) -> T | None:
    part = make(piece)
    return work(part) if len(part) else None


def _call(work: Callable[[Any], T], value: Any) -> T:
    return work(value)


def _sent_once(function: Callable[..., Any]) -> Any:
    """A function as a value of its own in the graph, so that it is not in the message of every task."""
    return dask.delayed(function, traverse=False)


def _merge(tasks: list[Any], merge: Any) -> Any:
    """Merge results, some in each task."""
    while len(tasks) > 1:
        some = [tasks[i : i + _AT_ONCE] for i in range(0, len(tasks), _AT_ONCE)]
        tasks = [dask.delayed(_merge_present)(results, merge) for results in some]
    return dask.compute(tasks[0])[0] if tasks else None


def _merge_present(results: Iterable[T | None], merge: Callable[[T, T], T]) -> T | None:
    present = [result for result in results if result is not None]
    return reduce(merge, present) if present else None


def _merge_group(
    group: list[EncodedPart], work: Callable[[EncodedPart], T | None], merge: Callable[[T, T], T]
) -> T | None:
    return _merge_present(map(work, group), merge)


def _map_group(group: list[EncodedPart], work: Callable[[EncodedPart], EncodedPart]) -> list[EncodedPart]:
    return _join_small([work(part) for part in group])


def _split_group(group: list[EncodedPart], n: int) -> list[EncodedRows]:
    return split_by_hash(join_rows(group), n)


def _join_where_they_are(parts: list[Any]) -> list[Any]:
    """Groups of encoded parts, those of a worker together."""
    groups = []
    for of_worker, n_threads in _by_worker(parts):
        size = -(-len(of_worker) // (_GROUPS * n_threads))
        groups += [of_worker[i : i + size] for i in range(0, len(of_worker), size)]
    return list(dask.persist(*(dask.delayed(_join_small)(group) for group in groups)))


def _by_worker(parts: list[Any]) -> list[tuple[list[Any], int]]:
    """The parts of each worker, once they are encoded, and the number of its threads."""
    futures = futures_of(parts)
    if not futures:  # no cluster: threads of this process
        return [(parts, os.cpu_count() or 1)]
    wait(futures)
    client = futures[0].client
    workers, n_threads = client.who_has(futures), client.nthreads()
    by_worker: dict[str, list[Any]] = {}
    for part in parts:
        by_worker.setdefault(next(iter(workers.get(part.key, ())), ""), []).append(part)
    return [(of_worker, n_threads.get(worker, 1)) for worker, of_worker in by_worker.items()]


def _join_small(parts: list[EncodedPart]) -> list[EncodedPart]:
    """Join parts up to a size, but not those whose targets are as they were read."""
    blocks: list[list[EncodedPart]] = []
    room = 0
    for part in parts:
        if part.raw is not None or not blocks or part.n_bytes > room:
            blocks.append([])
            room = _BLOCK_BYTES
        blocks[-1].append(part)
        room -= part.n_bytes
    return [join_parts(block) for block in blocks]
