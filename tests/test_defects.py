"""Defects that the first implementation of the paper has, and that must never appear here.

The numbers are those of the survey of that code (defects of regression and of oblique trees aside).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_score

from baytree import BayesianTreeClassifier
from tests.comparison import assert_same_store


def separable(values, repeats=20):
    """One column of two values, and the class that each value stands for."""
    X = np.repeat(values, repeats)[:, None]
    return X, np.repeat([0, 1], repeats)


def deep_problem(n_rows=4000):
    """Two columns and a checkerboard of classes: a tree of several levels."""
    random = np.random.default_rng(0)
    X = random.random((n_rows, 2))
    return X, (np.floor(X * [4, 3]).sum(axis=1) % 2).astype(int)


def test_d1_the_default_prior_has_one_alpha_per_class():
    """The default could not be fitted, and its prior would have had one entry per feature."""
    X = np.arange(12.0).reshape(6, 2)
    tree = BayesianTreeClassifier().fit(X, [0, 1, 2, 3, 4, 4]).tree_
    assert_allclose(tree.prior, np.full((tree.node_count, 5), 0.4))


def test_d2_rows_satisfy_every_split_on_their_decision_path():
    """Paths were wrong below the second level: positions within a node were taken for rows of the table."""
    X, y = deep_problem()
    model = BayesianTreeClassifier(prior=1.0).fit(X, y)
    tree = model.tree_
    assert model.get_depth() >= 4
    path = model.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(~tree.is_leaf):
        below = X[:, tree.feature[node]] <= tree.threshold[node]
        assert_array_equal(path[:, tree.children_left[node]], path[:, node] & below)
        assert_array_equal(path[:, tree.children_right[node]], path[:, node] & ~below)


@pytest.mark.parametrize(
    ("dtype", "low", "high"), [(np.int8, 100, 120), (np.uint8, 100, 200), (np.int64, 2**61, 2**62)]
)
def test_d3_the_midpoint_of_integers_does_not_overflow(dtype, low, high):
    """The two values were added in their own type, so 100 and 120 in int8 were split at -18."""
    X, y = separable(np.array([low, high], dtype=dtype))
    model = BayesianTreeClassifier(prior=1.0, thresholds="midpoint").fit(X, y)
    assert model.tree_.threshold[0] == low + (high - low) / 2
    assert model.score(X, y) == 1


@pytest.mark.parametrize("low", [1.0, 0.1, -0.1, 1e300, 5e-324, -5e-324])
def test_d4_neighbouring_floats_are_separated(low):
    """The midpoint of neighbouring floats is one of them, and rows equal to it went to the wrong side."""
    high = np.nextafter(low, np.inf)
    X, y = separable([low, high])
    model = BayesianTreeClassifier(prior=1.0).fit(X, y)
    assert low <= model.tree_.threshold[0] < high
    assert model.score(X, y) == 1


def test_d5_a_missing_value_has_a_way_through_the_tree():
    """NaN gave class 0 from predict and None from predict_proba, without a word."""
    X, y = deep_problem(200)
    model = BayesianTreeClassifier(prior=1.0, partition_prior=0.99).fit(X, y)
    tree, node = model.tree_, 0
    while tree.children_left[node] >= 0:
        left, right = tree.children_left[node], tree.children_right[node]
        node = left if tree.n_node_samples[left] > tree.n_node_samples[right] else right
    assert tree.depth[node] > 0
    rows = np.full((1, X.shape[1]), np.nan)
    assert model.apply(rows) == node
    assert_array_equal(model.predict_proba(rows), tree.value[[node], 0])
    assert "missing" in str(model.explain(rows)[0])


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_d6_infinite_values_are_refused(value):
    """Infinity in X gave infinite thresholds."""
    X, y = separable([0.0, 1.0])
    model = BayesianTreeClassifier(prior=1.0).fit(X, y)
    X[0, 0] = value
    with pytest.raises(ValueError, match=r"Column 0 .* infinite"):
        BayesianTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"Column 0 .* infinite"):
        model.predict(X)


def test_d7_a_large_offset_changes_no_tree():
    """Large offsets lost splits to rounding. Here in X: whole numbers, so that 1e12 takes nothing away."""
    X, y = deep_problem()
    X = np.rint(X * 1000)
    near, far = (BayesianTreeClassifier(prior=1.0).fit(X + offset, y).tree_ for offset in (0.0, 1e12))
    assert near.n_leaves > 10
    assert_array_equal(far.threshold[~far.is_leaf] - 1e12, near.threshold[~near.is_leaf])
    assert_same_store(near, far, but={"threshold"})


def test_d8_constant_columns_change_no_tree():
    """The prior was divided by all columns, so 200 columns of zeros could take the last split away."""
    X, y = separable([0.0, 1.0], repeats=5)
    plain = BayesianTreeClassifier(prior=1.0).fit(X, y)
    assert plain.get_n_leaves() == 2
    wide = BayesianTreeClassifier(prior=1.0).fit(np.hstack([X, np.zeros((10, 200))]), y)
    assert_same_store(plain.tree_, wide.tree_, but={"feature_posterior"})


def test_d9_smoothing_reaches_the_posterior_of_pure_children():
    """The prior of a pure child was smoothed and its posterior was not."""
    X, y = separable([0.0, 1.0], repeats=50)
    tree = BayesianTreeClassifier(prior=1.0, smoothing=0.3).fit(X, y).tree_
    assert_allclose(tree.prior, [[1, 1], [16, 1], [1, 16]])
    assert_allclose(tree.posterior, [[51, 51], [66, 1], [1, 66]])


def test_d13_scikit_learn_sees_a_classifier():
    """Bases in the wrong order hid that it is a classifier, and scores by probability were NaN."""
    X, y = load_breast_cancer(return_X_y=True)
    assert is_classifier(BayesianTreeClassifier())
    assert np.all(cross_val_score(BayesianTreeClassifier(), X, y, scoring="roc_auc", cv=3) > 0.85)


def test_d14_labels_are_anything_and_come_back_as_they_were():
    """Labels had to be 0, 1, 2, ...; predictions were floats; there were no classes_ and no weights."""
    X, _ = separable([0.0, 1.0])
    y = np.repeat(["yes", "no"], 20)
    model = BayesianTreeClassifier(prior=1.0).fit(X, y, sample_weight=np.ones(40))
    assert_array_equal(model.classes_, ["no", "yes"])
    assert model.n_features_in_ == 1
    assert_array_equal(model.predict(X), y, strict=True)


def test_d14_nothing_is_random():
    """A fixed seed was hidden in the code. Here a fit neither reads nor moves NumPy's random state."""
    X, y = deep_problem(500)
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, second = (BayesianTreeClassifier(prior=1.0).fit(X, y).tree_ for _ in range(2))
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    assert_same_store(first, second)


def test_d15_importances_without_a_split_are_zero():
    """Without a split the importances were 0 / 0."""
    model = BayesianTreeClassifier().fit([[0.0, 1.0], [1.0, 0.0]], [1, 1])
    assert_array_equal(model.feature_importances_, [0, 0])


def test_d15_the_index_of_a_series_does_not_matter():
    """A pandas y whose index does not start at 0 raised KeyError."""
    X, y = deep_problem(200)
    shifted = pd.Series(y, index=np.arange(200)[::-1] + 1000)
    plain = BayesianTreeClassifier(prior=1.0).fit(X, y, sample_weight=y + 1)
    model = BayesianTreeClassifier(prior=1.0).fit(X, shifted, sample_weight=shifted + 1)
    assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
