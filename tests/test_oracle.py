"""Every fitted array equals the naive oracle's."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianTreeClassifier, PartitionPrior, partition_space
from tests import strategies
from tests.reference import categorical_tree as oracle


def oracle_settings(n_classes, parameters):
    prior = parameters.get("prior")
    alpha = list(np.broadcast_to(20.0 / n_classes if prior is None else prior, n_classes).astype(float))
    partition_prior = parameters.get("partition_prior", PartitionPrior())
    return oracle.Settings(
        alpha=alpha,
        split=partition_prior.split,
        by_depth=partition_prior.by_depth,
        by_distance=partition_prior.location == "distance",
        proper=partition_prior.proper,
        feature_weight=parameters.get("feature_prior"),
        smoothing=parameters.get("smoothing", 0.0),
        max_depth=math.inf if parameters.get("max_depth") is None else parameters["max_depth"],
        min_samples_leaf=parameters.get("min_samples_leaf", 1),
        min_weight_fraction_leaf=parameters.get("min_weight_fraction_leaf", 0.0),
        max_leaf_nodes=math.inf if parameters.get("max_leaf_nodes") is None else parameters["max_leaf_nodes"],
    )


def assert_same_tree(model, X, y, weight, parameters):
    weight = [1.0] * len(y) if weight is None else list(weight)
    rows = X.astype(float).tolist()
    root = oracle.grow(rows, y.tolist(), weight, oracle_settings(len(model.classes_), parameters))
    nodes = oracle.depth_first(root)
    tree = model.tree_
    n_features = X.shape[1]
    place = {id(node): i for i, node in enumerate(nodes)}
    close = {"rtol": 1e-9, "atol": 1e-9}

    assert tree.node_count == len(nodes)
    assert_array_equal(tree.depth, [node.depth for node in nodes])
    assert_array_equal(tree.children_left, [place[id(n.children[0])] if n.children else -1 for n in nodes])
    assert_array_equal(tree.children_right, [place[id(n.children[1])] if n.children else -1 for n in nodes])
    assert_array_equal(tree.feature, [n.mode.feature if n.children else -2 for n in nodes])
    assert_array_equal(tree.n_node_samples, [len(n.rows) for n in nodes])
    for i, node in enumerate(nodes):
        if node.children:
            assert node.mode.lower <= tree.threshold[i] < node.mode.upper
    assert_allclose(tree.weighted_n_node_samples, [sum(n.counts) for n in nodes], **close)
    posterior = np.array([np.add(n.alpha, n.counts) for n in nodes])
    assert_allclose(tree.prior, [n.alpha for n in nodes], **close)
    assert_allclose(tree.posterior, posterior, **close)
    assert_allclose(tree.value[:, 0], posterior / posterior.sum(axis=1, keepdims=True), **close)
    assert_allclose(tree.log_likelihood, [n.partitions[0].log_likelihood for n in nodes], **close)
    assert_allclose(tree.log_prior_leaf, [n.partitions[0].log_prior for n in nodes], **close)
    assert_allclose(tree.log_prior_split, [n.mode.log_prior if n.children else -math.inf for n in nodes], **close)
    assert_allclose(
        tree.log_likelihood_split,
        [n.mode.log_likelihood if n.children else -math.inf for n in nodes],
        **close,
    )
    assert_allclose(tree.log_odds_split, [oracle.log_odds_split(n) for n in nodes], rtol=1e-8, atol=1e-8)
    assert_allclose(
        tree.feature_posterior,
        [oracle.feature_posterior(n, n_features) for n in nodes],
        rtol=1e-7,
        atol=1e-10,
    )
    assert_allclose(model.log_posterior_, oracle.log_posterior(root), **close)
    assert_allclose(tree.log_posterior(include_sprouts=False), oracle.log_posterior(root, False), **close)
    assert_allclose(model.log_evidence_, oracle.log_evidence(root), **close)


@st.composite
def problems(draw):
    X = draw(strategies.tables())
    y = draw(strategies.labels(len(X)))
    weight = draw(strategies.weights(len(X)))
    return X, y, weight, draw(strategies.parameters(X.shape[1], len(np.unique(y))))


@given(problems())
def test_every_fitted_array_equals_the_oracle(problem):
    X, y, weight, parameters = problem
    model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_tree(model, X, y, weight, parameters)


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
    assert_same_tree(BayesianTreeClassifier(**parameters).fit(X, y), X, y, None, parameters)


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
    assert_same_tree(model, X, y, None, parameters)


@given(problems(), st.sampled_from([1, 2, 5]), st.sampled_from([1, 2, 4, 8]))
def test_the_way_of_large_nodes_equals_the_oracle(problem, subtree_rows, n_bins):
    """Histograms, bounds and opened bins on small tables: few bins of several values each."""
    X, y, weight, parameters = problem
    with mock.patch.multiple("baytree.growing", SUBTREE_ROWS=subtree_rows, N_BINS=n_bins):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_tree(model, X, y, weight, parameters)


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
    assert_same_tree(model, X, y, weight, parameters)


@given(problems())
def test_the_partition_space_is_the_oracles(problem):
    X, y, weight, parameters = problem
    parameters = {name: parameters[name] for name in ("prior", "partition_prior", "feature_prior", "min_samples_leaf")}
    space = partition_space(X, y, sample_weight=weight, **parameters)
    settings = oracle_settings(len(np.unique(y)), parameters)
    given_weight = [1.0] * len(y) if weight is None else weight
    problem = oracle.Problem(X.tolist(), y.tolist(), given_weight, settings)
    expected = problem.partition_space(list(range(len(y))), 0, settings.alpha)
    assert_array_equal(space["feature"], [-1 if p.feature is None else p.feature for p in expected])
    for threshold, partition in zip(space["threshold"][1:], expected[1:], strict=True):
        assert partition.lower <= threshold < partition.upper
    assert_allclose(space["log_likelihood"], [p.log_likelihood for p in expected], rtol=1e-9, atol=1e-9)
    assert_allclose(space["log_prior"], [p.log_prior for p in expected], rtol=1e-9, atol=1e-9)
    assert math.isclose(np.exp(space["log_posterior"]).sum(), 1, rel_tol=1e-9)
