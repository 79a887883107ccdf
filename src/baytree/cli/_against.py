"""Cross-validated figures of a model beside those of scikit-learn's tree and forest."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from .._typing import AnyArray, FloatArray, IntArray
from ..fitted import Fitted, ModelKind
from ._talk import progress

_MOST_ROWS = 10_000  # so that a forest of scikit-learn's takes seconds, not minutes
_SMALLEST = 1e-15


@dataclass(frozen=True)
class Line:
    """The figures of one model, means over the folds, by name."""

    model: str
    figures: dict[str, float]


@dataclass(frozen=True)
class Comparison:
    """The figures of all models, and what they were measured on."""

    lines: list[Line]
    folds: int
    n_rows: int

    def names(self) -> list[str]:
        """Of the columns."""
        return ["", *self.lines[0].figures]

    def rows(self) -> Iterator[list[str]]:
        """The lines as text."""
        for line in self.lines:
            yield [line.model, *(_text(name, value) for name, value in line.figures.items())]


def _text(name: str, value: float) -> str:
    if np.isnan(value):
        return "–"
    digits = {"accuracy": "{:.1%}", "log loss": "{:.3f}", "leaves": "{:,.0f}", "fit, ms": "{:,.0f}"}
    return digits[name].format(value) if name in digits else f"{value:.4g}"


def compare_models(estimator: Any, X: pa.Table, y: AnyArray, weight: FloatArray | None, folds: int) -> Comparison:
    """Fit and measure all models on the same folds, of a sample where there are many rows."""
    random = np.random.RandomState(0)
    if len(y) > _MOST_ROWS:
        rows = np.sort(random.permutation(len(y))[:_MOST_ROWS])
        X, y, weight = X.take(rows), y[rows], None if weight is None else weight[rows]
    is_class = estimator.__sklearn_tags__().estimator_type == "classifier"
    parts = list(_folds(y, folds, random, stratified=is_class))
    models = _models(estimator, is_class=is_class)
    numbers = _numbers(X)
    found: dict[str, list[dict[str, float]]] = {name: [] for name in models}
    with progress("Cross-validation", len(parts) * len(models)) as advance:
        for train, test in parts:
            for name, own in models.items():
                table = X if own is estimator else numbers
                found[name].append(_measure(own, table, y, weight, train, test, is_class=is_class))
                advance(f"Cross-validation: {name}")
    lines = [
        Line(name, {figure: float(np.mean([one[figure] for one in own])) for figure in own[0]})
        for name, own in found.items()
    ]
    return Comparison(lines, folds, len(y))


def _folds(
    y: AnyArray, folds: int, random: np.random.RandomState, *, stratified: bool
) -> Iterator[tuple[IntArray, IntArray]]:
    from sklearn.model_selection import KFold, StratifiedKFold

    kind = StratifiedKFold if stratified and np.unique(y, return_counts=True)[1].max() >= folds else KFold
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a class may have fewer rows than there are folds
        yield from kind(folds, shuffle=True, random_state=random).split(np.zeros((len(y), 1)), y)


def _models(estimator: Any, *, is_class: bool) -> dict[str, Any]:
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if is_class:
        tree, forest = DecisionTreeClassifier, RandomForestClassifier
        least = "most frequent class", DummyClassifier(strategy="prior")
    else:
        tree, forest = DecisionTreeRegressor, RandomForestRegressor
        least = "always the mean", DummyRegressor()
    return {
        type(estimator).__name__: estimator,
        f"scikit-learn's {tree.__name__}": tree(random_state=0),
        f"scikit-learn's {forest.__name__}": forest(random_state=0, n_jobs=-1),
        least[0]: least[1],
    }


def _numbers(X: pa.Table) -> FloatArray:
    """The table as scikit-learn's trees take it: categories as their positions, missing values as NaN."""
    from ..table import Schema, as_table

    rows, _ = Schema.learn(as_table(X), "from_dtype", X.column_names)
    numbers: FloatArray = np.concatenate([np.asarray(part) for part in rows.dense_parts()])
    return numbers


def _measure(
    estimator: Any, X: Any, y: AnyArray, weight: FloatArray | None, train: IntArray, test: IntArray, *, is_class: bool
) -> dict[str, float]:
    from sklearn.base import clone

    fitted, inside, outside = clone(estimator), _take(X, train), _take(X, test)
    start = time.perf_counter()
    fitted.fit(inside, y[train], sample_weight=None if weight is None else weight[train])
    duration = 1000 * (time.perf_counter() - start)
    own = np.ones(len(test)) if weight is None else weight[test]
    figures = (
        _class_figures(fitted, outside, y[test], own) if is_class else _number_figures(fitted, outside, y[test], own)
    )
    return figures | {"leaves": _leaves(fitted), "fit, ms": duration}


def _take(X: Any, rows: IntArray) -> Any:
    return X.take(rows) if isinstance(X, pa.Table) else X[rows]


def _class_figures(fitted: Any, X: Any, y: AnyArray, weight: FloatArray) -> dict[str, float]:
    known = np.searchsorted(fitted.classes_, y)
    known = np.where(fitted.classes_[np.minimum(known, len(fitted.classes_) - 1)] == y, known, -1)
    p = np.where(known < 0, 0.0, fitted.predict_proba(X)[np.arange(len(y)), known])
    loss = -np.log(np.clip(p, _SMALLEST, 1.0))
    accuracy = np.average(fitted.predict(X) == y, weights=weight)
    return {"accuracy": float(accuracy), "log loss": float(np.average(loss, weights=weight))}


def _number_figures(fitted: Any, X: Any, y: AnyArray, weight: FloatArray) -> dict[str, float]:
    off = fitted.predict(X) - y
    return {
        "RMSE": float(np.sqrt(np.average(off**2, weights=weight))),
        "mean error": float(np.average(np.abs(off), weights=weight)),
    }


def _leaves(fitted: Any) -> float:
    """Of all trees that a prediction rests on; nan where there are none, or more than can be counted."""
    own = getattr(fitted, "fitted_", None)
    if isinstance(own, Fitted):
        return float("nan") if own.kind is ModelKind.SPACE else float(own.trees.n_leaves)
    if hasattr(fitted, "get_n_leaves"):
        return float(fitted.get_n_leaves())
    trees = getattr(fitted, "estimators_", None)
    return float("nan") if trees is None else float(sum(tree.get_n_leaves() for tree in trees))
