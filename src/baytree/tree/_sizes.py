"""The most probable pruning of a tree with each number of leaves, by one recursion from the leaves up.

    best(node, 1) = log(p_leaf L)
    best(node, k) = log p_split + max over i of (best(left, i) + best(right, k - i))

Two nodes with m and n leaves are joined in m n steps, so that a tree takes time quadratic in its leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .._typing import BoolArray, FloatArray

if TYPE_CHECKING:
    from ._store import TreeStore

TOLERANCE = 1e-9  # log posteriors that differ by less, relative to their size, are equal


class BestPrunings:
    """The most probable prunings of one tree of a store of plain trees, by their number of leaves.

    Parameters
    ----------
    store
        Plain trees.
    tree
        Number of the tree.
    max_leaves
        Largest number of leaves that is looked at. None: that of the tree.
    kept
        Nodes that are not to become leaves.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> from baytree.tree import BestPrunings
    >>> X, y = load_iris(return_X_y=True)
    >>> prunings = BestPrunings(BayesianTreeClassifier().fit(X, y).grown_tree_)
    >>> prunings.log_posterior.round(1).tolist()
    [-170.1, -86.0, -47.9, -48.1]
    >>> sorted(prunings.internal_nodes(2)), prunings.best_size()
    ([0], 3)
    """

    def __init__(
        self, store: TreeStore, tree: int = 0, max_leaves: int | None = None, kept: BoolArray | None = None
    ) -> None:
        self._store = store
        self._root = int(store.roots[tree])
        stop = store.node_count if tree + 1 == store.n_trees else int(store.roots[tree + 1])
        self._best: dict[int, FloatArray] = {}  # by node: entry k - 1 is of k leaves
        as_leaf, most = store.log_leaf, stop if max_leaves is None else max_leaves
        for node in range(stop - 1, self._root - 1, -1):  # children come after their parents
            best = as_leaf[node : node + 1]
            if store.children_left[node] >= 0 and most > 1:
                below = _best_sums(*self._sides(node))[: most - 1]
                best = np.append(best, store.log_prior_split[node] + below)
                if kept is not None and kept[node]:
                    best[0] = -np.inf
            self._best[node] = best

    def _sides(self, node: int) -> tuple[FloatArray, FloatArray]:
        left, right = int(self._store.children_left[node]), int(self._store.children_right[node])
        return self._best[left], self._best[right]

    @property
    def log_posterior(self) -> FloatArray:
        """Log of prior times likelihood of the most probable pruning with 1, 2, 3, ... leaves."""
        return self._best[self._root]

    def best_size(self) -> int:
        """The number of leaves of the most probable pruning, the smallest among equals."""
        return _first_best(self.log_posterior) + 1

    def internal_nodes(self, n_leaves: int) -> list[int]:
        """The nodes that the pruning with so many leaves splits; among equals the left side has the fewest leaves."""
        result, waiting = [], [(self._root, n_leaves)]
        while waiting:
            node, size = waiting.pop()
            if size == 1:
                continue
            left, right = self._sides(node)
            first = max(1, size - len(right))  # leaves on the left
            last = min(len(left), size - 1)
            sums = left[first - 1 : last] + right[size - last - 1 : size - first][::-1]
            on_left = first + _first_best(sums)
            result.append(node)
            waiting.append((int(self._store.children_left[node]), on_left))
            waiting.append((int(self._store.children_right[node]), size - on_left))
        return result


def _best_sums(left: FloatArray, right: FloatArray) -> FloatArray:
    """The highest sum of an entry of each for every total of their positions."""
    short, long = (left, right) if len(left) <= len(right) else (right, left)
    result = np.full(len(left) + len(right) - 1, -np.inf)
    for i, value in enumerate(short):
        part = result[i : i + len(long)]
        np.maximum(part, value + long, out=part)
    return result


def _first_best(values: FloatArray) -> int:
    """The position of the first value that equals the highest but for rounding."""
    best = values.max()
    return int(np.flatnonzero(values >= best - TOLERANCE * (1 + np.abs(best)))[0])
