"""Cross-validated figures of a model beside those of scikit-learn's tree and forest."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.base import clone

from .._progress import Progress
from .._typing import AnyArray, FloatArray
from ..estimators import refit_model
from ..evaluation import Dataset, Fold, HeldOutPredictions, align_probabilities, folds_of, merge_folds, metrics_of
from ..fitted import Fitted, ModelKind

_MOST_ROWS = 10_000  # so that a forest of scikit-learn's takes seconds, not minutes
_FIGURES = {  # by the name of a metric of the report
    "Accuracy": "accuracy",
    "Log loss": "log loss",
    "R squared": "R²",
    "Root mean squared error": "RMSE",
}
_FORMATS = {
    "accuracy": "{:.1%}",
    "log loss": "{:.3f}",
    "R²": "{:.3f}",
    "leaves": "{:,.0f}",
    "terms": "{:,.0f}",
    "ms": "{:,.0f}",
}


@dataclass(frozen=True)
class Comparison:
    """The figures of all models by name, and what they were measured on."""

    figures: dict[str, dict[str, float]]
    n_folds: int
    n_rows: int

    def columns(self) -> list[str]:
        """The header of the table."""
        return ["", *next(iter(self.figures.values()))]

    def rows(self) -> Iterator[list[str]]:
        """The rows of the table."""
        for model, figures in self.figures.items():
            yield [model, *(_text(name, value) for name, value in figures.items())]


def _text(name: str, value: float) -> str:
    return "–" if np.isnan(value) else _FORMATS.get(name, "{:.4g}").format(value)


def compare_models(
    estimator: Any, X: pa.Table, y: AnyArray, weight: FloatArray | None, n_folds: int
) -> Comparison | None:
    """Fit and measure all models on the same folds, of a sample where there are many rows; None where there are few."""
    fitted: Fitted = estimator.fitted_
    data = Dataset(X, y, weight)
    if len(y) > _MOST_ROWS:
        data = data.take(np.sort(np.random.RandomState(0).permutation(len(y))[:_MOST_ROWS]))
    folds = folds_of(data, fitted.classes, n_folds)
    if not folds:
        return None
    numbers = replace(data, X=_numbers(data.X))
    models = {name: (model, data) for name, model in _leaf_kinds(estimator).items()} | {
        name: (peer, numbers) for name, peer in _reference_models(is_class=fitted.outcome.predicts_classes).items()
    }
    figures = {}
    with Progress("Cross-validation", len(models) * len(folds), unit="fits") as progress:
        for i, (name, (model, rows)) in enumerate(models.items()):
            progress.update(i * len(folds), f"Cross-validation, {name}")
            figures[name] = _figures(model, rows, folds, fitted, progress, i * len(folds))
    if all(of_model["terms"] != of_model["terms"] for of_model in figures.values()):
        for of_model in figures.values():
            del of_model["terms"]
    return Comparison(figures, len(folds), len(data.y))


def _leaf_kinds(estimator: Any) -> dict[str, Any]:
    """The model and, where its leaves may be of another kind too, the same model with those."""
    name, leaf = type(estimator).__name__, getattr(estimator, "leaf", None)
    if leaf is None or estimator.partitions != "axis" or getattr(estimator, "outcome", "normal") != "normal":
        return {name: estimator}
    other = "constant" if leaf == "linear" else "linear"
    label = f"{name}, linear leaves" if leaf == "linear" else name
    return {label: estimator, f"the same with {other} leaves": clone(estimator).set_params(leaf=other)}


def _figures(
    estimator: Any, data: Dataset, folds: list[Fold], fitted: Fitted, progress: Progress, n_done: int
) -> dict[str, float]:
    """The figures of one model, and the mean size and time of its fits."""
    parts, n_leaves, n_terms, milliseconds = [], [], [], []
    for i, (train, test) in enumerate(folds):
        rows = data.take(train)
        start = time.perf_counter()
        refitted = refit_model(estimator, rows.X, rows.y, sample_weight=rows.weight)
        milliseconds.append(1000 * (time.perf_counter() - start))
        n_leaves.append(_n_leaves(refitted))
        n_terms.append(_n_terms(refitted))
        parts.append(_fold_predictions(refitted, data.take(test), fitted))
        progress.update(n_done + i + 1)
    metrics = {metric.name: metric for metric in metrics_of(fitted, merge_folds(parts, folds, data, fitted, ""))}
    measured = {short: metrics[name].figure.estimate for name, short in _FIGURES.items() if name in metrics}
    size = {"leaves": float(np.mean(n_leaves)), "terms": float(np.mean(n_terms))}
    return measured | size | {"ms": float(np.mean(milliseconds))}


def _reference_models(*, is_class: bool) -> dict[str, Any]:
    from sklearn.dummy import DummyClassifier, DummyRegressor
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    if is_class:
        tree, forest = DecisionTreeClassifier, RandomForestClassifier
        baseline = {"most frequent class": DummyClassifier(strategy="prior")}
    else:
        tree, forest = DecisionTreeRegressor, RandomForestRegressor
        baseline = {"always the mean": DummyRegressor()}
    return {
        f"scikit-learn's {tree.__name__}": tree(random_state=0),
        f"scikit-learn's {forest.__name__}": forest(random_state=0, n_jobs=-1),
    } | baseline


def _numbers(X: pa.Table) -> FloatArray:
    """The table as scikit-learn's trees take it: categories as their positions, missing values as NaN."""
    from ..table import Schema, as_table

    rows, _ = Schema.learn(as_table(X), "from_dtype", X.column_names)
    numbers: FloatArray = np.concatenate([np.asarray(part) for part in rows.dense_parts()])
    return numbers


def _fold_predictions(estimator: Any, data: Dataset, fitted: Fitted) -> HeldOutPredictions:
    if not fitted.outcome.predicts_classes:
        return HeldOutPredictions("", data, mean=np.asarray(estimator.predict(data.X)))
    return HeldOutPredictions(
        "", data, align_probabilities(estimator.predict_proba(data.X), estimator.classes_, fitted)
    )


def _n_leaves(estimator: Any) -> float:
    """The number of leaves of all trees that a prediction uses; nan where there are no trees, or too many."""
    fitted = getattr(estimator, "fitted_", None)
    if isinstance(fitted, Fitted):
        return float("nan") if fitted.kind is ModelKind.SPACE else float(fitted.trees.n_leaves)
    if hasattr(estimator, "get_n_leaves"):
        return float(estimator.get_n_leaves())
    trees = getattr(estimator, "estimators_", None)
    return float("nan") if trees is None else float(sum(tree.get_n_leaves() for tree in trees))


def _n_terms(estimator: Any) -> float:
    """The number of terms in all leaves of a single tree; nan of constant leaves, which have none."""
    if getattr(estimator, "leaf", "constant") != "linear":
        return float("nan")
    tree = estimator.fitted_.trees
    return float(tree.leaves.n_terms[tree.is_leaf].sum())
