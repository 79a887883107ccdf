"""What a fitted tree says about rows, and what must not change it."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_iris

from baytree import BayesianTreeClassifier, PartitionPrior
from tests import strategies
from tests.comparison import assert_same_store

IRIS = load_iris(return_X_y=True)


def fit(problem, **others):
    X, y, weight, parameters = problem
    return BayesianTreeClassifier(**parameters | others).fit(X, y, sample_weight=weight)


def iris_model(**parameters):
    return BayesianTreeClassifier(prior=1.0, **parameters).fit(*IRIS)


def assert_same_arrays(one, other, *, but=()):
    assert_same_store(one.tree_, other.tree_, but=but)


@given(strategies.problems())
def test_training_rows_fall_into_the_leaves_they_were_counted_in(problem):
    model = fit(problem)
    leaves = model.apply(problem[0])
    tree = model.tree_
    assert_array_equal(np.bincount(leaves, minlength=tree.node_count), np.where(tree.is_leaf, tree.n_node_samples, 0))


@given(strategies.problems(max_leaf_nodes=None))
def test_the_posterior_of_a_leaf_is_its_prior_and_its_rows(problem):
    X, y, weight, _ = problem
    model = fit(problem)
    leaves, weight = model.apply(X), np.ones(len(y)) if weight is None else np.array(weight)
    counts = np.zeros(model.tree_.posterior.shape)
    np.add.at(counts, (leaves, y), weight)
    assert_allclose(model.posterior(X), (model.tree_.prior + counts)[leaves], rtol=1e-12)


@given(strategies.problems(), st.data())
def test_rows_satisfy_every_split_on_their_path(problem, data):
    model = fit(problem)
    n_features = problem[0].shape[1]
    X = np.vstack(
        [problem[0], np.array(data.draw(strategies.tables(max_rows=3, max_features=1))).repeat(n_features, 1)]
    )
    path, leaves, tree = model.decision_path(X), model.apply(X), model.tree_
    assert path.shape == (len(X), tree.node_count)
    assert_array_equal(path.data, 1)
    for row, leaf in enumerate(leaves):
        nodes = path.indices[path.indptr[row] : path.indptr[row + 1]]
        assert (nodes[0], nodes[-1]) == (0, leaf)
        assert tree.is_leaf[leaf]
        for node, child in pairwise(nodes):
            below = X[row, tree.feature[node]] <= tree.threshold[node]
            assert child == (tree.children_left if below else tree.children_right)[node]


@given(strategies.problems())
def test_every_answer_is_read_off_the_leaf(problem):
    X, model = problem[0], fit(problem)
    leaves, posterior = model.apply(X), model.posterior(X)
    proba = model.predict_proba(X)
    assert_array_equal(posterior, model.tree_.posterior[leaves])
    assert_array_equal(proba, model.tree_.value[leaves, 0])
    calibrated = model.tree_.calibrated[leaves]
    assert_allclose(proba, calibrated / calibrated.sum(axis=1, keepdims=True), rtol=1e-12)
    assert_allclose(proba.sum(axis=1), 1, rtol=1e-12)
    assert_array_equal(model.predict_log_proba(X), np.log(proba))
    assert_array_equal(model.predict(X), model.classes_[np.argmax(proba, axis=1)])


@pytest.mark.parametrize("y", [[1, 0], [2, 1, 0, 2, 1, 0], ["b", "a"], [True, False]])
def test_ties_between_classes_go_to_the_first(y):
    model = BayesianTreeClassifier().fit(np.zeros((len(y), 1)), y)
    assert model.predict([[0.0]]) == [min(y)]


@given(strategies.problems(), st.floats(0.01, 0.99))
def test_intervals_are_those_of_the_beta_distribution(problem, level):
    X, model = problem[0], fit(problem)
    intervals = model.predict_interval(X, level=level)
    assert intervals.shape == (len(X), len(model.classes_), 2)
    posterior = model.tree_.calibrated[model.apply(X)]
    for c in range(len(model.classes_)):
        rest = np.delete(posterior, c, axis=1).sum(axis=1)
        if len(model.classes_) == 1:
            expected = np.ones((len(X), 2))
        else:
            expected = np.transpose(stats.beta(posterior[:, c], rest).interval(level))
        assert_allclose(intervals[:, c], expected, rtol=1e-6, atol=1e-12)


def test_intervals_contain_the_mean_and_nest():
    X, _ = IRIS
    model = iris_model()
    proba, levels = model.predict_proba(X), [0.5, 0.8, 0.9, 0.99]
    intervals = [model.predict_interval(X, level=level) for level in levels]
    assert np.all((intervals[2][..., 0] < proba) & (proba < intervals[2][..., 1]))
    for narrow, wide in pairwise(intervals):
        assert np.all((wide[..., 0] < narrow[..., 0]) & (narrow[..., 1] < wide[..., 1]))
    assert_array_equal(model.predict_interval(X), intervals[2])


def test_intervals_of_two_classes_mirror_each_other():
    X, y = load_breast_cancer(return_X_y=True)
    intervals = BayesianTreeClassifier().fit(X, y).predict_interval(X)
    assert_allclose(intervals[:, 0], 1 - intervals[:, 1, ::-1], rtol=1e-9)


@pytest.mark.parametrize(("prior", "weight"), [(1e-3, 1e17), (1e-17, 1.0), (1e-300, 1.0)])
def test_intervals_of_nearly_certain_leaves_are_numbers(prior, weight):
    X, y = np.array([[0.0], [1.0]] * 10), [0, 1] * 10
    model = BayesianTreeClassifier(prior=prior, calibrate=False).fit(X, y, sample_weight=np.full(20, weight))
    assert model.get_n_leaves() == 2
    assert_allclose(model.predict_interval(X[:1]), [[[1, 1], [0, 0]]], atol=1e-9)


def test_quantiles_have_the_order_they_were_asked_in():
    X, _ = IRIS
    model = iris_model()
    quantiles = model.predict_quantiles(X, [0.95, 0.5, 0.05, 0.0, 1.0])
    assert quantiles.shape == (150, 3, 5)
    assert_allclose(quantiles[..., [2, 0]], model.predict_interval(X, level=0.9), rtol=1e-12)
    assert_array_equal(quantiles[..., 3], 0)
    assert_array_equal(quantiles[..., 4], 1)
    assert_array_equal(model.predict_quantiles(X, 0.5)[..., 0], quantiles[..., 1])


def test_the_predictive_distribution_is_that_of_the_probabilities():
    X, y = IRIS
    model = iris_model()
    distribution, proba = model.predict_dist(X), model.predict_proba(X)
    for c, outcome in enumerate(np.eye(3)):
        assert_allclose(distribution.pmf(outcome), proba[:, c], rtol=1e-12)
    assert_allclose(distribution.logpmf(np.eye(3)[y]), np.log(proba[np.arange(150), y]), rtol=1e-9)
    assert_allclose(distribution.mean(), proba)


@given(strategies.problems())
def test_explanations_say_what_the_predictions_say(problem):
    X, model = problem[0], fit(problem)
    proba, intervals, path = model.predict_proba(X), model.predict_interval(X), model.decision_path(X)
    explanations = model.explain(X)
    for i, explanation in enumerate(explanations):
        assert explanation.leaf == model.apply(X)[i]
        assert explanation.n_rows == model.tree_.n_node_samples[explanation.leaf]
        assert list(explanation.estimate.values()) == proba[i].tolist()
        assert_allclose(list(explanation.interval.values()), intervals[i], rtol=1e-12)
        assert list(explanation.estimate) == [str(label) for label in model.classes_]
        nodes = path.indices[path.indptr[i] : path.indptr[i + 1] - 1]
        assert len(explanation.steps) == len(nodes)
        for step, node in zip(explanation.steps, nodes, strict=True):
            feature = model.tree_.feature[node]
            assert (step.feature, step.value, step.threshold) == (
                f"x{feature}",
                X[i, feature],
                model.tree_.threshold[node],
            )
            bound = np.floor(step.threshold) if model.schema_.columns[feature].is_integer else step.threshold
            assert step.condition == f"{'<=' if step.value <= step.threshold else '>'} {bound:g}"
            assert step.log_odds == model.tree_.log_odds_split[node] > 0
            assert 0 <= step.runner_up_share <= 1
            assert step.runner_up != step.feature
        json.dumps(explanation.to_dict(), allow_nan=False)


def test_an_explanation_reads_as_text():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = BayesianTreeClassifier(prior=1.0).fit(X, y.map(dict(enumerate(["setosa", "versicolor", "virginica"]))))
    text = str(model.explain(X[100:101])[0])
    assert text.startswith("virginica\nbecause petal width (cm) = 2.5 > 1.75  (+0.6265; 2 splits, the weakest: split ")
    assert "\n    virginica: 0.9" in text


VIEWS = {
    "float32": lambda X: X.astype(np.float32),
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "uint16": lambda X: X.astype(np.uint16),
    "big endian": lambda X: X.astype(">f8"),
    "Fortran order": np.asfortranarray,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "every other row": lambda X: np.repeat(X, 2, axis=0)[::2],
    "backwards": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "transposed": lambda X: X.T.copy().T,
    "read-only": lambda X: read_only(X.copy()),
    "list": lambda X: X.tolist(),
    "frame": pd.DataFrame,
    "frame of small types": lambda X: pd.DataFrame(X).astype({0: "float32", 1: "int8"}),
}


def read_only(array):
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS.keys())
def test_the_form_of_the_table_does_not_matter(view):
    """Whole numbers up to 100, which every type can hold."""
    X, y = np.rint(IRIS[0] * 10), IRIS[1]
    expected = BayesianTreeClassifier(prior=1.0).fit(X, y)
    model = BayesianTreeClassifier(prior=1.0).fit(view(X), y)
    assert_same_arrays(expected, model)
    assert_array_equal(model.predict_proba(view(X)), expected.predict_proba(X))
    assert_array_equal(model.decision_path(view(X)).toarray(), expected.decision_path(X).toarray())


@pytest.mark.parametrize("method", ["fit", "predict_proba", "explain"])
def test_the_table_is_not_changed(method):
    X, y = IRIS[0].copy(), IRIS[1].copy()
    model = iris_model()
    model.fit(X, y) if method == "fit" else getattr(model, method)(X)
    assert_array_equal(X, IRIS[0])
    assert_array_equal(y, IRIS[1])


def test_answers_are_the_callers_to_change():
    X, _ = IRIS
    model = iris_model()
    expected = model.predict_proba(X)
    for answer in (model.predict_proba(X), model.posterior(X), model.predict_interval(X), model.apply(X)):
        answer[:] = 0
    assert_array_equal(model.predict_proba(X), expected)


@given(strategies.problems())
def test_importances_are_shares_of_the_gain_or_zero(problem):
    """A split may lower the likelihood where the prior wants one: such a split gains nothing."""
    model = fit(problem)
    tree, importances = model.tree_, model.feature_importances_
    gain = np.zeros(problem[0].shape[1])
    for node in np.flatnonzero(~tree.is_leaf):
        gain[tree.feature[node]] += max(tree.log_likelihood_split[node] - tree.log_likelihood[node], 0)
    assert_allclose(importances, gain / (gain.sum() or 1), rtol=1e-9)
    assert np.isclose(importances.sum(), 1) or not importances.any()


@given(strategies.problems(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(problem, random):
    X, y, _, parameters = problem
    order = random.sample(range(len(y)), len(y))
    one = BayesianTreeClassifier(**parameters).fit(X, y)
    other = BayesianTreeClassifier(**parameters).fit(X[order], y[order])
    rounded = ["log_likelihood_split", "log_odds_split", "feature_posterior"]  # sums over rows
    assert_same_arrays(one, other, but=rounded)
    for name in rounded:
        assert_allclose(getattr(other.tree_, name), getattr(one.tree_, name), rtol=1e-9, atol=1e-12)


@given(strategies.problems(feature_prior=None), st.integers(0, 3), st.integers(0, 3))
def test_constant_columns_change_nothing(problem, before, behind):
    X, y, weight, parameters = problem
    proper = parameters | {"partition_prior": PartitionPrior(location=parameters["partition_prior"].location)}
    one = BayesianTreeClassifier(**proper).fit(X, y, sample_weight=weight)
    wide = np.hstack([np.full((len(y), before), 7.0), X, np.full((len(y), behind), -1e300)])
    other = BayesianTreeClassifier(**proper).fit(wide, y, sample_weight=weight)
    assert_same_arrays(one, other, but=["feature", "feature_posterior"])
    assert_array_equal(other.tree_.feature, np.where(one.tree_.is_leaf, -2, one.tree_.feature + before))
    assert_array_equal(
        np.delete(other.tree_.feature_posterior, np.r_[:before, before + X.shape[1] : wide.shape[1]], axis=1),
        one.tree_.feature_posterior,
    )


@given(strategies.problems())
def test_only_the_order_of_values_matters(problem):
    """Any increasing function of a column gives the same partition; ranks are one."""
    X, y, weight, parameters = problem
    parameters = parameters | {"partition_prior": PartitionPrior(split=parameters["partition_prior"].split)}
    parameters["calibrate"] = False  # held-out rows between two values go to the nearer one
    ranks = np.column_stack([np.unique(column, return_inverse=True)[1] for column in X.T])
    one = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    other = BayesianTreeClassifier(**parameters).fit(ranks, y, sample_weight=weight)
    assert_same_arrays(one, other, but=["threshold"])
    assert_array_equal(one.apply(X), other.apply(ranks))


@given(strategies.problems(feature_prior=None))
def test_of_equal_columns_the_first_is_split(problem):
    X, y, weight, parameters = problem
    tree = BayesianTreeClassifier(**parameters).fit(np.hstack([X, X]), y, sample_weight=weight).tree_
    assert np.all(tree.feature < X.shape[1])
    assert_allclose(*np.split(tree.feature_posterior[:, :-1], 2, axis=1), rtol=1e-9)


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[3.0]], ["only"]),
        ([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1, 1, 1]),
        ([[1.0, 2.0]] * 4, ["a", "b", "a", "b"]),
        ([[0.0], [-0.0]] * 10, [0, 1] * 10),
    ],
    ids=["one row", "one class", "equal rows", "both zeros"],
)
def test_where_there_is_nothing_to_split_there_is_one_leaf(X, y):
    model = BayesianTreeClassifier(prior=1.0).fit(X, y)
    classes, counts = np.unique(y, return_counts=True)
    posterior = counts + 1.0
    assert (model.get_n_leaves(), model.get_depth()) == (1, 0)
    assert_array_equal(model.posterior(X[:1]), [posterior])
    assert_array_equal(model.predict_proba(X[:1]), [posterior / posterior.sum()])
    assert_array_equal(model.predict(X), np.full(len(X), classes[0]))
    assert_array_equal(model.apply(X), np.zeros(len(X)))
    assert_array_equal(model.decision_path(X).toarray(), np.ones((len(X), 1)))
    assert_array_equal(model.feature_importances_, np.zeros(len(X[0])))
    assert_array_equal(model.feature_posterior_, [*np.zeros(len(X[0])), 1])
    assert model.log_evidence_ == model.log_posterior_ == model.tree_.log_likelihood[0]
    assert model.explain(X[:1])[0].steps == ()


def test_one_class_is_certain():
    model = BayesianTreeClassifier().fit([[0.0], [1.0]], ["a", "a"])
    assert_array_equal(model.predict_interval([[5.0]]), [[[1, 1]]])
    assert_array_equal(model.predict_proba([[5.0]]), [[1]])
    assert model.predict_dist([[5.0]]).pmf([1]) == 1
