"""Real values, counts, durations and outcomes of your own."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin

from ._predictions import NumberPredictions
from ..sources import NumberReader
from ._tree import SingleTree


class BayesianTreeRegressor(NumberPredictions, RegressorMixin, SingleTree):
    """One decision tree for numbers, chosen by posterior probability, with a full posterior in every leaf.

    Parameters
    ----------
    outcome
        ``"normal"`` for real values, ``"poisson"`` for counts, ``"negative_binomial"`` for counts that vary more than
        Poisson ones, ``"exponential"`` for durations, or an object of your own (docs/your_outcome.md).
    prior
        Parameters of the conjugate prior in a leaf: ``(mu, kappa, alpha, beta)`` of a Normal-Gamma for
        ``"normal"``, ``(a, b)`` of a Beta for ``"negative_binomial"``, ``(shape, rate)`` of a Gamma for the others.
        None: set from y; for ``"normal"`` the noise comes from the leaves of a first and a second tree
        (docs/normal_prior.md). ``"evidence"``: the strength (``"normal"``: the noise) with the highest `log_evidence_`.
    prune, partition_prior, feature_prior, smoothing, lookahead, partitions, categorical_features
        As in `BayesianTreeClassifier`.
    monotonic_cst
        1 for features with which the prediction must not fall, -1 for those with which it must not rise, 0 for the
        others; one for each feature, or a dict by name or position.
    max_depth, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, unseen, max_bins, n_jobs
        As in `BayesianTreeClassifier`.
    calibrate
        Whether predictive distributions are made wider or narrower, by the factor `spread_`, so that 90 % intervals
        hold nine in ten cross-validated rows; ``"normal"`` only. The mean's posterior and `posterior` stay as they are.

    Attributes
    ----------
    fitted_
        What was found: a `Fitted` of tree, outcome and schema, which everything else reads.
    tree_, grown_tree_, schema_, categories_
        As in `BayesianTreeClassifier`.
    prior_, spread_, feature_importances_, feature_posterior_, log_posterior_, log_evidence_
        See their own descriptions.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from baytree import BayesianTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BayesianTreeRegressor().fit(X, y)
    >>> model.predict(X[:1]).round(1), model.predict_interval(X[:1], level=0.9).round(0)
    (array([180.9]), array([[ 60., 302.]]))
    """

    def __init__(
        self,
        *,
        outcome: Any = "normal",
        prior: Any = None,
        prune: bool = True,
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
        max_bins: int | None = None,
        calibrate: bool = True,
        unseen: str = "majority",
        n_jobs: int | None = None,
    ) -> None:
        self.outcome = outcome
        self.prior = prior
        self.prune = prune
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
        self.max_bins = max_bins
        self.calibrate = calibrate
        self.unseen = unseen
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, event: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X
            Table of n_rows rows and n_features columns: array, data frame (pandas, polars, pyarrow), list or sparse
            matrix. NaN and None are missing values.
        y
            Outcome of each row.
        sample_weight
            How often each row counts: a weight of 2 is the row twice, a weight of 0 is no row.
        exposure
            Counts only: time or size over which each row was counted; None: 1.
        event
            Durations only: whether each duration ended in an event (True) or was censored (False).

        Returns
        -------
        Self
            The fitted estimator. If anything is wrong with the input, the estimator stays as it was.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from baytree import BayesianTreeRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> round(BayesianTreeRegressor().fit(X, y).score(X, y), 2)
        0.44
        """
        return self._fit(X, y, sample_weight, self._target_reader(), exposure=exposure, event=event)

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, event: Any = None) -> Self:
        """Add rows to the posteriors of the leaves they reach; the structure stays. Before any fit, this is a fit.

        Parameters
        ----------
        X, y, sample_weight, exposure, event
            As in `fit`.

        Returns
        -------
        Self
            The estimator.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from baytree import BayesianTreeRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = BayesianTreeRegressor().partial_fit(X[::2], y[::2])
        >>> model.partial_fit(X[1::2], y[1::2]).fitted_.fitted_on.n_rows
        442
        """
        add = self._add if self._is_fitted else self._fit
        return add(X, y, sample_weight, self._target_reader(), exposure=exposure, event=event)

    def _target_reader(self) -> NumberReader:
        return NumberReader(self.outcome, self.calibrate)
