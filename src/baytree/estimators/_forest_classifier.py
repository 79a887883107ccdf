"""Classification by a forest."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from .._typing import FloatArray
from ..fitted import Fitted
from ..growth import TableData
from ..outcomes import Outcome
from ._classifier import BayesianTreeClassifier
from ._forest import BaseForest
from ._predictions import ClassPredictions
from ..sources import ClassReader


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
        As in `BayesianTreeClassifier`; ``"evidence"`` chooses by the tree of all rows as they are.
    prune
        Whether every tree is reduced to its most probable pruning; the average is better without.
    partition_prior, feature_prior, smoothing, lookahead, categorical_features, monotonic_cst
        As in `BayesianTreeClassifier`. A forest that is held to `monotonic_cst` has trees of ordinary depth.
    partitions
        ``"oblique"``: splits along one feature and along hyperplanes of several; ``"axis"``: the former alone, which is
        several times as fast.
    bootstrap
        ``"bayesian"``: every row has a random weight in every tree, some of them zero; ``"resample"``: rows are drawn
        with replacement.
    max_features
        Features that each node draws to choose from: a share (but at least two), a number, ``"sqrt"``,
        ``"log2"``, or None for all.
    max_depth, min_samples_leaf, min_weight_fraction_leaf, max_leaf_nodes, class_weight, decision, unseen, max_bins
        As in `BayesianTreeClassifier`, for every tree. `max_bins` needs ``partitions="axis"``.
    oob_score
        Whether to predict every row by the trees that lack it: ``oob_score_``, ``oob_decision_function_``. Of several
        equal rows it is one that they lack.
    random_state
        Seed of the weights and of the features. The forest does not depend on the order of the rows, and a row of
        weight 2 is the row twice.
    warm_start
        Whether a further `fit` on the same table keeps the trees and adds those that `n_estimators` asks for beyond.
    verbose
        Whether to show on standard error how many trees are grown.
    n_jobs
        Threads: None for one, -1 for all cores. The forest does not depend on it.

    Attributes
    ----------
    classes_
        Class labels, sorted.
    fitted_
        What was found: a `Fitted` of trees, outcome, schema and classes, which everything else reads.
    trees_
        The trees, as single-tree estimators.
    readable_tree_, readable_agreement_
        One tree to read, and how near it comes to the forest.
    schema_, categories_
        Names, kinds and categories of the columns; the categories alone.
    oob_score_, oob_decision_function_
        Accuracy and class probabilities of training rows by the trees that do not have them (NaN where all have).
    prior_, feature_importances_, feature_inclusion_, feature_posterior_, stability_, log_evidence_, log_posterior_
        See their own descriptions.

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
        class_weight: Any = None,
        decision: Any = None,
        unseen: str = "majority",
        max_bins: int | None = None,
        oob_score: bool = False,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
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
        self.class_weight = class_weight
        self.decision = decision
        self.unseen = unseen
        self.max_bins = max_bins
        self.oob_score = oob_score
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X, y, sample_weight
            As in `BayesianTreeClassifier.fit`.

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
        return ClassReader(self.class_weight, decision=self.decision)

    def _single_tree(self, fitted: Fitted, parameters: dict[str, Any]) -> BayesianTreeClassifier:
        own = {"class_weight": self.class_weight, "decision": self.decision}
        return BayesianTreeClassifier.from_fitted(fitted, parameters | own)

    def _keep_out_of_bag(self, mean: FloatArray, data: TableData, outcome: Outcome) -> None:
        self.oob_decision_function_ = mean
        of_rows = mean if data.counted is None else mean[data.counted]
        known = ~np.isnan(of_rows[:, 0])
        decided = self._target_reader().read_decision(outcome.classes).codes(of_rows[known])
        self.oob_score_ = float(np.mean(decided == data.target.y[known])) if known.any() else float("nan")
