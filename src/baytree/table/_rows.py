"""Rows of a table as numbers: what trees are grown from and what they send down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._typing import FloatArray, IntArray

_DENSE_VALUES = 2**22  # of a sparse matrix, at a time


@dataclass(frozen=True)
class Rows:
    """A float64 matrix, dense or sparse: numbers as they are, categories as positions, NaN where missing."""

    matrix: Any
    column_of: IntArray | None = None  # where the matrix holds each feature, -1 where it does not; None: in order

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def dense_parts(self, most_values: int = _DENSE_VALUES) -> Iterator[FloatArray]:
        """The matrix, of a sparse one some rows at a time."""
        if not sparse.issparse(self.matrix):
            yield self.matrix
            return
        step = max(1, most_values // max(self.matrix.shape[1], 1))
        for first in range(0, len(self), step):
            yield self.matrix[first : first + step].toarray()

    def take(self, first: int, stop: int) -> Rows:
        """Some of the rows."""
        return Rows(self.matrix[first:stop], self.column_of)

    def only(self, chosen: IntArray) -> Rows:
        """Those of the rows that are chosen by their positions."""
        return Rows(self.matrix[chosen], self.column_of)

    def dense(self) -> FloatArray:
        """All rows as one dense matrix."""
        return np.asarray(self.matrix.toarray() if sparse.issparse(self.matrix) else self.matrix)
