"""What is asked of rows that live elsewhere, and what they answer: bins, routes and sums of whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from .._typing import AnyArray, FloatArray, IntArray

_WHOLE = np.iinfo(np.int64)
WAITS = -2  # a node will be asked for later


@dataclass(frozen=True)
class ColumnBins:
    """The lowest and the highest value of each bin of a column; of one of categories the positions that occur."""

    lows: FloatArray
    highs: FloatArray
    has_missing: bool

    @property
    def n_codes(self) -> int:
        """Bins, and one for missing values."""
        return len(self.highs) + self.has_missing

    @property
    def ends(self) -> FloatArray:
        """Where each bin ends: halfway to the next, as thresholds are, so that no value is between two bins."""
        upper, lower = self.lows[1:], self.highs[:-1]
        with np.errstate(over="ignore", invalid="ignore"):
            distance = upper - lower
            halfway = np.where(np.isfinite(distance), lower + distance / 2, lower / 2 + upper / 2)
        return np.append(np.where((halfway >= lower) & (halfway < upper), halfway, lower), np.inf)[: len(self.highs)]


@dataclass(frozen=True)
class Routes:
    """How rows go down a tree by their codes: see cpp/core/growth/levels.hpp."""

    feature: AnyArray
    lower: AnyArray
    upper: AnyArray
    start: AnyArray
    goes_lower: AnyArray
    open: AnyArray  # by node: its number among those that are asked for, WAITS where it is open too, or -1
    n_open: int


@dataclass(frozen=True)
class Sums:
    """For every open node and code: rows, sums of whole numbers of 128 bits, extremes of what tells outcomes apart."""

    rows: IntArray
    sums: IntArray
    low: IntArray
    high: IntArray

    def n_rows(self, codes: slice) -> IntArray:
        """By open node, of some codes."""
        return self.rows[:, codes]

    @property
    def n_bytes(self) -> int:
        """What it takes in memory."""
        return self.rows.nbytes + self.sums.nbytes + self.low.nbytes + self.high.nbytes

    def __add__(self, other: Sums) -> Sums:
        total = self.sums.copy()
        _core.add_wide(total, other.sums)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Sums(self.rows + other.rows, total, low, high)


@dataclass(frozen=True)
class ClassSums:
    """The same of classes: for every open node, code and class what the rows weigh, in whole numbers.

    They lie in memory as the source found them, and take 32 bits each where that is enough.
    """

    weights: IntArray
    rows: IntArray | None  # None: as many as they weigh

    def n_rows(self, codes: slice) -> IntArray:
        """By open node, of some codes."""
        return np.asarray(self.weights[:, codes].sum(axis=-1)) if self.rows is None else self.rows[:, codes]

    @property
    def n_bytes(self) -> int:
        """What it takes in memory."""
        return self.weights.nbytes + (0 if self.rows is None else self.rows.nbytes)

    def of(self, node: int) -> ClassSums:
        """A copy of the sums of one of the open nodes."""
        rows = None if self.rows is None else self.rows[node : node + 1].copy()
        return ClassSums(self.weights[node : node + 1].copy(order="K"), rows)

    def room_for(self, n_nodes: int) -> ClassSums:
        """Room for the sums of so many nodes, laid out as these are."""
        rows = None if self.rows is None else np.empty((n_nodes, *self.rows.shape[1:]), dtype=np.int64)
        return ClassSums(np.empty_like(self.weights, shape=(n_nodes, *self.weights.shape[1:])), rows)

    def put(self, node: int, other: ClassSums, of: int) -> None:
        """Put the sums of another's node in the place of one of these."""
        for own, theirs in self._pairs(other):
            own[node] = theirs[of]

    def put_rest(self, node: int, parent: ClassSums, other: ClassSums, of: int) -> None:
        """Put what a parent, all by itself, has and another's node has not in the place of one of these."""
        for (own, theirs), (_, whole) in zip(self._pairs(other), self._pairs(parent), strict=True):
            np.subtract(whole[0], theirs[of], out=own[node])

    def _pairs(self, other: ClassSums) -> list[tuple[IntArray, IntArray]]:
        """Of arrays that both have."""
        rows = [] if self.rows is None or other.rows is None else [(self.rows, other.rows)]
        return [(self.weights, other.weights), *rows]

    def __add__(self, other: ClassSums) -> ClassSums:
        rows = None if self.rows is None or other.rows is None else self.rows + other.rows
        return ClassSums(self.weights + other.weights, rows)
