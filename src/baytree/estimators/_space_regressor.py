"""Real values, counts, durations and outcomes of your own, by a tree space."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from .._typing import FloatArray, IntArray
from .._validation import check_quantiles, check_real
from ..mixtures import Mixture
from ._regressor import BayesianTreeRegressor
from ._space import TreeSpace
from ._targets import RealTarget


class TreeSpaceRegressor(RealTarget, RegressorMixin, TreeSpace):
    """All trees for numbers that the data support, each with its posterior probability, and their exact average.

    Parameters
    ----------
    outcome, prior
        As in `BayesianTreeRegressor`; ``"evidence"`` chooses by the prunings of the greedy tree.
    partition_prior, feature_prior, smoothing, partitions, categorical_features, monotonic_cst
        As in `BayesianTreeRegressor`.
    max_depth, min_samples_leaf, min_weight_fraction_leaf, n_jobs
        As in `BayesianTreeRegressor`.
    space, max_nodes, time_limit, n_trees, random_state, verbose
        As in `TreeSpaceClassifier`.

    Attributes
    ----------
    space_
        The fitted `Space`.
    categories_, trees_, weights_, tree_shares_, modal_tree_
        As in `TreeSpaceClassifier`.
    prior_, log_evidence_, log_evidence_bound_, log_posterior_, feature_posterior_, feature_inclusion_
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
    (array([191.7]), array([[ 78., 305.]]))
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
        """
        return self._fit(X, y, sample_weight, exposure=exposure, event=event)

    def _empty_tree(self, **parameters: Any) -> BayesianTreeRegressor:
        return BayesianTreeRegressor(outcome=self.outcome, **parameters)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the expected outcome of each row (counts: per unit of exposure), averaged over all trees.

        Parameters
        ----------
        X
            Rows.
        return_std
            Whether to return the standard deviation of the predictive distribution too. It is infinite where a tree of
            some weight leaves it so, as leaves with few durations do; `predict_interval` is not.
        """
        mean = self._mean(X)
        mean = mean[:, 0] if mean.shape[1] == 1 else mean
        return (mean, self.predict_dist(X).std()) if return_std else mean

    def _say(self, X: Any) -> list[str]:
        return [f"{mean:.4g}" for mean in self.predict(X)]

    def predict_dist(self, X: Any) -> Mixture:
        """Return the predictive distribution of each row: a mixture over all trees, with scipy.stats' methods."""
        return self._mixture(X, "outcome")

    def _mixture(self, X: Any, kind: str) -> Mixture:
        weights, parameters = self.posterior(X)
        family = self.outcome_.distribution if kind == "outcome" else self.outcome_.mean_distribution
        return Mixture(weights, partial(_of_nodes, family, parameters))

    def predict_quantiles(self, X: Any, quantiles: Any) -> FloatArray:
        """Return quantiles of the predictive distribution, shape (n_rows, n_quantiles)."""
        wanted = check_quantiles(quantiles)
        mixture = self._mixture(X, "outcome")
        return np.stack([mixture.ppf(q) for q in wanted], axis=-1)

    def predict_interval(self, X: Any, level: float = 0.9, kind: str = "outcome") -> FloatArray:
        """Return the central interval that holds the outcome, or its mean, with a given probability.

        Parameters
        ----------
        X
            Rows.
        level
            Probability, in (0, 1).
        kind
            ``"outcome"``: of the outcome of a new row; ``"mean"``: of the mean outcome.

        Returns
        -------
        array of shape (n_rows, 2)
            Lower and upper end.
        """
        level = check_real("level", level, low=0, high=1)
        if kind not in ("outcome", "mean"):
            raise ValueError(f"kind must be 'outcome' or 'mean'; got {kind!r}.")
        return np.stack(self._mixture(X, kind).interval(level), axis=-1)


def _of_nodes(family: Callable[[FloatArray], Any], parameters: FloatArray, nodes: IntArray) -> Any:
    """The distribution of the outcome, or of its mean, in some nodes."""
    return family(parameters[nodes])
