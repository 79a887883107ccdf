"""Out-of-bag weights: how much each tree of a forest counts as one that was grown without a given training row.

Without duplicates these are the trees in which the row has weight zero. Duplicates are merged into one row with all
their weight, so that a tree does not show which of them it lacks, only their total weight. The tree then counts by the
ratio of two probabilities of that total: without the row, and with it.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from .. import _core
from .._typing import AnyArray, FloatArray
from ..outcomes import Outcome, Target
from ._folds import split_whole_weights
from ._forest import ForestPlan, core_rows
from ._settings import Growth

_SMALL_COUNT = 16  # above it, rounding the counts changes the ratio of probabilities by less than a hundredth
_MIN_PROBABILITY = 1e-11  # probabilities below it are rounding errors
_MIN_COUNT = 2.0**-20  # stands for a count of zero


def out_of_bag_weights(
    columns: _core.Columns,
    target: Target,
    outcome: Outcome,
    growth: Growth,
    plan: ForestPlan,
    rows: AnyArray,
    *,
    one_copy: bool = False,
) -> FloatArray:
    """How much each tree counts as one grown without each of some rows; shape (n_rows, n_trees).

    With `one_copy` a row of whole weight is so many duplicates, of which one is left out.
    """
    of_trees, together = _core.forest_weights(
        columns,
        core_rows(target, outcome, plan),
        growth.settings(),
        plan.to_core(target),
        target.weight,
        np.asarray(rows, dtype=np.int64),
    )
    counts = of_trees.T
    weight = np.ones(len(rows)) if target.weight is None else target.weight[rows]
    others = together - (split_whole_weights(weight)[1] if one_copy else weight)
    has_duplicates = others > 1e-9 * together  # more than a rounding error
    result = (counts == 0).astype(np.float32)
    if has_duplicates.any():
        weights = others[has_duplicates, None], together[has_duplicates, None]
        log = _log_likelihood_ratio(counts[has_duplicates], *weights, plan, whole=plan.is_whole(target))
        result[has_duplicates] = np.exp(log - log.max(axis=1, keepdims=True))
    return result


def _log_likelihood_ratio(
    counts: FloatArray, others: FloatArray, together: FloatArray, plan: ForestPlan, *, whole: bool
) -> FloatArray:
    """Log of the ratio of the probabilities of each count: under the weight of the other rows, and of all."""
    if plan.resample:
        return counts / plan.factor * np.log(others / together)  # no draw was the row
    draw = np.maximum(counts, _MIN_COUNT) / plan.factor
    # The ratio of the densities of Gamma(others) and Gamma(together) at the draw.
    result = special.gammaln(together) - special.gammaln(others) - (together - others) * np.log(draw)
    if whole:
        is_small = counts <= _SMALL_COUNT
        p_others, p_all = (
            _probability(counts[is_small], np.broadcast_to(weight, counts.shape)[is_small], plan.factor)
            for weight in (others, together)
        )
        with np.errstate(divide="ignore"):
            exact = np.log(np.maximum(p_others, 0.0)) - np.log(np.maximum(p_all, _MIN_PROBABILITY))
        result[is_small] = np.where(p_all > _MIN_PROBABILITY, exact, result[is_small])
    return np.asarray(result)


def _probability(n: FloatArray, weight: FloatArray, factor: float) -> FloatArray:
    """The probability of the count n: a draw of Gamma(weight) times the factor, rounded at random without bias."""
    # A number t is rounded to n with probability 1 - |t - n|, a function of three corners.
    below, at, above = (_mean_shortfall((n + k) / factor, weight) for k in (-1, 0, 1))
    return factor * (below - 2 * at + above)


def _mean_shortfall(x: FloatArray, weight: FloatArray) -> FloatArray:
    """The mean of max(x - g, 0) over Gamma(weight)."""
    x = np.maximum(x, 0.0)
    return np.asarray(x * special.gammainc(weight, x) - weight * special.gammainc(weight + 1, x))
