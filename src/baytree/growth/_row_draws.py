"""How often each row counts in a tree of a forest, by the key of the row and the number of the tree.

With the Bayesian bootstrap a row of weight w has a Gamma(w) weight in each tree. It is multiplied by the factor of the
forest and rounded at random to a whole number, so that sums over rows are the same in any order and at any source.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from .._typing import IntArray
from ..outcomes import Grid, Grids, SampleSize
from ._bootstrap import bootstrap_weights, uniforms_of_rows
from ._encoded_rows import EncodedRows
from ._forest import ForestPlan
from ._row_keys import KeyedRows

_COUNT_BITS = 30  # of the count of a row, so that products with it fit into the sums


class DrawSize(NamedTuple):
    """The rows that are in a tree: how many, the sum of their counts, and that of their weights in units."""

    n_rows: int
    counts: int
    base: int

    def __add__(self, other: object) -> DrawSize:
        if not isinstance(other, DrawSize):
            return NotImplemented
        return DrawSize(self.n_rows + other.n_rows, self.counts + other.counts, self.base + other.base)


class Sums(list[int]):
    """Sums of the logs of factors, which are added one by one."""

    def __add__(self, other: list[int]) -> Sums:  # type: ignore[override]
        return Sums(a + b for a, b in zip(self, other, strict=True))


@dataclass(frozen=True)
class TreeDraw:
    """The counts of rows in one tree."""

    seed: int
    tree: int
    factor: float
    weight_unit: float  # of the weights of the rows
    unit: float = 1.0  # of counts: larger than 1 where weights are huge
    all_rows: bool = False  # every row counts, since none would by chance

    @classmethod
    def of(cls, plan: ForestPlan, tree: int, grids: Grids) -> Self:
        """The draw of a tree of a forest."""
        heaviest = 1.0 if grids.weight is None else grids.weight.highest
        most = plan.factor * (heaviest + 6 * math.sqrt(heaviest) + 20)
        unit = math.ldexp(1.0, max(0, math.frexp(most)[1] - _COUNT_BITS))
        return cls(plan.seed, tree, plan.factor, grids.weight_unit, unit)

    def counts(self, rows: KeyedRows) -> IntArray:
        """How often each row counts, in units; 0: it is not in the tree."""
        weight = None if rows.weight is None else np.asarray(rows.weight * self.weight_unit, dtype=np.float64)
        if self.all_rows:
            expected = np.full(len(rows), self.factor) if weight is None else self.factor * weight
            return np.maximum(np.rint(expected / self.unit), 1).astype(np.int64)
        drawn = bootstrap_weights(rows.keys, weight, self.seed, self.tree) * (self.factor / self.unit)
        return np.floor(drawn + uniforms_of_rows(rows.keys, self.seed, self.tree, stream=1)).astype(np.int64)

    def rows(self, rows: KeyedRows) -> EncodedRows:
        """The rows of the tree, with their counts as weights."""
        counts = self.counts(rows)
        chosen = np.flatnonzero(counts)
        return EncodedRows(rows.codes[chosen], rows.numbers[chosen], counts[chosen])

    def size(self, rows: KeyedRows) -> DrawSize:
        """The size of the rows of the tree."""
        counts = self.counts(rows)
        in_tree = counts > 0
        n_rows = int(np.count_nonzero(in_tree))
        base = n_rows if rows.weight is None else int(rows.weight[in_tree].sum())
        return DrawSize(n_rows, int(counts.sum()), base)

    def sample_size(self, size: DrawSize) -> SampleSize:
        """The number of rows and their weight in the tree."""
        return SampleSize(size.n_rows, size.counts * self.unit)

    def row_factor(self, size: DrawSize) -> tuple[float, float]:
        """The factor as planned, and as the rows of the tree have it."""
        return self.factor, size.counts * self.unit / (size.base * self.weight_unit)

    def grid(self) -> Grid:
        """The grid of the counts."""
        return Grid(0, self.unit)
