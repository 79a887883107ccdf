"""Calibration of class probabilities: how much the counts of a leaf count on rows that did not choose it.

A leaf was chosen on the rows that it counts, so its counts are surer than new rows bear out. Given two figures, the
probabilities of a leaf follow

    Dirichlet(strength * rates + discount * counts),

with the overall rates of the classes. Leaves of trees that were grown without some rows, with the counts of these rows,
have a Dirichlet-multinomial likelihood under it. Beforehand the discount is Beta(3, 1) distributed, and the logarithm
of the strength is uniform. Both figures remain uncertain, so predictions average over them: their posterior on a grid
is replaced by a point for each block of the grid, and the mixture of Dirichlet distributions of these points by the
one Dirichlet distribution with its means and its total variance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from .._typing import FloatArray

DISCOUNTS = (np.arange(20) + 0.5) / 20
STRENGTHS = 2.0 ** np.linspace(-2, 8, 21)
_LOG_PRIOR = 2 * np.log(DISCOUNTS)  # Beta(3, 1)
_BLOCK = (4, 3)  # of so many discounts and strengths
_LEAST_SHARE = 1e-6  # of a block that counts


class Calibration(NamedTuple):
    """How the class probabilities of leaves are calibrated: two figures from cross-validation, and the overall rates.

    Given both figures, a leaf has the distribution ``Dirichlet(strength * rates + discount * counts)``. Predictions
    average over what the cross-validation leaves open about them.

    Attributes
    ----------
    discount
        Factor on the counts of a leaf, which was chosen on the rows that it counts: its posterior mean. It is 1 without
        calibration.
    strength
        Number of rows that the overall rates count as: its geometric posterior mean. Without calibration, it is that of
        the prior.
    rates
        Overall rates of the classes; without calibration, those of the prior.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> BayesianTreeClassifier(calibrate=False).fit(X, y).calibration_
    Calibration(discount=1.0, strength=2.0, rates=array([0.33333333, 0.33333333, 0.33333333]))
    """

    discount: float
    strength: float
    rates: FloatArray


class HeldOutCounts(NamedTuple):
    """Leaves of trees that were grown without some rows, one a line: (weighted) counts of the classes."""

    seen: FloatArray  # of the rows that the tree was grown on
    held_out: FloatArray  # of the others
    rates: FloatArray  # overall, of the rows that the tree was grown on

    def log_likelihood(self, discount: float, strength: FloatArray) -> FloatArray:
        """Log probability of the held-out labels for each of some strengths, given a discount."""
        strength = strength[:, None]
        leaf, of_class = np.nonzero(self.held_out)
        count = self.held_out[leaf, of_class]
        alpha = strength * self.rates[leaf, of_class] + discount * self.seen[leaf, of_class]
        total = strength * self.rates.sum(axis=1) + discount * self.seen.sum(axis=1)
        by_class = (special.gammaln(alpha + count) - special.gammaln(alpha)).sum(axis=1)
        by_leaf = (special.gammaln(total + self.held_out.sum(axis=1)) - special.gammaln(total)).sum(axis=1)
        return np.asarray(by_class - by_leaf)


def estimate_calibration(counts: HeldOutCounts) -> FloatArray:
    """Points of the posterior of discount and strength: a row for each, with its share last."""
    log_likelihood = np.stack([counts.log_likelihood(discount, STRENGTHS) for discount in DISCOUNTS])
    return _points(log_likelihood, np.broadcast_to(STRENGTHS, log_likelihood.shape), _BLOCK)


def estimate_discount(counts: HeldOutCounts, strength: float) -> FloatArray:
    """Points of the discount alone, which applies to a prior of this strength too, so that means stay."""
    tied = DISCOUNTS * strength
    log_likelihood = np.array([counts.log_likelihood(*both)[0] for both in zip(DISCOUNTS, tied[:, None], strict=True)])
    points = _points(log_likelihood[:, None], tied[:, None], (_BLOCK[0], 1))
    points[:, 1] = points[:, 0] * strength
    return points


def _points(log_likelihood: FloatArray, strength: FloatArray, block: tuple[int, int]) -> FloatArray:
    """The mean discount, the geometric mean of the strength and the share of each block of a grid."""
    log_posterior = log_likelihood + _LOG_PRIOR[:, None]
    share = np.exp(log_posterior - log_posterior.max())
    share /= share.sum()

    def by_block(values: FloatArray) -> FloatArray:
        n, m = values.shape
        return np.asarray(values.reshape(n // block[0], block[0], m // block[1], block[1]).sum(axis=(1, 3)).ravel())

    of_block = by_block(share)
    counts = of_block > _LEAST_SHARE
    of_block = of_block[counts]
    discount = by_block(share * DISCOUNTS[:, None])[counts] / of_block
    log_strength = by_block(share * np.log(strength))[counts] / of_block
    return np.stack([discount, np.exp(log_strength), of_block / of_block.sum()], axis=1)


def average_dirichlet(points: FloatArray, rates: FloatArray, counts: FloatArray) -> FloatArray:
    """The Dirichlet distribution of each leaf with the means and the total variance of the mixture over the points."""
    mean, variance = np.zeros(counts.shape), np.zeros(len(counts))
    for discount, strength, share in points:
        alpha = strength * rates + discount * counts
        mean += share * alpha / alpha.sum(axis=1, keepdims=True)
    for discount, strength, share in points:
        alpha = strength * rates + discount * counts
        total = alpha.sum(axis=1, keepdims=True)
        p = alpha / total
        variance += share * (p * (1 - p) / (total + 1) + (p - mean) ** 2).sum(axis=1)
    return np.asarray(mean * ((mean * (1 - mean)).sum(axis=1) / variance - 1)[:, None])
