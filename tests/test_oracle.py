"""Every fitted array equals the naive oracle's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, PartitionPrior, partition_space
from baytree.outcomes import REGRESSION_OUTCOMES
from tests import strategies
from tests.comparison import assert_same_classes, assert_same_tree, class_prior, engine, oracle_settings
from tests.reference import outcomes
from tests.reference import tree as oracle


@strategies.examples(5)
@given(strategies.problems())
def test_every_fitted_array_equals_the_oracle(problem):
    X, y, weight, parameters = problem
    model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters)


@given(st.data(), st.sampled_from(strategies.DTYPES))
def test_every_number_type_gives_the_tree_of_its_values(data, dtype):
    kind = np.iinfo(dtype) if np.issubdtype(dtype, np.integer) else None
    low, high = (max(kind.min, -(2**53)), min(kind.max, 2**53)) if kind else (-200, 200)
    ends = st.sampled_from([low, low + 1, 0, high - 1, high])
    n_rows = data.draw(st.integers(2, 12))
    values = st.lists(st.one_of(ends, st.integers(low, high)), min_size=n_rows, max_size=n_rows)
    X = np.array([data.draw(values), data.draw(values)]).astype(dtype).T
    y = data.draw(strategies.labels(n_rows, 2))
    parameters = {"prior": 0.5}
    assert_same_classes(BayesianTreeClassifier(**parameters).fit(X, y), X, y, None, parameters)


def eager(choose):
    """A prior under which small nodes are split too."""
    return PartitionPrior(split=0.99, by_depth=True, choose=choose)


def deep_problem(seed, n_rows, n_classes):
    """A table with structure at every depth, in columns with and without ties."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [random.normal(size=n_rows), random.integers(0, 6, n_rows), random.exponential(size=n_rows).round(1)]
    )
    bits = (X[:, 0] > 0.3).astype(int) + 2 * (X[:, 1] > 2) + 4 * (X[:, 2] > 0.5) + (X[:, 0] > -0.7)
    y = np.where(random.random(n_rows) < 0.1, random.integers(0, n_classes, n_rows), bits % n_classes)
    return X, np.unique(y, return_inverse=True)[1]


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("choose", ["column", "partition"])
def test_deeper_trees_equal_the_oracle(n_classes, seed, smoothing, choose):
    X, y = deep_problem(seed, 120, n_classes)
    parameters = {"prior": 0.1, "smoothing": smoothing, "partition_prior": eager(choose)}
    model = BayesianTreeClassifier(**parameters).fit(X, y)
    assert model.grown_tree_.max_depth >= 2
    assert_same_classes(model, X, y, None, parameters)


@strategies.examples(5)
@given(strategies.problems(), st.sampled_from([1, 2, 5]), st.sampled_from([1, 2, 4, 8]))
def test_the_way_of_large_nodes_equals_the_oracle(problem, subtree_rows, n_bins):
    """Histograms, bounds and opened bins on small tables: few bins of several values each."""
    X, y, weight, parameters = problem
    with engine(subtree_rows=subtree_rows, n_bins=n_bins):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters)


@pytest.mark.parametrize("n_classes", [2, 3, 9])
@pytest.mark.parametrize("real_weights", [False, True])
@pytest.mark.parametrize("n_bins", [4, 16])
@pytest.mark.parametrize("choose", ["column", "partition"])
def test_large_nodes_with_several_bins_equal_the_oracle(n_classes, real_weights, n_bins, choose):
    X, y = deep_problem(n_bins, 150, n_classes)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if real_weights else None
    parameters = {"prior": 0.3, "partition_prior": eager(choose)}
    with engine(subtree_rows=10, n_bins=n_bins):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert model.grown_tree_.max_depth >= 3
    assert_same_classes(model, X, y, weight, parameters)


@given(strategies.problems())
def test_the_partition_space_is_the_oracles(problem):
    X, y, weight, parameters = problem
    parameters = {name: parameters[name] for name in ("prior", "partition_prior", "feature_prior", "min_samples_leaf")}
    space = partition_space(X, y, sample_weight=weight, **parameters)
    n_classes = len(np.unique(y))
    settings = oracle_settings(class_prior(n_classes, parameters), parameters)
    outcome = outcomes.Categorical(y.tolist(), [1.0] * len(y) if weight is None else weight, n_classes)
    expected = oracle.Problem(X.tolist(), outcome, settings).partition_space(list(range(len(y))), 0, settings.prior)
    assert_array_equal(space["feature"], [-1 if p.feature is None else p.feature for p in expected])
    for threshold, partition in zip(space["threshold"][1:], expected[1:], strict=True):
        assert partition.split.lower <= threshold < partition.split.upper
    assert_allclose(space["log_likelihood"], [p.log_likelihood for p in expected], rtol=1e-9, atol=1e-9)
    assert_allclose(space["log_prior"], [p.log_prior for p in expected], rtol=1e-9, atol=1e-9)
    assert math.isclose(np.exp(space["log_posterior"]).sum(), 1, rel_tol=1e-9)


def test_every_regression_outcome_has_an_oracle():
    assert set(strategies.REAL_TARGETS) == set(outcomes.REAL) == set(REGRESSION_OUTCOMES)
    declared = {extra.name for outcome in REGRESSION_OUTCOMES.values() for extra in outcome.extras}
    assert set(strategies.EXTRAS) == declared
    assert set(strategies.OPTIONS) == {
        name for name, outcome_class in REGRESSION_OUTCOMES.items() if outcome_class.options is not None
    }


@strategies.examples(8)
@given(st.one_of(strategies.real_problems(), strategies.real_problems(raw=True)), st.sampled_from([1, 2, 4096]))
def test_every_real_outcome_equals_the_oracle(problem, subtree_rows):
    X, name, y, weight, extras, outcome, parameters = problem
    model = BayesianTreeRegressor(outcome=name, **parameters)
    with engine(subtree_rows=subtree_rows):
        model.fit(X, y, sample_weight=weight, **extras)
    assert_same_tree(model, X, outcome, model.prior_, parameters, tolerance=1e-7)


@given(strategies.real_problems())
def test_the_partition_space_of_real_outcomes_is_the_oracles(problem):
    X, name, y, weight, extras, outcome, parameters = problem
    if any(value is not None for value in extras.values()):
        return
    parameters = {key: parameters[key] for key in ("prior", "partition_prior", "feature_prior", "min_samples_leaf")}
    space = partition_space(X, y, outcome=name, sample_weight=weight, **parameters)
    prior = BayesianTreeRegressor(outcome=name, **parameters).fit(X, y, sample_weight=weight).prior_
    settings = oracle_settings(prior, parameters)
    expected = oracle.Problem(X.tolist(), outcome, settings).partition_space(list(range(len(y))), 0, settings.prior)
    assert_allclose(space["log_likelihood"], [p.log_likelihood for p in expected], rtol=1e-7, atol=1e-7)
    assert_allclose(space["log_prior"], [p.log_prior for p in expected], rtol=1e-9, atol=1e-9)


@strategies.examples(5)
@given(strategies.raw_problems(), st.sampled_from([1, 4096]))
def test_missing_values_categories_and_constraints_equal_the_oracle(problem, subtree_rows):
    X, y, weight, parameters = problem
    model = BayesianTreeClassifier(**parameters)
    with engine(subtree_rows=subtree_rows):
        model.fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters)


WIDE = {"lookahead_width": 10**6, "lookahead_per_feature": 10**6}


@strategies.examples(3)
@given(strategies.raw_problems(min_rows=(2, 6), max_rows=8, max_features=2), st.sampled_from([1, 2]))
def test_look_ahead_equals_the_oracle(problem, lookahead):
    X, y, weight, parameters = problem
    parameters |= {"lookahead": lookahead}
    with engine(**WIDE):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters)


@strategies.examples(2)
@given(
    st.one_of(strategies.real_problems(max_rows=7), strategies.real_problems(raw=True, max_rows=7)),
    st.sampled_from([1, 2]),
)
def test_look_ahead_on_real_outcomes_equals_the_oracle(problem, lookahead):
    X, name, y, weight, extras, outcome, parameters = problem
    parameters |= {"lookahead": lookahead}
    with engine(**WIDE):
        model = BayesianTreeRegressor(outcome=name, **parameters).fit(X, y, sample_weight=weight, **extras)
    assert_same_tree(model, X, outcome, model.prior_, parameters, tolerance=1e-7)


def test_look_ahead_prefers_among_equals_as_the_oracle_does():
    """Two splits lead to the same leaves, one with the missing values below and one with them above."""
    X = np.array([[np.nan]] * 5 + [[0.0], [1.0], [2.0]])
    y = np.array([0, 0, 0, 0, 0, 1, 0, 1])
    parameters = {"lookahead": 1, "partition_prior": PartitionPrior(split=0.99, proper=False)}
    with engine(**WIDE):
        model = BayesianTreeClassifier(**parameters).fit(X, y)
    assert model.get_n_leaves() > 2
    assert_same_classes(model, X, y, None, parameters)
