"""How wide predictive distributions must be to hold what they promise: measured on rows that a fit did not see.

A tree was chosen on the rows that its leaves count, so they look less noisy than they are, and real noise need not be
normal. The spread is the factor for which nine in ten cross-validated rows lie inside their 90 % interval.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..fitted import FittedSpace, FittedTree, real_outcome
from ..growth import some_folds_of
from ..outcomes import Outcome, RealOutcome
from ._data import TrainingData

_FOLDS = 10
_MOST_ROWS = 5000  # that are cross-validated
_FEWEST = 20.0  # rows, by weight
_LEVEL = 0.9
_NARROWEST, _WIDEST = 1 / 16, 16.0
_STEPS = 14  # of the bisection: the factor is then right to a thousandth

AnyFitted = TypeVar("AnyFitted", FittedTree, FittedSpace)
Coverage = Callable[[RealOutcome], BoolArray]


def has_spread(outcome: Outcome) -> bool:
    """Whether the width of an outcome's predictive distribution is free."""
    return isinstance(outcome, RealOutcome) and outcome.has_spread


def calibrate(fitted: AnyFitted, data: TrainingData, refit: Callable[[TrainingData], AnyFitted]) -> AnyFitted:
    """The same with the spread that cross-validation asks for, where its outcome has one."""
    outcome = real_outcome(fitted.outcome)
    if not outcome.has_spread or data.target.total_weight() < _FEWEST:
        return fitted
    tests, weights = _cross_validated(data, _folds(outcome, data), refit)
    if not tests:  # all rows are equal
        return fitted
    weight = np.concatenate(weights)
    # The usual correction for the noise of a quantile: one more row, outside.
    wanted = min(_LEVEL * (weight.sum() + 1) / weight.sum(), 1.0)

    def holds(spread: float) -> bool:
        wider = outcome.with_spread(spread)
        inside = np.concatenate([test(wider) for test in tests])
        return bool(weight @ inside >= (wanted - 1e-12) * weight.sum())

    return replace(fitted, outcome=outcome.with_spread(_least(holds)))


def _folds(outcome: RealOutcome, data: TrainingData) -> IntArray:
    """Folds that depend neither on the order of the rows nor on the unit of y, its zero or its sign."""
    standard = np.abs(outcome.statistics(data.target)[:, 1])
    return some_folds_of(data.rows, replace(data.target, y=standard.round(6)), _FOLDS, _MOST_ROWS)


def _cross_validated(
    data: TrainingData, fold: IntArray, refit: Callable[[TrainingData], AnyFitted]
) -> tuple[list[Coverage], list[FloatArray]]:
    """For each fold what tells which of its rows lie inside their interval, and their weights."""
    tests, weights = [], []
    for k in range(_FOLDS):
        held_out = fold == k
        train = (fold < _FOLDS) & ~held_out
        if held_out.any() and train.any():
            test = data.take(held_out)
            tests.append(_coverage(refit(data.take(train)), test))
            weights.append(np.ones(len(test.rows)) if test.target.weight is None else test.target.weight)
    return tests, weights


def _coverage(fitted: FittedTree | FittedSpace, test: TrainingData) -> Coverage:
    cdf = fitted.cdf_at(test.rows, np.asarray(test.target.y, dtype=np.float64))
    return lambda outcome: np.abs(cdf(outcome) - 0.5) <= _LEVEL / 2


def _least(holds: Callable[[float], bool]) -> float:
    """The least factor that holds what it promises."""
    low, high = np.log(_NARROWEST), np.log(_WIDEST)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(float(np.exp(middle))) else (middle, high)
    return float(np.exp(high))
