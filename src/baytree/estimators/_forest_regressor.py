"""Real values, counts, durations and outcomes of your own, by a forest."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from .._typing import FloatArray
from ..fitted import Fitted
from ..growth import TableData
from ..outcomes import Outcome
from ._forest import BaseForest
from ._predictions import NumberPredictions
from ._regressor import BayesianTreeRegressor
from ..sources import NumberReader


class BayesianForestRegressor(NumberPredictions, RegressorMixin, BaseForest):
    """The average of trees for numbers, each grown on the table with random weights.

    Parameters
    ----------
    n_estimators
        Number of trees.
    outcome, prior
        As in `BayesianTreeRegressor`; the noise comes from trees of all rows as they are.
    prune, partition_prior, feature_prior, smoothing, lookahead, partitions, categorical_features, monotonic_cst
        As in `BayesianForestClassifier`.
    bootstrap, oob_score, random_state, warm_start, verbose
        As in `BayesianForestClassifier`; ``oob_prediction_`` has the means.
    max_features
        As in `BayesianForestClassifier`, but by default every node draws 80 % of the features: for numbers this is
        more accurate.
    max_depth, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, unseen, max_bins, n_jobs
        As in `BayesianForestClassifier`.
    calibrate
        Whether predictive distributions are made wider or narrower, by the factor `spread_`, so that 90 % intervals
        hold nine in ten training rows, each by the trees that do not have it; ``"normal"`` only.

    Attributes
    ----------
    fitted_, trees_, readable_tree_, readable_agreement_, schema_, categories_
        As in `BayesianForestClassifier`.
    oob_score_, oob_prediction_
        R2 and means of training rows by the trees that lack them (NaN where none does). With an `exposure`, R2 of the
        counts and ``oob_prediction_`` times the exposure; NaN where durations are censored.
    prior_, spread_, feature_importances_, feature_inclusion_, feature_posterior_, stability_
        See their own descriptions.
    log_evidence_, log_posterior_
        See their own descriptions.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from baytree import BayesianForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BayesianForestRegressor(random_state=0).fit(X, y)
    >>> model.predict(X[:1]).shape, model.predict_interval(X[:1]).shape
    ((1,), (1, 2))
    """

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
        max_features: Any = 0.8,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        calibrate: bool = True,
        unseen: str = "majority",
        max_bins: int | None = None,
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
        self.unseen = unseen
        self.max_bins = max_bins
        self.oob_score = oob_score
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, event: Any = None) -> Self:
        """Grow the trees.

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
        >>> from baytree import BayesianForestRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> BayesianForestRegressor(10, random_state=0).fit(X, y).predict_interval(X[:1]).shape
        (1, 2)
        """
        return self._fit(X, y, sample_weight, self._target_reader(), exposure=exposure, event=event)

    def _target_reader(self) -> NumberReader:
        return NumberReader(self.outcome, self.calibrate)

    def _single_tree(self, fitted: Fitted, parameters: dict[str, Any]) -> BayesianTreeRegressor:
        return BayesianTreeRegressor.from_fitted(fitted, parameters | {"outcome": self.outcome})

    def _keep_out_of_bag(self, mean: FloatArray, data: TableData, outcome: Outcome) -> None:
        self.oob_prediction_ = mean[:, 0]
        of_rows = mean[:, 0] if data.counted is None else mean[data.counted, 0]
        y, known = np.asarray(data.target.y, dtype=np.float64), np.isfinite(of_rows)
        expected = of_rows * data.target.own_extra("exposure")  # counts, where rates are predicted
        has_score = known.sum() > 1 and bool(np.all(data.target.own_extra("event") == 1))
        self.oob_score_ = float(r2_score(y[known], expected[known])) if has_score else float("nan")
