"""The smallest change is one that changes the decision, and none is smaller."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier
from baytree.tree._splits import last_float
from tests import strategies
from tests.comparison import hyperplanes
from tests.reference.counterfactual import assert_changes_the_decision, assert_smallest, decision_of_nodes


def constraints(model):
    """Columns that stay as they are, columns that may go one way only, values that may become missing."""
    n_features = model.n_features_in_
    ordered = [i for i, column in enumerate(model.schema_.columns) if not column.is_nominal]
    return st.fixed_dictionaries(
        {
            "immutable": st.sets(st.integers(0, n_features - 1), max_size=1),
            "directions": st.dictionaries(st.sampled_from(ordered), st.sampled_from([1, -1]), max_size=2)
            if ordered
            else st.just({}),
            "allow_missing": st.booleans(),
        }
    )


@strategies.examples(2)
@given(strategies.fitted_trees(), st.data())
def test_no_smaller_change_of_one_feature_changes_the_decision(fitted, data):
    model, X = fitted
    assume(model.get_n_leaves() > 1)
    allowed = data.draw(constraints(model))
    explanations = model.explain(X, max_features=1, **allowed)
    for i in data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=4)):
        assert_smallest(model, X, i, explanations[i].nearest, 1, **allowed)


@strategies.examples(0.6)
@given(strategies.fitted_trees(), st.data())
def test_no_smaller_change_of_two_features_changes_the_decision(fitted, data):
    model, X = fitted
    assume(1 < model.get_n_leaves() <= 6)
    i = data.draw(st.integers(0, len(X) - 1))
    allowed = data.draw(constraints(model))
    explanation = model.explain(X[i : i + 1], **allowed)[0]
    assert_smallest(model, X, i, explanation.nearest, 2, **allowed)
    one, two = model.explain(X[i : i + 1], max_features=1, **allowed)[0].nearest, explanation.nearest
    assert one is None or (two is not None and two.distance <= one.distance)
    assert one is None or two.distance < one.distance or one == two
    for change in explanation.changes:
        assert_changes_the_decision(model, X, i, change)
    rows = [change.n_rows for change in explanation.changes]
    assert rows[:-1] == sorted(rows[:-1], reverse=True)


def test_two_features_may_be_nearer_than_one():
    """An exclusive or with a border far away: one feature must go far, two go a little each."""
    random = np.random.default_rng(0)
    X = random.uniform(size=(2000, 2))
    y = ((X[:, 0] > 0.5) & (X[:, 1] > 0.5)) | (X[:, 0] < 0.05)
    model = BayesianTreeClassifier(prior=0.1).fit(X, y)
    explanation = model.explain([[0.45, 0.45]])[0]
    one, two = model.explain([[0.45, 0.45]], max_features=1)[0].nearest, explanation.nearest
    assert [change.column for change in one.changes] == [0]
    assert [change.column for change in two.changes] == [0, 1]
    assert two.distance < one.distance
    assert str(explanation).count(" -> True") == 2
    assert explanation.changes[0].n_rows > explanation.changes[1].n_rows
    assert f"or: {explanation.changes[1]}" in str(explanation)


def wide_problem():
    random = np.random.default_rng(1)
    X = random.normal(size=(3000, 6)).round(2)
    X[random.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(np.sin(2 * X)).sum(axis=1) + random.normal(size=3000) * 0.2
    return X, y


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_larger_trees_agree_with_trying_everything(kind):
    X, y = wide_problem()
    model = BayesianTreeClassifier(prior=0.1).fit(X, y > 0) if kind == "classes" else BayesianTreeRegressor().fit(X, y)
    assert model.get_n_leaves() > 20
    for i, explanation in enumerate(model.explain(X[:8], max_features=1)):
        assert_smallest(model, X, i, explanation.nearest, 1)


def oblique_distances(model, row, samples):
    """Distances of single changes to other decisions: values on both sides of every border, and many in between."""
    tree, decisions = model.tree_, decision_of_nodes(model)
    decision = decisions[tree.apply(row[None, :])[0]]
    distances = []
    for feature in range(len(row)):
        borders = list(tree.threshold[(tree.feature == feature) & ~hyperplanes(tree) & ~tree.is_leaf])
        crossings = []
        for node in np.flatnonzero(hyperplanes(tree)):
            terms = slice(tree.hyperplane_start[node], tree.hyperplane_start[node + 1])
            features, coefficients = tree.hyperplane_feature[terms], tree.hyperplane_coefficient[terms]
            if feature in features:
                at = coefficients[features == feature][0]
                others = coefficients[features != feature] @ row[features[features != feature]]
                borders.append((tree.threshold[node] - others) / at)
                crossings.append(tree.threshold[node] / at)
        thresholds = borders[: len(borders) - len(crossings)] + crossings
        scale = (max(thresholds) - min(thresholds) or abs(thresholds[0]) or 1.0) if thresholds else 1.0
        near = np.array([border + step * 1e-12 for border in borders for step in (-1, 0, 1)])
        changed = np.repeat(row[None, :], len(near) + samples, axis=0)
        changed[:, feature] = np.append(near, np.random.default_rng(feature).normal(row[feature], 1, samples))
        column = model.schema_.columns[feature]
        is_within = (changed[:, feature] >= column.low) & (changed[:, feature] <= column.high)
        others = (decisions[tree.apply(changed)] != decision) & is_within
        distances.extend(np.abs(changed[others, feature] - row[feature]) / scale)
    return distances


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("seed", range(3))
def test_one_feature_is_searched_exactly_behind_hyperplanes_too(kind, seed):
    random = np.random.default_rng(seed)
    X = random.normal(size=(600, 3))
    y = X[:, 0] + 0.5 * X[:, 1] + (X[:, 2] > 1) * np.sign(X[:, 0]) + 0.1 * random.normal(size=600)
    estimator = BayesianTreeClassifier if kind == "classes" else BayesianTreeRegressor
    model = estimator(partitions="oblique").fit(X, y > 0.3 if kind == "classes" else y)
    assert hyperplanes(model.tree_).any()
    pairs = zip(model.explain(X[:40], max_features=1), model.explain(X[:40]), strict=True)
    for i, (alone, both) in enumerate(pairs):
        nearest = min(oblique_distances(model, X[i], 300), default=math.inf)
        one, two = alone.nearest, both.nearest
        assert one is not None or nearest == math.inf
        for counterfactual in (one, two):
            if counterfactual is not None:
                assert_changes_the_decision(model, X, i, counterfactual)
                assert counterfactual.distance <= nearest + 1e-9
                columns = {change.column for change in counterfactual.changes}
                splits = [model.tree_.split(node) for node in model.tree_.path(counterfactual.leaf)[:-1]]
                assert all(len(columns & set(split.features)) < 2 for split in splits if len(split.features) > 1)


def test_missing_values_behind_hyperplanes_are_filled():
    random = np.random.default_rng(0)
    X = random.random((500, 2))
    y = X[:, 0] + 0.5 * X[:, 1] > 0.75
    model = BayesianTreeClassifier(partitions="oblique").fit(X, y)
    row = np.array([[np.nan, 0.1]])
    counterfactual = model.explain(row, max_features=1)[0].nearest
    assert_changes_the_decision(model, row, 0, counterfactual)
    # With one missing value filled, or the other number moved past the range of the table.
    assert counterfactual.changes[0].old is None or counterfactual.changes[0].column == 1


@given(st.floats(-1e6, 1e6), st.floats(allow_nan=False, allow_infinity=False))
def test_the_last_float_is_found_from_any_guess(edge, guess):
    assert last_float(lambda x: x <= edge, guess) == edge


def test_the_last_float_of_all_and_of_none():
    assert last_float(lambda _: True, 0.0) == math.inf
    assert last_float(lambda _: False, 0.0) == -math.inf


def loans(n=4000):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "purpose": random.choice(["business", "car", "education", "furniture", "other", "repairs", "travel"], n),
            "income": np.where(random.random(n) < 0.15, np.nan, random.lognormal(10.3, 0.5, n).round(-2)),
        }
    )
    risk = 0.1 + 0.3 * frame["purpose"].isin(["business", "other", "travel"])
    risk = risk + np.select([frame["income"].isna(), frame["income"] < 25000], [0.5, 0.25], 0.0)
    return frame, random.random(n) < risk


def test_changes_are_told_in_words():
    frame, default = loans()
    model = BayesianTreeClassifier(prior="paper", calibrate=False).fit(frame, default)
    cases = pd.DataFrame(
        {"purpose": ["car", "repairs", "yacht", "other", "car"], "income": [None, 2e4, None, 26e3, 9e5]}
    )
    assert [str(explanation.nearest) for explanation in model.explain(cases, max_features=1, allow_missing=True)] == [
        "income from missing to at least 24,951 -> False (0.8697; like 1,239 training rows)",
        "income from 20,000 to at most 7000 -> True (0.5889; like 357 training rows)",
        "income from missing to at least 24,951 -> False (0.8697; like 1,239 training rows)",
        "income from 26,000 to at most 24,950 but at least 24,151 -> True (0.8614; like 312 training rows)",
        "income from 900,000 to missing -> True (0.5889; like 357 training rows)",
    ]


@pytest.mark.parametrize("partitions", ["axis", "oblique"])
def test_no_change_leaves_the_range_of_its_column_and_integers_stay_integers(partitions):
    random = np.random.default_rng(0)
    X = pd.DataFrame({"months": random.integers(-2, 9, 1500), "amount": random.lognormal(7, 1, 1500).round(2)})
    y = (X["months"] + np.log(X["amount"]) + random.normal(size=1500) > 10).astype(int)
    model = BayesianTreeClassifier(partitions=partitions).fit(X, y)
    changes = [change for e in model.explain(X[:300]) for way in e.changes for change in way.changes]
    assert {change.feature for change in changes} == {"months", "amount"}
    for change in changes:
        assert X[change.feature].min() <= change.new <= X[change.feature].max()
        if change.feature == "months":
            assert change.new == int(change.new)
            assert "more than" not in change.text


def test_changes_of_categories_are_told_in_words():
    frame = pd.DataFrame({"colour": ["blue", "red, dark", None, "green"] * 30})
    model = BayesianTreeClassifier(prior=0.1, calibrate=False).fit(frame, frame["colour"].isin(["blue", "green"]))
    cases = pd.DataFrame({"colour": ["green", "red, dark", None, "mauve"]})
    assert [str(explanation.nearest) for explanation in model.explain(cases, max_features=1, allow_missing=True)] == [
        'colour from green to "red, dark" -> False (0.9983; like 60 training rows)',
        'colour from "red, dark" to blue -> True (0.9983; like 60 training rows)',
        "colour from missing to blue -> True (0.9983; like 60 training rows)",
        "colour from another category to blue -> True (0.9983; like 60 training rows)",
    ]


def test_only_values_that_the_training_rows_had_are_proposed():
    """No missing value where there was none, however near it would be; and no category that a split did not see."""
    data = load_breast_cancer()
    model = BayesianTreeClassifier().fit(data.data, data.target)
    for explanation in model.explain(data.data):
        for change in explanation.nearest.changes:
            assert isinstance(change.new, float)
            assert math.isfinite(change.new)


def test_a_category_that_a_split_did_not_see_is_not_proposed():
    """On the left there is no "a": it goes with "b", the larger part, but only "b" is known to."""
    colours = ["b"] * 60 + ["c"] * 30 + ["a", "b", "c", "d"] * 50
    frame = pd.DataFrame({"x": [-2.0] * 90 + [1.0] * 200, "colour": colours})
    y = np.where(frame["x"] > 0, "right", np.where(frame["colour"] == "b", "left b", "left c"))
    model = BayesianTreeClassifier(prior=0.1).fit(frame, y)
    cases = pd.DataFrame({"x": [-2.0, -2.0], "colour": ["a", "c"]})
    assert model.predict(cases).tolist() == ["left b", "left c"]
    assert str(model.explain(cases, max_features=1)[1].nearest).startswith("colour from c to b -> left b")


def test_numbers_that_look_alike_are_told_in_full():
    model = BayesianTreeClassifier(prior=0.1).fit([[0.1]] * 20 + [[0.2]] * 20, [0] * 20 + [1] * 20)
    border = model.tree_.threshold[0]
    row = [[float(np.nextafter(border, 1))]]
    assert str(model.explain(row, max_features=1)[0].nearest).startswith(
        f"x0 from {row[0][0]!r} to at most {float(border)!r}"
    )


def test_equal_distances_go_to_the_first_feature():
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 30, axis=0)
    model = BayesianTreeClassifier(prior=0.1).fit(X, X.sum(axis=1) == 2)
    counterfactual = model.explain([[1.0, 1.0]], max_features=1)[0].nearest
    assert [change.column for change in counterfactual.changes] == [0]


def test_where_nothing_else_is_decided_there_is_no_change():
    one_leaf = BayesianTreeClassifier().fit([[0.0], [1.0]], ["a", "a"])
    explanation = one_leaf.explain([[0.0]])[0]
    assert explanation.nearest is None
    assert explanation.changes == ()
    assert "to change it" not in str(explanation)


def test_a_number_is_decided_against_the_estimate_of_the_root():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = BayesianTreeRegressor(prune=False).fit(X, y)
    overall = model.tree_.value[0, 0, 0]
    for explanation in model.explain(X[:50]):
        above = explanation.estimate["mean"] > overall
        assert explanation.decision == f"{'above' if above else 'at most'} the overall {overall:.6g}"
        assert (explanation.nearest.estimate > overall) != above


def test_the_illustration_of_a_tree_space_is_its_modal_tree():
    X, y = load_breast_cancer(return_X_y=True)
    space = TreeSpaceClassifier(max_nodes=100).fit(X, y)
    for one, other in zip(space.explain(X[:5]), space.readable_tree_.explain(X[:5]), strict=True):
        assert one.illustration.steps == other.steps
        assert (one.illustration.decision, one.illustration.estimate) == (other.decision, other.estimate)
