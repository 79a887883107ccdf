"""Batches: a table that is read part by part, any number of times, from Parquet, an Arrow data set or a function.

The rows are read a few times to find columns, bins and whole numbers. From then on they are codes of one or two bytes,
in a temporary folder, and are not read again.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .._typing import AnyArray
from ._part_source import EncodedParts
from ._parts import Encoded, Names, Part, Raw, split_frame

T = TypeVar("T")
_BATCH_ROWS = 2**18


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

    def encode(self, work: Callable[[Part], Encoded]) -> EncodedParts:
        """In a temporary folder, or again and again where nothing is to be cached."""
        return CachedParts(work(part) for part in self) if self.cache else UncachedParts(self, work)


@dataclass(frozen=True)
class UncachedParts:
    """Parts that are read and encoded whenever they are asked."""

    parts: Batches
    work: Callable[[Part], Encoded]

    def reduce(self, work: Callable[[Encoded], T], merge: Callable[[T, T], T]) -> T:
        """Read all again."""
        return _reduced((work(self.work(part)) for part in self.parts), merge)

    def changed(self, work: Callable[[Encoded], Encoded]) -> EncodedParts:
        """The work is done whenever they are asked."""
        return UncachedParts(self.parts, partial(_one_then, self.work, work))

    def close(self) -> None:
        """Nothing is kept."""


class CachedParts:
    """Parts in files of a temporary folder, which goes when they go; they are mapped into memory, not read."""

    def __init__(self, parts: Iterable[Encoded]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="baytree-")
        self._parts: list[tuple[dict[str, Path], Raw | None]] = []
        self._names = (f"{number}" for number in itertools.count())
        with self._gone_on_error():
            for part in parts:
                if len(part.numbers) or not self._parts:
                    self._parts.append((self._write(part), part.raw))

    @contextmanager
    def _gone_on_error(self) -> Iterator[None]:
        """Remove the files if anything fails, Ctrl-C included."""
        try:
            yield
        except BaseException:
            self._folder.cleanup()
            raise

    def _write(self, part: Encoded, known: dict[str, Path] | None = None) -> dict[str, Path]:
        """Write the arrays of a part, but for those whose files are known."""
        arrays = {"codes": part.codes, "numbers": part.numbers}
        arrays |= {} if part.weight is None else {"weight": part.weight}
        files, name = dict(known or {}), next(self._names)
        for what, array in arrays.items():
            if what not in files:
                files[what] = Path(self._folder.name) / f"{name}-{what}.npy"
                _save(files[what], array)
        return files

    def __iter__(self) -> Iterator[Encoded]:
        for files, raw in self._parts:
            arrays = {name: np.load(path, mmap_mode="r") for name, path in files.items()}
            yield Encoded(arrays["codes"], arrays["numbers"], arrays.get("weight"), raw)

    def changed(self, work: Callable[[Encoded], Encoded]) -> EncodedParts:
        """Other files, but for codes that stay."""
        with self._gone_on_error():
            for number, part in enumerate(self):
                new, (old, _) = work(part), self._parts[number]
                kept = {"codes": old["codes"]} if new.codes is part.codes else {}
                self._parts[number] = self._write(new, kept), new.raw
                for path in set(old.values()) - set(kept.values()):
                    path.unlink()
        return self

    def reduce(self, work: Callable[[Encoded], T], merge: Callable[[T, T], T]) -> T:
        """One part after the other."""
        return _reduced((work(part) for part in self), merge)

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()


def _save(path: Path, array: AnyArray) -> None:
    try:
        np.save(path, array)
    except OSError as error:
        raise OSError(
            f"The codes of the rows do not fit under {tempfile.gettempdir()} ({error.strerror or error}): make room, "
            "set TMPDIR to another folder, or pass cache=False."
        ) from error


def _one_then(one: Callable[[Part], Encoded], then: Callable[[Encoded], Encoded], part: Part) -> Encoded:
    return then(one(part))


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
        for batch in dataset.to_batches(batch_size=_BATCH_ROWS, batch_readahead=2, fragment_readahead=1):
            yield pa.Table.from_batches([batch])

    return batches
