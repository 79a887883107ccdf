"""Rules and frames say what the tree says."""

from __future__ import annotations

import math
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier
from baytree.explain import boxes_of
from baytree.export import Rule, Rules, to_frame, to_rules, to_text
from baytree.tree import distinct_text
from tests import strategies
from tests.comparison import hyperplanes


@given(strategies.fitted_trees(), st.data())
def test_every_row_is_in_the_box_of_its_leaf_and_in_no_other(fitted, data):
    model, X = fitted
    matrix = model._read_all(X).matrix
    values = [
        st.sampled_from([*column.tolist(), math.nan] + ([] if categories is None else [-1.0]))
        for column, categories in zip(matrix.T, model.categories_, strict=True)
    ]
    new = [data.draw(st.tuples(*values)) for _ in range(5)]
    rows = np.vstack([matrix, new])
    boxes = boxes_of(model.tree_, model.schema_)
    assert [box.leaf for box in boxes] == np.flatnonzero(model.tree_.is_leaf).tolist()
    for row, leaf in zip(rows, model.tree_.apply(np.ascontiguousarray(rows)), strict=True):
        inside = [box.leaf for box in boxes if all(want.holds(row[f]) for f, want in box.conditions.items())]
        assert inside == [leaf]


def meets(condition, row):
    """Read a condition of a rule and say whether a row meets it."""
    text = condition.removesuffix(" or missing")
    name = next(name for name in row if name in text)
    value = "missing" if row[name] is None or row[name] != row[name] else row[name]
    if value == "missing" and text != condition:
        return True
    if text.endswith((" is missing", " is present")):
        return text == f"{name} is {'missing' if value == 'missing' else 'present'}"
    if text.endswith("}"):
        members = text.split("{")[1].removesuffix("}").split(", ")
        return (value in members) == text.startswith(f"{name} in ")
    return value != "missing" and eval(text, {name: value})


CATEGORY_EFFECT = {"l0": 9, "l1": 4, "l2": 1, "l3": 0, "l4": 0, "l5": 2, "l6": 0, "l7": 1}


@pytest.mark.parametrize("seed", range(4))
def test_training_rows_meet_exactly_one_rule_as_it_is_printed(seed):
    random = np.random.default_rng(seed)
    n = 1500
    frame = pd.DataFrame(
        {
            "size": np.where(random.random(n) < 0.2, np.nan, random.integers(0, 50, n) / 4),
            "age": random.integers(0, 60, n).astype(float),
            "kind": random.choice([None, "l0", "l1", "l2", "l3", "l4", "l5", "l6", "l7"], n),
        }
    )
    score = (
        np.nan_to_num(frame["size"], nan=20.0)
        + (frame["age"] - 30).abs()
        + 3 * frame["kind"].map(CATEGORY_EFFECT).fillna(9)
    )
    model = BayesianTreeClassifier(prior=0.2).fit(frame, score > score.median())
    rules, leaves = to_rules(model), model.apply(frame)
    assert any(" or missing" in condition for rule in rules for condition in rule.conditions)
    assert any("not in" in condition and "missing" in condition for rule in rules for condition in rule.conditions)
    for row, leaf in zip(frame.to_dict("records"), leaves, strict=True):
        fitting = [rule.leaf for rule in rules if all(meets(text, row) for text in rule.conditions)]
        assert fitting == [leaf]


@strategies.examples(0.5)
@given(strategies.fitted_trees())
def test_rules_have_one_condition_a_feature_and_the_numbers_of_the_leaf(fitted):
    model, X = fitted
    rules, explanations = to_rules(model), {e.leaf: e for e in model.explain(X)}
    assert sum(rule.n for rule in rules) == len(X)
    for rule in rules:
        explanation, path = explanations[rule.leaf], model.tree_.path(rule.leaf)[:-1]
        assert len(rule.conditions) == len({model.tree_.feature[node] for node in path})
        assert (rule.n, rule.estimate) == (explanation.n_rows, explanation.estimate)
        assert rule.interval == explanation.interval


def test_missing_values_that_an_upper_split_sent_away_stay_away():
    kinds = {None: 95, "a": 95, "b": 30, "c": 5, "d": 5, "e": 5, "f": 5}
    frame = pd.DataFrame({"kind": np.repeat(np.array(list(kinds), dtype=object), 100)})
    y = np.concatenate([np.arange(100) < percent for percent in kinds.values()])
    model = BayesianTreeClassifier(prior=1.0).fit(frame, y)
    assert to_frame(model)["rule"][1:3].tolist() == ["kind not in {a, missing}", "kind in {b}"]
    assert [rule.conditions for rule in to_rules(model)] == [
        ("kind in {b}",),
        ("kind not in {a, b, missing}",),
        ("kind in {a, missing}",),
    ]


def cancer():
    data = load_breast_cancer(as_frame=True)
    return BayesianTreeClassifier(prior="paper", prune=False, calibrate=False).fit(
        data.data, data.target_names[data.target]
    )


def test_rules_print_as_text():
    rules = to_rules(cancer())
    assert isinstance(rules, Rules)
    assert isinstance(rules[0], Rule)
    condition, says = str(rules).splitlines()[4:6]
    assert condition == "if 105.95 < worst perimeter <= 117.4 and worst smoothness <= 0.136"
    assert says.startswith("    benign: 0.6667  (90 % between 0.5586 and 0.7677); malignant: 0.3333  (90 % between ")
    assert says.endswith(")  n=34")
    assert repr(rules) == str(rules)


def test_one_leaf_is_always_right():
    rules = to_rules(BayesianTreeClassifier().fit([[1.0]] * 4, ["a", "b"] * 2))
    assert str(rules).startswith("always\n    a: 0.5  (90 %")


def test_hyperplanes_are_conditions_of_their_own():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = BayesianTreeRegressor(partitions="oblique").fit(X, y)
    tree, schema, rules = model.tree_, model.schema_, to_rules(model)
    assert any(" × " in condition and " <= " in condition for condition in rules[0].conditions)
    for rule in rules:
        path = tree.path(rule.leaf)
        for node, child in pairwise(path):
            if hyperplanes(tree)[node]:
                split, left = tree.split(node), child == tree.children_left[node]
                assert f"{split.subject(schema)} {split.condition(schema, left=left)}" in rule.conditions


@strategies.examples(0.5)
@given(strategies.fitted_trees())
def test_a_frame_has_the_arrays_of_the_tree(fitted):
    model, _ = fitted
    tree, frame = model.tree_, to_frame(model)
    assert len(frame) == tree.node_count
    assert_array_equal(frame["node"], np.arange(tree.node_count))
    assert_array_equal(frame["parent"], tree.parents)
    assert_array_equal(frame["depth"], tree.depth)
    assert_array_equal(frame["is_leaf"], tree.is_leaf)
    assert_array_equal(frame["n"], tree.n_node_samples)
    assert_array_equal(frame["log_odds_split"], tree.log_odds_split)
    assert_array_equal(frame["feature"].isna(), tree.is_leaf)
    by_threshold = np.isfinite(tree.threshold) & ~tree.is_leaf
    assert_array_equal(frame["threshold"], np.where(by_threshold, tree.threshold, np.nan))
    assert_array_equal(frame.filter(regex="^posterior_"), model.fitted_.trees.calibrated)
    names = [name for name in frame if name.startswith("estimate_")]
    values = tree.value[:, 0] if model.fitted_.classes is not None else tree.value[:, 0].repeat(2, axis=1)
    assert_allclose(frame[names], values)
    steps = {step.condition for explanation in model.explain(fitted[1]) for step in explanation.steps}
    assert steps == {rule.split(" ", 1)[1] for rule in frame["rule"] if rule}


def test_a_frame_without_pandas_says_what_to_do(monkeypatch):
    model = cancer()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="to_frame needs pandas: pip install pandas"):
        to_frame(model)


@pytest.mark.parametrize("export", [to_text, to_rules, to_frame])
def test_tree_spaces_give_their_readable_tree_and_unfitted_models_are_refused(export):
    X, y = load_breast_cancer(return_X_y=True)
    space = TreeSpaceClassifier(max_nodes=50).fit(X, y)
    assert str(export(space)) == str(export(space.readable_tree_))
    with pytest.raises(NotFittedError):
        export(BayesianTreeClassifier())


def test_thresholds_keep_digits_that_tell_something():
    random = np.random.default_rng(0)
    X = random.random((300, 1))
    for scale in (1e-5, 1.0, 1e10):
        text = to_text(BayesianTreeClassifier(max_depth=1).fit(scale * X, X[:, 0] > 0.64))
        shown = float(text.split("<= ")[1].split()[0])
        assert shown == pytest.approx(0.64 * scale, rel=0.01)


def test_odds_of_a_space_are_numbers_however_large():
    X = np.repeat(np.arange(4.0), 2000)[:, None]
    space = TreeSpaceClassifier(max_nodes=5).fit(X, X[:, 0].astype(int))
    assert np.all(np.isfinite(space.readable_tree_.tree_.log_odds_split[~space.readable_tree_.tree_.is_leaf]))
    assert "inf" not in to_text(space)


def test_thresholds_that_differ_read_differently():
    random = np.random.default_rng(0)
    t = 1_700_000 + np.repeat([0.0, 0.2, 0.4], 100)
    y = np.repeat([0.0, 5.0, 1.0], 100) + random.normal(size=300) / 10
    model = BayesianTreeRegressor().fit(pd.DataFrame({"t": t}), y)
    rules = [rule.conditions for rule in to_rules(model)]
    assert sorted(rules) == [("1,700,000.1 < t <= 1,700,000.3",), ("t <= 1,700,000.1",), ("t > 1,700,000.3",)]
    assert "t <= 1,700,000.1 " in to_text(model)
    assert "t <= 1,700,000.3 " in to_text(model)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1))
def test_texts_of_numbers_differ_where_the_numbers_do(numbers):
    text = distinct_text((0, number) for number in numbers)
    assert len({text(number) for number in numbers}) == len({*numbers})
