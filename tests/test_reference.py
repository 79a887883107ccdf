"""The oracle's closed forms against numerical integration over the parameters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import integrate, stats

from tests.reference import outcomes

ROWS = [0, 1, 2, 3]


def test_two_classes():
    outcome = outcomes.Categorical([0, 1, 1, 1], [1.0] * 4, 2)
    integral, _ = integrate.quad(lambda p: (1 - p) * p**3 * stats.beta(2.5, 0.7).pdf(p), 0, 1)
    assert_allclose(outcome.log_likelihood(ROWS, [0.7, 2.5]), math.log(integral), rtol=1e-8)


def test_three_classes():
    outcome = outcomes.Categorical([0, 1, 2, 2], [1.0] * 4, 3)
    alpha = [1.5, 2.0, 0.8]
    density = stats.dirichlet(alpha)

    def integrand(b, a):
        return a * b * (1 - a - b) ** 2 * density.pdf([a, b, 1 - a - b])

    integral, _ = integrate.dblquad(integrand, 0, 1, 0, lambda a: 1 - a)
    assert_allclose(outcome.log_likelihood(ROWS, alpha), math.log(integral), rtol=1e-5)


def test_normal():
    y = [0.3, -1.2, 2.0, 0.1]
    mu, kappa, alpha, beta = prior = [0.5, 0.7, 2.0, 1.3]

    def normal(x, centre, precision):
        return math.sqrt(precision / (2 * math.pi)) * math.exp(-precision / 2 * (x - centre) ** 2)

    def integrand(mean, precision):
        density = beta**alpha / math.gamma(alpha) * precision ** (alpha - 1) * math.exp(-beta * precision)
        density *= normal(mean, mu, kappa * precision)
        return density * math.prod(normal(value, mean, precision) for value in y)

    integral, _ = integrate.dblquad(integrand, 0, 30, -15, 15, epsabs=1e-9)
    assert_allclose(outcomes.Normal(y, [1.0] * 4).log_likelihood(ROWS, prior), math.log(integral), rtol=1e-5)


def test_poisson_with_exposure():
    y, exposure = [0, 3, 1, 5], [0.5, 2.0, 1.0, 1.5]

    def integrand(rate):
        return stats.gamma(1.7, scale=1 / 0.9).pdf(rate) * np.prod(stats.poisson(rate * np.array(exposure)).pmf(y))

    integral, _ = integrate.quad(integrand, 0, 60)
    outcome = outcomes.Poisson(y, [1.0] * 4, exposure)
    assert_allclose(outcome.log_likelihood(ROWS, [1.7, 0.9]), math.log(integral), rtol=1e-7)


def test_negative_binomial_with_exposure():
    y, exposure, dispersion = [0, 3, 1, 5], np.array([0.5, 2.0, 1.0, 1.5]), 0.4

    def integrand(p):
        return stats.beta(1.7, 0.9).pdf(p) * np.prod(stats.nbinom(exposure / dispersion, p).pmf(y))

    integral, _ = integrate.quad(integrand, 0, 1)
    outcome = outcomes.NegativeBinomial(y, [1.0] * 4, exposure.tolist(), dispersion)
    assert_allclose(outcome.log_likelihood(ROWS, [1.7, 0.9]), math.log(integral), rtol=1e-7)


def test_exponential_with_censoring():
    y, event = np.array([0.5, 2.0, 1.0, 1.5]), np.array([1.0, 0.0, 1.0, 1.0])

    def integrand(rate):
        density, survival = rate * np.exp(-rate * y), np.exp(-rate * y)
        return stats.gamma(1.7, scale=1 / 0.9).pdf(rate) * np.prod(np.where(event == 1, density, survival))

    integral, _ = integrate.quad(integrand, 0, 60)
    outcome = outcomes.Exponential(y.tolist(), [1.0] * 4, event.tolist())
    assert_allclose(outcome.log_likelihood(ROWS, [1.7, 0.9]), math.log(integral), rtol=1e-7)


@pytest.mark.parametrize(
    ("outcome", "prior"),
    [
        (outcomes.Categorical([0, 1, 1, 0], [1.0] * 4, 2), [0.4, 3.0]),
        (outcomes.Normal([0.3, -1.2, 2.0, 0.1], [1.0] * 4), [0.5, 0.7, 2.0, 1.3]),
        (outcomes.Poisson([0, 3, 1, 5], [1.0] * 4, [0.5, 2.0, 1.0, 1.5]), [1.7, 0.9]),
        (outcomes.NegativeBinomial([0, 3, 1, 5], [1.0] * 4, [0.5, 2.0, 1.0, 1.5], 0.4), [1.7, 0.9]),
        (outcomes.Exponential([0.5, 2.0, 1.0, 1.5], [1.0] * 4, [1.0, 0.0, 1.0, 1.0]), [1.7, 0.9]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_likelihood_of_all_rows_is_that_of_some_times_that_of_the_rest(outcome, prior):
    first, rest = ROWS[:2], ROWS[2:]
    chained = outcome.log_likelihood(first, prior) + outcome.log_likelihood(rest, outcome.update(first, prior))
    assert_allclose(outcome.log_likelihood(ROWS, prior), chained, rtol=1e-12)
