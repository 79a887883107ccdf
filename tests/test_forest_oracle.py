"""The forest equals trees that are grown one by one with given weights and averaged, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianForestClassifier, BayesianForestRegressor, BayesianTreeRegressor
from baytree.estimators._fit import prepare
from baytree.estimators._forest import read_max_features
from baytree.growth import ForestPlan, encode_rows, out_of_bag_weights
from baytree.table import Kind, Rows
from baytree.tree import CategorySet, Hyperplane
from tests.own_outcomes import Counts, Rates
from tests.reference import forest as naive
from tests.strategies import (
    LABELS,
    frame_column,
    parameters,
    raw_problems,
    real_problems,
    tables,
    weights,
)

pytestmark = pytest.mark.filterwarnings(
    "ignore:Intervals are not calibrated", "ignore:.* rows are equal to another one"
)


def with_real_weights(base):
    """A forest in which rows count real numbers of times: then no tree lacks a row."""
    engine = replace(base._engine, forest_whole=False)
    return type(base.__name__, (base,), {"_engine": engine, "__init__": base.__init__})


def problem_of(model, X, y, weight=None, **extras):
    """What a fitted forest was grown on."""
    reader = model._target_reader()
    source = model._memory_source(X, y, weight, {"exposure": None, "event": None} | extras)
    data = prepare(model, source, reader).data
    return naive.Problem(
        data.rows.matrix,
        data.schema.is_nominal,
        data.target,
        model.fitted_.outcome,
        data.growth,
        model.fitted_.forest.seed,
        read_max_features(model.max_features, data.schema.n_features),
        model.bootstrap == "resample",
        model.prune,
        None if data._weight_of_bins is None else data._weight_of_bins.tolist(),
    )


def described(tree, node):
    """What a node does with a row, all of it."""
    split = tree.split(node)
    fields = (tree.kind[node], tree.feature[node], tree.missing_go_to_left[node], tree.unseen_go_to_left[node])
    if isinstance(split, CategorySet):
        return (*fields, tuple(split.left), tuple(split.right))
    if isinstance(split, Hyperplane):
        part = slice(tree.hyperplane_start[node], tree.hyperplane_start[node + 1])
        entries = (tree.hyperplane_feature, tree.hyperplane_coefficient, tree.hyperplane_missing_value)
        return (*fields, tree.threshold[node], *(tuple(entry[part].tolist()) for entry in entries))
    return (*fields, tree.threshold[node])


def assert_same_member(fitted, one):
    """Compare a tree of a forest with the oracle's, node by node."""
    tree, nodes = fitted.trees, list(one.nodes())
    assert tree.node_count == len(nodes)
    assert_array_equal(tree.depth, one.tree.depth[nodes])
    assert_array_equal(tree.n_node_samples, one.times[nodes])
    for position, node in enumerate(nodes):
        assert (tree.children_left[position] >= 0) == (node in one.internal)
        if node in one.internal:
            assert described(tree, position) == described(one.tree, node)
    assert_array_equal(tree.value[:, 0], one.value[nodes])


def has_all_values(problem, one, columns):
    """Whether some columns have the same values, missing ones included, in the rows of a tree as in all."""
    X, in_bag = problem.values()[:, columns], problem.values()[one.rows][:, columns]
    pairs = zip(X.T, in_bag.T, strict=True)
    return all(np.array_equal(np.unique(a), np.unique(b), equal_nan=True) for a, b in pairs)


def assert_same_forest(model, problem, X):
    """Compare all trees of a forest, and what it predicts, with the oracle's.

    The prior of sets of categories counts those of the table. A tree that stands alone does not know of categories that
    its rows lack, so such trees are not compared.
    """
    members = [naive.member(problem, t) for t in range(model.n_estimators)]
    alike = [has_all_values(problem, one, problem.is_nominal) for one in members]
    for t in np.flatnonzero(alike):
        assert_same_member(model.fitted_.tree(t), members[t])
    if all(alike):
        rows = model._read_all(X)
        average = naive.average(members, rows.matrix)
        is_calibrated = model.fitted_.forest_calibration is not None
        expected = model.fitted_.forest_calibration.probabilities(average) if is_calibrated else average
        assert_array_equal(model.fitted_.mean(rows), expected)


def kinds_of_forest(**fixed):
    """Parameters that a single tree does not have, and bins."""
    choices = {
        "bootstrap": st.sampled_from(["bayesian", "resample"]),
        "max_features": st.sampled_from([1.0, 1.0, 0.5, 1, "sqrt"]),
        "max_bins": st.sampled_from([None, None, 2, 3, 5]),
        "random_state": st.integers(0, 99),
    }
    return st.fixed_dictionaries(choices | {name: st.just(value) for name, value in fixed.items()})


@given(problem=raw_problems(), forest_settings=kinds_of_forest(partitions="axis"), data=st.data())
def test_classifiers_equal_the_oracle(problem, forest_settings, data):
    X, y, weight, settings = problem
    forest_settings |= {"class_weight": data.draw(st.sampled_from([None, "balanced", {0: 2.0}]))}
    forest_settings |= {"lookahead": data.draw(st.sampled_from([0, 0, 1]))}
    model = BayesianForestClassifier(3, **settings | forest_settings).fit(X, y, sample_weight=weight)
    assert_same_forest(model, problem_of(model, X, y, weight), X)


@given(problem=real_problems(raw=True), forest_settings=kinds_of_forest(partitions="axis"))
def test_regressors_equal_the_oracle(problem, forest_settings):
    X, outcome, y, weight, extras, _, settings = problem
    model = BayesianForestRegressor(3, outcome=outcome, **settings | forest_settings | {"calibrate": False}).fit(
        X, y, weight, **extras
    )
    assert_same_forest(model, problem_of(model, X, y, weight, **extras), X)


@given(data=st.data(), forest_settings=kinds_of_forest(partitions="axis", max_bins=None))
def test_forests_of_own_outcomes_equal_the_oracle(data, forest_settings):
    X = data.draw(tables(min_rows=4))
    y = np.array(data.draw(st.lists(st.integers(0, 6), min_size=len(X), max_size=len(X))), dtype=float)
    weight = data.draw(weights(len(X)))
    settings = data.draw(parameters(X.shape[1], 2)) | {"prior": None}
    outcome = data.draw(st.sampled_from([Rates(), Counts()]))
    model = BayesianForestRegressor(3, outcome=outcome, **settings | forest_settings | {"calibrate": False}).fit(
        X, y, sample_weight=weight
    )
    assert_same_forest(model, problem_of(model, X, y, weight), X)


@st.composite
def frames(draw):
    """A frame with columns of every kind, ordered categories among them, and truth that some of them tell."""
    n = draw(st.integers(6, 16))
    columns, signal = {}, np.zeros(n)
    for i, kind in enumerate(draw(st.lists(st.sampled_from(list(Kind)), min_size=1, max_size=3))):
        codes = np.array(draw(st.lists(st.integers(0, len(LABELS) - 1), min_size=n, max_size=n)))
        gone = draw(st.sampled_from([st.just(False), st.integers(0, 3).map(lambda k: k == 0)]))
        missing = np.array(draw(st.lists(gone, min_size=n, max_size=n)))
        columns[f"c{i}"] = frame_column(kind, codes, missing)
        signal += np.where(missing, 1, codes)
    return pd.DataFrame(columns), signal


@given(table=frames(), forest_settings=kinds_of_forest(partitions="axis"), numbers=st.booleans())
def test_forests_of_frames_equal_the_oracle(table, forest_settings, numbers):
    frame, signal = table
    kind = BayesianForestRegressor if numbers else BayesianForestClassifier
    y = signal if numbers else (signal > np.median(signal)).astype(int)
    model = kind(3, prior=[0.0, 0.01, 0.5, 0.05] if numbers else 0.05, calibrate=False, **forest_settings).fit(frame, y)
    assert_same_forest(model, problem_of(model, frame, y), frame)


@pytest.mark.parametrize("kind", ["classes", "normal", "poisson", "exponential", "negative_binomial"])
@pytest.mark.parametrize("bootstrap", ["bayesian", "resample"])
@pytest.mark.parametrize("seed", range(3))
def test_oblique_forests_equal_the_oracle(kind, bootstrap, seed):
    """Columns of few values, so that a tree has all of them and puts its rows in the order that the forest has."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 5, (90, 4)).astype(float)
    if seed:
        X[random.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X, nan=2.0) @ [1.0, -1.0, 0.5, 0.0]
    weight = random.integers(1, 4, len(X)) / 2 if seed == 2 else None
    forest_settings = {"random_state": seed, "bootstrap": bootstrap, "prune": seed == 1, "smoothing": 0.2 * (seed == 2)}
    if kind == "classes":
        y = (signal + random.normal(size=90) > 0.5).astype(int) + (signal > 3)
        model = BayesianForestClassifier(5, categorical_features=[3], **forest_settings).fit(X, y, sample_weight=weight)
    else:
        rate = np.exp((0.9 if kind == "exponential" else 0.3) * signal)
        y = {"normal": signal + random.normal(size=90).round(3), "exponential": random.exponential(rate) + 0.01}.get(
            kind, random.poisson(rate).astype(float)
        )
        model = BayesianForestRegressor(5, outcome=kind, calibrate=False, **forest_settings).fit(
            X, y, sample_weight=weight
        )
    problem = problem_of(model, X, y, weight)
    members = [naive.member(problem, t) for t in range(5)]
    alike = [t for t, one in enumerate(members) if has_all_values(problem, one, slice(None))]
    assert len(alike) > 1
    for t in alike:
        assert_same_member(model.fitted_.tree(t), members[t])
    assert model.fitted_.trees.hyperplane_start[-1] > 0


@pytest.mark.parametrize("base", [BayesianForestClassifier, BayesianForestRegressor])
@pytest.mark.parametrize("partitions", ["axis", "oblique"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_features", [1.0, 0.5])
def test_forests_with_real_weights_equal_the_oracle(base, partitions, weighted, max_features):
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 5))
    y = X[:, 0] + X[:, 1] + random.normal(size=120)
    y = y if base is BayesianForestRegressor else (y > 0).astype(int)
    weight = random.integers(1, 4, len(y)) / 2 if weighted else None
    kind = with_real_weights(base)
    model = kind(4, partitions=partitions, max_features=max_features, random_state=1).fit(X, y, sample_weight=weight)
    assert_same_forest(model, problem_of(model, X, y, weight), X)


@given(
    values=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=2, max_size=12),
    weight=st.sampled_from([None, None, 0.5, 1.0, 3.0]),
    bootstrap=st.sampled_from(["bayesian", "resample"]),
    forest_settings=st.fixed_dictionaries(
        {"min_samples_leaf": st.sampled_from([1, 1, 2]), "monotonic_cst": st.sampled_from([None, [1]])}
    ),
    is_whole=st.booleans(),
    seed=st.integers(0, 99),
)
def test_trees_that_lack_a_row_equal_the_oracle(values, weight, bootstrap, forest_settings, is_whole, seed):
    X, y = np.array(values, dtype=float).T
    weights = None if weight is None else np.where(X == 1, weight, np.linspace(0.5, 2, len(X)).round(1))
    make = BayesianForestRegressor if is_whole else with_real_weights(BayesianForestRegressor)
    model = make(6, bootstrap=bootstrap, random_state=seed, **forest_settings).fit(X[:, None], y, sample_weight=weights)
    problem = problem_of(model, X[:, None], y, weights)
    plan = ForestPlan(problem.seed, 0, 6, problem.resample, 1, problem.factor, problem.whole)
    columns = encode_rows(Rows(problem.X), problem.is_nominal, problem.growth)
    weights_by_row = out_of_bag_weights(
        columns, problem.target, problem.outcome, problem.growth, plan, np.arange(len(X))
    )
    for row, trees in enumerate(weights_by_row):
        expected = naive.out_of_bag_weights(problem, row, 6)
        assert_allclose(trees, expected, rtol=0.01, atol=1e-6)  # the rounding of many counts is left out


@pytest.mark.parametrize("partitions", ["axis", "oblique"])
def test_the_noise_of_a_forest_comes_from_single_trees(partitions):
    random = np.random.default_rng(0)
    X = random.normal(size=(150, 3))
    y = np.where(X[:, 0] > X[:, 1], 3.0, 0.0) + random.normal(size=150)
    forest = BayesianForestRegressor(2, partitions=partitions, random_state=0).fit(X, y)
    engine = BayesianForestRegressor._engine
    kind = type("BayesianTreeRegressor", (BayesianTreeRegressor,), {"_engine": engine})
    tree = kind(partitions=partitions, partition_prior=forest.partition_prior)
    assert_array_equal(forest.prior_, tree.fit(X, y).prior_)


def test_rows_without_any_count_leave_a_tree_of_one_row():
    X, y = np.arange(3.0)[:, None], np.array([0, 1, 0])
    model = BayesianForestClassifier(60, partitions="axis", random_state=0).fit(X, y, sample_weight=[0.01] * 3)
    problem = problem_of(model, X, y, [0.01] * 3)
    assert_same_forest(model, problem, X)
    assert np.any(model.fitted_.trees.n_node_samples[model.fitted_.trees.roots] == 1)


@pytest.mark.parametrize("seed", range(20))
def test_resampled_rows_of_real_weights_add_up_exactly(seed):
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(26, 2)), 1)
    y = (np.arange(26) % 5 < 2).astype(int)
    settings = {"bootstrap": "resample", "class_weight": "balanced", "monotonic_cst": [1, -1], "max_bins": 2}
    model = BayesianForestClassifier(3, partitions="axis", random_state=seed, **settings).fit(X, y)
    assert_same_forest(model, problem_of(model, X, y), X)
