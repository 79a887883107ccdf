"""Sums by which the rows of two passes over a table are compared: they are exact, and no order of rows changes them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core
from .._typing import AnyArray, FloatArray
from ..growth import other_rows
from ..outcomes import Target
from ..table import UNSEEN, Column, describe_column

_WRAP = 2**64


@dataclass(frozen=True)
class PartSums:
    """The number of rows of positive weight, and sums of the hashes of their values.

    A category is hashed by its label, since the position of a label is not the same in every part.
    """

    n_rows: int
    features: Mapping[int, int]
    target: Mapping[str, int]
    names: tuple[str, ...] | None  # of all features

    @classmethod
    def of(
        cls, matrix: FloatArray, columns: Mapping[int, Column], target: Target, names: tuple[str, ...] | None
    ) -> PartSums:
        """Add up some rows, whose features are given as numbers; `columns` has the position of each feature."""
        sums = dict(zip(columns, _hash_sums(matrix), strict=True))
        for place, (i, column) in enumerate(columns.items()):
            if column.categories is not None:
                sums[i] = _sum_of_labels(matrix[:, place], column.categories)
        return cls(len(target.y), sums, _target_sums(target), names)

    def __add__(self, other: PartSums) -> PartSums:
        return PartSums(
            self.n_rows + other.n_rows,
            {i: (value + other.features[i]) % _WRAP for i, value in self.features.items()},
            {name: (value + other.target[name]) % _WRAP for name, value in self.target.items()},
            self.names,
        )

    def check(self, again: PartSums | None) -> None:
        """Raise an error if a later pass had other rows; columns that only one pass read are not compared."""
        if again is None or again.n_rows != self.n_rows:
            n_again = 0 if again is None else again.n_rows
            raise other_rows(f"{self.n_rows:,} rows of positive weight at first, then {n_again:,}")
        for i in self.features.keys() & again.features.keys():
            if self.features[i] != again.features[i]:
                raise other_rows(f"{_lower_first(describe_column(i, self.names))} has other values")
        for name in self.target.keys() & again.target.keys():
            if self.target[name] != again.target[name]:
                raise other_rows(f"{name} has other values")


def refuse_new_categories(matrix: FloatArray, columns: Mapping[int, Column], names: tuple[str, ...] | None) -> None:
    """Refuse categories that no row of the first pass had."""
    for place, (i, column) in enumerate(columns.items()):
        if column.is_nominal and np.any(matrix[:, place] == UNSEEN):
            raise other_rows(f"{_lower_first(describe_column(i, names))} has another category")


def _sum_of_labels(positions: FloatArray, categories: AnyArray) -> int:
    present = positions[~np.isnan(positions)].astype(np.int64)
    counts = np.bincount(present, minlength=len(categories)).tolist()
    labels = categories.tolist()
    total = sum(n * _hash_of_label(labels[k]) for k, n in enumerate(counts) if n)
    return (total + (len(positions) - len(present)) * _hash_of_label(np.nan)) % _WRAP


def _target_sums(target: Target) -> dict[str, int]:
    numbers = {} if target.weight is None else {"the weight": target.weight}
    numbers |= {f"the {name}": values for name, values in target.extras.items()}
    sums: dict[str, int] = {}
    if target.y.dtype.kind in "biuf":
        numbers["the target"] = target.y
    else:
        labels = Counter(target.y.tolist())
        sums["the target"] = sum(n * _hash_of_label(label) for label, n in labels.items()) % _WRAP
    for name, values in numbers.items():
        column = np.ascontiguousarray(values, dtype=np.float64)[:, None]
        (sums[name],) = _hash_sums(column)
    return sums


def _hash_of_label(label: Any) -> int:
    if isinstance(label, str):
        return int.from_bytes(hashlib.blake2b(label.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
    return _hash_sums(np.array([[label]], dtype=np.float64))[0]


def _hash_sums(matrix: FloatArray) -> list[int]:
    sums: list[int] = np.asarray(_core.hash_sums(matrix)).tolist()
    return sums


def _lower_first(text: str) -> str:
    return text[:1].lower() + text[1:]
