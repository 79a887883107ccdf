"""Categories and missing values: what they mean for the partitions of a node, the routes and the probabilities."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, PartitionPrior, partition_space
from baytree.export import to_text
from baytree.tree import SplitKind
from tests import strategies
from tests.comparison import assert_same_classes, raw_frame
from tests.reference import outcomes

# Categories.


def test_unseen_and_missing_categories_have_a_way():
    frame, y = raw_frame()
    frame = frame[["city"]]
    model = BayesianTreeClassifier(prior=1.0).fit(frame, y)
    tree = model.tree_
    assert model.categories_[0][0] == "city 00"
    assert tree.feature[0] == 0
    more = tree.children_left[0] if tree.unseen_go_to_left[0] else tree.children_right[0]
    assert tree.n_node_samples[more] == max(
        tree.n_node_samples[tree.children_left[0]], tree.n_node_samples[tree.children_right[0]]
    )
    for value in ("nowhere", None, math.nan):
        path = model.decision_path(frame[:1].assign(city=[value])).toarray()[0]
        assert path[more]
    text = str(model.explain(frame[:1].assign(city=["nowhere"]))[0])
    assert text.startswith("0\nbecause city = another category, not seen here, goes to the larger side: ")
    assert str(model.explain(frame[:1].assign(city=[None]))[0]).startswith(
        "0\nbecause city is missing, not seen here, "
    )


def test_missing_categories_that_were_there_go_their_own_way():
    frame, y = raw_frame()
    missing = np.arange(len(y)) % 4 == 0
    frame.loc[missing, "city"] = None
    y[missing] = 1
    model = BayesianTreeClassifier(prior=1.0).fit(frame, y)
    node = int(np.flatnonzero(model.tree_.feature == 0)[0])
    assert model.tree_.has_missing[node]
    assert "missing" in to_text(model)
    assert model.predict_proba(frame[missing])[:, 1].min() > 0.85


@pytest.mark.parametrize("outcome", ["two classes", "poisson", "exponential"])
@pytest.mark.parametrize("seed", range(4))
def test_many_categories_hold_the_best_of_all_sets(outcome, seed):
    """Ordering by outcome finds the mode over every set of categories, by convexity."""
    random = np.random.default_rng(seed)
    n_categories, n = 11, 120
    X = random.integers(0, n_categories, (n, 1)).astype(float)
    rate = random.random(n_categories)[X[:, 0].astype(int)]
    everything = list(range(n))
    if outcome == "two classes":
        y = (random.random(n) < rate).astype(int)
        record, prior = outcomes.Categorical(y.tolist(), [1.0] * n, 2), [1.0, 1.0]
    else:
        y = (random.poisson(5 * rate) if outcome == "poisson" else random.exponential(rate + 0.1)).astype(float)
        kind = outcomes.Poisson if outcome == "poisson" else outcomes.Exponential
        record, prior = kind(y.tolist(), [1.0] * n), [2.0, 1.5]

    def gain(categories):
        sides = [[i for i in everything if (X[i, 0] in categories) == inside] for inside in (True, False)]
        return sum(record.log_likelihood(side, prior) for side in sides) - record.log_likelihood(everything, prior)

    best = max(gain(set(one_set)) for size in range(2, 6) for one_set in combinations(range(n_categories), size))
    space = partition_space(
        X, y, outcome="categorical" if outcome == "two classes" else outcome, prior=prior, categorical_features=[0]
    )
    sets = [i for i, part in enumerate(space["categories"]) if part is not None and 1 < len(part) < n_categories - 1]
    assert_allclose(space["log_likelihood"][sets].max() - space["log_likelihood"][0], best, rtol=1e-9)


def test_the_prior_of_few_categories_sums_to_one():
    random = np.random.default_rng(0)
    for n_categories in range(2, 9):
        X = np.arange(60)[:, None] % n_categories
        space = partition_space(X, random.integers(0, 3, 60), categorical_features=[0])
        assert len(space) == 2 ** (n_categories - 1)
        assert_allclose(np.exp(space["log_prior"]).sum(), 1, rtol=1e-12)
        assert len(set(space["categories"])) == len(space)


@strategies.examples(3)
@given(st.integers(0, 10**6), st.sampled_from([3, 4, 6, 12]), st.sampled_from([12, 40, 200]), st.booleans())
def test_single_categories_are_the_papers_dummy_coding(seed, n_categories, n, proper):
    """One column of categories, singles only, against one 0/1 column a category: the same space and the same tree."""
    random = np.random.default_rng(seed)
    category = np.append(np.arange(n_categories), random.integers(0, n_categories, n))
    y = (random.random(len(category)) < random.random(n_categories)[category]).astype(int)
    dummies = (category[:, None] == np.arange(n_categories)).astype(float)
    # One column against several: the choice of a column before its split would differ.
    as_categories, coded = (
        {"prior": 0.5, "partition_prior": PartitionPrior(subsets=subsets, proper=proper, choose="partition")}
        for subsets in (False, True)
    )
    as_categories["categorical_features"] = [0]
    space, dummy_space = partition_space(category[:, None], y, **as_categories), partition_space(dummies, y, **coded)
    # Folds of the calibration depend on the values of rows, and these are others.
    as_categories["calibrate"] = coded["calibrate"] = False
    for name in ("log_likelihood", "log_prior", "log_posterior"):
        assert_allclose(space[name], dummy_space[name], rtol=1e-9, atol=1e-9)
    one = BayesianTreeClassifier(**as_categories).fit(category[:, None], y)
    other = BayesianTreeClassifier(**coded).fit(dummies, y)
    assert one.tree_.node_count == other.tree_.node_count
    assert_allclose(one.log_posterior_, other.log_posterior_, rtol=1e-9)
    assert_allclose(one.log_evidence_, other.log_evidence_, rtol=1e-9)
    assert_allclose(one.predict_proba(category[:, None]), other.predict_proba(dummies), rtol=1e-12)


@pytest.mark.parametrize("kind", ["two classes", "many classes", "normal"])
def test_many_categories_do_not_win_by_chance(kind):
    """On noise a column of 500 categories is chosen no more often than a column of numbers."""
    random = np.random.default_rng(7)
    n, chosen = 600, np.zeros(3)
    for _ in range(200):
        X = np.column_stack([random.integers(0, 500, n), random.normal(size=n)]).astype(float)
        if kind == "normal":
            model = BayesianTreeRegressor(categorical_features=[0], max_depth=1).fit(X, random.normal(size=n))
        else:
            y = random.integers(0, 2 if kind == "two classes" else 5, n)
            model = BayesianTreeClassifier(prior=1.0, categorical_features=[0], max_depth=1).fit(X, y)
        chosen[model.tree_.feature[0]] += 1  # -2 stands for no split and falls on entry 1 of 3
        chosen[1] -= model.tree_.feature[0] == -2
        chosen[2] += model.tree_.feature[0] == -2
    assert chosen[0] <= chosen[1] + 3
    assert chosen[2] > 150


# Missing values.


def test_missing_values_that_say_something_are_found():
    random = np.random.default_rng(0)
    x = random.normal(size=400)
    missing = random.random(400) < 0.3
    X = np.where(missing, np.nan, x)[:, None]
    alone = BayesianTreeClassifier(prior=1.0).fit(X, missing)
    assert alone.tree_.threshold[0] == np.inf
    assert to_text(alone).startswith("x0 is present ")
    assert alone.score(X, missing) == 1
    left = BayesianTreeClassifier(prior=1.0).fit(X, missing | (x < 0))
    assert left.tree_.missing_go_to_left[0]
    assert "or missing" in to_text(left)
    right = BayesianTreeClassifier(prior=1.0).fit(X, missing | (x > 0))
    assert not right.tree_.missing_go_to_left[0]
    assert left.score(X, missing | (x < 0)) == right.score(X, missing | (x > 0)) == 1


@given(strategies.problems())
def test_a_column_without_missing_values_has_the_papers_probabilities(problem):
    """A further column that is all missing, or constant but for nothing, changes nothing."""
    X, y, weight, parameters = problem
    parameters["feature_prior"] = None
    parameters["partition_prior"] = PartitionPrior()
    wide = np.column_stack([X, np.full(len(X), np.nan)])
    one = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    other = BayesianTreeClassifier(**parameters).fit(wide, y, sample_weight=weight)
    assert_array_equal(one.tree_.feature, other.tree_.feature)
    assert_array_equal(one.tree_.log_prior_split, other.tree_.log_prior_split)
    assert_array_equal(one.tree_.log_prior_leaf, other.tree_.log_prior_leaf)


# Deeper trees than hypothesis draws, of every kind of column at once.


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("location", ["uniform", "distance"])
def test_deeper_trees_of_raw_columns_equal_the_oracle(n_classes, seed, location):
    random = np.random.default_rng(seed)
    n = 150
    X = np.column_stack([random.integers(0, 12, n), random.normal(size=n), random.integers(0, 5, n)]).astype(float)
    y = ((X[:, 0] % 3 == 0) + 2 * (X[:, 1] > 0) + (X[:, 2] > 2)).astype(int) % n_classes
    y = np.where(random.random(n) < 0.1, random.integers(0, n_classes, n), y)
    X[random.random(X.shape) < 0.1] = np.nan
    parameters = {
        "prior": 0.3,
        "categorical_features": [0, 2],
        "partition_prior": PartitionPrior(split=0.99, location=location),
        "prune": False,
    }
    model = BayesianTreeClassifier(**parameters).fit(X, y)
    assert model.get_depth() >= 1
    assert model.tree_.is_of(SplitKind.CATEGORY_SET).any() or n_classes == 2
    assert_same_classes(model, X, y, None, parameters)
