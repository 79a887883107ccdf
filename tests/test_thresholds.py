"""Thresholds: round numbers by default, midpoints on demand, and the same ones wherever rows live."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from baytree import (
    BayesianForestClassifier,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    PartitionPrior,
    TreeSpaceClassifier,
    engines,
)
from baytree.export import to_text
from baytree.tree import SplitKind
from tests import strategies
from tests.comparison import engine, raw_frame
from tests.reference.thresholds import middle_half, midpoint, n_digits_of, roundest

SMALLEST, LARGEST = 5e-324, 1.7976931348623157e308
EDGES = [
    (0.0, 1.0),
    (29.0, 30.0),
    (20.0, 30.0),
    (1.0, 10.0),
    (-10.0, -1.0),
    (-1.0, 8.0),
    (-0.0, SMALLEST),
    (-SMALLEST, 0.0),
    (SMALLEST, 2 * SMALLEST),
    (SMALLEST, 9 * SMALLEST),
    (-LARGEST, LARGEST),
    (LARGEST / 2, LARGEST),
    (-LARGEST / 8, LARGEST),
    (1.0, math.nextafter(1.0, 2.0)),
    (math.nextafter(1.0, 0.0), 1.0),
    (-1.0, math.nextafter(-1.0, 0.0)),
    (2.0**53, 2.0**53 + 2),
    (0.1, math.nextafter(0.1, 1.0)),
    (1e22, 1e23),
    (0.3, 0.30000000000000016),
    (2.0**-44, 2.0**-43),
    (97.0, 103.5),
]


def threshold_between(low, high, thresholds="round"):
    """The threshold of a tree on two values, ten rows of each."""
    X = np.repeat([low, high], 10)[:, None]
    model = BayesianTreeClassifier(thresholds=thresholds).fit(X, np.repeat([0, 1], 10))
    assert model.get_n_leaves() == 2
    return float(model.tree_.threshold[0])


def assert_is_roundest(low, high):
    threshold, expected = threshold_between(low, high), roundest(low, high)
    assert threshold == expected
    assert math.copysign(1, threshold) == math.copysign(1, expected)
    assert low <= threshold < high
    assert threshold_between(low, high, "midpoint") == midpoint(low, high)


@pytest.mark.parametrize(("low", "high"), EDGES)
def test_edges_equal_the_oracle(low, high):
    assert_is_roundest(low, high)


@strategies.examples(3)
@given(st.data())
def test_thresholds_between_any_two_numbers_equal_the_oracle(data):
    numbers = st.floats(allow_nan=False, allow_infinity=False)
    few_digits = st.builds(lambda m, e: float(Decimal(m).scaleb(e)), st.integers(-99999, 99999), st.integers(-8, 8))
    low = data.draw(st.one_of(numbers, few_digits))
    ulps = st.integers(1, 40).map(lambda n: low + n * math.ulp(low))
    high = data.draw(st.one_of(numbers, few_digits, ulps).filter(lambda other: math.isfinite(other) and other != low))
    assert_is_roundest(min(low, high), max(low, high))


@given(st.floats(-1e12, 1e12), st.floats(1e-9, 1e9))
def test_no_number_in_the_middle_half_has_fewer_digits(low, distance):
    """The oracle itself, against a search of all numbers with one digit less."""
    high = low + distance
    if not low < high:
        return
    n_digits = n_digits_of(threshold := roundest(low, high)) - 1
    ends = middle_half(low, high)
    assert ends[0] <= threshold <= ends[1] or threshold == midpoint(low, high)
    if threshold == 0 or n_digits == 0:
        return
    for exponent in range(-12, 14):
        step = Decimal(1).scaleb(exponent - n_digits + 1)
        first = (Decimal(ends[0]) / step).to_integral_value() - 1
        for count in range(int(first), int(first) + 3):
            if 0 < len(str(abs(count)).strip("0")) <= n_digits:
                assert not ends[0] <= float(count * step) <= ends[1]


@pytest.mark.parametrize("kind", [BayesianTreeClassifier, TreeSpaceClassifier, BayesianForestClassifier])
def test_the_position_of_thresholds_changes_nothing_but_the_way_of_values_between(kind):
    frame, y = raw_frame(400)
    parameters = {"random_state": 0} if kind is BayesianForestClassifier else {}
    parameters |= {"max_nodes": 40} if kind is TreeSpaceClassifier else {}
    if kind is BayesianForestClassifier:
        parameters["partitions"] = "axis"
    stores = [kind(thresholds=where, **parameters).fit(frame, y).fitted_.trees for where in ("round", "midpoint")]
    one, other = (store.arrays() for store in stores)
    differ = [name for name in one if not np.array_equal(one[name], other[name], equal_nan=one[name].dtype.kind == "f")]
    assert differ == ["threshold"]


def test_every_way_of_growing_has_the_same_thresholds():
    """In memory, with large nodes, with bins for all values, in batches."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": random.normal(size=900).round(2), "b": random.integers(0, 90, 900), "c": random.random(900)}
    )
    y = np.where(frame["a"] + frame["b"] / 40 + random.normal(size=900) > 1, "yes", "no")
    parameters = {"prior": 0.5, "prune": False, "partition_prior": 0.9}
    expected = BayesianTreeClassifier(**parameters).fit(frame, y).tree_
    assert expected.n_leaves > 3
    with engine(subtree_rows=8, n_bins=16):
        large = BayesianTreeClassifier(**parameters).fit(frame, y).tree_
    bins = BayesianTreeClassifier(max_bins=900, **parameters).fit(frame, y).tree_
    table = frame.assign(y=y)
    batches = engines.fit(
        BayesianTreeClassifier(max_bins=900, **parameters), lambda: iter([table[:400], table[400:]]), target="y"
    ).tree_
    splits = expected.is_of(SplitKind.THRESHOLD)
    for tree in (large, bins, batches):
        assert_array_equal(tree.threshold, expected.threshold)
    for feature in range(3):
        values = np.unique(frame.iloc[:, feature])
        for threshold in expected.threshold[splits & (expected.feature == feature)]:
            assert n_digits_of(threshold) <= max(n_digits_of(value) for value in values) + 1


@pytest.mark.parametrize("max_bins", [None, 8])
def test_float32_columns_route_as_they_were_trained(max_bins):
    random = np.random.default_rng(1)
    X = random.normal(size=(500, 3)).astype(np.float32)
    y = X[:, 0] + X[:, 1] > 0.1
    model = BayesianTreeClassifier(prior=0.2, max_bins=max_bins, partition_prior=0.9).fit(X, y)
    counts = np.bincount(model.apply(X), minlength=model.tree_.node_count)
    assert_array_equal(counts[model.tree_.is_leaf], model.tree_.n_node_samples[model.tree_.is_leaf])


def test_the_papers_prior_has_midpoints():
    X, y = np.repeat([1.0, 1.5, 4.25], 20)[:, None], np.repeat([0, 0, 1], 20)
    paper = PartitionPrior(split=0.99, by_depth=True, choose="partition")
    thresholds = [
        BayesianTreeClassifier(**parameters).fit(X, y).tree_.threshold[0]
        for parameters in ({}, {"thresholds": "midpoint"}, {"partition_prior": "paper"}, {"partition_prior": paper})
    ]
    assert thresholds == [3.0, 2.875, 2.875, 3.0]


@pytest.mark.parametrize("value", [None, "rounded", 1, True])
def test_thresholds_must_be_round_or_midpoints(value):
    with pytest.raises(ValueError, match="thresholds must be 'round' or 'midpoint'; got"):
        BayesianTreeRegressor(thresholds=value).fit([[0.0], [1.0]], [0.0, 1.0])


def test_columns_of_integers_are_split_between_integers_in_texts():
    frame = pd.DataFrame({"age": np.repeat([28, 29, 30, 31], 20)})
    model = BayesianTreeClassifier().fit(frame, np.repeat([0, 1], 40))
    assert model.tree_.threshold[0] == 29.5
    assert "age <= 29 " in to_text(model)
    assert "age = 29 <= 29 " in str(model.explain(frame[30:31])[0])
    assert "age = 30 > 29 " in str(model.explain(frame[50:51])[0])
    between = str(model.explain(pd.DataFrame({"age": [29.2]}))[0])
    assert "age = 29.2 <= 29.5 " in between


@pytest.mark.parametrize("thresholds", ["round", "midpoint"])
def test_values_between_given_bins_are_counted_where_predictions_send_them(thresholds):
    frame = pd.DataFrame({"x": np.tile([1.0, 2.0, 4.3, 5.0, 8.0, 11.0], 50)})
    frame["y"] = np.where(frame["x"] > 5, "yes", "no")
    model = BayesianTreeClassifier(thresholds=thresholds)
    fitted = engines.fit(
        model, lambda: iter([frame[:99], frame[99:]]), target="y", dtypes={"x": float}, bins={"x": [[0, 4], [9, 12]]}
    )
    leaves, rows = np.unique(fitted.apply(frame[["x"]]), return_counts=True)
    assert_array_equal(fitted.tree_.n_node_samples[leaves], rows)
    assert fitted.tree_.threshold[0] == (6.0 if thresholds == "round" else 6.5)
