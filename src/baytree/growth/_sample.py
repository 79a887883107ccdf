"""Some rows of a table, or half of them, chosen by what is in them: the same ones wherever they live.

The marks that choose are sums and remainders of whole numbers below 2**63, so that a database can compute them too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ._histograms import ColumnBins

MODULUS = 2**31 - 1
TIMES = (48271, 16807)  # multipliers of well-known generators of this modulus
NUMBER_MODULUS = 1_048_573
_MOST_ROWS = 5000


def column_factor(column: int) -> int:
    """What the code of a column counts in a mark."""
    return 7919 * (column + 1) % 65521 + 1


def number_factor(position: int) -> int:
    """What a whole number of the target counts."""
    return 104_729 + 2 * position


def n_shares(n_rows: int) -> int:
    """One of so many shares of the rows is about as many as are wanted."""
    return max(1, -(-n_rows // _MOST_ROWS))


def marks_of(codes: AnyArray, numbers: IntArray) -> IntArray:
    """A whole number below `MODULUS` for each row, the same for rows of equal codes and numbers."""
    total = sum((own.astype(np.int64) + 1) * column_factor(column) for column, own in enumerate(codes)) + sum(
        own % NUMBER_MODULUS * number_factor(k) for k, own in enumerate(numbers.T)
    )
    for times in TIMES:
        total = total % MODULUS * times
    return np.asarray(total % MODULUS)


@dataclass(frozen=True)
class Sample:
    """Rows as codes (one row a column), whole numbers and whole weights."""

    codes: AnyArray
    numbers: IntArray
    weight: IntArray | None

    def chosen(self, shares: int) -> Sample:
        """The rows whose marks are in the first share."""
        rows = marks_of(self.codes, self.numbers) % shares == 0
        weight = None if self.weight is None else self.weight[rows]
        return Sample(self.codes[:, rows], self.numbers[rows], weight)

    def __add__(self, other: Sample) -> Sample:
        weight = None
        if self.weight is not None and other.weight is not None:
            weight = np.concatenate([self.weight, other.weight])
        codes = np.concatenate([self.codes, other.codes], axis=1)
        return Sample(codes, np.concatenate([self.numbers, other.numbers]), weight)

    def matrix(self, bins: tuple[ColumnBins, ...]) -> FloatArray:
        """The rows as numbers: each value is the middle of its bin."""
        columns = []
        for codes, own in zip(self.codes, bins, strict=True):
            columns.append(np.append(own.middle, np.nan)[codes])
        return np.stack(columns, axis=1)
