"""Real values, counts, durations and outcomes of your own, by a forest."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from .._typing import FloatArray
from ..fitted import Fitted, OutOfBag
from ..growth import TableData
from ..outcomes import Outcome
from ..sources import NumberReader
from ._forest import BaseForest
from ._predictions import NumberPredictions
from ._regressor import BayesianTreeRegressor


class BayesianForestRegressor(NumberPredictions, RegressorMixin, BaseForest):
    """The average of trees for numbers, each grown on the table with random weights.

    Parameters
    ----------
    n_estimators
        Number of trees.
    outcome
        ``"normal"`` for real values, ``"poisson"`` for counts, ``"negative_binomial"`` for counts that vary more than
        Poisson ones, ``"exponential"`` for durations, or an object of your own (docs/your_outcome.md).
    prior
        Parameters of the conjugate prior in a leaf: ``(mu, kappa, alpha, beta)`` of a Normal-Gamma for ``"normal"``,
        ``(a, b)`` of a Beta for ``"negative_binomial"``, ``(shape, rate)`` of a Gamma for the others. None: set from y;
        for ``"normal"`` the noise comes from the leaves of a first and a second tree (docs/theory.md). ``"evidence"``:
        the strength (``"normal"``: the noise) with the highest evidence over the prunings of the tree of all rows.
    partition_prior
        Prior of the partitions: the probability that a node splits; or a `PartitionPrior`; or ``"paper"`` for that of
        the paper, ``0.99 ** (1 + depth)``. Trees that are averaged may split more readily than one that is read.
    thresholds
        Where a threshold lies between two neighbouring values; no probability depends on it. ``"round"``: the number
        with the fewest digits in the middle half of the gap. ``"midpoint"``: halfway, as in the paper, and always so
        with ``partition_prior="paper"``; to have that prior with round thresholds, give it as a `PartitionPrior`.
    feature_prior
        Prior probability of a split along each feature: one weight for each feature, or a dict of weights by name or
        position (others: 1). Zero leaves a feature out. None: the same for all.
    smoothing
        The paper's delta: a child's prior is the prior of its parent plus `smoothing` times the sufficient statistics
        of the child.
    partitions
        ``"oblique"``: splits along one feature and along hyperplanes of several. ``"axis"``: along one feature only,
        which is several times as fast.
    lookahead
        Number of levels to look ahead. 0 grows the greedy-modal tree. With k, a node takes the partition whose best
        subtree within k further levels is the most probable. The eight best features of a node are followed, each by
        its best partition and by the one that halves the rows, so a further level costs up to 17 times as much.
    prune
        Whether to reduce every tree to its most probable pruning. The average is more accurate without.
    bootstrap
        ``"bayesian"``: every row has a random weight in every tree, some of them zero. ``"resample"``: rows are drawn
        with replacement.
    max_features
        Features that each node draws to choose from: a proportion (at least two features), a number, ``"sqrt"``,
        ``"log2"``, or None for all.
    categorical_features
        Columns that hold categories: ``"from_dtype"`` for columns of text and of a categorical type; a mask, positions
        or names; or None. Columns whose type has an order (ordered categories in pandas, Enum in polars) are split by
        that order, others into sets.
    monotonic_cst
        1 for features with which the prediction must not fall, -1 for those with which it must not rise, 0 for the
        others; one for each feature, or a dict by name or position. A forest with constraints has trees of ordinary
        depth.
    interaction_cst
        Sets of columns that may stand on one path, by name or position: all columns of the splits on a path are in one
        set. Columns in no set form one more. ``"pairwise"`` allows any two columns, ``"no_interactions"`` one. The
        columns of a hyperplane are in one set too. None: no limit (docs/input_data.md).
    weights
        What `sample_weight` means. ``"counts"``: a row of weight 2 stands for two equal rows. ``"importance"``: weights
        only compare rows, as those of a survey do; they are scaled to sum to the effective number of rows, (sum of w)²
        / (sum of w²). None: counts, with a warning where they sum to much more than the number of rows.
    max_depth
        Maximum depth. None: no limit other than the prior.
    min_samples_leaf
        Minimum number of rows in a leaf, whatever their weights.
    min_weight_fraction_leaf
        Minimum proportion of the total weight in a leaf.
    max_leaf_nodes
        Maximum number of leaves of a tree. Each is the most probable pruning of the grown tree with exactly so many
        leaves, where the grown tree has more; with ``prune=True`` with at most so many. None: no limit.
    max_bins
        None: every distinct value counts. A number: columns with more distinct values are divided into that many
        quantile bins, which is faster and takes less memory; missing values and categories stay as they are. Bins need
        ``partitions="axis"``.
    calibrate
        Whether to stretch means about the overall mean by the factor `slope_`, and to widen or narrow predictive
        distributions by the factor `spread_`, so that 90 % intervals hold nine in ten training rows, each predicted by
        the trees that do not have it; for ``"normal"`` only.
    unseen
        Where a prediction sends a value (missing, or a new category) that the training rows at a split never had:
        ``"majority"`` to the side with more weight, ``"average"`` both ways, weighted by the two sides.
    oob_score
        Whether to predict every row by the trees that do not have it: ``oob_score_``, ``oob_prediction_``. Of several
        equal rows one is left out.
    warm_start
        Whether a further `fit` on the same table keeps the trees and adds those that `n_estimators` asks for beyond.
    random_state
        Seed of the random weights and of the features that nodes draw. The forest does not depend on the order of the
        rows.
    verbose
        Whether to show progress on standard error.
    n_jobs
        Number of threads: None for one, -1 for all cores. The result does not depend on it.

    Attributes
    ----------
    trees_
        The trees, as single-tree estimators.
    readable_tree_, readable_agreement_
        One tree to read, grown on all rows, and how near it comes to the forest.
    root_feature_shares_
        The proportion of the trees whose root is split along each feature and, last, of those without a split.
    oob_score_, oob_prediction_
        R2 and means of training rows by the trees that do not have them (NaN where all have). With an `exposure`, R2 of
        the counts and ``oob_prediction_`` times the exposure; NaN where durations are censored.
    spread_, slope_
        The factor by which predictive distributions are wider than the leaves alone make them, and the factor by which
        means are farther from the overall mean.
    prior_
        Parameters of the prior at the root.
    feature_posterior_
        Probability that the root is split along each feature and, last, that it is not split.
    feature_importances_
        Each feature's share of the gain in log marginal likelihood.
    feature_inclusion_
        The probability that a tree uses each feature; in a forest the proportion of the trees.
    log_posterior_, log_evidence_
        Log of prior times likelihood of the readable tree, and of the evidence of all trees that were explored.
    schema_, categories_
        Names, kinds and categories of the columns; the categories alone.
    fitted_
        The `Fitted` result: trees, outcome, schema and decision, which everything else reads.

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
        partition_prior: Any = 0.9,
        thresholds: str = "round",
        feature_prior: Any = None,
        smoothing: float = 0.0,
        partitions: str = "oblique",
        lookahead: int = 0,
        prune: bool = False,
        bootstrap: str = "bayesian",
        max_features: Any = 0.8,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        weights: str | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        max_bins: int | None = None,
        calibrate: bool = True,
        unseen: str = "majority",
        oob_score: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.outcome = outcome
        self.prior = prior
        self.partition_prior = partition_prior
        self.thresholds = thresholds
        self.feature_prior = feature_prior
        self.smoothing = smoothing
        self.partitions = partitions
        self.lookahead = lookahead
        self.prune = prune
        self.bootstrap = bootstrap
        self.max_features = max_features
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.weights = weights
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_bins = max_bins
        self.calibrate = calibrate
        self.unseen = unseen
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, event: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X
            Table of n_rows rows and n_features columns: array, data frame (pandas, polars, pyarrow), list or sparse
            matrix. NaN and None are missing values. Or rows elsewhere, such as a Dask or Spark data frame, an Ibis
            table or the path of Parquet files; then the other arguments are names of its columns, as in `engines.fit`.
        y
            Outcome of each row.
        sample_weight
            Weight of each row. Weights are counts: a row of weight 2 is treated as two equal rows, one of weight 0 as
            no row.
        exposure
            Time or size over which each row was counted; for ``outcome="poisson"`` and ``"negative_binomial"``.
        event
            Whether each duration ended in an event (else it is censored); for ``outcome="exponential"``.

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

    @property
    def slope_(self) -> float:
        """The factor by which means are farther from the overall mean than the leaves alone make them.

        An average of trees draws its predictions together. The slope is that of least squares on training rows, each
        predicted by the trees that do not have it; 1 where forests are not calibrated, and for counts and durations.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from baytree import BayesianForestRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> BayesianForestRegressor(calibrate=False, random_state=0).fit(X, y).slope_
        1.0
        """
        check_is_fitted(self)
        return float(getattr(self.fitted_.outcome, "slope", 1.0))

    @property
    def oob_prediction_(self) -> FloatArray:
        """Predictions of the training rows by the trees that do not have them; NaN where all have a row.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from baytree import BayesianForestRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = BayesianForestRegressor(oob_score=True, random_state=0).fit(X, y)
        >>> model.oob_prediction_.shape
        (442,)
        """
        return self._kept_out_of_bag().mean

    def _out_of_bag(self, mean: FloatArray, data: TableData, outcome: Outcome) -> OutOfBag:  # noqa: ARG002
        of_rows = mean[:, 0] if data.has_weight is None else mean[data.has_weight, 0]
        y, known = np.asarray(data.target.y, dtype=np.float64), np.isfinite(of_rows)
        expected = of_rows * data.target.extra_values("exposure")  # counts, where rates are predicted
        has_score = known.sum() > 1 and bool(np.all(data.target.extra_values("event") == 1))
        score = float(r2_score(y[known], expected[known])) if has_score else float("nan")
        return OutOfBag(mean[:, 0], score)
