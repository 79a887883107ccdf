"""SHAP values: our own against the sum over all subsets, and shap's own on the trees that it can hold."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)
from baytree.export import shap_values, to_shap
from baytree.export._shapley import shapley
from tests import strategies
from tests.reference import shapley as reference
from tests.scoring import N_MODELS, scored

GROUPS = [range(first, first + 10, 2) for first in range(0, N_MODELS, 10)]  # every second model


def assert_additive(shap, prediction):
    values, base = shap.values, np.asarray(shap.base)
    total = base + values.sum(axis=1)
    assert_allclose(total.reshape(prediction.shape), prediction, rtol=1e-10, atol=1e-10 * np.abs(prediction).max())


@pytest.mark.parametrize("seeds", GROUPS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_values_are_those_of_all_subsets(seeds):
    for seed in seeds:
        case = scored(seed)
        numbers, n_features = case.numbers().dense(), len(case.kinds)
        if not all(np.isfinite(grown.value).all() for _, grown in case.members):
            continue
        background = case.rows.iloc[:: max(1, len(case.rows) // 3)]
        others = case.model._read_all(background).dense()
        by_path, by_rows = shap_values(case.model, case.rows), shap_values(case.model, case.rows, background)
        for shap in (by_path, by_rows):
            assert_additive(shap, case.mean())
        for i in range(0, len(numbers), 40):
            for shap, value in (
                (by_path, reference.average(case.members, reference.path_dependent, numbers[i])),
                (by_rows, reference.average(case.members, reference.interventional, numbers[i], others)),
            ):
                base, expected = reference.shapley(value, n_features)
                calibration = case.fitted.forest_calibration
                if calibration is not None:  # its own oracle is in test_forest_calibration.py
                    expected = calibration.contributions(np.asarray(expected)[None], np.asarray(base)[None])[0]
                    base = calibration.probabilities(np.asarray(base))
                scale = np.abs(case.mean()).max()
                assert_allclose(np.reshape(shap.base, -1), base, rtol=1e-10, atol=1e-12 * scale)
                assert_allclose(shap.values[i].reshape(n_features, -1), expected, rtol=1e-9, atol=1e-11 * scale)


@given(strategies.fitted_frames())
def test_values_are_additive_whatever_the_columns(drawn):
    model, frame = drawn
    prediction = model.predict_proba(frame) if hasattr(model, "predict_proba") else model.predict(frame)
    assert_additive(shap_values(model, frame), prediction)
    assert_additive(shap_values(model, frame, frame[:5]), prediction)


def test_a_deep_tree_of_many_rows_is_additive():
    random = np.random.default_rng(0)
    X = random.random((2000, 6))
    y = np.sin(9 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * random.normal(size=2000)
    for options in ({}, {"partitions": "oblique", "max_depth": 4}):
        model = BayesianTreeRegressor(**options).fit(X, y)
        assert model.get_n_leaves() > 8
        shap = shap_values(model, X)
        assert shap.values.shape == (2000, 6)
        assert_additive(shap, model.predict(X))
        assert_additive(shap_values(model, X[:20], X[:50]), model.predict(X[:20]))


def test_features_that_are_not_used_have_no_value():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = BayesianTreeClassifier(max_depth=1).fit(X, y)
    shap = shap_values(model, X)
    unused = np.setdiff1d(np.arange(4), model.fitted_.used_features)
    assert not shap.values[:, unused].any()
    assert shap.names == tuple(X.columns)
    single = shap_values(BayesianTreeClassifier(max_depth=0).fit(X, y), X)
    assert not single.values.any()


def test_a_pipeline_is_explained_by_its_last_step():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), BayesianTreeClassifier()).fit(X, y)
    assert_additive(shap_values(model, X, X[::10]), model.predict_proba(X))


def test_interventional_paths_that_would_take_too_long_are_refused(monkeypatch):
    random = np.random.default_rng(0)
    X = random.random((300, 3))
    y = X.sum(axis=1) > 1.5
    oblique = BayesianTreeClassifier(partitions="oblique").fit(X, y)
    monkeypatch.setattr("baytree.export._shap._MAX_JOINT", 1)
    with pytest.raises(ValueError, match=r"of \d features, for which interventional .* Leave background out"):
        shap_values(oblique, X, X)
    monkeypatch.setattr("baytree.export._paths._MOST_PATHS", 10)
    with pytest.raises(ValueError, match="more than 10 ways to a leaf: leave background out"):
        shap_values(TreeSpaceClassifier(max_nodes=50).fit(X, y), X, X)


def wide_forest():
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 30))
    y = X @ random.normal(size=30) + random.normal(size=500) > 0
    return BayesianForestClassifier(n_estimators=8, random_state=0).fit(X, y), X


def test_hyperplanes_of_any_number_of_features_have_exact_values():
    model, X = wide_forest()
    trees = [model.fitted_.tree(t).trees for t in range(8)]
    assert max(np.diff(tree.hyperplane_start).max() for tree in trees) > 2
    shap = shap_values(model, X[:5])
    assert_additive(shap, model.predict_proba(X[:5]))
    assert not shap.error.any()


def test_drawn_orders_are_additive_and_as_far_off_as_they_say(monkeypatch):
    model, X = wide_forest()
    exact = shap_values(model, X[:40])
    monkeypatch.setattr("baytree.fitted._contributions._MOST_SETS", 8 * 20)
    drawn = shap_values(model, X[:40])
    assert_additive(drawn, model.predict_proba(X[:40]))
    assert (drawn.error > 0).mean() > 0.5
    assert 0.7 < np.sum((drawn.values - exact.values) ** 2) / np.sum(drawn.error**2) < 1.4
    again = shap_values(model, X[3:4])  # alone or among others, the same orders are drawn
    assert_allclose(again.values[0], drawn.values[3], atol=1e-15)


def tree_of_many_features(depth):
    """Every node asks a column of its own, which is noise elsewhere."""
    random = np.random.default_rng(0)
    leaf = np.repeat(np.arange(2**depth), 8)
    X = random.integers(0, 2, size=(len(leaf), 2**depth - 1)).astype(float)
    for level in range(depth):
        X[np.arange(len(leaf)), 2**level - 1 + (leaf >> (depth - level))] = leaf >> (depth - level - 1) & 1
    y = leaf + 0.01 * random.normal(size=len(leaf))
    return BayesianTreeRegressor(prune=False, partition_prior="paper").fit(X, y), X


def path_dependent_values(tree, row):
    """Path by path, where each split on a path has a feature of its own."""
    result = np.zeros(tree.n_features)
    for leaf in np.flatnonzero(tree.is_leaf):
        nodes = tree.path(leaf)
        steps = list(zip(map(tree.split, nodes[:-1]), nodes[:-1], nodes[1:], strict=True))
        features = [split.feature for split, _, _ in steps]
        assert len(set(features)) == len(features)
        taken = [[float(split.goes_left(row) == (tree.children_left[a] == b)) for split, a, b in steps]]
        weight = tree.weighted_n_node_samples
        share = [[weight[b] / weight[a] for _, a, b in steps]]
        result[features] += shapley(np.array(taken), np.array(share))[0][0] * tree.value[leaf, 0, 0]
    return result


def test_trees_of_more_than_64_features_have_exact_values():
    model, X = tree_of_many_features(7)
    assert len(model.tree_.used_features) > 64
    shap = shap_values(model, X[::300])
    assert_additive(shap, model.predict(X[::300]))
    assert not shap.error.any()
    for row, values in zip(X[::300], shap.values, strict=True):
        assert_allclose(values, path_dependent_values(model.tree_, row), atol=1e-9)


def test_trees_of_more_than_256_features_draw_orders():
    model, X = tree_of_many_features(9)
    assert len(model.tree_.used_features) > 256
    shap = shap_values(model, X[:3])
    assert_additive(shap, model.predict(X[:3]))
    assert shap.error.any()


def test_infinite_means_are_refused():
    X = np.arange(40.0)[:, None]
    model = BayesianTreeRegressor(outcome="exponential", prior=[0.1, 1.0]).fit(X, X[:, 0] + 1, event=np.arange(40) < 1)
    assert np.isinf(model.predict(X)).any()
    with pytest.raises(ValueError, match="infinite mean"):
        shap_values(model, X)


# shap's own.


@pytest.fixture
def tree_explainer():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shap = pytest.importorskip("shap")
    return shap.TreeExplainer


def with_missing(X):
    X = X.copy()
    X[::5, 2] = np.nan
    X[1::7, 0] = np.nan
    return X


@pytest.mark.filterwarnings("ignore")
def test_shap_gives_our_values(tree_explainer):
    X, y = load_iris(return_X_y=True)
    numbers, progression = load_diabetes(return_X_y=True)
    y_missing = np.where(np.isnan(with_missing(X)[:, 2]), 1, y)  # so that present against missing is a split
    for model, table, target in (
        (BayesianTreeClassifier(prior=0.1), with_missing(X), y),
        (BayesianTreeClassifier(prior=0.1), with_missing(X), y_missing),
        (BayesianTreeRegressor(), with_missing(numbers), progression),
        (BayesianTreeRegressor(outcome="poisson"), numbers, progression),
    ):
        model.fit(table, target)
        explainer, ours = tree_explainer(to_shap(model)), shap_values(model, table[:40])
        theirs = explainer.shap_values(table[:40], check_additivity=False)
        assert_allclose(np.reshape(theirs, ours.values.shape), ours.values, atol=1e-10 * np.abs(ours.values).max())
        assert_allclose(np.reshape(explainer.expected_value, -1), np.reshape(ours.base, -1), rtol=1e-10)
        # Their interventional values are not in double precision (brute force agrees with ours), but their start is.
        explainer = tree_explainer(to_shap(model), data=table[:30])
        ours = shap_values(model, table[:40], table[:30])
        assert_allclose(np.reshape(explainer.expected_value, -1), np.reshape(ours.base, -1), rtol=1e-10)


AVERAGES = [
    TreeSpaceClassifier(space="prunings", max_depth=3),
    TreeSpaceRegressor(space="prunings", max_depth=3),
    BayesianForestClassifier(n_estimators=7, partitions="axis", calibrate=False, random_state=0),
    BayesianForestRegressor(n_estimators=7, partitions="axis", random_state=0),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", AVERAGES, ids=lambda model: type(model).__name__)
def test_shap_takes_a_forest_and_a_tree_space_of_few_trees(model, tree_explainer):
    X, y = load_iris(return_X_y=True)
    model = clone(model).fit(X, y)
    theirs = tree_explainer(to_shap(model)).shap_values(X[:20], check_additivity=False)
    ours = shap_values(model, X[:20])
    assert_allclose(np.reshape(theirs, ours.values.shape), ours.values, atol=1e-10)


def test_what_shap_cannot_hold_is_refused_in_one_sentence():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"city": random.choice(["a", "b", "c"], 200), "x": random.random(200)})
    with pytest.raises(ValueError, match=r"shap's trees cannot hold the split city in \{a\}.*Use shap_values"):
        to_shap(BayesianTreeClassifier().fit(frame, frame["city"] == "a"))
    X = random.random((300, 2))
    with pytest.raises(ValueError, match=r"shap's trees cannot hold the split x\d [+-] "):
        to_shap(BayesianTreeClassifier(partitions="oblique").fit(X, X.sum(axis=1) > 1))
    with pytest.raises(ValueError, match="shap cannot hold a tree space that is more than 200 trees"):
        to_shap(TreeSpaceClassifier(max_nodes=200).fit(X, X.sum(axis=1) > 1))
