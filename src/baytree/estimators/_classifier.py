"""Classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import stats
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from .._typing import AnyArray, FloatArray
from .._validation import check_real
from ..outcomes import CategoricalOutcome
from ._base import BayesianTree


@dataclass(frozen=True)
class _BoundOutcome:
    core: Any
    prior: FloatArray
    mean: Any


class BayesianTreeClassifier(ClassifierMixin, BayesianTree):
    """One decision tree, chosen by posterior probability, with a Dirichlet posterior in every leaf.

    Each node takes its most probable partition: the trivial one (it becomes a leaf) or the best cut. The
    prior does what pruning and tuning do elsewhere. Nothing is sampled: the same data give the same tree.

    Parameters
    ----------
    prior
        Dirichlet prior of the class probabilities in a leaf: None for 20 pseudo-observations in all, evenly
        spread; a number for that many per class; or an array of one per class, in the order of ``classes_``.
    partition_prior
        Prior of the partitions: the probability that the root splits, or a `PartitionPrior`.
    feature_prior
        One positive weight per feature: how probable a cut along it is beforehand. None: all alike.
    smoothing
        The paper's delta: a child's prior is its parent's plus `smoothing` times its own class counts.
    max_depth
        Most cuts between the root and a leaf. None: no limit but the prior.
    min_samples_leaf
        Fewest rows in a leaf.
    min_weight_fraction_leaf
        Smallest share of the total weight in a leaf.
    max_leaf_nodes
        Most leaves; sprouts are kept best first, by gain in log posterior. None: no limit.
    class_weight
        Weights of the classes by label, ``"balanced"`` for the inverse of their frequency, or None.
    n_jobs
        Threads: None for one, -1 for all cores. The tree does not depend on it.

    Attributes
    ----------
    classes_
        Class labels, sorted.
    tree_
        The fitted `Tree`: parallel arrays named as in scikit-learn, with posteriors.
    feature_importances_, feature_posterior_, log_posterior_, log_evidence_
        See their own descriptions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier(prior=1.0).fit(X, y)
    >>> model.get_n_leaves()
    7
    >>> model.posterior(X[:1])
    array([[51.,  1.,  1.]])
    """

    classes_: AnyArray
    _parameters_of_interest: ClassVar[tuple[str, ...]] = ("prior",)

    def __init__(
        self,
        *,
        prior: Any = None,
        partition_prior: Any = 0.99,
        feature_prior: Any = None,
        smoothing: float = 0.0,
        max_depth: int | None = None,
        min_samples_leaf: int = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_leaf_nodes: int | None = None,
        class_weight: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.prior = prior
        self.partition_prior = partition_prior
        self.feature_prior = feature_prior
        self.smoothing = smoothing
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.class_weight = class_weight
        self.n_jobs = n_jobs

    def _encode_outcome(
        self, y: AnyArray, weight: FloatArray | None
    ) -> tuple[AnyArray, FloatArray | None, _BoundOutcome]:
        check_classification_targets(y)
        rows = np.arange(len(y))
        if weight is not None:  # a row of weight zero is no row
            rows = np.flatnonzero(weight)
            y, weight = y[rows], weight[rows]
        classes, codes = np.unique(y, return_inverse=True)
        by_class = self._class_weights(classes, codes, weight)
        if by_class is not None:
            weight = by_class[codes] if weight is None else by_class[codes] * weight
            counts = weight > 0
            rows, weight, codes = rows[counts], weight[counts], codes[counts]
            classes = classes[by_class > 0]
            codes = (np.cumsum(by_class > 0) - 1)[codes]
        outcome = CategoricalOutcome.of(classes, self.prior)
        self.classes_ = classes
        return rows, weight, _BoundOutcome(outcome.to_core(codes, weight), outcome.prior, outcome.mean)

    def _class_weights(self, classes: AnyArray, codes: AnyArray, weight: FloatArray | None) -> FloatArray | None:
        if self.class_weight is None:
            return None
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            count = np.bincount(codes, weights=weight, minlength=len(classes))
            return np.asarray(count.sum() / (len(classes) * count))
        if not isinstance(self.class_weight, dict):
            raise TypeError(
                f"class_weight must be None, 'balanced' or a dict from label to weight; got {self.class_weight!r}."
            )
        labels = list(classes)
        for label, value in self.class_weight.items():
            if label not in labels:
                raise ValueError(f"class_weight names the class {label!r}, which is not in y: remove it.")
            check_real(f"class_weight[{label!r}]", value, low=0, low_ok=True)
        result = np.array([float(self.class_weight.get(label, 1.0)) for label in labels])
        if not result.any():
            raise ValueError("class_weight is zero throughout: at least one class must have weight.")
        return result

    def _predicted_names(self) -> list[str]:
        return [str(label) for label in self.classes_]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the expected probability of each class, shape (n_rows, n_classes)."""
        leaves = self.apply(X)
        return self.tree_.value[:, 0].take(leaves, axis=0)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the logarithm of `predict_proba`."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class of each row; ties go to the first class."""
        leaves = self.apply(X)
        return self.classes_[np.argmax(self.tree_.posterior, axis=1)[leaves]]

    def predict_quantiles(self, X: Any, quantiles: Any) -> FloatArray:
        """Return quantiles of each class probability in the row's leaf.

        Parameters
        ----------
        X
            Rows.
        quantiles
            Numbers in [0, 1].

        Returns
        -------
        array of shape (n_rows, n_classes, n_quantiles)
        """
        wanted = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
        if wanted.ndim != 1 or not np.all((wanted >= 0) & (wanted <= 1)):
            raise ValueError(f"quantiles must be numbers in [0, 1]; got {quantiles!r}.")
        leaves, inverse = np.unique(self.apply(X), return_inverse=True)
        return CategoricalOutcome.quantiles(self.tree_.posterior[leaves], wanted)[inverse]

    def predict_interval(self, X: Any, level: float = 0.9) -> FloatArray:
        """Return the central credible interval of each class probability.

        Parameters
        ----------
        X
            Rows.
        level
            Posterior probability that the interval holds, in (0, 1).

        Returns
        -------
        array of shape (n_rows, n_classes, 2)
            Lower and upper end.
        """
        level = check_real("level", level, low=0, high=1)
        return self.predict_quantiles(X, [0.5 - level / 2, 0.5 + level / 2])

    def predict_dist(self, X: Any) -> Any:
        """Return the predictive distribution of each row: ``scipy.stats.multinomial`` of one draw."""
        return stats.multinomial(1, self.predict_proba(X))
