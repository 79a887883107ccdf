"""Batches: a table that is read part by part, any number of times, from Parquet, an Arrow data set or a function.

The rows are read a few times to find columns, bins and whole numbers. From then on they are codes of one or two bytes,
in a temporary folder, and are not read again.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, TypeVar

import numpy as np

from .._typing import AnyArray
from ..growth import EncodedRows
from ._frames import frames_of
from ._kinds import is_path
from ._part_source import EncodedParts
from ._parts import EncodedPart, Names, Part, RawTarget, split_frame

T = TypeVar("T")
Mapped: TypeAlias = "np.memmap[Any, np.dtype[Any]]"
_BATCH_ROWS = 2**16
_MOST_ROWS = 2**32 - 1  # that a row's number has room for


@dataclass
class Batches:
    """Frames that a function hands out, the same ones from the start whenever it is called."""

    read: Callable[[], Iterable[Any]]
    names: Names
    cache: bool = True
    _last: Any = field(default=None, init=False, repr=False)  # what the function returned
    _n_rows: int | None = field(default=None, init=False, repr=False)  # of the first whole pass

    def __iter__(self) -> Iterator[Part]:
        frames, n_rows = self._start(), 0
        try:
            for frame in frames:
                part = split_frame(frame, self.names)
                n_rows += len(part)
                yield part
        finally:
            if isinstance(frames, Generator):  # it may hold open files, and is no longer needed
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

    def encode(self, work: Callable[[Part], EncodedPart]) -> EncodedParts:
        """In a temporary folder, or again and again where nothing is to be cached."""
        return CachedParts(work(part) for part in self) if self.cache else UncachedParts(self, work)


@dataclass(frozen=True)
class UncachedParts:
    """Parts that are read and encoded whenever they are asked."""

    parts: Batches
    work: Callable[[Part], EncodedPart]

    def reduce(self, work: Callable[[EncodedPart], T], merge: Callable[[T, T], T]) -> T:
        """Read all again."""
        return _reduced((work(self.work(part)) for part in self.parts), merge)

    def changed(self, work: Callable[[EncodedPart], EncodedPart]) -> EncodedParts:
        """The work is done whenever they are asked."""
        return UncachedParts(self.parts, partial(_one_then, self.work, work))

    def kept(self) -> EncodedRows | None:
        """They are not."""
        return None

    def close(self) -> None:
        """Nothing is kept."""


class CachedParts:
    """Parts in files of a temporary folder, which goes when they go; they are mapped into memory, not read."""

    def __init__(self, parts: Iterable[EncodedPart]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="baytree-")
        self._number = itertools.count()
        labels = _Labels()
        self._arrays = self._written(_arrays_of(labels.placed(part)) for part in parts)
        self._raw = labels.raw

    def _written(self, parts: Iterable[dict[str, AnyArray]]) -> dict[str, Mapped]:
        """The arrays of all parts, one file each; nothing stays if anything fails, Ctrl-C included."""
        try:
            with ExitStack() as files:
                return _written(parts, Path(self._folder.name), f"{next(self._number)}-", files)
        except BaseException as error:
            self.close()
            if not isinstance(error, OSError):
                raise
            raise OSError(
                f"The codes of the rows do not fit under {tempfile.gettempdir()} ({error.strerror or error}): make "
                "room, set TMPDIR to another folder, or pass cache=False."
            ) from error

    def __iter__(self) -> Iterator[EncodedPart]:
        n_rows = len(self._arrays["numbers"])
        for start in range(0, n_rows, _BATCH_ROWS):
            part = {name: own[start : start + _BATCH_ROWS] for name, own in self._arrays.items()}
            yield EncodedPart(part["codes"], part["numbers"], part.get("weight"), self._raw)

    def changed(self, work: Callable[[EncodedPart], EncodedPart]) -> EncodedParts:
        """Other files, but for codes that stay; the numbers are whole then."""
        new = self._written(_changed_arrays(part, work(part)) for part in self)
        kept = {name: own for name, own in self._arrays.items() if name == "codes" and name not in new}
        gone = [Path(str(own.filename)) for name, own in self._arrays.items() if name not in kept]
        self._arrays, self._raw = kept | new, None
        for path in gone:
            path.unlink()
        return self

    def reduce(self, work: Callable[[EncodedPart], T], merge: Callable[[T, T], T]) -> T:
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


class _Labels:
    """The class labels of all parts in one list, while targets are kept as they are."""

    def __init__(self) -> None:
        self._place: dict[Any, int] = {}
        self._last: RawTarget | None = None

    def placed(self, part: EncodedPart) -> EncodedPart:
        """A part whose y are positions in this list."""
        self._last = raw = part.raw
        if raw is None or raw.labels is None:
            return part
        places = np.array([self._place.setdefault(label, len(self._place)) for label in raw.labels.tolist()])
        numbers = part.numbers.copy()
        numbers[:, 0] = places[numbers[:, 0].astype(np.int64)]
        return replace(part, numbers=numbers)

    @property
    def raw(self) -> RawTarget | None:
        """What the numbers of all parts are."""
        if self._last is None or self._last.labels is None:
            return self._last
        return replace(self._last, labels=np.array(list(self._place)))


def _one_then(
    one: Callable[[Part], EncodedPart], then: Callable[[EncodedPart], EncodedPart], part: Part
) -> EncodedPart:
    return then(one(part))


def _arrays_of(part: EncodedPart) -> dict[str, AnyArray]:
    arrays: dict[str, AnyArray] = {"codes": part.codes, "numbers": part.numbers}
    return arrays if part.weight is None else arrays | {"weight": part.weight}


def _changed_arrays(old: EncodedPart, new: EncodedPart) -> dict[str, AnyArray]:
    """Those of the new part, without codes that stay."""
    return {name: own for name, own in _arrays_of(new).items() if own is not old.codes}


def _written(parts: Iterable[dict[str, AnyArray]], folder: Path, prefix: str, files: ExitStack) -> dict[str, Mapped]:
    """The arrays of all parts, in a file each."""
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


def read_dataset(source: Any, *, alike: bool = True) -> Callable[[], Iterable[Any]]:
    """What reads Parquet paths or an Arrow data set batch by batch; files that must be alike are looked at first."""
    try:
        import pyarrow as pa  # noqa: PLC0415

        from ._parquet import batches_of, batches_of_files, parquet_files, refuse_differences  # noqa: PLC0415
    except ImportError:
        raise ImportError("Parquet and Arrow data sets need pyarrow: pip install 'baytree[engines]'.") from None
    files = parquet_files(source) if is_path(source) else None

    def batches() -> Iterator[Any]:
        if files is not None and alike:
            refuse_differences(files)
        found = batches_of(source, _BATCH_ROWS) if files is None else batches_of_files(files, _BATCH_ROWS)
        for batch in found:
            yield pa.Table.from_batches([batch])
        pa.default_memory_pool().release_unused()

    return batches
