"""The one fit and everything that does not depend on the kind of outcome."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Self

import numpy as np
from joblib import cpu_count
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from .._typing import AnyArray, FloatArray, IntArray
from .._validation import (
    check_finite,
    check_integer,
    check_optional_integer,
    check_positive_array,
    check_real,
    check_sample_weight,
    unchanged_on_error,
)
from ..explanation import Explanation, LeafSummary, explain_rows
from ..growing import Growth, encode_table, grow_tree, update_tree
from ..outcomes import Outcome, Target
from ..persistence import write_model
from ..priors import as_partition_prior
from ..tree import Tree

_MOST_THREADS = 4096


class BayesianTree(BaseEstimator, ABC):
    """Base of the single-tree estimators; subclasses say what the outcome is."""

    tree_: Tree
    outcome_: Outcome
    n_features_in_: int
    prior: Any
    partition_prior: Any
    feature_prior: Any
    smoothing: Any
    max_depth: Any
    min_samples_leaf: Any
    min_weight_fraction_leaf: Any
    max_leaf_nodes: Any
    n_jobs: Any

    @abstractmethod
    def _check_target(self, target: Target) -> tuple[Target, AnyArray | None]:
        """Check a target at fit; return it as its outcome wants it, and which rows count (None: all)."""

    @abstractmethod
    def _check_more_target(self, target: Target) -> Target:
        """Check a target that is to be added to a fitted model."""

    @abstractmethod
    def _make_outcome(self, target: Target, prior: Any) -> Outcome:
        """Return the outcome with its prior."""

    @abstractmethod
    def _leaf_summary(self, leaf: int) -> LeafSummary:
        """What a leaf predicts, for an explanation."""

    def _fit(self, X: Any, y: Any, sample_weight: Any, **extras: Any) -> Self:
        """Grow the tree; the one fit of all estimators."""
        with unchanged_on_error(self):
            X, target = self._check_rows(X, y, sample_weight, extras, reset=True)
            growth = self._growth()
            target, counts = self._check_target(target)
            if counts is not None:
                X = X[counts]
            self._grow(X, target, growth)
        return self

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, extras: dict[str, Any], *, reset: bool
    ) -> tuple[FloatArray, Target]:
        """Check rows with outcomes and drop those of weight zero: they are no rows."""
        X, y = validate_data(
            self, X, y, reset=reset, dtype=np.float64, ensure_all_finite=False, **self._target_checks()
        )
        check_finite(X, getattr(self, "feature_names_in_", None))
        target = Target(y, check_sample_weight(sample_weight, len(X)), **extras)
        if target.weight is not None and not target.weight.all():
            counts = target.weight > 0
            X, target = X[counts], target.take(counts)
        return X, target

    def _target_checks(self) -> dict[str, Any]:
        """Arguments for scikit-learn's check of y."""
        return {}

    def _grow(self, X: FloatArray, target: Target, growth: Growth) -> None:
        """Grow the tree, trying several priors where the evidence is to choose; the columns are encoded once."""
        columns = encode_table(X, growth.n_threads)
        choose = isinstance(self.prior, str) and self.prior == "evidence"
        outcome = self._make_outcome(target, None if choose else self.prior)
        best = -np.inf
        for candidate in outcome.candidates(target) if choose else [outcome]:
            tree = grow_tree(X, columns, target, candidate, growth)
            evidence = tree.log_evidence() if choose else 0.0
            if evidence > best:
                best, self.tree_, self.outcome_ = evidence, tree, candidate

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, **extras: Any) -> Self:
        """Add rows to the posteriors."""
        with unchanged_on_error(self):
            X, target = self._check_rows(X, y, sample_weight, extras, reset=False)
            target = self._check_more_target(target)
            leaves, _ = self.tree_.apply(X, self._n_threads())
            self.tree_ = update_tree(self.tree_, leaves, target, self.outcome_)
        return self

    def _growth(self) -> Growth:
        """Check the parameters that do not concern the outcome."""
        d = self.n_features_in_
        if self.feature_prior is None:
            feature_weight = np.ones(d)
        else:
            feature_weight = check_positive_array(
                "feature_prior", self.feature_prior, length=d, one_per=f"feature ({d} of them)"
            )
        return Growth(
            partition_prior=as_partition_prior(self.partition_prior),
            feature_weight=feature_weight,
            smoothing=check_real("smoothing", self.smoothing, low=0, low_ok=True),
            max_depth=check_optional_integer("max_depth", self.max_depth, low=0),
            min_samples_leaf=check_integer("min_samples_leaf", self.min_samples_leaf, low=1),
            min_weight_fraction_leaf=check_real(
                "min_weight_fraction_leaf", self.min_weight_fraction_leaf, low=0, high=0.5, low_ok=True, high_ok=True
            ),
            max_leaf_nodes=check_optional_integer("max_leaf_nodes", self.max_leaf_nodes, low=1),
            n_threads=self._n_threads(),
        )

    def _n_threads(self) -> int:
        if self.n_jobs is None:
            return 1
        n_jobs = check_integer("n_jobs", self.n_jobs, low=-_MOST_THREADS)
        if n_jobs == 0 or n_jobs > _MOST_THREADS:
            raise ValueError(
                f"n_jobs must be a number of threads up to {_MOST_THREADS}, -1 for all cores, or None for one; "
                f"got {n_jobs}."
            )
        return n_jobs if n_jobs > 0 else max(1, cpu_count() + 1 + n_jobs)

    def _route(self, X: Any) -> tuple[FloatArray, IntArray]:
        """Check rows and return them with their leaves."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite=False)
        leaves, finite = self.tree_.apply(X, self._n_threads())
        if not finite:
            check_finite(X, getattr(self, "feature_names_in_", None))
        return X, leaves

    def apply(self, X: Any) -> IntArray:
        """Return the number of the leaf that each row falls into."""
        return self._route(X)[1]

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Return which nodes each row passes: a sparse 0/1 matrix of shape (n_rows, n_nodes)."""
        leaves = self.apply(X)
        paths = {leaf: self.tree_.path(leaf) for leaf in np.unique(leaves)}
        ends = np.cumsum([len(paths[leaf]) for leaf in leaves])
        nodes = np.concatenate([paths[leaf] for leaf in leaves])
        shape = (len(leaves), self.tree_.node_count)
        return sparse.csr_matrix((np.ones(len(nodes), dtype=np.int64), nodes, np.append(0, ends)), shape=shape)

    def posterior(self, X: Any) -> FloatArray:
        """Return the parameters of the posterior in each row's leaf, one row per sample."""
        leaves = self.apply(X)
        return self.tree_.posterior.take(leaves, axis=0)

    def get_depth(self) -> int:
        """Return the depth of the deepest leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    @property
    def prior_(self) -> FloatArray:
        """Parameters of the outcome's prior at the root: given, set from y, or chosen by the evidence."""
        check_is_fitted(self)
        return self.outcome_.prior

    @property
    def feature_importances_(self) -> FloatArray:
        """Each feature's share of the gain in log marginal likelihood; all zero where nothing was gained."""
        check_is_fitted(self)
        sprouts = ~self.tree_.is_leaf
        gain = np.maximum(self.tree_.gain()[sprouts], 0)
        total = np.bincount(self.tree_.feature[sprouts], weights=gain, minlength=self.n_features_in_)
        return np.asarray(total / total.sum() if total.sum() > 0 else total, dtype=np.float64)

    @property
    def feature_posterior_(self) -> FloatArray:
        """Probability that the root is cut along each feature and, last, that it is not cut at all.

        ``tree_.feature_posterior`` has the same for every node.
        """
        check_is_fitted(self)
        return self.tree_.feature_posterior[0]

    @property
    def log_posterior_(self) -> float:
        """Log of prior times likelihood of the tree; see ``tree_.log_posterior`` for the leaves-only figure."""
        check_is_fitted(self)
        return self.tree_.log_posterior()

    @property
    def log_evidence_(self) -> float:
        """Log probability of the outcomes over the tree and all of its prunings."""
        check_is_fitted(self)
        return self.tree_.log_evidence()

    def explain(self, X: Any) -> list[Explanation]:
        """Explain the prediction of each row: the path in words, how sure each step is, the posterior.

        Returns
        -------
        list of Explanation
            One for each row; print it, or take its ``to_dict()``.
        """
        X, leaves = self._route(X)
        names = getattr(self, "feature_names_in_", None)
        return explain_rows(self.tree_, X, leaves, names, self._leaf_summary)

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a JSON file; ``baytree.load`` reads it. The file is data, never code."""
        check_is_fitted(self)
        write_model(self, path)
