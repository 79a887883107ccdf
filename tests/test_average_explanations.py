"""Explanations are those of the model that predicts: its decision, its estimate, changes that it decides otherwise."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)
from tests import strategies
from tests.reference.counterfactual import apply_changes
from tests.safe_html import assert_safe


@st.composite
def models(draw):
    """A model of every kind, outcome and rule, and its table."""
    tree, X = draw(st.one_of(strategies.fitted_frames(), strategies.fitted_trees()))
    categorical = tree.categorical_features
    y = draw(st.lists(st.integers(0, 2), min_size=len(X), max_size=len(X)))
    options = {
        "categorical_features": categorical,
        "partitions": draw(st.sampled_from(["axis", "oblique"])),
        "unseen": draw(st.sampled_from(["majority", "average"])),
    }
    kind = draw(st.sampled_from(["tree", "space", "forest"]))
    sizes = {"tree": {}, "space": {"max_nodes": 20}, "forest": {"n_estimators": 4, "random_state": 0}}[kind]
    if draw(st.booleans()):
        y = np.array(y) % draw(st.sampled_from([2, 3]))
        n_classes = len(set(y.tolist()))
        rules = [None, np.abs(np.subtract.outer(range(n_classes), range(n_classes))) * [1.0, 3.0, 0.5][:n_classes]]
        rules += [0.3] if n_classes == 2 else []
        options |= {"decision": draw(st.sampled_from(rules)), "prior": 0.1}
        classes = {"tree": BayesianTreeClassifier, "space": TreeSpaceClassifier, "forest": BayesianForestClassifier}
    else:
        options["outcome"] = draw(st.sampled_from(["normal", "poisson", "exponential"]))
        y = np.array(y, dtype=float) + (options["outcome"] != "poisson")
        classes = {"tree": BayesianTreeRegressor, "space": TreeSpaceRegressor, "forest": BayesianForestRegressor}
    return classes[kind](**options, **sizes).fit(X, y), X


def mean_of(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, None]


def decision_of(model, X):
    if hasattr(model, "predict_proba"):
        return [str(label) for label in model.predict(X)]
    trees = model.fitted_.trees
    overall = float(trees.leaves.value[trees.roots, 0].mean())
    return ["above" if value > overall else "at most" for value in model.predict(X)]


def assert_decides(said, expected):
    assert said == expected or said.startswith(f"{expected} the overall ")


def with_gaps(X, random):
    """Rows with missing values and, in place of codes, values that training never had."""
    if isinstance(X, pd.DataFrame):
        return X.mask(random.random(X.shape) < 0.2)
    return np.where(random.random(X.shape) < 0.2, np.nan, X)


@strategies.examples(2)
@given(models(), st.integers(0, 100), st.booleans())
def test_explanations_say_what_the_model_predicts(drawn, seed, allow_missing):
    model, X = drawn
    rows = with_gaps(X, np.random.default_rng(seed))
    mean, decisions = mean_of(model, rows), decision_of(model, rows)
    for i, explanation in enumerate(model.explain(rows, allow_missing=allow_missing)):
        assert_decides(explanation.decision, decisions[i])
        estimate = explanation.estimate.get(explanation.decision, explanation.estimate.get("mean"))
        predicted = mean[i, [str(c) for c in model.classes_].index(decisions[i])] if mean.shape[1] > 1 else mean[i, 0]
        assert estimate == pytest.approx(predicted, rel=1e-12, nan_ok=True)
        if math.isfinite(explanation.base):
            total = explanation.base + sum(one.contribution for one in explanation.contributions)
            assert total == pytest.approx(predicted, rel=1e-9, abs=1e-9)
        for counterfactual in explanation.changes:
            changed = apply_changes(rows, i, counterfactual)
            assert decision_of(model, changed) != decisions[i : i + 1]
            assert_decides(counterfactual.decision, decision_of(model, changed)[0])
            for change in counterfactual.changes:
                column = model.schema_.columns[change.column]
                assert allow_missing or change.new is not None
                if column.low is not None and change.new is not None and explanation.leaf is None:
                    assert column.low <= change.new <= column.high
                    assert not column.is_integer or float(change.new).is_integer()
        document = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
        assert document == explanation.to_dict()
        assert str(explanation)
        assert_safe(explanation._repr_html_())


def forest_and_rows(**options):
    random = np.random.default_rng(0)
    n = 900
    X = pd.DataFrame(
        {
            "age": random.integers(18, 80, n).astype(float),
            "income": random.lognormal(10, 0.6, n).round(2),
            "region": random.choice(["north", "south", "west"], n),
            "owner": random.random(n) < 0.5,
            "noise": random.normal(size=n),
        }
    )
    score = (X["age"] - 45) / 12 + 2 * (X["region"] == "south") - np.log(X["income"] / 22000) + X["owner"]
    y = np.where(score + random.normal(size=n) > 1.2, "yes", "no")
    return BayesianForestClassifier(n_estimators=30, random_state=0, **options).fit(X, y), X


def test_no_smaller_change_of_one_column_changes_the_decision_of_a_forest():
    """Along each column, against the model on a fine grid of its range."""
    model, X = forest_and_rows()
    n_changes = 0
    for i, explanation in enumerate(model.explain(X[:15], max_features=1, n_changes=9)):
        said, near = explanation.decision, {change.changes[0].feature: change for change in explanation.changes}
        for name in ("age", "income", "region", "owner"):
            grid = sorted(set(X[name])) if name != "income" else np.linspace(X[name].min(), X[name].max(), 2000)
            tried = pd.concat([X[i : i + 1]] * len(grid)).assign(**{name: grid})
            flips = np.array(grid)[model.predict(tried) != said]
            assert (name in near) or len(flips) == 0
            if name not in near or len(flips) == 0 or name == "region":
                continue
            n_changes += 1
            new, current = float(near[name].changes[0].new), float(X[name].iloc[i])
            span = float(X[name].max()) - float(X[name].min())
            assert abs(new - current) <= np.abs(flips.astype(float) - current).min() + 0.02 * span
    assert n_changes > 15


def test_changes_of_a_forest_obey_what_is_allowed():
    model, X = forest_and_rows()
    free, bound = (
        model.explain(X[:30], n_changes=20),
        model.explain(X[:30], n_changes=20, immutable=["region"], directions={"age": 1, "income": -1}),
    )
    assert any(change.feature == "region" for one in free for way in one.changes for change in way.changes)
    for explanation in bound:
        for change in (change for way in explanation.changes for change in way.changes):
            assert change.feature != "region"
            assert change.feature != "age" or change.new >= change.old
            assert change.feature != "income" or change.new <= change.old
            assert change.feature != "age" or change.new.is_integer()
    assert any(len(way.changes) == 2 for one in free for way in one.changes)


def test_an_explanation_of_a_forest_names_contributions_and_the_tree_that_disagrees():
    model, X = forest_and_rows()
    explanations = model.explain(X)
    assert [one.decision for one in explanations] == model.predict(X).tolist()
    readable = model.readable_tree_.predict(X)
    assert [one.disagrees for one in explanations] == (readable != model.predict(X)).tolist()
    one = next(one for one in explanations if one.disagrees)
    assert f"the readable tree disagrees: {one.illustration.decision} (" in str(one)
    assert one.illustration.steps
    assert not one.illustration.changes
    assert all(" (+" in line for line in one.because())
    assert all(" (-" in line for line in one.despite())
    assert "of them decide so by themselves" in one.note


def test_without_an_allowed_change_the_explanation_says_so():
    model, X = forest_and_rows()
    explanation = model.explain(X[:1], immutable=list(X.columns))[0]
    assert explanation.changes == ()
    assert "no allowed change leads to another decision" in str(explanation)
    assert "no allowed change leads to another decision" in explanation._repr_html_()


def test_steps_add_up_to_the_estimate_and_those_against_it_are_listed_apart():
    random = np.random.default_rng(0)
    X = random.random((2000, 2))
    y = (X[:, 0] > 0.5) != (X[:, 1] > 0.8)
    model = BayesianTreeClassifier(prior=0.5).fit(X, y)
    for row, explanation in zip(X[:40], model.explain(X[:40]), strict=True):
        predicted = model.predict_proba(row[None]).max()
        root = model.tree_.value[0, 0, int(explanation.decision == "True")]
        assert root + sum(step.change for step in explanation.steps) == pytest.approx(predicted)
        towards = {step.feature for step in explanation.steps if step.change >= 0}
        for lines, is_towards in ((explanation.because(), True), (explanation.despite(), False)):
            for line in lines:
                assert ("(+" in line) == is_towards
        assert towards or explanation.despite()


def test_a_tree_of_linear_leaves_is_explained_by_what_it_predicts_for_the_row():
    random = np.random.default_rng(0)
    X = random.uniform(0, 10, size=(800, 3))
    y = np.where(X[:, 0] > 5, 3 * X[:, 1], -2 * X[:, 2]) + random.normal(size=800)
    model = BayesianTreeRegressor(leaf="linear").fit(X, y)
    assert not model.tree_.leaves.is_constant
    explanations = model.explain(X[:25])
    for row, mean, explanation in zip(X[:25], model.predict(X[:25]), explanations, strict=True):
        assert explanation.estimate["mean"] == pytest.approx(mean)
        assert_decides(explanation.decision, decision_of(model, row[None])[0])
        total = explanation.base + sum(one.contribution for one in explanation.contributions)
        assert total == pytest.approx(mean)
        for counterfactual in explanation.changes:
            changed = row[None].copy()
            for change in counterfactual.changes:
                changed[0, change.column] = change.new
            assert decision_of(model, changed) != decision_of(model, row[None])
    assert any(explanation.changes for explanation in explanations)
