"""From an encoded table to a tree: the call of the compiled core and the reading of its answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from . import _core
from ._typing import FloatArray, IntArray
from .outcomes import Outcome, Target
from .priors import PartitionPrior
from .tree import LEAF, UNDEFINED, Tree

# Nodes of up to this many rows are grown as subtrees, on sorted lists; larger ones on histograms of this
# many bins. The tree does not depend on either.
SUBTREE_ROWS = 32768
N_BINS = 256


def encode_table(X: FloatArray, n_threads: int) -> _core.Columns:
    """Encode the columns of a table; short ones need no bins."""
    return _core.encode(X, N_BINS if len(X) > SUBTREE_ROWS else 0, n_threads)


@dataclass(frozen=True)
class Growth:
    """Everything but the data that decides which tree is grown."""

    partition_prior: PartitionPrior
    feature_weight: FloatArray
    smoothing: float
    max_depth: int | None
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    max_leaf_nodes: int | None
    n_threads: int

    def limits(self) -> _core.Limits:
        """Limits on single nodes, in the compiled core's form."""
        return _core.Limits(self.max_depth, self.min_samples_leaf, self.min_weight_fraction_leaf)


def midpoint(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return thresholds t with ``lower <= t < upper``, halfway where float64 allows it."""
    with np.errstate(over="ignore"):
        distance = upper - lower
        halfway = np.where(np.isfinite(distance), lower + distance / 2, lower / 2 + upper / 2)
    # Halfway between neighbouring floats rounds to one of them; only the lower one may be a threshold.
    return np.where((halfway >= lower) & (halfway < upper), halfway, lower)


def grow_tree(X: FloatArray, columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth) -> Tree:
    """Grow the greedy-modal tree of a table whose columns are encoded."""
    nodes = _core.grow(
        X,
        columns,
        outcome.to_core(target),
        outcome.core_prior().tolist(),
        growth.partition_prior.to_core(growth.feature_weight),
        growth.limits(),
        growth.smoothing,
        SUBTREE_ROWS,
        growth.n_threads,
    )
    leaf = nodes["lower"] == LEAF
    feature = nodes["feature"].astype(np.int64)
    column = np.where(leaf, 0, feature)
    threshold = midpoint(X[nodes["lower_row"], column], X[nodes["upper_row"], column])
    n_rows = nodes["n_rows"]
    prior = outcome.prior_from_core(nodes["prior"])
    posterior = outcome.update(prior, nodes["statistics"])
    weight = outcome.weights(nodes["statistics"])
    tree = Tree(
        children_left=nodes["lower"],
        children_right=nodes["upper"],
        feature=np.where(leaf, UNDEFINED, feature),
        threshold=np.where(leaf, float(UNDEFINED), threshold),
        missing_go_to_left=~leaf & (n_rows[nodes["lower"]] > n_rows[nodes["upper"]]),
        value=outcome.mean(posterior)[:, None, :],
        n_node_samples=n_rows,
        weighted_n_node_samples=weight,
        depth=nodes["depth"],
        prior=prior,
        posterior=posterior,
        log_likelihood=outcome.log_likelihood_from_core(nodes["log_likelihood"], weight),
        log_likelihood_split=outcome.log_likelihood_from_core(nodes["log_likelihood_split"], weight),
        log_prior_leaf=nodes["log_prior_leaf"],
        log_prior_split=nodes["log_prior_split"],
        log_odds_split=nodes["log_odds_split"],
        feature_posterior=nodes["feature_posterior"],
    )
    return tree if growth.max_leaf_nodes is None else tree.limited_to(growth.max_leaf_nodes)


def update_tree(tree: Tree, leaves: IntArray, target: Target, outcome: Outcome) -> Tree:
    """Add rows to the posteriors of the nodes they pass; what led to the structure stays as it was."""
    statistics = outcome.sum_statistics(target, leaves, tree.node_count)
    n_rows = np.bincount(leaves, minlength=tree.node_count)
    for depth in range(tree.max_depth, 0, -1):
        below = np.flatnonzero(tree.depth == depth)
        above = tree.parents[below]
        np.add.at(statistics, above, statistics[below])
        np.add.at(n_rows, above, n_rows[below])
    posterior = outcome.update(tree.posterior, statistics)
    return replace(
        tree,
        posterior=posterior,
        value=outcome.mean(posterior)[:, None, :],
        n_node_samples=tree.n_node_samples + n_rows,
        weighted_n_node_samples=tree.weighted_n_node_samples + outcome.weights(statistics),
    )
