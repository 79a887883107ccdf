"""From an encoded table to a tree: the call of the compiled core and the reading of its answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._typing import BoolArray, FloatArray
from ..outcomes import Outcome, Target
from ..tree import LEAF, Space, SplitKind, Tree
from ._settings import Growth

_SPLITS = (
    "children_left",
    "children_right",
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


def grow_tree(columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth) -> Tree:
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


def read_tree(nodes: dict[str, Any], outcome: Outcome, growth: Growth) -> Tree:
    """The tree that the compiled core grew, in the units of the target."""
    of_nodes = _read_nodes(nodes, outcome)
    _check_scores(of_nodes)
    tree = Tree(
        **of_nodes,
        **_read_splits(nodes, of_nodes["weighted_n_node_samples"]),
        log_likelihood_split=outcome.log_likelihood_from_core(nodes["log_likelihood_split"], nodes["statistics"]),
        log_odds_split=nodes["log_odds_split"],
        feature_posterior=nodes["feature_posterior"],
    )
    return tree if growth.max_leaf_nodes is None else tree.limited_to(growth.max_leaf_nodes)


def explore_space(
    columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth, budget: _core.Budget
) -> tuple[Space, bool]:
    """Explore the tree space of a table; tell whether the user interrupted it."""
    found = _core.tree_space(
        columns,
        outcome.to_core(target),
        outcome.core_prior().tolist(),
        growth.settings(),
        budget,
        growth.engine.subtree_rows,
        growth.n_threads,
    )
    of_nodes = _read_nodes(found, outcome)
    _check_scores(of_nodes)
    n_nodes = len(of_nodes["depth"])
    owner = np.repeat(np.arange(n_nodes), np.diff(found["choice_start"]))
    weight = of_nodes["weighted_n_node_samples"]
    # Smoothing gives a child its own rows beforehand, and then no likelihood is out of reach.
    ceiling = np.full(n_nodes, np.inf)
    if growth.smoothing == 0:
        ceiling = outcome.log_ceiling(of_nodes["prior"], found["statistics"])
    space = Space(
        **of_nodes,
        **_read_splits(found, weight),
        log_likelihood_split=outcome.log_likelihood_from_core(
            found["log_likelihood_split"], found["statistics"][owner]
        ),
        choice_start=found["choice_start"],
        complete=found["complete"].astype(bool),
        log_ceiling=ceiling,
        n_features=columns.n_columns,
    )
    return space, found["interrupted"]


def list_partitions(columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth) -> dict[str, Any]:
    """Every partition of a table, as arrays; log likelihoods are in the units of the target."""
    found = _core.partition_space(columns, outcome.to_core(target), outcome.core_prior().tolist(), growth.settings())
    for name in ("log_likelihood", "log_likelihood_split"):
        logs = np.atleast_1d(found[name])
        total = outcome.sum_statistics(target, np.zeros(len(target.y), dtype=np.int64), 1)
        found[name] = outcome.log_likelihood_from_core(logs, np.repeat(total, len(logs), axis=0))
    return found


def _check_scores(of_nodes: dict[str, Any]) -> None:
    """Refuse a table that could not be scored: numbers beyond float64 lead to no tree."""
    scores = of_nodes["log_likelihood"] + of_nodes["log_prior_leaf"]
    if not np.all(np.isfinite(scores)) or not np.all(np.isfinite(of_nodes["posterior"])):
        raise ValueError(
            "These outcomes have no finite likelihood under this prior: y, the weights, the prior or smoothing are too "
            "large or too small for float64. Give them in other units."
        )


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
        "log_likelihood": outcome.log_likelihood_from_core(nodes["log_likelihood"], nodes["statistics"]),
        "log_prior_leaf": nodes["log_prior_leaf"],
    }


def _read_splits(found: dict[str, Any], weight: FloatArray) -> dict[str, Any]:
    """The same of their splits; values that a node's rows do not have go where more weight is."""
    left, right = found["children_left"], found["children_right"]
    # Rounding does not decide.
    more_left: BoolArray = (left != LEAF) & (weight[left] > weight[right] * (1 + 1e-9))
    return {
        **{name: found[name] for name in _SPLITS},
        "missing_go_to_left": np.where(found["has_missing"], found["missing_go_to_left"], more_left),
        "unseen_go_to_left": more_left & (found["kind"] == SplitKind.CATEGORY_SET),
    }
