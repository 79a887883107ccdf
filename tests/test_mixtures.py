"""Mixtures against sums written out, and against draws."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer, load_diabetes

from baytree import BayesianTreeClassifier, TreeSpaceClassifier, TreeSpaceRegressor
from baytree.mixtures import Mixture

FAMILIES = {
    "t": lambda p: stats.t(4 + 10 * p, loc=20 * p - 3, scale=0.1 + p),
    "lomax": lambda p: stats.lomax(2.5 + p, scale=1 + 30 * p),
    "nbinom": lambda p: stats.nbinom(1 + 5 * p, 0.05 + 0.5 * p),
    "beta": lambda p: stats.beta(0.3 + 5 * p, 0.5 + 2 * p),
}


def mixture(name, seed=0, n_rows=7, n_components=12):
    random = np.random.default_rng(seed)
    parameters = random.random(n_components)
    weights = random.random((n_rows, n_components)) * (random.random((n_rows, n_components)) < 0.5)
    weights[:, 0] += 1e-3
    weights /= weights.sum(axis=1, keepdims=True)
    return Mixture(sparse.csr_matrix(weights), lambda i: FAMILIES[name](parameters[i])), weights, parameters


@pytest.mark.parametrize("name", FAMILIES)
def test_functions_are_weighted_sums(name):
    mixed, weights, parameters = mixture(name)
    x = (1 + np.arange(7)) / 8 if name == "beta" else np.arange(7.0)
    parts = [FAMILIES[name](p) for p in parameters]
    density = "pmf" if name == "nbinom" else "pdf"
    for function in ("cdf", "sf", density):
        expected = sum(weights[:, i] * getattr(part, function)(x) for i, part in enumerate(parts))
        assert_allclose(getattr(mixed, function)(x), expected)
    assert_allclose(getattr(mixed, "log" + density)(x), np.log(getattr(mixed, density)(x)))
    mean = sum(weights[:, i] * part.mean() for i, part in enumerate(parts))
    square = sum(weights[:, i] * (part.var() + part.mean() ** 2) for i, part in enumerate(parts))
    assert_allclose(mixed.mean(), mean)
    assert_allclose(mixed.var(), square - mean**2)
    assert_allclose(mixed.std() ** 2, mixed.var())
    drawn = mixed.rvs(size=(20_000, 7), random_state=0)
    below = np.mean(drawn <= mixed.median(), axis=0)
    assert_allclose(below, mixed.cdf(mixed.median()), atol=0.02)
    with pytest.raises(ValueError, match="number of rows, 7"):
        mixed.rvs(size=3)


def test_a_wider_mixture_has_the_same_shape():
    mixed, _, _ = mixture("t")
    wide = Mixture(mixed.weights, mixed.distribution, 2.5)
    x, mean = np.linspace(-4, 9, 7), mixed.mean()
    assert_allclose(wide.mean(), mean)
    assert_allclose(wide.std(), 2.5 * mixed.std())
    assert_allclose(wide.cdf(mean + 2.5 * (x - mean)), mixed.cdf(x))
    assert_allclose(wide.pdf(mean + 2.5 * (x - mean)), mixed.pdf(x) / 2.5)
    assert_allclose(wide.logpdf(x), np.log(wide.pdf(x)))
    assert_allclose(wide.cdf(wide.ppf(0.05)), 0.05)
    drawn = wide.rvs(size=(20_000, 7), random_state=0)
    assert_allclose(np.mean(drawn <= wide.median(), axis=0), 0.5, atol=0.02)
    assert_allclose(np.mean(drawn <= wide.ppf(0.95), axis=0), 0.95, atol=0.02)


@given(st.sampled_from(sorted(FAMILIES)), st.floats(0.001, 0.999), st.integers(0, 10**6))
def test_quantiles_invert_the_distribution(name, q, seed):
    mixed, _, _ = mixture(name, seed)
    x = mixed.ppf(q)
    if name == "nbinom":
        assert np.all(mixed.cdf(x) >= q - 1e-9)
        assert np.all((mixed.cdf(x - 1) < q + 1e-9) | (x == 0))
    else:
        assert_allclose(mixed.cdf(x), q, atol=1e-9)


def test_the_ends_are_those_of_the_components():
    mixed, _, _ = mixture("lomax")
    assert_allclose(mixed.ppf(0.0), 0)
    assert np.all(mixed.ppf(1.0) == np.inf)
    low, high = mixed.interval(0.9)
    assert_allclose(mixed.cdf(high) - mixed.cdf(low), 0.9)


def test_values_may_have_more_dimensions():
    mixed, _, _ = mixture("t")
    grid = np.linspace(-3, 3, 21).reshape(3, 7)
    assert_allclose(mixed.cdf(grid), [mixed.cdf(row) for row in grid])
    assert_allclose(mixed.logpdf(grid[:, :1]), [mixed.logpdf(row[0]) for row in grid])
    assert_allclose(mixed.isf(0.2), mixed.ppf(0.8))
    assert_allclose(mixed.logcdf(1.0), np.log(mixed.cdf(1.0)))
    assert_allclose(mixed.logsf(1.0), np.log(mixed.sf(1.0)))
    assert "12 components for 7 rows" in repr(mixed)


@pytest.mark.parametrize("q", [1e-20, 1e-12, 1e-6])
def test_tails_are_right(q):
    mixed, _, _ = mixture("t")
    assert_allclose(mixed.cdf(mixed.ppf(q)), q, rtol=1e-6)


def test_predictive_distributions_can_be_pickled():
    X, y = load_diabetes(return_X_y=True)
    mixed = TreeSpaceRegressor(max_nodes=20).fit(X, y).predict_dist(X[:3])
    assert_allclose(pickle.loads(pickle.dumps(mixed)).cdf(150.0), mixed.cdf(150.0))


def test_next_to_nothing_does_not_make_the_variance_infinite():
    light = Mixture(sparse.csr_matrix([[1e-12, 1 - 1e-12]]), lambda i: stats.t(np.array([1.5, 8.0])[i]))
    assert_allclose(light.var(), stats.t(8).var())


def test_a_variance_that_is_infinite_says_so():
    heavy = Mixture(sparse.csr_matrix([[0.5, 0.5], [0.0, 1.0]]), lambda i: stats.t(np.array([1.5, 8.0])[i]))
    assert np.isinf(heavy.var()[0])
    assert np.isfinite(heavy.var()[1])


def test_one_component_is_itself():
    one = Mixture(sparse.csr_matrix(np.ones((3, 1))), lambda i: stats.norm(np.zeros(1)[i], 2.0))
    assert_allclose(one.ppf(0.3), stats.norm(0, 2).ppf(0.3))


def test_many_rows_are_taken_in_parts(monkeypatch):
    mixed, _, _ = mixture("t", n_rows=50)
    whole = mixed.cdf(1.0), mixed.ppf(0.2), mixed.logpdf(0.5)
    monkeypatch.setattr("baytree.mixtures._ENTRIES", 20)
    assert_allclose(mixed.cdf(1.0), whole[0])
    assert_allclose(mixed.ppf(0.2), whole[1])
    assert_allclose(mixed.logpdf(0.5), whole[2])


def test_intervals_of_a_space_hold_the_outcome():
    X, y = load_diabetes(return_X_y=True)
    model = TreeSpaceRegressor(max_nodes=100).fit(X[::2], y[::2])
    low, high = model.predict_interval(X[1::2], level=0.9).T
    assert 0.83 < np.mean((low <= y[1::2]) & (y[1::2] <= high)) < 0.97
    narrow = model.predict_interval(X[1::2], level=0.9, kind="mean")
    assert np.all(narrow[:, 1] - narrow[:, 0] < high - low)
    assert_allclose(model.predict_quantiles(X[1::2], [0.05, 0.95]).T, [low, high])
    mean, std = model.predict(X[1::2], return_std=True)
    assert_allclose(mean, model.predict_dist(X[1::2]).mean())
    assert_allclose(std, model.predict_dist(X[1::2]).std())


def test_intervals_of_class_probabilities_mix_the_posteriors():
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeSpaceClassifier(max_nodes=50).fit(X, y)
    low, high = np.moveaxis(model.predict_interval(X[:30], level=0.9)[:, 1], -1, 0)
    weights, parameters = model.posterior_mixture(X[:30])
    for i in range(30):
        node, weight = weights[i].indices, weights[i].data
        of_class = stats.beta(parameters[node, 1], parameters[node, 0])
        assert_allclose([weight @ of_class.cdf(low[i]), weight @ of_class.cdf(high[i])], [0.05, 0.95], atol=1e-8)
    assert_allclose(weights @ (parameters[:, 1] / parameters.sum(axis=1)), model.predict_proba(X[:30])[:, 1])
    # Where there is one tree without prunings to speak of, they are the tree's own.
    greedy = BayesianTreeClassifier(prior=1.0, max_depth=0).fit(X, y)
    alone = TreeSpaceClassifier(max_depth=0).fit(X, y)
    assert_allclose(alone.predict_interval(X[:2]), greedy.predict_interval(X[:2]))


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_interrupt_ends_the_search_for_quantiles(n_threads):
    n_rows, n_components = 40_000, 50
    random = np.random.default_rng(0)
    weights = sparse.csr_matrix(random.dirichlet(np.ones(n_components), n_rows))
    mean, sizes, after = random.normal(size=n_components), [], []

    def distribution(components):
        sizes.append(len(components))
        if len(sizes) == 10:
            os.kill(os.getpid(), signal.SIGINT)
        if len(sizes) >= 10:
            after.append(len(components))
            time.sleep(0.02)  # the main thread wakes up meanwhile
        return stats.norm(mean[components], 1.0)

    mixture = Mixture(weights, distribution, n_threads=n_threads)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            mixture.interval(0.9)
    finally:
        signal.signal(signal.SIGINT, before)
    assert max(sizes) <= 2**17  # a moment each
    assert len(after) < 30  # of hundreds
