"""Batches: a table that is read part by part, any number of times, from Parquet, an Arrow data set or a function.

The rows are read a few times to find columns, bins and whole numbers. From then on they are codes of one or two bytes,
in a temporary folder, and are not read again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np

from .._typing import AnyArray
from ..growth import EncodedRows
from ._part_source import EncodedParts
from ._parts import Names, Part, split_frame

T = TypeVar("T")
_BATCH_ROWS = 2**16
_MOST_ROWS = 2**32 - 1  # that a row's number has room for


@dataclass(frozen=True)
class Batches:
    """Frames that a function hands out, from the start whenever it is called."""

    read: Callable[[], Iterable[Any]]
    names: Names
    cache: bool = True

    def __iter__(self) -> Iterator[Part]:
        frames = self.read()
        if iter(frames) is frames and not callable(self.read):
            raise TypeError("Batches are read several times: give a function that starts them anew.")
        for frame in frames:
            yield split_frame(frame, self.names)

    def first(self, work: Callable[[Part], T]) -> T:
        """On the first that has rows."""
        for part in self:
            if len(part):
                return work(part)
        raise ValueError("The table has no rows.")

    def reduce(self, work: Callable[[Part], T | None], merge: Callable[[T, T], T]) -> T | None:
        """One part after the other."""
        result: T | None = None
        for part in self:
            found = work(part)
            if found is not None:
                result = found if result is None else merge(result, found)
        return result

    def encode(self, work: Callable[[Part], EncodedRows]) -> EncodedParts:
        """In a temporary folder, or again and again where nothing is to be cached."""
        return CachedParts(work(part) for part in self) if self.cache else UncachedParts(self, work)


@dataclass(frozen=True)
class UncachedParts:
    """Parts that are read and encoded whenever they are asked."""

    parts: Batches
    work: Callable[[Part], EncodedRows]

    def reduce(self, work: Callable[[EncodedRows], T], merge: Callable[[T, T], T]) -> T:
        """Read all again."""
        return _reduced((work(self.work(part)) for part in self.parts), merge)

    def kept(self) -> EncodedRows | None:
        """They are not."""
        return None

    def close(self) -> None:
        """Nothing is kept."""


class CachedParts:
    """Parts in files of a temporary folder, which goes when they go; they are mapped into memory, not read."""

    def __init__(self, parts: Iterable[EncodedRows]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="baytree-")
        try:
            with ExitStack() as files:
                self._arrays = _written(parts, Path(self._folder.name), files)
        except BaseException as error:
            self._folder.cleanup()
            if not isinstance(error, OSError):
                raise
            raise OSError(
                f"The codes of the rows do not fit under {tempfile.gettempdir()} ({error.strerror or error}): make "
                "room, set TMPDIR to another folder, or pass cache=False."
            ) from error

    def __iter__(self) -> Iterator[EncodedRows]:
        n_rows = len(self._arrays["numbers"])
        for start in range(0, n_rows, _BATCH_ROWS):
            part = {name: own[start : start + _BATCH_ROWS] for name, own in self._arrays.items()}
            yield EncodedRows(part["codes"], part["numbers"], part.get("weight"))

    def reduce(self, work: Callable[[EncodedRows], T], merge: Callable[[T, T], T]) -> T:
        """One part after the other."""
        return _reduced((work(part) for part in self), merge)

    def kept(self) -> EncodedRows | None:
        """All rows, where the memory of this machine has room for them; else a file is read once a level."""
        own = self._arrays
        if sum(array.nbytes for array in own.values()) > _most_kept() or len(own["numbers"]) >= _MOST_ROWS:
            return None
        return EncodedRows(own["codes"], own["numbers"], own.get("weight"))

    def close(self) -> None:
        """Remove the files."""
        self._arrays = {}
        self._folder.cleanup()


def _written(parts: Iterable[EncodedRows], folder: Path, files: ExitStack) -> dict[str, AnyArray]:
    """The arrays of all parts, one file each."""
    opened: dict[str, BinaryIO] = {}
    shape: dict[str, tuple[int, ...]] = {}
    dtype: dict[str, Any] = {}
    n_rows = 0
    for part in parts:
        arrays = {"codes": part.codes, "numbers": part.numbers}
        arrays |= {} if part.weight is None else {"weight": part.weight}
        for name, array in arrays.items():
            if name not in opened:
                opened[name] = files.enter_context((folder / name).open("wb"))
            array.tofile(opened[name])
            shape[name], dtype[name] = array.shape[1:], array.dtype
        n_rows += len(part)
    files.close()
    if n_rows == 0:
        raise ValueError("The table has no rows.")
    return {name: np.memmap(folder / name, dtype[name], "r", shape=(n_rows, *shape[name])) for name in opened}


def _most_kept() -> int:
    """Bytes: half of this machine's memory."""
    if not hasattr(os, "sysconf"):
        return 2**32
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _reduced(found: Iterable[T], merge: Callable[[T, T], T]) -> T:
    result: T | None = None
    for own in found:
        result = own if result is None else merge(result, own)
    if result is None:
        raise ValueError("The table has no rows.")
    return result


def read_dataset(source: Any) -> Callable[[], Iterable[Any]]:
    """What reads a Parquet path or an Arrow data set batch by batch."""
    try:
        import pyarrow as pa  # noqa: PLC0415
        import pyarrow.dataset as ds  # noqa: PLC0415
    except ImportError:
        raise ImportError("Parquet and Arrow data sets need pyarrow: pip install 'baytree[engines]'.") from None
    dataset = source if isinstance(source, ds.Dataset) else ds.dataset(source, format="parquet")

    def batches() -> Iterator[Any]:
        # Little is read ahead: a group of rows is in memory anyway.
        for batch in dataset.to_batches(batch_size=_BATCH_ROWS, batch_readahead=0, fragment_readahead=1):
            yield pa.Table.from_batches([batch])
        pa.default_memory_pool().release_unused()

    return batches
