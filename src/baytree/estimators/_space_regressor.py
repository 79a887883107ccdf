"""Real values, counts, durations and outcomes of your own, by a tree space."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin

from ..fitted import Fitted
from ._predictions import NumberPredictions
from ._regressor import BayesianTreeRegressor
from ._space import BaseTreeSpace
from ..sources import NumberReader


class TreeSpaceRegressor(NumberPredictions, RegressorMixin, BaseTreeSpace):
    """All trees for numbers that the data support, each with its posterior probability, and their exact average.

    Parameters
    ----------
    outcome, prior
        As in `BayesianTreeRegressor`; ``"evidence"`` chooses by the prunings of the greedy tree.
    partition_prior, feature_prior, smoothing, partitions, categorical_features, monotonic_cst
        As in `BayesianTreeRegressor`.
    max_depth, min_samples_leaf, min_weight_fraction_leaf, calibrate, unseen, max_bins, n_jobs
        As in `BayesianTreeRegressor`.
    space, max_nodes, time_limit, n_trees, random_state, verbose
        As in `TreeSpaceClassifier`.

    Attributes
    ----------
    fitted_, space_, schema_, categories_, trees_, weights_, tree_shares_, readable_tree_
        As in `TreeSpaceClassifier`.
    prior_, spread_, log_evidence_, log_evidence_bound_, log_posterior_, feature_posterior_, feature_inclusion_
        See their own descriptions.
    feature_importances_, stability_
        See their own descriptions.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from baytree import TreeSpaceRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = TreeSpaceRegressor().fit(X, y)
    >>> model.predict(X[:1]).round(1), model.predict_interval(X[:1], level=0.9).round(0)
    (array([211.]), array([[ 92., 321.]]))
    """

    def __init__(
        self,
        *,
        outcome: Any = "normal",
        prior: Any = None,
        partition_prior: Any = 0.99,
        feature_prior: Any = None,
        smoothing: float = 0.0,
        partitions: str = "axis",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        space: str = "all",
        max_nodes: int = 3000,
        time_limit: float | None = None,
        n_trees: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        max_bins: int | None = None,
        calibrate: bool = True,
        unseen: str = "majority",
        n_jobs: int | None = None,
    ) -> None:
        self.outcome = outcome
        self.prior = prior
        self.partition_prior = partition_prior
        self.feature_prior = feature_prior
        self.smoothing = smoothing
        self.partitions = partitions
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.space = space
        self.max_nodes = max_nodes
        self.time_limit = time_limit
        self.n_trees = n_trees
        self.random_state = random_state
        self.verbose = verbose
        self.max_bins = max_bins
        self.calibrate = calibrate
        self.unseen = unseen
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, event: Any = None) -> Self:
        """Explore the tree space.

        Parameters
        ----------
        X, y, sample_weight, exposure, event
            As in `BayesianTreeRegressor.fit`.

        Returns
        -------
        Self
            The fitted estimator. If anything is wrong with the input, the estimator stays as it was.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from baytree import TreeSpaceRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> TreeSpaceRegressor(max_nodes=50).fit(X, y).predict(X[:1]).round(0)
        array([195.])
        """
        return self._fit(X, y, sample_weight, self._target_reader(), exposure=exposure, event=event)

    def _target_reader(self) -> NumberReader:
        return NumberReader(self.outcome, self.calibrate)

    def _single_tree(self, fitted: Fitted, parameters: dict[str, Any]) -> BayesianTreeRegressor:
        return BayesianTreeRegressor.from_fitted(fitted, parameters | {"outcome": self.outcome})
