"""How well a score separates two classes: area under the curve, Gini, KS."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._typing import BoolArray, FloatArray
from ..figures import Figure, Z
from ._paired import RatesByThreshold, RowValues, auc_values, ks_values
from ._read import read_rows

_DRAWS = 60  # of weights, for the bias of KS: more change its interval by less than a percent


def auc(y: Any, score: Any, *, positive: Any = None, sample_weight: Any = None) -> Figure:
    """Compute the area under the ROC curve, with its 90 % interval.

    The area is the probability that a row of the positive class has a higher score than a row of the other one. The
    interval is that of DeLong et al. (1988), on the logit scale.

    Parameters
    ----------
    y
        Class label of each row.
    score
        A number for each row that is higher where the positive class is more probable, such as its probability.
    positive
        Label of the positive class. None: the second of the two classes in sorted order.
    sample_weight
        How often each row counts.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from baytree import metrics
    >>> print(metrics.auc([0, 0, 0, 1, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.3, 0.5, 0.6, 0.8, 0.9]))
    0.8438 (0.4509 to 0.9726)
    """
    return area_figure(auc_values(*read_rows(y, score, positive, sample_weight)))


def gini(y: Any, score: Any, *, positive: Any = None, sample_weight: Any = None) -> Figure:
    """Compute the Gini coefficient of a score, ``2 * auc - 1``, with its 90 % interval.

    Parameters
    ----------
    y, score, positive, sample_weight
        As in `auc`.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from baytree import metrics
    >>> float(metrics.gini(["good", "good", "bad", "bad"], [0.1, 0.4, 0.3, 0.8], positive="bad"))
    0.5
    """
    return gini_figure(auc(y, score, positive=positive, sample_weight=sample_weight))


def ks(y: Any, score: Any, *, positive: Any = None, sample_weight: Any = None) -> Figure:
    """Compute the Kolmogorov-Smirnov statistic of a score, with its 90 % interval.

    KS is the largest difference, over all thresholds, between the shares of the two classes at or above the threshold.
    The threshold is chosen on the same rows, so on few rows the estimate is too high: the lower end of the interval
    subtracts this bias, estimated by a Bayesian bootstrap with a fixed seed.

    Parameters
    ----------
    y, score, positive, sample_weight
        As in `auc`.

    Returns
    -------
    Figure

    Examples
    --------
    >>> from baytree import metrics
    >>> float(metrics.ks(["good", "good", "bad", "bad"], [0.1, 0.4, 0.3, 0.8], positive="bad"))
    0.5
    """
    return ks_figure(*read_rows(y, score, positive, sample_weight))


def area_figure(rows: RowValues) -> Figure:
    """The area under the curve with its interval; on the logit scale, so that it stays between 0 and 1."""
    area, error = rows.estimate, rows.standard_error()
    if not 0 < area < 1:
        return Figure(area, area, area)
    centre, half = math.log(area / (1 - area)), Z * error / (area * (1 - area))
    low, high = (0.5 * (1 + math.tanh(0.5 * end)) for end in (centre - half, centre + half))
    return Figure(area, low, high)


def gini_figure(area: Figure) -> Figure:
    """The Gini coefficient that belongs to an area."""
    return Figure(2 * area.estimate - 1, 2 * area.low - 1, 2 * area.high - 1)


def ks_figure(positive: BoolArray, score: FloatArray, weight: FloatArray) -> Figure:
    """KS with its interval."""
    rows = ks_values(positive, score, weight)
    half, bias = Z * rows.standard_error(), _bias_of_ks(positive, score, weight, rows.estimate)
    return Figure(rows.estimate, max(0.0, rows.estimate - bias - half), min(1.0, rows.estimate + half))


def _bias_of_ks(positive: BoolArray, score: FloatArray, weight: FloatArray, estimate: float) -> float:
    """How much the best of all thresholds gains by chance: the mean over random weights of the rows."""
    curve, random = RatesByThreshold.of(positive, score), np.random.RandomState(0)
    draws = [curve.differences(random.standard_gamma(weight)).max() for _ in range(_DRAWS)]
    return max(0.0, float(np.mean(draws)) - estimate)
