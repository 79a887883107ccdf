"""Real values, counts, durations and outcomes of your own, by a forest."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin

from ..fitted import FittedTree
from ._regressor import BayesianTreeRegressor
from ._forest import ManyGrownTrees
from ._predictions import NumberPredictions
from ._targets import NumberReader


class BayesianForestRegressor(NumberPredictions, RegressorMixin, ManyGrownTrees):
    """Proto."""

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        outcome: Any = "normal",
        prior: Any = None,
        prune: bool = False,
        partition_prior: Any = 0.99,
        feature_prior: Any = None,
        smoothing: float = 0.0,
        lookahead: int = 0,
        partitions: str = "oblique",
        bootstrap: str = "bayesian",
        max_features: Any = 1.0,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        calibrate: bool = True,
        oob_score: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.outcome = outcome
        self.prior = prior
        self.prune = prune
        self.partition_prior = partition_prior
        self.feature_prior = feature_prior
        self.smoothing = smoothing
        self.lookahead = lookahead
        self.partitions = partitions
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.calibrate = calibrate
        self.oob_score = oob_score
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, event: Any = None) -> Self:
        """Grow the trees."""
        return self._fit(X, y, sample_weight, self._target_reader(), exposure=exposure, event=event)

    def _target_reader(self) -> NumberReader:
        return NumberReader(self.outcome, self.calibrate)

    def _single_tree(self, fitted: FittedTree, parameters: dict[str, Any]) -> BayesianTreeRegressor:
        return BayesianTreeRegressor.from_fitted(fitted, parameters | {"outcome": self.outcome})
