"""Predictions that must rise or fall with a feature."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, PartitionPrior
from baytree.outcomes import REGRESSION_OUTCOMES
from tests import strategies
from tests.comparison import assert_same_arrays, assert_same_classes, assert_same_tree, raw_frame
from tests.own_outcomes import Counts
from tests.reference import outcomes


@pytest.mark.parametrize("directions", [[1, 0, 0], [1, 0, 1], [0, 0, -1], [1, 0, -1]])
@pytest.mark.parametrize(("seed", "choose"), [(0, "column"), (1, "partition")])
def test_deeper_constrained_trees_equal_the_oracle(directions, seed, choose):
    random = np.random.default_rng(seed)
    n = 150
    X = np.column_stack([random.normal(size=n), random.integers(0, 6, n), random.normal(size=n)])
    y = X[:, 0] + np.sin(3 * X[:, 0]) + X[:, 1] % 2 - X[:, 2] + np.sin(3 * X[:, 2]) + 0.1 * random.normal(size=n)
    X[random.random(X.shape) < 0.1] = np.nan
    prior = PartitionPrior(split=0.99, choose=choose)
    parameters = {"categorical_features": [1], "partition_prior": prior, "prune": False}
    free = BayesianTreeRegressor(**parameters).fit(X, y)
    parameters["monotonic_cst"] = directions
    model = BayesianTreeRegressor(**parameters).fit(X, y)
    assert model.get_n_leaves() > 2
    assert not np.array_equal(model.tree_.feature, free.tree_.feature)
    assert_same_tree(model, X, outcomes.Normal(y.tolist(), [1.0] * n), model.prior_, parameters, tolerance=1e-7)
    labels = (y > 0).astype(int)
    classes = BayesianTreeClassifier(prior=0.5, **parameters).fit(X, labels)
    assert_same_classes(classes, X, labels, None, parameters | {"prior": 0.5})


@strategies.examples(2)
@given(st.data())
def test_predictions_are_monotone(data):
    """Any outcome, any other columns: raising the constrained feature never lowers the prediction."""
    seed = data.draw(st.integers(0, 10**6))
    random = np.random.default_rng(seed)
    n = data.draw(st.sampled_from([20, 60, 200]))
    X = np.column_stack([random.normal(size=n).round(1), random.integers(0, 4, n), random.normal(size=n).round(1)])
    X[:, [0, 2]][random.random((n, 2)) < 0.1] = np.nan
    outcome = data.draw(st.sampled_from(["classes", *REGRESSION_OUTCOMES]))
    signal = np.sin(3 * np.nan_to_num(X[:, 0])) + X[:, 1] % 2 + np.nan_to_num(X[:, 2])
    directions = {0: data.draw(st.sampled_from([-1, 1])), 2: data.draw(st.sampled_from([-1, 0, 1]))}
    shared = {
        "categorical_features": [1],
        "monotonic_cst": directions,
        "smoothing": data.draw(st.sampled_from([0.0, 0.3])),
    }
    if outcome == "classes":
        model = BayesianTreeClassifier(prior=0.3, **shared).fit(X, signal + 0.5 * random.normal(size=n) > 0.5)
        predict = lambda rows: model.predict_proba(rows)[:, 1]  # noqa: E731
    else:
        y = {
            "normal": signal + 0.1 * random.normal(size=n),
            "poisson": random.poisson(np.exp(signal)).astype(float),
            "negative_binomial": random.poisson(random.gamma(2, np.exp(signal) / 2)).astype(float),
            "exponential": random.exponential(np.exp(signal)) + 1e-9,
        }[outcome]
        model = BayesianTreeRegressor(outcome=outcome, **shared).fit(X, y)
        predict = model.predict
    rows = X[random.integers(0, n, 30)]
    grid = np.sort(np.append(np.nanquantile(X[:, 0], np.linspace(0, 1, 25)), [-99.0, 99.0]))
    for feature, direction in directions.items():
        curves = np.array([predict(np.where(np.arange(3) == feature, value, rows)) for value in grid])
        steps = np.diff(curves, axis=0)[np.isfinite(np.diff(curves, axis=0))]
        assert direction == 0 or np.all(direction * steps >= 0)


def test_constraints_by_name_by_position_and_as_a_list_are_the_same():
    frame, y = raw_frame()
    trees = [
        BayesianTreeClassifier(prior=1.0, monotonic_cst=given).fit(frame, y)
        for given in ({"x": 1}, {1: 1}, {-3: 1}, [0, 1, 0, 0], np.array([0, 1, 0, 0]))
    ]
    for model in trees[1:]:
        assert_same_arrays(model, trees[0])
    weights = [
        BayesianTreeClassifier(prior=1.0, feature_prior=given).fit(frame, y)
        for given in ({"noise": 0.1, "city": 2}, {3: 0.1, 0: 2.0}, [2, 1, 1, 0.1])
    ]
    for model in weights[1:]:
        assert_same_arrays(model, weights[0])


def test_partial_fit_refuses_to_break_a_constraint():
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.repeat([0.0, 5.0], 50) + np.tile([0.0, 0.1], 50)
    model = BayesianTreeRegressor(monotonic_cst=[1]).fit(X, y)
    assert model.get_n_leaves() == 2
    before = model.tree_
    model.partial_fit([[1.0]], [4.0])
    after = model.tree_
    assert after is not before
    with pytest.raises(ValueError, match="monotonic_cst"):
        model.partial_fit(np.zeros((900, 1)), np.full(900, 9.0))
    assert model.tree_ is after


def test_your_own_outcome_keeps_constraints_too():
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 2))
    y = random.poisson(np.exp(np.sin(3 * X[:, 0])))
    shared = {"prior": [2.0, 1.0], "prune": False, "partition_prior": 0.99}
    custom = BayesianTreeRegressor(outcome=Counts(), monotonic_cst=[1, 0], **shared).fit(X, y)
    built_in = BayesianTreeRegressor(outcome="poisson", monotonic_cst=[1, 0], **shared).fit(X, y)
    free = BayesianTreeRegressor(outcome="poisson", **shared).fit(X, y)
    assert custom.get_n_leaves() > 1
    assert_array_equal(custom.tree_.threshold, built_in.tree_.threshold)
    assert not np.array_equal(custom.tree_.threshold, free.tree_.threshold)


def test_rounding_does_not_break_a_constraint():
    d = np.array([0.41, 0.85, 0.95, 0.59, 0.85])
    X, y = np.repeat([0.0, 1.0], 10)[:, None], np.r_[0.3 + d / 100, 0.3 - d / 100, 0.3 + d, 0.3 - d]
    model = BayesianTreeRegressor(monotonic_cst=[1]).fit(X, y)
    assert model.get_n_leaves() > 1
    assert np.all(np.diff(model.predict([[0.0], [1.0]])) >= 0)
    model.partial_fit([[1.0]], [0.3])


def test_an_infinite_mean_is_above_all_others():
    """With one pseudo-event and no event the expected duration is infinite: it must not follow a finite one."""
    X, time, event = [[0.0], [1.0]], [1.0, 1.0], [True, False]
    falling, rising = (
        BayesianTreeRegressor(outcome="exponential", prior=[1.0, 1.0], monotonic_cst=[direction]).fit(
            X, time, event=event
        )
        for direction in (-1, 1)
    )
    assert falling.get_n_leaves() == 1
    for model in (falling, rising):
        assert model.predict([[0.0]])[0] <= model.predict([[1.0]])[0]
