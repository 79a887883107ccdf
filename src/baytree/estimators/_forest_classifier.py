"""Classification by a forest."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from .._typing import FloatArray
from ..fitted import Fitted, OutOfBag
from ..growth import TableData
from ..outcomes import Outcome
from ..sources import ClassReader
from ._classifier import BayesianTreeClassifier
from ._forest import BaseForest
from ._predictions import ClassPredictions


class BayesianForestClassifier(ClassPredictions, ClassifierMixin, BaseForest):
    """The average of trees, each grown on the table with random weights: more accurate than any one of them.

    A tree of the forest draws a weight for every row (Bayesian bootstrap: independent exponential weights, a draw from
    the posterior of the distribution that the rows come from), and is grown as a `BayesianTreeClassifier` would be, but
    deeper: its rows count several times as much while it grows. Leaves keep their honest counts. Predictions are means
    over the trees; their spread tells what the data leave open (docs/forest.md).

    Parameters
    ----------
    n_estimators
        Number of trees.
    prior
        Dirichlet prior of the class probabilities in a leaf. None: two pseudo-observations in all, divided evenly among
        the classes. A number: that many for each class. An array: one for each class, in the order of ``classes_``; or
        a dict by class label. ``"paper"``: the 20 of the paper. ``"evidence"``: the strength between 0.2 and 200 with
        the highest evidence over the prunings of the tree of all rows.
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
        For two classes: 1 for features with which the probability of the second class must not fall, -1 for those with
        which it must not rise, 0 for the others; one for each feature, or a dict by name or position. A forest with
        constraints has trees of ordinary depth.
    interaction_cst
        Sets of columns that may stand on one path, by name or position: all columns of the splits on a path are in one
        set. Columns in no set form one more. ``"pairwise"`` allows any two columns, ``"no_interactions"`` one. The
        columns of a hyperplane are in one set too. None: no limit (docs/input_data.md).
    class_weight
        Weights of the classes by label, ``"balanced"`` for weights in inverse proportion to their frequency, or None.
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
        Whether to calibrate the average over the trees by `calibration_`: an exponent and intercepts of the classes,
        fitted on training rows, each predicted by the trees that do not have it (docs/forest.md). Fewer than 20 rows
        are not calibrated.
    decision
        Decision rule used by `predict`. None predicts the most probable class. With two classes, a number is the
        probability at or above which the second class is predicted, and ``{class: number}`` is one for the class that
        it names, which reports and plots then treat as the positive class. A matrix gives costs (a row for each true
        class, a column for each predicted class, in the order of ``classes_``), as does a dict ``{true class:
        {predicted class: cost}}`` in which errors that are not named cost 1. Probabilities do not depend on it.
    unseen
        Where a prediction sends a value (missing, or a new category) that the training rows at a split never had:
        ``"majority"`` to the side with more weight, ``"average"`` both ways, weighted by the two sides.
    oob_score
        Whether to predict every row by the trees that do not have it: ``oob_score_``, ``oob_decision_function_``. Of
        several equal rows one is left out.
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
    classes_
        Class labels, sorted.
    trees_
        The trees, as single-tree estimators.
    readable_tree_, readable_agreement_
        One tree to read, grown on all rows, and how near it comes to the forest.
    root_feature_shares_
        The proportion of the trees whose root is split along each feature and, last, of those without a split.
    oob_score_, oob_decision_function_
        Accuracy and class probabilities of training rows by the trees that do not have them (NaN where all have).
    calibration_
        The `ForestCalibration` of class probabilities: an exponent and an intercept for each class.
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
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianForestClassifier(random_state=0).fit(X, y)
    >>> model.predict(X[:1]), len(model.trees_)
    (array([0]), 100)
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        prior: Any = None,
        partition_prior: Any = 0.9,
        thresholds: str = "round",
        feature_prior: Any = None,
        smoothing: float = 0.0,
        partitions: str = "oblique",
        lookahead: int = 0,
        prune: bool = False,
        bootstrap: str = "bayesian",
        max_features: Any = 0.5,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        class_weight: Any = None,
        weights: str | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        max_bins: int | None = None,
        calibrate: bool = True,
        decision: Any = None,
        unseen: str = "majority",
        oob_score: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        verbose: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
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
        self.class_weight = class_weight
        self.weights = weights
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_bins = max_bins
        self.calibrate = calibrate
        self.decision = decision
        self.unseen = unseen
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.random_state = random_state
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X
            Table of n_rows rows and n_features columns: array, data frame (pandas, polars, pyarrow), list or sparse
            matrix. NaN and None are missing values. Or rows elsewhere, such as a Dask or Spark data frame, an Ibis
            table or the path of Parquet files; then the other arguments are names of its columns, as in `engines.fit`.
        y
            Class label of each row.
        sample_weight
            Weight of each row. Weights are counts: a row of weight 2 is treated as two equal rows, one of weight 0 as
            no row.

        Returns
        -------
        Self
            The fitted estimator. If anything is wrong with the input, the estimator stays as it was.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> BayesianForestClassifier(10, random_state=0).fit(X, y).predict(X[:1])
        array([0])
        """
        return self._fit(X, y, sample_weight, self._target_reader())

    def _target_reader(self) -> ClassReader:
        return ClassReader(self.class_weight, decision=self.decision, calibrate=self.calibrate)

    def _single_tree(self, fitted: Fitted, parameters: dict[str, Any]) -> BayesianTreeClassifier:
        class_parameters = {"class_weight": self.class_weight, "decision": self.decision}
        return BayesianTreeClassifier.from_fitted(fitted, parameters | class_parameters)

    @property
    def oob_decision_function_(self) -> FloatArray:
        """Probabilities of the training rows by the trees that do not have them; NaN where all have a row.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianForestClassifier(oob_score=True, random_state=0).fit(X, y)
        >>> model.oob_decision_function_.shape
        (150, 3)
        """
        return self._kept_out_of_bag().mean

    def _out_of_bag(self, mean: FloatArray, data: TableData, outcome: Outcome) -> OutOfBag:
        of_rows = mean if data.has_weight is None else mean[data.has_weight]
        known = ~np.isnan(of_rows[:, 0])
        decided = self._target_reader().read_decision(outcome.classes).codes(of_rows[known])
        score = float(np.mean(decided == data.target.y[known])) if known.any() else float("nan")
        return OutOfBag(mean, score)
