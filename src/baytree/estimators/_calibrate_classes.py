"""Calibration of class probabilities on rows that a fit did not see (docs/certainty.md)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._typing import FloatArray, IntArray
from ..fitted import Fitted, class_outcome
from ..growth import TableData, TrainingData, deal_small_folds
from ..leaves import ModelLeaves
from ..outcomes import (
    CategoricalOutcome,
    HeldOutCounts,
    OutOfBagProbabilities,
    estimate_calibration,
    estimate_discount,
    estimate_forest_calibration,
)
from ._copies import warn_of_copied_rows
from ._out_of_bag_rows import number_of_equal_trees, rows_with_trees, with_halves

_FOLDS = 5
_MOST_ROWS = 5000  # that are cross-validated
_FEWEST = 20.0  # rows, by weight, among which copies are looked for
_SHARE = 2.0**-20  # shares of rows in nodes are multiples of it


def calibrate_classes(fitted: Fitted, data: TrainingData, grow: Callable[[TableData], Fitted]) -> Fitted:
    """Give a result the discount and the strength that cross-validation asks for.

    A result without a split needs none: its only leaf was not chosen. Logistic leaves have no counts to discount.
    """
    outcome = class_outcome(fitted.outcome)
    if fitted.trees.node_count == 1 or len(outcome.prior) == 1 or isinstance(fitted.trees.leaves, ModelLeaves):
        return fitted
    sample = data.sample(outcome)
    if sample.target.total_weight() >= _FEWEST:
        warn_of_copied_rows(sample)
    counts = _cross_validate(sample, outcome, grow)
    if fitted.monotonic is None:
        points, rates = estimate_calibration(counts), outcome.mean(fitted.trees.posterior[:1])[0]
    else:  # leaves keep their means, which are in order, and only their intervals change
        points = estimate_discount(counts, float(outcome.prior.sum()))
        rates = outcome.prior / outcome.prior.sum()
    return fitted.with_outcome(replace(outcome, points=points, rates=rates))


def calibrate_classes_out_of_bag(
    fitted: Fitted, data: TableData, oob_weights: Callable[[IntArray], FloatArray]
) -> Fitted:
    """Give a forest the exponent and the intercepts that the trees without a row ask for; few rows ask for none."""
    outcome = class_outcome(fitted.outcome)
    if fitted.trees.node_count == fitted.trees.n_trees or len(outcome.prior) == 1:
        return fitted
    test, trees = rows_with_trees(data, oob_weights, deal_small_folds(data.rows, data.target, _FOLDS, _MOST_ROWS))
    if test.target.total_weight() < _FEWEST:
        return fitted
    warn_of_copied_rows(data)
    whole, *halves = (fitted.mean_without(test.rows, part) for part in with_halves(trees))
    gain = 1 - number_of_equal_trees(trees) / trees.shape[1]
    weight = np.ones(len(test)) if test.target.weight is None else test.target.weight
    found = estimate_forest_calibration(
        OutOfBagProbabilities(whole, (halves[0], halves[1]), gain, test.target.y, weight)
    )
    return replace(fitted, outcome=replace(outcome, exponent=found.exponent, intercepts=found.intercepts))


def _cross_validate(data: TableData, outcome: CategoricalOutcome, grow: Callable[[TableData], Fitted]) -> HeldOutCounts:
    """The leaves of trees that lack one fold each; those without a split tell nothing about leaves that were chosen."""
    dealt = deal_small_folds(data.coded_rows(), data.target, _FOLDS, _MOST_ROWS)
    data, fold = data.take(dealt.rows, dealt.weight), dealt.fold
    no_leaf = np.zeros((0, len(outcome.prior)))
    parts = [HeldOutCounts(no_leaf, no_leaf, no_leaf)]
    for k in range(_FOLDS):
        held_out = fold == k
        if held_out.any() and not held_out.all():
            trial = grow(data.take(~held_out))
            if trial.trees.node_count > 1:
                parts.append(_held_out_counts(trial, data.take(held_out), outcome))
    return HeldOutCounts(*map(np.concatenate, zip(*parts, strict=True)))


def _held_out_counts(trial: Fitted, test: TableData, outcome: CategoricalOutcome) -> HeldOutCounts:
    """The counts in the nodes that held-out rows reach; of a tree space, each row counts with its share in a node."""
    labels, posterior = outcome.statistics(test.target), trial.trees.posterior
    weight = np.ones(len(test)) if test.target.weight is None else test.target.weight
    held_out, first, unit = np.zeros(posterior.shape), 0, 2.0 ** (np.frexp(weight.sum())[1] - 52)
    for shares in trial.leaf_weights(test.rows):
        end = first + shares.shape[0]
        of_row = np.repeat(weight[first:end], np.diff(shares.indptr))
        # Sums of such multiples are exact, whatever the order of the rows.
        shares.data = np.rint(np.rint(shares.data / _SHARE) * _SHARE * of_row / unit) * unit
        held_out += shares.T @ labels[first:end]
        first = end
    reached = held_out.any(axis=1)
    rates = outcome.mean(posterior[:1] if trial.monotonic is None else outcome.prior[None])
    seen = _without_prior(posterior[reached], outcome)
    return HeldOutCounts(seen, held_out[reached], np.broadcast_to(rates, seen.shape))


def _without_prior(posterior: FloatArray, outcome: CategoricalOutcome) -> FloatArray:
    """What the rows, and the smoothing by those above, added to the prior at the root."""
    return np.asarray(posterior - outcome.prior)
