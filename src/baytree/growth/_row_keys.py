"""Keys of encoded rows: what a tree of a forest draws for a row follows from its key and the number of the tree.

Equal rows get different keys, by how many of them come before. It does not matter which of them gets which, so the keys
depend neither on the order of the rows nor on where they are, provided that all rows that are equal are in one part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from .._typing import AnyArray, BoolArray
from ._encoded_rows import EncodedRows
from ._row_hash import mix_bits

T = TypeVar("T")
_STEP = np.uint64(0x9E3779B97F4A7C15)  # of splitmix64


@dataclass(frozen=True)
class KeyedRows(EncodedRows):
    """Encoded rows with their keys."""

    keys: AnyArray

    def take(self, rows: AnyArray | slice) -> KeyedRows:
        """Some of the rows."""
        some = super().take(rows)
        return KeyedRows(some.codes, some.numbers, some.weight, self.keys[rows])

    def __add__(self, other: EncodedRows) -> KeyedRows:
        if not isinstance(other, KeyedRows):
            raise TypeError("Rows with keys can only be joined with others.")
        both = super().__add__(other)
        return KeyedRows(both.codes, both.numbers, both.weight, np.concatenate([self.keys, other.keys]))


def hash_of_encoded(rows: EncodedRows) -> AnyArray:
    """Hash rows by their codes, targets and weights; the hashes have 64 bits, so that different rows share none."""
    total = np.zeros(len(rows), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for i, codes in enumerate(rows.codes.T):
            of_code = mix_bits(np.arange(1, int(codes.max(initial=0)) + 2, dtype=np.uint64) + np.uint64(i) * _STEP)
            total += of_code[codes]
        others = rows.numbers if rows.weight is None else np.column_stack([rows.numbers, rows.weight])
        for column in others.T:
            total = mix_bits(total + column.astype(np.uint64) + _STEP)
    return mix_bits(total + _STEP)


def with_keys(rows: EncodedRows) -> KeyedRows:
    """Give rows their keys; rows that equal one of them must be among them."""
    hashes = hash_of_encoded(rows)
    order = np.argsort(hashes, kind="stable")
    is_first = np.append(True, hashes[order[1:]] != hashes[order[:-1]])[: len(order)]
    place = np.arange(len(order))
    copies = np.empty(len(order), dtype=np.uint64)
    copies[order] = (place - np.maximum.accumulate(np.where(is_first, place, 0))).astype(np.uint64)
    with np.errstate(over="ignore"):
        return KeyedRows(rows.codes, rows.numbers, rows.weight, mix_bits(hashes + copies * _STEP))


def split_by_hash(rows: EncodedRows, n: int) -> list[EncodedRows]:
    """Divide rows so that equal ones stay together."""
    bucket = (hash_of_encoded(rows) >> np.uint64(33)).astype(np.int64) % n
    order = np.argsort(bucket, kind="stable")
    ends = np.cumsum(np.bincount(bucket, minlength=n))[:-1]
    return [rows.take(chosen) for chosen in np.split(order, ends)]


def mean_over_copies(rows: EncodedRows, values: BoolArray) -> AnyArray:
    """The mean of the rows of `values` over all rows that are equal, for each row."""
    hashes = hash_of_encoded(rows)
    _, group, n = np.unique(hashes, return_inverse=True, return_counts=True)
    sums = np.zeros((len(n), values.shape[1]))
    np.add.at(sums, group, values)
    return np.asarray((sums / n[:, None])[group])


class KeyedParts(Protocol):
    """Parts of encoded rows with their keys, all rows that are equal in one of them."""

    def rows_in_memory(self) -> KeyedRows | None:
        """All rows, if they are in the memory of this machine."""

    def reduce(self, work: Callable[[KeyedRows], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to each part and merge the results."""

    def close(self) -> None:
        """Release memory and files."""


@dataclass(frozen=True)
class KeyedInMemory:
    """All rows in memory."""

    rows: KeyedRows

    def rows_in_memory(self) -> KeyedRows | None:
        """All rows."""
        return self.rows

    def reduce(self, work: Callable[[KeyedRows], T], merge: Callable[[T, T], T]) -> T:  # noqa: ARG002
        """Apply a function to all rows."""
        return work(self.rows)

    def close(self) -> None:
        """Nothing needs to be released."""
