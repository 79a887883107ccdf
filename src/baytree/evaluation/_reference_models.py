"""Reference models on the same held-out rows: no model, a linear model, other trees and a forest."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._progress import Progress
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._words import count_text
from ..estimators import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    Model,
    fitted_of,
    read_rows,
)
from ..figures import Figure
from ..fitted import Fitted, ModelKind
from ..leaves import ConstantLeaves
from ..outcomes import NormalOutcome
from ..table import Kind
from ._held_out import Dataset, Fold, HeldOutPredictions, align_probabilities, folds_of, merge_folds
from ._measures import metrics_of

_MOST_CROSS_VALIDATED = 10_000  # rows; above, one fold is held out once
_MOST_TRAINING_ROWS = 20_000  # of a reference model, so that a report takes seconds
_FEWEST_TRAINING_ROWS = 20
_LEAF_SIZES = (1, 5, 20, 50, 100)  # of scikit-learn's tree, of which its own cross-validation chooses
_OF_DECISIONS = ("Cost of a decision", "Accuracy")
_FIGURES = (
    "Cost of a decision",
    "Area under the curve",
    "Log loss",
    "Accuracy",
    "R squared",
    "Root mean squared error",
)


@dataclass(frozen=True)
class ReferenceFigures:
    """The figures of one model, by the name of the metric; empty where a metric is not defined."""

    name: str
    figures: dict[str, Figure]


@dataclass(frozen=True)
class ReferenceModels:
    """The model of a report and its references on the same rows."""

    models: list[ReferenceFigures]  # the model of the report first
    n_rows: float  # held out
    n_training_rows: int  # most rows that a reference model was fitted to


def compare_with_references(
    model: Model, data: Dataset, held_out: Dataset | None, measured: HeldOutPredictions, n_folds: int, name: str
) -> ReferenceModels | None:
    """Fit and measure the reference models; None for outcomes that they do not predict and for few rows."""
    fitted = fitted_of(model)
    if measured.rows.extras or not (fitted.outcome.predicts_classes or isinstance(fitted.outcome, NormalOutcome)):
        return None
    train, test, folds = _tables(model, data, held_out, n_folds)
    if not all(_is_enough(train.y[rows], is_class=fitted.outcome.predicts_classes) for rows, _ in folds):
        return None
    chosen = np.sort(np.concatenate([rows for _, rows in folds]))
    tested = test.take(chosen)
    own = _figures(fitted, _take(measured, chosen))
    result = [ReferenceFigures(name, own), *_constant_decisions(fitted, train, tested, folds)]
    estimators = _reference_estimators(fitted)
    with Progress("Reference models", len(estimators) * len(folds), unit="fits") as progress:
        for i, (title, estimator) in enumerate(estimators.items()):
            progress.update(i * len(folds), f"Reference models, {title}")
            parts = []
            for j, (rows, rest) in enumerate(folds):
                refitted = _fit(estimator, train.take(_some(rows)))
                parts.append(_predict(refitted, test.take(rest), fitted))
                progress.update(i * len(folds) + j + 1)
            figures = _figures(fitted, merge_folds(parts, folds, tested, fitted, ""))
            result.append(ReferenceFigures(title + _size_text(refitted), figures))
    return ReferenceModels(result, measured.n_rows, min(max(len(rows) for rows, _ in folds), _MOST_TRAINING_ROWS))


def _tables(model: Model, data: Dataset, held_out: Dataset | None, n_folds: int) -> tuple[Dataset, Dataset, list[Fold]]:
    """Training rows and held-out rows as numbers, and the folds, which are those of the cross-validation."""
    train = _as_numbers(model, data)
    if held_out is not None:
        return train, _as_numbers(model, held_out), [(np.arange(len(data.y)), np.arange(len(held_out.y)))]
    folds = folds_of(data, fitted_of(model).classes, n_folds)
    return train, train, folds[:1] if len(data.y) > _MOST_CROSS_VALIDATED else folds


def _as_numbers(model: Model, data: Dataset) -> Dataset:
    """The columns that the model reads, as scikit-learn takes them: categories as positions, missing values as NaN."""
    parts = [np.asarray(part, dtype=np.float64) for part in read_rows(model, data.X).dense_parts()]
    return replace(data, X=np.concatenate(parts), subgroups={})


def _is_enough(y: AnyArray, *, is_class: bool) -> bool:
    """Whether the reference models can be fitted to these rows."""
    return len(y) >= _FEWEST_TRAINING_ROWS and (not is_class or len(np.unique(y)) > 1)


def _some(rows: IntArray) -> IntArray:
    """Rows drawn at random from many, in their order."""
    if len(rows) <= _MOST_TRAINING_ROWS:
        return rows
    return np.sort(np.random.RandomState(0).choice(rows, _MOST_TRAINING_ROWS, replace=False))


def _take(measured: HeldOutPredictions, rows: IntArray) -> HeldOutPredictions:
    """The predictions for some of the held-out rows."""

    def of(values: Any) -> Any:
        return None if values is None else values[rows]

    return replace(
        measured,
        rows=measured.rows.take(rows),
        probabilities=of(measured.probabilities),
        codes=of(measured.codes),
        mean=of(measured.mean),
        interval=of(measured.interval),
    )


def _figures(fitted: Fitted, predictions: HeldOutPredictions) -> dict[str, Figure]:
    metrics = {metric.name: metric.figure for metric in metrics_of(fitted, predictions) if not metric.reason}
    return {name: metrics[name] for name in _FIGURES if name in metrics}


def _constant_decisions(
    fitted: Fitted, train: Dataset, tested: Dataset, folds: list[Fold]
) -> Iterator[ReferenceFigures]:
    """The figures without a model: the base rates or the mean, and, of two classes, each decision for every row."""
    fit_rows = folds[0][0]
    weight = np.ones(len(fit_rows)) if train.weight is None else train.weight[fit_rows]
    n = len(tested.y)
    if not fitted.outcome.predicts_classes:
        average = float(np.average(np.asarray(train.y, dtype=np.float64)[fit_rows], weights=weight))
        yield ReferenceFigures(
            "no model: the mean", _figures(fitted, HeldOutPredictions("", tested, mean=np.full(n, average)))
        )
        return
    labels = fitted.outcome.labels
    rates = np.array([weight[train.y[fit_rows] == label].sum() for label in labels]) / weight.sum()
    probabilities = np.tile(rates, (n, 1))
    codes = fitted.decision.codes(probabilities)
    base = HeldOutPredictions("", tested, probabilities, codes)
    yield ReferenceFigures("no model: the base rates", _figures(fitted, base))
    for code in range(len(labels)) if len(labels) == 2 else ():
        figures = _figures(fitted, replace(base, codes=np.full(n, code)))
        kept = {name: figure for name, figure in figures.items() if name in _OF_DECISIONS}
        yield ReferenceFigures(f"every row: {fitted.class_names[code]}", kept)


def _reference_estimators(fitted: Fitted) -> dict[str, Any]:
    """A linear model, scikit-learn's tree with a leaf size by cross-validation, other leaves, the forest."""
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    is_category: BoolArray = np.array([column.kind is Kind.CATEGORY for column in fitted.schema.columns])
    is_class = fitted.outcome.predicts_classes
    encode = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler()), ~is_category),
            ("categories", OneHotEncoder(handle_unknown="ignore", max_categories=100), is_category),
        ]
    )
    linear = LogisticRegression(max_iter=1000) if is_class else Ridge()
    tree = DecisionTreeClassifier(random_state=0) if is_class else DecisionTreeRegressor(random_state=0)
    score = "neg_log_loss" if is_class else "neg_mean_squared_error"
    references = {
        "logistic regression" if is_class else "ridge regression": make_pipeline(encode, linear),
        "scikit-learn's tree": GridSearchCV(tree, {"min_samples_leaf": _LEAF_SIZES}, scoring=score, cv=3),
    }
    categories = is_category if is_category.any() else None
    if fitted.kind is ModelKind.TREE:
        leaf = "linear" if isinstance(fitted.trees.leaves, ConstantLeaves) else "constant"
        make = BayesianTreeClassifier if is_class else BayesianTreeRegressor
        references[f"tree with {leaf} leaves"] = make(leaf=leaf, categorical_features=categories)
    if fitted.kind is not ModelKind.FOREST:
        forest = BayesianForestClassifier if is_class else BayesianForestRegressor
        references["forest"] = forest(categorical_features=categories, random_state=0)
    return references


def _size_text(refitted: Any) -> str:
    """The leaves of one of our trees, and their terms."""
    if not isinstance(refitted, BayesianTreeClassifier | BayesianTreeRegressor):
        return ""
    n_terms = int(refitted.tree_.leaves.n_terms[refitted.tree_.is_leaf].sum())
    terms = f", {count_text(n_terms, 'term')}" if n_terms else ""
    return f" ({count_text(refitted.get_n_leaves(), 'leaf', 'leaves')}{terms})"


def _predict(refitted: Any, test: Dataset, fitted: Fitted) -> HeldOutPredictions:
    """The predictions of a fitted reference model for the rows that are held out."""
    if not fitted.outcome.predicts_classes:
        return HeldOutPredictions("", test, mean=np.asarray(refitted.predict(test.X), dtype=np.float64))
    probabilities: FloatArray = np.asarray(refitted.predict_proba(test.X))
    return HeldOutPredictions("", test, align_probabilities(probabilities, refitted.classes_, fitted))


def _fit(estimator: Any, train: Dataset) -> Any:
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline

    copy = clone(estimator)
    name = f"{copy.steps[-1][0]}__sample_weight" if isinstance(copy, Pipeline) else "sample_weight"
    given = {} if train.weight is None else {name: train.weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rare classes, unknown categories and steps that do not converge
        return copy.fit(train.X, train.y, **given)
