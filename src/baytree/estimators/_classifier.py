"""Classification."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from .._typing import AnyArray
from .._validation import shown
from ._predictions import ClassPredictions
from ..sources import ClassReader
from ._tree import SingleTree


class BayesianTreeClassifier(ClassPredictions, ClassifierMixin, SingleTree):
    """One decision tree, chosen by posterior probability, with a Dirichlet posterior in every leaf.

    Each node takes its most probable partition: no split (it becomes a leaf) or the best split. Of the tree that grows
    and all of its prunings, the most probable one is kept. Nothing is tuned or sampled: the same data give the same
    tree.

    Parameters
    ----------
    prior
        Dirichlet prior of the class probabilities in a leaf: None for two pseudo-observations in all, evenly
        spread; a number for that many per class; an array of one per class, in the order of ``classes_``, or a dict by
        class label; ``"paper"`` for the paper's 20 in all; or ``"evidence"``: the strength with the highest
        `log_evidence_`, between 0.2 and 200 in all, found in nine fits.
    prune
        Whether the grown tree is reduced to its most probable pruning. False: the paper's greedy-modal tree.
    partition_prior
        Prior of the partitions: the probability that the root splits, or a `PartitionPrior`.
    feature_prior
        How probable a split along each feature is beforehand: one weight per feature, or a dict of weights by name or
        position (others: 1). Zero leaves a feature out. None: all alike.
    smoothing
        The paper's delta: a child's prior is its parent's plus `smoothing` times its own class counts.
    lookahead
        Levels looked at beyond the next: 0 grows the greedy-modal tree; with k, a node takes the partition whose best
        subtree within k further levels is the most probable. Of each of a node's eight best features the best
        partition and the one that halves the rows are followed, so a level more costs up to 17 times as much.
    partitions
        ``"axis"``: splits along one feature; ``"oblique"``: also along hyperplanes of few features (docs/oblique.md).
    categorical_features
        Columns that hold categories: ``"from_dtype"`` for columns of text and of a categorical type, a mask, positions
        or names, or None. Columns whose type has an order (ordered categories in pandas, Enum in polars) are split by
        it, others into sets.
    monotonic_cst
        Two classes only: 1 for features with which the probability of the second class must not fall, -1 for those
        with which it must not rise, 0 for the others; one for each feature, or a dict by name or position.
    max_depth
        Most splits between the root and a leaf. None: no limit but the prior.
    min_samples_leaf
        Fewest rows in a leaf.
    min_weight_fraction_leaf
        Smallest share of the total weight in a leaf.
    max_leaf_nodes
        Most leaves; splits are kept best first, by gain in log posterior. None: no limit.
    class_weight
        Weights of the classes by label, ``"balanced"`` for the inverse of their frequency, or None.
    decision
        Which class `predict` decides for: None for the most probable; of two classes a threshold, the probability from
        which on the second is decided for; a matrix of costs (a row for each true class, a column for each class
        decided for, in the order of ``classes_``), or a dict ``{true class: {class decided for: cost}}`` in which
        errors that are not named cost 1. Probabilities do not depend on it.
    unseen
        What happens at predict to a value (missing, or a new category) that the training rows at a split never had:
        ``"majority"`` sends it to the side with more weight, ``"average"`` both ways, weighted by either side.
    max_bins
        None: every distinct value counts. A number: columns with more distinct values are divided into that many
        quantile bins, which is faster and takes less memory. Missing values and categories stay as they are.
    n_jobs
        Threads: None for one, -1 for all cores. The tree does not depend on it.

    Attributes
    ----------
    classes_
        Class labels, sorted.
    fitted_
        What was found: a `Fitted` of tree, outcome, schema and classes, which everything else reads.
    tree_
        The `Tree`: parallel arrays named as in scikit-learn, with posteriors.
    grown_tree_
        The same before it was pruned.
    schema_, categories_
        Names, kinds and categories of the columns; the categories alone.
    prior_, feature_importances_, feature_posterior_, log_posterior_, log_evidence_
        See their own descriptions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier(prior=1.0).fit(X, y)
    >>> model.get_n_leaves()
    5
    >>> model.posterior(X[:1])
    array([[51.,  1.,  1.]])
    """

    def __init__(
        self,
        *,
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
        class_weight: Any = None,
        decision: Any = None,
        unseen: str = "majority",
        max_bins: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
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
        self.class_weight = class_weight
        self.decision = decision
        self.unseen = unseen
        self.max_bins = max_bins
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X
            Table of n_rows rows and n_features columns: array, data frame (pandas, polars, pyarrow), list or sparse
            matrix. NaN and None are missing values.
        y
            Class label of each row.
        sample_weight
            How often each row counts: a weight of 2 is the row twice, a weight of 0 is no row.

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
        0.98
        """
        return self._fit(X, y, sample_weight, self._target_reader())

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the posteriors of the leaves they reach; the structure stays.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
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
                f"classes must be those of the first fit, {shown(self.classes_)}; got {shown(list(classes))}."
            )
        return self._add(X, y, sample_weight, self._target_reader())

    def _target_reader(self) -> ClassReader:
        return ClassReader(self.class_weight, decision=self.decision)


def read_classes(classes: Any) -> AnyArray:
    """Read the `classes` of a first `partial_fit`: all labels there are."""
    labels = np.unique(np.asarray(classes))
    if len(labels) == 0:
        raise ValueError("classes must list every class label; it is empty.")
    return labels
