"""How many training rows lack the value that a split asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from .._typing import AnyArray, IntArray
from ..table import Rows
from ..tree import TreeStore

if TYPE_CHECKING:
    from ._binning import ColumnBins
    from ._encoded_rows import EncodedRows

_ROWS_AT_ONCE = 2**16  # that are decoded together


def count_missing(tree: TreeStore, parts_without: Callable[[IntArray], Iterator[Rows]], n_threads: int) -> TreeStore:
    """Count the rows with a missing value at each split of a single tree that has any.

    `parts_without` gives at least the rows that lack one of some features, by the positions of these.
    """
    if not tree.has_missing.any():
        return replace(tree, n_missing=None)
    counts = np.zeros(tree.node_count, dtype=np.int64)
    for rows in parts_without(np.unique(tree.feature[tree.has_missing])):
        counts += tree.routing.count_missing(rows, n_threads)
    return replace(tree, n_missing=np.where(tree.has_missing, counts, 0))


def encoded_parts_without(rows: EncodedRows, bins: tuple[ColumnBins, ...], features: IntArray) -> Iterator[Rows]:
    """The encoded rows that lack one of some features, some at a time, each value at the midpoint of its bin."""
    lacking = [feature for feature in features.tolist() if bins[feature].has_missing]
    codes = [len(bins[feature].highs) for feature in lacking]
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        part = rows.take(slice(first, first + _ROWS_AT_ONCE))
        yield Rows(part.take((part.codes[:, lacking] == codes).any(axis=1)).matrix(bins))


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
