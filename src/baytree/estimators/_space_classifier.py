"""Classification by a tree space."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import ClassifierMixin

from ..fitted import Fitted
from ..sources import ClassReader
from ._classifier import BayesianTreeClassifier
from ._predictions import ClassPredictions
from ._space import BaseTreeSpace


class TreeSpaceClassifier(ClassPredictions, ClassifierMixin, BaseTreeSpace):
    """Average exactly over many explored trees, each weighted by its posterior probability.

    The greedy-modal tree is the start; other partitions of its nodes are opened, best first, each with the greedy-modal
    trees below it. The graph that results stands for every tree that can be put together from it. Predictions are
    averages over all of these trees, exact and without sampling.

    Parameters
    ----------
    prior
        Dirichlet prior of the class probabilities in a leaf. None: two pseudo-observations in all, divided evenly among
        the classes. A number: that many for each class. An array: one for each class, in the order of ``classes_``; or
        a dict by class label. ``"paper"``: the 20 of the paper. ``"evidence"``: the strength between 0.2 and 200 with
        the highest evidence over the prunings of the greedy tree.
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
        For two classes: 1 for features with which the probability of the second class must not fall, -1 for those with
        which it must not rise, 0 for the others; one for each feature, or a dict by name or position.
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
    max_bins
        None: every distinct value counts. A number: columns with more distinct values are divided into that many
        quantile bins, which is faster and takes less memory; missing values and categories stay as they are. Bins need
        ``partitions="axis"``.
    decision
        Decision rule used by `predict`. None predicts the most probable class. With two classes, a number is the
        probability at or above which the second class is predicted, and ``{class: number}`` is one for the class that
        it names, which reports and plots then treat as the positive class. A matrix gives costs (a row for each true
        class, a column for each predicted class, in the order of ``classes_``), as does a dict ``{true class:
        {predicted class: cost}}`` in which errors that are not named cost 1. Probabilities do not depend on it.
    unseen
        Where a prediction sends a value (missing, or a new category) that the training rows at a split never had:
        ``"majority"`` to the side with more weight, ``"average"`` both ways, weighted by the two sides.
    verbose
        Whether to show progress on standard error.
    n_jobs
        Number of threads: None for one, -1 for all cores. The result does not depend on it.

    Attributes
    ----------
    classes_
        Class labels, sorted.
    space_
        The `TreeStore` of the tree space: parallel arrays of its nodes and choices.
    trees_, weights_
        The ten most probable trees, and their weights relative to each other.
    readable_tree_
        The most probable tree.
    log_evidence_bound_
        The most that `log_evidence_` could reach with everything explored.
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
    >>> from baytree import TreeSpaceClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = TreeSpaceClassifier().fit(X, y)
    >>> print(model.alternatives())
      64.7%  petal width (cm) <= 0.8   [50 | 100 rows]
      32.3%  petal length (cm) <= 2.4   [50 | 100 rows]
       1.7%  petal width (cm) <= 0.55   [49 | 101 rows]
       0.7%  petal length (cm) <= 3.1   [51 | 99 rows]
       0.3%  petal width (cm) <= 0.45   [48 | 102 rows]
       0.2%  petal length (cm) <= 1.8   [48 | 102 rows]
       0.1%  petal length (cm) <= 3.4   [53 | 97 rows]
       0.0%  no split
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
        space: str = "all",
        max_nodes: int | None = 3000,
        time_limit: float | None = None,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        class_weight: Any = None,
        weights: str | None = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_bins: int | None = None,
        decision: Any = None,
        unseen: str = "majority",
        verbose: bool = False,
        n_jobs: int | None = None,
    ) -> None:
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
        self.class_weight = class_weight
        self.weights = weights
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_bins = max_bins
        self.decision = decision
        self.unseen = unseen
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Explore the tree space.

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
        >>> from baytree import TreeSpaceClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> TreeSpaceClassifier(max_nodes=200).fit(X, y).predict_proba(X[:1]).round(2)
        array([[0.97, 0.01, 0.01]])
        """
        return self._fit(X, y, sample_weight, self._target_reader())

    def _target_reader(self) -> ClassReader:
        return ClassReader(self.class_weight, decision=self.decision)

    def _single_tree(self, fitted: Fitted, parameters: dict[str, Any]) -> BayesianTreeClassifier:
        return BayesianTreeClassifier.from_fitted(
            fitted, parameters | {"class_weight": self.class_weight, "decision": self.decision}
        )
