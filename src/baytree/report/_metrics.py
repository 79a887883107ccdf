"""How good a model is on rows that it has not seen, with intervals."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.utils import _safe_indexing

from .._typing import AnyArray, FloatArray
from ..estimators import Model, fitted_of, read_rows
from ..fitted import Fitted

_RESAMPLES = 1000
_LEVEL = 0.9


@dataclass(frozen=True)
class HeldOut:
    """Outcomes of rows that were held out, and what was predicted for them."""

    how: str  # in words
    y: AnyArray
    probabilities: FloatArray | None = None  # classifiers: one column per class
    mean: FloatArray | None = None  # regressors
    interval: FloatArray | None = None  # of the outcome, 90 %


@dataclass(frozen=True)
class Metric:
    """A figure with its interval, or the reason why there is none."""

    name: str
    meaning: str
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    reason: str = ""  # where the figure is not defined


def hold_out(model: Model, X: Any, y: Any, held_out: tuple[Any, Any] | None, folds: int) -> HeldOut | str:
    """Predict rows that were given as held out, or each fold from the others; a sentence where neither can be done."""
    fitted = fitted_of(model)
    y = _known(fitted, y)
    if held_out is not None:
        X_new, y_new = held_out
        return _predicted(model, X_new, _known(fitted, y_new), "rows given as held out")
    classes = fitted.classes
    most = len(y) if classes is None else int(max(np.sum(y == label) for label in classes))
    folds = min(folds, most)
    if folds < 2:
        return "Not measured: there are too few rows to hold some out. Give held_out=(X, y)."
    split = (KFold if classes is None else StratifiedKFold)(folds, shuffle=True, random_state=0)
    parts = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of classes with fewer rows than folds
        divided = list(split.split(np.zeros(len(y)), y))
    for train, test in divided:
        grown = clone(model).fit(_safe_indexing(X, train), y[train])
        part = _predicted(grown, _safe_indexing(X, test), y[test], "")
        known = fitted_of(grown).classes
        parts.append((test, part if classes is None or known is None else _with_all_classes(part, known, classes)))
    order = np.argsort(np.concatenate([test for test, _ in parts]))

    def joined(name: str) -> Any:
        found = [getattr(part, name) for _, part in parts]
        return None if found[0] is None else np.concatenate(found)[order]

    how = f"{folds}-fold cross-validation of the same settings"
    return HeldOut(how, *(joined(name) for name in ("y", "probabilities", "mean", "interval")))


def _with_all_classes(part: HeldOut, known: AnyArray, classes: AnyArray) -> HeldOut:
    """Give classes that a fold's model has not seen a column of zeros."""
    assert part.probabilities is not None  # noqa: S101
    probabilities = np.zeros((len(part.y), len(classes)))
    probabilities[:, np.searchsorted(classes, known)] = part.probabilities
    return replace(part, probabilities=probabilities)


def _known(fitted: Fitted, y: Any) -> AnyArray:
    """Outcomes as an array; refuses classes that the model does not know."""
    y = np.asarray(y)
    for label in () if fitted.classes is None else np.unique(y):
        if not np.any(fitted.classes == label):
            raise ValueError(f"y has the class {label.item()!r}, which the model does not know: give it the model's y.")
    return y


def _predicted(model: Model, X: Any, y: AnyArray, how: str) -> HeldOut:
    fitted, rows = fitted_of(model), read_rows(model, X)
    mean = fitted.mean(rows)
    if fitted.classes is not None:
        return HeldOut(how, y, probabilities=mean)
    ends = np.array([(1 - _LEVEL) / 2, (1 + _LEVEL) / 2])
    interval = fitted.quantiles(rows, ends) if fitted.has_distribution() else None
    return HeldOut(how, y, mean=mean[:, 0] if mean.shape[1] == 1 else mean, interval=interval)


def metrics_of(fitted: Fitted, held_out: HeldOut) -> list[Metric]:
    """The figures that matter for the outcome."""
    return _of_numbers(held_out) if fitted.classes is None else _of_classes(fitted.classes, held_out)


def _of_classes(classes: AnyArray, held_out: HeldOut) -> list[Metric]:
    p = held_out.probabilities
    assert p is not None  # noqa: S101
    is_class = held_out.y[:, None] == classes[None, :]
    of_own = np.where(is_class.any(axis=1), p[np.arange(len(p)), is_class.argmax(axis=1)], 0.0)
    right = classes[p.argmax(axis=1)] == held_out.y
    low, high = stats.beta(right.sum() + 0.5, (~right).sum() + 0.5).interval(_LEVEL)
    found = [
        Metric("Accuracy", "share of rows whose most probable class is right", float(right.mean()), low, high),
        _mean_metric("Log loss", "surprise at the true class, in nats; 0 is perfect", -_safe_log(of_own)),
        _mean_metric("Brier score", "mean squared error of the probabilities; 0 is perfect", _brier(p, is_class)),
    ]
    if len(classes) == 2:
        found.append(_area(p[:, 1], is_class[:, 1], str(classes[1])))
    return found


def _safe_log(p: FloatArray) -> FloatArray:
    return np.log(np.maximum(p, np.finfo(float).tiny))


def _brier(p: FloatArray, is_class: AnyArray) -> FloatArray:
    return np.sum((p - is_class) ** 2, axis=1) / 2


def _area(score: FloatArray, positive: AnyArray, name: str) -> Metric:
    meaning = f"chance that a row of class {name} has the higher probability of it than one of the other class"
    if positive.all() or not positive.any():
        return Metric("Area under the curve", meaning, reason="not defined: the held-out rows have one class only")
    estimate = float(roc_auc_score(positive, score))
    # Hanley and McNeil 1982.
    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    q1, q2 = estimate / (2 - estimate), 2 * estimate**2 / (1 + estimate)
    variance = (estimate * (1 - estimate) + (n_pos - 1) * (q1 - estimate**2) + (n_neg - 1) * (q2 - estimate**2)) / (
        n_pos * n_neg
    )
    half = stats.norm.ppf(0.5 + _LEVEL / 2) * math.sqrt(max(variance, 0.0))
    return Metric("Area under the curve", meaning, estimate, max(0.0, estimate - half), min(1.0, estimate + half))


def _of_numbers(held_out: HeldOut) -> list[Metric]:
    y, mean = np.asarray(held_out.y, dtype=np.float64), held_out.mean
    assert mean is not None  # noqa: S101
    error = y - mean
    found = [
        _resampled("Root mean squared error", "typical size of an error", error**2, np.sqrt),
        _mean_metric("Mean absolute error", "mean size of an error", np.abs(error)),
    ]
    spread = float(np.mean((y - y.mean()) ** 2))
    meaning = "share of the outcome's variance that is explained"
    if spread > 0:
        found.append(_resampled("R squared", meaning, error**2, lambda m: 1 - m / spread))
    else:
        found.append(Metric("R squared", meaning, reason="not defined: all held-out outcomes are equal"))
    if held_out.interval is not None:
        inside = (y >= held_out.interval[:, 0]) & (y <= held_out.interval[:, 1])
        low, high = stats.beta(inside.sum() + 0.5, (~inside).sum() + 0.5).interval(_LEVEL)
        meaning = "share of outcomes inside of their 90 % prediction interval; 90 % is right"
        found.append(Metric("Coverage", meaning, float(inside.mean()), low, high))
    return found


def _mean_metric(name: str, meaning: str, of_row: FloatArray) -> Metric:
    return _resampled(name, meaning, of_row, lambda m: m)


def _resampled(name: str, meaning: str, of_row: FloatArray, figure: Callable[[FloatArray], FloatArray]) -> Metric:
    """A figure of the mean over rows, with the interval of its bootstrap."""
    if not np.all(np.isfinite(of_row)):
        return Metric(name, meaning, reason="not defined: some predictions are infinite")
    random = np.random.default_rng(0)
    n = len(of_row)
    means = np.array([of_row[random.integers(0, n, n)].mean() for _ in range(_RESAMPLES)])
    ends = figure(np.quantile(means, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2]))
    return Metric(name, meaning, float(figure(of_row.mean())), float(min(ends)), float(max(ends)))


@dataclass(frozen=True)
class Bin:
    """Rows with about the same prediction."""

    predicted: float
    observed: float
    low: float
    high: float
    n: int


def calibration_of(fitted: Fitted, held_out: HeldOut, n_bins: int = 10) -> list[Bin]:
    """Predictions in bins of equal numbers of rows, and what was observed there, with intervals.

    Of two classes the probability of the second, of more that of the most probable class, of numbers the mean.
    """
    classes = fitted.classes
    if held_out.probabilities is None or classes is None:
        assert held_out.mean is not None  # noqa: S101
        predicted, observed = held_out.mean, np.asarray(held_out.y, dtype=np.float64)
    elif len(classes) == 2:
        predicted, observed = held_out.probabilities[:, 1], (held_out.y == classes[1]).astype(float)
    else:
        top = held_out.probabilities.argmax(axis=1)
        predicted, observed = held_out.probabilities.max(axis=1), (classes[top] == held_out.y).astype(float)
    groups = np.array_split(np.argsort(predicted, kind="stable"), min(n_bins, len(predicted)))
    return [_bin(predicted[rows], observed[rows], is_share=held_out.probabilities is not None) for rows in groups]


def _bin(predicted: FloatArray, observed: FloatArray, *, is_share: bool) -> Bin:
    n, mean = len(observed), float(observed.mean())
    if is_share:
        low, high = stats.beta(observed.sum() + 0.5, n - observed.sum() + 0.5).interval(_LEVEL)
    else:
        half = stats.norm.ppf(0.5 + _LEVEL / 2) * float(observed.std(ddof=1)) / math.sqrt(n) if n > 1 else 0.0
        low, high = mean - half, mean + half
    return Bin(float(predicted.mean()), mean, float(low), float(high), n)
