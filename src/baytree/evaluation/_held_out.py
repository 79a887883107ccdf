"""Rows that a model has not seen, and what it predicts for them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length

from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_sample_weight, short_repr
from ..estimators import Model, fitted_of, read_rows, refit_model
from ..figures import LEVEL
from ..fitted import Fitted
from ..outcomes import EXTRAS

_GIVEN = "rows given as held out"
Fold = tuple[IntArray, IntArray]  # rows to fit to, and rows that are held out


@dataclass(frozen=True)
class Dataset:
    """Rows and their outcomes, with what describes the rows."""

    X: Any
    y: AnyArray
    weight: FloatArray | None = None
    extras: dict[str, FloatArray] = field(default_factory=dict)  # exposure, event
    groups: AnyArray | None = None  # rows that belong together
    subgroups: dict[str, AnyArray] = field(default_factory=dict)  # by name: the subgroup of each row

    def take(self, rows: IntArray) -> Dataset:
        """Some of the rows."""
        return Dataset(
            _safe_indexing(self.X, rows),
            self.y[rows],
            None if self.weight is None else self.weight[rows],
            {name: values[rows] for name, values in self.extras.items()},
            None if self.groups is None else self.groups[rows],
            {name: values[rows] for name, values in self.subgroups.items()},
        )


def read_dataset(
    fitted: Fitted, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **extras: Any
) -> Dataset:
    """Check rows and what describes them; refuses classes that the model does not know."""
    y = np.asarray(y)
    check_consistent_length(X, y)
    for label in np.unique(y) if fitted.outcome.predicts_classes else ():
        if not np.any(fitted.outcome.labels == label):
            raise ValueError(f"y has the class {label.item()!r}, which the model does not know: give it the model's y.")
    allowed = {extra.name for extra in fitted.outcome.extras}
    arrays = {}
    for name, value in extras.items():
        if value is None:
            continue
        if name not in allowed:
            raise ValueError(f"{name} is not for the outcome {fitted.outcome.name!r}.")
        arrays[name] = EXTRAS[name].read(name, value, len(y))
    group_of = None if groups is None else np.asarray(groups)
    if group_of is not None and group_of.shape != (len(y),):
        raise ValueError(f"groups must hold one group per row of X ({len(y)} of them); got shape {group_of.shape}.")
    return Dataset(X, y, check_sample_weight(sample_weight, len(y)), arrays, group_of)


@dataclass(frozen=True)
class HeldOutPredictions:
    """Outcomes of rows that were held out, and what was predicted for them."""

    method: str  # how the rows were held out, in words
    rows: Dataset
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
        """The weight of each row."""
        return np.ones(len(self.y)) if self.rows.weight is None else self.rows.weight

    @property
    def n_rows(self) -> float:
        """The rows, each as often as it counts."""
        return float(self.weight.sum())


def hold_out(model: Model, data: Dataset, held_out: Dataset | None, n_folds: int) -> HeldOutPredictions | None:
    """Predict rows that were given as held out, or each fold from the others; None where neither can be done."""
    fitted = fitted_of(model)
    if held_out is not None:
        every_row = np.arange(len(held_out.y))
        return merge_folds([_fold_predictions(model, held_out)], [(every_row, every_row)], held_out, fitted, _GIVEN)
    folds = folds_of(data, fitted.classes, n_folds)
    if not folds:
        return None
    parts = []
    for train, test in folds:
        rows = data.take(train)
        refitted = refit_model(model, rows.X, rows.y, sample_weight=rows.weight, **rows.extras)
        part = _fold_predictions(refitted, data.take(test))
        if part.probabilities is not None:
            part = replace(
                part, probabilities=align_probabilities(part.probabilities, fitted_of(refitted).classes, fitted)
            )
        parts.append(part)
    together = "" if data.groups is None else " that keeps groups of rows together"
    return merge_folds(parts, folds, data, fitted, f"{len(folds)}-fold cross-validation of the same settings{together}")


def folds_of(data: Dataset, classes: AnyArray | None, n_folds: int) -> list[Fold]:
    """The folds of a cross-validation, as many as there can be; none where there cannot be two."""
    y, groups = data.y, data.groups
    most = len(y) if classes is None else int(max(np.sum(y == label) for label in classes))
    n_folds = min(n_folds, most, len(y) if groups is None else len(np.unique(groups)))
    if n_folds < 2:
        return []
    if groups is None:
        splitter = (KFold if classes is None else StratifiedKFold)(n_folds, shuffle=True, random_state=0)
    elif classes is None:
        splitter = GroupKFold(n_folds)
    else:
        splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        return list(splitter.split(np.zeros(len(y)), y, groups))


def merge_folds(
    parts: list[HeldOutPredictions], folds: list[Fold], data: Dataset, fitted: Fitted, method: str
) -> HeldOutPredictions:
    """The predictions of all folds in the order of the rows."""
    order = np.argsort(np.concatenate([test for _, test in folds]))
    if fitted.outcome.predicts_classes:
        probabilities = np.concatenate([part.probabilities for part in parts])[order]
        codes = fitted.decision.codes(probabilities)
        if fitted.set_decisions is not None:  # the parts are of one splits each, with the decisions of its leaves
            codes = np.concatenate([part.codes for part in parts if part.codes is not None])[order]
        return HeldOutPredictions(method, data, probabilities, codes)
    mean = np.concatenate([part.mean for part in parts if part.mean is not None])[order]
    intervals = [part.interval for part in parts if part.interval is not None]
    return HeldOutPredictions(method, data, mean=mean, interval=np.concatenate(intervals)[order] if intervals else None)


def align_probabilities(probabilities: FloatArray, classes: AnyArray | None, fitted: Fitted) -> FloatArray:
    """Probabilities of some of a model's classes, with zeros for the others, which a fold may lack."""
    labels = fitted.outcome.labels
    if classes is None or len(classes) == len(labels):
        return probabilities
    of_all = np.zeros((len(probabilities), len(labels)))
    of_all[:, np.searchsorted(labels, classes)] = probabilities
    return of_all


def _fold_predictions(model: Model, data: Dataset) -> HeldOutPredictions:
    fitted, rows = fitted_of(model), read_rows(model, data.X)
    mean = fitted.mean(rows)
    if fitted.outcome.predicts_classes:
        return HeldOutPredictions("", data, mean, fitted.class_codes(rows, mean=mean))
    ends = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    # Of counts over an exposure, and of durations that were cut off, the interval of one whole outcome says nothing.
    interval = fitted.quantiles(rows, ends) if fitted.has_distribution() and not data.extras else None
    return HeldOutPredictions("", data, mean=mean[:, 0] if mean.shape[1] == 1 else mean, interval=interval)


def read_subgroups(X: Any, subgroups: Any, n_rows: int) -> dict[str, AnyArray]:
    """The subgroup of each row: of columns of X by name or position, or of values that are given by name."""
    if isinstance(subgroups, dict):
        by_name = {str(name): np.asarray(values, dtype=object) for name, values in subgroups.items()}
    elif isinstance(subgroups, str) or not hasattr(subgroups, "__iter__"):
        raise TypeError(
            "subgroups must be a list of columns of X, or a dict from name to one value per row; got "
            f"{short_repr(subgroups)}."
        )
    else:
        by_name = {str(name): _column(X, name) for name in subgroups}
    for name, values in by_name.items():
        if values.shape != (n_rows,):
            raise ValueError(
                f"The subgroups of {name!r} must be one value per row ({n_rows} of them); got shape {values.shape}."
            )
    return by_name


def _column(X: Any, name: Any) -> AnyArray:
    try:
        values = _safe_indexing(X, name, axis=1)
    except (KeyError, IndexError, ValueError):
        raise ValueError(
            f"subgroups names the column {name!r}, which X does not have: give its values as {{{name!r}: values}}."
        ) from None
    return np.asarray(values, dtype=object).ravel()
