"""Splits: every kind sends every row where the arrays say, in Python, in the compiled core and on the page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor
from baytree.explain import AllowedChanges
from baytree.report._about import About
from baytree.report._contents import contents_of
from baytree.table import Kind, Rows
from baytree.tree import CategorySet, Hyperplane, PresentMissing, SplitKind, Threshold
from tests import strategies
from tests.reference import route

CORE = Path(__file__).parents[1] / "cpp" / "core"
CLASSES = {
    SplitKind.THRESHOLD: Threshold,
    SplitKind.PRESENT_MISSING: PresentMissing,
    SplitKind.CATEGORY_SET: CategorySet,
    SplitKind.HYPERPLANE: Hyperplane,
}


def every_kind(n=600, seed=0):
    """A frame whose outcome depends on a sum, a set of categories, a missing value, an order and a truth value."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(random.random((n, 2)), columns=["a", "b"])
    frame["city"] = random.choice(["Bern", "Oslo", "Rome", "Wien"], n)
    frame["size"] = pd.Categorical(random.choice(strategies.LABELS, n), strategies.LABELS, ordered=True)
    frame["owner"] = random.random(n) < 0.5
    frame["debt"] = np.where(random.random(n) < 0.4, np.nan, random.random(n))
    y = np.select(
        [frame["debt"].isna() & frame["owner"], frame["city"].isin(["Bern", "Rome"]), frame["size"] > "small"],
        [2.0, frame["a"] + frame["b"] > 1, frame["owner"]],
        frame["a"] > 0.3,
    )
    frame.loc[random.random(n) < 0.1, "city"] = None
    frame.loc[random.random(n) < 0.1, "size"] = None
    frame.loc[random.random(n) < 0.1, "a"] = np.nan
    return frame, y.astype(float)


def axis_and_oblique():
    frame, y = every_kind()
    shared = {"partitions": "oblique", "prior": 0.1}
    return {
        "axis": BayesianTreeClassifier(prior=0.1).fit(frame, y),
        "oblique": BayesianTreeClassifier(**shared).fit(frame, y),
        "numbers": BayesianTreeRegressor(partitions="oblique").fit(frame, y),
        "one leaf": BayesianTreeClassifier(max_depth=0).fit(frame, y),
        "space": TreeSpaceClassifier(max_nodes=40, **shared).fit(frame, y),
        "space of numbers": TreeSpaceRegressor(max_nodes=40).fit(frame, y),
    }


MODELS = axis_and_oblique()


def grown(model):
    return getattr(model, "space_", None) or model.tree_


def random_rows(model, n, seed=0):
    """Rows of numbers that meet the splits from both sides: thresholds, missing values, categories seen and unseen."""
    random, splits = np.random.default_rng(seed), grown(model)
    columns = []
    for feature, column in enumerate(model.schema_.columns):
        if column.is_nominal:
            pool = np.arange(-1.0, len(column.categories))
        elif column.is_whole:
            pool = np.arange(0.0, 2 if column.categories is None else len(column.categories))
        else:
            thresholds = splits.threshold[(splits.feature == feature) & np.isfinite(splits.threshold)]
            pool = np.concatenate([[0.0, -1e9, 1e9], thresholds, np.nextafter(thresholds, np.inf), random.random(20)])
        columns.append(np.where(random.random(n) < 0.15, np.nan, random.choice(pool, n)))
    return np.column_stack(columns)


def test_the_kinds_are_those_of_the_core():
    """Trees of the core are marked with them; the header says so too, where it is at hand."""
    kinds = {kind for model in MODELS.values() for kind in np.unique(grown(model).kind).tolist()}
    assert kinds == set(SplitKind)
    headers = [path for path in CORE.rglob("*.hpp") if "enum class SplitKind" in path.read_text("utf-8")]
    if CORE.exists():
        (text,) = (re.search(r"enum class SplitKind[^{]*{([^}]*)}", path.read_text("utf-8"))[1] for path in headers)
        assert [name.strip().upper() for name in text.split(",")] == [kind.name for kind in SplitKind]
        assert list(SplitKind) == list(range(len(SplitKind)))


@pytest.mark.parametrize("name", MODELS)
def test_every_split_says_where_a_row_goes_and_whether_it_has_seen_such(name):
    model = MODELS[name]
    splits, rows = grown(model), random_rows(model, 60)
    for i in np.flatnonzero(splits.kind):
        split = splits.split(int(i))
        assert type(split) is CLASSES[SplitKind(splits.kind[i])]
        assert split.features[0] == splits.feature[i]
        for row in rows:
            assert split.goes_left(row) is bool(route.goes_left(splits, i, row))
            assert split.has_seen(row) is bool(route.has_seen(splits, i, row))
            assert split.goes_left(row.tolist()) is split.goes_left(row)


@given(st.one_of(strategies.fitted_trees(), strategies.fitted_frames()), st.integers(0, 10**6))
def test_every_row_goes_down_the_way_of_the_arrays(fitted, seed):
    model, table = fitted
    tree = model.tree_
    rows = np.vstack([random_rows(model, 20, seed), model._read_all(table).matrix])
    expected = [route.path_of(tree, row) for row in rows]
    assert_array_equal(tree.apply(rows), [path[-1] for path in expected])
    assert_array_equal(model.fitted_.leaves(Rows(rows)), [path[-1] for path in expected])
    for row, path in zip(rows, expected, strict=True):
        nodes = [0]
        while not tree.is_leaf[nodes[-1]]:
            left = tree.split(nodes[-1]).goes_left(row)
            nodes.append(int((tree.children_left if left else tree.children_right)[nodes[-1]]))
        assert nodes == path == tree.path(path[-1])


@pytest.mark.parametrize("name", [name for name in MODELS if "space" not in name])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_core_finds_columns_wherever_they_are(name, n_threads):
    """Rows may hold the features in another order, with others between them, and only those that are used."""
    model = MODELS[name]
    rows = random_rows(model, 500)
    expected = [route.leaf_of(model.tree_, row) for row in rows]
    assert_array_equal(model.tree_.apply(rows, n_threads), expected)
    order = np.random.default_rng(0).permutation(rows.shape[1])
    shuffled = Rows(np.asfortranarray(rows[:, order]), np.argsort(order))
    assert_array_equal(model.tree_.routing.leaf(shuffled, n_threads)[0], expected)
    used = model.tree_.used_features
    column_of = np.full(rows.shape[1], -1)
    column_of[used] = np.arange(len(used))
    kept = rows[:, used] if len(used) else rows[:, :1]
    assert_array_equal(model.tree_.routing.leaf(Rows(kept, column_of), n_threads)[0], expected)
    if len(used):
        column_of[used[0]] = -1
        with pytest.raises(ValueError, match=r"feature|column"):
            model.tree_.routing.leaf(Rows(kept, column_of), n_threads)


@pytest.mark.parametrize("name", ["space", "space of numbers"])
def test_the_weights_of_a_space_are_those_of_the_arrays(name):
    model = MODELS[name]
    rows = random_rows(model, 40)
    for row, weights in zip(rows, next(model.space_.routing.weights(Rows(rows))), strict=True):
        expected = np.zeros(model.space_.node_count)
        for node, weight in route.weights_of(model.space_, row).items():
            expected[node] = weight
        assert_allclose(weights.toarray().ravel(), expected, rtol=1e-9, atol=1e-12)


def test_a_leaf_has_no_split():
    tree = MODELS["axis"].tree_
    leaf = int(np.flatnonzero(tree.is_leaf)[0])
    with pytest.raises(ValueError, match=f"Node {leaf} is a leaf"):
        tree.split(leaf)


def node_js():
    """JavaScript without a browser: node, or the one that playwright brings."""
    path = shutil.which("node")
    if path is None:
        driver = pytest.importorskip("playwright._impl._driver", reason="neither node nor playwright is installed")
        path = driver.compute_driver_executable()[0]
    if not Path(path).exists():
        assert not os.environ.get("BAYTREE_NEEDS_BROWSER")
        pytest.skip("no node is installed")
    return str(path)


@pytest.mark.parametrize("name", MODELS)
def test_the_page_sends_rows_the_same_way(name):
    """The page's own function, on the page's own data."""
    script = resources.files("baytree.report").joinpath("page", "model.js").read_text("utf-8")
    routing = script[script.index("const sumOf =") : script.index("function hasSeen(")]
    model = MODELS[name]
    splits, rows = grown(model), random_rows(model, 300)
    contents = contents_of(model.fitted_, About(), AllowedChanges(), None, [])
    choices = [choice for of_node in (contents["space"] or contents["tree"])["choices"] for choice in of_node]
    given_rows = [[None if np.isnan(value) else value for value in row] for row in rows]
    program = (
        f"{routing}\nconst {{choices, rows}} = JSON.parse(require('fs').readFileSync(0, 'utf-8'));\n"
        "console.log(JSON.stringify(choices.map((split) => rows.map((row) => goesLeft(split, row)))));"
    )
    finished = subprocess.run(
        [node_js(), "-e", program],
        input=json.dumps({"choices": choices, "rows": given_rows}),
        capture_output=True,
        text=True,
        check=True,
    )
    at = np.flatnonzero(splits.kind)
    assert len(choices) == len(at)
    expected = [[bool(route.goes_left(splits, i, row)) for row in rows] for i in at]
    assert json.loads(finished.stdout) == expected


@pytest.mark.parametrize(
    ("split", "words"),
    [
        (Threshold(0, 2.5, missing_left=True, has_missing=False), ("a <= 2.5", "a > 2.5")),
        (Threshold(0, 2.5, missing_left=True, has_missing=True), ("a <= 2.5 or missing", "a > 2.5")),
        (Threshold(3, 1.5, missing_left=False, has_missing=True), ("size <= small", "size > small or missing")),
        (Threshold(4, 0.5, missing_left=False, has_missing=False), ("owner is false", "owner is true")),
        (Threshold(4, 0.5, missing_left=False, has_missing=True), ("owner is false", "owner is true or missing")),
        (PresentMissing(5), ("debt is present", "debt is missing")),
        (CategorySet(2, (0,), (1, 2), False, False, False), ("city in {Bern}", "city in {Oslo, Rome}")),
        (CategorySet(2, (0, 1), (2,), False, False, True), ("city in {Bern, Oslo}", "city in {Rome, missing}")),
        (CategorySet(2, (0, 1), (2,), False, True, True), ("city in {Bern, Oslo, missing}", "city in {Rome}")),
        (Hyperplane((0, 1), (1.0, -0.5), (0.0, 0.0), 2.0), ("a - 0.5 × b <= 2", "a - 0.5 × b > 2")),
    ],
)
def test_splits_in_words(split, words):
    schema = MODELS["axis"].schema_
    assert [column.kind for column in schema.columns] == [
        Kind.NUMBER,
        Kind.NUMBER,
        Kind.CATEGORY,
        Kind.ORDERED,
        Kind.TRUTH,
        Kind.NUMBER,
    ]
    sides = tuple(f"{split.subject(schema)} {split.condition(schema, left=left)}" for left in (True, False))
    assert sides == words
