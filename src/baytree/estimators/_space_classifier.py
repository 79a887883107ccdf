"""Classification by a tree space."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import ClassifierMixin

from ..fitted import Fitted
from ._classifier import BayesianTreeClassifier
from ._predictions import ClassPredictions
from ._space import BaseTreeSpace
from ..sources import ClassReader


class TreeSpaceClassifier(ClassPredictions, ClassifierMixin, BaseTreeSpace):
    """All trees that the data support, each with its posterior probability, and their exact average.

    The greedy-modal tree is the start; other partitions of its nodes are opened, best first, each with the greedy-modal
    trees below it. The graph that results stands for every tree that can be put together from it. Predictions are
    averages over all of these trees, exact and without sampling.

    Parameters
    ----------
    prior
        As in `BayesianTreeClassifier`; ``"evidence"`` chooses by the prunings of the greedy tree.
    partition_prior, feature_prior, smoothing, partitions, categorical_features, monotonic_cst
        As in `BayesianTreeClassifier`.
    max_depth, min_samples_leaf, min_weight_fraction_leaf, class_weight, decision, unseen, max_bins, n_jobs
        As in `BayesianTreeClassifier`.
    space
        ``"all"``: any node may be split otherwise; ``"roots"``: the root alone, as the paper proposes; ``"prunings"``:
        the greedy-modal tree and all of its prunings.
    max_nodes
        Nodes to explore beyond those of the greedy-modal tree; None: all. A node takes about two kilobytes.
    time_limit
        Seconds after which the exploration beyond the greedy-modal tree ends; None: none. Ctrl-C ends it too. What was
        explored by then is kept.
    n_trees
        How many of the most probable trees `trees_` lists.
    random_state
        Seed of `sample_trees`.
    verbose
        Whether to show on standard error how far the exploration is.

    Attributes
    ----------
    classes_
        Class labels, sorted.
    fitted_
        What was found: a `Fitted` of space, outcome, schema and classes, which everything else reads.
    space_
        The `Space`: parallel arrays of its nodes and choices.
    schema_, categories_
        Names, kinds and categories of the columns; the categories alone.
    trees_, weights_, tree_shares_, readable_tree_
        The most probable trees, their weights relative to each other and to the whole space, and the first of them.
    prior_, log_evidence_, log_evidence_bound_, log_posterior_, feature_posterior_, feature_inclusion_
        See their own descriptions.
    feature_importances_, stability_
        See their own descriptions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import TreeSpaceClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = TreeSpaceClassifier().fit(X, y)
    >>> print(model.alternatives())
      65.4%  petal width (cm) <= 0.8   [50 | 100 rows]
      32.7%  petal length (cm) <= 2.45   [50 | 100 rows]
       1.2%  petal width (cm) <= 0.55   [49 | 101 rows]
       0.3%  petal length (cm) <= 3.15   [51 | 99 rows]
       0.3%  petal width (cm) <= 0.45   [48 | 102 rows]
       0.0%  petal length (cm) <= 1.8   [48 | 102 rows]
       0.0%  petal length (cm) <= 3.4   [53 | 97 rows]
       0.0%  no split
    """

    def __init__(
        self,
        *,
        prior: Any = None,
        partition_prior: Any = 0.99,
        feature_prior: Any = None,
        smoothing: float = 0.0,
        partitions: str = "axis",
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        class_weight: Any = None,
        decision: Any = None,
        space: str = "all",
        max_nodes: int = 3000,
        time_limit: float | None = None,
        n_trees: int = 10,
        random_state: Any = None,
        verbose: bool = False,
        unseen: str = "majority",
        max_bins: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.partition_prior = partition_prior
        self.feature_prior = feature_prior
        self.smoothing = smoothing
        self.partitions = partitions
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.class_weight = class_weight
        self.decision = decision
        self.space = space
        self.max_nodes = max_nodes
        self.time_limit = time_limit
        self.n_trees = n_trees
        self.random_state = random_state
        self.verbose = verbose
        self.unseen = unseen
        self.max_bins = max_bins
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Explore the tree space.

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
