"""Smaller trees from grown ones: the most probable pruning, and the best tree of a limited size."""

from __future__ import annotations

import heapq
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray
from ._choices import NO_CHILD, take_splits
from ._heaps import pop_best
from ._store import TreeStore

TOLERANCE = 1e-9  # log posteriors that differ by less, relative to their size, are equal


def most_probable_pruning(store: TreeStore) -> TreeStore:
    """Return every plain tree, or the pruning of it with the highest log posterior; of equals the smallest.

    The recursion of the evidence with max in place of the sum, from the leaves up. Where a node becomes a leaf,
    `log_odds_split` is that of the best tree below it against the leaf.
    """
    as_leaf = store.log_leaf
    best, as_tree = as_leaf.copy(), np.full(store.node_count, -np.inf)
    for at in reversed(store.splits_by_depth):
        as_tree[at] = store.log_prior_split[at] + best[store.children_left[at]] + best[store.children_right[at]]
        best[at] = np.maximum(best[at], as_tree[at])
    kept = as_tree > as_leaf + TOLERANCE * (1 + np.abs(as_leaf))  # rounding does not decide
    if np.array_equal(kept, ~store.is_leaf):
        return store
    pruned = ~kept & ~store.is_leaf
    return pruned_to(store, kept, np.where(pruned, as_tree - as_leaf, store.log_odds_split))


def prune_to_leaf_count(store: TreeStore, max_leaf_nodes: int) -> TreeStore:
    """Return plain trees of at most that many leaves, split where the log posterior gains most, best first.

    A node's modal partition does not depend on the order of growth, so growing best-first is choosing, in the full
    tree, which internal nodes to keep.
    """
    leaf = store.log_leaf
    splits = store.internal_nodes
    gain = np.full(store.node_count, -np.inf)
    gain[splits] = store.log_prior_split[splits] - leaf[splits]
    gain[splits] += leaf[store.children_left[splits]] + leaf[store.children_right[splits]]
    kept = np.zeros(store.node_count, dtype=bool)
    for root in store.roots.tolist():
        frontier: list[tuple[Any, ...]] = [(-gain[root], root)] if store.children_left[root] != NO_CHILD else []
        for _ in range(max_leaf_nodes - 1):
            if not frontier:
                break
            _, node = pop_best(frontier)
            kept[node] = True
            for child in (int(store.children_left[node]), int(store.children_right[node])):
                if store.children_left[child] != NO_CHILD:
                    heapq.heappush(frontier, (-gain[child], child))
    return store if np.array_equal(kept, ~store.is_leaf) else pruned_to(store, kept, store.log_odds_split)


def pruned_to(store: TreeStore, internal: BoolArray, log_odds_split: AnyArray) -> TreeStore:
    """Keep of these internal nodes those that are connected to a root; other nodes become leaves or go."""
    stays = np.ones(store.node_count, dtype=bool)
    for at in store.splits_by_depth:
        stays[store.children_left[at]] = stays[store.children_right[at]] = stays[at] & internal[at]
    place, kept = np.cumsum(stays) - 1, np.flatnonzero(stays)
    leaf = ~internal[kept]
    arrays = take_splits(store, np.where(leaf, -1, kept))
    for name in ("children_left", "children_right"):
        children = getattr(store, name)
        arrays[name] = np.where(leaf, NO_CHILD, place[children[kept]]).astype(children.dtype)
    for name in ("depth", "n_node_samples", "log_prior_leaf", "feature_posterior"):
        array = getattr(store, name)
        arrays[name] = array.take(kept, axis=0) if len(array) else array
    arrays["log_odds_split"] = log_odds_split.take(kept).astype(store.log_odds_split.dtype)
    arrays["choice_start"] = np.arange(len(kept) + 1, dtype=store.choice_start.dtype)
    return replace(store, leaves=store.leaves.take(kept), roots=place[store.roots], **arrays)
