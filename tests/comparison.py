"""Comparisons that several tests make, and what they compare."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose, assert_array_equal

from baytree import PartitionPrior
from baytree.estimators import Estimator
from baytree.growth import Engine
from baytree.tree import CategorySet, PresentMissing, SplitKind, Threshold
from tests.reference import outcomes
from tests.reference import tree as oracle


def engine(**fields):
    """Estimators that are fitted inside work so."""
    return mock.patch.object(Estimator, "_engine", Engine(**fields))


def hyperplanes(splits):
    """Which splits of a tree or a tree space are hyperplanes."""
    return splits.is_of(SplitKind.HYPERPLANE)


def raw_frame(n=300, seed=0, n_categories=12):
    """Categories that matter in sets, a number with missing values that matter, and noise."""
    random = np.random.default_rng(seed)
    category = random.integers(0, n_categories, n)
    x = random.normal(size=n)
    frame = pd.DataFrame(
        {
            "city": np.array([f"city {k:02d}" for k in range(n_categories)], dtype=object)[category],
            "x": np.where(random.random(n) < 0.2, np.nan, x),
            "flag": random.random(n) < 0.5,
            "noise": random.normal(size=n),
        }
    )
    chance = 0.1 + 0.5 * (category % 3 == 0) + 0.35 * np.where(np.isnan(frame["x"]), 1, x > 0.5)
    return frame, (random.random(n) < chance).astype(int)


def all_prunings(tree, node=0):
    """Every pruning below a node: its log posterior, and the nodes that it keeps as internal ones."""
    yield tree.log_prior_leaf[node] + tree.log_likelihood[node], frozenset()
    if tree.children_left[node] == -1:
        return
    for left, kept_left in all_prunings(tree, tree.children_left[node]):
        for right, kept_right in all_prunings(tree, tree.children_right[node]):
            yield tree.log_prior_split[node] + left + right, kept_left | kept_right | {node}


LEAF_ARRAYS = ("value", "prior", "posterior", "weighted_n_node_samples", "log_likelihood", "log_likelihood_split")


def every_array(store):
    """The arrays of a store of trees, and those that follow from its leaf models."""
    ceiling = {} if store.is_plain else {"log_ceiling": store.leaves.log_ceiling}
    leaves = {name: getattr(store, name) for name in LEAF_ARRAYS} | {"statistics": store.leaves.statistics}
    return store.arrays() | leaves | ceiling


def assert_same_store(one, other, *, but=(), strict=False):
    """Every array of two stores is the same, bit for bit; `strict`: with the same type."""
    mine, its = every_array(one), every_array(other)
    assert mine.keys() == its.keys()
    for name in mine.keys() - set(but):
        assert_array_equal(its[name], mine[name], err_msg=name, strict=strict)


def assert_same_arrays(one, other):
    assert_same_store(one.tree_, other.tree_)


def oracle_settings(prior, parameters):
    partition_prior = parameters.get("partition_prior", PartitionPrior())
    return oracle.Settings(
        prior=list(prior),
        split=partition_prior.split,
        by_depth=partition_prior.by_depth,
        by_distance=partition_prior.location == "distance",
        subsets=partition_prior.subsets,
        proper=partition_prior.proper,
        choose=partition_prior.choose,
        feature_weight=parameters.get("feature_prior"),
        smoothing=parameters.get("smoothing", 0.0),
        max_depth=math.inf if parameters.get("max_depth") is None else parameters["max_depth"],
        min_samples_leaf=parameters.get("min_samples_leaf", 1),
        min_weight_fraction_leaf=parameters.get("min_weight_fraction_leaf", 0.0),
        max_leaf_nodes=math.inf if parameters.get("max_leaf_nodes") is None else parameters["max_leaf_nodes"],
        categorical=set(parameters.get("categorical_features") or ()),
        monotonic=parameters.get("monotonic_cst"),
        lookahead=parameters.get("lookahead", 0),
        prune=parameters.get("prune", True),
        draw=parameters.get("draw"),
        interactions=parameters.get("interaction_cst"),
    )


def class_prior(n_classes, parameters):
    prior = parameters.get("prior")
    return np.broadcast_to(2.0 / n_classes if prior is None else prior, n_classes).astype(float)


def assert_same_classes(model, X, y, weight, parameters):
    """Compare a classifier with the oracle, from the parameters on."""
    n_classes = len(model.classes_)
    outcome = outcomes.Categorical(y.tolist(), [1.0] * len(y) if weight is None else list(weight), n_classes)
    assert_same_tree(model, X, outcome, class_prior(n_classes, parameters), parameters)


def assert_same_split(model, i, node, X, matrix):
    """Compare a node's split: its kind, and the way of every value of its column."""
    tree, expected, column = model.tree_, node.mode.split, X[:, node.mode.feature]
    values, split = column[node.rows], model.tree_.split(i)
    assert split.features == (node.mode.feature,)
    assert tree.has_missing[i] == np.isnan(values).any()
    left, right = tree.weighted_n_node_samples[[tree.children_left[i], tree.children_right[i]]]
    more_left = left > right * (1 + 1e-9)
    assert tree.missing_go_to_left[i] == (expected.missing_left if tree.has_missing[i] else more_left)
    assert_array_equal([split.goes_left(row) for row in matrix[node.rows]], [expected.left(value) for value in values])
    if expected.categories is None:
        assert tree.category_start[i] == tree.category_start[i + 1]
        assert not tree.unseen_go_to_left[i]
        if expected.divides_missing:
            assert isinstance(split, PresentMissing)
            assert tree.threshold[i] == math.inf
        else:
            assert isinstance(split, Threshold)
            assert expected.lower <= tree.threshold[i] < expected.upper
        return
    assert isinstance(split, CategorySet)
    assert math.isnan(tree.threshold[i])
    categories = model.categories_[node.mode.feature]
    assert {categories[k] for k in split.left} == expected.categories
    assert {categories[k] for k in split.right} == set(values[~np.isnan(values)]) - expected.categories
    assert tree.unseen_go_to_left[i] == more_left


def assert_same_tree(model, X, outcome, prior, parameters, tolerance=1e-9):
    """Compare every fitted array with the oracle's."""
    settings = oracle_settings(prior, parameters)
    root = oracle.Problem(X.astype(float).tolist(), outcome, settings).grow()
    assert model.grown_tree_.node_count == len(oracle.depth_first(root))
    assert_allclose(model.log_evidence_, oracle.log_evidence(root), rtol=tolerance, atol=tolerance)
    oracle.reduce(root, settings)
    nodes = oracle.depth_first(root)
    tree, matrix = model.tree_, model._read_all(X).matrix
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
            assert_same_split(model, i, node, X, matrix)
    weights = [sum(outcome.weight[i] for i in n.rows) for n in nodes]
    assert_allclose(tree.weighted_n_node_samples, weights, **close)
    posterior = [outcome.update(n.rows, n.prior) for n in nodes]
    assert_allclose(tree.prior, [n.prior for n in nodes], **close)
    assert_allclose(tree.posterior, posterior, **close)
    means = [outcome.mean(parameters) for parameters in posterior]
    if getattr(model.outcome_, "rates", None) is None:  # else predictions are calibrated
        assert_allclose(tree.value[:, 0], means, **close)
    else:
        assert_allclose(model.outcome_.mean(tree.posterior), means, **close)
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
    assert_allclose(tree.log_posterior(include_internal=False), oracle.log_posterior(root, False), **close)


def rows_of_nodes(model, X):
    return model.decision_path(X).toarray().astype(bool).T


def paths_of_nodes(tree):
    """The way to every node from the root, step by step."""
    paths = [()] * tree.node_count
    for node in np.flatnonzero(tree.children_left >= 0):
        features = tree.split(node).features
        paths[tree.children_left[node]] = (*paths[node], oracle.Step(False, features))
        paths[tree.children_right[node]] = (*paths[node], oracle.Step(True, features))
    return paths


def assert_nodes_say_the_truth(model, X, outcome, prior, parameters, tolerance=1e-7):
    """Recompute prior and likelihood of every node, with its hyperplane among the partitions, from its rows alone."""
    tree = model.tree_
    settings = oracle_settings(prior, parameters)
    settings.oblique = Engine().oblique_share
    problem = oracle.Problem(X.astype(float).tolist(), outcome, settings)
    paths = paths_of_nodes(tree)
    for node, inside in enumerate(rows_of_nodes(model, X)):
        path = paths[node]
        rows = np.flatnonzero(inside).tolist()
        assert len(rows) == tree.n_node_samples[node]
        depth, node_prior = int(tree.depth[node]), tree.prior[node].tolist()
        if parameters.get("monotonic_cst") is not None:
            continue
        no_split, *others = space = problem.partition_space(rows, depth, node_prior, path=path)
        if not others:
            assert tree.children_left[node] < 0
            continue
        assert_allclose(tree.log_prior_leaf[node], no_split.log_prior, rtol=tolerance, atol=tolerance)
        _, best = oracle.choose(space, [partition.score for partition in space], settings.choose == "column")
        if tree.children_left[node] < 0:
            assert no_split.score >= best - tolerance * (1 + abs(best))
            continue
        score = tree.log_prior_split[node] + tree.log_likelihood_split[node]
        assert score > no_split.score - tolerance
        assert score >= best - tolerance * (1 + abs(best))
        if not hyperplanes(tree)[node]:
            continue
        terms = slice(tree.hyperplane_start[node], tree.hyperplane_start[node + 1])
        features = tree.hyperplane_feature[terms]
        assert tree.feature[node] == features[0]
        assert set(features) <= set(problem.numeric(rows, problem.on_offer(rows, path)[0]))
        expected = problem.hyperplane_prior(rows, depth, features.tolist(), path)
        assert_allclose(tree.log_prior_split[node], expected, rtol=1e-9)
        values = np.where(np.isnan(X[:, features]), tree.hyperplane_missing_value[terms], X[:, features])
        left = values @ tree.hyperplane_coefficient[terms] <= tree.threshold[node]
        children = rows_of_nodes(model, X)[[tree.children_left[node], tree.children_right[node]]]
        assert_array_equal(children[0], inside & left)
        likelihood = sum(outcome.log_likelihood(np.flatnonzero(side).tolist(), node_prior) for side in children)
        assert_allclose(tree.log_likelihood_split[node], likelihood, rtol=tolerance, atol=tolerance)
