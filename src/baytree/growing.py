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
from .tree import LEAF, UNDEFINED, Tree

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


def midpoint(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return thresholds t with ``lower <= t < upper``, halfway where float64 allows it."""
    with np.errstate(over="ignore"):
        distance = upper - lower
        halfway = np.where(np.isfinite(distance), lower + distance / 2, lower / 2 + upper / 2)
    # Halfway between neighbouring floats rounds to one of them; only the lower one may be a threshold.
    return np.where((halfway >= lower) & (halfway < upper), halfway, lower)


def cells_at(X: Any, rows: IntArray, columns: IntArray) -> FloatArray:
    """Some cells of a matrix, dense or sparse."""
    return np.asarray(X[rows, columns], dtype=np.float64).ravel()


class Cuts:
    """Cuts that the compiled core describes by rows, read from the matrix they were found in."""

    def __init__(self, X: Any, found: dict[str, Any]) -> None:
        n = len(found["feature"])
        feature = found["feature"].astype(np.int64)
        column = np.maximum(feature, 0)
        start = found["level_start"]
        self.divides_levels = np.diff(start) > 0
        upper = cells_at(X, found["upper_row"], column)
        # The rows on the upper side may be those without a value.
        self.threshold = np.where(np.isnan(upper), np.inf, midpoint(cells_at(X, found["lower_row"], column), upper))
        self.threshold[self.divides_levels] = np.nan
        is_oblique = np.diff(found["oblique_start"]) > 0
        self.threshold[is_oblique] = found["oblique_threshold"][is_oblique]
        of_level = np.repeat(np.arange(n), np.diff(start))
        level = cells_at(X, found["level_row"], column[of_level]) if len(of_level) else np.zeros(0)
        goes_left = found["level_is_lower"].astype(bool)
        gap = np.isnan(level)
        self.has_missing = found["gaps"] != 0
        self.missing_go_to_left = found["gaps"] == 1
        self.has_missing[of_level[gap]] = True
        self.missing_go_to_left[of_level[gap]] = goes_left[gap]
        order = np.lexsort((level[~gap], of_level[~gap]))
        self.level = level[~gap][order].astype(np.int64)
        self.level_goes_left = goes_left[~gap][order]
        self.level_start = np.append(0, np.cumsum(np.bincount(of_level[~gap], minlength=n)))


def grow_tree(X: Any, columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth) -> Tree:
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
    leaf = nodes["lower"] == LEAF
    n_rows = nodes["n_rows"]
    tree = Tree(
        **of_nodes,
        **_read_cuts(X, nodes, ~leaf & (n_rows[nodes["lower"]] > n_rows[nodes["upper"]])),
        log_likelihood_split=outcome.log_likelihood_from_core(
            nodes["log_likelihood_split"], of_nodes["weighted_n_node_samples"]
        ),
        log_odds_split=nodes["log_odds_split"],
        feature_posterior=nodes["feature_posterior"],
    )
    return tree if growth.max_leaf_nodes is None else tree.limited_to(growth.max_leaf_nodes)


def explore_space(
    X: Any, columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth, budget: _core.Budget
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
        **_read_cuts(X, found, n_rows[found["lower"]] > n_rows[found["upper"]]),
        log_likelihood_split=outcome.log_likelihood_from_core(found["log_likelihood_split"], weight[owner]),
        choice_start=found["choice_start"],
        complete=found["complete"].astype(bool),
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


def _read_cuts(X: Any, found: dict[str, Any], more_left: BoolArray) -> dict[str, Any]:
    """The same of their cuts; cells that a node's rows do not have go where more rows are."""
    cuts = Cuts(X, found)
    leaf = found["lower"] == LEAF
    return {
        "children_left": found["lower"],
        "children_right": found["upper"],
        "feature": np.where(leaf, UNDEFINED, found["feature"].astype(np.int64)),
        "threshold": np.where(leaf, float(UNDEFINED), cuts.threshold),
        "missing_go_to_left": np.where(cuts.has_missing, cuts.missing_go_to_left, more_left),
        "has_missing": cuts.has_missing,
        "unseen_go_to_left": more_left & cuts.divides_levels,
        "level_start": cuts.level_start,
        "level": cuts.level,
        "level_goes_left": cuts.level_goes_left,
        **{
            name: found[name]
            for name in ("oblique_start", "oblique_feature", "oblique_coefficient", "oblique_gap_value")
        },
        "log_prior_split": found["log_prior_split"],
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
