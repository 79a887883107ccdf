"""Rows that a model has not seen, and what it predicts for them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length

from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_sample_weight, shown
from ..estimators import Model, fit_again, fitted_of, read_rows
from ..figures import LEVEL
from ..fitted import Fitted
from ..outcomes import EXTRAS


@dataclass(frozen=True)
class Given:
    """Rows as a user gives them, with what belongs to them."""

    X: Any
    y: AnyArray
    weight: FloatArray | None = None
    extras: dict[str, FloatArray] = field(default_factory=dict)  # exposure, event
    groups: AnyArray | None = None  # rows that belong together
    subgroups: dict[str, AnyArray] = field(default_factory=dict)  # by name: the subgroup of each row

    def take(self, rows: IntArray) -> Given:
        """Some of the rows."""
        return Given(
            _safe_indexing(self.X, rows),
            self.y[rows],
            None if self.weight is None else self.weight[rows],
            {name: values[rows] for name, values in self.extras.items()},
            None if self.groups is None else self.groups[rows],
            {name: values[rows] for name, values in self.subgroups.items()},
        )


def read_given(fitted: Fitted, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **extras: Any) -> Given:
    """Check rows and what belongs to them; refuses classes that the model does not know."""
    y = np.asarray(y)
    check_consistent_length(X, y)
    for label in np.unique(y) if fitted.outcome.predicts_classes else ():
        if not np.any(fitted.outcome.labels == label):
            raise ValueError(f"y has the class {label.item()!r}, which the model does not know: give it the model's y.")
    own = {extra.name for extra in fitted.outcome.extras}
    read = {}
    for name, value in extras.items():
        if value is None:
            continue
        if name not in own:
            raise ValueError(f"{name} is not for the outcome {fitted.outcome.name!r}.")
        read[name] = EXTRAS[name].read(name, value, len(y))
    together = None if groups is None else np.asarray(groups)
    if together is not None and together.shape != (len(y),):
        raise ValueError(f"groups must hold one group per row of X ({len(y)} of them); got shape {together.shape}.")
    return Given(X, y, check_sample_weight(sample_weight, len(y)), read, together)


@dataclass(frozen=True)
class HeldOut:
    """Outcomes of rows that were held out, and what was predicted for them."""

    how: str  # in words
    rows: Given
    probabilities: FloatArray | None = None  # classifiers: one column per class
    codes: IntArray | None = None  # classifiers: the class that is decided for
    mean: FloatArray | None = None  # regressors
    interval: FloatArray | None = None  # of the outcome

    @property
    def y(self) -> AnyArray:
        """The outcomes."""
        return self.rows.y

    @property
    def weight(self) -> FloatArray:
        """How often each row counts."""
        return np.ones(len(self.y)) if self.rows.weight is None else self.rows.weight

    @property
    def n_rows(self) -> float:
        """The rows, each as often as it counts."""
        return float(self.weight.sum())


def hold_out(model: Model, given: Given, held_out: Given | None, folds: int) -> HeldOut | str:
    """Predict rows that were given as held out, or each fold from the others; a sentence where neither can be done."""
    if held_out is not None:
        return _predicted(fitted_of(model), model, held_out, "rows given as held out")
    fitted = fitted_of(model)
    folds, splits = _folds(fitted, given, folds)
    if folds < 2:
        return "Not measured: there are too few rows to hold some out, or too few groups of rows. Give held_out=(X, y)."
    parts = []
    for train, test in splits:
        own = given.take(train)
        grown = fit_again(model, own.X, own.y, sample_weight=own.weight, **own.extras)
        part = _predicted(fitted_of(grown), grown, given.take(test), "")
        parts.append((test, _with_all_classes(part, fitted_of(grown), fitted)))
    order = np.argsort(np.concatenate([test for test, _ in parts]))
    together = "" if given.groups is None else " that keeps groups of rows together"
    how = f"{folds}-fold cross-validation of the same settings{together}"
    if fitted.outcome.predicts_classes:
        probabilities = np.concatenate([part.probabilities for _, part in parts])[order]
        return HeldOut(how, given, probabilities, fitted.decision.codes(probabilities))
    mean = np.concatenate([part.mean for _, part in parts if part.mean is not None])[order]
    intervals = [part.interval for _, part in parts if part.interval is not None]
    return HeldOut(how, given, mean=mean, interval=np.concatenate(intervals)[order] if intervals else None)


def _folds(fitted: Fitted, given: Given, folds: int) -> tuple[int, Iterator[tuple[IntArray, IntArray]]]:
    """How many folds there can be, and the rows of each."""
    y, labels, groups = given.y, fitted.outcome.labels, given.groups
    most = max((int(np.sum(y == label)) for label in labels), default=len(y))
    folds = min(folds, most, len(y) if groups is None else len(np.unique(groups)))
    if folds < 2:
        return folds, iter(())
    if groups is None:
        split = (StratifiedKFold if len(labels) else KFold)(folds, shuffle=True, random_state=0)
    elif len(labels):
        split = StratifiedGroupKFold(folds, shuffle=True, random_state=0)
    else:
        split = GroupKFold(folds)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        return folds, iter(list(split.split(np.zeros(len(y)), y, groups)))


def _predicted(fitted: Fitted, model: Model, given: Given, how: str) -> HeldOut:
    rows = read_rows(model, given.X)
    mean = fitted.mean(rows)
    if fitted.outcome.predicts_classes:
        return HeldOut(how, given, mean, fitted.decision.codes(mean) if how else None)
    ends = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    # Of counts over an exposure, and of durations that were cut off, the interval of one whole outcome says nothing.
    interval = fitted.quantiles(rows, ends) if fitted.has_distribution() and not given.extras else None
    return HeldOut(how, given, mean=mean[:, 0] if mean.shape[1] == 1 else mean, interval=interval)


def _with_all_classes(part: HeldOut, grown: Fitted, fitted: Fitted) -> HeldOut:
    """Give classes that a fold's model has not seen a column of zeros."""
    if part.probabilities is None:
        return part
    labels = fitted.outcome.labels
    probabilities = np.zeros((len(part.y), len(labels)))
    probabilities[:, np.searchsorted(labels, grown.outcome.labels)] = part.probabilities
    return replace(part, probabilities=probabilities)


def read_subgroups(X: Any, subgroups: Any, n_rows: int) -> dict[str, AnyArray]:
    """The subgroup of each row: of columns of X by name or position, or of values that are given by name."""
    if isinstance(subgroups, dict):
        found = {str(name): np.asarray(values, dtype=object) for name, values in subgroups.items()}
    elif isinstance(subgroups, str) or not hasattr(subgroups, "__iter__"):
        raise TypeError(
            "subgroups must be a list of columns of X, or a dict from name to one value per row; got "
            f"{shown(subgroups)}."
        )
    else:
        found = {str(name): _column(X, name) for name in subgroups}
    for name, values in found.items():
        if values.shape != (n_rows,):
            raise ValueError(
                f"The subgroups of {name!r} must be one value per row ({n_rows} of them); got shape {values.shape}."
            )
    return found


def _column(X: Any, name: Any) -> AnyArray:
    try:
        values = _safe_indexing(X, name, axis=1)
    except (KeyError, IndexError, ValueError):
        raise ValueError(
            f"subgroups names the column {name!r}, which X does not have: give its values as {{{name!r}: values}}."
        ) from None
    return np.asarray(values, dtype=object).ravel()
