"""Dask: functions are sent to the partitions, and their results are merged in pairs on the workers.

Every function is pure and starts from a partition, so that Dask can repeat it when a worker is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import add
from typing import Any, TypeVar

import dask
import numpy as np

from ..growth import EncodedRows, KeyedParts, KeyedRows, join_rows, split_by_hash, with_keys
from ..table import check_frame
from ._part_source import EncodedParts
from ._part_sums import PartSums
from ._parts import ColumnRoles, EncodedPart, Part, split_frame
from ._source import require

T = TypeVar("T")
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
        return _merge_in_pairs([dask.delayed(_apply)(piece, self.make, work) for piece in self.pieces], merge)

    def encode(self, work: Callable[[Part], EncodedPart]) -> EncodedParts:
        """Encode the parts, into the memory of the workers."""
        tasks = [dask.delayed(_apply)(piece, self.make, work) for piece in self.pieces]
        return DaskEncoded(list(dask.persist(*tasks)))


def parts_of_frame(frame: Any, names: ColumnRoles) -> DaskParts:
    """The partitions of a Dask data frame."""
    check_frame(frame._meta)
    names.check([str(name) for name in frame.columns])
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
    """Encoded partitions in the memory of the workers."""

    parts: list[Any]

    def reduce(self, work: Callable[[EncodedPart], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to all parts and merge the results."""
        result = _merge_in_pairs([dask.delayed(work)(part) for part in self.parts], merge)
        if result is None:
            raise ValueError("The table has no rows.")
        return result

    def map(self, work: Callable[[EncodedPart], EncodedPart]) -> EncodedParts:
        """Apply a function to the parts, on their workers."""
        return DaskEncoded(list(dask.persist(*(dask.delayed(work)(part) for part in self.parts))))

    def sums(self) -> PartSums | None:
        """The sums of the rows that were encoded."""
        return _merge_in_pairs([dask.delayed(_sums_of)(part) for part in self.parts], add)

    def rows_in_memory(self) -> EncodedRows | None:
        """None: the rows are on the workers."""
        return None

    def keyed(self) -> KeyedParts:
        """The rows with their keys: they move so that all that are equal are on one worker."""
        n = min(len(self.parts), _MOST_BUCKETS)
        pieces = [dask.delayed(split_by_hash, nout=n)(part, n) for part in self.parts]
        return DaskKeyed(list(dask.persist(*(dask.delayed(_join)(*bucket) for bucket in zip(*pieces, strict=True)))))

    def close(self) -> None:
        """Release the memory of the workers."""
        self.parts = []


@dataclass
class DaskKeyed:
    """Encoded rows with their keys in the memory of the workers."""

    parts: list[Any]

    def rows_in_memory(self) -> KeyedRows | None:
        """None: the rows are on the workers."""
        return None

    def reduce(self, work: Callable[[KeyedRows], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to all parts and merge the results."""
        return require(_merge_in_pairs([dask.delayed(work)(part) for part in self.parts], merge))

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


def _merge_in_pairs(tasks: list[Any], merge: Callable[[T, T], T]) -> T | None:
    """Merge results in pairs."""
    while len(tasks) > 1:
        pairs = [tasks[i : i + 2] for i in range(0, len(tasks), 2)]
        tasks = [dask.delayed(_merge_present)(merge, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return dask.compute(tasks[0])[0] if tasks else None


def _merge_present(merge: Callable[[T, T], T], one: T | None, other: T | None) -> T | None:
    return other if one is None else one if other is None else merge(one, other)
