"""The tree space against all trees, one by one."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor
from baytree.outcomes import NegativeBinomial
from tests import strategies
from tests.comparison import assert_same_arrays, assert_same_store, oracle_settings
from tests.own_outcomes import Counts
from tests.reference import outcomes
from tests.reference.space import every_tree
from tests.reference.tree import Problem, log_sum_exp

SMALL = {"max_rows": 6, "max_features": 2}
EVERYTHING = 10**9


def oracle_trees(X, outcome, prior, parameters):
    problem = Problem(X.astype(float).tolist(), outcome, oracle_settings(prior, parameters))
    return every_tree(problem)


def signature(model, X, rows=None, node=0):
    """The oracle's signature of a fitted tree."""
    tree = model.tree_
    if rows is None:
        rows = model.decision_path(X).toarray().astype(bool)
    if tree.children_left[node] < 0:
        return "leaf"
    left, right = tree.children_left[node], tree.children_right[node]
    rows_of_node = tuple(np.flatnonzero(rows[:, left]).tolist())
    return (int(tree.feature[node]), rows_of_node, signature(model, X, rows, left), signature(model, X, rows, right))


def shares_of(trees):
    total = log_sum_exp([tree.log_posterior for tree in trees])
    return total, {tree.signature: math.exp(tree.log_posterior - total) for tree in trees}


def assert_same_space(model, X, outcome, parameters, tolerance=1e-8):
    """Compare evidence, weights, the best trees, predictions and features with the list of all trees."""
    trees = oracle_trees(X, outcome, model.prior_, parameters)
    evidence, expected = shares_of(trees)
    assert len(expected) == len(trees)
    assert model.space_.is_complete
    close = {"rtol": tolerance, "atol": tolerance}
    assert_allclose(model.log_evidence_, evidence, **close)
    assert_allclose(model.log_evidence_bound_, evidence, **close)
    assert_allclose(model.log_posterior_, max(tree.log_posterior for tree in trees), **close)

    best_trees, shares = model.best_trees(50), model.tree_probabilities(50)
    listed = shares[: len(model.trees_)]
    assert len(listed) == min(len(trees), 10)
    assert_allclose(model.weights_.sum(), 1)
    assert_allclose(model.weights_, listed / listed.sum(), rtol=1e-9, atol=1e-300)
    assert np.all(np.diff(shares) <= 1e-8)
    assert len(best_trees) == min(len(trees), 50)
    signatures = [signature(tree, X) for tree in best_trees]
    assert len(set(signatures)) == len(best_trees)
    assert_allclose(shares, [expected[key] for key in signatures], rtol=1e-6, atol=1e-9)
    assert_allclose(best_trees[0].log_posterior_, model.log_posterior_, **close)
    assert signature(model.readable_tree_, X) == signatures[0]

    distinct = {(node.rows, node.depth, node.prior) for tree in trees for node in tree.nodes()}
    if parameters.get("monotonic_cst") is None and parameters.get("smoothing", 0) == 0:
        assert model.space_.node_count == len(distinct)
    assert_allclose(
        model.space_.evidence.node_probability @ model.space_.leaf_share, sum_over(trees, evidence, n_leaves), rtol=1e-6
    )

    for i in range(len(X)):
        mean = sum_over(trees, evidence, lambda tree, i=i: mean_of(outcome, tree.leaf_of(i)))
        predicted = model.predict_proba(X[[i]])[0] if model.fitted_.classes is not None else model.predict(X[[i]])
        assert_allclose(predicted, mean, rtol=1e-6, atol=1e-9)
    for feature in range(X.shape[1]):
        at_root = sum_over(trees, evidence, lambda tree, f=feature: splits_along(tree, f))
        anywhere = sum_over(trees, evidence, lambda tree, f=feature: any(splits_along(n, f) for n in tree.nodes()))
        assert_allclose(model.feature_posterior_[feature], at_root, rtol=1e-6, atol=1e-9)
        assert_allclose(model.feature_inclusion_[feature], anywhere, rtol=1e-6, atol=1e-9)


def sum_over(trees, evidence, function):
    return sum(np.multiply(math.exp(tree.log_posterior - evidence), function(tree)) for tree in trees)


def n_leaves(tree):
    return sum(node.partition is None for node in tree.nodes())


def mean_of(outcome, leaf):
    return np.array(outcome.mean(outcome.update(leaf.rows, list(leaf.prior))))


def splits_along(node, feature):
    return float(node.partition is not None and node.partition.feature == feature)


def without_limit(parameters):
    return {name: value for name, value in parameters.items() if name not in ("max_leaf_nodes", "prune")}


@strategies.examples(2)
@given(strategies.raw_problems(min_rows=(2, 5), **SMALL))
def test_the_space_of_class_labels_is_all_trees(problem):
    X, y, weight, parameters = problem
    parameters = without_limit(parameters)
    model = TreeSpaceClassifier(max_nodes=EVERYTHING, **parameters).fit(X, y, sample_weight=weight)
    outcome = outcomes.Categorical(y.tolist(), [1.0] * len(y) if weight is None else list(weight), len(model.classes_))
    assert_same_space(model, X, outcome, parameters)


@strategies.examples(2)
@given(st.one_of(strategies.real_problems(**SMALL), strategies.real_problems(raw=True, **SMALL)))
def test_the_space_of_every_real_outcome_is_all_trees(problem):
    X, name, y, weight, extras, outcome, parameters = problem
    parameters = without_limit(parameters)
    model = TreeSpaceRegressor(outcome=name, max_nodes=EVERYTHING, **parameters)
    model.fit(X, y, sample_weight=weight, **extras)
    if not np.all(np.isfinite(model.space_.value)):  # durations may have no mean
        return
    assert_same_space(model, X, outcome, parameters, tolerance=1e-6)


@given(strategies.raw_problems(min_rows=(2, 5), **SMALL), st.sampled_from([0, 1, 3, 10]))
def test_the_bound_holds_what_is_not_explored(problem, max_nodes):
    X, y, weight, parameters = problem
    parameters = without_limit(parameters)
    part, whole = (
        TreeSpaceClassifier(max_nodes=n, **parameters).fit(X, y, sample_weight=weight) for n in (max_nodes, EVERYTHING)
    )
    assert part.log_evidence_ <= whole.log_evidence_ + 1e-9
    assert whole.log_evidence_ <= part.log_evidence_bound_ + 1e-9


def test_an_outcome_of_your_own_has_a_space():
    random = np.random.default_rng(0)
    X, y = random.integers(0, 3, (6, 2)).astype(float), random.poisson(3, 6)
    custom = TreeSpaceRegressor(outcome=Counts(), max_nodes=EVERYTHING).fit(X, y)
    built_in = TreeSpaceRegressor(outcome="poisson", prior=Counts.prior, max_nodes=EVERYTHING).fit(X, y)
    assert_allclose(custom.log_evidence_, built_in.log_evidence_)
    assert_allclose(custom.weights_, built_in.weights_)
    assert_allclose(custom.predict(X), built_in.predict(X))
    assert_allclose(custom.predict_interval(X), built_in.predict_interval(X))


DRAWN = {  # outcomes, prior, the oracle's outcome
    "categorical": ([0, 0, 0, 1, 1, 1], [0.3, 0.3], lambda y, weight: outcomes.Categorical(y, weight, 2)),
    "normal": ([0.0, 0.2, 1.0, 2.0, 2.1, 3.0], [1.0, 0.5, 2.0, 1.0], outcomes.Normal),
    "poisson": ([0, 1, 1, 2, 4, 6], [1.0, 0.5], lambda y, weight: outcomes.Poisson(y, weight, None)),
    "negative_binomial": (
        [0, 1, 1, 2, 4, 6],
        [1.0, 1.5],
        lambda y, weight: outcomes.NegativeBinomial(y, weight, None, dispersion=0.5),
    ),
    "exponential": (
        [0.1, 0.3, 0.5, 1.0, 2.0, 5.0],
        [2.0, 2.0],
        lambda y, weight: outcomes.Exponential(y, weight, None),
    ),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", DRAWN)
def test_draws_come_from_the_posterior(name, seed):
    random = np.random.default_rng(seed)
    values, prior, make = DRAWN[name]
    X, y = random.integers(0, 4, (6, 2)).astype(float), random.permutation(values)
    outcome = NegativeBinomial(dispersion=0.5) if name == "negative_binomial" else name
    kind = TreeSpaceClassifier() if name == "categorical" else TreeSpaceRegressor(outcome=outcome)
    model = kind.set_params(prior=prior, max_nodes=EVERYTHING).fit(X, y)
    _, expected = shares_of(oracle_trees(X, make(y.tolist(), [1.0] * 6), prior, {}))
    n = 2500
    drawn = Counter(signature(tree, X) for tree in model.sample_trees(n, random_state=seed))
    assert set(drawn) <= set(expected)
    common = [tree for tree, share in expected.items() if n * share >= 5]
    observed = [drawn[tree] for tree in common]
    shares = [expected[tree] for tree in common]
    rare = [n - sum(observed)], [1 - sum(shares)]
    assert len(common) > 10
    assert stats.chisquare(observed + rare[0], n * np.array(shares + rare[1])).pvalue > 1e-4


def test_draws_can_be_repeated():
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeSpaceClassifier(max_nodes=100).fit(X, y)
    first, again, other = (model.sample_trees(5, random_state=seed) for seed in (3, 3, 4))
    assert [tree.log_posterior_ for tree in first] == [tree.log_posterior_ for tree in again]
    assert [tree.log_posterior_ for tree in first] != [tree.log_posterior_ for tree in other]


PROBLEMS = {
    "classes": (TreeSpaceClassifier, BayesianTreeClassifier, load_breast_cancer),
    "numbers": (TreeSpaceRegressor, BayesianTreeRegressor, load_diabetes),
}


@pytest.mark.parametrize("kind", PROBLEMS)
def test_more_budget_never_lowers_the_evidence(kind):
    Space, _, load = PROBLEMS[kind]
    X, y = load(return_X_y=True)
    models = [Space(max_nodes=n).fit(X, y) for n in (0, 1, 5, 20, 50, 100, 300, 1000)]
    evidence = [model.log_evidence_ for model in models]
    assert np.all(np.diff(evidence) >= 0)
    assert evidence[-1] > evidence[0] + 1
    assert np.all(np.diff([model.log_posterior_ for model in models]) >= 0)
    bounds = [model.log_evidence_bound_ for model in models]
    assert all(bound > value for bound, value in zip(bounds, evidence, strict=True))


@pytest.mark.parametrize("kind", PROBLEMS)
def test_any_number_of_threads_gives_the_same_numbers(kind):
    Space, _, load = PROBLEMS[kind]
    X, y = load(return_X_y=True)
    X[::7, 2] = np.nan
    models = [Space(max_nodes=200, n_jobs=n).fit(X, y) for n in (None, 2, 5)]
    for other in models[1:]:
        assert_same_store(models[0].space_, other.space_)
        assert_array_equal(models[0].predict(X), other.predict(X))


@pytest.mark.parametrize("kind", PROBLEMS)
def test_prunings_are_those_of_the_greedy_tree(kind):
    Space, Single, load = PROBLEMS[kind]
    X, y = load(return_X_y=True)
    space = Space(space="prunings").fit(X, y)
    tree = Single(prior=space.prior_, prune=False).fit(X, y)
    assert_allclose(space.log_evidence_, tree.log_evidence_)
    assert space.space_.node_count == tree.tree_.node_count
    assert_allclose(Space(max_nodes=0).fit(X, y).log_evidence_, space.log_evidence_)
    # A row's prediction mixes the values of the nodes on its path.
    weights, _ = space.posterior_mixture(X[:20])
    path = tree.decision_path(X[:20])
    assert_array_equal(np.sort(np.diff(weights.indptr)), np.sort(np.diff(path.indptr)))


def test_roots_differ_and_the_rest_is_greedy():
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeSpaceClassifier(space="roots", max_nodes=200).fit(X, y)
    n_splits = np.array([len(model.space_.splits_of(node)) for node in range(model.space_.node_count)])
    assert n_splits[0] > 5
    assert np.all(n_splits[1:] <= 1)
    first = model.space_.splits_of(0)[0]
    greedy = BayesianTreeClassifier(prior=model.prior_).fit(X, y)
    assert model.space_.threshold[first] == greedy.tree_.threshold[0]


@pytest.mark.parametrize("kind", PROBLEMS)
def test_trees_are_estimators_like_any_other(kind, tmp_path):
    from baytree import load as load_model
    from baytree.export import to_text

    Space, Single, load = PROBLEMS[kind]
    X, y = load(return_X_y=True, as_frame=True)
    model = Space(max_nodes=100).fit(X, y)
    assert len(model.trees_) == len(model.weights_) == len(model.tree_probabilities()) == 10
    assert len(model.best_trees(4)) == len(model.tree_probabilities(4)) == 4
    assert 0 < model.tree_probabilities(4).sum() < model.tree_probabilities().sum() < 1
    tree = model.readable_tree_
    assert isinstance(tree, Single)
    assert list(tree.feature_names_in_) == list(X.columns)
    assert "split" in to_text(tree)
    assert to_text(model) == to_text(tree)
    of_space = model.explain(X[:1])[0]
    assert of_space.illustration.steps == tree.explain(X[:1])[0].steps
    assert "the average over all trees of the space" in of_space.note
    assert of_space.note in str(of_space)
    assert_array_equal(model.apply(X), tree.apply(X))
    assert_array_equal(model.posterior(X), tree.posterior(X))
    assert model.get_n_leaves() == tree.get_n_leaves()
    tree.save(tmp_path / "tree.json")
    assert_array_equal(load_model(tmp_path / "tree.json").predict(X), tree.predict(X))
    assert_allclose(tree.log_posterior_, model.log_posterior_)
    # All trees hold every row once, and their evidence is no higher than the space's.
    for one in model.trees_:
        assert one.tree_.n_node_samples[one.tree_.is_leaf].sum() == len(X)
        assert one.log_posterior_ <= model.log_evidence_
    # The tree grown on its own prior is what its parameters say.
    assert_array_equal(tree.prior_, model.prior_)


def test_alternatives_add_up():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = TreeSpaceClassifier(max_nodes=300).fit(X, y)
    for node in range(model.readable_tree_.tree_.node_count):
        alternatives = model.alternatives(node)
        assert math.isclose(sum(alternative.share for alternative in alternatives), 1, rel_tol=1e-9)
        assert all(a.share >= b.share for a, b in pairwise(alternatives))
    root = model.alternatives()
    assert root[0].share == model.space_.choice_share[model.space_.choices_of(0)].max()
    assert root[0].rule in str(root)
    assert root[0].n_left + root[0].n_right == len(X)
    by_feature = np.zeros(X.shape[1] + 1)
    for alternative in root:
        by_feature[-1 if alternative.feature is None else alternative.feature] += alternative.share
    assert_allclose(by_feature, model.feature_posterior_, atol=1e-12)
    with pytest.raises(ValueError, match="nodes; got 10000"):
        model.alternatives(10_000)


def test_importances_are_an_average_over_trees():
    random = np.random.default_rng(1)
    X, y = random.integers(0, 3, (6, 2)).astype(float), random.integers(0, 2, 6)
    model = TreeSpaceClassifier(prior=0.3, max_nodes=EVERYTHING).fit(X, y)
    gains = [
        np.bincount(
            tree.tree_.feature[~tree.tree_.is_leaf],
            weights=np.maximum(tree.tree_.gain()[~tree.tree_.is_leaf], 0),
            minlength=2,
        )
        for tree in model.best_trees(10_000)
    ]
    average = model.tree_probabilities(10_000) @ np.array(gains)
    assert_allclose(model.feature_importances_, average / average.sum(), rtol=1e-6)


def test_predictions_follow_constraints():
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeSpaceClassifier(max_nodes=200, monotonic_cst={7: -1, 20: -1}).fit(X, y)
    for feature in (7, 20):
        row = np.repeat(X[[10, 50, 300]], 60, axis=0)
        row[:, feature] = np.tile(np.linspace(X[:, feature].min(), X[:, feature].max(), 60), 3)
        proba = model.predict_proba(row)[:, 1].reshape(3, 60)
        assert np.all(np.diff(proba, axis=1) <= 1e-12)
        assert np.ptp(proba) > 0.01 or feature == 7


def test_one_row_and_one_class_have_a_space():
    model = TreeSpaceClassifier().fit([[1.0]], ["a"])
    assert model.predict([[2.0]]) == ["a"]
    assert model.weights_.tolist() == [1.0]
    assert model.feature_posterior_.tolist() == [0.0, 1.0]
    assert model.log_evidence_ == model.log_evidence_bound_
    assert len(model.alternatives()) == 1
    model = TreeSpaceRegressor().fit([[1.0], [2.0]], [3.0, 3.0])
    assert model.get_n_leaves() == 1
    assert_allclose(model.predict([[0.0]]), 3)


def test_look_ahead_finds_what_no_single_split_shows():
    for seed in range(10):
        random = np.random.default_rng(seed)
        X = random.random((400, 6))
        y = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
        assert BayesianTreeClassifier().fit(X, y).score(X, y) < 0.65
        assert BayesianTreeClassifier(lookahead=1).fit(X, y).score(X, y) > 0.95
        number = y + random.normal(scale=0.1, size=400)
        assert BayesianTreeRegressor(lookahead=1).fit(X, number).score(X, number) > 0.8


@pytest.mark.parametrize("kind", PROBLEMS)
def test_look_ahead_is_the_same_on_any_number_of_threads(kind):
    _, Single, load = PROBLEMS[kind]
    X, y = load(return_X_y=True)
    models = [Single(lookahead=1, n_jobs=n).fit(X, y) for n in (None, 3)]
    assert_same_arrays(*models)
    assert models[0].log_posterior_ != Single().fit(X, y).log_posterior_


def test_a_time_limit_keeps_what_was_explored():
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeSpaceClassifier(max_nodes=EVERYTHING, time_limit=0.3).fit(X, y)
    assert model.log_evidence_ >= TreeSpaceClassifier(max_nodes=0).fit(X, y).log_evidence_
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    at_once = TreeSpaceClassifier(time_limit=0).fit(X, y)
    assert_allclose(at_once.log_evidence_, TreeSpaceClassifier(space="prunings").fit(X, y).log_evidence_)


def test_progress_is_shown_on_request(capsys):
    X, y = load_breast_cancer(return_X_y=True)
    TreeSpaceClassifier(max_nodes=50).fit(X, y)
    assert capsys.readouterr() == ("", "")
    TreeSpaceClassifier(max_nodes=50, verbose=True).fit(X, y)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.search(r"Tree space, log evidence -[\d.]+: \d+ nodes", shown.err)
    assert shown.err.endswith("\n")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"space": "some"}, "space must be one of 'all', 'roots', 'prunings'"),
        ({"max_nodes": -1}, "max_nodes must be"),
        ({"max_nodes": 2.5}, "max_nodes must be"),
        ({"max_nodes": "many"}, "max_nodes must be"),
        ({"time_limit": -1}, "time_limit must be"),
        ({"time_limit": np.nan}, "time_limit must be"),
        ({"prior": -1.0}, "prior must be"),
    ],
)
def test_bad_parameters_are_refused_before_anything_changes(parameters, words):
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeSpaceClassifier(max_nodes=10).fit(X, y)
    before = dict(vars(model))
    model.set_params(**parameters)
    with pytest.raises((ValueError, TypeError), match=words):
        model.fit(X, y)
    assert model.fitted_ is before["fitted_"]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda model: model.best_trees(0), "n_trees must be"),
        (lambda model: model.tree_probabilities(2.5), "n_trees must be"),
        (lambda model: model.sample_trees(0), "k must be"),
        (lambda model: model.sample_trees(2, random_state="x"), "seed"),
        (lambda model: model.alternatives(-1), "node must be"),
    ],
)
def test_bad_arguments_are_refused(ask, words):
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises((ValueError, TypeError), match=words):
        ask(TreeSpaceClassifier(max_nodes=10).fit(X, y))


@pytest.mark.parametrize("lookahead", [-1, 0.5, "1"])
def test_bad_look_ahead_is_refused(lookahead):
    with pytest.raises((ValueError, TypeError), match="lookahead must be"):
        BayesianTreeClassifier(lookahead=lookahead).fit([[0.0], [1.0]], [0, 1])


def test_infinite_values_are_refused_at_predict():
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeSpaceClassifier(max_nodes=10).fit(X, y)
    X[3, 4] = np.inf
    with pytest.raises(ValueError, match="Column 4"):
        model.predict(X)


def test_trees_may_be_deeper_than_pythons_stack():
    n = 3000
    X, y = np.eye(n)[:, : n // 2], (np.arange(n) < n // 2).astype(int)
    model = TreeSpaceClassifier(max_nodes=0, prior=0.01).fit(X, y, np.full(n, 50.0))
    assert model.get_depth() > 1000
    assert_allclose(model.weights_.sum(), 1)
    assert len(model.best_trees(3)) == 3
    assert len(model.alternatives()) == 2


def test_the_odds_of_a_tree_are_those_of_its_own_splits():
    random = np.random.default_rng(0)
    X = random.random((400, 2))
    y = X[:, 0] + 0.2 * random.normal(size=400) > 0.5
    model = TreeSpaceClassifier(max_depth=1).fit(X, y)
    leaf = model.alternatives()[-1] if model.alternatives()[-1].feature is None else None
    for tree, share in zip(model.best_trees(100), model.tree_probabilities(100), strict=True):
        if tree.get_n_leaves() == 2 and leaf is not None:
            assert_allclose(tree.tree_.log_odds_split[0], np.log(share) - np.log(leaf.share), rtol=1e-6)
    assert model.readable_tree_.tree_.log_odds_split[0] > 0


def test_what_was_fitted_does_not_change_with_the_parameters():
    X, y = load_breast_cancer(return_X_y=True)
    model = TreeSpaceClassifier(max_nodes=100).fit(X, y)
    assert len(model.trees_) == 10
    before = model.tree_probabilities(3)
    model.set_params(space="nonsense", max_depth="x", monotonic_cst=[1] * 30)
    assert len(model.best_trees(3)) == 3
    assert_array_equal(model.tree_probabilities(3), before)
    assert model.readable_tree_.get_n_leaves() > 2


def test_no_limit_can_be_said_in_words():
    X, y = load_breast_cancer(return_X_y=True)
    all_of = TreeSpaceClassifier(max_nodes=None, time_limit=np.inf).fit(X[:6, :2], y[:6])
    assert all_of.space_.is_complete


def test_alternatives_tell_categories_and_missing_values():
    random = np.random.default_rng(0)
    city = random.choice(["a", "b", "c", None], 200)
    y = (city == "a") ^ (random.random(200) < 0.1)
    model = TreeSpaceClassifier(max_nodes=50, categorical_features=[0]).fit(city[:, None], y)
    first = model.alternatives()[0]
    assert first.categories in (("a",), ("b", "c"))
    assert first.missing_go_to_left is (first.categories != ("a",))
    assert first.threshold is None
    assert repr(model.alternatives()) == str(model.alternatives())
