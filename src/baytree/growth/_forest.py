"""From an encoded table to a forest: the call of the compiled core and the reading of its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _core
from .._typing import FloatArray
from ..leaves import ConstantLeaves
from ..outcomes import Outcome, Target
from ..tree import NO_CHILD, SplitKind, TreeStore, depth_of, summed_from_leaves
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


def grow_forest(columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth, plan: Plan) -> TreeStore:
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
    of_leaves = statistics[found["kind"] == SplitKind.NONE]
    structure = _structure(found, statistics, outcome)
    leaves = _leaves(of_leaves, structure, outcome, growth.smoothing)
    return TreeStore(leaves=leaves, n_features=columns.n_columns, **structure)


def _structure(found: dict[str, Any], statistics: FloatArray, outcome: Outcome) -> dict[str, Any]:
    """The arrays of the structure; the core numbers nodes within their tree, and a left child is the next node."""
    roots, n_nodes = found.pop("tree_start")[:-1], len(found["kind"])
    is_leaf = found["kind"] == SplitKind.NONE
    first = np.repeat(roots, np.diff(np.append(roots, n_nodes)))
    left = np.where(is_leaf, NO_CHILD, np.arange(1, n_nodes + 1)).astype(np.int32)
    right = np.where(is_leaf, NO_CHILD, found.pop("children_right") + first).astype(np.int32)
    # Values that a node's rows do not have go where more weight is; rounding does not decide.
    weight = outcome.weights(statistics)
    more_left = ~is_leaf & (weight[left] > weight[right] * (1 + 1e-9))
    return {
        **found,
        "roots": roots,
        "choice_start": np.arange(n_nodes + 1, dtype=np.int32),
        "children_left": left,
        "children_right": right,
        "missing_go_to_left": np.where(found["has_missing"], found["missing_go_to_left"], more_left),
        "unseen_go_to_left": more_left & (found["kind"] == SplitKind.CATEGORY_SET),
        "depth": depth_of(left, right, roots, n_nodes),
    }


def _leaves(of_leaves: FloatArray, structure: dict[str, Any], outcome: Outcome, smoothing: float) -> ConstantLeaves:
    """The leaf models of all nodes, from what the rows of each leaf add up to; the core does not return priors."""
    left, right, depth = (structure[name] for name in ("children_left", "children_right", "depth"))
    leaves = ConstantLeaves.with_root_prior(outcome, summed_from_leaves(of_leaves, left, right, depth))
    if smoothing == 0:
        return leaves
    prior = np.tile(outcome.prior, (len(depth), 1))
    for level in range(int(depth.max())):
        at = np.flatnonzero((depth == level) & (left != NO_CHILD))
        for child in (left[at], right[at]):
            prior[child] = outcome.update(prior[at], smoothing * leaves.statistics[child])
    return replace(leaves, prior=prior)


def rows_of(target: Target, outcome: Outcome, plan: Plan) -> Any:
    """The rows, without weights; where they are not to count whole numbers of times, with some that say so."""
    weight = None if plan.is_whole(target) else np.full(len(target.y), 0.5)
    return outcome.to_core(replace(target, weight=weight, grids=None))
