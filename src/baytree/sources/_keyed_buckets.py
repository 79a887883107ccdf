"""Encoded rows that do not fit into memory, with their keys: in files, so that rows that are equal are in one file."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO, TypeVar

import numpy as np

from .._typing import AnyArray
from ..growth import EncodedRows, KeyedRows, split_by_hash, with_keys

T = TypeVar("T")
_MOST_BUCKETS = 256  # files that are open at once, three or four each


class KeyedBuckets:
    """Rows in files of a temporary folder, which is removed together with this object."""

    def __init__(self, parts: Iterable[EncodedRows], n_buckets: int) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="baytree-")
        self._n = min(max(n_buckets, 1), _MOST_BUCKETS)
        self._like: dict[str, AnyArray] = {}  # an empty array of each kind
        try:
            self._divide(parts)
            for i in range(self._n):
                self._write_keys(i)
        except BaseException:
            self.close()
            raise

    def _path(self, name: str, i: int) -> Path:
        return Path(self._folder.name) / f"{i}-{name}"

    def _divide(self, parts: Iterable[EncodedRows]) -> None:
        files: dict[tuple[str, int], BinaryIO] = {}
        with ExitStack() as opened:
            for part in parts:
                self._like = {name: array[:0] for name, array in _arrays_of(part).items()}
                for i, rows in enumerate(split_by_hash(part, self._n)):
                    for name, array in _arrays_of(rows).items():
                        if (name, i) not in files:
                            files[name, i] = opened.enter_context(self._path(name, i).open("wb"))
                        array.tofile(files[name, i])

    def _read(self, i: int) -> EncodedRows:
        arrays = {}
        for name, like in self._like.items():
            values = np.fromfile(self._path(name, i), like.dtype)
            arrays[name] = values.reshape(-1, *like.shape[1:])
        return EncodedRows(arrays["codes"], arrays["numbers"], arrays.get("weight"))

    def _write_keys(self, i: int) -> None:
        with_keys(self._read(i)).keys.tofile(self._path("keys", i))

    def __iter__(self) -> Iterator[KeyedRows]:
        for i in range(self._n):
            rows, keys = self._read(i), np.fromfile(self._path("keys", i), np.uint64)
            yield KeyedRows(rows.codes, rows.numbers, rows.weight, keys)

    def rows_in_memory(self) -> KeyedRows | None:
        """None: they do not fit."""
        return None

    def reduce(self, work: Callable[[KeyedRows], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to the rows of one file after the other and merge the results."""
        rows = iter(self)
        result = work(next(rows))
        for part in rows:
            result = merge(result, work(part))
        return result

    def close(self) -> None:
        """Remove the files."""
        self._folder.cleanup()


def _arrays_of(rows: EncodedRows) -> dict[str, AnyArray]:
    arrays: dict[str, AnyArray] = {"codes": np.ascontiguousarray(rows.codes), "numbers": rows.numbers}
    return arrays if rows.weight is None else arrays | {"weight": rows.weight}
