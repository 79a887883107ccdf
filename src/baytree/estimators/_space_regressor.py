"""Real values, counts, durations and outcomes of your own, by a tree space."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin

from ..fitted import Fitted
from ..sources import NumberReader
from ._predictions import NumberPredictions
from ._regressor import BayesianTreeRegressor
from ._space import BaseTreeSpace


class TreeSpaceRegressor(NumberPredictions, RegressorMixin, BaseTreeSpace):
    """Average exactly over many explored trees for numbers, each weighted by its posterior probability.

    Parameters
    ----------
    outcome
        ``"normal"`` for real values, ``"poisson"`` for counts, ``"negative_binomial"`` for counts that vary more than
        Poisson ones, ``"exponential"`` for durations, or an object of your own (docs/your_outcome.md).
    prior
        Parameters of the conjugate prior in a leaf: ``(mu, kappa, alpha, beta)`` of a Normal-Gamma for ``"normal"``,
        ``(a, b)`` of a Beta for ``"negative_binomial"``, ``(shape, rate)`` of a Gamma for the others. None: set from y;
        for ``"normal"`` the noise comes from the leaves of a first and a second tree (docs/theory.md). ``"evidence"``:
        the strength (``"normal"``: the noise) with the highest evidence over the prunings of the greedy tree.
    partition_prior
        Prior of the partitions: the probability that a node splits; or a `PartitionPrior`; or ``"paper"`` for that of
        the paper, ``0.99 ** (1 + depth)``, with which a node takes its most probable single partition. At 0.5 the odds
        of a split are what the data say.
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
        ``"axis"``: splits along one feature. ``"oblique"``: also along hyperplanes of a few features (docs/oblique.md).
    space
        The trees to explore. ``"all"``: other splits at every node, the most probable first. ``"roots"``: other splits
        at the root only, as the paper proposes. ``"prunings"``: the greedy tree and all of its prunings.
    max_nodes
        Maximum number of nodes to explore beyond those of the greedy tree. None: no limit. A node takes about two
        kilobytes.
    time_limit
        Seconds after which the exploration beyond the greedy tree ends. None: no limit. Ctrl-C ends it too; the model
        then holds the trees that were explored.
    categorical_features
        Columns that hold categories: ``"from_dtype"`` for columns of text and of a categorical type; a mask, positions
        or names; or None. Columns whose type has an order (ordered categories in pandas, Enum in polars) are split by
        that order, others into sets.
    monotonic_cst
        1 for features with which the prediction must not fall, -1 for those with which it must not rise, 0 for the
        others; one for each feature, or a dict by name or position.
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
    max_bins
        None: every distinct value counts. A number: columns with more distinct values are divided into that many
        quantile bins, which is faster and takes less memory; missing values and categories stay as they are. Bins need
        ``partitions="axis"``.
    calibrate
        Whether to widen or narrow predictive distributions by the factor `spread_`, so that 90 % intervals hold nine in
        ten cross-validated rows; for ``"normal"`` only. The posterior of the mean and `posterior` are not changed.
    unseen
        Where a prediction sends a value (missing, or a new category) that the training rows at a split never had:
        ``"majority"`` to the side with more weight, ``"average"`` both ways, weighted by the two sides.
    verbose
        Whether to show progress on standard error.
    n_jobs
        Number of threads: None for one, -1 for all cores. The result does not depend on it.

    Attributes
    ----------
    space_
        The `TreeStore` of the tree space: parallel arrays of its nodes and choices.
    trees_, weights_
        The ten most probable trees, and their weights relative to each other.
    readable_tree_
        The most probable tree.
    log_evidence_bound_
        The most that `log_evidence_` could reach with everything explored.
    spread_
        The factor by which predictive distributions are wider than the leaves alone make them.
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
    >>> from baytree import TreeSpaceRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = TreeSpaceRegressor().fit(X, y)
    >>> model.predict(X[:1]).round(1), model.predict_interval(X[:1], level=0.9).round(0)
    (array([197.]), array([[ 80., 310.]]))
    """

    def __init__(
        self,
        *,
        outcome: Any = "normal",
        prior: Any = None,
        partition_prior: Any = 0.5,
        thresholds: str = "round",
        feature_prior: Any = None,
        smoothing: float = 0.0,
        partitions: str = "axis",
        space: str = "all",
        max_nodes: int | None = 3000,
        time_limit: float | None = None,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        weights: str | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_bins: int | None = None,
        calibrate: bool = True,
        unseen: str = "majority",
        verbose: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.outcome = outcome
        self.prior = prior
        self.partition_prior = partition_prior
        self.thresholds = thresholds
        self.feature_prior = feature_prior
        self.smoothing = smoothing
        self.partitions = partitions
        self.space = space
        self.max_nodes = max_nodes
        self.time_limit = time_limit
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.weights = weights
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_bins = max_bins
        self.calibrate = calibrate
        self.unseen = unseen
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, event: Any = None) -> Self:
        """Explore the tree space.

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
        >>> from baytree import TreeSpaceRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> TreeSpaceRegressor(max_nodes=50).fit(X, y).predict(X[:1]).round(0)
        array([198.])
        """
        return self._fit(X, y, sample_weight, self._target_reader(), exposure=exposure, event=event)

    def _target_reader(self) -> NumberReader:
        return NumberReader(self.outcome, self.calibrate)

    def _single_tree(self, fitted: Fitted, parameters: dict[str, Any]) -> BayesianTreeRegressor:
        return BayesianTreeRegressor.from_fitted(fitted, parameters | {"outcome": self.outcome})
