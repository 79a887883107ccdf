"""The default prior of real values: its noise comes from the leaves of trees."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from numpy.testing import assert_allclose

from baytree import BayesianTreeRegressor
from baytree.outcomes._normal import DEFAULT_ALPHA, LEAST_NOISE, PSEUDO_ROWS
from tests import strategies
from tests.comparison import oracle_settings
from tests.reference import outcomes
from tests.reference import tree as oracle


def naive_prior(X, y, weight, parameters):
    """A fifth of the variance is noise at first; then what is left within the leaves, until that hardly changes.

    Each leaf takes a degree of freedom, and the noise before counts as a few rows.
    """
    total = math.fsum(weight)
    mean = math.fsum(w * value for w, value in zip(weight, y, strict=True)) / total
    variance = math.fsum(w * (value - mean) ** 2 for w, value in zip(weight, y, strict=True)) / total
    variance = variance if len(set(y)) > 1 else 1.0
    noise = 0.2
    for _ in range(6):
        settings = oracle_settings(prior_of(noise, mean, variance), parameters | {"prune": False})
        root = oracle.grow(X.astype(float).tolist(), outcomes.Normal(list(y), list(weight)), settings)
        leaves = [node.rows for node in oracle.depth_first(root) if not node.children]
        inside = math.fsum(squares(rows, y, weight) for rows in leaves) / variance
        freedom = max(total - len(leaves), 0.0)
        within = max((inside + PSEUDO_ROWS * noise) / (freedom + PSEUDO_ROWS), LEAST_NOISE)
        if noise / 1.25 <= within <= noise * 1.25:
            break
        noise = within
    return prior_of(noise, mean, variance)


def prior_of(noise, mean, variance):
    return [mean, noise, DEFAULT_ALPHA, DEFAULT_ALPHA * noise * variance]


def squares(rows, y, weight):
    total = math.fsum(weight[i] for i in rows)
    mean = math.fsum(weight[i] * y[i] for i in rows) / total
    return math.fsum(weight[i] * (y[i] - mean) ** 2 for i in rows)


@given(strategies.problems())
def test_the_noise_comes_from_the_leaves(problem):
    X, y, weight, parameters = problem
    parameters = parameters | {"prior": None}
    y = (y * 1.7 + X[:, 0].clip(-3, 3) / 7).round(6)
    model = BayesianTreeRegressor(calibrate=False, **parameters).fit(X, y, sample_weight=weight)
    expected = naive_prior(X, y.tolist(), [1.0] * len(y) if weight is None else list(weight), parameters)
    assert_allclose(model.prior_, expected, rtol=1e-6, atol=1e-9)


def test_low_noise_is_found():
    random = np.random.default_rng(0)
    X = random.integers(0, 4, size=(500, 2)).astype(float)
    y = 10 * X[:, 0] + X[:, 1] + 0.01 * random.normal(size=500)
    model = BayesianTreeRegressor().fit(X, y)
    assert model.get_n_leaves() == 16
    noise = model.prior_[3] / model.prior_[2]
    assert 0.5e-4 < noise < 2e-4
    assert np.diff(model.predict_interval(X)).max() < 0.06
