"""The grower of forests: it calls the compiled core on an encoded table and reads the result."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _core
from .._typing import FloatArray
from ..leaves import ConstantLeaves
from ..outcomes import Outcome, Target
from ..tree import NO_CHILD, SplitKind, TreeStore, depth_of, sum_from_leaves
from ._settings import Growth

_MAX_TOTAL_COUNT = 2**26  # sum of row counts up to which the core has tables
_MAX_DRAWS = 100  # for each row of the table, as in the core
_DIGITS = 20  # binary digits of weights whose sums must be exact


@dataclass(frozen=True)
class ForestPlan:
    """The trees of a forest and the randomness that makes them differ."""

    seed: int
    first: int  # the trees are numbered first, first + 1, ...
    n_trees: int
    resample: bool
    n_features: int  # drawn for each node
    factor: float  # multiplies the weights of the rows while a tree is grown
    whole: bool = True  # the weights of a tree are rounded to integers

    def to_core(self, target: Target) -> _core.ForestPlan:
        """Convert the plan for the compiled core."""
        whole = self.is_whole(target)
        return _core.ForestPlan(self.seed, self.first, self.n_trees, self.resample, whole, self.factor, self.n_features)

    def is_whole(self, target: Target) -> bool:
        """Whether the weights of a tree are integers: as asked for, unless they are too large for the core's tables."""
        return self.whole and self.factor.is_integer() and self.factor * target.total_weight() <= _MAX_TOTAL_COUNT


def draw_weight(target: Target) -> float:
    """The weight of each row that a tree draws with replacement: 1 where the weights add up to an integer.

    It has few digits, so that its sums are exact in any order.
    """
    total = target.total_weight()
    part, exponent = math.frexp(total / min(max(math.floor(total + 0.5), 1), _MAX_DRAWS * len(target.y)))
    return math.ldexp(round(math.ldexp(part, _DIGITS)), exponent - _DIGITS)


def grow_forest(
    columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth, plan: ForestPlan
) -> TreeStore:
    """Grow the trees of a forest on one table."""
    arrays = _core.grow_forest(
        columns,
        core_rows(target, outcome, plan),
        outcome.core_prior().tolist(),
        growth.settings(),
        growth.look_ahead(),
        plan.to_core(target),
        target.weight,
        growth.engine.subtree_rows,
        growth.n_threads,
    )
    arrays["statistics"] = arrays["statistics"] * arrays.pop("unit")
    return _read_forest(arrays, outcome, growth, columns.n_columns)


def store_of_members(members: list[dict[str, Any]], outcome: Outcome, growth: Growth, n_features: int) -> TreeStore:
    """The trees of a forest that were grown one by one, from the arrays of their nodes."""
    arrays: dict[str, Any] = {}
    for name in members[0]:
        parts = [member[name] for member in members]
        if name in ("category_start", "hyperplane_start"):
            begin = np.cumsum([0, *(starts[-1] for starts in parts)])[:-1]
            joined = [parts[0][:1], *(b + part[1:] for b, part in zip(begin, parts, strict=True))]
            arrays[name] = np.concatenate(joined).astype(parts[0].dtype)
        else:
            arrays[name] = np.concatenate(parts)
    arrays["tree_start"] = np.cumsum([0, *(len(member["kind"]) for member in members)])
    return _read_forest(arrays, outcome, growth, n_features)


def _read_forest(arrays: dict[str, Any], outcome: Outcome, growth: Growth, n_features: int) -> TreeStore:
    """The store of trees whose statistics are in the units of the outcome."""
    statistics = arrays.pop("statistics")
    if not np.all(np.isfinite(statistics)) or not np.all(np.isfinite(arrays["log_prior_leaf"])):
        raise ValueError(
            "These outcomes have no finite likelihood under this prior: y, the weights, the prior or smoothing are too "
            "large or too small for float64. Give them in other units."
        )
    leaf_statistics = statistics[arrays["kind"] == SplitKind.NONE]
    structure = _structure(arrays, statistics, outcome)
    leaves = _leaves(leaf_statistics, structure, outcome, growth.smoothing)
    return TreeStore(leaves=leaves, n_features=n_features, **structure)


def _structure(arrays: dict[str, Any], statistics: FloatArray, outcome: Outcome) -> dict[str, Any]:
    """The arrays of the structure; the core numbers nodes within their tree, and a left child is the next node."""
    roots, n_rows, n_nodes = arrays.pop("tree_start")[:-1], arrays.pop("n_rows"), len(arrays["kind"])
    is_leaf = arrays["kind"] == SplitKind.NONE
    first = np.repeat(roots, np.diff(np.append(roots, n_nodes)))
    left = np.where(is_leaf, NO_CHILD, np.arange(1, n_nodes + 1)).astype(np.int32)
    right = np.where(is_leaf, NO_CHILD, arrays.pop("children_right") + first).astype(np.int32)
    # Values that no row of the node has go to the child of more weight; the tolerance keeps rounding from deciding.
    weight = outcome.weights(statistics)
    more_left = ~is_leaf & (weight[left] > weight[right] * (1 + 1e-9))
    return {
        **arrays,
        "n_node_samples": n_rows,
        "roots": roots,
        "choice_start": np.arange(n_nodes + 1, dtype=np.int32),
        "children_left": left,
        "children_right": right,
        "missing_go_to_left": np.where(arrays["has_missing"], arrays["missing_go_to_left"], more_left),
        "unseen_go_to_left": more_left & (arrays["kind"] == SplitKind.CATEGORY_SET),
        "depth": depth_of(left, right, roots, n_nodes),
    }


def _leaves(
    leaf_statistics: FloatArray, structure: dict[str, Any], outcome: Outcome, smoothing: float
) -> ConstantLeaves:
    """The leaf models of all nodes, from the statistics of the leaves; the core does not return priors."""
    left, right, depth = (structure[name] for name in ("children_left", "children_right", "depth"))
    leaves = ConstantLeaves.with_root_prior(outcome, sum_from_leaves(leaf_statistics, left, right, depth))
    if smoothing == 0:
        return leaves
    prior = np.tile(outcome.prior, (len(depth), 1))
    for level in range(int(depth.max())):
        at = np.flatnonzero((depth == level) & (left != NO_CHILD))
        for child in (left[at], right[at]):
            prior[child] = outcome.update(prior[at], smoothing * leaves.statistics[child])
    return replace(leaves, prior=prior)


def core_rows(target: Target, outcome: Outcome, plan: ForestPlan) -> Any:
    """The rows for the compiled core: without weights, or with weights of 1/2 where counts need not be integers."""
    weight = None if plan.is_whole(target) else np.full(len(target.y), 0.5)
    return outcome.to_core(replace(target, weight=weight, grids=None))
