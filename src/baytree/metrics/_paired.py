"""Figures as sums over rows, so that the difference of two models on the same rows has a paired interval.

To first order, every figure here is a mean over rows, or a sum of two means: over the rows of the positive class and
over the others. The variance of the difference of two models is then that of the differences row by row: DeLong et al.
(1988) for the area under the curve, and the same for KS at the threshold found, where the derivative is zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._typing import BoolArray, FloatArray, IntArray
from ..figures import Figure, Z


@dataclass(frozen=True)
class RowValues:
    """A figure and what each row adds to it: its variance is the sum of those of the means over each side."""

    estimate: float
    of_row: FloatArray
    side: IntArray  # rows of one code are averaged together
    weight: FloatArray

    def standard_error(self) -> float:
        """The standard error of the figure; NaN where a side has fewer than two rows."""
        variance = 0.0
        for code in np.unique(self.side):
            rows = (self.side == code) & (self.weight > 0)
            n = float(self.weight[rows].sum())
            if n <= 1:
                return math.nan
            centre = np.average(self.of_row[rows], weights=self.weight[rows])
            variance += float(np.average((self.of_row[rows] - centre) ** 2, weights=self.weight[rows])) / (n - 1)
        return math.sqrt(variance)


def difference_of(second: RowValues, first: RowValues, *, is_share: bool = False) -> Figure:
    """The second figure less the first on the same rows, with a paired interval."""
    estimate = second.estimate - first.estimate
    rows = RowValues(estimate, second.of_row - first.of_row, first.side, first.weight)
    half = Z * rows.standard_error()
    return Figure(estimate, estimate - half, estimate + half, is_share=is_share)


def mean_values(values: FloatArray, weight: FloatArray) -> RowValues:
    """The mean of some values."""
    estimate = float(np.average(values, weights=weight))
    return RowValues(estimate, values, np.zeros(len(values), dtype=np.int64), weight)


def auc_values(positive: BoolArray, score: FloatArray, weight: FloatArray) -> RowValues:
    """The area under the ROC curve: of every row the share of the other class that it is on the right side of."""
    below = _share_below(score, score[~positive], weight[~positive])
    above = 1 - _share_below(score, score[positive], weight[positive])
    of_row = np.where(positive, below, above)
    return RowValues(
        float(np.average(below[positive], weights=weight[positive])), of_row, positive.astype(np.int64), weight
    )


def _share_below(score: FloatArray, others: FloatArray, weight: FloatArray) -> FloatArray:
    """The share of other rows with a lower score; equal ones count half."""
    order = np.argsort(others, kind="stable")
    before = np.append(0.0, np.cumsum(weight[order]))
    left, right = (before[np.searchsorted(others[order], score, side=side)] for side in ("left", "right"))
    return np.asarray((left + right) / (2 * before[-1]), dtype=np.float64)


def ks_values(positive: BoolArray, score: FloatArray, weight: FloatArray) -> RowValues:
    """The largest difference between the shares of both classes that score at least as high as some threshold."""
    curve = RatesByThreshold.of(positive, score)
    difference = curve.differences(weight)
    best = int(np.argmax(difference))
    above = (score >= curve.thresholds[best]).astype(np.float64)
    of_row = np.where(positive, above, -above)
    return RowValues(float(difference[best]), of_row, positive.astype(np.int64), weight)


@dataclass(frozen=True)
class RatesByThreshold:
    """Rows sorted by score once, for any weights of the rows."""

    thresholds: FloatArray  # distinct scores, ascending
    order: IntArray
    begins: IntArray  # the first row of each distinct score
    positive: BoolArray  # in the order of the rows given

    @classmethod
    def of(cls, positive: BoolArray, score: FloatArray) -> RatesByThreshold:
        """Sort the rows."""
        order = np.argsort(score, kind="stable")
        thresholds, begins = np.unique(score[order], return_index=True)
        return cls(thresholds, order, begins, positive)

    def differences(self, weight: FloatArray) -> FloatArray:
        """At each threshold: the share of the positive rows from it on, less that of the others."""
        shares = []
        for side in (self.positive, ~self.positive):
            before = np.append(0.0, np.cumsum(np.where(side, weight, 0.0)[self.order]))
            shares.append(1 - before[self.begins] / before[-1])
        return np.asarray(shares[0] - shares[1], dtype=np.float64)
