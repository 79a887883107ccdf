"""Real values, counts, durations and outcomes of your own."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if

from ..sources import NumberReader
from ._parameters import has_constant_leaves
from ._predictions import NumberPredictions
from ._tree import SingleTree


class BayesianTreeRegressor(NumberPredictions, RegressorMixin, SingleTree):
    """One decision tree for numbers, chosen by posterior probability, with a full posterior in every leaf.

    Parameters
    ----------
    outcome
        ``"normal"`` for real values, ``"poisson"`` for counts, ``"negative_binomial"`` for counts that vary more than
        Poisson ones, ``"exponential"`` for durations, or an object of your own (docs/your_outcome.md).
    prior
        Parameters of the conjugate prior in a leaf: ``(mu, kappa, alpha, beta)`` of a Normal-Gamma for ``"normal"``,
        ``(a, b)`` of a Beta for ``"negative_binomial"``, ``(shape, rate)`` of a Gamma for the others. None: set from y;
        for ``"normal"`` the noise comes from the leaves of a first and a second tree (docs/theory.md). ``"evidence"``:
        the strength (``"normal"``: the noise) with the highest evidence, found in nine fits.
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
    leaf
        ``"constant"``: every leaf holds a mean. ``"linear"``: every leaf holds a linear model of few terms, which the
        evidence chooses (docs/linear_leaves.md); for ``"normal"`` only.
    max_leaf_terms
        Maximum number of terms in a leaf, for ``leaf="linear"``.
    extrapolate
        For ``leaf="linear"``: whether to use values beyond those of the training rows of a leaf as they are. False
        moves them to the nearest value of these rows, and keeps predictions in the range of their y, widened by 10 % on
        either side.
    lookahead
        Number of levels to look ahead. 0 grows the greedy-modal tree. With k, a node takes the partition whose best
        subtree within k further levels is the most probable. The eight best features of a node are followed, each by
        its best partition and by the one that halves the rows, so a further level costs up to 17 times as much.
    prune
        Whether to reduce the grown tree to its most probable pruning. False keeps the paper's greedy-modal tree.
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
    forced_splits
        Splits that the tree begins with, and columns that are forbidden below them, as nested dicts: ``{"column":
        "age", "threshold": 30, "left": {"leaf": True}, "right": {"forbidden": ["sex"]}}``. A forced split is never
        pruned, and its odds are those that the rows give (docs/edit.md). None: no forced splits.
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
        Maximum number of leaves. The tree is the most probable pruning of the grown tree with at most so many leaves;
        with ``prune=False`` with exactly so many, where the grown tree has more. None: no limit.
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
    n_jobs
        Number of threads: None for one, -1 for all cores. The result does not depend on it.

    Attributes
    ----------
    tree_
        The `TreeStore` of the tree: parallel arrays named as in scikit-learn, with posteriors.
    grown_tree_
        The tree as it was grown, before it was pruned.
    spread_
        The factor by which predictive distributions are wider than the leaves alone make them.
    prior_
        Parameters of the prior at the root.
    feature_posterior_
        Probability that the root is split along each feature and, last, that it is not split.
    feature_importances_
        Each feature's share of the gain in log marginal likelihood.
    log_posterior_, log_evidence_
        Log of prior times likelihood of the readable tree, and of the evidence of all trees that were explored.
    schema_, categories_
        Names, kinds and categories of the columns; the categories alone.
    fitted_
        The `Fitted` result: trees, outcome, schema and decision, which everything else reads.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from baytree import BayesianTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BayesianTreeRegressor().fit(X, y)
    >>> model.predict(X[:1]).round(1), model.predict_interval(X[:1], level=0.9).round(0)
    (array([192.9]), array([[ 75., 310.]]))
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
        leaf: str = "constant",
        max_leaf_terms: int = 10,
        extrapolate: bool = False,
        lookahead: int = 0,
        prune: bool = True,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        forced_splits: Any = None,
        weights: str | None = None,
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
        self.partition_prior = partition_prior
        self.thresholds = thresholds
        self.feature_prior = feature_prior
        self.smoothing = smoothing
        self.partitions = partitions
        self.leaf = leaf
        self.max_leaf_terms = max_leaf_terms
        self.extrapolate = extrapolate
        self.lookahead = lookahead
        self.prune = prune
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.forced_splits = forced_splits
        self.weights = weights
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
        >>> from baytree import BayesianTreeRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> round(BayesianTreeRegressor().fit(X, y).score(X, y), 2)
        0.48
        """
        return self._fit(X, y, sample_weight, self._target_reader(), exposure=exposure, event=event)

    @available_if(has_constant_leaves)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, exposure: Any = None, event: Any = None) -> Self:
        """Add rows to the posteriors of the leaves they reach; the structure stays. Before any fit, this is a fit.

        Parameters
        ----------
        X, y, sample_weight, exposure, event
            Rows with what belongs to them, in the form that `fit` takes.

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
