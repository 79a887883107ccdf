"""The grower of trees and tree spaces: it calls the compiled core on an encoded table and reads the result."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .. import _core
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..leaves import ConstantLeaves, LeafModel
from ..outcomes import Outcome, Target
from ..tree import NO_CHILD, Outline, SplitKind, TreeStore, structure_of, take_splits
from ._settings import Growth

_SPLITS = (
    "kind",
    "feature",
    "threshold",
    "has_missing",
    "category_start",
    "category",
    "category_goes_left",
    "hyperplane_start",
    "hyperplane_feature",
    "hyperplane_coefficient",
    "hyperplane_missing_value",
    "log_prior_split",
)


def grow_tree(columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth) -> TreeStore:
    """Grow the tree of a table."""
    nodes = _core.grow(
        columns,
        outcome.to_core(target),
        outcome.core_prior().tolist(),
        growth.settings(),
        growth.look_ahead(),
        growth.engine.subtree_rows,
        growth.n_threads,
    )
    return read_tree(nodes, outcome, growth)


def score_tree(
    tree: TreeStore, columns: _core.Columns, target_in_core: Any, outcome: Outcome, growth: Growth
) -> TreeStore:
    """Score a given tree on the rows of an encoded table."""
    prior, settings = outcome.core_prior().tolist(), growth.settings()
    structure, n_rows = tree.routing.for_scoring(), growth.engine.subtree_rows
    nodes = _core.refit(columns, target_in_core, prior, settings, structure, n_rows, growth.n_threads)
    return replace_scores(tree, nodes, outcome, growth)


def grow_below(
    outline: Outline, columns: _core.Columns, target_in_core: Any, outcome: Outcome, growth: Growth
) -> TreeStore:
    """Score an outline on the rows of an encoded table, and grow the tree where the outline asks for it."""
    prior, settings = outcome.core_prior().tolist(), growth.settings()
    structure, n_rows = structure_of(outline, columns.n_columns, outcome), growth.engine.subtree_rows
    nodes = _core.refit(columns, target_in_core, prior, settings, structure, n_rows, growth.n_threads)
    return read_tree(nodes, outcome, growth)


def settle_given(tree: TreeStore) -> TreeStore:
    """What splits that are given know of their rows: their own odds, and where values go that no row of a node has.

    The core has the odds of the best split of a node; those of the split that it has are the same where it grew.
    """
    at = tree.internal_nodes
    odds = tree.log_odds_split.copy()
    odds[at] = tree.log_prior_split[at] + tree.log_likelihood_split[at] - tree.log_leaf[at]
    has_missing = np.zeros(tree.node_count, dtype=bool) if tree.n_missing is None else tree.n_missing > 0
    sides = _unseen_sides(tree.children_left, tree.children_right, tree.kind, tree.leaves.weight)
    return replace(
        tree,
        log_odds_split=odds,
        has_missing=has_missing,
        missing_go_to_left=np.where(has_missing, tree.missing_go_to_left, sides["missing_go_to_left"]),
        unseen_go_to_left=sides["unseen_go_to_left"],
        n_missing=tree.n_missing if has_missing.any() else None,
    )


def read_tree(
    nodes: dict[str, Any],
    outcome: Outcome,
    growth: Growth,
    with_models: Callable[[ConstantLeaves], LeafModel] = lambda leaves: leaves,
) -> TreeStore:
    """Read the tree that the compiled core grew, in the units of the target."""
    leaves = with_models(_read_leaves(nodes, outcome))
    tree = TreeStore(
        n_features=nodes["feature_posterior"].shape[1] - 1,
        roots=np.zeros(1, dtype=np.int64),
        choice_start=np.arange(len(nodes["depth"]) + 1),
        n_missing=nodes.get("n_missing"),
        **_read_splits(nodes, leaves.weight),
        **_read_tree_nodes(nodes, leaves, growth),
    )
    has_missing = tree.n_missing is not None and tree.n_missing.any()
    return tree if has_missing else replace(tree, n_missing=None)


def replace_scores(tree: TreeStore, nodes: dict[str, Any], outcome: Outcome, growth: Growth) -> TreeStore:
    """Keep the splits of a given tree and replace the leaves, priors and odds of its nodes by those of the core."""
    leaves = _read_leaves(nodes, outcome)
    return replace(tree, log_prior_split=nodes["log_prior_split"], **_read_tree_nodes(nodes, leaves, growth))


def explore_space(
    columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth, budget: _core.Budget
) -> tuple[TreeStore, bool]:
    """Explore the tree space of a table; the second result is true if the user interrupted the search."""
    nodes = _core.tree_space(
        columns,
        outcome.to_core(target),
        outcome.core_prior().tolist(),
        growth.settings(),
        budget,
        growth.engine.subtree_rows,
        growth.n_threads,
    )
    leaves = _read_leaves(nodes, outcome)
    n_nodes, n_splits = len(nodes["depth"]), len(nodes["kind"])
    node_of_split = np.repeat(np.arange(n_nodes), np.diff(nodes["choice_start"]))
    space = TreeStore(
        leaves=leaves,
        n_features=columns.n_columns,
        roots=np.zeros(1, dtype=np.int64),
        choice_start=np.arange(n_splits + 1),
        **_read_nodes(nodes),
        **_read_splits(nodes, leaves.weight),
        split_likelihood=_split_likelihood(nodes, leaves, node_of_split, growth),
        complete=nodes["complete"].astype(bool),
    )
    return insert_no_split(space, nodes["choice_start"]), nodes["interrupted"]


def insert_no_split(space: TreeStore, split_start: IntArray) -> TreeStore:
    """Insert the choice of no split before the splits of every node; those of node i begin at ``split_start[i]``."""
    n_nodes = len(split_start) - 1
    chosen = np.insert(np.arange(space.n_choices), split_start[:-1], -1)
    splits = take_splits(space, chosen)
    for name in ("children_left", "children_right"):
        splits[name] = np.append(getattr(space, name), NO_CHILD)[chosen]
    return replace(space, **splits, choice_start=split_start + np.arange(n_nodes + 1))


def space_of_prunings(tree: TreeStore) -> TreeStore:
    """The tree space of a grown tree and its prunings, as the compiled core gives it: nodes in the order of depth."""
    order = np.argsort(tree.depth, kind="stable")
    place = np.argsort(order)
    internal = order[~tree.is_leaf[order]]
    is_split = (~tree.is_leaf[order]).astype(np.int64)
    splits = take_splits(tree, internal) | {"n_missing": None}
    for name in ("children_left", "children_right"):
        splits[name] = place[getattr(tree, name)[internal]]
    space = replace(
        tree,
        leaves=tree.leaves.take(order),
        **splits,
        **{name: getattr(tree, name)[order] for name in ("depth", "n_node_samples", "log_prior_leaf")},
        log_odds_split=np.zeros(0),
        feature_posterior=np.zeros((0, 0)),
        complete=np.zeros(len(order), dtype=bool),
        choice_start=np.arange(len(internal) + 1),
    )
    return insert_no_split(space, np.cumsum([0, *is_split]))


def list_partitions(columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth) -> dict[str, Any]:
    """List every partition of a table, as arrays; log likelihoods are in the units of the target."""
    arrays = _core.partition_space(columns, outcome.to_core(target), outcome.core_prior().tolist(), growth.settings())
    for name in ("log_likelihood", "log_likelihood_split"):
        logs = np.atleast_1d(arrays[name])
        total = outcome.sum_statistics(target, np.zeros(len(target.y), dtype=np.int64), 1)
        arrays[name] = outcome.log_likelihood_from_core(logs, np.repeat(total, len(logs), axis=0))
    return arrays


def _read_leaves(nodes: dict[str, Any], outcome: Outcome) -> ConstantLeaves:
    """The leaf models of all nodes; raises an error for a table whose scores are not finite."""
    leaves = ConstantLeaves(outcome, _prior_of(nodes["prior"], outcome), nodes["statistics"])
    scores = nodes["log_likelihood"] + nodes["log_prior_leaf"]
    if not np.all(np.isfinite(scores)) or not np.all(np.isfinite(leaves.posterior)):
        raise ValueError(
            "These outcomes have no finite likelihood under this prior: y, the weights, the prior or smoothing are too "
            "large or too small for float64. Give them in other units."
        )
    return leaves


def _prior_of(prior: FloatArray, outcome: Outcome) -> FloatArray:
    """Priors in the units of the target; they share one row of memory where all nodes have the prior of the root."""
    if np.array_equal(prior, np.broadcast_to(prior[0], prior.shape)):
        return np.broadcast_to(outcome.prior, (len(prior), len(outcome.prior)))
    return outcome.prior_from_core(prior)


def _split_likelihood(
    arrays: dict[str, Any], leaves: LeafModel, node_of_split: IntArray, growth: Growth
) -> FloatArray | None:
    """The likelihood of the two sides of each split; None unless smoothing makes that of the children differ."""
    if growth.smoothing == 0:
        return None
    return leaves.outcome.log_likelihood_from_core(arrays["log_likelihood_split"], leaves.statistics[node_of_split])


def _read_tree_nodes(nodes: dict[str, Any], leaves: LeafModel, growth: Growth) -> dict[str, Any]:
    """The fields of a tree that have one entry per node, except its split."""
    return {
        "leaves": leaves,
        **_read_nodes(nodes),
        "split_likelihood": _split_likelihood(nodes, leaves, np.arange(len(leaves.statistics)), growth),
        "log_odds_split": nodes["log_odds_split"],
        "feature_posterior": nodes["feature_posterior"],
    }


def _read_nodes(nodes: dict[str, Any]) -> dict[str, Any]:
    """The arrays that have one entry per node."""
    return {"depth": nodes["depth"], "n_node_samples": nodes["n_rows"], "log_prior_leaf": nodes["log_prior_leaf"]}


def _read_splits(arrays: dict[str, Any], weight: FloatArray) -> dict[str, Any]:
    """The arrays that have one entry per split; values that no row of a node has go to the child of more weight."""
    left, right = arrays["children_left"], arrays["children_right"]
    sides = _unseen_sides(left, right, arrays["kind"], weight)
    return {
        "children_left": left,
        "children_right": right,
        **{name: arrays[name] for name in _SPLITS},
        "missing_go_to_left": np.where(
            arrays["has_missing"], arrays["missing_go_to_left"], sides["missing_go_to_left"]
        ),
        "unseen_go_to_left": sides["unseen_go_to_left"],
    }


def _unseen_sides(left: AnyArray, right: AnyArray, kind: AnyArray, weight: FloatArray) -> dict[str, BoolArray]:
    """Where values go that no row of a node has: to the child of more weight."""
    # The tolerance keeps rounding from deciding.
    more_left: BoolArray = (left != NO_CHILD) & (weight[left] > weight[right] * (1 + 1e-9))
    return {"missing_go_to_left": more_left, "unseen_go_to_left": more_left & (kind == SplitKind.CATEGORY_SET)}
