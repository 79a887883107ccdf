"""The means of regression forests are stretched by what rows ask for that trees lack."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_friedman1

from baytree import BayesianForestRegressor, load

X, Y = make_friedman1(900, noise=0.5, random_state=0)


def forest(**parameters):
    return BayesianForestRegressor(**{"n_estimators": 60, "random_state": 0} | parameters)


@pytest.fixture(scope="module")
def both():
    return forest().fit(X[:450], Y[:450]), forest(calibrate=False).fit(X[:450], Y[:450])


def test_means_are_stretched_about_the_overall_mean(both):
    model, bare = both
    slope, centre = model.fitted_.outcome.slope, model.fitted_.outcome.shift
    assert 1.01 < slope < 1.2
    assert bare.fitted_.outcome.slope == 1
    assert_allclose(centre, Y[:450].mean())
    assert_allclose(model.predict(X), centre + slope * (bare.predict(X) - centre))
    assert_allclose(model.predict(X), np.mean([tree.predict(X) for tree in model.trees_], axis=0))
    assert_array_equal(model.readable_tree_.predict(X), bare.readable_tree_.predict(X))
    assert model.score(X[450:], Y[450:]) > bare.score(X[450:], Y[450:])


def test_intervals_lie_about_the_stretched_means(both):
    model, _ = both
    low, high = model.predict_interval(X[450:]).T
    assert 0.85 < np.mean((low <= Y[450:]) & (Y[450:] <= high)) < 0.95
    assert_allclose(model.predict_dist(X[:5]).mean(), model.predict(X[:5]))


def test_the_slope_is_that_of_least_squares_on_rows_that_trees_lack():
    """With hundreds of trees, whose averages have little noise, and many rows, beside which the prior is small."""
    model = forest(n_estimators=400, oob_score=True).fit(X[:450], Y[:450])
    bare = forest(n_estimators=400, oob_score=True, calibrate=False).fit(X[:450], Y[:450])
    p = bare.oob_prediction_
    assert_allclose(model.slope_, np.cov(p, Y[:450])[0, 1] / p.var(ddof=1), atol=0.02)
    centre, slope = model.fitted_.outcome.shift, model.fitted_.outcome.slope
    assert_allclose(model.oob_prediction_, centre + slope * (p - centre))


def test_the_order_of_rows_does_not_matter(both):
    model, _ = both
    order = np.random.default_rng(0).permutation(450)
    other = forest().fit(X[:450][order], Y[:450][order])
    assert other.slope_ == model.slope_
    assert_allclose(other.predict(X), model.predict(X), rtol=1e-12)


def test_neither_unit_nor_zero_of_y_matter(both):
    model, _ = both
    assert_allclose(forest().fit(X[:450], 1000 - 7 * Y[:450]).slope_, model.slope_, atol=1e-3)


def test_files_and_more_trees_keep_the_slope(both, tmp_path):
    model, _ = both
    model.save(tmp_path / "forest.baytree")
    read = load(tmp_path / "forest.baytree")
    for one, other in ((read, model), (read.readable_tree_, model.readable_tree_), (read.trees_[0], model.trees_[0])):
        assert_array_equal(one.predict(X), other.predict(X))
    grown = forest(n_estimators=20, warm_start=True).fit(X[:450], Y[:450])
    grown.set_params(n_estimators=60).fit(X[:450], Y[:450])
    assert_array_equal(grown.predict(X), model.predict(X))


def test_some_forests_are_not_stretched():
    few = forest().fit(X[:15], Y[:15])
    monotonic = forest(n_estimators=10, monotonic_cst=[1] + [0] * 9).fit(X[:200], Y[:200])
    counts = forest(n_estimators=10, outcome="poisson").fit(X[:200], Y[:200].clip(0).round())
    constant = forest(n_estimators=10).fit(X[:200], np.ones(200))
    assert {getattr(model.fitted_.outcome, "slope", 1.0) for model in (few, monotonic, counts, constant)} == {1.0}
    noise = forest().fit(X[:300], np.random.default_rng(0).normal(size=300))
    assert 0.5 < noise.fitted_.outcome.slope < 1.2
