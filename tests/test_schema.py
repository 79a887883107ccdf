"""What columns are: their kinds in every sort of table, ordered categories, truth values, and which are read."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, load, partition_space, plot
from baytree.explain import boxes_of
from baytree.export import to_frame, to_rules, to_text
from baytree.table import Kind, Schema
from baytree.tree import SplitKind
from tests import strategies
from tests.comparison import assert_same_arrays
from tests.reference import route
from tests.reference.counterfactual import assert_smallest

LABELS = strategies.LABELS


def sizes(n=400, seed=0, missing=0.1):
    """An ordered category and a truth value that matter, a category and a number that do not; and the positions."""
    random = np.random.default_rng(seed)
    position = np.where(random.random(n) < missing, -1, random.integers(0, len(LABELS), n))
    frame = pd.DataFrame(
        {
            "size": pd.Categorical.from_codes(position, LABELS, ordered=True),
            "owner": random.random(n) < 0.5,
            "city": random.choice(["Rome", "Oslo"], n),
            "noise": random.normal(size=n),
        }
    )
    chance = 0.1 + 0.4 * (position > 1) + 0.4 * frame["owner"] * (position != 3)
    return frame, (random.random(n) < chance).astype(int), position


FRAME, Y, POSITION = sizes()


def model(**parameters):
    return BayesianTreeClassifier(prior=1.0, **parameters).fit(FRAME, Y)


def kinds_of(table, categorical_features="from_dtype"):
    return [column.kind for column in Schema.learn(table, categorical_features, None)[1].columns]


# Kinds.


def tables_of_every_kind():
    text = ["b", "a", None, "b"]
    ordered = pd.Categorical(text, ["b", "a"], ordered=True)
    pandas = pd.DataFrame(
        {
            "number": [1.0, 2.0, math.nan, 3.0],
            "whole": [1, 2, 3, 4],
            "truth": [True, False, True, True],
            "text": text,
            "category": pd.Categorical(text),
            "ordered": ordered,
        }
    )
    polars = pl.DataFrame(
        {
            "number": pl.Series([1.0, 2.0, None, 3.0]),
            "whole": pl.Series([1, 2, 3, 4], dtype=pl.UInt8),
            "truth": pl.Series([True, False, None, True]),
            "text": text,
            "category": pl.Series(text, dtype=pl.Categorical),
            "ordered": pl.Series(text, dtype=pl.Enum(["b", "a"])),
        }
    )
    arrow = pa.table(
        {
            "number": pa.array([1.0, 2.0, None, 3.0]),
            "whole": pa.array([1, 2, 3, 4]),
            "truth": pa.array([True, False, None, True]),
            "text": pa.array(text),
            "category": pa.array(text).dictionary_encode(),
            "ordered": pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), pa.array(["b", "a"]), ordered=True),
        }
    )
    return {
        "pandas": pandas,
        "pandas nullable": pandas.convert_dtypes(),
        "polars": polars,
        "pyarrow": arrow,
    }


@pytest.mark.parametrize("kind", tables_of_every_kind())
def test_columns_of_frames_have_their_kinds(kind):
    table = tables_of_every_kind()[kind]
    expected = [Kind.NUMBER, Kind.NUMBER, Kind.TRUTH, Kind.CATEGORY, Kind.CATEGORY, Kind.ORDERED]
    assert kinds_of(table) == expected
    fitted = BayesianTreeClassifier().fit(table, [0, 1, 0, 1])
    assert [column.kind for column in fitted.schema_.columns] == expected
    assert fitted.schema_.names == ("number", "whole", "truth", "text", "category", "ordered")
    assert [None if categories is None else categories.tolist() for categories in fitted.categories_[2:]] == [
        None,
        ["a", "b"],
        ["a", "b"],
        ["b", "a"],
    ]
    matrix = fitted._read_all(table).matrix
    assert_array_equal(matrix[:, 3:], [[1, 1, 0], [0, 0, 1], [math.nan] * 3, [1, 1, 0]])
    assert_array_equal(matrix[[0, 1, 3], 2], [1, 0, 1])


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (np.ones((3, 2)), [Kind.NUMBER] * 2),
        (np.ones((3, 2), dtype=np.int8), [Kind.NUMBER] * 2),
        (np.ones((3, 2), dtype=bool), [Kind.TRUTH] * 2),
        (np.array([[1, "a", True], [2.5, None, False]], dtype=object), [Kind.NUMBER, Kind.CATEGORY, Kind.TRUTH]),
        (np.array([["a", "b"], ["c", "d"]]), [Kind.CATEGORY] * 2),
        (sparse.csr_array(np.eye(3)), [Kind.NUMBER] * 3),
    ],
    ids=["float", "int", "bool", "object", "text", "sparse"],
)
def test_columns_of_arrays_have_their_kinds(table, expected):
    assert kinds_of(table) == expected


def test_categorical_features_chooses_the_columns_and_their_type_the_order():
    assert kinds_of(FRAME) == [Kind.ORDERED, Kind.TRUTH, Kind.CATEGORY, Kind.NUMBER]
    assert kinds_of(FRAME, categorical_features=[0, 1, 2]) == [Kind.ORDERED, Kind.CATEGORY, Kind.CATEGORY, Kind.NUMBER]
    as_text = FRAME.astype({"size": str})
    assert kinds_of(as_text)[0] is Kind.CATEGORY
    with pytest.raises(ValueError, match="holds text"):
        BayesianTreeClassifier(categorical_features=["city"]).fit(FRAME, Y)


# Ordered categories.


@given(strategies.fitted_frames(), st.data())
def test_ordered_categories_are_their_positions_and_truth_values_zero_and_one(fitted, data):
    """They grow the same tree as numbers do; only the categories without an order stay categories."""
    fitted_model, frame = fitted
    matrix = fitted_model._read_all(frame).matrix
    y = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(frame), max_size=len(frame))))
    nominal = np.flatnonzero(fitted_model.schema_.is_nominal).tolist()
    plain = clone(fitted_model).set_params(categorical_features=nominal).fit(matrix, y)
    again = clone(fitted_model).fit(frame, y)
    assert_same_arrays(plain, again)
    assert_array_equal(plain.apply(matrix), again.apply(frame))


def test_an_ordered_category_is_split_by_order():
    fitted = model()
    used = fitted.tree_.feature == 0
    assert used.any()
    assert np.all(np.isin(fitted.tree_.kind[used], [SplitKind.THRESHOLD, SplitKind.PRESENT_MISSING]))
    thresholds = fitted.tree_.threshold[used & fitted.tree_.is_of(SplitKind.THRESHOLD)]
    assert np.all((thresholds > 0) & (thresholds < len(LABELS) - 1))
    space = partition_space(FRAME[["size"]], Y)
    assert set(space["categories"]) == {None}
    # Four splits between neighbours, with the missing values on either side, and present against missing.
    assert len(space) == 1 + 2 * (len(LABELS) - 1) + 1


def test_ordered_categories_of_every_frame_give_the_same_tree():
    expected = model()
    values = {name: FRAME[name].astype(object).where(FRAME[name].notna(), None).tolist() for name in FRAME}
    polars = pl.DataFrame(values | {"size": pl.Series(values["size"], dtype=pl.Enum(LABELS))})
    arrow = pa.table(
        values
        | {
            "size": pa.DictionaryArray.from_arrays(
                pa.array(POSITION, mask=POSITION < 0), pa.array(LABELS), ordered=True
            )
        }
    )
    for table in (polars, arrow):
        other = BayesianTreeClassifier(prior=1.0).fit(table, Y)
        assert_same_arrays(other, expected)
        assert to_text(other) == to_text(expected)
        assert_array_equal(other.predict_proba(FRAME), expected.predict_proba(table))


def test_numbers_as_ordered_categories_keep_their_order_not_their_size():
    order = [100.0, 5.0, 7.5]
    column = pd.Categorical(np.tile(order, 30), order, ordered=True)
    fitted = BayesianTreeClassifier(prior=0.1).fit(pd.DataFrame({"grade": column}), np.tile([0, 1, 1], 30))
    assert fitted.categories_[0].tolist() == order
    assert to_text(fitted).startswith("grade <= 100 ")
    assert_array_equal(fitted.predict(pd.DataFrame({"grade": [100, 5, 7.5]})), [0, 1, 1])


def test_all_categories_of_the_type_count_seen_or_not():
    """One that no training row has still has its place in the order."""
    some = FRAME[FRAME["size"] != "middle"]
    fitted = BayesianTreeClassifier(prior=1.0).fit(some, Y[some.index])
    assert fitted.categories_[0].tolist() == LABELS
    middle = pd.DataFrame({"size": ["middle"], "owner": [True], "city": ["Rome"], "noise": [0.0]})
    row = np.array([2.0, 1.0, 1.0, 0.0])
    assert fitted.apply(middle)[0] == route.leaf_of(fitted.tree_, row)


def test_columns_without_an_order_or_of_another_order_are_read_by_name():
    fitted = model()
    expected = fitted.predict_proba(FRAME)
    size = FRAME["size"]
    for other in (
        size.astype(object),
        size.cat.as_unordered(),
        size.cat.reorder_categories(LABELS[::-1]),
        size.cat.set_categories(["more", *LABELS, "most"], ordered=True),
        size.cat.remove_unused_categories(),
    ):
        assert_array_equal(fitted.predict_proba(FRAME.assign(size=other)), expected)


def test_a_category_without_a_place_in_the_order_counts_as_missing():
    fitted = model()
    rows, gone = (FRAME.assign(size=pd.Series([value] * len(FRAME), dtype=object)) for value in ("enormous", None))
    assert_array_equal(fitted.predict_proba(rows), fitted.predict_proba(gone))
    assert_array_equal(fitted._read_all(rows).matrix[:, 0], np.full(len(FRAME), math.nan))


def test_a_constraint_holds_along_an_order():
    fitted = model(monotonic_cst={"size": 1})
    rows = pd.concat([FRAME[:40].assign(size=pd.Categorical([label] * 40, LABELS, ordered=True)) for label in LABELS])
    curves = fitted.predict_proba(rows)[:, 1].reshape(len(LABELS), 40)
    assert np.all(np.diff(curves, axis=0) >= 0)
    with pytest.raises(ValueError, match=r"'city' .* no order"):
        model(monotonic_cst={"city": 1})


def test_categories_of_mixed_type_are_refused():
    mixed = pd.DataFrame({"a": pd.Categorical(["x", 2] * 10, ["x", 2], ordered=True)})
    with pytest.raises(TypeError, match=r"'a' .* mixed type"):
        BayesianTreeClassifier().fit(mixed, [0, 1] * 10)


# Words.


def test_order_and_truth_in_words():
    fitted = model()
    text, rules = to_text(fitted), str(to_rules(fitted))
    for said in (text, rules, " ".join(to_frame(fitted)["rule"])):
        assert any(f"size {sign} {label}" in said for sign in ("<=", ">") for label in LABELS)
        assert "owner is true" in said
    explanation = str(fitted.explain(FRAME[:1])[0])
    assert f"size = {FRAME['size'][0]} " in explanation
    assert f"owner is {str(FRAME['owner'][0]).lower()}  (+" in explanation
    json.dumps(fitted.explain(FRAME[:1])[0].to_dict(), allow_nan=False)
    values = {step.feature: step.value for step in fitted.explain(FRAME[:1])[0].steps}
    assert values["size"] == FRAME["size"][0]
    assert values["owner"] is bool(FRAME["owner"][0])


def test_a_range_of_ordered_categories_is_one_condition():
    position = np.tile(np.arange(5), 60)
    frame = pd.DataFrame({"size": pd.Categorical.from_codes(position, LABELS, ordered=True)})
    fitted = BayesianTreeClassifier(prior=0.1).fit(frame, np.isin(position, [2, 3]))
    conditions = {rule.conditions for rule in to_rules(fitted)}
    assert conditions == {("size <= small",), ("small < size <= large",), ("size > large",)}


@pytest.mark.parametrize("seed", range(3))
def test_training_rows_meet_the_one_rule_of_their_leaf(seed):
    frame, y, _ = sizes(600, seed)
    fitted = BayesianTreeClassifier(prior=0.3).fit(frame, y)
    rules = to_rules(fitted)

    def meets(condition, row):
        text = condition.removesuffix(" or missing")
        name = next(name for name in row if name in text)
        value = None if pd.isna(row[name]) else row[name]
        if text.endswith(("is present", "is missing")):
            return text.endswith("present") == (value is not None)
        if value is None:
            return text != condition
        if name == "owner":
            return text == f"owner is {str(bool(value)).lower()}"
        if name == "city":
            return (value in text) == (" not in " not in text)
        place = {label: str(i) for i, label in enumerate(LABELS)} if name == "size" else {}
        return eval(" ".join(place.get(word, word) for word in text.split()), {name: float(place.get(value, value))})

    for row, leaf in zip(frame.to_dict("records"), fitted.apply(frame), strict=True):
        assert [rule.leaf for rule in rules if all(meets(text, row) for text in rule.conditions)] == [leaf]


@given(strategies.fitted_frames())
def test_every_row_is_in_the_box_of_its_leaf_and_in_no_other(fitted):
    fitted_model, frame = fitted
    boxes = boxes_of(fitted_model.tree_, fitted_model.schema_)
    for row in fitted_model._read_all(frame).matrix:
        inside = [box.leaf for box in boxes if all(want.holds(row[f]) for f, want in box.conditions.items())]
        assert inside == [route.leaf_of(fitted_model.tree_, row)]


@strategies.examples(2)
@given(strategies.fitted_frames(), st.data())
def test_no_smaller_change_of_one_feature_changes_the_decision(fitted, data):
    fitted_model, frame = fitted
    assume(fitted_model.get_n_leaves() > 1)
    missing = data.draw(st.booleans())
    explanations = fitted_model.explain(frame, max_features=1, allow_missing=missing)
    for i in data.draw(st.lists(st.integers(0, len(frame) - 1), min_size=1, max_size=4)):
        assert_smallest(fitted_model, frame, i, explanations[i].nearest, 1, allow_missing=missing)


@given(strategies.fitted_frames(), st.data())
def test_no_smaller_change_of_two_features_changes_the_decision(fitted, data):
    fitted_model, frame = fitted
    assume(1 < fitted_model.get_n_leaves() <= 6)
    i = data.draw(st.integers(0, len(frame) - 1))
    assert_smallest(fitted_model, frame, i, fitted_model.explain(frame[i : i + 1])[0].nearest, 2)


def test_changes_of_order_and_truth_are_told_in_words():
    frame = pd.DataFrame(
        {
            "size": pd.Categorical(np.repeat(LABELS, 40), LABELS, ordered=True),
            "owner": np.tile([True, False], 100),
        }
    )
    fitted = BayesianTreeClassifier(prior=0.1).fit(frame, frame["owner"] & (frame["size"] > "small"))
    cases = pd.DataFrame({"size": ["middle", "tiny"], "owner": [True, True]})
    told = [str(explanation.nearest) for explanation in fitted.explain(cases, max_features=1)]
    assert told[0].startswith("owner from true to false -> False")  # one step, as is a smaller size: the more usual
    assert told[1].startswith("size from tiny to middle -> True")
    changed = fitted.explain(pd.DataFrame({"size": ["huge"], "owner": [False]}))[0].nearest.changes[0]
    assert (changed.feature, changed.old, changed.new) == ("owner", False, True)
    assert str(changed) == "owner from false to true"


# Files, plots, spaces.


@pytest.mark.parametrize("kind", [BayesianTreeClassifier, TreeSpaceClassifier])
def test_kinds_come_back_from_a_file(kind, tmp_path):
    fitted = kind(prior=1.0).fit(FRAME, Y)
    fitted.save(tmp_path / "model.json")
    other = load(tmp_path / "model.json")
    assert other.schema_.names == fitted.schema_.names
    for one, two in zip(other.schema_.columns, fitted.schema_.columns, strict=True):
        assert one.kind is two.kind
        assert_array_equal(one.categories, two.categories)
    assert_array_equal(other.predict_proba(FRAME), fitted.predict_proba(FRAME))
    assert to_text(other) == to_text(fitted)
    assert str(other.explain(FRAME[:3])) == str(fitted.explain(FRAME[:3]))


def test_alternatives_speak_of_order():
    rules = [alternative.rule for alternative in TreeSpaceClassifier(max_nodes=50).fit(FRAME, Y).alternatives()]
    assert any(rule.startswith("size <= ") for rule in rules)
    assert "owner is false" in rules


def test_plots_name_ordered_categories_and_truth_values():
    plt = pytest.importorskip("matplotlib.pyplot")
    left, _ = plot.surface(model(), FRAME, Y, features=("size", "owner"))
    assert [label.get_text() for label in left.get_xticklabels()] == LABELS
    assert [label.get_text() for label in left.get_yticklabels()] == ["false", "true"]
    regression = plot.regression(BayesianTreeRegressor().fit(FRAME, Y), FRAME, Y, "size")
    assert [label.get_text() for label in regression.get_xticklabels()] == LABELS
    plot.partition_posterior(FRAME, Y, "size").figure.canvas.draw()
    plt.close("all")


# Only what is used is read.


class Unreadable:
    """Any look at it is an error."""

    def __float__(self):
        raise AssertionError("this value was read")

    __str__ = __repr__ = __float__


def test_columns_that_a_tree_does_not_use_are_not_read():
    fitted = model(max_depth=2)
    unused = [name for i, name in enumerate(FRAME) if i not in fitted.fitted_.used_features]
    assert {"city", "noise"} <= set(unused)
    rows = FRAME[:50]
    for broken in (
        rows.assign(**{name: pd.Series([Unreadable()] * 50, dtype=object) for name in unused}),
        rows.assign(**{name: pd.Timestamp("2020-01-01") for name in unused}),
        rows.assign(**dict.fromkeys(unused, "text, or numbers, or anything")),
        rows.assign(**dict.fromkeys(unused, np.inf)),
    ):
        for method in ("predict", "predict_proba", "predict_interval", "apply", "posterior"):
            assert_array_equal(getattr(fitted, method)(broken), getattr(fitted, method)(rows))
    with pytest.raises(TypeError, match=r"'city' .* unknown type"):  # explanations look at the whole row
        fitted.explain(rows.assign(city=pd.Series([{}] * 50, dtype=object)))


def test_a_tree_of_one_leaf_reads_almost_nothing():
    fitted = BayesianTreeClassifier(max_depth=0).fit(FRAME, Y)
    assert len(fitted.fitted_.used_features) == 0
    broken = FRAME[:5].assign(city=pd.Timestamp("2020-01-01"), noise=np.inf, owner="text")
    assert_array_equal(fitted.predict_proba(broken), fitted.predict_proba(FRAME[:5]))


def test_a_space_reads_what_some_tree_uses():
    frame = FRAME.assign(constant=1.0)
    space = TreeSpaceClassifier(max_nodes=20).fit(frame, Y)
    assert 4 not in space.fitted_.used_features
    assert set(space.readable_tree_.fitted_.used_features) <= set(space.fitted_.used_features)
    expected = space.predict_proba(frame)
    assert_array_equal(space.predict_proba(frame.assign(constant=pd.Timestamp("2020-01-01"))), expected)


def test_names_and_their_order_are_still_checked():
    fitted = model(max_depth=1)
    with pytest.raises(ValueError, match="same order"):
        fitted.predict(FRAME[["city", "size", "owner", "noise"]])
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(FRAME.drop(columns="noise"))
