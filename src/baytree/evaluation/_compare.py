"""The comparison of two models on the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._typing import AnyArray, FloatArray
from .._validation import check_integer, check_sample_weight, short_repr
from ..decision import Decision, position_of, read_decision
from ..estimators import bare_estimator_of, fitted_of, holds_estimator, refit_model
from ._compared_figures import class_figures, number_figures, swap_sets
from ._comparison import Comparison
from ._held_out import Dataset, folds_of

AnyModel = Any  # scikit-learn has no type for its models


def compare(
    model: AnyModel,
    other: AnyModel,
    X: Any,
    y: Any,
    *,
    folds: int | None = None,
    positive: Any = None,
    costs: Any = None,
    actions: dict[Any, str] | None = None,
    names: tuple[str, str] | None = None,
    sample_weight: Any = None,
    groups: Any = None,
) -> Comparison:
    """Compare two models on the same rows.

    At least one model is one of baytree; the other may be any scikit-learn classifier with `predict_proba`, or any
    regressor. For two classes the figures are the area under the curve, Gini, KS, log loss, expected cost and accuracy,
    for more classes the last three. For numbers they are the mean absolute error, the root mean squared error and R
    squared. Each difference has a paired 90 % interval, from the differences row by row.

    Parameters
    ----------
    model, other
        The two models, such as the one in use and its successor. A model without a decision rule of its own (every
        scikit-learn model) decides by the rule of the other one.
    X, y
        Rows that neither model has seen, and their outcomes. With `folds`, all rows.
    folds
        None: both models are fitted, and X and y are new to them. A number: fit copies of both models to the same folds
        of a cross-validation.
    positive
        Of two classes, the label of the positive one. None: that of the decision rule, by default the second one.
    costs
        Costs of the errors, as a matrix or a dict of dicts as in the parameter `decision` of a classifier. None: those
        of the models' decision rule; without any, no cost is shown.
    actions
        Names of the decisions by class: ``{"bad": "decline", "good": "approve"}``.
    names
        Names of the two models in the output.
    sample_weight
        How often each row counts.
    groups
        Rows that belong together, one group per row: no fold divides a group.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from baytree import BayesianTreeClassifier, compare
    >>> data = load_breast_cancer()
    >>> X, y = data.data, data.target_names[data.target]
    >>> linear = make_pipeline(StandardScaler(), LogisticRegression())
    >>> result = compare(BayesianTreeClassifier(), linear, X, y, folds=5, names=("tree", "logistic"))
    >>> result.figures[0].better
    1
    """
    if groups is not None and folds is None:
        raise ValueError("groups are for folds: give folds, or leave groups out.")
    models = model, other
    if not any(map(holds_estimator, models)):
        raise TypeError(
            "compare needs a model of baytree as one of the two, or a pipeline that ends in one; got "
            f"{short_repr(model)} and {short_repr(other)}."
        )
    is_class = _predicts_classes(model)
    if is_class != _predicts_classes(other):
        raise ValueError("One of the models predicts classes, the other numbers: there is nothing to compare.")
    n_folds = None if folds is None else check_integer("folds", folds, low=2)
    if n_folds is None:
        for one in models:
            check_is_fitted(one)
    target = np.asarray(y)
    check_consistent_length(X, target)
    weight = check_sample_weight(sample_weight, len(target))
    data = Dataset(X, target, weight, groups=None if groups is None else np.asarray(groups))
    classes = _classes(models, target, are_fitted=n_folds is None) if is_class else None
    predicted, method = _predictions(models, data, classes, n_folds)
    weight = np.ones(len(target)) if weight is None else weight
    names = _names(model, other) if names is None else names
    if classes is None:
        return compare_numbers(target, predicted, weight, names, method)
    rules = [_rule(one, classes) for one in models]
    return compare_predictions(
        target, classes, predicted, rules, weight, names, method, positive=positive, costs=costs, actions=actions
    )


def compare_numbers(
    y: AnyArray, predicted: tuple[FloatArray, FloatArray], weight: FloatArray, names: tuple[str, str], method: str
) -> Comparison:
    """Compare numbers that two models predict for the same rows."""
    return Comparison(names, float(weight.sum()), method, None, number_figures(y, predicted, weight), [])


def compare_predictions(
    y: AnyArray,
    classes: AnyArray,
    probabilities: tuple[FloatArray, FloatArray],
    rules: list[Decision | None],
    weight: FloatArray,
    names: tuple[str, str],
    method: str,
    *,
    positive: Any = None,
    costs: Any = None,
    actions: dict[Any, str] | None = None,
) -> Comparison:
    """Compare class probabilities of two models for the same rows."""
    set_rules = [rule for rule in rules if rule is not None]
    settled = next((rule for rule in set_rules if not rule.is_most_probable), set_rules[0] if set_rules else Decision())
    filled = [settled if rule is None or rule.is_most_probable else rule for rule in rules]
    place = settled.positive if positive is None else position_of(positive, classes, "positive")
    if costs is not None:
        matrix = read_decision(costs, classes).costs
        if matrix is None:
            raise ValueError("costs must be a matrix or a dict of dicts of costs; a threshold is given as decision=.")
    else:
        matrix = next((rule.costs for rule in filled if rule.costs is not None), None)
    true = np.searchsorted(classes, y)
    codes = [rule.codes(p) for rule, p in zip(filled, probabilities, strict=True)]
    figures = class_figures(true, probabilities, codes, weight, matrix, place)
    written = _written(classes, actions)
    swaps = swap_sets(true, codes, weight, written, place)
    name = str(classes[place]) if len(classes) == 2 else None
    return Comparison(names, float(weight.sum()), method, name, figures, swaps)


def _written(classes: AnyArray, actions: dict[Any, str] | None) -> list[str]:
    """The names of the decisions."""
    written = [str(label) for label in classes.tolist()]
    for label, action in ({} if actions is None else actions).items():
        written[position_of(label, classes, "actions")] = str(action)
    return written


def _rule(model: AnyModel, classes: AnyArray) -> Decision | None:
    """The decision rule of a model of baytree, fitted or not; None of others."""
    if not holds_estimator(model):
        return None
    try:
        return fitted_of(model).decision
    except NotFittedError:
        return read_decision(bare_estimator_of(model).decision, classes)


def _predicts_classes(model: AnyModel) -> bool:
    return is_classifier(model.steps[-1][1] if isinstance(model, Pipeline) else model)


def _classes(models: tuple[Any, Any], y: AnyArray, *, are_fitted: bool) -> AnyArray:
    """The class labels of both models; refuses models and rows whose classes differ."""
    if not are_fitted:
        return np.unique(y)
    first, second = (np.asarray(model.classes_) for model in models)
    if first.tolist() != second.tolist():
        raise ValueError(
            f"The models have different classes: {short_repr(first.tolist())} and {short_repr(second.tolist())}."
        )
    unknown = [label for label in np.unique(y).tolist() if label not in first.tolist()]
    if unknown:
        raise ValueError(f"y has the class {short_repr(unknown[0])}, which the models do not know.")
    return first


def _predictions(
    models: tuple[Any, Any], data: Dataset, classes: AnyArray | None, n_folds: int | None
) -> tuple[tuple[FloatArray, FloatArray], str]:
    """What both models predict for rows that they have not seen, and how these were kept from them."""
    if n_folds is None:
        first, second = (_prediction(model, data.X, classes) for model in models)
        return (first, second), "given as rows that neither model has seen"
    folds = folds_of(data, classes, n_folds)
    if not folds:
        raise ValueError(f"{len(data.y)} rows are too few for {n_folds} folds: give more rows or fewer folds.")
    predicted: list[FloatArray] = []
    for model in models:
        parts = []
        for train, test in folds:
            rows = data.take(train)
            parts.append(
                _prediction(refit_model(model, rows.X, rows.y, sample_weight=rows.weight), data.take(test).X, classes)
            )
        predicted.append(np.concatenate(parts)[np.argsort(np.concatenate([test for _, test in folds]))])
    return (predicted[0], predicted[1]), f"{len(folds)}-fold cross-validation of both models on the same folds"


def _prediction(model: AnyModel, X: Any, classes: AnyArray | None) -> FloatArray:
    """Class probabilities, one column for each of the classes; or numbers."""
    if classes is None:
        return np.asarray(model.predict(X), dtype=np.float64)
    if not hasattr(model, "predict_proba"):
        raise TypeError(f"compare needs probabilities, and {short_repr(model)} has no predict_proba.")
    probabilities = np.zeros((len(np.asarray(model.predict(X))), len(classes)))
    probabilities[:, np.searchsorted(classes, model.classes_)] = model.predict_proba(X)
    return probabilities


def _names(model: AnyModel, other: AnyModel) -> tuple[str, str]:
    first, second = (type(one.steps[-1][1] if isinstance(one, Pipeline) else one).__name__ for one in (model, other))
    return (first, second) if first != second else (f"{first} 1", f"{second} 2")
