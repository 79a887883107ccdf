"""Two to thirty rows of noise: intervals hold, and rows get no leaves of their own."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import binom

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)

MODELS = {
    "tree": BayesianTreeRegressor,
    "space": lambda: TreeSpaceRegressor(max_nodes=30),
    "forest": lambda: BayesianForestRegressor(10, random_state=0),
}
TABLES = {"tree": 40, "space": 12, "forest": 12}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("n", [2, 3, 5, 8, 12, 19, 30])
def test_intervals_of_few_rows_hold(kind, n):
    random, n_tables, inside, n_leaves = np.random.default_rng(n), TABLES[kind], [], []
    for _ in range(n_tables):
        X, y = random.normal(size=(n, 1)), random.normal(size=n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = MODELS[kind]().fit(X, y)
        low, high = model.predict_interval(random.normal(size=(1, 1)))[0]
        more = random.normal(size=50)
        inside.append(np.mean((low <= more) & (more <= high)))
        if kind == "tree":
            n_leaves.append(model.get_n_leaves())
    # A table counts as one draw of whether an interval holds, so that the allowance is that of a binomial.
    least = binom.ppf(0.001, n_tables, 0.85) / n_tables
    assert np.mean(inside) >= least
    if n >= 8 and kind == "tree":
        assert np.mean(n_leaves) < 2


DRAWS = {
    "poisson": lambda random, n: random.poisson(4, n),
    "negative_binomial": lambda random, n: random.negative_binomial(2, 1 / 3, n),
    "exponential": lambda random, n: random.exponential(3, n),
}
OTHERS = {
    "tree": lambda outcome: BayesianTreeRegressor(outcome=outcome),
    "space": lambda outcome: TreeSpaceRegressor(outcome=outcome, max_nodes=30),
    "forest": lambda outcome: BayesianForestRegressor(10, outcome=outcome, random_state=0),
}


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("outcome", DRAWS)
def test_intervals_of_few_counts_and_durations_hold(outcome, kind):
    n_tables = 10
    for n in (5, 12, 30):
        random, inside, n_leaves = np.random.default_rng(n), [], []
        for _ in range(n_tables):
            X, y = random.normal(size=(n, 1)), DRAWS[outcome](random, n)
            model = OTHERS[kind](outcome).fit(X, y)
            low, high = model.predict_interval(random.normal(size=(1, 1)))[0]
            more = DRAWS[outcome](random, 200)
            inside.append(np.mean((low <= more) & (more <= high)))
            if kind == "tree":
                n_leaves.append(model.get_n_leaves())
        assert np.mean(inside) >= binom.ppf(0.001, n_tables, 0.85) / n_tables
        assert kind != "tree" or np.mean(n_leaves) < 2


@pytest.mark.parametrize("kind", ["tree", "space", "forest"])
def test_intervals_of_few_labels_hold(kind):
    make = {
        "tree": BayesianTreeClassifier,
        "space": lambda: TreeSpaceClassifier(max_nodes=30),
        "forest": lambda: BayesianForestClassifier(10, random_state=0),
    }[kind]
    share = 0.35
    for n in (5, 12, 30):
        random, inside, n_leaves = np.random.default_rng(n), [], []
        while len(inside) < 15:
            X, y = random.normal(size=(n, 1)), random.random(n) < share
            if y.all() or not y.any():
                continue
            model = make().fit(X, y)
            low, high = model.predict_interval(random.normal(size=(1, 1)))[0, 1]
            inside.append(low <= share <= high)
            if kind == "tree":
                n_leaves.append(model.get_n_leaves())
        assert np.sum(inside) >= binom.ppf(0.001, len(inside), 0.85)
        assert kind != "tree" or np.mean(n_leaves) < 2


def test_few_rows_are_calibrated_in_any_unit_and_order():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(9, 2)), random.normal(size=9)
    expected = BayesianTreeRegressor().fit(X, y).predict_interval(X)
    assert_allclose(BayesianTreeRegressor().fit(X, 1000 * y - 7).predict_interval(X), 1000 * expected - 7, rtol=1e-6)
    order = random.permutation(9)
    assert_allclose(BayesianTreeRegressor().fit(X[order], y[order]).predict_interval(X), expected, rtol=1e-9)


def test_few_rows_of_signal_are_still_split():
    X = np.arange(12.0)[:, None]
    y = np.where(X[:, 0] < 6, 0.0, 10.0) + np.random.default_rng(1).normal(size=12) / 10
    model = BayesianTreeRegressor().fit(X, y)
    assert model.get_n_leaves() == 2
    low, high = model.predict_interval(X[:1])[0]
    assert high - low < np.ptp(y)  # a leaf of all rows has an interval of 18
