"""Forests and the prunings of a tree are the same, bit for bit, in memory with bins and at any source."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import baytree
from baytree import (
    BayesianForestClassifier,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
    engines,
)
from baytree.growth import EncodedRows, split_by_hash, with_keys
from baytree.sources import _batches
from tests.comparison import assert_same_store
from tests.forests import assert_same_forest, forest_of
from tests.sources import OUTCOMES, divided, fitted_in_memory, model_of, table_of

OPTIONS = [
    {},
    {"max_features": 0.5, "smoothing": 0.2, "prune": True},
    {"max_leaf_nodes": 5, "min_samples_leaf": 3, "monotonic_cst": {"x": 1}},
]
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* rows are equal to another one", "ignore:The .future.infer_string. option is deprecated"
)


@pytest.fixture(params=["at hand", "in files"])
def memory(request, monkeypatch):
    """Enough of it for the codes of all rows, or not."""
    if request.param == "in files":
        monkeypatch.setattr(_batches, "half_of_memory", lambda: 0)
        monkeypatch.setattr(_batches, "BATCH_ROWS", 200)


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("options", OPTIONS, ids=["default", "features", "limits"])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_batches_grow_the_same_forest(outcome, options):
    frame, names = table_of(outcome, weighted=bool(options))
    expected = fitted_in_memory(forest_of(outcome, **options), frame, names)
    assert expected.fitted_.trees.node_count > 12 * 2
    model = engines.fit(forest_of(outcome, **options), lambda: divided(frame, 3), **names)
    assert_same_forest(model, expected)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_databases_grow_the_same_forest(outcome):
    ibis = pytest.importorskip("ibis")
    frame, names = table_of(outcome, weighted=outcome == "normal")
    expected = fitted_in_memory(forest_of(outcome), frame, names)
    table = ibis.duckdb.connect().create_table("rows", pd.concat(divided(frame, 2)))
    assert_same_forest(engines.fit(forest_of(outcome), table, **names), expected)


@pytest.mark.usefixtures("memory")
def test_copies_of_rows_are_drawn_apart_wherever_they_are():
    """A forest of few distinct rows is no more certain or uncertain than its number of rows makes it."""
    frame = pd.DataFrame({"a": np.arange(400) % 2, "y": np.arange(400) % 4 // 2})
    forest = BayesianForestClassifier(40, partitions="axis", max_bins=5, random_state=0)
    in_memory = forest.fit(frame[["a"]], frame["y"])
    counts = in_memory.fitted_.trees.leaves.weight[in_memory.fitted_.trees.roots]
    assert 0.5 < np.std(counts) / np.sqrt(len(frame)) < 1.6  # a Gamma(400) draw has a deviation of 20
    model = engines.fit(forest, lambda: [frame[:130], frame[130:131], frame[131:]])
    assert_same_store(model.fitted_.trees, in_memory.fitted_.trees)


def test_a_tree_that_would_have_no_row_has_all():
    frame = pd.DataFrame({"x": np.arange(6.0), "y": [0, 1, 0, 1, 1, 0], "w": 0.01})
    with pytest.warns(UserWarning, match="sample_weight sums to 0.06"):
        model = BayesianForestClassifier(30, partitions="axis", max_bins=9, random_state=0).fit(
            frame[["x"]], frame["y"], sample_weight=frame["w"]
        )
    trees = model.fitted_.trees
    assert trees.n_node_samples[trees.roots].max() == 6


def test_keys_depend_neither_on_the_order_nor_on_the_division_of_rows():
    random = np.random.default_rng(0)
    rows = EncodedRows(random.integers(0, 3, (300, 3)).astype(np.uint8), random.integers(0, 2, (300, 1)), None)
    keys = np.sort(with_keys(rows).keys)
    assert len(np.unique(keys)) == 300
    shuffled = rows.take(random.permutation(300))
    parts = split_by_hash(shuffled, 4)
    assert sum(map(len, parts)) == 300
    assert_array_equal(np.sort(np.concatenate([with_keys(part).keys for part in parts])), keys)


def test_forests_grow_on():
    frame, names = table_of("classes")
    expected = fitted_in_memory(forest_of("classes", n_estimators=15), frame, names)
    model = engines.fit(forest_of("classes", n_estimators=4), lambda: divided(frame, 3), **names)
    model.set_params(n_estimators=15, warm_start=True)
    assert_same_store(engines.fit(model, lambda: divided(frame, 2), **names).fitted_.trees, expected.fitted_.trees)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"oob_score": True}, "oob_score=True needs the rows in memory: make it False."),
        ({"bootstrap": "resample"}, "bootstrap='resample' needs the rows in memory: make it 'bayesian'."),
        ({"partitions": "oblique"}, "Hyperplanes need the rows in memory: make partitions 'axis'."),
        ({"lookahead": 1}, "lookahead needs the rows in memory: make it 0."),
    ],
)
def test_what_needs_the_rows_is_refused(parameters, message):
    frame, names = table_of("classes", n=40)
    with pytest.raises(ValueError, match=f"^{message}$"):
        engines.fit(forest_of("classes", **parameters), lambda: [frame], **names)


def test_a_forest_of_batches_needs_a_cache():
    frame, names = table_of("classes", n=40)
    with pytest.raises(ValueError, match="pass cache=True"):
        engines.fit(forest_of("classes"), lambda: [frame], cache=False, **names)


def test_files_and_predictions_are_those_of_any_forest(tmp_path):
    frame, names = table_of("normal")
    model = engines.fit(forest_of("normal"), lambda: [frame], **names)
    model.save(tmp_path / "forest")
    again = baytree.load(tmp_path / "forest")
    features = frame.drop(columns="y")
    assert_array_equal(again.predict_interval(features), model.predict_interval(features))
    assert_array_equal(engines.predict(model, frame)["prediction"], model.predict(features))


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_prunings_of_a_tree_are_a_space_everywhere(outcome, smoothing):
    frame, names = table_of(outcome, weighted=outcome == "classes")
    parameters = {"space": "prunings", "max_bins": 20, "partition_prior": 0.99, "smoothing": smoothing}

    def space():
        if outcome == "classes":
            return TreeSpaceClassifier(**parameters)
        return TreeSpaceRegressor(outcome=model_of(outcome).outcome, **parameters)

    expected = fitted_in_memory(space(), frame, names)
    assert expected.space_.n_choices > expected.space_.node_count > 1
    model = engines.fit(space(), lambda: divided(frame, 3), **names)
    assert_same_store(model.space_, expected.space_)
    assert model.log_evidence_ == expected.log_evidence_
    features = frame.drop(columns=["y", *names.values()])
    assert_array_equal(model.predict(features), expected.predict(features))


@pytest.mark.parametrize("space", ["all", "roots"])
def test_larger_spaces_are_refused(space):
    frame, names = table_of("classes", n=40)
    with pytest.raises(ValueError, match=r"^A tree space needs the rows in memory, .* make space 'prunings'"):
        engines.fit(TreeSpaceClassifier(space=space), lambda: [frame], **names)


@pytest.mark.parametrize("max_bins", [8, 20])
@pytest.mark.parametrize("outcome", ["classes", "normal"])
def test_the_prunings_of_bins_are_those_of_the_exact_tree(outcome, max_bins):
    """With as many bins as values, the space that a source gives holds what the compiled core gives."""
    random = np.random.default_rng(1)
    X = random.integers(0, 8, (300, 3)).astype(float)
    y = (X[:, 0] > 3).astype(int) + (random.random(300) < 0.2)
    model = TreeSpaceClassifier if outcome == "classes" else TreeSpaceRegressor
    exact = model(space="prunings").fit(X, y)
    binned = model(space="prunings", max_bins=max_bins).fit(X, y)
    assert_array_equal(binned.space_.feature, exact.space_.feature)
    assert_array_equal(binned.space_.children_left, exact.space_.children_left)
    assert binned.log_evidence_ == pytest.approx(exact.log_evidence_, rel=1e-9)
