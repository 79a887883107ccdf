"""The one fit, and the reading of tables, outcomes and parameters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from joblib import cpu_count
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import (
    check_integer,
    check_no_infinity,
    check_optional_integer,
    check_outcomes,
    check_positive_array,
    check_real,
    check_sample_weight,
    describe_column,
    shown,
    unchanged_on_error,
)
from ..growing import Growth
from ..monotonic import read_monotonic
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

_MOST_THREADS = 4096


class Estimator(BaseEstimator, ABC):
    """Reads tables, outcomes and parameters; subclasses say what the outcome is and what is grown."""

    _consists_of: ClassVar[str]  # the fitted attribute that holds it, without the underscore
    outcome_: Outcome
    n_features_in_: int
    categories_: Categories
    prior: Any
    partition_prior: Any
    feature_prior: Any
    smoothing: Any
    partitions: Any
    categorical_features: Any
    monotonic_cst: Any
    max_depth: Any
    min_samples_leaf: Any
    min_weight_fraction_leaf: Any
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
    def _grow(self, X: Any, target: Target, growth: Growth) -> None:
        """Grow what the estimator consists of."""

    @abstractmethod
    def _tree_html(self) -> str:
        """The fitted tree, for a notebook."""

    def _repr_html_inner(self) -> str:
        """scikit-learn's box, and below it the tree; scikit-learn asks for it where its `display` is a diagram."""
        return super()._repr_html_inner() + self._tree_below()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._tree_below()
        return bundle

    def _tree_below(self) -> str:
        return self._tree_html() if hasattr(self, f"{self._consists_of}_") else ""

    def __sklearn_tags__(self) -> Tags:
        """Tables come with gaps, categories and text, dense or sparse."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def _fit(self, X: Any, y: Any, sample_weight: Any, **extras: Any) -> Self:
        """The one fit of all estimators."""
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
            oblique=read_partitions(self.partitions),
            n_threads=self._n_threads(),
        )

    def _candidates(self, target: Target) -> Iterator[Outcome]:
        """The outcome with its prior, or with those among which the evidence is to choose."""
        choose = isinstance(self.prior, str) and self.prior == "evidence"
        outcome = self._make_outcome(target, None if choose else self.prior)
        yield from outcome.candidates(target) if choose else [outcome]

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

    @property
    def prior_(self) -> FloatArray:
        """Parameters of the outcome's prior at the root: given, set from y, or chosen by the evidence."""
        check_is_fitted(self)
        return self.outcome_.prior

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a JSON file; ``baytree.load`` reads it. The file is data, never code."""
        check_is_fitted(self)
        write_model(self, path)


def read_partitions(partitions: Any) -> bool:
    """Read the `partitions` parameter: whether hyperplane cuts are among them."""
    if not isinstance(partitions, str) or partitions not in ("axis", "oblique"):
        raise ValueError(f"partitions must be 'axis' or 'oblique'; got {shown(partitions)}.")
    return partitions == "oblique"


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
