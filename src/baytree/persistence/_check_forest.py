"""Checks of the forest that a file holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from ..outcomes import Outcome
from ..table import Schema
from ..tree import LEAF, Forest, SplitArrays
from ._check import check_splits

_TYPES: dict[str, Any] = {
    "kind": np.uint8,
    "children_right": np.int32,
    "feature": np.int32,
    "n_node_samples": np.int32,
    "category": np.int32,
    "hyperplane_feature": np.int32,
    "tree_start": np.int64,
    "category_start": np.int32,
    "hyperplane_start": np.int32,
    "log_prior_leaf": np.float32,
    "log_prior_split": np.float32,
    "log_odds_split": np.float32,
    "missing_go_to_left": np.bool_,
    "has_missing": np.bool_,
    "unseen_go_to_left": np.bool_,
    "category_goes_left": np.bool_,
}
_NOT_BY_NODE = {
    "tree_start",
    "category_start",
    "category",
    "category_goes_left",
    "hyperplane_start",
    "hyperplane_feature",
    "hyperplane_coefficient",
    "hyperplane_missing_value",
}


def check_forest(forest: Forest, own: dict[str, Any], schema: Schema, outcome: Outcome) -> None:
    """Refuse arrays that are not a forest, and numbers of its own that are none."""
    n = forest.node_count
    for name, array in forest.arrays().items():
        shape: tuple[int, ...] = (len(array),) if name in _NOT_BY_NODE else (n,)
        if name == "leaf_statistics":
            shape = (int(forest.is_leaf.sum()), array.shape[-1])
        if n == 0 or array.dtype != _TYPES.get(name, np.float64) or array.shape != shape:
            raise ValueError(f"the array {name} has a wrong type or shape")
    leaf = forest.is_leaf
    if np.any(forest.children_right[leaf] != LEAF) or np.any(forest.children_right[~leaf] < 1):
        raise ValueError("a node is half a leaf")
    # The router refuses trees that are none.
    _core.ForestRouter(**forest.routing(), value=np.zeros(n), n_features=schema.n_features)
    left, right = forest.children()
    if not np.array_equal(np.sort(np.concatenate([forest.roots, left[~leaf], right[~leaf]])), np.arange(n)):
        raise ValueError("the nodes do not form trees")
    splits = {name: array for name, array in forest.routing().items() if name != "tree_start"}
    others: dict[str, Any] = {"has_missing": forest.has_missing, "log_prior_split": forest.log_prior_split}
    check_splits(SplitArrays(**splits, **others, log_likelihood_split=np.where(leaf, -np.inf, 0.0)), schema)
    _check_numbers(forest, own, outcome)


def _check_numbers(forest: Forest, own: dict[str, Any], outcome: Outcome) -> None:
    """Refuse numbers that are out of range."""
    if type(own["seed"]) is not int or own["seed"] < 0:
        raise ValueError("the seed of the forest is no whole number")
    for name in ("agreement", "smoothing"):
        if type(own[name]) not in (float, int) or not np.isfinite(own[name]):
            raise ValueError(f"the {name} of the forest is no number")
    if own["smoothing"] < 0:
        raise ValueError("the smoothing of the forest is negative")
    if np.any(forest.n_node_samples < 1) or not np.all(np.isfinite(forest.leaf_statistics)):
        raise ValueError("a node has no rows")
    posterior = outcome.update(np.tile(outcome.prior, (forest.node_count, 1)), forest.statistics)
    if not np.all(outcome.weights(forest.statistics) > 0) or not np.all(np.isfinite(posterior)):
        raise ValueError("the statistics of a node are out of range")
    for name in ("log_prior_leaf", "log_prior_split", "log_odds_split"):
        if np.any(np.isnan(getattr(forest, name))):
            raise ValueError(f"the array {name} holds something that is no number")
