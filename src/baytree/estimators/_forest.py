"""What the forests have in common."""

from __future__ import annotations

import sys
from abc import abstractmethod
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import check_integer, check_optional_integer, check_real, check_truth, shown
from ..explain import Explanation
from ..fitted import FittedForest, FittedTree
from ..growth import Engine, Growth, Plan, Search, grow_forest, put_in_order, rows_in_trees
from ..outcomes import Outcome
from ..tree import Forest
from ._base import Estimator
from ._calibrate import calibrate_out_of_bag
from ._data import EncodedData
from ._tree import SingleTree

_BOOTSTRAPS = ("bayesian", "resample")
# Parameters that the trees of a forest have too.
_SHARED = (
    "partition_prior",
    "feature_prior",
    "smoothing",
    "lookahead",
    "partitions",
    "categorical_features",
    "monotonic_cst",
    "max_depth",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "max_leaf_nodes",
    "n_jobs",
)
_TREES_AT_ONCE = 10  # that are told of


class ManyGrownTrees(Estimator):
    """The average of trees that were grown with random weights; subclasses say what they predict."""

    _engine: ClassVar[Engine] = Engine(
        search=Search(sizes=(2, 4, 8, 20), few_rows=1024, most_responses=1, n_refits=1, n_rounds=0, n_shakes=0)
    )
    fitted_: FittedForest
    n_estimators: Any
    prune: Any
    lookahead: Any
    bootstrap: Any
    max_features: Any
    max_leaf_nodes: Any
    oob_score: Any
    random_state: Any
    warm_start: Any
    verbose: Any

    @abstractmethod
    def _single_tree(self, fitted: FittedTree, parameters: dict[str, Any]) -> SingleTree:
        """A single-tree estimator of one of the trees."""

    def _check_own_parameters(self) -> dict[str, Any]:
        check_integer("n_estimators", self.n_estimators, low=1)
        if not isinstance(self.bootstrap, str) or self.bootstrap not in _BOOTSTRAPS:
            raise ValueError(f"bootstrap must be 'bayesian' or 'resample'; got {shown(self.bootstrap)}.")
        for name in ("prune", "oob_score", "warm_start"):
            check_truth(name, getattr(self, name))
        check_random_state(self.random_state)
        return {
            "lookahead": check_integer("lookahead", self.lookahead, low=0),
            "max_leaf_nodes": check_optional_integer("max_leaf_nodes", self.max_leaf_nodes, low=1),
        }

    def _grow(self, data: EncodedData, outcome: Outcome, growth: Growth, *, calibrated: bool) -> FittedForest:
        plan = Plan(
            seed=self._seed(),
            first=0,
            n_trees=self.n_estimators,
            resample=self.bootstrap == "resample",
            n_features=read_max_features(self.max_features, data.schema.n_features),
            # Constraints are kept by the predictions while trees grow, so these must be those of the forest.
            factor=1.0 if growth.monotonic is not None else growth.engine.forest_factor,
            whole=growth.engine.forest_whole,
        )
        forest = grow_forest(data.columns, data.target, outcome, growth, plan)
        modal = self._modal(data, outcome, growth)
        fitted = FittedForest(
            forest, outcome, data.schema, data.classes, modal, growth.smoothing, growth.monotonic
        )
        if self.prune:
            fitted = replace(fitted, forest=forest.most_probable_pruning(fitted.log_likelihood))

        def left_out(rows: AnyArray) -> BoolArray:
            return ~rows_in_trees(data.columns, data.target, outcome, growth, plan, rows)

        if calibrated:
            fitted = calibrate_out_of_bag(fitted, data, left_out)
        return fitted

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _modal(self, data: EncodedData, outcome: Outcome, growth: Growth) -> FittedTree:
        """The tree of all rows as they are."""
        grown = put_in_order(data.grow(outcome, growth), growth.monotonic)
        tree = grown.most_probable_pruning()
        return FittedTree(tree, outcome, data.schema, data.classes, None if tree is grown else grown)


def read_max_features(max_features: Any, n_features: int) -> int:
    """Read the `max_features` parameter: how many features each tree may use."""
    what = "max_features must be a share in (0, 1], a number of features, 'sqrt', 'log2' or None"
    if max_features is None:
        return n_features
    if isinstance(max_features, str):
        sizes = {"sqrt": np.sqrt(n_features), "log2": np.log2(max(n_features, 2))}
        if max_features not in sizes:
            raise ValueError(f"{what}; got {shown(max_features)}.")
        return max(1, int(sizes[max_features]))
    if isinstance(max_features, (int, np.integer)) and not isinstance(max_features, bool):
        number = check_integer("max_features", max_features, low=1)
        if number > n_features:
            raise ValueError(f"max_features is {number}, but X has {n_features} features.")
        return number
    share = check_real("max_features", max_features, low=0, high=1, high_ok=True)
    return max(1, round(share * n_features))
