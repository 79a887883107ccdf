"""What a forest can say of a row that it was grown on: by the trees that lack it.

Rows that are equal are one row with all their weight, so a tree does not tell which of them it lacks. How often they
count in it does: a tree stands for one that was grown without the row by how much likelier that count would then have
been. Of a row that has no equal these are the trees in which it does not count.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from .. import _core
from .._typing import AnyArray, FloatArray
from ..outcomes import Outcome, Target
from ._forest import Plan, rows_of
from ._settings import Growth

_FEW = 16  # counts; of more, the rounding changes the ratio of probabilities by less than a hundredth
_RARE = 1e-11  # probabilities below this are rounding errors
_LEAST = 2.0**-20  # count that is not zero


def trees_without(
    columns: _core.Columns, target: Target, outcome: Outcome, growth: Growth, plan: Plan, rows: AnyArray
) -> FloatArray:
    """How much each tree counts as one that lacks each of some rows, shape (n_rows, n_trees); zero: it does not."""
    of_trees, together = _core.forest_weights(
        columns,
        rows_of(target, outcome, plan),
        growth.settings(),
        plan.to_core(target),
        target.weight,
        np.asarray(rows, dtype=np.int64),
    )
    counts = of_trees.T
    others = together - (1.0 if target.weight is None else target.weight[rows])
    has_equals = others > 1e-9 * together  # and not what rounding leaves
    result = (counts == 0).astype(np.float32)
    if has_equals.any():
        weights = others[has_equals, None], together[has_equals, None]
        log = _log_times_likelier(counts[has_equals], *weights, plan, whole=plan.is_whole(target))
        result[has_equals] = np.exp(log - log.max(axis=1, keepdims=True))
    return result


def _log_times_likelier(
    counts: FloatArray, others: FloatArray, together: FloatArray, plan: Plan, *, whole: bool
) -> FloatArray:
    """Log of how much likelier each count is for the weight of the others than for that of all."""
    if plan.resample:
        return counts / plan.factor * np.log(others / together)  # no draw was the row
    drawn = np.maximum(counts, _LEAST) / plan.factor
    # The ratio of the densities of Gamma(others) and Gamma(together) at what was drawn.
    result = special.gammaln(together) - special.gammaln(others) - (together - others) * np.log(drawn)
    if whole:
        few = counts <= _FEW
        of_others, of_all = (
            _probability(counts[few], np.broadcast_to(weight, counts.shape)[few], plan.factor)
            for weight in (others, together)
        )
        with np.errstate(divide="ignore"):
            exact = np.log(np.maximum(of_others, 0.0)) - np.log(np.maximum(of_all, _RARE))
        result[few] = np.where(of_all > _RARE, exact, result[few])
    return np.asarray(result)


def _probability(n: FloatArray, weight: FloatArray, factor: float) -> FloatArray:
    """The probability of n: a draw of Gamma(weight), times the factor, rounded at random to a number of its mean."""
    # A number t is rounded to n with the probability 1 - |t - n|, which has three corners.
    below, at, above = (_mean_shortfall((n + k) / factor, weight) for k in (-1, 0, 1))
    return factor * (below - 2 * at + above)


def _mean_shortfall(x: FloatArray, weight: FloatArray) -> FloatArray:
    """The mean of max(x - g, 0) over Gamma(weight)."""
    x = np.maximum(x, 0.0)
    return np.asarray(x * special.gammainc(weight, x) - weight * special.gammainc(weight + 1, x))
