"""The figures of two models on the same rows, and the rows by the decisions of both."""

from __future__ import annotations

import math

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..figures import Figure, Z, mean, share, share_of
from ..metrics import (
    RowValues,
    area_figure,
    auc_values,
    difference_of,
    gini_figure,
    ks_figure,
    ks_values,
    mean_values,
)
from ._comparison import ComparedFigure, SwapSet


def class_figures(
    true: IntArray,
    probabilities: tuple[FloatArray, FloatArray],
    codes: list[IntArray],
    weight: FloatArray,
    costs: FloatArray | None,
    positive: int,
) -> list[ComparedFigure]:
    figures: list[ComparedFigure] = []
    is_positive = true == positive
    if probabilities[0].shape[1] == 2 and np.any(weight[is_positive]) and np.any(weight[~is_positive]):
        figures += _ranking_figures(is_positive, [p[:, positive] for p in probabilities], weight)
    every = np.arange(len(true))
    losses = [-np.log(np.maximum(p[every, true], np.finfo(float).eps)) for p in probabilities]
    figures.append(_mean_figure("Log loss", "mean surprise at the true class; 0 is perfect", losses, weight))
    if costs is not None:
        spent = [costs[true, code] for code in codes]
        figures.append(_mean_figure("Expected cost", "mean cost of a decision; less is better", spent, weight))
    right = [(code == true).astype(np.float64) for code in codes]
    first, second = (mean_values(values, weight) for values in right)
    accuracies = [share_of(values == 1, weight) for values in right]
    difference = difference_of(second, first, is_share=True)
    figures.append(_compared("Accuracy", "share of decisions that are right", accuracies, difference))
    return figures


def _ranking_figures(positive: BoolArray, scores: list[FloatArray], weight: FloatArray) -> list[ComparedFigure]:
    """Area under the curve, Gini and KS of the rows that count."""
    counts = weight > 0
    positive, weight, scores = positive[counts], weight[counts], [score[counts] for score in scores]
    areas = [auc_values(positive, score, weight) for score in scores]
    best = [ks_values(positive, score, weight) for score in scores]
    area, gini = [area_figure(rows) for rows in areas], [gini_figure(area_figure(rows)) for rows in areas]
    difference = difference_of(areas[1], areas[0])
    twice = Figure(2 * difference.estimate, 2 * difference.low, 2 * difference.high)
    ks = [ks_figure(positive, score, weight) for score in scores]
    return [
        _compared("Area under the curve", "0.5 is chance, 1 is perfect", area, difference),
        _compared("Gini", "twice the area less 1; 0 is chance", gini, twice),
        _compared("KS", "0 is chance, 1 is perfect", ks, difference_of(best[1], best[0])),
    ]


def _mean_figure(name: str, meaning: str, values: list[FloatArray], weight: FloatArray) -> ComparedFigure:
    """A mean that is better the lower it is."""
    first, second = (mean_values(of_model, weight) for of_model in values)
    both = [mean(of_model, weight) for of_model in values]
    return _compared(name, meaning, both, difference_of(second, first), higher_is_better=False)


def _compared(
    name: str, meaning: str, figures: list[Figure], difference: Figure, *, higher_is_better: bool = True
) -> ComparedFigure:
    first, second = figures
    return ComparedFigure(name, meaning, first, second, difference, higher_is_better)


def number_figures(y: AnyArray, predicted: tuple[FloatArray, FloatArray], weight: FloatArray) -> list[ComparedFigure]:
    """The figures of numbers."""
    target = np.asarray(y, dtype=np.float64)
    errors = [prediction - target for prediction in predicted]
    from_mean = (target - np.average(target, weights=weight)) ** 2
    figures = [_mean_figure("Mean absolute error", "mean size of an error", [np.abs(e) for e in errors], weight)]
    roots = [_root_of_mean(error**2, weight) for error in errors]
    figures.append(_of_rows("Root mean squared error", "typical size of an error", roots, higher_is_better=False))
    if np.average(from_mean, weights=weight) > 0:
        shares = [_one_less_ratio(error**2, from_mean, weight) for error in errors]
        figures.append(_of_rows("R squared", "share of the variance that is explained", shares, higher_is_better=True))
    return figures


def _root_of_mean(values: FloatArray, weight: FloatArray) -> RowValues:
    """The square root of a mean, to first order a mean itself."""
    rows = mean_values(values, weight)
    root = math.sqrt(rows.estimate)
    return RowValues(root, values / max(2 * root, np.finfo(float).tiny), rows.side, weight)


def _one_less_ratio(above: FloatArray, below: FloatArray, weight: FloatArray) -> RowValues:
    """One less the ratio of two means, to first order a mean itself."""
    top, bottom = (float(np.average(values, weights=weight)) for values in (above, below))
    of_row = -above / bottom + top * below / bottom**2
    return RowValues(1 - top / bottom, of_row, np.zeros(len(above), dtype=np.int64), weight)


def _of_rows(name: str, meaning: str, rows: list[RowValues], *, higher_is_better: bool) -> ComparedFigure:
    """A figure whose own intervals are by its standard error."""
    halves = [Z * values.standard_error() for values in rows]
    both = [
        Figure(values.estimate, values.estimate - half, values.estimate + half)
        for values, half in zip(rows, halves, strict=True)
    ]
    return _compared(name, meaning, both, difference_of(rows[1], rows[0]), higher_is_better=higher_is_better)


def swap_sets(
    true: IntArray, codes: list[IntArray], weight: FloatArray, written: list[str], positive: int
) -> list[SwapSet]:
    """The rows by the decisions of both models: those that agree last where there are many classes."""
    k, total = len(written), float(weight.sum())
    result = []
    for pair in np.unique(codes[0] * k + codes[1]).tolist():
        i, j = divmod(pair, k)
        rows = (codes[0] == i) & (codes[1] == j)
        n = float(weight[rows].sum())
        hit = true[rows] == (positive if k == 2 else j)
        if n > 0:
            result.append(SwapSet(written[i], written[j], n, share(n, total - n), share_of(hit, weight[rows])))
    return result if k == 2 else sorted(result, key=lambda swap: (swap.first == swap.second, -swap.n))
