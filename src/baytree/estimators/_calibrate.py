"""Calibration of the width of predictive distributions, on rows that a fit did not see.

A tree was chosen on the rows that its leaves count, so they look less noisy than they are, and real noise need not be
normal. The spread is the factor for which nine in ten cross-validated rows lie inside their 90 % interval.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._typing import FloatArray, IntArray
from ..fitted import Fitted, real_outcome
from ..growth import (
    FoldParts,
    TableData,
    TrainingData,
    count_duplicates,
    deal_small_folds,
    split_whole_weights,
)
from ..outcomes import NormalOutcome, RealOutcome
from ._calibrate_classes import calibrate_classes, calibrate_classes_out_of_bag
from ._out_of_bag_rows import number_of_equal_trees, rows_with_trees, with_halves

_FOLDS = 10
_MOST_ROWS = 5000  # that are cross-validated
_FEWEST = 20.0  # rows, by weight
_LEVEL = 0.9
_NARROWEST, _WIDEST = 1 / 16, 16.0
_USUAL_SLOPE = 0.1  # distance from 1, beforehand
_STEEPEST = 2.0
_DECIMALS = 4  # of the slope, so that it does not depend on the order in which rows are added up
_STEPS = 14  # of the bisection: the factor is then right to a thousandth

Coverage = Callable[[RealOutcome], FloatArray]  # 1 of a row inside of its interval, 0 of one outside


def calibrate(fitted: Fitted, data: TrainingData, grow: Callable[[TableData], Fitted]) -> Fitted:
    """Give a result the calibration that cross-validation asks for, where its outcome has one."""
    if fitted.outcome.predicts_classes:
        return calibrate_classes(fitted, data, grow)
    outcome = real_outcome(fitted.outcome)
    if not outcome.has_spread:
        return fitted
    sample = data.sample(outcome)
    are_few = sample.target.total_weight() < _FEWEST
    if are_few and len(sample.rows) > _FEWEST:
        return fitted
    if not are_few:
        _warn_of_copies(sample)
    dealt = (
        _leave_one_out(sample)
        if are_few
        else deal_small_folds(sample.rows, sample.target, _FOLDS, _MOST_ROWS, by=_standard(outcome, sample))
    )
    tests, weights = _cross_validate(sample.take(dealt.rows, dealt.weight), dealt.fold, grow)
    if not tests:  # all rows are equal
        return fitted
    calibrated = _calibrate_spread(outcome, tests, np.concatenate(weights))
    return fitted.with_outcome(_no_narrower(outcome, calibrated, sample) if are_few else calibrated)


def calibrate_out_of_bag(fitted: Fitted, data: TableData, oob_weights: Callable[[IntArray], FloatArray]) -> Fitted:
    """Give a forest its calibration by the trees that lack a row: no tree is grown for it.

    `oob_weights(rows)` gives how much each tree counts as one grown without each of some rows, (n_rows, n_trees).
    """
    if fitted.outcome.predicts_classes:
        return calibrate_classes_out_of_bag(fitted, data, oob_weights)
    outcome = real_outcome(fitted.outcome)
    if not outcome.has_spread:
        return fitted
    dealt = deal_small_folds(data.rows, data.target, _FOLDS, _MOST_ROWS, by=_standard(outcome, data))
    test, trees = rows_with_trees(data, oob_weights, dealt)
    are_few = test.target.total_weight() < _FEWEST
    if are_few and (len(data.rows) > _FEWEST or len(test.rows) == 0):
        if data.target.weight is not None and data.target.total_weight() >= _FEWEST:
            warnings.warn(
                "Intervals are not calibrated (spread_ is 1), since rows of such weights count in nearly every tree: "
                "give smaller weights, or grow more trees.",
                UserWarning,
                stacklevel=5,
            )
        return fitted
    if not are_few:
        _warn_of_copies(data)
        fitted = _with_slope(fitted, test, trees)
        outcome = real_outcome(fitted.outcome)
    calibrated = _calibrate_spread(outcome, [_coverage_of_all(fitted, test, trees)], _weights(test))
    return replace(fitted, outcome=_no_narrower(outcome, calibrated, data) if are_few else calibrated)


def _with_slope(fitted: Fitted, test: TableData, trees: FloatArray) -> Fitted:
    """A forest whose means are as far from the overall mean as least squares asks for on rows that trees lack.

    The noise of an average over few trees would make the slope too small: that of all trees counts in its place.
    """
    outcome = fitted.outcome
    if not isinstance(outcome, NormalOutcome) or fitted.monotonic is not None:
        return fitted
    y, weight = _numbers(test), _weights(test)
    whole, one, other = (fitted.mean_without(test.rows, part)[:, 0] for part in with_halves(trees))
    y, whole, one, other = (values - np.average(values, weights=weight) for values in (y, whole, one, other))

    def covariance(a: FloatArray, b: FloatArray) -> float:
        return float(np.average(a * b, weights=weight))

    without_noise = covariance(one, other)
    of_half = (covariance(one, one) + covariance(other, other)) / 2 - without_noise
    share = float(np.average(number_of_equal_trees(trees), weights=weight)) / 2 / trees.shape[1]
    variance = without_noise + share * of_half
    if without_noise <= 0 or variance <= 0:
        return fitted
    slope = covariance(y, whole) / variance
    n_rows = weight.sum() ** 2 / (weight**2).sum()
    error = covariance(y - slope * whole, y - slope * whole) / (variance * n_rows)  # squared
    slope = 1 + (slope - 1) * _USUAL_SLOPE**2 / (_USUAL_SLOPE**2 + error)
    slope = round(min(max(slope, 1 / _STEEPEST), _STEEPEST), _DECIMALS)
    return fitted.with_outcome(replace(outcome, slope=slope))


def _no_narrower(outcome: RealOutcome, calibrated: RealOutcome, data: TableData) -> RealOutcome:
    """Few rows cannot show that intervals are too wide, nor how large the noise is."""
    return outcome.with_spread(max(calibrated.spread, outcome.least_spread(data.target, _LEVEL)))


def _warn_of_copies(data: TableData) -> None:
    n = count_duplicates(data.rows, data.target)
    if 2 * n > len(data.rows):
        warnings.warn(
            f"{n:,} of {len(data.rows):,} rows are equal to another one in X and y: if they are copies of the same "
            "records, drop them, since intervals are measured on rows whose copies are known and come out too narrow.",
            UserWarning,
            stacklevel=6,
        )


def _coverage_of_all(fitted: Fitted, test: TableData, trees: FloatArray) -> Coverage:
    """How many rows the interval of all trees would cover if no tree had seen a row, estimated from out-of-bag trees.

    The fewer trees, the noisier their distribution, and the more rows lie outside of its interval. With k of K trees,
    noise is in proportion to 1/k: what two halves lose against the k, all K gain (1 - k / K) times. Trees that count
    more or less are as many as would have the same noise.
    """
    whole, *halves = [_coverage(fitted.cdf_at(test.rows, _numbers(test), part)) for part in with_halves(trees)]
    gain = 1 - number_of_equal_trees(trees) / trees.shape[1]

    def inside(outcome: RealOutcome) -> FloatArray:
        covered = whole(outcome)
        return covered + gain * (covered - (halves[0](outcome) + halves[1](outcome)) / 2)

    return inside


def _calibrate_spread(outcome: RealOutcome, tests: list[Coverage], weight: FloatArray) -> RealOutcome:
    """The outcome with the smallest spread whose intervals have the nominal coverage."""
    # The usual correction for the noise of a quantile: one more row, outside.
    wanted = min(_LEVEL * (weight.sum() + 1) / weight.sum(), 1.0)

    def covers(spread: float) -> bool:
        wider = outcome.with_spread(spread)
        inside = np.concatenate([test(wider) for test in tests])
        return bool(weight @ inside >= (wanted - 1e-12) * weight.sum())

    # Where nine in ten rows lie at their mean, as those of a constant do, they carry no information about the width.
    return outcome.with_spread(1.0 if covers(_NARROWEST) else _smallest_factor(covers))


def _weights(test: TableData) -> FloatArray:
    return np.ones(len(test.rows)) if test.target.weight is None else test.target.weight


def _standard(outcome: RealOutcome, data: TableData) -> FloatArray:
    """By this, folds depend neither on the order of the rows nor on the unit of y, its zero or its sign."""
    return np.abs(outcome.statistics(data.target)[:, 1]).round(6)


def _leave_one_out(data: TableData) -> FoldParts:
    """A fold for each row, and for each of the rows that one of whole weight counts for."""
    if data.target.weight is None:
        return FoldParts(np.arange(len(data)), np.arange(len(data)), None)
    copies, each = split_whole_weights(data.target.weight)
    rows = np.repeat(np.arange(len(data)), copies)
    return FoldParts(rows, np.arange(len(rows)), each[rows])


def _cross_validate(
    data: TableData, fold: IntArray, grow: Callable[[TableData], Fitted]
) -> tuple[list[Coverage], list[FloatArray]]:
    """For each fold a function that tells which rows lie inside their interval, and the rows' weights."""
    tests, weights = [], []
    for k in range(int(fold.max()) + 1):
        held_out = fold == k
        if held_out.any() and not held_out.all():
            test = data.take(held_out)
            tests.append(_coverage(grow(data.take(~held_out)).cdf_at(test.rows, _numbers(test))))
            weights.append(_weights(test))
    return tests, weights


def _coverage(cdf: Callable[[RealOutcome], FloatArray]) -> Coverage:
    return lambda outcome: (np.abs(cdf(outcome) - 0.5) <= _LEVEL / 2).astype(np.float64)


def _numbers(test: TableData) -> FloatArray:
    return np.asarray(test.target.y, dtype=np.float64)


def _smallest_factor(covers: Callable[[float], bool]) -> float:
    """The smallest factor at which the intervals have the nominal coverage."""
    low, high = np.log(_NARROWEST), np.log(_WIDEST)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if covers(float(np.exp(middle))) else (middle, high)
    return float(np.exp(high))
