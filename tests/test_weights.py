"""What weights mean: a row of weight 2 is the row twice, a row of weight 0 is no row."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln
from sklearn.utils.class_weight import compute_sample_weight

from baytree import BayesianTreeClassifier
from tests import strategies
from tests.comparison import assert_same_store, every_array

STRUCTURE = ["children_left", "children_right", "feature", "threshold", "depth"]


def assert_same_structure(one, other):
    for name in STRUCTURE:
        assert_array_equal(getattr(one.tree_, name), getattr(other.tree_, name))


def assert_same_posterior(one, other):
    """Compare trees and their numbers but for rounding; the numbers of rows may differ."""
    assert_array_equal(one.classes_, other.classes_)
    assert_same_structure(one, other)
    mine, its = every_array(one.tree_), every_array(other.tree_)
    for name in mine.keys() - {"n_node_samples", "n_missing", "missing_go_to_left"}:
        assert_allclose(mine[name], its[name], rtol=1e-9, atol=1e-9, err_msg=name)


def assert_identical(one, other):
    assert_array_equal(one.classes_, other.classes_)
    assert_same_store(one.tree_, other.tree_)


@st.composite
def weighted_problems(draw, weights):
    """Parameters count rows nowhere: `min_samples_leaf` and the calibration are about rows and not about weight."""
    X, y, _, parameters = draw(strategies.problems(min_samples_leaf=1))
    return X, y, np.array(draw(st.lists(weights, min_size=len(y), max_size=len(y)))), parameters | {"calibrate": False}


def without_array_prior(parameters, y, weight):
    """An array of alphas fits one number of classes only; classes without weight are none."""
    n_classes = len(np.unique(y[weight > 0]))
    prior = parameters["prior"]
    return parameters | {"prior": prior[:n_classes] if isinstance(prior, list) else prior}


@given(weighted_problems(st.integers(0, 3)))
def test_whole_weights_equal_repetition(problem):
    X, y, weight, parameters = problem
    weight[0] = 1
    parameters = without_array_prior(parameters, y, weight)
    weighted = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    repeated = BayesianTreeClassifier(**parameters).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_same_posterior(weighted, repeated)
    assert_array_equal(weighted.tree_.posterior, repeated.tree_.posterior)
    assert_array_equal(weighted.tree_.weighted_n_node_samples, repeated.tree_.n_node_samples)


@given(weighted_problems(st.one_of(st.just(0.0), st.floats(0.1, 5))))
def test_zero_weight_equals_absence(problem):
    X, y, weight, parameters = problem
    weight[0] = 1.5
    parameters = without_array_prior(parameters, y, weight)
    present = weight > 0
    weighted = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    absent = BayesianTreeClassifier(**parameters).fit(X[present], y[present], sample_weight=weight[present])
    assert_identical(weighted, absent)


def test_a_class_without_weight_is_no_class():
    X, y = np.arange(12.0)[:, None], np.repeat(["a", "b", "c"], 4)
    model = BayesianTreeClassifier(prior=1.0).fit(X, y, sample_weight=np.where(y == "b", 0, 1))
    assert_array_equal(model.classes_, ["a", "c"])
    assert model.predict_proba(X).shape == (12, 2)


@given(weighted_problems(st.floats(0.1, 5)), st.data())
def test_a_row_equals_two_rows_that_share_its_weight(problem, data):
    X, y, weight, parameters = problem
    part = weight * np.array(data.draw(st.lists(st.floats(0.1, 0.9), min_size=len(y), max_size=len(y))))
    whole = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    parts = BayesianTreeClassifier(**parameters).fit(
        np.vstack([X, X]), np.append(y, y), sample_weight=np.append(part, weight - part)
    )
    assert_same_posterior(whole, parts)


@given(weighted_problems(st.floats(0.1, 5)), st.integers(2, 4))
def test_a_multiple_of_all_weights_equals_that_many_tables(problem, times):
    X, y, weight, parameters = problem
    scaled = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=times * weight)
    tiled = BayesianTreeClassifier(**parameters).fit(
        np.tile(X, (times, 1)), np.tile(y, times), sample_weight=np.tile(weight, times)
    )
    assert_same_posterior(scaled, tiled)


@given(strategies.problems(), st.floats(0.1, 5))
def test_one_number_is_the_weight_of_every_row(problem, weight):
    X, y, _, parameters = problem
    number = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    assert_identical(number, BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=np.full(len(y), weight)))


@given(strategies.problems())
def test_unit_weights_are_no_weights(problem):
    X, y, _, parameters = problem
    weighted = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=np.ones(len(y)))
    assert_identical(weighted, BayesianTreeClassifier(**parameters).fit(X, y))


@given(strategies.problems(prior=0.5), st.lists(st.floats(0, 5, allow_subnormal=False), min_size=4, max_size=4))
def test_class_weights_are_weights_of_the_rows(problem, by_class):
    X, y, weight, parameters = problem
    by_class[y[0]] = 1.0
    class_weight = {label: by_class[label] for label in np.unique(y)}
    of_rows = np.array(by_class)[y] * (1 if weight is None else np.array(weight))
    by_label = BayesianTreeClassifier(**parameters, class_weight=class_weight).fit(X, y, sample_weight=weight)
    assert_identical(by_label, BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=of_rows))


def test_a_class_that_class_weight_leaves_out_has_weight_one():
    X, y = np.arange(12.0)[:, None], np.repeat(["a", "b", "c"], 4)
    model = BayesianTreeClassifier(class_weight={"b": 2.5}).fit(X, y)
    assert_allclose(model.tree_.posterior[0], np.array([4, 10, 4]) + 2 / 3)


def test_partial_fit_applies_class_weights():
    X, y = np.tile(np.arange(12.0), 5)[:, None], np.tile(np.repeat(["a", "b", "c"], 4), 5)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    by_class = {"a": 2.0, "c": 0.5}
    model = BayesianTreeClassifier(prior=1.0, class_weight=by_class).fit(X[:40], y[:40], sample_weight=weight[:40])
    model.partial_fit(X[40:], y[40:], sample_weight=weight[40:])
    of_rows = weight * np.array([by_class.get(label, 1.0) for label in y])
    counts = [of_rows[y == label].sum() for label in "abc"]
    assert_allclose(model.tree_.posterior[0], 1.0 + np.array(counts))
    assert_allclose(model.tree_.weighted_n_node_samples[0], of_rows.sum())
    plain = BayesianTreeClassifier(prior=1.0).fit(X[:40], y[:40], sample_weight=of_rows[:40])
    assert_same_posterior(model, plain.partial_fit(X[40:], y[40:], sample_weight=of_rows[40:]))


def test_partial_fit_drops_rows_of_a_class_without_weight():
    X, y = np.arange(12.0)[:, None], np.repeat(["a", "b", "c"], 4)
    model = BayesianTreeClassifier(prior=1.0, class_weight={"b": 0}).fit(X, y)
    assert_array_equal(model.classes_, ["a", "c"])
    model.partial_fit(X, y)
    assert_allclose(model.tree_.posterior[0], [9, 9])
    assert model.tree_.n_node_samples[0] == 16
    first = BayesianTreeClassifier(prior=1.0, class_weight={"b": 0}).partial_fit(X, y, classes=["a", "b", "c"])
    assert_array_equal(first.classes_, ["a", "c"])
    with pytest.raises(ValueError, match="'d'"):
        model.partial_fit(X[:1], ["d"])
    assert model.tree_.n_node_samples[0] == 16


def test_partial_fit_of_rows_that_all_lack_weight_changes_nothing():
    X, y = np.arange(12.0)[:, None], np.repeat(["a", "b", "c"], 4)
    model = BayesianTreeClassifier(prior=1.0, class_weight={"b": 0}).fit(X, y)
    before = model.tree_.posterior.copy()
    model.partial_fit(X[4:8], y[4:8])
    assert_array_equal(model.tree_.posterior, before)


def test_partial_fit_cannot_balance_what_it_has_not_seen():
    X, y = np.arange(12.0)[:, None], np.repeat(["a", "b"], [9, 3])
    model = BayesianTreeClassifier(prior=1.0, class_weight="balanced").partial_fit(X, y)
    assert_identical(model, BayesianTreeClassifier(prior=1.0, class_weight="balanced").fit(X, y))
    before = model.fitted_
    with pytest.raises(ValueError, match="cannot balance"):
        model.partial_fit(X, y)
    assert model.fitted_ is before


def test_weights_that_count_for_hardly_a_row_are_warned_of():
    X, y = np.arange(12.0)[:, None], np.repeat([0, 1], 6)
    with pytest.warns(UserWarning, match=r"sample_weight sums to 1 over 12 rows.* multiply them by 12 "):
        BayesianTreeClassifier().fit(X, y, sample_weight=np.full(12, 1 / 12))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesianTreeClassifier().fit(X, y, sample_weight=np.full(12, 0.2))


@given(strategies.problems())
def test_balanced_weights_are_the_inverse_frequencies(problem):
    X, y, _, parameters = problem
    weight = len(y) / (len(np.unique(y)) * np.bincount(y)[y])
    assert_allclose(weight, compute_sample_weight("balanced", y))
    balanced = BayesianTreeClassifier(**parameters, class_weight="balanced").fit(X, y)
    assert_same_posterior(balanced, BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight))
    assert_allclose(np.ptp(balanced.tree_.posterior[0] - balanced.tree_.prior[0]), 0, atol=1e-9)


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0, 1e3, 2**22, 1e9, 1e15])
def test_weights_of_any_size_count_as_they_are(size):
    """Small and large, whole and real numbers are computed in different ways."""
    X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 1, 0])
    weight = size * np.array([1, 2, 3, 4])
    tree = BayesianTreeClassifier(prior=0.5, max_depth=0).fit(X, y, sample_weight=weight).tree_
    counts = size * np.array([5.0, 5.0])
    expected = gammaln(0.5 + counts).sum() - 2 * gammaln(0.5) + gammaln(1.0) - gammaln(1.0 + counts.sum())
    assert_allclose(tree.posterior, [0.5 + counts])
    assert_allclose(tree.log_likelihood, expected, rtol=1e-12, atol=1e-12)


def test_min_samples_leaf_counts_rows_and_not_weight():
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    heavy = BayesianTreeClassifier(prior=0.1, min_samples_leaf=5).fit(X, y, sample_weight=np.full(8, 100))
    assert heavy.get_n_leaves() == 1
    light = BayesianTreeClassifier(prior=0.1, min_samples_leaf=4).fit(X, y, sample_weight=np.full(8, 100))
    assert light.get_n_leaves() == 2
