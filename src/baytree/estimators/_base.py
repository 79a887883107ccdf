"""The one fit and everything that does not depend on the kind of outcome."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from joblib import cpu_count
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import (
    check_integer,
    check_no_infinity,
    check_optional_integer,
    check_outcomes,
    check_positive_array,
    check_real,
    check_sample_weight,
    describe_column,
    unchanged_on_error,
)
from ..explanation import Explanation, LeafSummary, explain_rows
from ..growing import Growth, encode_table, grow_tree, update_tree
from ..monotonic import in_order, read_monotonic
from ..outcomes import Outcome, Target
from ..persistence import write_model
from ..priors import as_partition_prior
from ..table import (
    Categories,
    as_dict_by_column,
    as_table,
    is_frame,
    may_hold_text,
    read_known_table,
    read_new_table,
)
from ..tree import Tree

_MOST_THREADS = 4096


class BayesianTree(BaseEstimator, ABC):
    """Base of the single-tree estimators; subclasses say what the outcome is."""

    tree_: Tree
    outcome_: Outcome
    n_features_in_: int
    categories_: Categories
    prior: Any
    partition_prior: Any
    feature_prior: Any
    smoothing: Any
    categorical_features: Any
    monotonic_cst: Any
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

    def __sklearn_tags__(self) -> Tags:
        """Tables come with gaps, categories and text, dense or sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any, **extras: Any) -> Self:
        """Grow the tree; the one fit of all estimators."""
        with unchanged_on_error(self):
            self._grow(*self._prepare(X, y, sample_weight, **extras))
        return self

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, **extras: Any) -> tuple[Any, Target, Growth]:
        """Check everything that `fit` is given; return the table as a matrix, the outcomes, the settings."""
        X, target = self._check_rows(X, y, sample_weight, extras, reset=True)
        target, counts = self._check_target(target)
        return X if counts is None else X[counts], target, self._growth()

    @property
    def _is_categorical(self) -> BoolArray:
        """Whether each feature is categorical."""
        return np.array([levels is not None for levels in self.categories_])

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, extras: dict[str, Any], *, reset: bool
    ) -> tuple[Any, Target]:
        """Check rows with outcomes and drop those of weight zero: they are no rows."""
        X = self._read_table(X, reset=reset)
        y = check_outcomes(y, **self._target_checks())
        check_consistent_length(X, y)
        check_no_infinity(X, self._names)
        target = Target(y, check_sample_weight(sample_weight, X.shape[0]), **extras)
        if target.weight is not None and not target.weight.all():
            counts = target.weight > 0
            X, target = X[counts], target.take(counts)
        return X, target

    @property
    def _names(self) -> Any:
        return getattr(self, "feature_names_in_", None)

    def _read_table(self, X: Any, *, reset: bool) -> Any:
        """Check a table and return it as a matrix of numbers and codes: float64, dense or sparse."""
        X = as_table(X)
        check = {"reset": reset, "ensure_all_finite": False}
        if is_frame(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
        elif may_hold_text(X):
            X = validate_data(self, X, dtype=None, **check)
        else:
            X = validate_data(self, X, dtype=np.float64, accept_sparse="csc" if reset else "csr", **check)
        if not reset:
            return read_known_table(X, self.categories_, self._names)
        X, self.categories_ = read_new_table(X, self.categorical_features, self._names)
        return X

    def _target_checks(self) -> dict[str, bool]:
        """Arguments of the check of y."""
        return {}

    def _grow(self, X: Any, target: Target, growth: Growth) -> None:
        """Grow the tree, trying several priors where the evidence is to choose; the columns are encoded once."""
        columns = encode_table(X, self._is_categorical, growth)
        choose = isinstance(self.prior, str) and self.prior == "evidence"
        outcome = self._make_outcome(target, None if choose else self.prior)
        best = -np.inf
        for candidate in outcome.candidates(target) if choose else [outcome]:
            tree = self._put_in_order(grow_tree(X, columns, target, candidate, growth), growth.monotonic)
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
            self.tree_ = self._put_in_order(self.tree_, self._growth().monotonic)
        return self

    def _put_in_order(self, tree: Tree, monotonic: IntArray | None) -> Tree:
        """Take rounding out of predictions that must be monotone; refuse what is more than that."""
        if monotonic is None:
            return tree
        before = tree.value[:, 0, -1]
        after = in_order(tree, monotonic, before)
        finite = before[np.isfinite(before)]
        rounding = 1e-9 * (finite.max() - finite.min()) if len(finite) else 0.0
        if not np.allclose(before, after, rtol=1e-9, atol=rounding):
            raise ValueError("These rows would break monotonic_cst in the tree as it is: fit it anew on all rows.")
        of_others = tree.value[:, :, :-1] * 0 + 1 - after[:, None, None]  # two classes, or nothing
        return replace(tree, value=np.concatenate([of_others, after[:, None, None]], axis=2))

    def _growth(self) -> Growth:
        """Check the parameters that do not concern the outcome."""
        return Growth(
            partition_prior=as_partition_prior(self.partition_prior),
            feature_weight=read_feature_prior(self.feature_prior, self.n_features_in_, self._names),
            monotonic=read_monotonic(self.monotonic_cst, self.categories_, self._names),
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

    def _route(self, X: Any) -> tuple[Any, IntArray]:
        """Check rows and return them with their leaves."""
        check_is_fitted(self)
        X = self._read_table(X, reset=False)
        leaves, no_infinity = self.tree_.apply(X, self._n_threads())
        if not no_infinity:
            check_no_infinity(X, self._names)
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
        return explain_rows(self, X.toarray() if sparse.issparse(X) else X, leaves, self._leaf_summary)

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a JSON file; ``baytree.load`` reads it. The file is data, never code."""
        check_is_fitted(self)
        write_model(self, path)


def read_feature_prior(feature_prior: Any, n_features: int, names: Any) -> FloatArray:
    """Read the `feature_prior` parameter: one weight per feature, or a dict by name or position (others: 1)."""
    if feature_prior is None:
        return np.ones(n_features)
    by_column = as_dict_by_column("feature_prior", feature_prior, n_features, names)
    if by_column is not None:
        for column, weight in by_column.items():
            check_real(f"feature_prior of {describe_column(column, names).lower()}", weight, low=0)
        feature_prior = [by_column.get(i, 1.0) for i in range(n_features)]
    return check_positive_array(
        "feature_prior", feature_prior, length=n_features, one_per=f"feature ({n_features} of them)"
    )
