"""Checks of what a file holds, so that nothing later runs off the ends of arrays, in circles, or on nonsense."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import fields
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray
from ..decision import Decision
from ..fitted import UNSEEN, FittedOn, ForestFacts, ModelKind
from ..outcomes import CategoricalOutcome, Outcome
from ..table import MOST_INTEGER, Kind, Schema

_FACTS = {
    "fingerprint": r"[0-9a-f]{64}",
    "date": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
    "version": r"[0-9A-Za-z.+-]{1,60}",
}
_ROUNDING = 1e-9
_LARGEST_EXPONENT = 10.0
_LARGEST_INTERCEPT = 100.0


def check_record(values: Any, kind: type, *, but: Collection[str] = ()) -> None:
    """Refuse a dictionary that does not have exactly the fields of a dataclass, but for some."""
    if not isinstance(values, dict) or values.keys() != {field.name for field in fields(kind)} - {*but}:
        raise ValueError(f"the fields of {kind.__name__} are not all there")


def check_categories(kind: Kind, categories: Any) -> AnyArray | None:
    """Refuse categories that do not fit the kind of their column."""
    if (categories is not None) != (kind in (Kind.CATEGORY, Kind.ORDERED)):
        raise ValueError("a column has categories that its kind does not have")
    if categories is None:
        return None
    if not isinstance(categories, np.ndarray) or categories.ndim != 1:
        raise ValueError("the categories of a column are not a vector")
    are_text = categories.dtype.kind == "O" and all(isinstance(category, str) for category in categories)
    if not are_text and (categories.dtype != np.float64 or not np.all(np.isfinite(categories))):
        raise ValueError("a category is neither text nor a number")
    if len(set(categories.tolist())) != len(categories):
        raise ValueError("a category is there twice")
    return categories


def check_numbers(kind: Kind, numbers: Any) -> tuple[float | None, float | None, bool]:
    """Refuse a range of numbers that is none, or that does not fit the kind of its column."""
    if numbers is None:
        return None, None, False
    if kind is not Kind.NUMBER or not isinstance(numbers, list) or len(numbers) != 3:
        raise ValueError("the range of a column is none")
    low, high, is_integer = numbers
    are_numbers = all(isinstance(end, float) and np.isfinite(end) for end in (low, high))
    if not are_numbers or low > high or not isinstance(is_integer, bool):
        raise ValueError("the range of a column is none")
    if is_integer and not all(end.is_integer() and abs(end) < MOST_INTEGER for end in (low, high)):
        raise ValueError("the range of a column of integers has an end that is none")
    return low, high, is_integer


def check_fitted_on(fitted_on: FittedOn | None, schema: Schema) -> None:
    """Refuse facts that cannot be those of a fit."""
    if fitted_on is None:
        return
    whole = type(fitted_on.n_rows) is int and fitted_on.n_rows > 0 and fitted_on.n_columns == schema.n_features
    if not whole or not isinstance(fitted_on.weight, float) or not 0 < fitted_on.weight < np.inf:
        raise ValueError("the size of what the model was fitted on is wrong")
    for name, pattern in _FACTS.items():
        text = getattr(fitted_on, name)
        if not isinstance(text, str) or re.fullmatch(pattern, text, re.ASCII) is None:
            raise ValueError(f"the {name} of what the model was fitted on is wrong")


def check_rules(decision: Decision, unseen: Any, classes: AnyArray | None) -> None:
    """Refuse rules of decision, and for values that were not seen, that no fit would make."""
    if unseen not in UNSEEN:
        raise ValueError("the rule for values that were not seen is unknown")
    costs, threshold, n_classes = decision.costs, decision.threshold, 0 if classes is None else len(classes)
    if decision.positive not in (0, 1) or isinstance(decision.positive, bool):
        raise ValueError("the class that the threshold is for is not one of two")
    if threshold is not None and not (isinstance(threshold, float) and 0 < threshold < 1 and n_classes == 2):
        raise ValueError("the threshold of the decision is out of range")
    if costs is None:
        return
    right = isinstance(costs, np.ndarray) and costs.dtype == np.float64 and costs.shape == (n_classes, n_classes)
    if not right or threshold is not None or not np.all(np.isfinite(costs)):
        raise ValueError("the costs of the decision are not all there")


def check_outcome(outcome: Outcome) -> None:
    """Refuse priors that are none, other numbers that are none, and classes that do not fit the prior."""
    for field in fields(outcome):  # type: ignore[arg-type]
        value = getattr(outcome, field.name)
        if field.name in ("prior", "classes", "rates", "points", "intercepts"):
            continue
        if not (isinstance(value, float) and np.isfinite(value)):
            raise ValueError(f"the {field.name} of the outcome is no number")
        if field.name in ("scale", "size", "spread", "slope", "exponent") and value <= 0:
            raise ValueError(f"the {field.name} of the outcome is not positive")
    if not isinstance(outcome.prior, np.ndarray) or outcome.prior.ndim != 1:
        raise ValueError("the prior of the outcome is not a vector")
    check_parameters(outcome, np.atleast_2d(outcome.prior))
    if isinstance(outcome, CategoricalOutcome):
        _check_classes(outcome.classes, outcome.prior)
        _check_calibration(outcome)
        _check_forest_calibration(outcome)


def _check_classes(classes: Any, prior: AnyArray) -> None:
    if not isinstance(classes, np.ndarray) or classes.shape != prior.shape:
        raise ValueError("there is not one class for each parameter of the prior")
    if np.any(classes[1:] <= classes[:-1]):
        raise ValueError("the classes are not in order")


def _check_calibration(outcome: CategoricalOutcome) -> None:
    rates, points = outcome.rates, outcome.points
    if (rates is None) != (points is None):
        raise ValueError("half of the calibration of the outcome is missing")
    if rates is None or points is None:
        return
    if not isinstance(rates, np.ndarray) or rates.dtype != np.float64 or rates.shape != outcome.prior.shape:
        raise ValueError("there is not one rate for each class")
    if not np.all(rates > 0) or abs(rates.sum() - 1) > _ROUNDING:
        raise ValueError("the rates of the classes are out of range")
    if not isinstance(points, np.ndarray) or points.dtype != np.float64 or points.shape[1:] != (3,) or len(points) == 0:
        raise ValueError("the calibration of the outcome is not all there")
    in_range = np.all((points > 0) & (points < np.inf)) and np.all(points[:, 0] <= 1)
    if not in_range or abs(points[:, 2].sum() - 1) > _ROUNDING:
        raise ValueError("the calibration of the outcome is out of range")


def _check_forest_calibration(outcome: CategoricalOutcome) -> None:
    intercepts = outcome.intercepts
    if intercepts is None and outcome.exponent == 1:
        return
    if not isinstance(intercepts, np.ndarray) or intercepts.dtype != np.float64:
        raise ValueError("the intercepts of the forest are no numbers")
    if intercepts.shape != outcome.prior.shape:
        raise ValueError("there is not one intercept for each class")
    if not np.all(np.abs(intercepts) <= _LARGEST_INTERCEPT) or outcome.exponent > _LARGEST_EXPONENT:
        raise ValueError("the calibration of the forest is out of range")


def check_parameters(outcome: Outcome, parameters: AnyArray) -> None:
    """Refuse parameters of priors or posteriors, one set a row, that are out of range."""
    n_parameters = len(outcome.parameter_names) or len(outcome.prior)
    if parameters.dtype != np.float64 or parameters.shape[1:] != (n_parameters,):
        raise ValueError("the parameters of a prior or posterior are not all there")
    if not np.all(np.isfinite(parameters)) or np.any(parameters[:, _positive(outcome)] <= 0):
        raise ValueError("a parameter of a prior or posterior is out of range")


def check_posterior(outcome: Outcome, prior: AnyArray, posterior: AnyArray) -> None:
    """Refuse posteriors that are none, or that say less than the prior."""
    check_parameters(outcome, posterior)
    positive = _positive(outcome)
    if np.any(posterior[:, positive] < prior[:, positive] * (1 - _ROUNDING)):
        raise ValueError("the statistics of a node are out of range")


def _positive(outcome: Outcome) -> BoolArray:
    """Which parameters are positive; rows can only add to these."""
    names = outcome.parameter_names or ("",) * len(outcome.prior)
    return np.array([name not in outcome.any_sign for name in names])


def check_monotonic(monotonic: Any, schema: Schema) -> None:
    """Refuse directions of features that are none."""
    if monotonic is None:
        return
    right = isinstance(monotonic, np.ndarray) and monotonic.dtype == np.int64
    if not right or monotonic.shape != (schema.n_features,) or not np.isin(monotonic, (-1, 0, 1)).all():
        raise ValueError("the directions of the features are not 1, 0 or -1")


def check_forest_facts(forest: ForestFacts | None, kind: ModelKind) -> None:
    """Refuse numbers of a forest that are none, or that something else has."""
    if (forest is not None) != (kind is ModelKind.FOREST):
        raise ValueError("a forest lacks its facts, or something else has them")
    if forest is None:
        return
    if type(forest.seed) is not int or forest.seed < 0:
        raise ValueError("the seed of the forest is no whole number")
    if type(forest.agreement) not in (float, int) or not np.isfinite(forest.agreement):
        raise ValueError("the agreement of the forest is no number")
    figures = forest.out_of_bag
    if figures is None:
        return
    if type(figures.score) not in (float, int) or np.isinf(figures.score):
        raise ValueError("the out-of-bag score of the forest is no number")
    if not isinstance(figures.mean, np.ndarray) or figures.mean.dtype != np.float64:
        raise ValueError("the out-of-bag predictions of the forest are no numbers")
