"""The trees of a forest: the leaves of rows as weights, and the posterior over features of one of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse, special

from .._typing import AnyArray, FloatArray
from ..tree import TreeStore


def weights_of_leaves(leaves: AnyArray, by_tree: FloatArray | None, n_nodes: int) -> sparse.csr_matrix:
    """Rows that are in one leaf of each tree, as a sparse matrix of shape (n_rows, n_nodes)."""
    n_rows, n_trees = leaves.shape
    if by_tree is None:
        start, weights = n_trees * np.arange(n_rows + 1), np.full(leaves.size, 1 / n_trees)
        return sparse.csr_matrix((weights, leaves.ravel(), start), shape=(n_rows, n_nodes))
    counts = by_tree > 0
    n_counted = counts.sum(axis=1)
    weights = by_tree[counts] / np.repeat(by_tree.sum(axis=1, dtype=np.float64), n_counted)
    start = np.append(0, np.cumsum(n_counted))
    return sparse.csr_matrix((weights, leaves[counts], start), shape=(n_rows, n_nodes))


def with_feature_posterior(tree: TreeStore) -> TreeStore:
    """A tree that did not keep its posterior over features, with what its odds give: the split against no split."""
    if len(tree.feature_posterior) or not len(tree.log_odds_split):
        return tree
    odds, is_leaf = tree.log_odds_split.astype(np.float64), tree.is_leaf
    share = np.where(np.isfinite(odds), special.expit(odds), 0.0)
    features = np.zeros((tree.node_count, tree.n_features + 1))
    features[:, -1] = np.where(is_leaf, 1.0, 1.0 - share)
    features[np.flatnonzero(~is_leaf), tree.feature[~is_leaf]] = share[~is_leaf]
    return replace(tree, feature_posterior=features)
