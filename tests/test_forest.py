"""The forest: equal to an oracle, and a model like the others."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import partial_dependence, permutation_importance

import baytree
from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceRegressor,
)
from baytree.estimators import ESTIMATORS
from baytree.tree import concatenate_stores, reduce_trees
from tests.comparison import assert_same_store
from tests.databases import scored_by_sql


def test_predictions_are_means_over_the_trees():
    X, y = load_iris(return_X_y=True)
    model = BayesianForestClassifier(7, calibrate=False, random_state=0).fit(X, y)
    total = sum(tree.predict_proba(X) for tree in model.trees_)
    assert_array_equal(model.predict_proba(X), total / 7)


@pytest.mark.parametrize("places", [0, 15])
def test_many_rows_go_where_each_tree_sends_them(places):
    X, y = make_classification(5000, 9, n_informative=6, random_state=0)
    X = np.round(np.ascontiguousarray(X), places)  # whole numbers often lie on a hyperplane
    model = BayesianForestClassifier(9, calibrate=False, random_state=0).fit(X[:500], y[:500])
    X[17, 3] = 1e9  # which leaves little of the others of its feature, rounded
    for first in (0, 20):
        rows = X[first:]
        assert_array_equal(model.predict_proba(rows), sum(tree.predict_proba(rows) for tree in model.trees_) / 9)


def assert_same_for_any_threads(make, X, y):
    """Compare forests, what they predict and their calibration, bit for bit."""
    one, *others = (make(n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 3, 16))
    for many in others:
        assert_same_store(one.fitted_.trees, many.fitted_.trees)
        rows = one._read_all(X)
        assert_array_equal(one.fitted_.mean(rows), many.fitted_.mean(rows, many.n_jobs))
        assert_array_equal(one.fitted_.leaves_by_tree(rows), many.fitted_.leaves_by_tree(rows, many.n_jobs))
        assert one.fitted_.agreement == many.fitted_.agreement
        assert getattr(one, "spread_", None) == getattr(many, "spread_", None)
        assert str(getattr(one, "calibration_", None)) == str(getattr(many, "calibration_", None))


def test_threads_change_nothing_with_default_parameters():
    assert_same_for_any_threads(partial(BayesianForestClassifier, random_state=1), *load_iris(return_X_y=True))
    X, y = load_diabetes(return_X_y=True)
    assert_same_for_any_threads(partial(BayesianForestRegressor, random_state=1), X[:200], y[:200])


@pytest.mark.parametrize(
    "options", [{"bootstrap": "resample", "max_features": 0.5}, {"partitions": "axis", "max_bins": 16}], ids=str
)
def test_threads_change_nothing(options):
    X, y = load_breast_cancer(return_X_y=True)
    assert_same_for_any_threads(partial(BayesianForestClassifier, 5, random_state=1, **options), X, y)


def test_bins_leave_rows_and_features_out():
    """As trees of all values do: rows that a tree lacks say nothing, and nodes draw their features."""
    X, y = load_breast_cancer(return_X_y=True)
    for max_bins in (None, 16):
        model = BayesianForestClassifier(
            100, partitions="axis", max_bins=max_bins, max_features=1, oob_score=True, random_state=0
        ).fit(X, y)
        forest = model.fitted_.trees
        assert len(np.unique(forest.feature[forest.roots])) > 8
        shares = forest.n_node_samples[forest.roots] / len(y)
        assert 0.8 < shares.min() < shares.max() < 0.95
        assert model.oob_score_ < model.score(X, y)


@pytest.mark.parametrize("make", [BayesianForestClassifier, BayesianForestRegressor])
@pytest.mark.filterwarnings("ignore:Intervals are not calibrated", "ignore:.* rows are equal to another one")
@pytest.mark.parametrize("bootstrap", ["bayesian", "resample"])
def test_neither_the_order_of_rows_nor_doubled_rows_matter(make, bootstrap):
    random = np.random.default_rng(0)
    X, weight = random.normal(size=(60, 3)), random.integers(1, 4, 60)
    y = (X[:, 0] + random.normal(size=60) > 0).astype(int)
    order = random.permutation(np.repeat(np.arange(60), weight))
    options = {"bootstrap": bootstrap, "random_state": 0, "calibrate": False}
    weighted = make(5, **options).fit(X, y, sample_weight=weight.astype(float))
    repeated = make(5, **options).fit(X[order], y[order])
    assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-12)
    assert_array_equal(weighted.fitted_.trees.threshold, repeated.fitted_.trees.threshold)


def test_a_forest_is_better_than_its_trees():
    X, y = make_classification(900, 10, n_informative=6, random_state=0)
    train, test = slice(0, 450), slice(450, None)
    forest = BayesianForestClassifier(random_state=0).fit(X[train], y[train])
    tree = BayesianTreeClassifier().fit(X[train], y[train])
    random = RandomForestClassifier(100, random_state=0).fit(X[train], y[train])
    assert forest.score(X[test], y[test]) > tree.score(X[test], y[test])
    assert forest.score(X[test], y[test]) >= random.score(X[test], y[test]) - 0.01


def test_intervals_of_a_regressor_hold():
    random = np.random.default_rng(1)
    X = random.uniform(size=(2600, 3))
    y = np.sin(6 * X[:, 0]) + X[:, 1] + 0.3 * random.normal(size=2600)
    model = BayesianForestRegressor(random_state=0).fit(X[:600], y[:600])
    low, high = model.predict_interval(X[600:]).T
    assert 0.86 < np.mean((low <= y[600:]) & (y[600:] <= high)) < 0.94
    assert 0.5 < model.spread_ < 2


@pytest.mark.parametrize("bootstrap", ["bayesian", "resample"])
def test_out_of_bag_predictions(bootstrap):
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.ones(len(y))
    weight[:5] = 0
    model = BayesianForestClassifier(100, bootstrap=bootstrap, oob_score=True, random_state=0)
    model.fit(X, y, sample_weight=weight)
    assert model.oob_decision_function_.shape == (len(y), 2)
    assert np.isnan(model.oob_decision_function_[:5]).all()
    known = ~np.isnan(model.oob_decision_function_[:, 0])
    assert known.mean() > 0.9
    assert model.oob_score_ == pytest.approx(
        np.mean(np.argmax(model.oob_decision_function_, axis=1)[known] == y[known])
    )
    assert 0.93 < model.oob_score_ < 1
    assert not hasattr(model.set_params(oob_score=False).fit(X, y), "oob_score_")


def test_out_of_bag_predictions_of_numbers():
    X, y = load_diabetes(return_X_y=True)
    model = BayesianForestRegressor(oob_score=True, random_state=0).fit(X, y)
    assert model.oob_prediction_.shape == y.shape
    assert 0.3 < model.oob_score_ < 0.6


def table_of_few_values(n, seed):
    """Rows of which most have many that are equal to them."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, size=(n, 3)).astype(float)
    return X, np.round(2 * X[:, 0] + X[:, 1] + 2 * random.normal(size=n))


@pytest.mark.parametrize("bootstrap", ["bayesian", "resample"])
@pytest.mark.parametrize("max_bins", [None, 16])
def test_out_of_bag_scores_of_few_values_are_those_of_new_rows(bootstrap, max_bins):
    (X, y), (new, y_new) = table_of_few_values(1000, 0), table_of_few_values(5000, 1)
    model = BayesianForestClassifier(
        bootstrap=bootstrap, max_bins=max_bins, partitions="axis", oob_score=True, random_state=0
    ).fit(X, y > 4)
    assert not np.isnan(model.oob_decision_function_).any()
    assert model.oob_score_ == pytest.approx(model.score(new, y_new > 4), abs=0.03)
    numbers = BayesianForestRegressor(
        bootstrap=bootstrap, max_bins=max_bins, partitions="axis", oob_score=True, random_state=0
    ).fit(X, y)
    assert numbers.oob_score_ == pytest.approx(numbers.score(new, y_new), abs=0.05)


@pytest.mark.parametrize("make", [BayesianForestRegressor, BayesianTreeRegressor, TreeSpaceRegressor])
def test_intervals_of_few_values_hold(make):
    model = make().fit(*table_of_few_values(2000, 0))
    X, y = table_of_few_values(4000, 1)
    low, high = model.predict_interval(X).T
    assert 0.88 < np.mean((low <= y) & (y <= high)) < 0.92


def test_rows_that_count_in_every_tree_are_told_of():
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianForestClassifier(20, class_weight={0: 1, 1: 9}, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="rows of 569 count in every tree, so that oob_score_ leaves them out"):
        model.fit(X, y)
    X, y = load_diabetes(return_X_y=True)
    with pytest.warns(UserWarning, match=r"Intervals are not calibrated \(spread_ is 1\), since rows of such weights"):
        assert BayesianForestRegressor(20, random_state=0).fit(X, y, sample_weight=np.full(len(y), 9.5)).spread_ == 1


@pytest.mark.filterwarnings("ignore:.*are equal to another one")
def test_a_row_of_whole_weight_is_calibrated_as_so_many_rows():
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    for target in (y, y > 150):
        make = BayesianForestClassifier if target is not y else BayesianForestRegressor
        weighted = make(10, random_state=0).fit(X, target, sample_weight=weight)
        repeated = make(10, random_state=0).fit(np.repeat(X, weight, axis=0), np.repeat(target, weight))
        if target is y:
            assert (weighted.spread_, weighted.slope_) == (repeated.spread_, repeated.slope_)
        assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


def test_out_of_bag_scores_are_of_what_is_predicted():
    random = np.random.default_rng(0)
    X, exposure = random.uniform(size=(600, 2)), random.uniform(30, 365, 600)
    y = random.poisson(0.01 * (1 + 5 * X[:, 0]) * exposure)
    for unit in (1.0, 365.0):
        model = BayesianForestRegressor(outcome="poisson", oob_score=True, random_state=0)
        model.fit(X, y, exposure=exposure / unit)
        assert 0.5 < model.oob_score_ < 0.9
    durations = BayesianForestRegressor(outcome="exponential", oob_score=True, random_state=0)
    assert np.isnan(durations.fit(X, exposure, event=X[:, 0] < 0.9).oob_score_)
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianForestClassifier(oob_score=True, decision=0.9, random_state=0).fit(X, y)
    assert model.oob_score_ == np.mean((model.oob_decision_function_[:, 1] >= 0.9) == y)


def test_forests_of_censored_durations_are_better_than_a_tree():
    random = np.random.default_rng(0)
    X, X_new = random.uniform(size=(2, 2000, 2))
    time, end = random.exponential(1 + 3 * X[:, 0]), random.uniform(0, 4, 2000)
    fits = [
        make(outcome="exponential").fit(X, np.minimum(time, end), event=time <= end).predict(X_new)
        for make in (partial(BayesianForestRegressor, random_state=0), BayesianTreeRegressor)
    ]
    of_forest, of_tree = (np.mean((predicted - 1 - 3 * X_new[:, 0]) ** 2) for predicted in fits)
    assert of_forest < of_tree


@pytest.mark.parametrize("rows_each", [1, 2, 7])
@pytest.mark.parametrize("bootstrap", ["bayesian", "resample"])
def test_names_of_rows_teach_nothing(rows_each, bootstrap):
    """A column of names is a category of its own for every row, or nearly: trees must not tell rows apart by it."""
    random = np.random.default_rng(0)
    X, y = make_classification(600, 6, n_informative=4, flip_y=0.1, random_state=0)
    names = [f"row {i // rows_each}" for i in random.permutation(600)]
    plain = pd.DataFrame(X).add_prefix("x")
    forests = [
        BayesianForestClassifier(30, bootstrap=bootstrap, random_state=0).fit(table[:300], y[:300])
        for table in (plain, plain.assign(name=names))
    ]
    without, with_names = (
        forests[0].score(plain[300:], y[300:]),
        forests[1].score(plain.assign(name=names)[300:], y[300:]),
    )
    assert with_names > without - 0.03
    assert forests[1].feature_importances_[-1] < 0.15


def test_warm_start_adds_trees():
    X, y = load_iris(return_X_y=True)
    whole = BayesianForestClassifier(9, random_state=0).fit(X, y)
    grown = BayesianForestClassifier(4, random_state=0, warm_start=True).fit(X, y)
    grown.set_params(n_estimators=9).fit(X, y)
    assert_array_equal(whole.predict_proba(X), grown.predict_proba(X))
    with pytest.raises(ValueError, match="n_estimators is 3, but with warm_start the forest keeps its 9 trees"):
        grown.set_params(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match="warm_start adds trees to a forest of the same table"):
        grown.set_params(n_estimators=12).fit(X[10:], y[10:])


def warm_start_tables():
    """A forest's table, and others with the same y or the same columns."""
    pd = pytest.importorskip("pandas")
    r = np.random.default_rng(0)
    frame = pd.DataFrame({"a": r.permutation(60) / 10, "b": r.permutation(60) / 10, "c": r.choice(["u", "v"], 60)})
    y = (frame.a > 3).to_numpy().astype(int)
    other = frame.assign(c=frame.c.where(frame.c == "u", "w"))
    return {
        "names or another order": (frame, frame[["b", "a", "c"]], y, y),
        "X has 2 columns, and that of the forest had 3": (frame, frame[["a", "b"]], y, y),
        "column 'b' was a number and is a category now": (frame, frame.assign(b=frame.c), y, y),
        "column 'c' has other categories": (frame, other, y, y),
        "y has other classes": (frame, frame, y, np.array(["no", "yes"])[y]),
        "same table: make it False": (frame[["a", "b"]].to_numpy(), frame[["b", "a"]].to_numpy(), y, y),
    }


@pytest.mark.parametrize("case", range(6))
def test_warm_start_refuses_another_table(case):
    words, (X, other, y, other_y) = list(warm_start_tables().items())[case]
    model = BayesianForestClassifier(4, random_state=0, warm_start=True).fit(X, y)
    before = model.predict_proba(X)
    with pytest.raises(ValueError, match=words):
        model.set_params(n_estimators=8).fit(other, other_y)
    assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("max_depth", [0, 2])
def test_warm_start_takes_other_parameters_and_any_order_of_rows(max_depth):
    X, y = load_iris(return_X_y=True)
    model = BayesianForestClassifier(4, random_state=0, warm_start=True).fit(X, y)
    model.set_params(n_estimators=6, max_depth=max_depth).fit(X, y)
    assert len(model.trees_) == 6
    order = np.random.default_rng(0).permutation(len(y))
    model.set_params(n_estimators=8).fit(X[order], y[order])
    assert len(model.trees_) == 8


def test_progress_is_shown(capsys):
    X, y = load_iris(return_X_y=True)
    quiet = BayesianForestClassifier(12, random_state=0).fit(X, y)
    loud = BayesianForestClassifier(12, random_state=0, verbose=True).fit(X, y)
    assert "Forest: 12 of 12 trees" in capsys.readouterr().err
    assert_array_equal(quiet.predict_proba(X), loud.predict_proba(X))


def raw_table(n=150, seed=0):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": random.integers(18, 80, n).astype(float),
            "income": random.lognormal(10, 1, n),
            "town": pd.Categorical(random.choice(["Rome", "Oslo", "Lima"], n)),
        }
    )
    table.loc[::9, "income"] = np.nan
    return table, (table["age"] > 45).astype(int) + (table["town"] == "Rome").to_numpy()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prune": True},
        {"max_leaf_nodes": 4},
        {"smoothing": 0.3},
        {"lookahead": 1, "max_depth": 3},
        {"unseen": "average"},
        {"bootstrap": "resample", "max_features": "sqrt"},
        {"min_samples_leaf": 5, "min_weight_fraction_leaf": 0.05},
        {"prior": "evidence"},
        {"class_weight": "balanced"},
        {"max_bins": 8, "partitions": "axis"},
    ],
    ids=str,
)
def test_every_option_of_a_tree(options, tmp_path):
    X, y = raw_table()
    model = BayesianForestClassifier(6, random_state=0, **options).fit(X, y)
    probability = model.predict_proba(X)
    assert_allclose(probability.sum(axis=1), 1)
    mean = np.mean([tree.predict_proba(X) for tree in model.trees_], axis=0)
    assert_allclose(probability, model.calibration_.probabilities(mean), rtol=1e-9)
    if "max_leaf_nodes" in options:
        assert max(tree.get_n_leaves() for tree in model.trees_) <= 4
    model.save(tmp_path / "forest")
    again = baytree.load(tmp_path / "forest")
    assert_array_equal(again.predict_proba(X), probability)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), probability)


def test_pruned_trees_are_smaller():
    X, y = load_breast_cancer(return_X_y=True)
    full, pruned = (BayesianForestClassifier(5, prune=prune, random_state=0).fit(X, y) for prune in (False, True))
    pairs = zip(full.trees_, pruned.trees_, strict=True)
    assert all(one.get_n_leaves() >= other.get_n_leaves() for one, other in pairs)
    for tree in pruned.trees_:
        assert reduce_trees(tree.tree_, prune=True, max_leaf_nodes=None) is tree.tree_


@pytest.mark.parametrize("outcome", ["normal", "poisson", "negative_binomial", "exponential"])
def test_every_outcome(outcome, tmp_path):
    random = np.random.default_rng(0)
    X = random.uniform(size=(150, 2))
    y = random.poisson(1 + 5 * X[:, 0]) + (1.0 if outcome == "exponential" else 0.0)
    model = BayesianForestRegressor(8, outcome=outcome, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.1
    low, high = model.predict_interval(X).T
    assert np.all(low <= high)
    assert np.mean((low <= y) & (y <= high)) > 0.8
    noise, knowledge = model.predict_uncertainty(X).T
    assert np.all(noise >= 0)
    assert np.all(knowledge >= 0)
    model.save(tmp_path / "forest")
    assert_array_equal(baytree.load(tmp_path / "forest").predict(X), model.predict(X))


def test_monotonic_forests_are_monotone():
    random = np.random.default_rng(0)
    X = random.uniform(size=(200, 2))
    y = X[:, 0] + random.normal(size=200)
    model = BayesianForestRegressor(10, monotonic_cst=[1, 0], random_state=0).fit(X, y)
    grid = np.column_stack([np.linspace(0, 1, 101), np.full(101, 0.5)])
    assert np.all(np.diff(model.predict(grid)) >= 0)


@pytest.mark.parametrize("seed", range(5))
def test_monotonic_forests_of_resampled_rows_take_any_weights(seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(30, 2)).round(1)
    y, weight = X[:, 0] + random.normal(size=30), random.uniform(0.01, 0.3, 30)
    model = BayesianForestRegressor(
        10, bootstrap="resample", monotonic_cst=[1, 0], partitions="axis", prior=[0.0, 1.0, 1.0, 0.1], random_state=seed
    ).fit(X, y, sample_weight=weight)
    grid = np.column_stack([np.linspace(-2, 2, 101), np.zeros(101)])
    assert np.all(np.diff(model.predict(grid)) >= 0)


def test_resampling_equal_rows_is_resampling_rows():
    """A table of a thousand rows, two of them different: their shares vary by what a thousand draws leave."""
    X, y = np.repeat([[0.0], [1.0]], 500, axis=0), np.repeat([0, 1], 500)
    model = BayesianForestClassifier(200, bootstrap="resample", partitions="axis", prior=1.0, random_state=0).fit(X, y)
    roots = np.concatenate([tree.tree_.value[0] for tree in model.trees_])
    assert 0.7 < roots[:, 1].std() / np.sqrt(0.25 / 1000) < 1.3


def test_uncertainty_adds_up():
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianForestClassifier(20, random_state=0).fit(X, y)
    p = model.predict_proba(X)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.nansum(p * np.log(p), axis=1)
    assert_allclose(model.predict_uncertainty(X).sum(axis=1), entropy, rtol=1e-9)
    X, y = load_diabetes(return_X_y=True)
    model = BayesianForestRegressor(20, random_state=0).fit(X, y)
    assert_allclose(model.predict_uncertainty(X).sum(axis=1), model.predict(X, return_std=True)[1] ** 2, rtol=1e-9)


def test_more_rows_settle_more():
    random = np.random.default_rng(0)
    X = random.uniform(size=(4000, 2))
    y = (random.uniform(size=4000) < 0.2 + 0.6 * (X[:, 0] > 0.5)).astype(int)
    few = BayesianForestClassifier(20, random_state=0).fit(X[:200], y[:200]).predict_uncertainty(X[:200])
    many = BayesianForestClassifier(20, random_state=0).fit(X, y).predict_uncertainty(X[:200])
    assert many[:, 1].mean() < few[:, 1].mean()


def test_reading_a_forest():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = BayesianForestClassifier(20, random_state=0).fit(X, y)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert model.feature_inclusion_.shape == (30,)
    assert model.feature_inclusion_.max() <= 1
    tree = model.readable_tree_
    assert_array_equal(model.feature_posterior_, tree.feature_posterior_)
    firsts = [one.tree_.feature[0] % (X.shape[1] + 2) for one in model.trees_]  # the feature, or -2: no split is last
    expected = np.bincount(firsts, minlength=X.shape[1] + 1) / 20
    assert_allclose(model.root_feature_shares_, expected, rtol=1e-12)
    assert isinstance(tree, BayesianTreeClassifier)
    assert tree.get_n_leaves() == model.get_n_leaves()
    agreement = np.mean(tree.predict(X) == model.predict(X))
    assert model.readable_agreement_ == pytest.approx(agreement)
    text = str(model.explain(X[:1])[0])
    assert "the average of 20 trees; 20 of them decide so by themselves" in text
    assert "the readable tree agrees: 0 (" in text
    assert model.apply(X[:4]).shape == (4, 20)
    paths, start = model.decision_path(X[:4])
    assert paths.shape == (4, start[-1])
    weights, parameters = model.posterior_mixture(X[:4])
    assert_allclose(weights.sum(axis=1), 1)
    assert parameters.shape == (model.fitted_.trees.node_count, 2)


def test_inspection_of_scikit_learn_works():
    X, y = load_iris(return_X_y=True)
    model = BayesianForestClassifier(10, random_state=0).fit(X, y)
    importance = permutation_importance(model, X, y, n_repeats=2, random_state=0)
    assert importance.importances_mean.argmax() in (2, 3)
    assert partial_dependence(model, X, [2], grid_resolution=5)["average"].shape == (3, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be"),
        ({"bootstrap": True}, "bootstrap must be 'bayesian' or 'resample'; got True"),
        ({"max_features": "all"}, "max_features must be a share in"),
        ({"max_features": 9}, "max_features is 9, but X has 4 features"),
        ({"max_features": 0.0}, "max_features must be"),
        ({"oob_score": 2}, "oob_score must be"),
    ],
)
def test_bad_parameters(options, message):
    X, y = load_iris(return_X_y=True)
    with pytest.raises((TypeError, ValueError), match=message):
        BayesianForestClassifier(**options).fit(X, y)


def test_damaged_files_are_refused():
    X, y = load_iris(return_X_y=True)
    model = BayesianForestClassifier(3, random_state=0).fit(X, y)
    from baytree.estimators import from_document
    from baytree.persistence import document_of
    from baytree.persistence._document import _checksum

    for name in ("children_right", "feature", "roots", "statistics", "hyperplane_start"):
        document = document_of(type(model).__name__, model.get_params(deep=False), model.fitted_)
        values = document["stores"]["trees"][name]["values"]
        values[-1] = -5 if name != "statistics" else -1e9
        document["sha256"] = _checksum(document)
        with pytest.raises(ValueError, match="damaged"):
            from_document(document)


def test_files_are_small(tmp_path):
    X, y = make_classification(2000, 10, n_informative=6, random_state=0)
    model = BayesianForestClassifier(random_state=0).fit(X, y)
    model.save(tmp_path / "forest")
    theirs = len(pickle.dumps(RandomForestClassifier(100, random_state=0).fit(X, y)))
    assert (tmp_path / "forest").stat().st_size < theirs / 2


def test_forests_are_among_the_estimators():
    assert {"BayesianForestClassifier", "BayesianForestRegressor"} <= set(ESTIMATORS)


def test_plots_of_a_forest():
    plot = pytest.importorskip("baytree.plot")
    import matplotlib.pyplot as plt

    X, y = raw_table()
    model = BayesianForestClassifier(8, random_state=0).fit(X, y > 0)
    for feature in ("age", "town"):
        axes = plot.dependence(model, X, feature)
        assert axes.get_ylabel() == "probability of True"
    assert plot.uncertainty(model, X).get_ylabel() == "nats"
    assert plot.dependence(model.readable_tree_, X, "age").get_title() == "Average prediction"
    three = BayesianForestClassifier(4, random_state=0).fit(X, y)
    assert plot.dependence(three, X, 0).get_legend() is not None
    numbers = BayesianForestRegressor(4, random_state=0).fit(X, X["age"])
    assert plot.uncertainty(numbers, X).get_ylabel() == "variance"
    with pytest.raises(TypeError, match="uncertainty needs a forest"):
        plot.uncertainty(model.readable_tree_, X)
    plt.close("all")


def test_a_page_of_a_forest(tmp_path):
    from baytree import report

    X, y = raw_table()
    model = BayesianForestClassifier(5, random_state=0).fit(X, y)
    report.write(model, X, y, tmp_path / "page.html")
    assert "A forest of 5 Bayesian decision trees" in (tmp_path / "page.html").read_text("utf-8")


def test_exports_carry_all_trees():
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = BayesianForestClassifier(4, random_state=0).fit(X, y)
    probabilities = scored_by_sql(model, X[::10])[[f"probability_{label}" for label in model.classes_]]
    assert_allclose(probabilities, model.predict_proba(X[::10]), rtol=1e-12)


@pytest.mark.parametrize("most_nodes", [1, 20, 10**6])
def test_parts_of_a_forest_are_its_trees(most_nodes, monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    size = pd.cut(X[:, 0], 4, labels=list("abcd")).astype(str)
    columns = pd.DataFrame(X[:, :4], columns=list("wxyz")).assign(size=size)
    fitted = BayesianForestClassifier(7, random_state=0).fit(columns, y).fitted_
    parts = list(fitted.trees.parts(most_nodes))
    assert all(part.n_trees == 1 or part.node_count <= most_nodes for part in parts)
    together = concatenate_stores(parts)
    assert_same_store(fitted.trees, together)
    monkeypatch.setattr("baytree.fitted._fitted._NODES_AT_ONCE", most_nodes)
    rows = fitted.schema.read(columns)
    assert_allclose(fitted.mean_by_parts(rows), fitted.mean(rows), rtol=1e-12)
