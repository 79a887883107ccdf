"""Dask: partitions stay where they are, functions go to them, and what they find is merged two by two on the workers.

Every function is pure and starts from a partition, so that Dask can do it again when a worker is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import dask
import numpy as np

from ..growth import EncodedRows
from ..table import check_frame
from ._part_source import EncodedParts
from ._parts import EncodedPart, Names, Part, split_frame

T = TypeVar("T")


@dataclass(frozen=True)
class DaskParts:
    """Pieces of a Dask collection, each of which makes a part."""

    pieces: list[Any]
    make: Callable[[Any], Part]

    def first(self, work: Callable[[Part], T]) -> T:
        """On the first piece that has rows."""
        for piece in self.pieces:
            found = dask.compute(dask.delayed(_on_rows)(piece, self.make, work))[0]
            if found is not None:
                return found
        raise ValueError("The table has no rows.")

    def reduce(self, work: Callable[[Part], T | None], merge: Callable[[T, T], T]) -> T | None:
        """On all pieces."""
        return _merged([dask.delayed(_on_part)(piece, self.make, work) for piece in self.pieces], merge)

    def encode(self, work: Callable[[Part], EncodedPart]) -> EncodedParts:
        """In the memory of the workers."""
        tasks = [dask.delayed(_on_part)(piece, self.make, work) for piece in self.pieces]
        return DaskEncoded(list(dask.persist(*tasks)))


def parts_of_frame(frame: Any, names: Names) -> DaskParts:
    """The partitions of a Dask data frame."""
    check_frame(frame._meta)
    names.check([str(name) for name in frame.columns])
    return DaskParts(list(frame.to_delayed()), partial(split_frame, names=names))


def parts_of_array(X: Any, target: Any, weight: Any = None, **extras: Any) -> DaskParts:
    """The blocks of rows of a Dask array, with those of the arrays of y, weights and extras."""
    given = {"target": target, "weight": weight} | extras
    beside = {name: own for name, own in given.items() if own is not None}
    if X.ndim != 2:
        raise ValueError(f"A Dask array must have two axes, rows and columns; it has {X.ndim}.")
    for name, own in beside.items():
        if not hasattr(own, "dask") or getattr(own, "ndim", 0) != 1:
            raise TypeError(f"Beside a Dask array, {name} must be a Dask array of one axis; got {type(own).__name__}.")
    X = X.rechunk({1: -1})
    pieces: list[dict[str, Any]] = [{"X": block} for block in X.to_delayed().ravel()]
    for name, own in beside.items():
        blocks = _aligned(own, X, name).to_delayed().ravel()
        for piece, block in zip(pieces, blocks, strict=True):
            piece[name] = block
    return DaskParts(pieces, _part_of_blocks)


def predict_array(work: Callable[[Any], Any], X: Any) -> Any:
    """What some work makes of each block of rows, as a Dask data frame."""
    import dask.dataframe as dd  # noqa: PLC0415

    blocks = X.rechunk({1: -1}).to_delayed().ravel()
    meta = work(np.zeros((1, X.shape[1])))[:0]
    return dd.from_delayed([dask.delayed(work)(block) for block in blocks], meta=meta, verify_meta=False)


def _aligned(own: Any, X: Any, name: str) -> Any:
    """The same array in blocks of the rows that X has them in."""
    unknown = np.isnan([*own.shape, X.shape[0]]).any()
    if unknown and own.numblocks[0] == X.numblocks[0]:
        return own
    if unknown or own.shape[0] != X.shape[0]:
        raise ValueError(f"{name} must have a value for each row of the Dask array, in blocks of the same rows.")
    return own.rechunk((X.chunks[0],))


def _part_of_blocks(blocks: dict[str, Any]) -> Part:
    extras = {name: own for name, own in blocks.items() if name not in ("X", "target", "weight")}
    return Part(np.asarray(blocks["X"]), np.asarray(blocks["target"]), blocks.get("weight"), extras)


@dataclass
class DaskEncoded:
    """Encoded partitions, in the memory of the workers."""

    parts: list[Any]

    def reduce(self, work: Callable[[EncodedPart], T], merge: Callable[[T, T], T]) -> T:
        """On all of them."""
        found = _merged([dask.delayed(work)(part) for part in self.parts], merge)
        if found is None:
            raise ValueError("The table has no rows.")
        return found

    def changed(self, work: Callable[[EncodedPart], EncodedPart]) -> EncodedParts:
        """Where they are."""
        return DaskEncoded(list(dask.persist(*(dask.delayed(work)(part) for part in self.parts))))

    def kept(self) -> EncodedRows | None:
        """They are elsewhere."""
        return None

    def close(self) -> None:
        """The workers forget what nobody holds."""
        self.parts = []


def _on_part(piece: Any, make: Callable[[Any], Part], work: Callable[[Part], T]) -> T:
    return work(make(piece))


def _on_rows(piece: Any, make: Callable[[Any], Part], work: Callable[[Part], T]) -> T | None:
    part = make(piece)
    return work(part) if len(part) else None


def _merged(tasks: list[Any], merge: Callable[[T, T], T]) -> T | None:
    """Merge results two by two."""
    while len(tasks) > 1:
        pairs = [tasks[i : i + 2] for i in range(0, len(tasks), 2)]
        tasks = [dask.delayed(_both)(merge, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return dask.compute(tasks[0])[0] if tasks else None


def _both(merge: Callable[[T, T], T], one: T | None, other: T | None) -> T | None:
    return other if one is None else one if other is None else merge(one, other)
