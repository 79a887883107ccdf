"""Splits along hyperplanes: what they pay, that they are what they say, and that everything knows them."""

from __future__ import annotations

import math
import pickle
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.optimize import linprog
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor, load
from baytree.export import to_text
from tests import strategies
from tests.comparison import (
    assert_nodes_say_the_truth,
    assert_same_arrays,
    class_prior,
    engine,
    hyperplanes,
    rows_of_nodes,
)
from tests.reference import outcomes

SHARE = 0.5


def diagonal(n=300, d=2, seed=0, noise=0.05):
    """Classes on two sides of a diagonal: many axis splits, or one hyperplane."""
    random = np.random.default_rng(seed)
    X = random.random((n, d))
    y = (X[:, 0] + 0.5 * X[:, 1] + noise * random.normal(size=n) > 0.75).astype(int)
    return X, y


def gentle(X):
    """Whether all values can be squared and told apart from rounding."""
    sizes = np.abs(X[~np.isnan(X) & (X != 0)])
    return np.all((sizes < 1e100) & (sizes > 1e-100)) and not np.any((np.abs(X - 1) < 1e-9) & (X != 1))


@strategies.examples(3)
@given(strategies.raw_problems())
def test_every_node_is_what_it_says_of_classes(problem):
    X, y, weight, parameters = problem
    parameters = parameters | {"max_leaf_nodes": None, "prune": False}
    if not gentle(X):
        return
    model = BayesianTreeClassifier(partitions="oblique", **parameters).fit(X, y, sample_weight=weight)
    outcome = outcomes.Categorical(y.tolist(), [1.0] * len(y) if weight is None else list(weight), len(model.classes_))
    assert_nodes_say_the_truth(model, X, outcome, class_prior(len(model.classes_), parameters), parameters)


@strategies.examples(2)
@given(st.one_of(strategies.real_problems(), strategies.real_problems(raw=True)))
def test_every_node_is_what_it_says_of_numbers(problem):
    X, name, y, weight, extras, outcome, parameters = problem
    parameters = parameters | {"max_leaf_nodes": None, "prune": False}
    if not gentle(X):
        return
    model = BayesianTreeRegressor(outcome=name, partitions="oblique", **parameters)
    model.fit(X, y, sample_weight=weight, **extras)
    assert_nodes_say_the_truth(model, X, outcome, model.prior_, parameters, tolerance=1e-6)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_larger_tables_say_the_truth(n_jobs):
    X, y = diagonal(200, 3)
    with engine(subtree_rows=60):
        model = BayesianTreeClassifier(partitions="oblique", prior=1.0, prune=False, n_jobs=n_jobs).fit(X, y)
    assert hyperplanes(model.tree_).any()
    outcome = outcomes.Categorical(y.tolist(), [1.0] * len(y), 2)
    assert_nodes_say_the_truth(model, X, outcome, [1.0, 1.0], {})


@pytest.mark.parametrize("size", [1, 2, 3])
def test_the_number_of_hyperplane_splits_is_covers(size):
    """Every division of points in general position that a hyperplane makes, found by linear programming."""
    for n in range(2, 8):
        points = np.random.default_rng(n).normal(size=(n, size))
        count = 0
        for k in range(1, n):
            for side in combinations(range(1, n), k):  # the first point is on the other side
                sign = np.ones(n)
                sign[list(side)] = -1
                constraint = np.column_stack([points * sign[:, None], sign])
                count += linprog(np.zeros(size + 1), -constraint, -np.ones(n), bounds=(None, None)).success
        assert count == sum(math.comb(n - 1, i) for i in range(1, size + 1))


def test_one_hyperplane_for_many_splits():
    X, y = diagonal()
    axis, oblique = (BayesianTreeClassifier(partitions=p).fit(X, y) for p in ("axis", "oblique"))
    assert oblique.get_n_leaves() < axis.get_n_leaves()
    assert oblique.score(X, y) > axis.score(X, y)
    assert oblique.log_posterior_ > axis.log_posterior_


def test_an_axis_split_wins_where_it_is_as_good():
    random = np.random.default_rng(0)
    X = random.random((300, 3))
    model = BayesianTreeClassifier(partitions="oblique").fit(X, X[:, 1] > 0.4)
    assert model.get_n_leaves() == 2
    assert not hyperplanes(model.tree_).any()


def test_noise_has_no_hyperplanes():
    """On noise a root is split by a hyperplane no more often than its prior allows: Markov's inequality on the odds."""
    chosen = 0
    for seed in range(1000):
        random = np.random.default_rng(seed)
        X, y = random.normal(size=(60, 4)), random.integers(0, 2, 60)
        model = BayesianTreeClassifier(partitions="oblique", max_depth=1).fit(X, y)
        chosen += hyperplanes(model.tree_)[0]
    assert chosen <= stats.binom(1000, 0.01).ppf(0.999)


def test_coefficients_can_be_read_aloud():
    X, y = diagonal(60)
    model = BayesianTreeClassifier(partitions="oblique", prior=1.0).fit(pd.DataFrame(X, columns=["glucose", "bmi"]), y)
    text = to_text(model)
    assert hyperplanes(model.tree_)[0]
    coefficients = model.tree_.hyperplane_coefficient
    assert coefficients[0] == 1
    assert all(len(f"{abs(c):.15g}".lstrip("0.").replace(".", "")) <= 3 for c in coefficients)
    assert "glucose + 0." in text or "bmi + " in text
    step = model.explain(pd.DataFrame(X[:1], columns=["glucose", "bmi"]))[0].steps[0]
    assert step.feature in text
    assert_allclose(step.value, X[0][model.tree_.hyperplane_feature[:2]] @ coefficients[:2])


def test_smoothing_counts_in_hyperplane_trees():
    """D10: the reference code ignores delta there."""
    X, y = diagonal()
    plain, smooth = (BayesianTreeClassifier(partitions="oblique", smoothing=s).fit(X, y) for s in (0.0, 0.9))
    assert hyperplanes(plain.tree_).any()
    assert hyperplanes(smooth.tree_).any()
    children = smooth.tree_.children_left[0], smooth.tree_.children_right[0]
    for child in children:
        counts = smooth.tree_.posterior[child] - smooth.tree_.prior[child]
        assert_allclose(smooth.tree_.prior[child], smooth.tree_.prior[0] + 0.9 * counts)


def test_candidates_lie_between_sorted_projections():
    """D11: where all rows but one project to the same number there is one split, not a hundred."""
    X = np.zeros((108, 2))
    X[0] = 1.0
    y = np.arange(108) % 2
    model = BayesianTreeClassifier(partitions="oblique", prior=0.01).fit(X, y)
    outcome = outcomes.Categorical(y.tolist(), [1.0] * 108, 2)
    assert_nodes_say_the_truth(model, X, outcome, [0.01, 0.01], {})


def test_models_keep_no_rows_and_one_feature_is_fine():
    """D12: hyperplane nodes of the reference code keep X and y; one feature raises."""
    small, large = (BayesianTreeClassifier(partitions="oblique", max_depth=1).fit(*diagonal(n)) for n in (300, 30_000))
    assert abs(len(pickle.dumps(small)) - len(pickle.dumps(large))) < 500
    X, y = diagonal()
    one = BayesianTreeClassifier(partitions="oblique").fit(X[:, :1], y)
    axis = BayesianTreeClassifier().fit(X[:, :1], y)
    assert_same_arrays(axis, one)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_change_nothing(n_jobs):
    X, y = load_breast_cancer(return_X_y=True)
    one, more = (BayesianTreeClassifier(partitions="oblique", prior=1.0, n_jobs=n).fit(X, y) for n in (1, n_jobs))
    assert_same_arrays(one, more)


def test_missing_values_take_the_mean_and_categories_take_no_part(tmp_path):
    X, y = diagonal(400, 3)
    X[::5, 0] = np.nan
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(city=np.where(X[:, 2] > 0.5, "x", "y"))
    model = BayesianTreeClassifier(partitions="oblique").fit(frame, y)
    tree = model.tree_
    assert hyperplanes(tree).any()
    assert 3 not in tree.hyperplane_feature
    node = int(np.flatnonzero(hyperplanes(tree))[0])
    terms = slice(tree.hyperplane_start[node], tree.hyperplane_start[node + 1])
    place = list(tree.hyperplane_feature[terms]).index(0)
    inside = rows_of_nodes(model, frame)[node]
    assert_allclose(tree.hyperplane_missing_value[terms][place], np.nanmean(X[inside, 0]))
    model.save(tmp_path / "tree.json")
    assert_array_equal(load(tmp_path / "tree.json").predict_proba(frame), model.predict_proba(frame))
    step = model.explain(frame[:1])[0].steps[0]
    assert step.seen
    assert np.isfinite(step.value)


def test_many_classes_and_counts_have_hyperplanes():
    X, y = load_iris(return_X_y=True)
    model = BayesianTreeClassifier(partitions="oblique", prior=1.0).fit(X, y)
    assert model.score(X, y) > 0.95
    random = np.random.default_rng(0)
    X = random.random((400, 3))
    counts = random.poisson(np.where(X[:, 0] + X[:, 1] > 1, 6, 2))
    assert hyperplanes(BayesianTreeRegressor(outcome="poisson", partitions="oblique").fit(X, counts).tree_)[0]
    time = random.exponential(np.where(X[:, 0] + X[:, 1] > 1, 6, 1))
    durations = BayesianTreeRegressor(outcome="exponential", partitions="oblique").fit(X, time)
    assert hyperplanes(durations.tree_).any()
    X, y = load_diabetes(return_X_y=True)
    assert hyperplanes(BayesianTreeRegressor(partitions="oblique").fit(X, y).tree_).any()


def test_constraints_hold_beside_hyperplanes():
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianTreeClassifier(partitions="oblique", prior=1.0, monotonic_cst={20: -1}).fit(X, y)
    assert 20 not in model.tree_.hyperplane_feature
    row = np.repeat(X[::50], 40, axis=0)
    row[:, 20] = np.tile(np.linspace(X[:, 20].min(), X[:, 20].max(), 40), len(X[::50]))
    proba = model.predict_proba(row)[:, 1].reshape(-1, 40)
    assert np.all(np.diff(proba, axis=1) <= 0)


@pytest.mark.parametrize(
    ("kind", "data"), [(TreeSpaceClassifier, load_breast_cancer), (TreeSpaceRegressor, load_diabetes)]
)
def test_the_tree_space_has_hyperplanes(kind, data, tmp_path):
    X, y = data(return_X_y=True)
    model = kind(partitions="oblique", max_nodes=100).fit(X, y)
    assert hyperplanes(model.space_).any()
    assert any(" + " in a.rule or " - " in a.rule for a in model.alternatives())
    model.save(tmp_path / "space.json")
    assert_array_equal(load(tmp_path / "space.json").predict(X), model.predict(X))
    assert hyperplanes(model.readable_tree_.tree_).any()
    for nodes in np.split(np.arange(model.space_.node_count), [1]):
        assert np.all(model.space_.n_node_samples[nodes] > 0)


def test_look_ahead_knows_hyperplanes():
    X, y = diagonal()
    model = BayesianTreeClassifier(partitions="oblique", lookahead=1).fit(X, y)
    assert hyperplanes(model.tree_).any()
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("partitions", ["slanted", None, 1])
def test_other_partitions_are_refused(partitions):
    with pytest.raises(ValueError, match="partitions must be 'axis' or 'oblique'"):
        BayesianTreeClassifier(partitions=partitions).fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
