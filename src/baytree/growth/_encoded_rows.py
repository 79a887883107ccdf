"""Encoded rows in memory: codes, fixed-point targets and weights, their histograms, halves and samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .. import _core
from .._typing import AnyArray, FloatArray, IntArray
from ..outcomes import Grids, Outcome, Target, fixed_point_outcome
from ._binning import ColumnBins
from ._histograms import ClassHistograms, Histograms, Routes
from ._row_hash import hash_of_codes

_DIGIT = 31
_SAMPLE_ROWS = 5000


@dataclass(frozen=True)
class CodeLayout:
    """The position of each column's codes in a histogram, and the type of the target."""

    first: IntArray  # position of the first code of each column, and the end
    n_classes: int  # 0 for numbers
    grids: Grids
    n_threads: int = 1

    @classmethod
    def of(cls, bins: tuple[ColumnBins, ...], n_classes: int, grids: Grids, n_threads: int = 1) -> CodeLayout:
        """The layout of columns with these bins."""
        first = np.cumsum([0, *(column.n_codes for column in bins)]).astype(np.int64)
        return cls(first, n_classes, grids, n_threads)


@dataclass(frozen=True)
class EncodedRows:
    """Rows as codes of shape (n_rows, n_columns), fixed-point targets and integer weights."""

    codes: AnyArray
    numbers: IntArray
    weight: IntArray | None

    def __len__(self) -> int:
        return len(self.numbers)

    def __add__(self, other: EncodedRows) -> EncodedRows:
        return join_rows([self, other])

    @property
    def hashes(self) -> IntArray:
        """The hash of each row, which is the same at every source."""
        return np.asarray(hash_of_codes([column.astype(np.int64) for column in self.codes.T], [*self.numbers.T]))

    def half(self, which: int) -> EncodedRows:
        """One half of the rows, by their hashes."""
        return self.take(self.hashes % 2 == which)

    def sample(self, n_shares: int) -> EncodedRows:
        """One of `n_shares` shares of the rows, by their hashes."""
        return self.take(self.hashes % n_shares == 0)

    def take(self, rows: AnyArray | slice) -> EncodedRows:
        """Some of the rows."""
        return EncodedRows(self.codes[rows], self.numbers[rows], None if self.weight is None else self.weight[rows])

    def matrix(self, bins: tuple[ColumnBins, ...]) -> FloatArray:
        """The rows as numbers, each value at the midpoint of its bin."""
        pairs = zip(self.codes.T, bins, strict=True)
        return np.stack([np.append(column.middle, np.nan)[codes] for codes, column in pairs], axis=1)

    def histograms(self, layout: CodeLayout, routes: Routes) -> Histograms | ClassHistograms:
        """The histograms of the open nodes."""
        arguments = (self.codes, layout.first, _core_routes(routes))
        if layout.n_classes:
            classes = self.numbers[:, 0]
            n_classes, n_threads = layout.n_classes, layout.n_threads
            return ClassHistograms(*_core.tally_classes(*arguments, classes, self.weight, n_classes, n_threads))
        return Histograms(*_core.tally_numbers(*arguments, self.numbers, self.weight, layout.n_threads))

    def factor(self, outcome: Outcome, grids: Grids) -> IntArray | None:
        """The fixed-point log of the factor of each row's likelihood that no split changes, if there is one."""
        if not outcome.has_factor or grids.y is None:
            return None
        extras = {name: grid.value(self.numbers[:, 1]) for name, grid in grids.extras.items()}
        return fixed_point_outcome(outcome).fixed_point_factor(
            Target(grids.y.value(self.numbers[:, 0]), None, extras, grids)
        )

    def factors(self, layout: CodeLayout, routes: Routes, outcome: Outcome) -> list[int]:
        """The sum of the logs of factors in each open node."""
        result = [0] * routes.n_open
        factor = self.factor(outcome, layout.grids) if len(self) else None
        if factor is None:
            return result
        node = np.asarray(_core.open_nodes(self.codes, layout.first, _core_routes(routes), layout.n_threads))
        weight = np.ones(len(factor), dtype=np.int64) if self.weight is None else self.weight
        mask = 2**_DIGIT - 1
        for digit, power in ((factor >> _DIGIT, _DIGIT), (factor & mask, 0)):
            product = digit * weight
            for product_digit, more in ((product >> _DIGIT, _DIGIT), (product & mask, 0)):
                sums = np.zeros(routes.n_open, dtype=np.int64)
                np.add.at(sums, node, product_digit)
                for i, total in enumerate(sums.tolist()):
                    result[i] += total << (power + more)
        return result


def join_rows(parts: Sequence[EncodedRows]) -> EncodedRows:
    """The rows of several parts, one behind the other."""
    weights = [part.weight for part in parts if part.weight is not None]
    return EncodedRows(
        np.concatenate([part.codes for part in parts]),
        np.concatenate([part.numbers for part in parts]),
        np.concatenate(weights) if weights else None,
    )


def n_sample_shares(n_rows: int) -> int:
    """The number of shares to divide rows into, so that one share has some thousand rows."""
    return max(1, -(-n_rows // _SAMPLE_ROWS))


def _core_routes(r: Routes) -> _core.Routes:
    return _core.Routes(r.feature, r.lower, r.upper, r.start, r.goes_lower, r.open, r.n_open)


@dataclass(frozen=True)
class RowHistograms:
    """Encoded rows as a source of histograms, for growing a tree level by level."""

    rows: EncodedRows
    layout: CodeLayout

    def rows_in_memory(self) -> EncodedRows | None:
        """None, so that the tree is grown level by level."""
        return None

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """The histograms of the open nodes."""
        return self.rows.histograms(self.layout, routes)

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sum of the logs of factors in each open node."""
        return self.rows.factors(self.layout, routes, outcome)
