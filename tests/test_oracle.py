"""Every fitted array equals the naive oracle's."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, PartitionPrior, partition_space
from baytree.outcomes import REGRESSION_OUTCOMES
from tests import strategies
from tests.reference import outcomes
from tests.reference import tree as oracle


def oracle_settings(prior, parameters):
    partition_prior = parameters.get("partition_prior", PartitionPrior())
    return oracle.Settings(
        prior=list(prior),
        split=partition_prior.split,
        by_depth=partition_prior.by_depth,
        by_distance=partition_prior.location == "distance",
        subsets=partition_prior.subsets,
        proper=partition_prior.proper,
        feature_weight=parameters.get("feature_prior"),
        smoothing=parameters.get("smoothing", 0.0),
        max_depth=math.inf if parameters.get("max_depth") is None else parameters["max_depth"],
        min_samples_leaf=parameters.get("min_samples_leaf", 1),
        min_weight_fraction_leaf=parameters.get("min_weight_fraction_leaf", 0.0),
        max_leaf_nodes=math.inf if parameters.get("max_leaf_nodes") is None else parameters["max_leaf_nodes"],
        categorical=set(parameters.get("categorical_features") or ()),
        monotonic=parameters.get("monotonic_cst"),
        lookahead=parameters.get("lookahead", 0),
    )


def class_prior(n_classes, parameters):
    prior = parameters.get("prior")
    return np.broadcast_to(20.0 / n_classes if prior is None else prior, n_classes).astype(float)


def assert_same_classes(model, X, y, weight, parameters):
    """Compare a classifier with the oracle, from the parameters on."""
    n_classes = len(model.classes_)
    outcome = outcomes.Categorical(y.tolist(), [1.0] * len(y) if weight is None else list(weight), n_classes)
    assert_same_tree(model, X, outcome, class_prior(n_classes, parameters), parameters)


def assert_same_cut(model, i, node, X):
    """Compare a node's cut, and the way of every cell of its column."""
    tree, cut, column = model.tree_, node.mode.cut, X[:, node.mode.feature]
    own = column[node.rows]
    assert tree.has_missing[i] == np.isnan(own).any()
    more_left = len(node.children[0].rows) > len(node.children[1].rows)
    assert tree.missing_go_to_left[i] == (cut.gaps_left if tree.has_missing[i] else more_left)
    if cut.levels is None:
        assert cut.lower <= tree.threshold[i] < cut.upper or (tree.threshold[i] == cut.lower == math.inf)
        assert len(tree.levels_of(i, left=True)) == len(tree.levels_of(i, left=False)) == 0
        return
    assert math.isnan(tree.threshold[i])
    levels = model.categories_[node.mode.feature]
    assert set(levels[tree.levels_of(i, left=True)]) == cut.levels
    assert set(levels[tree.levels_of(i, left=False)]) == set(own[~np.isnan(own)]) - cut.levels
    assert tree.unseen_go_to_left[i] == more_left


def assert_same_tree(model, X, outcome, prior, parameters, tolerance=1e-9):
    """Compare every fitted array with the oracle's."""
    root = oracle.grow(X.astype(float).tolist(), outcome, oracle_settings(prior, parameters))
    nodes = oracle.depth_first(root)
    tree = model.tree_
    n_features = X.shape[1]
    place = {id(node): i for i, node in enumerate(nodes)}
    close = {"rtol": tolerance, "atol": tolerance}

    assert tree.node_count == len(nodes)
    assert_array_equal(tree.depth, [node.depth for node in nodes])
    assert_array_equal(tree.children_left, [place[id(n.children[0])] if n.children else -1 for n in nodes])
    assert_array_equal(tree.children_right, [place[id(n.children[1])] if n.children else -1 for n in nodes])
    assert_array_equal(tree.feature, [n.mode.feature if n.children else -2 for n in nodes])
    assert_array_equal(tree.n_node_samples, [len(n.rows) for n in nodes])
    for i, node in enumerate(nodes):
        if node.children:
            assert_same_cut(model, i, node, X)
    weights = [sum(outcome.weight[i] for i in n.rows) for n in nodes]
    assert_allclose(tree.weighted_n_node_samples, weights, **close)
    posterior = [outcome.update(n.rows, n.prior) for n in nodes]
    assert_allclose(tree.prior, [n.prior for n in nodes], **close)
    assert_allclose(tree.posterior, posterior, **close)
    assert_allclose(tree.value[:, 0], [outcome.mean(parameters) for parameters in posterior], **close)
    assert_allclose(tree.log_likelihood, [n.partitions[0].log_likelihood for n in nodes], **close)
    assert_allclose(tree.log_prior_leaf, [n.partitions[0].log_prior for n in nodes], **close)
    assert_allclose(tree.log_prior_split, [n.mode.log_prior if n.children else -math.inf for n in nodes], **close)
    assert_allclose(
        tree.log_likelihood_split, [n.mode.log_likelihood if n.children else -math.inf for n in nodes], **close
    )
    assert_allclose(tree.log_odds_split, [oracle.log_odds_split(n) for n in nodes], rtol=1e-7, atol=10 * tolerance)
    assert_allclose(
        tree.feature_posterior,
        [oracle.feature_posterior(n, n_features) for n in nodes],
        rtol=100 * tolerance,
        atol=tolerance,
    )
    assert_allclose(model.log_posterior_, oracle.log_posterior(root), **close)
    assert_allclose(tree.log_posterior(include_sprouts=False), oracle.log_posterior(root, False), **close)
    assert_allclose(model.log_evidence_, oracle.log_evidence(root), **close)


@settings(max_examples=1000)
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
    cells = st.lists(st.one_of(ends, st.integers(low, high)), min_size=n_rows, max_size=n_rows)
    X = np.array([data.draw(cells), data.draw(cells)]).astype(dtype).T
    y = data.draw(strategies.labels(n_rows, 2))
    parameters = {"prior": 0.5}
    assert_same_classes(BayesianTreeClassifier(**parameters).fit(X, y), X, y, None, parameters)


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
def test_deeper_trees_equal_the_oracle(n_classes, seed, smoothing):
    X, y = deep_problem(seed, 120, n_classes)
    parameters = {"prior": 0.3, "smoothing": smoothing}
    model = BayesianTreeClassifier(**parameters).fit(X, y)
    assert model.get_depth() >= 3
    assert_same_classes(model, X, y, None, parameters)


@settings(max_examples=1000)
@given(strategies.problems(), st.sampled_from([1, 2, 5]), st.sampled_from([1, 2, 4, 8]))
def test_the_way_of_large_nodes_equals_the_oracle(problem, subtree_rows, n_bins):
    """Histograms, bounds and opened bins on small tables: few bins of several values each."""
    X, y, weight, parameters = problem
    with mock.patch.multiple("baytree.growing", SUBTREE_ROWS=subtree_rows, N_BINS=n_bins):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters)


@pytest.mark.parametrize("n_classes", [2, 3, 9])
@pytest.mark.parametrize("real_weights", [False, True])
@pytest.mark.parametrize("n_bins", [4, 16])
def test_large_nodes_with_several_bins_equal_the_oracle(n_classes, real_weights, n_bins):
    X, y = deep_problem(n_bins, 150, n_classes)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if real_weights else None
    parameters = {"prior": 0.3}
    with mock.patch.multiple("baytree.growing", SUBTREE_ROWS=10, N_BINS=n_bins):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert model.get_depth() >= 3
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
        assert partition.cut.lower <= threshold < partition.cut.upper
    assert_allclose(space["log_likelihood"], [p.log_likelihood for p in expected], rtol=1e-9, atol=1e-9)
    assert_allclose(space["log_prior"], [p.log_prior for p in expected], rtol=1e-9, atol=1e-9)
    assert math.isclose(np.exp(space["log_posterior"]).sum(), 1, rel_tol=1e-9)


@st.composite
def real_problems(draw, *, raw=False, max_rows=14, max_features=3):
    """A table with a real outcome of any kind: the outcome's name, what fit takes, the oracle's outcome, parameters."""
    size = {"min_rows": 2, "max_rows": max_rows, "max_features": max_features}
    X, categorical = draw(strategies.raw_tables(**size)) if raw else (draw(strategies.tables(**size)), [])
    n = len(X)
    weight = draw(strategies.weights(n))
    name = draw(st.sampled_from(sorted(REAL_OUTCOMES)))
    y, extras, make = draw(REAL_OUTCOMES[name](n))
    parameters = draw(strategies.parameters(X.shape[1], 2))
    if raw:
        parameters |= draw(strategies.raw_settings(X.shape[1], categorical))
    parameters["prior"] = draw(strategies.real_prior(name))
    return X, name, y, weight, extras, make([1.0] * n if weight is None else list(weight)), parameters


@st.composite
def normal_targets(draw, n):
    pool = draw(st.sampled_from([st.floats(-5, 5), st.sampled_from([0.0, 1.0, 1.5]), st.floats(1e3, 1.001e3)]))
    # Values nearer to each other than standard y can tell apart count as equal; the oracle would not know.
    y = np.array(draw(st.lists(pool, min_size=n, max_size=n))).round(6)
    return y, {}, lambda weight: outcomes.Normal(y.tolist(), weight)


@st.composite
def poisson_targets(draw, n):
    y = np.array(draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), dtype=float)
    exposure = draw(st.one_of(st.none(), st.lists(st.floats(0.1, 4), min_size=n, max_size=n)))
    return y, {"exposure": exposure}, lambda weight: outcomes.Poisson(y.tolist(), weight, exposure)


@st.composite
def exponential_targets(draw, n):
    y = np.array(draw(st.lists(st.floats(0.01, 5), min_size=n, max_size=n)))
    event = draw(st.one_of(st.none(), st.lists(st.booleans(), min_size=n, max_size=n)))
    events = None if event is None else [float(e) for e in event]
    return y, {"event": event}, lambda weight: outcomes.Exponential(y.tolist(), weight, events)


REAL_OUTCOMES = {"normal": normal_targets, "poisson": poisson_targets, "exponential": exponential_targets}


def test_every_regression_outcome_has_an_oracle():
    assert set(REAL_OUTCOMES) == set(REGRESSION_OUTCOMES)


@settings(max_examples=2000)
@given(st.one_of(real_problems(), real_problems(raw=True)), st.sampled_from([1, 2, 4096]))
def test_every_real_outcome_equals_the_oracle(problem, subtree_rows):
    X, name, y, weight, extras, outcome, parameters = problem
    model = BayesianTreeRegressor(outcome=name, **parameters)
    with mock.patch("baytree.growing.SUBTREE_ROWS", subtree_rows):
        model.fit(X, y, sample_weight=weight, **extras)
    assert_same_tree(model, X, outcome, model.prior_, parameters, tolerance=1e-7)


@given(real_problems())
def test_the_partition_space_of_real_outcomes_is_the_oracles(problem):
    X, name, y, weight, extras, outcome, parameters = problem
    if any(value is not None for value in extras.values()):
        return
    parameters = {key: parameters[key] for key in ("prior", "partition_prior", "feature_prior", "min_samples_leaf")}
    space = partition_space(X, y, outcome=name, sample_weight=weight, **parameters)
    prior = BayesianTreeRegressor(outcome=name, prior=parameters["prior"]).fit(X, y, sample_weight=weight).prior_
    settings = oracle_settings(prior, parameters)
    expected = oracle.Problem(X.tolist(), outcome, settings).partition_space(list(range(len(y))), 0, settings.prior)
    assert_allclose(space["log_likelihood"], [p.log_likelihood for p in expected], rtol=1e-7, atol=1e-7)
    assert_allclose(space["log_prior"], [p.log_prior for p in expected], rtol=1e-9, atol=1e-9)


@settings(max_examples=1000)
@given(strategies.raw_problems(), st.sampled_from([1, 4096]))
def test_gaps_levels_and_constraints_equal_the_oracle(problem, subtree_rows):
    X, y, weight, parameters = problem
    model = BayesianTreeClassifier(**parameters)
    with mock.patch("baytree.growing.SUBTREE_ROWS", subtree_rows):
        model.fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters)


WIDE = {"LOOKAHEAD_WIDTH": 10**6, "LOOKAHEAD_PER_FEATURE": 10**6}


@settings(max_examples=300)
@given(strategies.raw_problems(min_rows=(2, 6), max_rows=8, max_features=2), st.sampled_from([1, 2]))
def test_look_ahead_equals_the_oracle(problem, lookahead):
    X, y, weight, parameters = problem
    parameters |= {"lookahead": lookahead}
    with mock.patch.multiple("baytree.growing", **WIDE):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters)


@settings(max_examples=200)
@given(st.one_of(real_problems(max_rows=7), real_problems(raw=True, max_rows=7)), st.sampled_from([1, 2]))
def test_look_ahead_on_real_outcomes_equals_the_oracle(problem, lookahead):
    X, name, y, weight, extras, outcome, parameters = problem
    parameters |= {"lookahead": lookahead}
    with mock.patch.multiple("baytree.growing", **WIDE):
        model = BayesianTreeRegressor(outcome=name, **parameters).fit(X, y, sample_weight=weight, **extras)
    assert_same_tree(model, X, outcome, model.prior_, parameters, tolerance=1e-7)


def test_look_ahead_prefers_among_equals_as_the_oracle_does():
    """Two cuts lead to the same leaves, one with the gaps below and one with them above."""
    X = np.array([[np.nan]] * 5 + [[0.0], [1.0], [2.0]])
    y = np.array([0, 0, 0, 0, 0, 1, 0, 1])
    parameters = {"lookahead": 1, "partition_prior": PartitionPrior(proper=False)}
    with mock.patch.multiple("baytree.growing", **WIDE):
        model = BayesianTreeClassifier(**parameters).fit(X, y)
    assert model.get_n_leaves() > 2
    assert_same_classes(model, X, y, None, parameters)
