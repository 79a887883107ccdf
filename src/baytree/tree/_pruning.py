"""Smaller trees from grown ones: the most probable pruning, and the best tree of a limited size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ._choices import NO_CHILD, take_splits
from ._sizes import TOLERANCE, BestPrunings
from ._store import TreeStore


def reduce_trees(
    store: TreeStore, *, prune: bool, max_leaf_nodes: int | None, kept: BoolArray | None = None
) -> TreeStore:
    """Reduce plain trees to their most probable prunings, or to those with a limited number of leaves.

    With `prune` these are the most probable prunings with at most `max_leaf_nodes` leaves. Without, a tree of more
    leaves becomes its most probable pruning with exactly so many. Nodes that are `kept` stay split.
    """
    internal = is_split_better(store) if prune else ~store.is_leaf
    if kept is not None:
        internal = internal | kept
    if max_leaf_nodes is not None:
        internal = _limited(store, internal, max_leaf_nodes, kept, prune=prune)
    return prune_to(store, internal)


def best_of_size(store: TreeStore, n_leaves: int) -> TreeStore:
    """Return the most probable pruning of a plain tree with exactly so many leaves."""
    return reduce_trees(store, prune=False, max_leaf_nodes=n_leaves)


def best_of_each_size(store: TreeStore, max_leaves: int) -> Iterator[TreeStore]:
    """The most probable prunings of a plain tree with 1, 2, 3, ... leaves."""
    prunings = BestPrunings(store, 0, max_leaves)
    for n_leaves in range(1, len(prunings.log_posterior) + 1):
        internal = np.zeros(store.node_count, dtype=bool)
        internal[prunings.internal_nodes(n_leaves)] = True
        yield prune_to(store, internal)


def merge_alike(store: TreeStore, code: IntArray) -> TreeStore:
    """Merge leaves that have one code, where the node above them has it too and has no other leaf below."""
    is_alike = store.is_leaf
    for at in reversed(store.splits_by_depth):
        left, right = store.children_left[at], store.children_right[at]
        is_alike[at] = is_alike[left] & is_alike[right] & (code[left] == code[at]) & (code[right] == code[at])
    return prune_to(store, ~is_alike)


def prune_to(store: TreeStore, internal: BoolArray) -> TreeStore:
    """Keep of these internal nodes those that are connected to a root; other nodes become leaves or go.

    Where a node becomes a leaf, `log_odds_split` is that of the best tree below it against the leaf.
    """
    if np.array_equal(internal, ~store.is_leaf):
        return store
    stays = _reached(store, internal)
    place, kept = np.cumsum(stays) - 1, np.flatnonzero(stays)
    leaf = ~internal[kept]
    arrays = take_splits(store, np.where(leaf, -1, kept))
    for name in ("children_left", "children_right"):
        children = getattr(store, name)
        arrays[name] = np.where(leaf, NO_CHILD, place[children[kept]]).astype(children.dtype)
    for name in ("depth", "n_node_samples", "log_prior_leaf", "feature_posterior"):
        array = getattr(store, name)
        arrays[name] = array.take(kept, axis=0) if len(array) else array
    odds = np.where(internal | store.is_leaf, store.log_odds_split, best_split(store) - store.log_leaf)
    arrays["log_odds_split"] = odds.take(kept).astype(store.log_odds_split.dtype)
    arrays["choice_start"] = np.arange(len(kept) + 1, dtype=store.choice_start.dtype)
    if "n_missing" in arrays and not arrays["n_missing"].any():
        arrays["n_missing"] = None
    return replace(store, leaves=store.leaves.take(kept), roots=place[store.roots], **arrays)


def best_split(store: TreeStore) -> FloatArray:
    """The log posterior of the best pruning below each node of plain trees that splits it; -inf for a leaf.

    The recursion of the evidence with max in place of the sum, from the leaves up.
    """
    best, as_tree = store.log_leaf.copy(), np.full(store.node_count, -np.inf)
    for at in reversed(store.splits_by_depth):
        as_tree[at] = store.log_prior_split[at] + best[store.children_left[at]] + best[store.children_right[at]]
        best[at] = np.maximum(best[at], as_tree[at])
    return as_tree


def is_split_better(store: TreeStore) -> BoolArray:
    """Whether each node of plain trees is more probable with the best pruning below it than as a leaf."""
    as_leaf = store.log_leaf
    return np.asarray(best_split(store) > as_leaf + TOLERANCE * (1 + np.abs(as_leaf)))  # rounding does not decide


def _limited(
    store: TreeStore, internal: BoolArray, max_leaf_nodes: int, kept: BoolArray | None, *, prune: bool
) -> BoolArray:
    """The nodes to split if trees of too many leaves have the best ones of the sizes that are allowed."""
    internal = internal & _reached(store, internal)
    n_splits = np.bincount(store.tree_of_node[internal], minlength=store.n_trees)
    for tree in np.flatnonzero(n_splits >= max_leaf_nodes).tolist():
        prunings = BestPrunings(store, tree, max_leaf_nodes, kept)
        internal[store.tree_of_node == tree] = False
        internal[prunings.internal_nodes(prunings.best_size() if prune else max_leaf_nodes)] = True
    return internal


def _reached(store: TreeStore, internal: BoolArray) -> BoolArray:
    """The nodes that are left if only these internal nodes are split."""
    result = np.ones(store.node_count, dtype=bool)
    for at in store.splits_by_depth:
        result[store.children_left[at]] = result[store.children_right[at]] = result[at] & internal[at]
    return result
