"""How many training rows lack the value that a split asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from .._typing import AnyArray, FloatArray, IntArray
from ..table import Rows
from ..tree import TreeStore, sum_from_leaves

if TYPE_CHECKING:
    from ._binning import ColumnBins
    from ._encoded_rows import EncodedRows

RowsWithout = Callable[[int], Rows]  # the rows that lack a feature, by its position


def count_missing(tree: TreeStore, rows_without: RowsWithout) -> TreeStore:
    """Count the rows with a missing value at each split of a single tree that has any; only those rows are routed."""
    if not tree.has_missing.any():
        return replace(tree, n_missing=None)
    counts = np.zeros(tree.node_count, dtype=np.int64)
    for feature in np.unique(tree.feature[tree.has_missing]).tolist():
        rows = rows_without(feature)
        leaf = tree.routing.leaf(rows)[0] if len(rows) else np.zeros(0, dtype=np.int64)
        in_leaves = np.bincount(leaf, minlength=tree.node_count)[tree.is_leaf]
        structure = tree.children_left, tree.children_right, tree.depth
        at_nodes = sum_from_leaves(in_leaves[:, None].astype(np.float64), *structure)[:, 0]
        asks = tree.has_missing & (tree.feature == feature)
        counts[asks] = at_nodes[asks].astype(np.int64)
    return replace(tree, n_missing=counts)


def rows_without(rows: Rows, feature: int) -> Rows:
    """The rows of a table that lack a feature."""
    column = rows.matrix[:, [feature]]
    values: FloatArray = column.toarray()[:, 0] if sparse.issparse(column) else column[:, 0]
    return rows.select(np.flatnonzero(np.isnan(values)))


def encoded_rows_without(rows: EncodedRows, bins: tuple[ColumnBins, ...], feature: int) -> Rows:
    """The encoded rows that lack a feature, each value at the midpoint of its bin."""
    if not bins[feature].has_missing:
        return Rows(np.zeros((0, len(bins))))
    lacks = np.flatnonzero(rows.codes[:, feature] == len(bins[feature].highs))
    return Rows(rows.take(lacks).matrix(bins))


class LevelCounts:
    """Counts the missing values at each split while a tree grows level by level, from the histograms of its nodes."""

    def __init__(self, first: IntArray, has_missing: list[bool]) -> None:
        self._last_code = first[1:] - 1  # of each column: that of a missing value, where it has one
        self._has_missing = has_missing
        self._counts: dict[int, int] = {}

    def add(self, nodes: IntArray, n_rows: Callable[[slice], IntArray], feature: AnyArray) -> None:
        """Add nodes whose splits are known now; `n_rows` gives the rows by node of some codes."""
        for place, node in enumerate(nodes.tolist()):
            column = int(feature[node])
            if column >= 0 and self._has_missing[column]:
                code = int(self._last_code[column])
                self._counts[node] = int(n_rows(slice(code, code + 1))[place].sum())

    def depth_first(self, feature: AnyArray, lower: AnyArray, upper: AnyArray) -> IntArray:
        """The counts in the order of the finished tree: a node, what is below its lower child, then the rest."""
        counts, stack = [], [0]
        while stack:
            node = stack.pop()
            counts.append(self._counts.get(node, 0))
            if feature[node] >= 0:
                stack += [int(upper[node]), int(lower[node])]
        return np.array(counts, dtype=np.int64)
