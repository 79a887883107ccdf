"""Closed forms of every outcome in plain Python; test_reference.py checks them by numerical integration.

`rows` are row numbers. `update` is the posterior after `share` times the rows: the posterior itself for share 1, the
prior of a child for the smoothing's share.
"""

from __future__ import annotations

import math


class Categorical:
    def __init__(self, y, weight, n_classes):
        self.y, self.weight, self.n_classes = y, weight, n_classes

    def record(self, i):
        return self.y[i]

    def counts(self, rows):
        return [sum(self.weight[i] for i in rows if self.y[i] == c) for c in range(self.n_classes)]

    def update(self, rows, alpha, share=1.0):
        return [a + share * n for a, n in zip(alpha, self.counts(rows), strict=True)]

    def log_likelihood(self, rows, alpha):
        counts = self.counts(rows)
        result = math.lgamma(sum(alpha)) - math.lgamma(sum(alpha) + sum(counts))
        for a, n in zip(alpha, counts, strict=True):
            result += math.lgamma(a + n) - math.lgamma(a)
        return result

    def mean(self, alpha):
        return [a / sum(alpha) for a in alpha]

    def order_keys(self, rows, node):
        counts = self.counts(rows)
        shares = [n / sum(counts) for n in counts]
        return shares[1:] if self.n_classes == 2 else shares


class Normal:
    """Prior (mu, kappa, alpha, beta)."""

    def __init__(self, y, weight):
        self.y, self.weight = y, weight

    def record(self, i):
        return self.y[i]

    def update(self, rows, prior, share=1.0):
        mu, kappa, alpha, beta = prior
        n = share * math.fsum(self.weight[i] for i in rows)
        if n == 0:
            return list(prior)
        m = share * math.fsum(self.weight[i] * self.y[i] for i in rows) / n
        squares = share * math.fsum(self.weight[i] * (self.y[i] - m) ** 2 for i in rows)
        return [
            (kappa * mu + n * m) / (kappa + n),
            kappa + n,
            alpha + n / 2,
            beta + squares / 2 + kappa * n * (m - mu) ** 2 / (2 * (kappa + n)),
        ]

    def log_likelihood(self, rows, prior):
        _, kappa, alpha, beta = prior
        _, kappa_n, alpha_n, beta_n = self.update(rows, prior)
        n = math.fsum(self.weight[i] for i in rows)
        return (
            math.lgamma(alpha_n)
            - math.lgamma(alpha)
            + alpha * math.log(beta)
            - alpha_n * math.log(beta_n)
            + (math.log(kappa) - math.log(kappa_n)) / 2
            - n / 2 * math.log(2 * math.pi)
        )

    def mean(self, parameters):
        return [parameters[0]]

    def order_keys(self, rows, node):
        """The mean, and the mean squared distance from the node's mean; from the mean of all rows on."""

        def average(values, rows):
            return math.fsum(self.weight[i] * values[i] for i in rows) / math.fsum(self.weight[i] for i in rows)

        everything = range(len(self.y))
        zero = average(self.y, everything)
        z = [y - zero for y in self.y]
        mean = average(z, rows)
        return [mean, average([v * v for v in z], rows) - 2 * mean * average(z, node)]


class Poisson:
    """Prior (shape, rate)."""

    def __init__(self, y, weight, exposure=None):
        self.y, self.weight = y, weight
        self.exposure = exposure or [1.0] * len(y)

    def record(self, i):
        return (self.y[i], self.exposure[i])

    def events(self, i):
        return self.y[i]

    def log_factor(self, i):
        return self.y[i] * math.log(self.exposure[i]) - math.lgamma(self.y[i] + 1)

    def update(self, rows, prior, share=1.0):
        events = share * math.fsum(self.weight[i] * self.events(i) for i in rows)
        exposure = share * math.fsum(self.weight[i] * self.exposure[i] for i in rows)
        return [prior[0] + events, prior[1] + exposure]

    def log_likelihood(self, rows, prior):
        shape, rate = prior
        shape_n, rate_n = self.update(rows, prior)
        factor = math.fsum(self.weight[i] * self.log_factor(i) for i in rows)
        gammas = math.lgamma(shape_n) - math.lgamma(shape)
        return gammas + shape * math.log(rate) - shape_n * math.log(rate_n) + factor

    def mean(self, parameters):
        return [parameters[0] / parameters[1]]

    def order_keys(self, rows, node):
        events, exposure = self.update(rows, [0.0, 0.0])
        return [events / exposure]


class Exponential(Poisson):
    """Durations are exposures; an event ends them, or they are censored."""

    def __init__(self, y, weight, event=None):
        super().__init__(event or [1.0] * len(y), weight, y)

    def log_factor(self, i):
        return 0.0

    def mean(self, parameters):
        shape, rate = parameters
        return [rate / (shape - 1) if shape > 1 else math.inf]


class NegativeBinomial(Poisson):
    """Prior Beta(a, b) of the probability of success; 1 / dispersion successes a unit of exposure."""

    def __init__(self, y, weight, exposure=None, dispersion=1.0):
        super().__init__(y, weight, exposure)
        self.size = 1 / dispersion

    def log_factor(self, i):
        size = self.size * self.exposure[i]
        return math.lgamma(self.y[i] + size) - math.lgamma(size) - math.lgamma(self.y[i] + 1)

    def update(self, rows, prior, share=1.0):
        failures = share * math.fsum(self.weight[i] * self.y[i] for i in rows)
        successes = share * math.fsum(self.weight[i] * self.size * self.exposure[i] for i in rows)
        return [prior[0] + successes, prior[1] + failures]

    def order_keys(self, rows, node):
        successes, failures = self.update(rows, [0.0, 0.0])
        return [failures / successes]

    def log_likelihood(self, rows, prior):
        factor = math.fsum(self.weight[i] * self.log_factor(i) for i in rows)
        return log_beta(*self.update(rows, prior)) - log_beta(*prior) + factor

    def mean(self, parameters):
        a, b = parameters
        return [self.size * b / (a - 1) if a > 1 else math.inf]


def log_beta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


# Those of a regressor, by the library's names.
REAL = {"normal": Normal, "poisson": Poisson, "negative_binomial": NegativeBinomial, "exponential": Exponential}
