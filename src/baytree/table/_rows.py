"""Rows of a table as numbers: what trees are grown from and what they send down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from .. import _core
from .._typing import AnyArray, BoolArray, FloatArray, IntArray

_DENSE_VALUES = 2**22  # of a sparse matrix, at a time


@dataclass(frozen=True)
class Scan:
    """What one pass over a matrix finds in each column."""

    bit_sums: AnyArray  # a checksum: NaN and rounding cannot spoil it, and zero has no bits
    lowest: FloatArray  # NaN for a column without numbers
    highest: FloatArray
    are_integers: BoolArray  # whether all numbers are integers; missing values do not count

    @property
    def has_infinity(self) -> bool:
        """Whether any value is infinite."""
        return bool(np.isinf(self.lowest).any() or np.isinf(self.highest).any())


@dataclass(frozen=True)
class Rows:
    """A float64 matrix, dense or sparse: numbers as they are, categories as positions, NaN where missing."""

    matrix: Any
    column_of: IntArray | None = None  # where the matrix holds each feature, -1 where it does not; None: in order
    _scans: list[Scan] = field(default_factory=list, repr=False, compare=False)  # empty until the first scan, then one

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def scan(self, n_threads: int = 1) -> Scan:
        """Scan every value, once: the result is kept, because large tables take time."""
        if not self._scans:
            is_sparse = sparse.issparse(self.matrix)
            self._scans.append(_scan_sparse(self.matrix) if is_sparse else Scan(*_core.scan(self.matrix, n_threads)))
        return self._scans[0]

    def dense_parts(self, max_values: int = _DENSE_VALUES) -> Iterator[FloatArray]:
        """The matrix, of a sparse one some rows at a time."""
        if not sparse.issparse(self.matrix):
            yield self.matrix
            return
        step = max(1, max_values // max(self.matrix.shape[1], 1))
        for first in range(0, len(self), step):
            yield self.matrix[first : first + step].toarray()

    def take(self, first: int, stop: int) -> Rows:
        """Some of the rows."""
        return Rows(self.matrix[first:stop], self.column_of)

    def select(self, chosen: IntArray) -> Rows:
        """Select rows by their positions."""
        return Rows(self.matrix[chosen], self.column_of)

    def feature(self, feature: int, chosen: IntArray) -> FloatArray:
        """The values of one feature in some rows."""
        column = feature if self.column_of is None else int(self.column_of[feature])
        if not sparse.issparse(self.matrix):
            return np.asarray(self.matrix[chosen, column], dtype=np.float64)
        return np.asarray(self.matrix[:, [column]].toarray()[chosen, 0], dtype=np.float64)

    def dense(self) -> FloatArray:
        """All rows as one dense matrix."""
        return np.asarray(self.matrix.toarray() if sparse.issparse(self.matrix) else self.matrix)


def _scan_sparse(matrix: Any) -> Scan:
    """Scan the entries of each column; where there are fewer than rows, the column holds zeros, too."""
    columns = sparse.csc_matrix(matrix)
    starts, n_entries = columns.indptr[:-1], np.diff(columns.indptr)
    zero = np.where(n_entries < matrix.shape[0], 0.0, np.nan)

    def reduce(function: np.ufunc, values: AnyArray, neutral: Any) -> AnyArray:
        padded = np.append(values, values.dtype.type(neutral))  # so that a last column without entries has a start
        return np.where(n_entries > 0, function.reduceat(padded, starts), padded[-1])

    numbers = columns.data
    return Scan(
        reduce(np.add, numbers.view(np.uint64), 0),
        np.fmin(reduce(np.fmin, numbers, np.nan), zero) + 0.0,
        np.fmax(reduce(np.fmax, numbers, np.nan), zero) + 0.0,
        reduce(np.logical_and, ~(np.floor(numbers) < numbers), True),
    )
