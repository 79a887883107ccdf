"""Predictive distributions hold what they promise on rows that were not seen."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_diabetes

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceRegressor, load
from baytree.growth import _table_data, assign_small_folds
from baytree.outcomes import Target
from baytree.table import Rows


def problem(n, noise, seed=0):
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(n, 5))
    draws = {
        "normal": random.normal(size=n),
        "heavy tails": random.standard_t(2, size=n),
        "short tails": random.uniform(-1, 1, size=n),
    }
    return X, 3 * np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + draws[noise]


def coverage(model, X, y):
    low, high = model.predict_interval(X).T
    return np.mean((y >= low) & (y <= high))


@pytest.mark.parametrize("noise", ["normal", "heavy tails", "short tails"])
@pytest.mark.parametrize("make", [BayesianTreeRegressor, TreeSpaceRegressor])
def test_intervals_hold_on_new_rows(make, noise):
    model = make().fit(*problem(1500, noise))
    assert model.spread_ != 1.0
    n_new = 4000 if make is BayesianTreeRegressor else 1000  # quantiles of mixtures take their time
    assert 0.87 < coverage(model, *problem(n_new, noise, seed=1)) < 0.93


@pytest.mark.parametrize("make", [BayesianTreeRegressor, TreeSpaceRegressor])
def test_what_is_known_of_means_stays_as_it_is(make):
    X, y = problem(400, "heavy tails")
    wide, bare = make().fit(X, y), make(calibrate=False).fit(X, y)
    X, y = X[:100], y[:100]
    assert bare.spread_ == 1.0
    assert_allclose(wide.predict(X), bare.predict(X))
    assert_allclose(wide.posterior(X), bare.posterior(X))
    assert_allclose(wide.predict_interval(X, kind="mean"), bare.predict_interval(X, kind="mean"))
    middle = wide.predict_quantiles(X, [0.5])
    assert_allclose(middle, bare.predict_quantiles(X, [0.5]), atol=0.2 * y.std())
    ratio = np.diff(wide.predict_interval(X)) / np.diff(bare.predict_interval(X))
    if make is BayesianTreeRegressor:
        assert_allclose(ratio, wide.spread_)
        assert_allclose(wide.predict(X, return_std=True)[1], wide.spread_ * bare.predict(X, return_std=True)[1])
    else:
        assert np.all((ratio - 1) * (wide.spread_ - 1) > 0)


def test_the_spread_depends_on_what_is_in_the_rows_alone():
    X, y = load_diabetes(return_X_y=True)
    model, order = BayesianTreeRegressor().fit(X, y), np.random.default_rng(0).permutation(len(y))
    for other in (
        BayesianTreeRegressor().fit(X[order], y[order]),
        BayesianTreeRegressor().fit(X, 1e6 - 3 * y),
        BayesianTreeRegressor(n_jobs=2).fit(X, y),
    ):
        assert_allclose(other.spread_, model.spread_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.* rows are equal to another one")
def test_equal_rows_may_come_in_any_order():
    X, y = load_diabetes(return_X_y=True)
    random = np.random.default_rng(0)
    rows, weight = random.integers(0, 200, 400), random.uniform(0.5, 2, 400).round(1)
    order = random.permutation(400)
    for given in ({}, {"sample_weight": weight}):
        one = BayesianTreeRegressor().fit(X[rows], y[rows], **given)
        other = BayesianTreeRegressor().fit(X[rows[order]], y[rows[order]], **{k: w[order] for k, w in given.items()})
        assert_allclose(other.spread_, one.spread_, rtol=1e-9)


def test_rows_are_left_out_one_by_one():
    """A row that is there twice says what its equal will be, as does one of weight 2; one of 1.5 is left out whole."""
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(UserWarning, match="884 of 884 rows are equal to another one in X and y: if they are copies"):
        twice = BayesianTreeRegressor().fit(np.repeat(X, 2, axis=0), np.repeat(y, 2))
    double = BayesianTreeRegressor().fit(X, y, sample_weight=np.full(len(y), 2.0))
    assert_allclose(twice.predict(X), double.predict(X))
    assert twice.spread_ == double.spread_
    assert BayesianTreeRegressor().fit(X, y, sample_weight=np.full(len(y), 1.5)).spread_ > double.spread_


def test_equal_rows_are_dealt_out_to_the_folds():
    X, y, weight = np.repeat([[0.0], [1.0]], [40, 7], axis=0), np.repeat([1.0, 2.0], [40, 7]), np.linspace(1, 2, 47)
    for target in (Target(y), Target(y, weight)):
        folds = assign_small_folds(Rows(X), target, 10, 5000)
        assert_array_equal(np.bincount(folds[:40]), 4)
        assert len(set(folds[40:])) == 7
        assert_array_equal(assign_small_folds(Rows(X), target, 10, 5000, by=-y)[:40] // 10, 0)
    assert np.count_nonzero(assign_small_folds(Rows(X), Target(y), 2, 10) < 2) in range(8, 13)


@pytest.mark.parametrize("make", [np.asarray, sparse.csc_array])
def test_rows_with_the_same_values_in_other_columns_may_come_in_any_order(make):
    random = np.random.default_rng(0)
    X, y = random.integers(0, 2, (300, 6)).astype(float), random.integers(0, 2, 300)
    folds, order = assign_small_folds(Rows(make(X)), Target(y), 5, 5000), random.permutation(300)
    again = assign_small_folds(Rows(make(X[order])), Target(y[order]), 5, 5000)
    sides = random.permutation(6)
    turned = assign_small_folds(Rows(make(X[:, sides])), Target(y), 5, 5000)

    def contents(X, y, folds):
        return sorted(map(tuple, np.column_stack([X, y, folds]).tolist()))

    assert contents(X[order], y[order], again) == contents(X, y, folds)
    assert contents(X, y, turned) == contents(X, y, folds)


def test_the_spread_is_kept_in_files(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    model = BayesianTreeRegressor().fit(X, y)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.spread_ == model.spread_
    assert_allclose(again.predict_interval(X), model.predict_interval(X), rtol=0)


def test_the_distribution_function_is_that_of_the_distribution():
    X, y = problem(300, "normal")
    outcome, posterior = (model := BayesianTreeRegressor().fit(X, y)).outcome_, model.posterior(X)
    assert_allclose(outcome.cdf(posterior, y), outcome.distribution(posterior).cdf(y), atol=1e-12)
    space = TreeSpaceRegressor().fit(X, y)
    cdf = space.fitted_.cdf_at(space._read_all(X), y)
    assert_allclose(cdf(space.outcome_), space.predict_dist(X).cdf(y), atol=1e-9)


@pytest.mark.parametrize("outcome", ["poisson", "negative_binomial", "exponential"])
def test_outcomes_whose_width_is_not_free_have_no_spread(outcome):
    X = np.random.default_rng(0).normal(size=(60, 2))
    assert BayesianTreeRegressor(outcome=outcome).fit(X, np.arange(1.0, 61)).spread_ == 1.0


def test_few_rows_are_never_narrower_and_equal_rows_are_not_calibrated():
    assert BayesianTreeRegressor().fit(np.arange(19.0)[:, None], np.arange(19.0)).spread_ > 1.0
    assert BayesianTreeRegressor().fit(np.zeros((50, 1)), np.ones(50)).spread_ == 1.0


def test_calibrate_must_be_true_or_false():
    with pytest.raises(TypeError, match="calibrate must be True or False; got 1"):
        BayesianTreeRegressor(calibrate=1).fit([[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize("outcome", ["classes", "normal", "poisson", "exponential", "negative_binomial"])
def test_the_evidence_is_searched_in_at_most_ten_fits(outcome):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 3)), random.poisson(3, size=200) + 1.0
    if outcome == "classes":
        model, y = BayesianTreeClassifier(prior="evidence"), y > 3
    else:
        model = BayesianTreeRegressor(outcome=outcome, prior="evidence", calibrate=False)
    with mock.patch.object(_table_data, "grow_tree", wraps=_table_data.grow_tree) as grown:
        model.fit(X, y)
    # Counts have a dispersion too, for which both halves of the rows grow a tree.
    assert grown.call_count <= 10 + (2 * 9 if outcome == "negative_binomial" else 0)


def test_an_interrupted_calibration_keeps_the_space():
    X, y = problem(300, "normal")
    with (
        mock.patch("baytree.estimators._space.calibrate", side_effect=KeyboardInterrupt),
        pytest.warns(UserWarning, match="calibration was interrupted"),
    ):
        model = TreeSpaceRegressor(max_nodes=20).fit(X, y)
    assert model.spread_ == 1.0
    assert model.predict(X).shape == (300,)
