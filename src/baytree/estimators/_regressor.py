"""Real values, counts, durations and outcomes of your own."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin

from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_quantiles, check_real
from ..counterfactual import Decisions
from ..explanation import Summary
from ..rules import number_text
from ._targets import RealTarget
from ._tree import BayesianTree


class BayesianTreeRegressor(RealTarget, RegressorMixin, BayesianTree):
    """One decision tree for numbers, chosen by posterior probability, with a full posterior in every leaf.

    Parameters
    ----------
    outcome
        ``"normal"`` for real values, ``"poisson"`` for counts, ``"exponential"`` for durations, or an object of
        your own (docs/your_outcome.md).
    prior
        Parameters of the conjugate prior in a leaf: ``(mu, kappa, alpha, beta)`` of a Normal-Gamma for
        ``"normal"``, ``(shape, rate)`` of a Gamma for the others. None: set from y. ``"evidence"``: the one with
        the highest `log_evidence_` of a grid.
    partition_prior, feature_prior, smoothing, lookahead, partitions, categorical_features
        As in `BayesianTreeClassifier`.
    monotonic_cst
        1 for features with which the prediction must not fall, -1 for those with which it must not rise, 0 for the
        others; one for each feature, or a dict by name or position.
    max_depth, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, n_jobs
        As in `BayesianTreeClassifier`.

    Attributes
    ----------
    tree_
        The fitted `Tree`.
    categories_
        For each feature its levels in ascending order, or None for one of numbers.
    prior_, feature_importances_, feature_posterior_, log_posterior_, log_evidence_
        See their own descriptions.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from baytree import BayesianTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BayesianTreeRegressor().fit(X, y)
    >>> model.predict(X[:1]).round(1), model.predict_interval(X[:1], level=0.9).round(0)
    (array([193.]), array([[ 86., 300.]]))
    """

    def __init__(
        self,
        *,
        outcome: Any = "normal",
        prior: Any = None,
        partition_prior: Any = 0.99,
        feature_prior: Any = None,
        smoothing: float = 0.0,
        lookahead: int = 0,
        partitions: str = "axis",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.outcome = outcome
        self.prior = prior
        self.partition_prior = partition_prior
        self.feature_prior = feature_prior
        self.smoothing = smoothing
        self.lookahead = lookahead
        self.partitions = partitions
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, event: Any = None) -> Self:
        """Grow the greedy-modal tree.

        Parameters
        ----------
        X
            Table of n_rows rows and n_features columns: array, data frame (pandas, polars, pyarrow), list or sparse
            matrix. NaN and None are gaps.
        y
            Outcome of each row.
        sample_weight
            How often each row counts: a weight of 2 is the row twice, a weight of 0 is no row.
        exposure
            ``outcome="poisson"`` only: time or size over which each row was counted; None: 1.
        event
            ``outcome="exponential"`` only: whether each duration ended in an event (True) or was cut off (False).

        Returns
        -------
        Self
            The fitted estimator. If anything is wrong with the input, the estimator stays as it was.
        """
        return self._fit(X, y, sample_weight, exposure=exposure, event=event)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, event: Any = None) -> Self:
        """Add rows to the posteriors of the leaves they reach; the structure stays. Before any fit, this is a fit."""
        add = self._partial_fit if hasattr(self, "tree_") else self._fit
        return add(X, y, sample_weight, exposure=exposure, event=event)

    def _summaries(self, nodes: IntArray) -> list[Summary]:
        posterior, estimates = self.tree_.posterior[nodes], self.tree_.value[nodes, 0, 0]
        intervals = {
            "mean": self._interval(posterior, "mean_distribution"),
            "outcome": self._interval(posterior, "distribution"),
        }
        return [
            {name: (estimate, *ends[i]) for name, ends in intervals.items()}
            for i, estimate in enumerate(estimates.tolist())
        ]

    def _interval(self, posterior: FloatArray, distribution: str) -> list[tuple[float, float]]:
        """The central 90 % of a distribution of each node; NaN where an outcome of one's own does not have it."""
        if not self.outcome_.has(distribution):
            return [(np.nan, np.nan)] * len(posterior)
        frozen = getattr(self.outcome_, distribution)(posterior)
        return list(zip(frozen.ppf(0.05).tolist(), frozen.ppf(0.95).tolist(), strict=True))

    @property
    def _posterior_names(self) -> tuple[str, ...]:
        return self.outcome_.parameter_names or tuple(f"p{i}" for i in range(len(self.outcome_.prior)))

    def _decisions(self) -> Decisions:
        """Whether the estimate of a node is above that of the root."""
        estimate = self.tree_.value[:, 0, 0]
        overall = number_text(float(estimate[0]))
        above = (estimate > estimate[0]).astype(np.int64)
        return Decisions(above, (f"at most the overall {overall}", f"above the overall {overall}"), estimate)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the expected outcome of each row (counts: per unit of exposure).

        Parameters
        ----------
        X
            Rows.
        return_std
            Whether to return the standard deviation of the predictive distribution too.
        """
        leaves = self.apply(X)
        mean = self.tree_.value[:, 0].take(leaves, axis=0)
        mean = mean[:, 0] if mean.shape[1] == 1 else mean
        return (mean, self._by_leaf(leaves, self.outcome_.std)) if return_std else mean

    def _by_leaf(self, leaves: AnyArray, function: Any) -> FloatArray:
        """Evaluate a function of posteriors once a leaf."""
        found, inverse = np.unique(leaves, return_inverse=True)
        return np.asarray(function(self.tree_.posterior[found]))[inverse]

    def predict_dist(self, X: Any) -> Any:
        """Return the predictive distribution of each row as one frozen, vectorised scipy.stats distribution."""
        return self.outcome_.distribution(self.posterior(X))

    def predict_quantiles(self, X: Any, quantiles: Any) -> FloatArray:
        """Return quantiles of the predictive distribution, shape (n_rows, n_quantiles)."""
        wanted = check_quantiles(quantiles)
        leaves = self.apply(X)

        def of_leaves(posterior: FloatArray) -> FloatArray:
            distribution = self.outcome_.distribution(posterior)
            return np.stack([distribution.ppf(q) for q in wanted], axis=-1)

        return self._by_leaf(leaves, of_leaves)

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
        leaves = self.apply(X)

        def of_leaves(posterior: FloatArray) -> FloatArray:
            family = self.outcome_
            distribution = family.distribution(posterior) if kind == "outcome" else family.mean_distribution(posterior)
            return np.stack([distribution.ppf(0.5 - level / 2), distribution.ppf(0.5 + level / 2)], axis=-1)

        return self._by_leaf(leaves, of_leaves)
