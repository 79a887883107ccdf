"""A tree of a forest as a tree by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import special

from ..tree import TreeStore


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
