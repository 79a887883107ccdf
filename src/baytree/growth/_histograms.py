"""Histograms: integer sums over the rows of each open node, feature and code; and the routes of rows to the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from .. import _core
from .._typing import AnyArray, IntArray
from ..tree import Hyperplane, PresentMissing, Threshold, TreeStore
from ._binning import ColumnBins
from ._other_rows import other_rows

WAITING = -2  # an open node whose histograms are asked for later
_MAX_PARENT_BYTES = 2**28  # of the histograms of parents


@dataclass(frozen=True)
class Routes:
    """The way of rows down a tree by their codes; see cpp/core/growth/levels.hpp."""

    feature: AnyArray
    lower: AnyArray
    upper: AnyArray
    start: AnyArray
    goes_lower: AnyArray
    open: AnyArray  # for each node: its number in the histograms; WAITING where it is open but not asked for; else -1
    n_open: int
    by_level: bool = True  # the tree grows by a level from one call to the next


def routes_to(tree: TreeStore, bins: tuple[ColumnBins, ...], nodes: IntArray, at_once: int) -> Iterator[Routes]:
    """Routes of rows to some nodes of a plain tree, `at_once` nodes at a time."""
    goes_lower = [_codes_on_left(tree, node, bins) for node in range(tree.node_count)]
    start = np.cumsum([0, *map(len, goes_lower)])[:-1].astype(np.int64)
    feature = np.where(tree.is_leaf, -1, tree.feature).astype(np.int32)
    lower, upper = tree.children_left.astype(np.int32), tree.children_right.astype(np.int32)
    flat = np.concatenate(goes_lower).astype(np.uint8)
    for first in range(0, len(nodes), at_once):
        chosen = nodes[first : first + at_once]
        number = np.full(tree.node_count, -1, dtype=np.int32)
        number[nodes] = WAITING
        number[chosen] = np.arange(len(chosen))
        yield Routes(feature, lower, upper, start, flat, number, len(chosen), by_level=False)


def _codes_on_left(tree: TreeStore, node: int, bins: tuple[ColumnBins, ...]) -> AnyArray:
    """Whether each code of the feature that a node splits goes left; empty for a leaf."""
    if tree.is_leaf[node]:
        return np.zeros(0, dtype=bool)
    split = tree.split(node)
    if isinstance(split, Hyperplane):
        raise TypeError("A hyperplane has no codes.")
    column = bins[split.feature]
    if isinstance(split, PresentMissing):
        left = np.ones(len(column.highs), dtype=bool)
    elif isinstance(split, Threshold):
        # No row that the node was grown on is in a bin that the threshold divides; other rows count as its midpoint.
        left = column.middle <= split.threshold
    else:
        left = np.isin(column.highs, split.left) | (split.unseen_left & ~np.isin(column.highs, split.right))
    return np.append(left, split.missing_left) if column.has_missing else left


@dataclass(frozen=True)
class Histograms:
    """Sums of numbers for every open node and code: row counts, sums in 128 bits, and the extremes of the outcomes."""

    rows: IntArray
    sums: IntArray
    low: IntArray
    high: IntArray

    def n_rows(self, codes: slice) -> IntArray:
        """The number of rows of each open node and of each of some codes."""
        return self.rows[:, codes]

    def totals(self, n_codes: int) -> AnyArray:
        """The sums of each open node, as Python integers; the first column has `n_codes` codes."""
        halves = self.sums[:, :n_codes]
        wide = halves[..., 0].astype(np.uint64).astype(object) + halves[..., 1].astype(object) * 2**64
        return np.asarray(wide.sum(axis=1))

    @property
    def n_bytes(self) -> int:
        """The size in memory."""
        return self.rows.nbytes + self.sums.nbytes + self.low.nbytes + self.high.nbytes

    def __add__(self, other: Histograms) -> Histograms:
        total = self.sums.copy()
        _core.add_wide(total, other.sums)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Histograms(self.rows + other.rows, total, low, high)


@dataclass(frozen=True)
class ClassHistograms:
    """Total integer weights for every open node, code and class.

    The arrays have the memory layout that the source gave them, and integers of 32 bits where these suffice.
    """

    weights: IntArray
    rows: IntArray | None  # None where every row has weight 1

    def n_rows(self, codes: slice) -> IntArray:
        """The number of rows of each open node and of each of some codes."""
        return np.asarray(self.weights[:, codes].sum(axis=-1)) if self.rows is None else self.rows[:, codes]

    def totals(self, n_codes: int) -> AnyArray:
        """The weight of each class in each open node, as Python integers; the first column has `n_codes` codes."""
        return np.asarray(self.weights[:, :n_codes].sum(axis=1, dtype=np.int64).astype(object))

    @property
    def n_bytes(self) -> int:
        """The size in memory."""
        return self.weights.nbytes + (0 if self.rows is None else self.rows.nbytes)

    def copy_of(self, node: int) -> ClassHistograms:
        """A copy of the histograms of one open node."""
        rows = None if self.rows is None else self.rows[node : node + 1].copy()
        return ClassHistograms(self.weights[node : node + 1].copy(order="K"), rows)

    def empty_like(self, n_nodes: int) -> ClassHistograms:
        """Uninitialised histograms of `n_nodes` nodes, of the same memory layout."""
        rows = None if self.rows is None else np.empty((n_nodes, *self.rows.shape[1:]), dtype=np.int64)
        return ClassHistograms(np.empty_like(self.weights, shape=(n_nodes, *self.weights.shape[1:])), rows)

    def assign(self, node: int, other: ClassHistograms, other_node: int) -> None:
        """Copy the histograms of a node of `other` to one of these nodes."""
        for to, source in self._pairs(other):
            to[node] = source[other_node]

    def assign_difference(self, node: int, parent: ClassHistograms, other: ClassHistograms, sibling: int) -> None:
        """Write the difference between a parent and a node of `other`, the sibling, to one of these nodes."""
        for (to, source), (_, total) in zip(self._pairs(other), self._pairs(parent), strict=True):
            np.subtract(total[0], source[sibling], out=to[node])
            if to[node].min() < 0:  # the sibling has rows that the parent lacks
                raise other_rows("a child of a node has rows that the node does not have")

    def _pairs(self, other: ClassHistograms) -> list[tuple[IntArray, IntArray]]:
        """Pairs of the arrays that both have."""
        rows = [] if self.rows is None or other.rows is None else [(self.rows, other.rows)]
        return [(self.weights, other.weights), *rows]

    def __add__(self, other: ClassHistograms) -> ClassHistograms:
        rows = None if self.rows is None or other.rows is None else self.rows + other.rows
        return ClassHistograms(self.weights + other.weights, rows)


@dataclass
class Subtraction:
    """Histogram subtraction: the histograms of a child are those of its parent less those of its sibling."""

    first: IntArray  # position of the first code of each column, and the end
    # The sibling of each node that is not counted, and the histograms of their parent.
    derivable: dict[int, tuple[int, ClassHistograms]] = field(default_factory=dict, init=False)

    def add_parents(self, histograms: ClassHistograms, nodes: IntArray, routes: Routes) -> None:
        """Keep the histograms of nodes with two open children; the child of more rows need not be counted."""
        room = _MAX_PARENT_BYTES - sum(parent.n_bytes for _, parent in self.derivable.values())
        for place, node in enumerate(nodes.tolist()):
            feature, lower, upper = (int(array[node]) for array in (routes.feature, routes.lower, routes.upper))
            room -= histograms.n_bytes // len(nodes)
            if feature < 0 or -1 in (routes.open[lower], routes.open[upper]) or room < 0:
                continue
            parent = histograms.copy_of(place)
            rows = parent.n_rows(slice(*self.first[feature : feature + 2]))[0]
            goes_lower = routes.goes_lower[routes.start[node] :][: len(rows)].astype(bool)
            smaller, larger = (lower, upper) if 2 * rows[goes_lower].sum() <= rows.sum() else (upper, lower)
            self.derivable[larger] = smaller, parent

    def nodes_to_count(self, nodes: IntArray) -> IntArray:
        """The nodes, of some, whose rows must be counted."""
        chosen = set(nodes.tolist())
        return np.array([node for node in nodes.tolist() if self.derivable.get(node, (-1,))[0] not in chosen])

    def complete(self, histograms: ClassHistograms, counted: IntArray, nodes: IntArray) -> ClassHistograms:
        """Derive the histograms of all nodes from those of the counted ones."""
        place = {node: i for i, node in enumerate(counted.tolist())}
        result = histograms.empty_like(len(nodes))
        for i, node in enumerate(nodes.tolist()):
            sibling, parent = self.derivable.pop(node, (-1, None))
            if node in place:
                result.assign(i, histograms, place[node])
            elif parent is not None:
                result.assign_difference(i, parent, histograms, place[sibling])
        return result
