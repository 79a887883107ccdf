"""Calibration of class probabilities: how much the counts of a leaf count on rows that did not choose it.

A leaf was chosen on the rows that it counts, so its counts are surer than new rows bear out. Predictions use

    Dirichlet(strength * rates + discount * counts),

with the overall rates of the classes. Leaves of trees that were grown without some rows, with the counts of these rows,
have a Dirichlet-multinomial likelihood under it. Both figures are posterior means under flat priors, of the discount on
(0, 1) and of the logarithm of the strength: with few rows the maximum would be surer than the rows allow.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from .._typing import FloatArray

DISCOUNTS = (np.arange(20) + 0.5) / 20
STRENGTHS = 2.0 ** np.linspace(-2, 8, 21)


class Calibration(NamedTuple):
    """The Dirichlet distribution of a leaf's class probabilities: ``strength * rates + discount * counts``.

    Attributes
    ----------
    discount
        Factor on the counts of a leaf, which was chosen on the rows that it counts; 1 without calibration.
    strength
        Number of rows that the overall rates count as; without calibration, that of the prior.
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


def estimate_calibration(counts: HeldOutCounts) -> tuple[float, float]:
    """The discount and the strength: posterior means, of the strength on the logarithmic scale."""
    share = _normalise(np.stack([counts.log_likelihood(discount, STRENGTHS) for discount in DISCOUNTS]))
    discount, log_strength = share.sum(axis=1) @ DISCOUNTS, share.sum(axis=0) @ np.log(STRENGTHS)
    return float(discount), float(np.exp(log_strength))


def estimate_discount(counts: HeldOutCounts, strength: float) -> float:
    """The discount alone: its posterior mean where it applies to a prior of this strength too, so that means stay."""
    logs = [counts.log_likelihood(discount, np.array([discount * strength]))[0] for discount in DISCOUNTS]
    return float(_normalise(np.array(logs)) @ DISCOUNTS)


def _normalise(log_likelihood: FloatArray) -> FloatArray:
    share = np.exp(log_likelihood - log_likelihood.max())
    return np.asarray(share / share.sum())
