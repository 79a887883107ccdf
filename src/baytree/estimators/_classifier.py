"""Classification."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray
from .._validation import short_repr
from ..sources import ClassReader
from ..tree import merge_alike
from ._parameters import has_constant_leaves
from ._predictions import ClassPredictions
from ._tree import SingleTree


class BayesianTreeClassifier(ClassPredictions, ClassifierMixin, SingleTree):
    """One decision tree, chosen by posterior probability, with a Dirichlet posterior in every leaf.

    Each node takes its most probable partition: no split (it becomes a leaf) or the best split. Of the tree that grows
    and all of its prunings, the most probable one is kept. Nothing is tuned or sampled: the same data give the same
    tree.

    Parameters
    ----------
    prior
        Dirichlet prior of the class probabilities in a leaf. None: two pseudo-observations in all, divided evenly among
        the classes. A number: that many for each class. An array: one for each class, in the order of ``classes_``; or
        a dict by class label. ``"paper"``: the 20 of the paper. ``"evidence"``: the strength between 0.2 and 200 with
        the highest evidence, found in nine fits.
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
        ``"constant"``: every leaf holds class probabilities. ``"linear"``: every leaf holds a logistic model of few
        terms, which the evidence chooses (docs/linear_leaves.md).
    max_leaf_terms
        Maximum number of terms in a leaf, for ``leaf="linear"``.
    extrapolate
        For ``leaf="linear"``: whether to use values beyond those of the training rows of a leaf as they are. False
        moves them to the nearest value of these rows.
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
        For two classes: 1 for features with which the probability of the second class must not fall, -1 for those with
        which it must not rise, 0 for the others; one for each feature, or a dict by name or position.
    interaction_cst
        Sets of columns that may stand on one path, by name or position: all columns of the splits on a path are in one
        set. Columns in no set form one more. ``"pairwise"`` allows any two columns, ``"no_interactions"`` one. The
        columns of a hyperplane are in one set too. None: no limit (docs/input_data.md).
    forced_splits
        Splits that the tree begins with, and columns that are forbidden below them, as nested dicts: ``{"column":
        "age", "threshold": 30, "left": {"leaf": True}, "right": {"forbidden": ["sex"]}}``. A forced split is never
        pruned, and its odds are those that the rows give (docs/edit.md). None: no forced splits.
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
        Maximum number of leaves. The tree is the most probable pruning of the grown tree with at most so many leaves;
        with ``prune=False`` with exactly so many, where the grown tree has more. None: no limit.
    max_bins
        None: every distinct value counts. A number: columns with more distinct values are divided into that many
        quantile bins, which is faster and takes less memory; missing values and categories stay as they are. Bins need
        ``partitions="axis"``.
    calibrate
        Whether to discount the counts of leaves and to draw them to the overall rates of the classes, by
        `calibration_`, so that 90 % intervals of a leaf's probabilities hold nine in ten on new rows
        (docs/certainty.md). False predicts from the conjugate posterior, which `posterior` gives in any case. Fewer
        than 20 rows are not calibrated.
    decision
        Decision rule used by `predict`. None predicts the most probable class. With two classes, a number is the
        probability at or above which the second class is predicted, and ``{class: number}`` is one for the class that
        it names, which reports and plots then treat as the positive class. A matrix gives costs (a row for each true
        class, a column for each predicted class, in the order of ``classes_``), as does a dict ``{true class:
        {predicted class: cost}}`` in which errors that are not named cost 1. Probabilities do not depend on it.
    unseen
        Where a prediction sends a value (missing, or a new category) that the training rows at a split never had:
        ``"majority"`` to the side with more weight, ``"average"`` both ways, weighted by the two sides.
    n_jobs
        Number of threads: None for one, -1 for all cores. The result does not depend on it.

    Attributes
    ----------
    classes_
        Class labels, sorted.
    tree_
        The `TreeStore` of the tree: parallel arrays named as in scikit-learn, with posteriors.
    grown_tree_
        The tree as it was grown, before it was pruned.
    calibration_
        The `Calibration` of class probabilities: a discount, a strength, and the overall rates.
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
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier(prior=1.0).fit(X, y)
    >>> model.get_n_leaves()
    3
    >>> model.posterior(X[:1])
    array([[51.,  1.,  1.]])
    """

    def __init__(
        self,
        *,
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
        n_jobs: int | None = None,
    ) -> None:
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
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

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
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> BayesianTreeClassifier().fit(X, y).score(X, y)
        0.96
        """
        return self._fit(X, y, sample_weight, self._target_reader())

    @available_if(has_constant_leaves)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the posteriors of the leaves they reach; the structure stays.

        Parameters
        ----------
        X
            Table with the columns of `fit`.
        y
            Class label of each row.
        sample_weight
            Weight of each row.
        classes
            All class labels, for a first call on a table that may lack some. Before any fit, this call is a fit.

        Returns
        -------
        Self
            The estimator.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = BayesianTreeClassifier().partial_fit(X[::2], y[::2])
        >>> model.partial_fit(X[1::2], y[1::2]).posterior(X[:1]).round(2)
        array([[50.67,  0.67,  0.67]])
        """
        given = None if classes is None else read_classes(classes)
        if not self._is_fitted:
            return self._fit(X, y, sample_weight, replace(self._target_reader(), classes=given))
        if given is not None and not np.array_equal(given, self.classes_):
            raise ValueError(
                f"classes must be those of the first fit, {short_repr(self.classes_)}; got {short_repr(list(classes))}."
            )
        return self._add(X, y, sample_weight, self._target_reader())

    def decision_tree(self) -> Self:
        """Return the model with leaves merged that lead to the same decision.

        Every row gets the same decision as before; probabilities are those of the merged leaves. Leaves stay apart
        where the merged leaf by itself would lead to another decision, as may happen near a threshold.

        Returns
        -------
        Self
            A fitted estimator with the parameters of this one.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from baytree import BayesianTreeClassifier
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = BayesianTreeClassifier().fit(X, y)
        >>> merged = model.decision_tree()
        >>> model.get_n_leaves(), merged.get_n_leaves(), bool((merged.predict(X) == model.predict(X)).all())
        (5, 4, True)
        """
        check_is_fitted(self)
        fitted = self.fitted_
        fitted.check_constant("A decision tree")
        if fitted.unseen != "majority":
            raise ValueError(
                "decision_tree needs unseen='majority': the average over both sides of a split may lead to a decision "
                "that neither side has."
            )
        merged = fitted.with_pruning(merge_alike(fitted.trees, fitted.node_codes))
        return type(self).from_fitted(merged, self.get_params(deep=False))

    def _target_reader(self) -> ClassReader:
        return ClassReader(self.class_weight, decision=self.decision, calibrate=self.calibrate)


def read_classes(classes: Any) -> AnyArray:
    """Read the `classes` of a first `partial_fit`: all labels there are."""
    labels = np.unique(np.asarray(classes))
    if len(labels) == 0:
        raise ValueError("classes must list every class label; it is empty.")
    return labels
