"""The order of rows decides nothing, in any model, also where rows share all their values."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    PartitionPrior,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)
from tests import strategies

REGRESSORS = {
    "tree": BayesianTreeRegressor,
    "space": lambda **given: TreeSpaceRegressor(max_nodes=50, **given),
    "forest": lambda **given: BayesianForestRegressor(4, random_state=0, **given),
}
CLASSIFIERS = {
    "tree": BayesianTreeClassifier,
    "space": lambda **given: TreeSpaceClassifier(max_nodes=50, **given),
    "forest": lambda **given: BayesianForestClassifier(4, random_state=0, **given),
}
PARTITIONS = [{"partitions": "axis"}, {"partitions": "axis", "max_bins": 3}, {"partitions": "oblique"}]
OUTCOMES = {
    "classes": lambda random, x: (x + random.normal(size=len(x)) > 2).astype(int),
    "normal": lambda random, x: x + random.normal(size=len(x)),
    "poisson": lambda random, x: random.poisson(1 + x).astype(float),
    "negative_binomial": lambda random, x: random.poisson(random.gamma(1 + x)).astype(float),
    "exponential": lambda random, x: random.exponential(1 + x),
}


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("parameters", PARTITIONS, ids=["axis", "bins", "oblique"])
@pytest.mark.parametrize("kind", REGRESSORS)
@strategies.examples(1)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(10, 60), weighted=st.booleans())
def test_predictions_do_not_depend_on_the_order_of_rows(outcome, parameters, kind, seed, n, weighted):
    random = np.random.default_rng(seed)
    X = np.c_[np.arange(n) % 5, np.arange(n) // 5 % 3].astype(float)  # many rows share X
    y, order = OUTCOMES[outcome](random, X[:, 0]), random.permutation(n)
    weight = random.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    if len(np.unique(y)) < 2:
        return
    predictions = []
    for rows in (np.arange(n), order):
        if outcome == "classes":
            model = CLASSIFIERS[kind](**parameters)
        else:
            model = REGRESSORS[kind](outcome=outcome, **parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # some tables have few rows, or copies
            model.fit(X[rows], y[rows], sample_weight=weight[rows] if weighted else None)
        predictions.append(model.predict_proba(X) if outcome == "classes" else model.predict_interval(X))
    assert_allclose(predictions[0], predictions[1], rtol=1e-8, atol=1e-9)


@given(st.data(), st.integers(1, 50))
def test_shift_and_scale_do_not_depend_on_the_order_of_rows(data, n):
    numbers = st.floats(-1e6, 1e6, allow_nan=False)
    y = np.array(data.draw(st.lists(numbers, min_size=n, max_size=n)))
    order = data.draw(st.permutations(range(n)))
    X = np.zeros((n, 1))
    assume(np.ptp(y) == 0 or np.ptp(y) > 1e-100)  # the squares of others are too small
    one, other = (BayesianTreeRegressor(calibrate=False).fit(X, target) for target in (y, y[order]))
    assert (one.outcome_.shift, one.outcome_.scale) == (other.outcome_.shift, other.outcome_.scale)
    assert one.outcome_.shift == pytest.approx(y.mean(), abs=1e-12 * np.ptp(y) + 1e-300, rel=1e-9)
    assert_array_equal(one.prior_, other.prior_)


def test_columns_that_may_trade_places_do_not_let_the_order_of_rows_decide():
    # With the columns exchanged, the table has the same rows, so that no hash of values tells (1, 0) from (0, 1).
    rows = {(0, 0): [0, 0, 0], (1, 0): [0, 0, 1, 1, 1], (0, 1): [0, 0, 1, 1, 1], (1, 1): [0, 1]}
    X = np.repeat(np.array(list(rows), dtype=float), [len(labels) for labels in rows.values()], axis=0)
    y = np.concatenate(list(rows.values()))
    prior = PartitionPrior(split=0.99)
    expected = BayesianTreeClassifier(max_depth=1, partition_prior=prior).fit(X, y).predict_proba([*rows])
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(y))
        model = BayesianTreeClassifier(max_depth=1, partition_prior=prior).fit(X[order], y[order])
        assert_allclose(model.predict_proba([*rows]), expected, rtol=1e-12)
