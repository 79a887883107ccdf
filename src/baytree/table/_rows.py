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
_FIRST_ROWS = 256  # which show of most columns that they are not of integers


@dataclass(frozen=True)
class Scan:
    """A checksum of each column, and whether any value is infinite."""

    bit_sums: AnyArray  # of each column of the matrix; NaN and rounding cannot spoil them, and zero has no bits
    has_infinity: bool


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

    def numbers_of_columns(self) -> list[tuple[float, float, bool]]:
        """The lowest and the highest number of each column, and whether all are integers; NaN for no number."""
        parts = [_numbers_of_columns(part) for part in self.dense_parts()]
        lows, highs, are_integers = (np.array(column) for column in zip(*parts, strict=True))
        ranges = np.fmin.reduce(lows), np.fmax.reduce(highs), are_integers.all(axis=0)
        return list(zip(*(column.tolist() for column in ranges), strict=True))

    def feature(self, feature: int, chosen: IntArray) -> FloatArray:
        """The values of one feature in some rows."""
        column = feature if self.column_of is None else int(self.column_of[feature])
        if not sparse.issparse(self.matrix):
            return np.asarray(self.matrix[chosen, column], dtype=np.float64)
        return np.asarray(self.matrix[:, [column]].toarray()[chosen, 0], dtype=np.float64)

    def dense(self) -> FloatArray:
        """All rows as one dense matrix."""
        return np.asarray(self.matrix.toarray() if sparse.issparse(self.matrix) else self.matrix)


def _numbers_of_columns(X: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """The lowest and the highest number of each column, and whether all are integers."""
    are_integers = _are_integers(X[:_FIRST_ROWS])
    for column in np.flatnonzero(are_integers) if len(X) > _FIRST_ROWS else ():
        are_integers[column] = _are_integers(X[:, column, None])[0]
    return _reduce_columns(np.fmin, X), _reduce_columns(np.fmax, X), are_integers


def _reduce_columns(function: np.ufunc, X: FloatArray) -> FloatArray:
    """Reduce every column; of a matrix by rows several rows at a time, which is faster than short rows."""
    n = len(X) - len(X) % _FIRST_ROWS
    if n == 0 or not X.flags.c_contiguous:
        return np.asarray(function.reduce(X, axis=0))
    wide = function.reduce(X[:n].reshape(-1, _FIRST_ROWS * X.shape[1]), axis=0).reshape(_FIRST_ROWS, X.shape[1])
    return np.asarray(function.reduce(np.concatenate([wide, X[n:]]), axis=0))


def _are_integers(X: FloatArray) -> BoolArray:
    """Whether all numbers of each column are integers; missing values are none."""
    return np.asarray(((np.floor(X) == X) | np.isnan(X)).all(axis=0))


def _scan_sparse(matrix: Any) -> Scan:
    columns = sparse.csc_matrix(matrix)
    bits = np.append(columns.data.view(np.uint64), np.uint64(0))
    sums = np.add.reduceat(bits, columns.indptr[:-1]) * (np.diff(columns.indptr) > 0)
    return Scan(sums, bool(np.isinf(columns.data).any()))
