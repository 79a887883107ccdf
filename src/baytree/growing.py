"""From an encoded table to a tree: the call of the compiled core and the reading of its answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from . import _core
from ._typing import BoolArray, FloatArray, IntArray
from .outcomes import Outcome, Target
from .priors import PartitionPrior
from .space import Space
from .tree import LEAF, Tree

# Nodes of up to this many rows are grown as subtrees, on sorted lists; larger ones on histograms of this
# many bins. The tree does not depend on either.
SUBTREE_ROWS = 32768
N_BINS = 256
# The share of the split that hyperplane cuts have, and how much of the log of their number each pays; docs/oblique.md
# compares.
OBLIQUE_SHARE, OBLIQUE_CHARGE = 0.5, 1.0
# Look-ahead follows so many features of a node, by so many best partitions and a cut in the middle each.
LOOKAHEAD_WIDTH, LOOKAHEAD_PER_FEATURE = 8, 1


def encode_table(X: Any, is_categorical: BoolArray, growth: Growth) -> _core.Columns:
    """Encode the columns of a matrix, dense or sparse; short ones need no bins."""
    n_bins = N_BINS if X.shape[0] > SUBTREE_ROWS else 0
    keep_values = growth.partition_prior.location == "distance" or growth.oblique
    how = (is_categorical.astype(np.uint8), n_bins, keep_values, growth.n_threads)
    if not sparse.issparse(X):
        return _core.encode(X, *how)
    if not X.has_canonical_format:
        X = X.copy()  # the caller's stays as it is
        X.sum_duplicates()
    return _core.encode_sparse(X.shape[0], X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), *how)


@dataclass(frozen=True)
class Growth:
    """Everything but the data that decides which tree is grown."""

    partition_prior: PartitionPrior
    feature_weight: FloatArray
    smoothing: float
    max_depth: int | None
    min_samples_leaf: int
    min_weight_fraction_leaf: float
    monotonic: IntArray | None
    n_threads: int
    max_leaf_nodes: int | None = None
    lookahead: int = 0
    oblique: bool = False

    def settings(self) -> _core.Settings:
        """The same in the compiled core's form."""
        limits = _core.Limits(self.max_depth, self.min_samples_leaf, self.min_weight_fraction_leaf)
        monotonic = None if self.monotonic is None else self.monotonic.astype(np.int8)
        oblique = _core.Oblique(OBLIQUE_SHARE if self.oblique else 0.0, OBLIQUE_CHARGE)
        prior = self.partition_prior.to_core(self.feature_weight)
        return _core.Settings(prior, limits, self.smoothing, monotonic, oblique)


def grow_tree(columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth) -> Tree:
    """Grow the tree of a matrix whose columns are encoded."""
    nodes = _core.grow(
        columns,
        outcome.to_core(target),
        outcome.core_prior().tolist(),
        growth.settings(),
        _core.Lookahead(growth.lookahead, LOOKAHEAD_WIDTH, LOOKAHEAD_PER_FEATURE),
        SUBTREE_ROWS,
        growth.n_threads,
    )
    of_nodes = _read_nodes(nodes, outcome)
    leaf = nodes["children_left"] == LEAF
    n_rows = nodes["n_rows"]
    tree = Tree(
        **of_nodes,
        **_read_cuts(nodes, ~leaf & (n_rows[nodes["children_left"]] > n_rows[nodes["children_right"]])),
        log_likelihood_split=outcome.log_likelihood_from_core(
            nodes["log_likelihood_split"], of_nodes["weighted_n_node_samples"]
        ),
        log_odds_split=nodes["log_odds_split"],
        feature_posterior=nodes["feature_posterior"],
    )
    return tree if growth.max_leaf_nodes is None else tree.limited_to(growth.max_leaf_nodes)


def explore_space(
    columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth, budget: _core.Budget
) -> tuple[Space, bool]:
    """Explore the tree space of a matrix whose columns are encoded; tell whether the user interrupted it."""
    found = _core.tree_space(
        columns,
        outcome.to_core(target),
        outcome.core_prior().tolist(),
        growth.settings(),
        budget,
        SUBTREE_ROWS,
        growth.n_threads,
    )
    of_nodes = _read_nodes(found, outcome)
    n_rows = found["n_rows"]
    owner = np.repeat(np.arange(len(n_rows)), np.diff(found["choice_start"]))
    weight = of_nodes["weighted_n_node_samples"]
    # Smoothing gives a child its own rows beforehand, and then no likelihood is out of reach.
    ceiling = np.full(len(n_rows), np.inf)
    if growth.smoothing == 0:
        ceiling = outcome.log_ceiling(of_nodes["prior"], found["statistics"])
    space = Space(
        **of_nodes,
        **_read_cuts(found, n_rows[found["children_left"]] > n_rows[found["children_right"]]),
        log_likelihood_split=outcome.log_likelihood_from_core(found["log_likelihood_split"], weight[owner]),
        choice_start=found["choice_start"],
        complete=found["complete"],
        log_ceiling=ceiling,
    )
    return space, found["interrupted"]


def _read_nodes(nodes: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    """What trees and tree spaces know of their nodes, in the units of the target."""
    prior = outcome.prior_from_core(nodes["prior"])
    posterior = outcome.update(prior, nodes["statistics"])
    weight = outcome.weights(nodes["statistics"])
    return {
        "value": outcome.mean(posterior)[:, None, :],
        "n_node_samples": nodes["n_rows"],
        "weighted_n_node_samples": weight,
        "depth": nodes["depth"],
        "prior": prior,
        "posterior": posterior,
        "log_likelihood": outcome.log_likelihood_from_core(nodes["log_likelihood"], weight),
        "log_prior_leaf": nodes["log_prior_leaf"],
    }


def _read_cuts(found: dict[str, Any], more_left: BoolArray) -> dict[str, Any]:
    """The same of their cuts; cells that a node's rows do not have go where more rows are."""
    new_names = {
        "level_start": "category_start",
        "level": "category",
        "level_goes_left": "category_goes_left",
        "oblique_start": "hyperplane_start",
        "oblique_feature": "hyperplane_feature",
        "oblique_coefficient": "hyperplane_coefficient",
        "oblique_gap_value": "hyperplane_missing_value",
    }
    return {
        "missing_go_to_left": np.where(found["has_missing"], found["missing_go_to_left"], more_left),
        "unseen_go_to_left": more_left & (found["kind"] == 3),
        **{name: found[new] for name, new in new_names.items()},
        **{
            name: found[name]
            for name in ("children_left", "children_right", "feature", "threshold", "has_missing", "log_prior_split")
        },
    }


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
