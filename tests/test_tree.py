"""What holds in every tree: a list of checks, each run over problems of every kind."""

from __future__ import annotations

from itertools import chain, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln, logsumexp
from sklearn.datasets import load_iris

from baytree import BayesianTreeClassifier, PartitionPrior
from baytree.tree import RAGGED
from tests import strategies
from tests.comparison import assert_same_store, every_array
from tests.reference.thresholds import roundest

CHECKS = []


def check(function):
    """Register a check: a function of a fitted tree and the problem it was grown on."""
    CHECKS.append(function)
    return function


def rows_in(tree, X):
    """Which rows are in which node, by the splits alone."""
    inside = np.ones((tree.node_count, len(X)), dtype=bool)
    for node in tree.internal_nodes:
        below = X[:, tree.feature[node]] <= tree.threshold[node]
        inside[tree.children_left[node]] = inside[node] & below
        inside[tree.children_right[node]] = inside[node] & ~below
    return inside


@check
def arrays_have_one_entry_per_node_and_are_read_only(tree, problem):
    *_, parameters = problem
    starts = dict.fromkeys(("choice_start", *RAGGED), tree.node_count + 1)
    others = starts | dict.fromkeys(chain(*RAGGED.values()), 0) | {"roots": 1}
    for name, array in every_array(tree).items():
        assert len(array) == others.get(name, tree.node_count), name
        if name == "log_likelihood_split" and parameters["smoothing"] == 0:  # is worked out when it is asked for
            continue
        assert not array.flags.writeable, name
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@check
def every_node_but_the_root_is_the_child_of_one(tree, problem):
    children = np.concatenate([tree.children_left[tree.internal_nodes], tree.children_right[tree.internal_nodes]])
    assert_array_equal(np.sort(children), np.arange(1, tree.node_count))
    assert tree.node_count == 2 * tree.n_leaves - 1


@check
def nodes_are_in_depth_first_order(tree, problem):
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if not tree.is_leaf[node]:
            stack += [tree.children_right[node], tree.children_left[node]]
    assert_array_equal(order, np.arange(tree.node_count))


@check
def children_are_one_deeper(tree, problem):
    assert tree.depth[0] == 0
    for children in (tree.children_left, tree.children_right):
        assert_array_equal(tree.depth[children[tree.internal_nodes]], tree.depth[tree.internal_nodes] + 1)
    assert tree.max_depth == tree.depth.max()


@check
def paths_lead_from_the_root_to_the_node(tree, problem):
    for node in range(tree.node_count):
        path = tree.path(node)
        assert (path[0], path[-1]) == (0, node)
        for parent, child in pairwise(path):
            assert child in (tree.children_left[parent], tree.children_right[parent])
            assert tree.parents[child] == parent


@check
def leaves_have_no_split(tree, problem):
    leaf = tree.is_leaf
    for name in ("children_left", "children_right"):
        assert_array_equal(every_array(tree)[name][leaf], -1)
    for name in ("feature", "threshold"):
        assert_array_equal(every_array(tree)[name][leaf], -2)
    for name in ("log_prior_split", "log_likelihood_split"):
        assert_array_equal(every_array(tree)[name][leaf], -np.inf)
        assert np.all(np.isfinite(every_array(tree)[name][~leaf]))
    assert not tree.missing_go_to_left[leaf].any()


@check
def children_share_out_rows_and_weight(tree, problem):
    _, y, weight, _ = problem
    at = tree.internal_nodes
    left, right = tree.children_left[at], tree.children_right[at]
    assert tree.n_node_samples[0] == len(y)
    assert_allclose(tree.weighted_n_node_samples[0], len(y) if weight is None else np.sum(weight))
    assert np.all(tree.n_node_samples >= 1)
    assert_array_equal(tree.n_node_samples[left] + tree.n_node_samples[right], tree.n_node_samples[at])
    weights = tree.weighted_n_node_samples
    assert_allclose(weights[left] + weights[right], weights[at])
    assert_array_equal(tree.missing_go_to_left[at], weights[left] > weights[right] * (1 + 1e-9))


@check
def thresholds_separate_the_rows_of_the_children(tree, problem):
    X = problem[0]
    inside = rows_in(tree, X)
    assert_array_equal(inside.sum(axis=1), tree.n_node_samples)
    for node in tree.internal_nodes:
        values = X[:, tree.feature[node]]
        low, high = values[inside[tree.children_left[node]]].max(), values[inside[tree.children_right[node]]].min()
        assert low <= tree.threshold[node] < high
        assert tree.threshold[node] == roundest(low, high)


@check
def posteriors_are_priors_and_counts(tree, problem):
    X, y, weight, parameters = problem
    by_class = np.eye(tree.posterior.shape[1])[y] * (np.ones(len(y)) if weight is None else np.array(weight))[:, None]
    counts = rows_in(tree, X) @ by_class
    assert_allclose(tree.posterior - tree.prior, counts, rtol=1e-9, atol=1e-9)
    assert_allclose(tree.value[:, 0], tree.calibrated / tree.calibrated.sum(axis=1, keepdims=True))
    for children in (tree.children_left, tree.children_right):
        child = children[tree.internal_nodes]
        assert_allclose(tree.prior[child], tree.prior[tree.internal_nodes] + parameters["smoothing"] * counts[child])


@check
def log_likelihoods_are_those_of_the_dirichlet_multinomial(tree, problem):
    def log_beta(alpha):
        return gammaln(alpha).sum(axis=1) - gammaln(alpha.sum(axis=1))

    at = tree.internal_nodes
    assert_allclose(tree.log_likelihood, log_beta(tree.posterior) - log_beta(tree.prior), rtol=1e-9, atol=1e-9)
    both = sum(
        log_beta(tree.posterior[child] - tree.prior[child] + tree.prior[at]) - log_beta(tree.prior[at])
        for child in (tree.children_left[at], tree.children_right[at])
    )
    assert_allclose(tree.log_likelihood_split[at], both, rtol=1e-9, atol=1e-9)


@check
def feature_posteriors_sum_to_one(tree, problem):
    assert tree.feature_posterior.shape == (tree.node_count, problem[0].shape[1] + 1)
    assert np.all(tree.feature_posterior >= 0)
    assert_allclose(tree.feature_posterior.sum(axis=1), 1)


@check
def the_feature_of_a_split_has_a_share_no_less_than_the_split(tree, problem):
    """The share of a feature is the sum over its splits, so it beats the share of no split by the odds."""
    for node in tree.internal_nodes:
        share, no_split = tree.feature_posterior[node][[tree.feature[node], -1]]
        assert share >= no_split * np.exp(tree.log_odds_split[node]) * (1 - 1e-6)


@check
def internal_nodes_are_more_probable_split_and_leaves_are_not(tree, problem):
    assert np.all(tree.log_odds_split[tree.internal_nodes] > 0)
    at = tree.internal_nodes
    odds = (tree.log_prior_split + tree.log_likelihood_split - tree.log_prior_leaf - tree.log_likelihood)[at]
    assert_allclose(tree.log_odds_split[at], odds, rtol=1e-8, atol=1e-8)
    if problem[3]["max_leaf_nodes"] is None:
        best = np.abs(tree.log_prior_leaf + tree.log_likelihood)[tree.is_leaf]
        assert np.all(tree.log_odds_split[tree.is_leaf] <= 1.01e-9 * (1 + best))


@check
def priors_are_probabilities(tree, problem):
    assert np.all(tree.log_prior_leaf <= 0)
    assert np.all(tree.log_prior_split <= 0)
    if problem[3]["partition_prior"].proper:
        assert np.all(np.exp(tree.log_prior_leaf) + np.exp(tree.log_prior_split) <= 1 + 1e-12)


@check
def limits_are_kept(tree, problem):
    parameters = problem[3]
    if parameters["max_depth"] is not None:
        assert tree.max_depth <= parameters["max_depth"]
    if parameters["max_leaf_nodes"] is not None:
        assert tree.n_leaves <= parameters["max_leaf_nodes"]
    if tree.n_leaves > 1:
        assert tree.n_node_samples.min() >= parameters["min_samples_leaf"]
        share = tree.weighted_n_node_samples.min() / tree.weighted_n_node_samples[0]
        assert share >= parameters["min_weight_fraction_leaf"] * (1 - 1e-6)


@check
def pure_nodes_are_leaves(tree, problem):
    pure = ((tree.posterior - tree.prior) > 1e-9).sum(axis=1) == 1
    assert tree.is_leaf[pure].all()
    assert_array_equal(tree.log_prior_leaf[pure], 0)
    assert_array_equal(tree.feature_posterior[pure, -1], 1)


@check
def the_evidence_sums_up_all_prunings(tree, problem):
    """By writing every pruning out, each a set of internal nodes that stay."""

    def prunings(node):
        yield tree.log_prior_leaf[node] + tree.log_likelihood[node]
        if not tree.is_leaf[node]:
            for left in prunings(tree.children_left[node]):
                for right in prunings(tree.children_right[node]):
                    yield tree.log_prior_split[node] + left + right

    everything = list(prunings(0))
    assert_allclose(tree.log_evidence(), logsumexp(everything), rtol=1e-9, atol=1e-9)
    assert_allclose(tree.log_posterior(), everything[-1], rtol=1e-9, atol=1e-9)
    assert tree.log_evidence() >= tree.log_posterior() - 1e-9
    split_priors = tree.log_prior_split[tree.internal_nodes].sum()
    assert_allclose(tree.log_posterior(include_internal=False), tree.log_posterior() - split_priors, atol=1e-9)


def grow(problem):
    X, y, weight, parameters = problem
    return BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight).tree_


@strategies.examples(3)
@given(strategies.problems())
def test_every_check_holds_in_small_trees(problem):
    tree = grow(problem)
    for holds in CHECKS:
        holds(tree, problem)


NO_LIMITS = {"smoothing": 0.0, "max_depth": None, "min_samples_leaf": 1, "min_weight_fraction_leaf": 0.0}
DEEP = {
    "plain": NO_LIMITS,
    "smoothing": NO_LIMITS | {"smoothing": 0.1},
    "limits": NO_LIMITS | {"min_samples_leaf": 4, "min_weight_fraction_leaf": 0.05, "max_leaf_nodes": 6},
    "literal": NO_LIMITS | {"partition_prior": PartitionPrior(split=0.99, location="distance", proper=False)},
}


@pytest.mark.parametrize("holds", CHECKS, ids=lambda holds: holds.__name__)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("parameters", DEEP.values(), ids=DEEP.keys())
def test_every_check_holds_in_deeper_trees(parameters, weighted, holds):
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    defaults = {"prior": 0.5, "partition_prior": PartitionPrior(split=0.99), "max_leaf_nodes": None, "prune": False}
    problem = X, y, weight, defaults | parameters
    tree = grow(problem)
    assert tree.max_depth >= 3
    holds(tree, problem)


@given(strategies.problems(prior=0.1, max_leaf_nodes=None, prune=False), st.integers(1, 6))
def test_fewer_leaves_are_a_pruning_of_the_full_tree(problem, max_leaf_nodes):
    X, y, weight, parameters = problem
    full = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    parameters = parameters | {"max_leaf_nodes": max_leaf_nodes}
    pruned = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert pruned.get_n_leaves() == min(max_leaf_nodes, full.get_n_leaves())
    inside, nodes = rows_in(full.tree_, X), rows_in(pruned.tree_, X)
    place = {(rows.tobytes(), depth): i for i, (rows, depth) in enumerate(zip(inside, full.tree_.depth, strict=True))}
    same = [place[rows.tobytes(), depth] for rows, depth in zip(nodes, pruned.tree_.depth, strict=True)]
    for name in ("posterior", "log_likelihood", "feature_posterior", "log_prior_leaf"):
        assert_array_equal(every_array(pruned.tree_)[name], every_array(full.tree_)[name][same])
    assert_same_store(pruned.grown_tree_, full.tree_, but=("value",))  # which is calibrated
    at = pruned.tree_.internal_nodes
    assert_array_equal(pruned.tree_.log_odds_split[at], full.tree_.log_odds_split[same][at])
    assert_array_equal(pruned.tree_.threshold[at], full.tree_.threshold[same][at])


@given(strategies.problems(prior=0.1, max_leaf_nodes=None, prune=False))
def test_a_depth_limit_prunes_the_full_tree(problem):
    """Whether a node may be split does not change how its ancestors are; a node at the limit cannot be split."""
    X, y, weight, parameters = problem
    full = BayesianTreeClassifier(**parameters | {"max_depth": None}).fit(X, y, sample_weight=weight)
    limited = BayesianTreeClassifier(**parameters | {"max_depth": 1}).fit(X, y, sample_weight=weight)
    kept = full.tree_.depth <= 1
    for name in ("posterior", "log_likelihood", "depth", "n_node_samples"):
        assert_array_equal(every_array(limited.tree_)[name], every_array(full.tree_)[name][kept])
    assert_array_equal(limited.tree_.log_prior_leaf[limited.tree_.depth == 1], 0)
