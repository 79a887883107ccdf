"""Routing of rows in a tree store: to one leaf below each root, or to several nodes by shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .. import _core
from .._typing import AnyArray, FloatArray, IntArray
from ..table import Rows
from ._choices import take_splits

if TYPE_CHECKING:
    from ._store import TreeStore

_ROWS_AT_ONCE = 4096  # whose weights on all nodes are in memory together
_WHOLE = ("feature", "category_start", "category", "hyperplane_start", "hyperplane_feature")
_AS_THEY_ARE = (
    "kind",
    "threshold",
    "missing_go_to_left",
    "unseen_go_to_left",
    "category_goes_left",
    "hyperplane_coefficient",
    "hyperplane_missing_value",
)


class Routing:
    """Sends rows through a store; its arrays are checked and laid out for the compiled core once."""

    def __init__(self, store: TreeStore) -> None:
        self.store = store

    def leaf(self, rows: Rows, n_threads: int = 1) -> tuple[IntArray, bool]:
        """The leaf that each row falls into below the only root, and whether no value is infinite."""
        return _concatenate([self._tree.route(part, rows.column_of, n_threads) for part in rows.dense_parts()])

    def leaf_of_matrix(self, X: FloatArray, n_threads: int = 1) -> IntArray:
        """The leaf that each row of a dense float64 matrix falls into."""
        return self._tree.route(X, None, n_threads)[0]

    def count_missing(self, rows: Rows, n_threads: int = 1) -> IntArray:
        """How many rows come to each node below the only root without a value of its feature."""
        counts = np.zeros(self.store.node_count, dtype=np.int64)
        for part in rows.dense_parts():
            counts += np.asarray(self._tree.count_missing(part, rows.column_of, n_threads))
        return counts

    def leaves(self, rows: Rows, n_threads: int = 1) -> tuple[AnyArray, bool]:
        """The leaf of each row below each root, shape (n_rows, n_trees), and whether no value is infinite."""
        return _concatenate([self._forest.leaves(part, rows.column_of, n_threads) for part in rows.dense_parts()])

    def mean(self, rows: Rows, n_threads: int = 1) -> tuple[FloatArray, bool]:
        """The mean over the roots of the values of constant leaves, and whether no value of the rows is infinite."""
        return _concatenate([self._forest.mean(part, rows.column_of, n_threads) for part in rows.dense_parts()])

    def weights(self, rows: Rows, n_threads: int = 1) -> Iterator[sparse.csr_matrix]:
        """The share of each row that ends in each node, (n_rows, n_nodes), some rows at a time; roots count alike."""
        n_trees, n_nodes = self.store.n_trees, [graph[0] for graph in self._graphs]
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows.take(first, first + _ROWS_AT_ONCE).dense()
            below = []
            for n, (_, router) in zip(n_nodes, self._graphs, strict=True):
                start, node, weight = router.weigh(part, rows.column_of, n_threads)
                below.append(sparse.csr_matrix((weight / n_trees, node, start), shape=(len(part), n)))
            yield below[0] if len(below) == 1 else sparse.hstack(below, format="csr")

    @cached_property
    def _tree(self) -> _core.Router:
        store = self.store
        return _core.Router(**_split_arrays(store.arrays()), **_children(store), n_features=store.n_features)

    def for_scoring(self) -> _core.TreeStructure:
        """Convert a single tree, whose nodes are in depth-first order, for scoring in the compiled core."""
        n = self.store.node_count
        return core_structure(self.store, np.full(n, -2, dtype=np.int64), [()] * n)

    @cached_property
    def _forest(self) -> _core.ForestRouter:
        store = self.store
        return _core.ForestRouter(
            **_split_arrays(store.arrays()),
            **_children(store),
            tree_start=np.append(store.roots, store.node_count).astype(np.int64),
            value=np.ascontiguousarray(store.leaves.value).ravel(),
            n_features=store.n_features,
        )

    @cached_property
    def shapley(self) -> list[tuple[slice, _core.Shapley]]:
        """The nodes below each root, and what computes the contributions of features there."""
        store = self.store
        ends = np.append(store.roots, store.node_count).tolist()
        choices = np.append(store.choice_start[store.roots], store.n_choices)
        parts = ((t, store.evidence.choice_share[choices[t] : choices[t + 1]]) for t in range(store.n_trees))
        return [(slice(ends[t], ends[t + 1]), _shapley(store.tree(t), share)) for t, share in parts]

    @cached_property
    def _graphs(self) -> list[tuple[int, _core.SpaceRouter]]:
        """A router below each root, with the number of nodes there."""
        share = self.store.evidence.choice_share
        choices = np.append(self.store.choice_start[self.store.roots], self.store.n_choices)
        return [
            _graph_router(self.store.tree(t), share[choices[t] : choices[t + 1]]) for t in range(self.store.n_trees)
        ]


def core_structure(store: TreeStore, grow: IntArray, forbidden: Sequence[Sequence[int]]) -> _core.TreeStructure:
    """Convert a single tree, with the growth below each node (-2: none) and the columns forbidden in its subtree."""
    return _core.TreeStructure(
        **_split_arrays(store.arrays()),
        **_children(store),
        grow=grow,
        forbidden_start=np.cumsum([0, *map(len, forbidden)]).astype(np.int64),
        forbidden=np.array([feature for features in forbidden for feature in features], dtype=np.int64),
        n_features=store.n_features,
    )


def _graph_router(store: TreeStore, share: FloatArray) -> tuple[int, _core.SpaceRouter]:
    return store.node_count, _core.SpaceRouter(**_graph_arrays(store, share))


def _shapley(store: TreeStore, share: FloatArray) -> _core.Shapley:
    splits, weight = np.flatnonzero(~store.is_leaf), store.weighted_n_node_samples
    left, right = (weight[children[splits]] for children in (store.children_left, store.children_right))
    return _core.Shapley(**_graph_arrays(store, share), left_share=left / (left + right))


def _graph_arrays(store: TreeStore, share: FloatArray) -> dict[str, Any]:
    splits, none, n = np.flatnonzero(~store.is_leaf), np.flatnonzero(store.is_leaf), store.node_count
    return {
        **_split_arrays(take_splits(store, splits)),
        **{name: array[splits] for name, array in _children(store).items()},
        "choice_start": np.append(0, np.cumsum(np.bincount(store.owner[splits], minlength=n))).astype(np.int64),
        "leaf_share": np.bincount(store.owner[none], weights=share[none], minlength=n).astype(np.float64),
        "choice_share": share[splits],
        "n_features": store.n_features,
    }


def _split_arrays(splits: dict[str, Any]) -> dict[str, Any]:
    """The arrays of splits that tell where rows go; whole numbers of a forest are narrower than the core reads."""
    whole = {name: splits[name].astype(np.int64, copy=False) for name in _WHOLE}
    return whole | {name: splits[name] for name in _AS_THEY_ARE}


def _children(store: TreeStore) -> dict[str, Any]:
    return {name: getattr(store, name).astype(np.int64, copy=False) for name in ("children_left", "children_right")}


def _concatenate(parts: list[tuple[AnyArray, bool]]) -> tuple[AnyArray, bool]:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([part for part, _ in parts]), all(finite for _, finite in parts)
