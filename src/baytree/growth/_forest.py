"""From an encoded table to a forest: the call of the compiled core and the reading of its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _core
from .._typing import FloatArray
from ..outcomes import Outcome, Target
from ..tree import Forest, SplitKind
from ._settings import Growth

_MOST_COUNTED = 2**26  # rows, each as often as it counts, up to which there are tables
_MOST_DRAWS = 100  # a row of the table, as in the core
_DIGITS = 20  # binary ones, of weights that are to add up exactly


@dataclass(frozen=True)
class Plan:
    """Which trees a forest has, and how they differ from each other."""

    seed: int
    first: int  # the trees have the numbers first, first + 1, ...
    n_trees: int
    resample: bool
    n_features: int  # that each node may use
    factor: float  # on the weights of the rows while a tree grows
    whole: bool = True  # rows count whole numbers of times

    def to_core(self, target: Target) -> _core.ForestPlan:
        """The same in the compiled core's form."""
        whole = self.is_whole(target)
        return _core.ForestPlan(self.seed, self.first, self.n_trees, self.resample, whole, self.factor, self.n_features)

    def is_whole(self, target: Target) -> bool:
        """Whether rows count whole numbers of times: where these are not too large for tables."""
        return self.whole and self.factor.is_integer() and self.factor * target.total_weight() <= _MOST_COUNTED


def weight_of_a_draw(target: Target) -> float:
    """What each row that a tree draws with replacement stands for: 1 where the weights add up to a whole number.

    It has few digits, so that sums of it are exact in any order.
    """
    total = target.total_weight()
    part, exponent = math.frexp(total / min(max(math.floor(total + 0.5), 1), _MOST_DRAWS * len(target.y)))
    return math.ldexp(round(math.ldexp(part, _DIGITS)), exponent - _DIGITS)


def grow_forest(columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth, plan: Plan) -> Forest:
    """Grow the trees of a forest on one table."""
    found = _core.grow_forest(
        columns,
        rows_of(target, outcome, plan),
        outcome.core_prior().tolist(),
        growth.settings(),
        growth.look_ahead(),
        plan.to_core(target),
        target.weight,
        growth.engine.subtree_rows,
        growth.n_threads,
    )
    statistics = found.pop("statistics") * found.pop("unit")
    if not np.all(np.isfinite(statistics)) or not np.all(np.isfinite(found["log_prior_leaf"])):
        raise ValueError(
            "These outcomes have no finite likelihood under this prior: y, the weights, the prior or smoothing are too "
            "large or too small for float64. Give them in other units."
        )
    forest = Forest(
        **found,
        leaf_statistics=statistics[found["kind"] == SplitKind.NONE],
        unseen_go_to_left=np.zeros(len(statistics), dtype=bool),
        n_features=columns.n_columns,
    )
    return _with_unseen(forest, outcome.weights(statistics))


def rows_of(target: Target, outcome: Outcome, plan: Plan) -> Any:
    """The rows, without weights; where they are not to count whole numbers of times, with some that say so."""
    weight = None if plan.is_whole(target) else np.full(len(target.y), 0.5)
    return outcome.to_core(replace(target, weight=weight, grids=None))


def _with_unseen(forest: Forest, weight: FloatArray) -> Forest:
    """Values that a node's rows do not have go where more weight is; rounding does not decide."""
    left, right = forest.children()
    more_left = ~forest.is_leaf & (weight[left] > weight[right] * (1 + 1e-9))
    return replace(
        forest,
        missing_go_to_left=np.where(forest.has_missing, forest.missing_go_to_left, more_left),
        unseen_go_to_left=more_left & (forest.kind == SplitKind.CATEGORY_SET),
    )


def in_forest_units(forest: Forest, outcome: Outcome, growth: Growth, *, prune: bool) -> Forest:
    """The trees as the limits and the pruning leave them, by the evidence of the rows without the factor."""
    if growth.max_leaf_nodes is None and not prune:
        return forest
    prior = node_priors(forest, outcome, growth.smoothing)
    log_likelihood = outcome.log_marginal(prior, forest.statistics)
    if growth.max_leaf_nodes is not None:
        kept = forest.best_splits(growth.max_leaf_nodes - 1, forest.log_prior_leaf + log_likelihood)
        if not np.array_equal(kept, ~forest.is_leaf):
            forest = forest.pruned_to(kept, forest.log_odds_split)
            prior = node_priors(forest, outcome, growth.smoothing)
            log_likelihood = outcome.log_marginal(prior, forest.statistics)
    return forest.most_probable_pruning(log_likelihood) if prune else forest


def node_priors(forest: Forest, outcome: Outcome, smoothing: float) -> FloatArray:
    """Parameters of the prior of each node: that of the root but for smoothing."""
    if smoothing == 0:
        return np.broadcast_to(outcome.prior, (forest.node_count, len(outcome.prior)))
    result = np.tile(outcome.prior, (forest.node_count, 1))
    left, right = forest.children()
    for at in forest.internal_by_depth():
        for child in (left[at], right[at]):
            result[child] = outcome.update(result[at], smoothing * forest.statistics[child])
    return result
