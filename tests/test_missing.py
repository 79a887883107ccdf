"""Values that training never had at a split: to the larger side, or both ways."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
    load,
)
from tests import strategies
from tests.databases import scored_by_sql
from tests.reference import both_ways, route

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "size": RANDOM.normal(size=400),
        "colour": RANDOM.choice(["red", "blue", "green"], 400),
        "age": np.where(RANDOM.random(400) < 0.2, np.nan, RANDOM.uniform(20, 80, 400)),
    }
)
Y = X["size"] + (X["colour"] == "red") - X["age"].fillna(100) / 50 + RANDOM.normal(size=400) * 0.3
CASES = pd.DataFrame(
    {"size": [None, 0.3, None, 1.0], "colour": ["red", "mauve", None, "blue"], "age": [30.0, None, None, 44.0]}
)


@strategies.examples(1)
@given(strategies.fitted_frames())
def test_a_tree_sends_what_it_has_not_seen_both_ways(fitted):
    model, frame = fitted
    averaging = clone(model).set_params(unseen="average").fit(frame, own_targets(model, frame))
    rows = averaging._read_all(hidden(frame)).matrix
    for row, mean in zip(rows, averaging.fitted_.mean(averaging._read_all(hidden(frame))), strict=True):
        weights = both_ways.weights_of(averaging.tree_, row)
        assert_allclose(mean, sum(w * averaging.tree_.value[leaf, 0] for leaf, w in weights.items()), rtol=1e-9)


def own_targets(model, frame):
    return model.predict(frame)


def hidden(frame):
    """Remove some values of rows, and add categories that training has not seen."""
    frame = frame.copy()
    for i, name in enumerate(frame.columns):
        frame[name] = frame[name].astype(object).where((np.arange(len(frame)) + i) % 3 != 0, None)
    return frame


@pytest.mark.parametrize("kind", [TreeSpaceClassifier, TreeSpaceRegressor])
def test_a_tree_space_sends_what_it_has_not_seen_both_ways(kind):
    y = Y > 0 if kind is TreeSpaceClassifier else Y
    model = kind(max_nodes=80, unseen="average").fit(X, y)
    rows = model._read_all(CASES)
    for row, mean in zip(rows.matrix, model.fitted_.mean(rows), strict=True):
        weights = both_ways.space_weights_of(model.space_, row)
        assert_allclose(sum(weights.values()), 1)
        assert_allclose(mean, sum(w * model.space_.value[node, 0] for node, w in weights.items()), rtol=1e-9)


@pytest.mark.parametrize(
    "kind", [BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor]
)
def test_rows_with_values_that_were_seen_do_not_change(kind, tmp_path):
    y = Y > 0 if "Classifier" in kind.__name__ else Y
    plain, averaging = kind().fit(X, y), kind(unseen="average").fit(X, y)
    one = plain.predict_interval(X[:20])
    assert_allclose(averaging.predict_interval(X[:20]), one, rtol=1e-9)
    assert_allclose(averaging.predict(X[:20]).astype(float), plain.predict(X[:20]).astype(float), rtol=1e-9)
    averaging.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert_array_equal(again.predict_interval(CASES), averaging.predict_interval(CASES))
    assert again.fitted_.unseen == "average"


def test_intervals_are_wider_where_nothing_is_known():
    empty = pd.DataFrame({"size": [None], "colour": [None], "age": [None]})
    narrow = BayesianTreeClassifier(prior=1.0).fit(X, Y > 0)
    wide = BayesianTreeClassifier(prior=1.0, unseen="average").fit(X, Y > 0)
    low, high = narrow.predict_interval(empty)[0, 1]
    widely = wide.predict_interval(empty)[0, 1]
    assert widely[1] - widely[0] > 2 * (high - low)
    said = wide.explain(empty)[0]
    assert "the answer is an average" in said.note
    assert said.estimate["True"] == pytest.approx(wide.predict_proba(empty)[0, 1])
    assert "not seen here, goes both ways" in str(said)
    assert "goes to the larger side" in str(narrow.explain(empty)[0])


def test_numbers_are_averaged_in_explanations_too():
    model = BayesianTreeRegressor(unseen="average").fit(X, Y)
    for explanation, mean in zip(model.explain(CASES), model.predict(CASES), strict=True):
        assert explanation.estimate["mean"] == pytest.approx(mean)
        assert str(explanation).startswith("predicted: ")


def test_the_way_of_a_row_is_that_of_the_majority():
    model = BayesianTreeClassifier(prior=1.0, unseen="average").fit(X, Y > 0)
    rows = model._read_all(CASES).matrix
    assert model.apply(CASES).tolist() == [route.leaf_of(model.tree_, row) for row in rows]


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="unseen must be 'majority' or 'average'; got 'mean'"):
        BayesianTreeClassifier(unseen="mean").fit(X, Y > 0)


@pytest.mark.parametrize("kind", [BayesianTreeClassifier, TreeSpaceClassifier])
def test_exports_send_what_was_not_seen_both_ways_too(kind):
    model = kind(unseen="average", **({"max_nodes": 15} if kind is TreeSpaceClassifier else {})).fit(X, Y > 0)
    probabilities = scored_by_sql(model, CASES)[[f"probability_{label}" for label in (False, True)]]
    assert_allclose(probabilities, model.predict_proba(CASES), rtol=1e-9)


@pytest.mark.parametrize("kind", [BayesianForestClassifier, BayesianForestRegressor])
def test_a_forest_that_goes_both_ways_is_the_average_of_its_trees(kind):
    random = np.random.default_rng(0)
    X = random.random((200, 3))
    y = X[:, 0] + 0.3 * random.normal(size=200)
    y = y if kind is BayesianForestRegressor else y > 0.5
    model = kind(n_estimators=5, unseen="average", random_state=0).fit(X, y)
    rows = model._read_all(np.where(random.random((50, 3)) < 0.3, np.nan, X[:50]))
    fitted = model.fitted_
    if kind is BayesianForestRegressor:
        fitted = replace(fitted, outcome=fitted.outcome.with_spread(1.3))  # as if it had been calibrated to that
    trees = list(fitted.single_trees())
    assert not fitted.routed.trees.is_plain
    means = np.stack([tree.mean(rows) for tree in trees])
    assert_allclose(fitted.mean(rows), means.mean(axis=0), rtol=1e-12)
    if kind is BayesianForestRegressor:
        assert fitted.widening == 1.3
        mean, means = fitted.mean(rows)[:, 0], means[:, :, 0]
        squares = np.mean([tree.std(rows) ** 2 + center**2 for tree, center in zip(trees, means, strict=True)], axis=0)
        assert_allclose(fitted.std(rows), 1.3 * np.sqrt(squares - mean**2), rtol=1e-9)
        for end in (0.05, 0.95):  # of the distribution of all trees, widened about its mean
            quantile = fitted.quantiles(rows, np.array([end]))[:, 0]
            narrow = mean + (quantile - mean) / 1.3
            below = [tree.cdf_at(rows, narrow)(tree.outcome) for tree in trees]
            assert_allclose(np.mean(below, axis=0), end, rtol=1e-6)
