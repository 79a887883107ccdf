"""Batches: a table that is read part by part, any number of times, from Parquet, an Arrow data set or a function.

The rows are read a few times to find their columns, bins and fixed-point targets. They are then stored in a temporary
folder, as codes of one or two bytes, and are not read again.
"""

from __future__ import annotations

import errno
import itertools
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

import numpy as np

from .._progress import Progress
from .._typing import AnyArray
from ..growth import EncodedRows, KeyedInMemory, KeyedParts, half_of_memory, with_keys
from ._frames import frames_of
from ._keyed_buckets import KeyedBuckets
from ._part_source import EncodedParts
from ._part_sums import PartSums
from ._parts import EncodedPart, Part, RawTarget, split_frame
from ._roles import ColumnRoles

T = TypeVar("T")
Mapped: TypeAlias = "np.memmap[Any, np.dtype[Any]]"
BATCH_ROWS = 2**16
_FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BUCKETS_OF_HALF = 8  # files of half of the memory's size
_MAX_ROWS = 2**32 - 1  # row numbers have 32 bits


@dataclass
class Batches:
    """Frames from a function, which must return the same ones whenever it is called."""

    read: Callable[[], Iterable[Any]]
    names: ColumnRoles
    cache: bool = True
    progress: Progress | None = field(default=None, repr=False)
    _last: Any = field(default=None, init=False, repr=False)  # last result of the function
    _n_rows: int | None = field(default=None, init=False, repr=False)  # counted in the first complete pass

    def __iter__(self) -> Iterator[Part]:
        frames, n_rows = self._start(), 0
        if self.progress is not None:
            self.progress.repeat(self._n_rows)
        try:
            for frame in frames:
                part = split_frame(frame, self.names)
                n_rows += len(part)
                yield part
                if self.progress is not None:
                    self.progress.update(n_rows)
        finally:
            if isinstance(frames, Generator):  # it may hold open files
                frames.close()
        if n_rows != (self._n_rows or n_rows):
            raise ValueError(
                f"The source gave {self._n_rows:,} rows when it was read first and {n_rows:,} when it was read again: "
                "it must give the same rows whenever it is read."
            )
        self._n_rows = n_rows

    def _start(self) -> Iterable[Any]:
        frames = frames_of(self.read())
        if frames is self._last and isinstance(frames, Iterator):
            raise ValueError(
                "The function returned the same iterator twice, but the rows are read several times: it must return a "
                "new iterator whenever it is called."
            )
        self._last = frames
        return frames

    def first(self, work: Callable[[Part], T]) -> T:
        """Apply a function to the first part that has rows."""
        for part in self:
            if len(part):
                return work(part)
        raise ValueError("The table has no rows.")

    def reduce(self, work: Callable[[Part], T | None], merge: Callable[[T, T], T]) -> T | None:
        """Apply a function to one part after the other and merge the results."""
        result: T | None = None
        for part in self:
            part_result = work(part)
            if part_result is not None:
                result = part_result if result is None else merge(result, part_result)
        return result

    def encode(self, work: Callable[[Part], EncodedPart]) -> EncodedParts:
        """Encode the parts: once, into a temporary folder, or in every pass if nothing is to be cached."""
        return CachedParts(work(part) for part in self) if self.cache else UncachedParts(self, work)


@dataclass
class UncachedParts:
    """Parts that are read and encoded anew in every pass, which must be the same ones each time."""

    parts: Batches
    work: Callable[[Part], EncodedPart]
    _sums: PartSums | None = field(default=None, init=False, repr=False)  # of the first pass
    _has_sums: bool = field(default=False, init=False, repr=False)

    def __iter__(self) -> Iterator[EncodedPart]:
        sums: PartSums | None = None
        for part in self.parts:
            encoded = self.work(part)
            sums = _add_sums(sums, encoded)
            yield encoded
        if not self._has_sums:
            self._sums, self._has_sums = sums, True
        elif self._sums is not None:
            self._sums.check(sums)

    def reduce(self, work: Callable[[EncodedPart], T], merge: Callable[[T, T], T]) -> T:
        """Read and encode all parts, apply a function to them, and merge the results."""
        return _reduce_parts((work(part) for part in self), merge)

    def sums(self) -> PartSums | None:
        """The sums of the rows of the first pass."""
        return self._sums

    def map(self, work: Callable[[EncodedPart], EncodedPart]) -> EncodedParts:
        """The parts with a further function, which every pass applies."""
        mapped = UncachedParts(self.parts, partial(_apply_both, self.work, work))
        mapped._sums, mapped._has_sums = self._sums, self._has_sums
        return mapped

    def rows_in_memory(self) -> EncodedRows | None:
        """None: nothing is cached."""
        return None

    def keyed(self) -> KeyedParts:
        """Not possible: rows that are equal are in any parts."""
        raise ValueError("A forest of batches needs their encoded rows on disk: pass cache=True.")

    def close(self) -> None:
        """Nothing needs to be released."""


class CachedParts:
    """Parts in memory-mapped files of a temporary folder, which is removed together with this object."""

    def __init__(self, parts: Iterable[EncodedPart]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="baytree-")
        self._number = itertools.count()
        labels = _LabelList()
        self._sums: PartSums | None = None
        self._arrays = self._write(_arrays_of(labels.recode(part)) for part in self._counted(parts))
        self._raw = labels.raw

    def _counted(self, parts: Iterable[EncodedPart]) -> Iterator[EncodedPart]:
        for part in parts:
            self._sums = _add_sums(self._sums, part)
            yield part

    def sums(self) -> PartSums | None:
        """The sums of the rows that were encoded."""
        return self._sums

    def _write(self, parts: Iterable[dict[str, AnyArray]]) -> dict[str, Mapped]:
        """Write each array of all parts to one file; any failure, Ctrl-C included, removes the folder."""
        try:
            with ExitStack() as files:
                return _write_arrays(parts, Path(self._folder.name), f"{next(self._number)}-", files)
        except BaseException as error:
            self.close()
            if not isinstance(error, OSError) or error.errno not in (*_FULL_DISK, None):
                raise  # among others most errors of reading the table; NumPy writes without a number of the error
            raise OSError(
                f"The codes of the rows do not fit under {tempfile.gettempdir()} ({error.strerror or error}): make "
                "room, set TMPDIR to another folder, or pass cache=False."
            ) from error

    def __iter__(self) -> Iterator[EncodedPart]:
        n_rows = len(self._arrays["numbers"])
        for start in range(0, n_rows, BATCH_ROWS):
            part = {name: array[start : start + BATCH_ROWS] for name, array in self._arrays.items()}
            yield EncodedPart(part["codes"], part["numbers"], part.get("weight"), self._raw)

    def map(self, work: Callable[[EncodedPart], EncodedPart]) -> EncodedParts:
        """Write the results of a function to new files; codes that it returns unchanged stay in theirs."""
        new = self._write(_changed_arrays(part, work(part)) for part in self)
        unchanged = {name: array for name, array in self._arrays.items() if name == "codes" and name not in new}
        old_files = [Path(str(array.filename)) for name, array in self._arrays.items() if name not in unchanged]
        self._arrays, self._raw = unchanged | new, None
        for path in old_files:
            path.unlink()
        return self

    def reduce(self, work: Callable[[EncodedPart], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to one part after the other and merge the results."""
        return _reduce_parts((work(part) for part in self), merge)

    def rows_in_memory(self) -> EncodedRows | None:
        """All rows, if they fit into the memory of this machine; otherwise each level reads the files once."""
        arrays = self._arrays
        n_bytes = sum(array.nbytes for array in arrays.values())
        if n_bytes > half_of_memory() or len(arrays["numbers"]) >= _MAX_ROWS:
            return None
        return EncodedRows(arrays["codes"], arrays["numbers"], arrays.get("weight"))

    def keyed(self) -> KeyedParts:
        """The rows with their keys: in memory if they fit into it, otherwise in files of rows of similar hashes."""
        rows = self.rows_in_memory()
        if rows is not None:
            return KeyedInMemory(with_keys(rows))
        n_bytes, n_rows = sum(array.nbytes for array in self._arrays.values()), len(self._arrays["numbers"])
        n_buckets = _BUCKETS_OF_HALF * -(-n_bytes // max(half_of_memory(), 1))
        return KeyedBuckets(self, min(n_buckets, -(-n_rows // BATCH_ROWS)))

    def close(self) -> None:
        """Remove the files."""
        self._arrays = {}
        self._folder.cleanup()


class _LabelList:
    """One list of the class labels of all parts, while targets are stored as they were read."""

    def __init__(self) -> None:
        self._position: dict[Any, int] = {}
        self._last: RawTarget | None = None

    def recode(self, part: EncodedPart) -> EncodedPart:
        """Replace the y of a part by positions in this list."""
        self._last = raw = part.raw
        if raw is None or raw.labels is None:
            return part
        positions = np.array([self._position.setdefault(label, len(self._position)) for label in raw.labels.tolist()])
        numbers = part.numbers.copy()
        numbers[:, 0] = positions[numbers[:, 0].astype(np.int64)]
        return replace(part, numbers=numbers)

    @property
    def raw(self) -> RawTarget | None:
        """The meaning of the numbers of all parts."""
        if self._last is None or self._last.labels is None:
            return self._last
        return replace(self._last, labels=np.array(list(self._position)))


def _apply_both(
    first: Callable[[Part], EncodedPart], second: Callable[[EncodedPart], EncodedPart], part: Part
) -> EncodedPart:
    return second(first(part))


def _add_sums(total: PartSums | None, part: EncodedPart) -> PartSums | None:
    return total if part.sums is None else part.sums if total is None else total + part.sums


def _arrays_of(part: EncodedPart) -> dict[str, AnyArray]:
    arrays: dict[str, AnyArray] = {"codes": part.codes, "numbers": part.numbers}
    return arrays if part.weight is None else arrays | {"weight": part.weight}


def _changed_arrays(old: EncodedPart, new: EncodedPart) -> dict[str, AnyArray]:
    """The arrays of the new part, without unchanged codes."""
    return {name: array for name, array in _arrays_of(new).items() if array is not old.codes}


def _write_arrays(
    parts: Iterable[dict[str, AnyArray]], folder: Path, prefix: str, files: ExitStack
) -> dict[str, Mapped]:
    """Write each array of all parts to one file, and map the files into memory."""
    opened: dict[str, BinaryIO] = {}
    shape: dict[str, tuple[int, ...]] = {}
    dtype: dict[str, Any] = {}
    n_rows = 0
    for arrays in parts:
        for name, array in arrays.items():
            if name not in opened:
                opened[name] = files.enter_context((folder / (prefix + name)).open("wb"))
            array.tofile(opened[name])
            shape[name], dtype[name] = array.shape[1:], array.dtype
        n_rows += len(arrays["numbers"])
    files.close()
    if n_rows == 0:
        raise ValueError("No row counts: the table is empty, or all weights are zero.")
    return {
        name: np.memmap(folder / (prefix + name), dtype[name], "r", shape=(n_rows, *shape[name])) for name in opened
    }


def _reduce_parts(parts: Iterable[T], merge: Callable[[T, T], T]) -> T:
    result: T | None = None
    for part in parts:
        result = part if result is None else merge(result, part)
    if result is None:
        raise ValueError("The table has no rows.")
    return result
