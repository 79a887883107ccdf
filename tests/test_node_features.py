"""The features that each node draws, and the prior that they share out, are those of the naive version."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baytree import BayesianForestClassifier, BayesianTreeClassifier, BayesianTreeRegressor, PartitionPrior
from baytree.estimators._forest import read_max_features
from baytree.growth import Growth
from tests import strategies
from tests.comparison import (
    assert_nodes_say_the_truth,
    assert_same_classes,
    assert_same_tree,
    class_prior,
    engine,
    raw_frame,
)
from tests.reference import outcomes
from tests.reference.bins import middles
from tests.reference.draws import FeatureDraw


def draws(most=3):
    return st.builds(FeatureDraw, st.integers(0, 2**64 - 1), st.integers(0, 99), st.integers(1, most))


def drawing(draw):
    """Trees that are fitted inside draw the features of their nodes."""
    plain = Growth.settings

    def settings(growth):
        changed = plain(growth)
        changed.draw_features(draw.seed, draw.tree, draw.n_features)
        return changed

    return mock.patch.object(Growth, "settings", settings)


@strategies.examples(3)
@given(strategies.raw_problems(max_features=5), draws(), st.sampled_from([1, 4096]))
def test_trees_of_classes_equal_the_oracle(problem, draw, subtree_rows):
    X, y, weight, parameters = problem
    with engine(subtree_rows=subtree_rows), drawing(draw):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters | {"draw": draw})


@strategies.examples(3)
@given(strategies.problems(), draws(2), st.sampled_from([1, 2, 5]), st.sampled_from([1, 2, 8]))
def test_large_nodes_equal_the_oracle(problem, draw, subtree_rows, n_bins):
    X, y, weight, parameters = problem
    with engine(subtree_rows=subtree_rows, n_bins=n_bins), drawing(draw):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters | {"draw": draw})


@strategies.examples(3)
@given(
    st.one_of(strategies.real_problems(max_features=5), strategies.real_problems(raw=True, max_features=5)),
    draws(),
    st.sampled_from([1, 4096]),
)
def test_trees_of_numbers_equal_the_oracle(problem, draw, subtree_rows):
    X, name, y, weight, extras, outcome, parameters = problem
    with engine(subtree_rows=subtree_rows), drawing(draw):
        model = BayesianTreeRegressor(outcome=name, **parameters).fit(X, y, sample_weight=weight, **extras)
    assert_same_tree(model, X, outcome, model.prior_, parameters | {"draw": draw}, tolerance=1e-7)


@strategies.examples(2)
@given(strategies.raw_problems(min_rows=(2, 6), max_rows=8, max_features=4), draws(2), st.sampled_from([1, 2]))
def test_look_ahead_equals_the_oracle(problem, draw, lookahead):
    X, y, weight, parameters = problem
    parameters |= {"lookahead": lookahead}
    with engine(lookahead_width=10**6, lookahead_per_feature=10**6), drawing(draw):
        model = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_same_classes(model, X, y, weight, parameters | {"draw": draw})


@strategies.examples(3)
@given(strategies.raw_problems(max_features=5), draws(), st.integers(2, 6), st.sampled_from([0, 1, 3]))
def test_bins_equal_the_oracle(problem, draw, max_bins, subtree_rows):
    X, y, weight, parameters = problem
    categorical = parameters["categorical_features"]
    columns = [x if f in categorical else middles(x.tolist(), max_bins, weight) for f, x in enumerate(X.T)]
    values = np.array(columns, dtype=float).T
    with engine(subtree_rows=subtree_rows), drawing(draw):
        binned = BayesianTreeClassifier(max_bins=max_bins, **parameters).fit(X, y, sample_weight=weight)
        model = BayesianTreeClassifier(**parameters).fit(values, y, sample_weight=weight)
    assert_same_classes(model, values, y, weight, parameters | {"draw": draw})
    for name in ("feature", "children_left", "n_node_samples", "log_prior_leaf", "log_prior_split"):
        np.testing.assert_array_equal(getattr(binned.tree_, name), getattr(model.tree_, name), err_msg=name)


@pytest.mark.parametrize("n_features", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(4))
def test_hyperplanes_are_of_drawn_features(n_features, seed):
    """Four columns of numbers, one of them with missing values, and one of categories."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(80, 5)).round(1)
    X[:, 4] = random.integers(0, 3, 80)
    X[random.random(80) < 0.2, 3] = np.nan
    y = (X[:, 0] + X[:, 1] - X[:, 2] + random.normal(size=80) / 4 > 0).astype(int)
    parameters = {"categorical_features": [4], "prune": False, "min_samples_leaf": 1 + seed % 2}
    parameters |= {
        "partition_prior": PartitionPrior(split=0.99, choose="partition")
    }  # the column that the root draws may be a poor one
    draw = FeatureDraw(seed, 7, n_features)
    for subtree_rows in (10, 4096):
        with engine(subtree_rows=subtree_rows), drawing(draw):
            model = BayesianTreeClassifier(partitions="oblique", **parameters).fit(X, y)
        assert model.get_n_leaves() > 1
        outcome = outcomes.Categorical(y.tolist(), [1.0] * 80, 2)
        assert_nodes_say_the_truth(model, X, outcome, class_prior(2, parameters), parameters | {"draw": draw})


@pytest.mark.parametrize("partitions", ["axis", "oblique"])
@pytest.mark.parametrize("max_features", [1, 2, 0.7])
def test_draws_depend_on_neither_threads_nor_the_order_of_rows(partitions, max_features):
    frame, y = raw_frame(n=400)
    order = np.random.default_rng(0).permutation(len(y))
    with engine(subtree_rows=50):
        make = lambda n_jobs: BayesianForestClassifier(  # noqa: E731
            6, partitions=partitions, max_features=max_features, n_jobs=n_jobs, random_state=3
        )
        expected = make(1).fit(frame, y).predict_proba(frame)
        for n_jobs in (2, 3, 16):
            np.testing.assert_array_equal(make(n_jobs).fit(frame, y).predict_proba(frame), expected)
        shuffled = make(1).fit(frame.iloc[order], y[order])
    np.testing.assert_array_equal(shuffled.predict_proba(frame), expected)


def test_a_share_of_the_features_leaves_hyperplanes():
    shares = {n: read_max_features(0.7, n) for n in (1, 2, 3, 5, 20)}
    assert shares == {1: 1, 2: 2, 3: 2, 5: 4, 20: 14}
    assert read_max_features(0.01, 20) == 2
    assert read_max_features(1, 20) == 1


def test_trees_are_added_as_a_larger_forest_has_them():
    frame, y = raw_frame()
    model = BayesianForestClassifier(3, max_features=2, warm_start=True, random_state=0).fit(frame, y)
    added = model.set_params(n_estimators=7).fit(frame, y)
    whole = BayesianForestClassifier(7, max_features=2, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(added.predict_proba(frame), whole.predict_proba(frame))


def test_features_that_can_never_be_split_are_not_drawn():
    """Of four columns three have one row that differs: leaves of five rows cannot be split by them."""
    random = np.random.default_rng(0)
    X = np.zeros((200, 4))
    X[[3, 4, 5], [0, 1, 2]] = 1.0
    X[:, 3] = random.normal(size=200)
    y = (X[:, 3] > 0).astype(int)
    for max_bins in (None, 16):
        model = BayesianForestClassifier(
            20, partitions="axis", max_features=1, min_samples_leaf=5, max_bins=max_bins, random_state=0
        ).fit(X, y)
        forest = model.fitted_.trees
        assert np.all(forest.feature[forest.roots] == 3)
