"""The most probable pruning, held to all prunings there are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, load
from tests import strategies
from tests.comparison import all_prunings, assert_same_store, raw_frame

UNLIMITED = {"prune": True, "max_leaf_nodes": None}


def assert_most_probable(model):
    grown = model.grown_tree_
    if grown.n_leaves > 9:
        return
    prunings = list(all_prunings(grown))
    best = max(score for score, _ in prunings)
    close = 1e-8 * (1 + abs(best))
    assert_allclose(model.log_posterior_, best, atol=close)
    fewest = min(len(kept) for score, kept in prunings if score >= best - 1e-12 * (1 + abs(best)))
    assert model.get_n_leaves() <= 1 + fewest
    assert model.log_posterior_ >= grown.log_posterior() - close


@given(strategies.raw_problems())
def test_the_tree_of_classes_is_the_best_of_all_prunings(problem):
    X, y, weight, parameters = problem
    assert_most_probable(BayesianTreeClassifier(**parameters | UNLIMITED).fit(X, y, sample_weight=weight))


@given(strategies.real_problems(raw=True))
def test_the_tree_of_numbers_is_the_best_of_all_prunings(problem):
    X, name, y, weight, extras, _, parameters = problem
    model = BayesianTreeRegressor(outcome=name, calibrate=False, **parameters | UNLIMITED)
    assert_most_probable(model.fit(X, y, sample_weight=weight, **extras))


@pytest.mark.parametrize("options", [{"lookahead": 1}, {"partitions": "oblique"}, {"smoothing": 0.2}, {}], ids=str)
def test_larger_trees_lose_what_they_need_not(options):
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianTreeClassifier(**options).fit(X, y)
    grown = BayesianTreeClassifier(prune=False, **options).fit(X, y)
    assert_array_equal(model.grown_tree_.threshold, grown.tree_.threshold)
    assert model.log_posterior_ >= grown.log_posterior_
    assert model.log_evidence_ == grown.log_evidence_
    assert_most_probable(model)


def pruned_model():
    X, y = load_diabetes(return_X_y=True)
    model = BayesianTreeRegressor(partition_prior=0.99).fit(X, y)
    assert model.get_n_leaves() < model.grown_tree_.n_leaves
    return model, X, y


def test_nodes_that_became_leaves_say_what_was_against_them():
    model, *_ = pruned_model()
    leaves = np.flatnonzero(model.tree_.is_leaf)
    was_split = [leaf for leaf in leaves if not model.grown_tree_.is_leaf[model.fitted_.grown_node(leaf)]]
    assert was_split
    for leaf in was_split:
        node = model.fitted_.grown_node(leaf)
        assert model.tree_.n_node_samples[leaf] == model.grown_tree_.n_node_samples[node]
        below = max(score for score, kept in all_prunings(model.grown_tree_, node) if kept)
        as_leaf = model.tree_.log_prior_leaf[leaf] + model.tree_.log_likelihood[leaf]
        assert_allclose(model.tree_.log_odds_split[leaf], below - as_leaf, rtol=1e-9)
    assert np.all(model.tree_.log_odds_split[leaves] <= 1e-6)


def test_an_explanation_tells_of_the_split_that_was_pruned():
    model, X, _ = pruned_model()
    told = [explanation for explanation in model.explain(X) if explanation.pruned is not None]
    assert told
    for explanation in told:
        assert explanation.pruned.log_odds <= 0
        assert f"a further split on {explanation.pruned.feature} was " in str(explanation)
        assert str(explanation).count(":1 against") == 1
        assert explanation.pruned.feature in explanation._repr_html_()
    whole = BayesianTreeRegressor(prune=False).fit(X, model.predict(X))
    assert all(explanation.pruned is None for explanation in whole.explain(X[:20]))


def test_what_was_pruned_is_in_the_file(tmp_path):
    model, X, y = pruned_model()
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert_same_store(model.grown_tree_, again.grown_tree_)
    assert again.log_evidence_ == model.log_evidence_
    assert str(again.explain(X[:5])) == str(model.explain(X[:5]))
    more = model.partial_fit(X[:50], y[:50])
    assert more.grown_tree_.n_node_samples[0] == more.tree_.n_node_samples[0] == len(X) + 50


def test_trees_of_a_space_have_nothing_pruned():
    frame, y = raw_frame()
    tree = TreeSpaceClassifier(max_nodes=50).fit(frame, y).readable_tree_
    assert tree.grown_tree_ is tree.tree_


def test_prune_must_be_true_or_false():
    with pytest.raises(TypeError, match="prune must be True or False; got 'yes'"):
        BayesianTreeClassifier(prune="yes").fit([[0.0], [1.0]], [0, 1])
