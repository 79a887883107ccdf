"""The one store of trees: a tree, a forest and a tree space by eye, their parts, and what every store must be."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)
from baytree.estimators._fit import prepare
from baytree.growth import grow_forest
from baytree.leaves import ConstantLeaves
from baytree.outcomes import CategoricalOutcome
from baytree.table import Rows
from baytree.tree import (
    RAGGED,
    TreeStore,
    best_trees,
    both_ways,
    concatenate_stores,
    depth_of,
    depth_of_graph,
    reduce_trees,
    sum_from_leaves,
)
from tests.comparison import assert_same_store, every_array, raw_frame

# A plain tree is the class counts of a leaf, or a split: (feature, threshold, left tree, right tree).
DEEP = (0, 1.5, [3, 0], (1, 4.5, [0, 2], [1, 1]))
SMALL = (1, 2.5, [4, 0], [0, 3])
LEAF = [5, 2]


def counts_of(tree):
    """The class counts of a plain tree: those of its leaves added up."""
    return tree if isinstance(tree, list) else [a + b for a, b in zip(*map(counts_of, tree[2:]), strict=True)]


def plain(*trees):
    """The store of some plain trees, node after node."""
    nodes, choices = [], []

    def add(tree, depth):
        place = len(nodes)
        nodes.append((counts_of(tree), depth))
        choices.append(None)
        if isinstance(tree, list):
            choices[place] = NO_SPLIT
        else:
            feature, threshold, left, right = tree
            choices[place] = (feature, threshold, add(left, depth + 1), add(right, depth + 1))
        return place

    roots = [add(tree, 0) for tree in trees]
    return store_of(nodes, [[choice] for choice in choices], roots)


def space():
    """Seven rows that stay together, or are split in one of two ways into leaves."""
    nodes = [([4, 3], 0), ([4, 0], 1), ([0, 3], 1), ([2, 1], 1), ([2, 2], 1)]
    choices = [[NO_SPLIT, (0, 1.5, 1, 2), (1, 4.5, 3, 4)], *([NO_SPLIT] for _ in range(4))]
    return store_of(nodes, choices, [0])


NO_SPLIT = (-2, -2.0, -1, -1)


def store_of(nodes, choices, roots):
    """A store of nodes (class counts, depth), each with its choices (feature, threshold, left node, right node).

    Leaves have the prior Beta(1, 1); no split has the prior probability 1/2, every split 1/4.
    """
    statistics, depth = (np.array(values) for values in zip(*nodes, strict=True))
    feature, threshold, left, right = np.array([choice for of_node in choices for choice in of_node]).T
    n, is_leaf = len(feature), feature == -2
    outcome = CategoricalOutcome(np.ones(2), np.array(["no", "yes"]))
    return TreeStore(
        leaves=ConstantLeaves.with_root_prior(outcome, statistics.astype(float)),
        n_features=2,
        roots=np.array(roots),
        choice_start=np.cumsum([0, *map(len, choices)]),
        children_left=left.astype(np.int64),
        children_right=right.astype(np.int64),
        kind=np.where(is_leaf, 0, 1).astype(np.uint8),
        feature=feature.astype(np.int64),
        threshold=threshold,
        **{name: np.zeros(n, dtype=bool) for name in ("missing_go_to_left", "has_missing", "unseen_go_to_left")},
        **{name: np.zeros(n + 1, dtype=np.int64) for name in RAGGED},
        **{name: np.zeros(0, dtype=np.int64) for name in ("category", "hyperplane_feature")},
        category_goes_left=np.zeros(0, dtype=bool),
        hyperplane_coefficient=np.zeros(0),
        hyperplane_missing_value=np.zeros(0),
        log_prior_split=np.where(is_leaf, -np.inf, np.log(1 / 4)),
        depth=depth,
        n_node_samples=statistics.sum(axis=1),
        log_prior_leaf=np.full(len(nodes), np.log(1 / 2)),
        log_odds_split=np.zeros(len(nodes)),
    )


def likelihood(a, b):
    """Of a rows of one class and b of the other under Beta(1, 1): a! b! / (a + b + 1)!"""
    return math.factorial(a) * math.factorial(b) / math.factorial(a + b + 1)


# Plain trees by eye.


def test_the_nodes_of_plain_trees():
    store = plain(DEEP, LEAF, SMALL)
    assert (store.node_count, store.n_trees, store.n_leaves, store.max_depth, store.is_plain) == (9, 3, 6, 2, True)
    assert store.roots.tolist() == [0, 5, 6]
    assert store.tree_of_node.tolist() == [0, 0, 0, 0, 0, 1, 2, 2, 2]
    assert store.is_leaf.tolist() == [False, True, False, True, True, True, False, True, True]
    assert store.internal_nodes.tolist() == [0, 2, 6]
    assert store.parents.tolist() == [-1, 0, 0, 2, 2, -1, -1, 6, 6]
    assert store.path(4) == [0, 2, 4]
    assert store.path(8) == [6, 8]
    assert [splits.tolist() for splits in store.splits_by_depth] == [[0, 6], [2]]
    assert [list(store.choices_of(node)) for node in (0, 5)] == [[0], [5]]
    assert [store.splits_of(node) for node in (0, 5)] == [[0], []]
    assert store.used_features.tolist() == [0, 1]
    assert store.weighted_n_node_samples.tolist() == [7, 3, 4, 2, 2, 7, 7, 4, 3]
    assert store.leaf_share.tolist() == [0, 1, 0, 1, 1, 1, 0, 1, 1]
    assert store.choice_share.tolist() == [1] * 9
    assert store.evidence.node_probability.tolist() == [1] * 9


def test_the_leaves_of_plain_trees():
    store = plain(SMALL)
    assert store.prior.tolist() == [[1, 1]] * 3
    assert store.posterior.tolist() == [[5, 4], [5, 1], [1, 4]]
    assert_allclose(store.value[:, 0], [[5 / 9, 4 / 9], [5 / 6, 1 / 6], [1 / 5, 4 / 5]])
    together, apart = likelihood(4, 3), likelihood(4, 0) * likelihood(0, 3)
    assert_allclose(np.exp(store.log_likelihood), [together, likelihood(4, 0), likelihood(0, 3)])
    assert_allclose(np.exp(store.log_likelihood_split), [apart, 0, 0])
    assert_allclose(np.exp(store.gain()), [apart / together, 1, 1])
    assert_allclose(np.exp(store.log_posterior()), apart / 4 / 2 / 2)
    assert_allclose(np.exp(store.log_posterior(include_internal=False)), apart / 2 / 2)
    assert_allclose(np.exp(store.log_evidence()), together / 2 + apart / 4 / 2 / 2)


def test_every_tree_of_a_forest_has_its_gain():
    store = plain(SMALL, LEAF, DEEP)
    gains = [plain(tree).evidence.expected_gain()[0] for tree in (SMALL, LEAF, DEEP)]
    assert gains[0][0] == 0
    assert gains[0][1] > 0
    assert gains[1].tolist() == [0, 0]
    assert_array_equal(store.evidence.expected_gain(), gains)


def test_a_forest_is_pruned_tree_by_tree():
    trees = (DEEP, LEAF, SMALL, (0, 0.5, SMALL, DEEP))
    expected = concatenate_stores([reduce_trees(plain(tree), prune=True, max_leaf_nodes=None) for tree in trees])
    assert_same_store(reduce_trees(plain(*trees), prune=True, max_leaf_nodes=None), expected)
    assert expected.node_count < plain(*trees).node_count


# A tree space by eye.


def test_the_evidence_of_a_space():
    store = space()
    assert (store.node_count, store.n_choices, store.is_plain, store.n_trees) == (5, 7, False, 1)
    assert store.owner.tolist() == [0, 0, 0, 1, 2, 3, 4]
    assert [store.splits_of(node) for node in range(5)] == [[1, 2], [], [], [], []]
    first, second = (
        likelihood(*one) * likelihood(*other) / 4 / 2 / 2 for one, other in [((4, 0), (0, 3)), ((2, 1), (2, 2))]
    )
    terms = np.array([likelihood(4, 3) / 2, first, second])
    evidence = store.evidence
    assert_allclose(np.exp(evidence.log_evidence[0]), terms.sum())
    assert_allclose(np.exp(evidence.log_best[0]), terms.max())
    assert_allclose(np.exp(evidence.log_choice[:3]), terms)
    shares = terms / terms.sum()
    assert_allclose(store.choice_share, [*shares, 1, 1, 1, 1])
    assert_allclose(store.leaf_share, [shares[0], 1, 1, 1, 1])
    assert_allclose(evidence.node_probability, [1, shares[1], shares[1], shares[2], shares[2]])
    assert_allclose(evidence.feature_posterior(np.array([0, 3])), [[shares[1], shares[2], shares[0]], [0, 0, 1]])
    assert_allclose(evidence.feature_inclusion(), shares[1:])


def test_the_rows_of_a_space():
    store = space()
    shares = store.choice_share[:3]
    (weights,) = store.routing.weights(Rows(np.array([[1.0, 4.0], [2.0, 4.0], [2.0, 5.0]])))
    expected = [[1, 1, 0, 1, 0], [1, 0, 1, 1, 0], [1, 0, 1, 0, 1]] * shares[[0, 1, 1, 2, 2]]
    assert_allclose(weights.toarray(), expected)


def test_the_trees_of_a_space():
    store = space()
    selections, scores = best_trees(store, 5)
    terms = store.evidence.log_choice[:3]
    assert_allclose(scores, np.sort(terms)[::-1])
    for selection, score in zip(selections, scores, strict=True):
        tree = selection.to_tree(store)
        assert_allclose(tree.log_posterior(), score)
        below = [[], [1, 2], [3, 4]][np.argmin(np.abs(terms - score))]
        assert_array_equal(tree.posterior, store.posterior[[0, *below]])


# Values that a split has not seen.


def test_both_ways_are_two_choices_with_the_shares_of_the_weight():
    store = both_ways(plain((0, 1.5, [3, 0], [0, 1])))
    assert store.choice_start.tolist() == [0, 2, 3, 4]
    assert store.kind.tolist() == [1, 1, 0, 0]
    assert store.missing_go_to_left.tolist() == [True, False, False, False]
    assert store.choice_share.tolist() == [0.75, 0.25, 1, 1]
    (weights,) = store.routing.weights(Rows(np.array([[1.0, 0.0], [2.0, 0.0], [np.nan, 0.0]])))
    assert_allclose(weights.toarray(), [[0, 1, 0], [0, 0, 1], [0, 0.75, 0.25]])


def test_a_split_that_has_seen_missing_values_knows_their_way():
    tree = plain((0, 1.5, [3, 0], [0, 1]))
    seen = replace(tree, has_missing=np.array([True, False, False]))
    store = both_ways(seen)
    assert_same_store(replace(store, choice_weight=None), seen)
    assert store.choice_share.tolist() == [1, 1, 1]
    (weights,) = store.routing.weights(Rows(np.array([[np.nan, 0.0]])))
    assert weights.toarray().tolist() == [[0, 0, 1]]


@pytest.mark.parametrize("missing_left", [False, True])
def test_a_set_of_categories_knows_missing_values_and_not_new_categories(missing_left):
    tree = plain((0, 1.5, [3, 0], [0, 1]))
    first = np.array([True, False, False])
    tree = replace(
        tree,
        kind=np.array([3, 0, 0], dtype=np.uint8),
        threshold=np.array([np.nan, -2, -2]),
        has_missing=first,
        missing_go_to_left=first & missing_left,
        category_start=np.array([0, 2, 2, 2]),
        category=np.array([0, 1]),
        category_goes_left=np.array([True, False]),
    )
    store = both_ways(tree)
    assert store.category_start.tolist() == [0, 2, 4, 4, 4]
    assert store.category.tolist() == [0, 1, 0, 1]
    (weights,) = store.routing.weights(Rows(np.array([[0.0, 0.0], [1.0, 0.0], [7.0, 0.0], [np.nan, 0.0]])))
    of_missing = [0, 1, 0] if missing_left else [0, 0, 1]
    assert_allclose(weights.toarray(), [[0, 1, 0], [0, 0, 1], [0, 0.75, 0.25], of_missing])


def test_both_ways_of_a_space_and_of_several_trees():
    store = space()
    shares = store.choice_share[:3]
    (weights,) = both_ways(store).routing.weights(Rows(np.array([[np.nan, 5.0]])))
    assert_allclose(weights.toarray()[0], [1, 4 / 7, 3 / 7, 0, 1] * shares[[0, 1, 1, 2, 2]])
    trees = both_ways(plain(SMALL, LEAF))
    (weights,) = trees.routing.weights(Rows(np.array([[0.0, np.nan]])))
    assert_allclose(weights.toarray()[0], [0, 4 / 7 / 2, 3 / 7 / 2, 1 / 2])


# Sums and depths from the structure, against a loop over nodes.


trees = st.recursive(
    st.lists(st.integers(0, 9), min_size=2, max_size=2),
    lambda below: st.tuples(st.just(0), st.just(0.5), below, below),
    max_leaves=12,
)


@given(st.lists(trees, min_size=1, max_size=4))
def test_depths_and_sums_follow_from_the_structure(forest):
    store = plain(*forest)
    left, right, statistics = store.children_left, store.children_right, store.leaves.statistics
    depth = depth_of(left, right, store.roots, store.node_count)
    sums = sum_from_leaves(statistics[store.is_leaf], left, right, depth)
    for node in range(store.node_count):
        assert depth[node] == store.depth[node] == len(store.path(node)) - 1
        below = [leaf for leaf in np.flatnonzero(store.is_leaf) if node in store.path(leaf)]
        assert sums[node].tolist() == statistics[below].sum(axis=0).tolist() == statistics[node].tolist()


def test_the_depth_of_a_graph():
    store = space()
    assert depth_of_graph(store.choice_start, store.children_left, store.children_right).tolist() == [0, 1, 1, 1, 1]
    tree = plain(DEEP)
    assert depth_of_graph(tree.choice_start, tree.children_left, tree.children_right).tolist() == [0, 1, 1, 2, 2]
    skewed = np.where(tree.children_right == 4, 1, tree.children_right)  # node 1 is a child of the root too
    with pytest.raises(ValueError, match="the depth of a node is wrong"):
        depth_of_graph(tree.choice_start, tree.children_left, skewed)


# Fitted stores of every kind.


def fitted():
    """Trees, spaces and forests with every kind of split, smoothed or not, by name."""
    frame, y = raw_frame(200)
    numbers = y + np.where(frame["x"].isna(), 1.0, frame["x"])
    plain_table, target = load_diabetes(return_X_y=True)
    some = {"random_state": 0, "n_estimators": 7}
    return {
        "tree": BayesianTreeClassifier(prior=0.1, partitions="oblique", prune=False).fit(frame, y),
        "smoothed tree": BayesianTreeRegressor(smoothing=0.1).fit(frame, numbers),
        "monotonic tree": BayesianTreeRegressor(monotonic_cst={"x": 1}).fit(frame, numbers),
        "space": TreeSpaceClassifier(max_nodes=60, partitions="oblique").fit(frame, y),
        "smoothed space": TreeSpaceRegressor(max_nodes=60, smoothing=0.1, calibrate=False).fit(frame, numbers),
        "prunings": TreeSpaceRegressor(space="prunings", calibrate=False).fit(plain_table, target),
        "forest": BayesianForestClassifier(**some).fit(frame, y),
        "smoothed forest": BayesianForestRegressor(**some, smoothing=0.1, partitions="axis").fit(frame, numbers),
        "monotonic forest": BayesianForestClassifier(**some, monotonic_cst={"x": 1}).fit(frame, y),
        "leaf": BayesianTreeClassifier().fit([[0.0], [1.0]], ["a", "a"]),
        "space of a leaf": TreeSpaceClassifier(smoothing=0.1).fit([[0.0], [1.0]], ["a", "a"]),
    }


MODELS = fitted()
FORESTS = [name for name in MODELS if "forest" in name]
SPACES = [name for name in MODELS if "space" in name or name == "prunings"]


def store(name):
    return MODELS[name].fitted_.trees


@pytest.mark.parametrize("name", MODELS)
def test_choices_lie_behind_each_other_and_children_behind_their_parents(name):
    trees = store(name)
    assert trees.choice_start[0] == 0
    assert trees.choice_start[-1] == trees.n_choices
    n_choices = np.diff(trees.choice_start)
    assert trees.is_plain == (name not in SPACES or name == "space of a leaf")
    if trees.is_plain:
        assert np.all(n_choices == 1)
    else:  # no split comes first, and is there once
        assert trees.n_trees == 1
        assert np.all(trees.is_leaf[trees.choice_start[:-1]])
    assert np.count_nonzero(trees.is_leaf) <= trees.node_count
    assert trees.roots[0] == 0
    assert np.all(np.diff(trees.roots) > 0)
    splits = np.flatnonzero(~trees.is_leaf)
    for children in (trees.children_left, trees.children_right):
        assert np.all(children[trees.is_leaf] == -1)
        assert np.all(children[splits] > trees.owner[splits])
        assert_array_equal(trees.depth[children[splits]], trees.depth[trees.owner[splits]] + 1)
        assert_array_equal(trees.tree_of_node[children[splits]], trees.tree_of_node[trees.owner[splits]])
    reached = np.unique(np.concatenate([trees.roots, trees.children_left[splits], trees.children_right[splits]]))
    assert_array_equal(reached, np.arange(trees.node_count))
    assert_allclose(np.bincount(trees.owner, weights=trees.choice_share), 1)


@pytest.mark.parametrize("name", MODELS)
def test_arrays_have_their_lengths_and_are_read_only(name):
    trees = store(name)
    of_nodes = ("depth", "n_node_samples", "log_prior_leaf", "log_odds_split", "feature_posterior", "complete")
    expected = {"roots": trees.n_trees, "choice_start": trees.node_count + 1}
    expected |= dict.fromkeys(of_nodes, trees.node_count)
    for start, others in RAGGED.items():
        expected |= {start: trees.n_choices + 1} | dict.fromkeys(others, getattr(trees, start)[-1])
    for array_name, array in trees.arrays().items():
        lengths = {expected.get(array_name, trees.n_choices)}
        if array_name in ("log_odds_split", "feature_posterior") and name in (*SPACES, *FORESTS):
            lengths.add(0)  # not kept
        assert len(array) in lengths, array_name
        assert not array.flags.writeable, array_name
    leaves = trees.leaves
    for array_name in ("prior", "statistics", "posterior", "value", "weight", "log_likelihood"):
        array = getattr(leaves, array_name)
        assert len(array) == trees.node_count, array_name
        assert not array.flags.writeable, array_name


@pytest.mark.parametrize("name", FORESTS)
def test_a_forest_is_its_trees_one_behind_the_other(name):
    forest = store(name)
    n = forest.n_trees
    assert n == 7
    for first in range(n):
        for stop in range(first + 1, n + 1):
            part = forest.trees_between(first, stop)
            assert part.n_trees == stop - first
            assert_same_store(concatenate_stores([forest.tree(t) for t in range(first, stop)]), part, strict=True)
    assert_same_store(
        concatenate_stores([forest.trees_between(0, 3), forest.tree(3), forest.trees_between(4, n)]), forest
    )
    assert forest.trees_between(0, n) is forest
    for max_nodes in (1, 40, 10**9):
        assert_same_store(concatenate_stores(list(forest.parts(max_nodes))), forest)


@pytest.mark.parametrize("name", FORESTS)
def test_the_nodes_of_a_tree_are_those_of_the_forest(name):
    model, forest = MODELS[name], store(name)
    rows = model._read_all(raw_frame(200)[0])
    leaves, _ = forest.routing.leaves(rows)
    ends = [*forest.roots, forest.node_count]
    for t in range(forest.n_trees):
        tree, nodes = forest.tree(t), slice(ends[t], ends[t + 1])
        assert (tree.n_trees, tree.roots.tolist(), tree.node_count) == (1, [0], ends[t + 1] - ends[t])
        assert_array_equal(tree.routing.leaf(rows)[0], leaves[:, t] - ends[t])
        assert [tree.split(i) for i in tree.internal_nodes] == [
            forest.split(ends[t] + i) for i in tree.internal_nodes.tolist()
        ]
        for array_name in ("posterior", "value", "log_likelihood", "n_node_samples", "depth", "log_likelihood_split"):
            assert_array_equal(getattr(tree, array_name), getattr(forest, array_name)[nodes], err_msg=array_name)


@pytest.mark.parametrize("name", FORESTS)
def test_a_tree_of_a_forest_is_the_one_that_is_grown_alone(name):
    model, (frame, y) = MODELS[name], raw_frame(200)
    y = y + np.where(frame["x"].isna(), 1.0, frame["x"]) if "smoothed" in name else y
    data = prepare(model, model._memory_source(frame, y, None, {}), model._target_reader()).data
    outcome = model.fitted_.leaf_outcome
    plan = replace(model._plan(data, outcome, None), first=0, n_trees=7)
    forest = grow_forest(data.columns, data.target, outcome, data.growth, plan)
    for t in (0, 3, 6):
        alone = grow_forest(data.columns, data.target, outcome, data.growth, replace(plan, first=t, n_trees=1))
        assert_same_store(forest.tree(t), alone, strict=True)


@pytest.mark.parametrize("carry", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy], ids=["pickle", "copy"])
@pytest.mark.parametrize("name", MODELS)
def test_a_copy_has_all_that_was_fitted_and_nothing_that_was_worked_out(name, carry):
    model = MODELS[name]
    fresh = carry(model.fitted_.trees)
    before = len(pickle.dumps(fresh))
    table = load_diabetes(return_X_y=True)[0] if name == "prunings" else raw_frame(200)[0]
    if "leaf" not in name:
        model.predict(table)
    _ = (
        model.feature_importances_,
        fresh.evidence.node_probability,
        fresh.leaf_share,
        fresh.routing,
        every_array(fresh),
    )
    assert len(pickle.dumps(fresh)) == before
    again = carry(fresh)
    assert vars(again).keys() == {field.name for field in fields(TreeStore)}
    assert vars(again.leaves).keys() == {field.name for field in fields(ConstantLeaves)}
    assert_same_store(store(name), again, strict=True)
    assert not any(array.flags.writeable for array in [*again.arrays().values(), again.prior, again.leaves.statistics])
    assert again.evidence.log_evidence_bound == store(name).evidence.log_evidence_bound
    assert again.prior.strides == store(name).prior.strides  # one row of memory where all nodes have the same


def test_a_smoothed_space_has_no_bound_before_it_is_complete():
    X, y = np.arange(12.0)[:, None], np.arange(12) % 2
    for smoothing, is_known in ((0.0, True), (0.2, False)):
        model = TreeSpaceClassifier(partition_prior=0.01, max_nodes=0, smoothing=smoothing).fit(X, y)
        assert model.space_.node_count == 1  # so that all nodes have one prior
        assert not model.space_.is_complete
        assert np.isfinite(model.log_evidence_bound_) == is_known
        complete = TreeSpaceClassifier(max_nodes=None, smoothing=smoothing).fit(X[:5], y[:5])
        assert complete.space_.is_complete
        assert_allclose(complete.log_evidence_bound_, complete.log_evidence_)


def test_two_forests_behind_each_other_predict_the_mean_of_both():
    X, y = load_iris(return_X_y=True)
    one, other = (BayesianForestClassifier(n, random_state=n).fit(X, y).fitted_ for n in (2, 4))
    rows = one.schema.read(X)
    both = replace(one, trees=concatenate_stores([one.trees, other.trees]))
    assert_allclose(both.mean(rows), (2 * one.mean(rows) + 4 * other.mean(rows)) / 6)
