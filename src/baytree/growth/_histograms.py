"""Histograms: what rows add up to by open node, feature and code, in whole numbers; and the routes to the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import _core
from .._typing import AnyArray, FloatArray, IntArray
from ..tree import Hyperplane, PresentMissing, Threshold, TreeStore

_WHOLE = np.iinfo(np.int64)
WAITS = -2  # a node will be asked for later


@dataclass(frozen=True)
class ColumnBins:
    """The lowest and the highest value of each bin of a column; of one of categories the positions that occur."""

    lows: FloatArray
    highs: FloatArray
    has_missing: bool

    @property
    def middle(self) -> FloatArray:
        """The number that stands for the values of each bin."""
        return np.where(self.lows < self.highs, self.lows / 2 + self.highs / 2, self.lows)

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


def routes_of(tree: TreeStore, bins: tuple[ColumnBins, ...], nodes: IntArray, at_once: int) -> Iterator[Routes]:
    """Routes of rows by their codes to some nodes of a plain tree, so many at a time."""
    goes_lower = [_codes_on_left(tree, node, bins) for node in range(tree.node_count)]
    start = np.cumsum([0, *map(len, goes_lower)])[:-1].astype(np.int64)
    feature = np.where(tree.is_leaf, -1, tree.feature).astype(np.int32)
    lower, upper = tree.children_left.astype(np.int32), tree.children_right.astype(np.int32)
    flat = np.concatenate(goes_lower).astype(np.uint8)
    for first in range(0, len(nodes), at_once):
        chosen = nodes[first : first + at_once]
        number = np.full(tree.node_count, -1, dtype=np.int32)
        number[nodes] = WAITS
        number[chosen] = np.arange(len(chosen))
        yield Routes(feature, lower, upper, start, flat, number, len(chosen))


def _codes_on_left(tree: TreeStore, node: int, bins: tuple[ColumnBins, ...]) -> AnyArray:
    """Whether each code of the feature that a node is split by goes left; nothing in a leaf."""
    if tree.is_leaf[node]:
        return np.zeros(0, dtype=bool)
    split = tree.split(node)
    if isinstance(split, Hyperplane):
        raise TypeError("A hyperplane has no codes.")
    own = bins[split.feature]
    if isinstance(split, PresentMissing):
        left = np.ones(len(own.highs), dtype=bool)
    elif isinstance(split, Threshold):
        # No row that the node was grown on is in a bin that the threshold divides; others count with its middle.
        left = own.middle <= split.threshold
    else:
        left = np.isin(own.highs, split.left) | (split.unseen_left & ~np.isin(own.highs, split.right))
    return np.append(left, split.missing_left) if own.has_missing else left


@dataclass(frozen=True)
class Histograms:
    """For every open node and code: rows, sums of whole numbers of 128 bits, extremes of what tells outcomes apart."""

    rows: IntArray
    sums: IntArray
    low: IntArray
    high: IntArray

    def n_rows(self, codes: slice) -> IntArray:
        """By open node, of some codes."""
        return self.rows[:, codes]

    def sums_of(self, n_codes: int) -> AnyArray:
        """Whole numbers by open node and statistic, added up over the first codes, those of the first column."""
        halves = self.sums[:, :n_codes]
        wide = halves[..., 0].astype(np.uint64).astype(object) + halves[..., 1].astype(object) * 2**64
        return np.asarray(wide.sum(axis=1))

    @property
    def n_bytes(self) -> int:
        """Bytes in memory."""
        return self.rows.nbytes + self.sums.nbytes + self.low.nbytes + self.high.nbytes

    def __add__(self, other: Histograms) -> Histograms:
        total = self.sums.copy()
        _core.add_wide(total, other.sums)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Histograms(self.rows + other.rows, total, low, high)


@dataclass(frozen=True)
class ClassHistograms:
    """The same of classes: for every open node, code and class what the rows weigh, in whole numbers.

    They lie in memory as the source found them, and take 32 bits each where that is enough.
    """

    weights: IntArray
    rows: IntArray | None  # None: as many as they weigh

    def n_rows(self, codes: slice) -> IntArray:
        """By open node, of some codes."""
        return np.asarray(self.weights[:, codes].sum(axis=-1)) if self.rows is None else self.rows[:, codes]

    def sums_of(self, n_codes: int) -> AnyArray:
        """Whole weights by open node and class, added up over the first codes, those of the first column."""
        return np.asarray(self.weights[:, :n_codes].sum(axis=1, dtype=np.int64).astype(object))

    @property
    def n_bytes(self) -> int:
        """Bytes in memory."""
        return self.weights.nbytes + (0 if self.rows is None else self.rows.nbytes)

    def of(self, node: int) -> ClassHistograms:
        """A copy of the sums of one of the open nodes."""
        rows = None if self.rows is None else self.rows[node : node + 1].copy()
        return ClassHistograms(self.weights[node : node + 1].copy(order="K"), rows)

    def room_for(self, n_nodes: int) -> ClassHistograms:
        """Room for the sums of so many nodes, laid out as these are."""
        rows = None if self.rows is None else np.empty((n_nodes, *self.rows.shape[1:]), dtype=np.int64)
        return ClassHistograms(np.empty_like(self.weights, shape=(n_nodes, *self.weights.shape[1:])), rows)

    def put(self, node: int, other: ClassHistograms, of: int) -> None:
        """Put the sums of another's node in the place of one of these."""
        for own, theirs in self._pairs(other):
            own[node] = theirs[of]

    def put_rest(self, node: int, parent: ClassHistograms, other: ClassHistograms, of: int) -> None:
        """Put what a parent, all by itself, has and another's node has not in the place of one of these."""
        for (own, theirs), (_, whole) in zip(self._pairs(other), self._pairs(parent), strict=True):
            np.subtract(whole[0], theirs[of], out=own[node])

    def _pairs(self, other: ClassHistograms) -> list[tuple[IntArray, IntArray]]:
        """Of arrays that both have."""
        rows = [] if self.rows is None or other.rows is None else [(self.rows, other.rows)]
        return [(self.weights, other.weights), *rows]

    def __add__(self, other: ClassHistograms) -> ClassHistograms:
        rows = None if self.rows is None or other.rows is None else self.rows + other.rows
        return ClassHistograms(self.weights + other.weights, rows)
