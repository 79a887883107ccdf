"""Outcomes as a user writes them."""

from __future__ import annotations

import numpy as np
from scipy import special, stats


class Mean:
    """An outcome without distributions."""

    prior = np.array([0.0, 1.0])

    def statistics(self, y):
        return np.column_stack([y, np.square(y)])

    def log_marginal(self, statistics, prior):
        return -0.5 * statistics[:, 1]

    def update(self, prior, statistics):
        return prior + statistics

    def mean(self, posterior):
        return posterior[:, 0] / posterior[:, 1]


class Rates:
    """Counts, without a word about distributions."""

    prior = np.array([1.0, 1.0])

    def statistics(self, y):
        return np.column_stack([y, np.ones(len(y))])

    def log_marginal(self, statistics, prior):
        events, exposure = statistics.T
        shape, rate = prior
        gammas = special.gammaln(shape + events) - special.gammaln(shape)
        return gammas + shape * np.log(rate) - (shape + events) * np.log(rate + exposure)

    def update(self, prior, statistics):
        return prior + statistics

    def mean(self, posterior):
        return posterior[:, 0] / posterior[:, 1]


class TwoRates(Rates):
    """An outcome whose mean is two numbers."""

    def mean(self, posterior):
        rate = posterior[:, 0] / posterior[:, 1]
        return np.column_stack([rate, 2 * rate])


class Counts:
    """The built-in Poisson outcome, written by a user."""

    prior = np.array([2.0, 0.5])

    def statistics(self, y):
        return np.column_stack([y, np.ones(len(y)), -special.gammaln(np.asarray(y) + 1.0)])

    def log_marginal(self, statistics, prior):
        events, exposure, factor = statistics.T
        shape, rate = prior
        gammas = special.gammaln(shape + events) - special.gammaln(shape)
        return gammas + shape * np.log(rate) - (shape + events) * np.log(rate + exposure) + factor

    def update(self, prior, statistics):
        return prior + statistics[:, :2]

    def mean(self, posterior):
        return posterior[:, 0] / posterior[:, 1]

    def distribution(self, posterior):
        return stats.nbinom(posterior[:, 0], posterior[:, 1] / (posterior[:, 1] + 1))

    def candidates(self):
        return [[1.0, 0.25], [4.0, 1.0]]
