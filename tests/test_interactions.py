"""Columns that may stand on one path: every grower, source and space, held to the oracle."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    PartitionPrior,
    TreeSpaceClassifier,
    engines,
    load,
)
from baytree.estimators._fit import prepare
from baytree.growth import Growth, refit
from baytree.sources import _batches
from tests import strategies
from tests.comparison import (
    assert_nodes_say_the_truth,
    assert_same_arrays,
    assert_same_classes,
    assert_same_store,
    assert_same_tree,
    class_prior,
    engine,
    oracle_settings,
    raw_frame,
)
from tests.reference import outcomes
from tests.reference.draws import FeatureDraw
from tests.reference.space import every_tree
from tests.reference.tree import Problem, log_sum_exp
from tests.sources import divided, fitted_in_memory, model_of, table_of


@st.composite
def column_sets(draw, n_features):
    """Sets of columns, some of which overlap or leave columns out."""
    columns = st.integers(0, n_features - 1)
    sets = draw(st.lists(st.sets(columns, min_size=1, max_size=n_features), min_size=1, max_size=4))
    return [set(columns) for columns in sets]


def used_on_paths(tree):
    """The columns on the way to every leaf."""
    paths, result = {int(root): frozenset() for root in tree.roots}, []
    for node in range(tree.node_count):
        if tree.kind[node] == 0:
            result.append(paths[node])
            continue
        used = paths[node] | set(tree.split(node).features)
        paths[int(tree.children_left[node])] = paths[int(tree.children_right[node])] = used
    return result


def assert_paths_keep_to(sets, tree):
    everything = set(range(tree.n_features))
    sets = [*sets, everything.difference(*sets)]
    for used in used_on_paths(tree):
        assert any(used <= set(columns) for columns in sets), (used, sets)


@strategies.examples(3)
@given(strategies.raw_problems(max_features=4), st.data(), st.sampled_from([1, 4096]))
def test_trees_of_classes_equal_the_oracle(problem, data, subtree_rows):
    X, y, weight, parameters = problem
    parameters |= {"interaction_cst": data.draw(column_sets(X.shape[1]))}
    with engine(subtree_rows=subtree_rows):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters)


@strategies.examples(3)
@given(strategies.real_problems(raw=True, max_features=4), st.data(), st.sampled_from([1, 4096]))
def test_trees_of_numbers_equal_the_oracle(problem, data, subtree_rows):
    X, name, y, weight, extras, outcome, parameters = problem
    parameters |= {"interaction_cst": data.draw(column_sets(X.shape[1]))}
    with engine(subtree_rows=subtree_rows):
        model = BayesianTreeRegressor(outcome=name, **parameters).fit(X, y, sample_weight=weight, **extras)
    assert_same_tree(model, X, outcome, model.prior_, parameters, tolerance=1e-7)


def three_way_table(n=200, seed=0):
    """A table whose outcome needs three columns on a path; the fourth is noise."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 12, (n, 4)).astype(float)
    signal = 2 * (X[:, 0] > 5) + (X[:, 1] > 3) * (X[:, 0] > 5) + (X[:, 2] > 7) * (X[:, 1] > 3)
    return X, signal + 0.3 * random.normal(size=n)


@pytest.mark.parametrize("sets", [[{0, 1}, {2}], [{0, 1}, {1, 2}, {0, 3}], [{0, 3}, {1, 2}]])
@pytest.mark.parametrize("n_bins", [4, 16])
def test_deeper_trees_and_large_nodes_equal_the_oracle(sets, n_bins):
    X, y = three_way_table()
    parameters = {"partition_prior": PartitionPrior(split=0.99), "prune": False, "interaction_cst": sets}
    free = BayesianTreeRegressor(**parameters | {"interaction_cst": None}).fit(X, y)
    with engine(subtree_rows=10, n_bins=n_bins):
        model = BayesianTreeRegressor(**parameters).fit(X, y)
    assert model.tree_.max_depth > 0
    assert_paths_keep_to(sets, model.tree_)
    with pytest.raises(AssertionError):
        assert_paths_keep_to(sets, free.tree_)
    assert_same_tree(model, X, outcomes.Normal(y.tolist(), [1.0] * len(y)), model.prior_, parameters, tolerance=1e-7)


@strategies.examples(2)
@given(strategies.raw_problems(min_rows=(2, 6), max_rows=8, max_features=3), st.data(), st.sampled_from([1, 2]))
def test_look_ahead_equals_the_oracle(problem, data, lookahead):
    X, y, weight, parameters = problem
    parameters |= {"lookahead": lookahead, "interaction_cst": data.draw(column_sets(X.shape[1]))}
    with engine(lookahead_width=10**6, lookahead_per_feature=10**6):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters)


@strategies.examples(2)
@given(strategies.raw_problems(min_rows=(2, 5), max_rows=6, max_features=3), st.data())
def test_the_tree_space_is_all_trees_that_are_allowed(problem, data):
    X, y, weight, parameters = problem
    parameters = {name: value for name, value in parameters.items() if name not in ("max_leaf_nodes", "prune")}
    parameters |= {"interaction_cst": data.draw(column_sets(X.shape[1]))}
    model = TreeSpaceClassifier(max_nodes=10**9, **parameters).fit(X, y, sample_weight=weight)
    outcome = outcomes.Categorical(y.tolist(), [1.0] * len(y) if weight is None else list(weight), len(model.classes_))
    trees = every_tree(Problem(X.tolist(), outcome, oracle_settings(model.prior_, parameters)))
    scores = [tree.log_posterior for tree in trees]
    assert model.space_.is_complete
    assert_allclose(model.log_evidence_, log_sum_exp(scores), rtol=1e-8, atol=1e-8)
    assert_allclose(model.log_posterior_, max(scores), rtol=1e-8, atol=1e-8)
    shares = np.exp(np.array(scores) - log_sum_exp(scores))
    for i in range(len(X)):
        leaves = [tree.leaf_of(i) for tree in trees]
        means = np.array([outcome.mean(outcome.update(leaf.rows, list(leaf.prior))) for leaf in leaves])
        assert_allclose(model.predict_proba(X[[i]])[0], shares @ means, rtol=1e-6, atol=1e-9)


def test_nodes_of_the_same_rows_are_apart_where_their_paths_allow_different_columns():
    """Two columns that divide the rows alike: below one of them the third is allowed, below the other it is not."""
    X = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]] * 5, dtype=float)
    y = np.array([0, 1, 1, 0] * 5)
    parameters = {"interaction_cst": [{0, 2}, {1}], "prior": 0.5}
    model = TreeSpaceClassifier(max_nodes=10**6, **parameters).fit(X, y)
    outcome = outcomes.Categorical(y.tolist(), [1.0] * len(y), 2)
    trees = every_tree(Problem(X.tolist(), outcome, oracle_settings(model.prior_, parameters)))
    assert_allclose(model.log_evidence_, log_sum_exp([tree.log_posterior for tree in trees]), rtol=1e-9)
    assert len(model.best_trees(100)) == len(trees)


@pytest.mark.parametrize("sets", [[{0, 1}, {2, 3}], [{0, 1, 2}, {2, 3}], [{0, 1}, {1, 2}, {2, 3}, {0}], [{0}]])
@pytest.mark.parametrize("subtree_rows", [20, 4096])
@pytest.mark.parametrize("n_features", [None, 2])
def test_hyperplanes_lie_within_a_set(sets, subtree_rows, n_features, monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 5)).round(1)
    X[random.random(120) < 0.2, 3] = np.nan
    X[:, 4] = random.integers(0, 3, 120)
    y = (X[:, 0] + X[:, 1] - X[:, 2] + random.normal(size=120) / 4 > 0).astype(int)
    prior = PartitionPrior(split=0.99, choose="partition")
    parameters = {"categorical_features": [4], "prune": False, "partition_prior": prior, "interaction_cst": sets}
    draw = None if n_features is None else FeatureDraw(1, 7, n_features)
    plain = Growth.settings
    if draw is not None:

        def settings(growth):
            changed = plain(growth)
            changed.draw_features(draw.seed, draw.tree, draw.n_features)
            return changed

        monkeypatch.setattr(Growth, "settings", settings)
    with engine(subtree_rows=subtree_rows):
        model = BayesianTreeClassifier(partitions="oblique", **parameters).fit(X, y)
    assert_paths_keep_to(sets, model.tree_)
    outcome = outcomes.Categorical(y.tolist(), [1.0] * len(y), 2)
    assert_nodes_say_the_truth(model, X, outcome, class_prior(2, parameters), parameters | {"draw": draw})


def test_no_interactions_leave_no_hyperplanes_and_no_prior_mass_for_them():
    X, y = load_breast_cancer(return_X_y=True)
    options = {"interaction_cst": "no_interactions", "prune": False}
    oblique = BayesianTreeClassifier(partitions="oblique", **options).fit(X[:, :6], y)
    axis = BayesianTreeClassifier(**options).fit(X[:, :6], y)
    assert_array_equal(oblique.tree_.threshold, axis.tree_.threshold)
    assert_allclose(oblique.log_posterior_, axis.log_posterior_, rtol=1e-12)
    assert all(len(used) <= 1 for used in used_on_paths(axis.tree_))


@pytest.mark.parametrize("max_bins", [16, None])
@pytest.mark.parametrize("n_jobs", [None, 3])
def test_bins_and_threads_do_not_matter(max_bins, n_jobs):
    X, y = three_way_table(3000)
    options = {"interaction_cst": [{0, 1}, {1, 2}], "partition_prior": 0.99}
    with engine(subtree_rows=200):
        model = BayesianTreeRegressor(max_bins=max_bins, n_jobs=n_jobs, **options).fit(X, y)
        exact = BayesianTreeRegressor(**options).fit(X, y)
    assert_paths_keep_to(options["interaction_cst"], model.tree_)
    assert_array_equal(model.tree_.feature, exact.tree_.feature)
    assert_array_equal(model.tree_.threshold, exact.tree_.threshold)
    assert_allclose(model.log_posterior_, exact.log_posterior_, rtol=1e-9)


@pytest.mark.parametrize("outcome", ["classes", "normal", "poisson"])
@pytest.mark.parametrize("in_memory", [False, True])
def test_rows_in_parts_give_the_tree_of_rows_in_memory(outcome, in_memory, monkeypatch):
    if not in_memory:
        monkeypatch.setattr(_batches, "half_of_memory", lambda: 0)
    frame, names = table_of(outcome)
    sets = [["city", "x"], ["x", "noise"], ["flag"]]
    memory = fitted_in_memory(model_of(outcome, interaction_cst=sets), frame, names)
    model = engines.fit(model_of(outcome, interaction_cst=sets), lambda: divided(frame, 4), target="y", **names)
    assert memory.get_n_leaves() > 2
    assert_same_store(model.tree_, memory.tree_)
    assert_paths_keep_to([{0, 1}, {1, 3}, {2}], model.tree_)


def test_a_database_gives_the_tree_of_rows_in_memory(duckdb):
    frame, names = table_of("classes")
    sets = [["city", "x"], ["x", "noise"], ["flag"]]
    model = engines.fit(model_of("classes", interaction_cst=sets), duckdb(frame), target="y", **names)
    assert_same_store(model.tree_, fitted_in_memory(model_of("classes", interaction_cst=sets), frame, names).tree_)


@pytest.mark.parametrize("partitions", ["axis", "oblique"])
@pytest.mark.parametrize("max_features", [None, 2])
def test_all_trees_of_a_forest_keep_to_the_sets(partitions, max_features):
    sets = [{0, 1}, {1, 2}]
    X, y = three_way_table()
    options = {"interaction_cst": sets, "partitions": partitions, "max_features": max_features, "random_state": 0}
    model = BayesianForestRegressor(8, **options).fit(X, y)
    assert_paths_keep_to(sets, model.fitted_.trees)
    assert_paths_keep_to(sets, model.readable_tree_.tree_)
    with pytest.raises(AssertionError):
        assert_paths_keep_to(sets, BayesianForestRegressor(8, random_state=0).fit(X, y).fitted_.trees)
    threads = BayesianForestRegressor(8, n_jobs=3, **options).fit(X, y)
    assert_array_equal(threads.predict(X), model.predict(X))
    labels = BayesianForestClassifier(8, **options).fit(X, y > 1)
    assert_paths_keep_to(sets, labels.fitted_.trees)


@pytest.mark.parametrize("partitions", ["axis", "oblique"])
def test_a_tree_on_its_own_rows_is_itself(partitions):
    X, y = load_diabetes(return_X_y=True)
    sets = [{2, 8}, {3, 2}, {8, 3}]
    options = {"partition_prior": 0.99, "prune": False, "calibrate": False}
    model = BayesianTreeRegressor(interaction_cst=sets, partitions=partitions, **options).fit(X, y)
    assert model.tree_.max_depth > 1
    data, *_ = prepare(model, model._memory_source(X, y, None, {}), model._target_reader())
    again = refit(model.tree_, data, model.outcome_)
    for name in ("log_prior_split", "log_prior_leaf", "log_odds_split", "feature_posterior"):
        assert_allclose(getattr(again, name), getattr(model.tree_, name), rtol=1e-7, atol=1e-9)


def test_the_forms_of_scikit_learn_are_read_alike():
    frame, y = raw_frame()
    pairs = [set(pair) for pair in itertools.combinations(range(4), 2)]
    by_name = [("city", "x"), ["x", "flag"], {"noise"}]
    trees = {
        given: [BayesianTreeClassifier(prior=0.5, interaction_cst=cst).fit(frame, y) for cst in csts]
        for given, csts in {
            "pairs": ["pairwise", pairs, [list(pair)[::-1] for pair in pairs]],
            "single": ["no_interactions", [{0}, {1}, {2}, {3}], [[0], [1], [2]]],
            "names": [by_name, [{0, 1}, {1, 2}, {3}], [{0, 1}, {1, -2}], np.array([[0, 1], [1, 2]])],
            "all": [None, [{0, 1, 2, 3}, {0}], [range(4)]],
        }.items()
    }
    for models in trees.values():
        for model in models[1:]:
            assert_same_arrays(model, models[0])


def test_files_keep_the_sets(tmp_path):
    frame, y = raw_frame()
    model = BayesianTreeClassifier(interaction_cst=[{"x", "city"}, ("flag", 3)]).fit(frame, y)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.interaction_cst == [["city", "x"], ["flag", 3]]
    assert_same_arrays(again.fit(frame, y), model)


X, Y = np.arange(24.0).reshape(8, 3), np.arange(8) % 2


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ("pairs", ValueError, "interaction_cst must be 'pairwise', 'no_interactions' or a list of sets of columns"),
        (3, TypeError, "or a list of sets of columns; got 3"),
        ({0: 1}, TypeError, "or a list of sets of columns; got"),
        ([0, 1], TypeError, "got 0 in place of a set"),
        (["ab"], TypeError, "got 'ab' in place of a set"),
        ([], ValueError, "interaction_cst is an empty list"),
        ([[]], ValueError, "interaction_cst holds an empty set"),
        ([{3}], ValueError, "interaction_cst gives column 3, but X has 3 columns"),
        ([{"age"}], ValueError, "interaction_cst names the column 'age', but the columns of X have no names"),
        ([{True}], TypeError, "interaction_cst must give columns by name or position"),
        ([{1.5}], TypeError, "interaction_cst must give columns by name or position"),
    ],
)
def test_bad_sets_are_refused_in_a_sentence(given, error, message):
    with pytest.raises(error, match=message):
        BayesianTreeClassifier(interaction_cst=given).fit(X, Y)


def test_what_sets_cannot_do_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match="leaf='linear' needs interaction_cst=None"):
        BayesianTreeClassifier(leaf="linear", interaction_cst=[{0}]).fit(X, Y)
    wide = np.random.default_rng(0).normal(size=(20, 1001))
    with pytest.raises(ValueError, match="interaction_cst='pairwise' is for at most 1,000 columns, and X has 1,001"):
        BayesianTreeClassifier(interaction_cst="pairwise").fit(wide, np.arange(20) % 2)
    with pytest.raises(ValueError, match="interaction_cst has 1,225 sets of several columns, and hyperplanes"):
        BayesianForestClassifier(interaction_cst="pairwise").fit(wide[:, :50], np.arange(20) % 2)
    with pytest.raises(ValueError, match="did you mean 'age'"):
        BayesianTreeClassifier(interaction_cst=[["aeg"]]).fit(pd.DataFrame({"age": range(8)}), Y)
