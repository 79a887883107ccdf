"""Quantile bins: `max_bins` grows the tree that an exact search grows on the bins."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, _core, engines
from baytree.outcomes import NegativeBinomial
from tests import strategies
from tests.comparison import assert_same_arrays, assert_same_classes, assert_same_tree, engine, raw_frame
from tests.reference.bins import bins, middles
from tests.reference.thresholds import roundest


def binned(X, max_bins, categorical=(), weight=None):
    """A table whose values are the middles of their bins; categories stay what they are."""
    columns = [X[:, j] if j in categorical else middles(X[:, j].tolist(), max_bins, weight) for j in range(X.shape[1])]
    return np.array(columns, dtype=float).T


def same_but_thresholds(one, other):
    """Compare two trees whose thresholds lie between the same rows, but not at the same numbers."""
    for name, array in one.tree_.arrays().items():
        if name != "threshold":
            assert_array_equal(array, other.tree_.arrays()[name], err_msg=name)


@strategies.examples(3)
@given(st.data(), st.integers(2, 9))
def test_bins_are_the_naive_ones(data, max_bins):
    n = data.draw(st.integers(1, 40))
    values = np.array(data.draw(strategies.columns(n)))
    values[data.draw(st.lists(st.integers(0, n - 1), max_size=3))] = np.nan
    weight = None
    if data.draw(st.booleans()):
        lists = st.lists(
            st.integers(1, data.draw(st.sampled_from([3, 2**46]))), min_size=len(values), max_size=len(values)
        )
        weight = np.array(data.draw(lists), dtype=np.int64)
    encoded = _core.encode(values[:, None], np.zeros(1, dtype=np.uint8), 0, max_bins, False, 1, weight)
    expected = bins(values.tolist(), max_bins, None if weight is None else weight.tolist())
    lows, highs = encoded.bins(0)
    assert list(zip(lows[: len(expected)], highs[: len(expected)], strict=True)) == expected
    codes = [
        len(expected) if math.isnan(v) else next(k for k, (_, high) in enumerate(expected) if v <= high) for v in values
    ]
    assert_array_equal(encoded.codes(0), codes)


@pytest.mark.parametrize("max_bins", [2, 255, 256, 5000, 65535])
@pytest.mark.parametrize("n", [200, 70_000])
def test_long_columns_of_every_shape(n, max_bins):
    random = np.random.default_rng(n + max_bins)
    columns = [
        random.normal(size=n),
        random.integers(0, 300, n),
        np.exp(5 * random.normal(size=n)),
        np.where(random.random(n) < 0.2, np.nan, random.normal(size=n)),
        1e9 + random.normal(size=n),
        np.append(random.normal(size=n - 2), [1.7e308, -1.7e308]),
        np.where(random.random(n) < 0.9, 3.0, random.normal(size=n)),
        np.full(n, np.nan),
    ]
    X = np.column_stack(columns)
    encoded = _core.encode(X, np.zeros(len(columns), dtype=np.uint8), 0, max_bins, False, 2)
    for j, column in enumerate(columns):
        present = np.sort(column[~np.isnan(column)])
        ends = np.unique(present)
        if len(ends) > max_bins:
            ends = np.unique(present[-(-np.arange(1, max_bins + 1) * len(present) // max_bins) - 1])
        codes = np.where(np.isnan(column), len(ends), np.searchsorted(ends, column))
        assert_array_equal(encoded.codes(j), codes)
        assert_array_equal(encoded.bins(j)[1][: len(ends)], ends)
        first = np.unique(np.searchsorted(ends, present), return_index=True)[1]
        assert_array_equal(encoded.bins(j)[0][: len(ends)], present[first])


@strategies.examples(5)
@given(strategies.raw_problems(), st.integers(2, 5), st.sampled_from([1, 4096]))
def test_the_tree_of_the_bins_equals_the_oracle(problem, max_bins, subtree_rows):
    X, y, weight, parameters = problem
    weight = None if weight is None else np.rint(np.multiply(weight, 1024)) / 1024  # on their grid
    with engine(subtree_rows=subtree_rows):
        model = BayesianTreeClassifier(max_bins=max_bins, **parameters).fit(X, y, sample_weight=weight)
    middle = binned(X, max_bins, parameters.get("categorical_features") or (), weight)
    exact = BayesianTreeClassifier(**parameters).fit(middle, y, sample_weight=weight)
    assert_same_classes(exact, middle, y, weight, parameters)
    same_but_thresholds(model, exact)
    assert_array_equal(model.apply(X), exact.apply(middle))


def test_thresholds_lie_between_neighbouring_values_of_the_node():
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 3))
    y = (X[:, 0] > 0.4) ^ (X[:, 1] > 0)
    model = BayesianTreeClassifier(max_bins=20).fit(X, y)
    ranges = [bins(X[:, j].tolist(), 20) for j in range(3)]
    path = model.decision_path(X).toarray().astype(bool)
    tree = model.tree_
    assert tree.n_leaves > 3
    for node in tree.internal_nodes:
        column = X[path[:, node], tree.feature[node]]
        lower = [pair for pair in ranges[tree.feature[node]] if ((column >= pair[0]) & (column <= pair[1])).any()]
        highest = max(pair[1] for pair in lower if pair[1] <= tree.threshold[node])
        lowest = min(pair[0] for pair in lower if pair[0] > tree.threshold[node])
        assert tree.threshold[node] == roundest(highest, lowest)


@pytest.mark.parametrize("max_bins", [300, 65535])
def test_enough_bins_are_the_exact_tree(max_bins):
    frame, y = raw_frame(300)
    exact, model = (
        BayesianTreeClassifier(prior=0.5, partition_prior=0.99, prune=False, max_bins=bins) for bins in (None, max_bins)
    )
    assert_same_arrays(exact.fit(frame, y), model.fit(frame, y))
    assert exact.get_n_leaves() > 3


@pytest.mark.parametrize("layout", ["C", "F", "sparse"])
def test_the_layout_of_the_table_and_the_threads_change_nothing(layout):
    random = np.random.default_rng(1)
    X = np.where(random.random((900, 5)) < 0.5, 0.0, random.normal(size=(900, 5)))
    y = X[:, 0] + X[:, 1] > 0.3
    expected = BayesianTreeClassifier(max_bins=16).fit(X, y)
    table = sparse.csc_matrix(X) if layout == "sparse" else np.array(X, order=layout)
    assert_same_arrays(BayesianTreeClassifier(max_bins=16, n_jobs=3).fit(table, y), expected)


def test_tree_spaces_and_look_ahead_grow_on_bins():
    random = np.random.default_rng(2)
    X = random.normal(size=(200, 3))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    middle = binned(X, 8)
    space = TreeSpaceClassifier(max_bins=8, max_nodes=200).fit(X, y)
    exact = TreeSpaceClassifier(max_nodes=200).fit(middle, y)
    assert_array_equal(space.predict_proba(X), exact.predict_proba(middle))
    model = BayesianTreeClassifier(max_bins=8, lookahead=1, prune=False).fit(X, y)
    same_but_thresholds(model, BayesianTreeClassifier(lookahead=1, prune=False).fit(middle, y))
    assert model.get_n_leaves() >= 4


@pytest.mark.parametrize(
    ("max_bins", "error"),
    [(1, ValueError), (65536, ValueError), (2.5, TypeError), ("255", TypeError), (True, TypeError)],
)
def test_what_is_no_number_of_bins_is_refused(max_bins, error):
    with pytest.raises(error, match="max_bins must be"):
        BayesianTreeRegressor(max_bins=max_bins).fit([[0.0], [1.0]], [0.0, 1.0])


def test_hyperplanes_need_every_value():
    with pytest.raises(ValueError, match='Hyperplanes need every value: write partitions="axis" beside max_bins, or'):
        BayesianTreeClassifier(max_bins=8, partitions="oblique").fit([[0.0], [1.0]], [0, 1])


@strategies.examples(5)
@given(strategies.real_problems(raw=True), st.integers(2, 5), st.sampled_from([1, 4096]))
def test_real_outcomes_on_bins_equal_the_oracle(problem, max_bins, subtree_rows):
    X, name, y, weight, extras, outcome, parameters = problem
    model = BayesianTreeRegressor(outcome=name, max_bins=max_bins, **parameters)
    with engine(subtree_rows=subtree_rows):
        model.fit(X, y, sample_weight=weight, **extras)
    middle = binned(X, max_bins, parameters.get("categorical_features") or (), weight)
    exact = BayesianTreeRegressor(outcome=name, **parameters | {"prior": model.prior_}).fit(
        middle, y, sample_weight=weight, **extras
    )
    assert_same_tree(exact, middle, outcome, model.prior_, parameters, tolerance=1e-7)
    for array, of in model.tree_.arrays().items():
        if array != "threshold":
            assert_allclose(of, exact.tree_.arrays()[array], rtol=1e-5, atol=1e-5, err_msg=array)


EXACT = {
    # On grids, and their mean and spread are too, so that the sums of float64 are exact.
    "normal": lambda random, n: random.permutation(np.repeat([-8.0, 0.0, 8.0], [n // 8, 6 * n // 8, n // 8])),
    "poisson": lambda random, n: random.integers(0, 2, n).astype(float),
    "exponential": lambda random, n: random.integers(1, 9, n) / 4,
    "negative_binomial": lambda random, n: random.integers(0, 2, n).astype(float),
}


@pytest.mark.parametrize("outcome", sorted(EXACT))
def test_enough_bins_are_the_exact_tree_of_every_outcome(outcome):
    random = np.random.default_rng(5)
    frame, signal = raw_frame(1600)
    y = np.sort(EXACT[outcome](random, 1600))[np.argsort(np.argsort(signal + random.normal(scale=0.3, size=1600)))]
    settled = NegativeBinomial(dispersion=0.5) if outcome == "negative_binomial" else outcome
    exact, model = (
        BayesianTreeRegressor(outcome=settled, max_bins=bins, calibrate=False, prune=False) for bins in (None, 1700)
    )
    exact.fit(frame, y), model.fit(frame, y)
    # The factor of a negative binomial is no whole number.
    real = ("log_likelihood", "log_likelihood_split") if outcome == "negative_binomial" else ()
    for name, array in exact.tree_.arrays().items():
        compare = partial(assert_allclose, rtol=1e-12) if name in real else assert_array_equal
        compare(array, model.tree_.arrays()[name], err_msg=name)
    assert exact.get_n_leaves() > 2


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("weighted", [False, True])
def test_large_tables_have_the_tree_of_the_sums_for_any_number_of_threads(n_classes, weighted):
    """Blocks of rows, copies of rows and sums of 16 bits: the tree is that of growth level by level."""
    random = np.random.default_rng(n_classes)
    n = 150_000
    X = np.column_stack(
        [
            random.normal(size=(n, 3)),
            random.integers(0, 9, n),
            np.where(random.random(n) < 0.1, np.nan, random.exponential(size=n)),
            np.where(random.random(n) < 0.6, 2.0, random.normal(size=n)),
            random.integers(0, 40, n),
        ]
    )
    score = np.sin(3 * X[:, 0]) + X[:, 1] * (X[:, 3] > 4) + np.nan_to_num(X[:, 4], nan=-1) + X[:, 6] % 3
    score += random.normal(size=n)
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    weight = random.integers(1, 4, n).astype(float) if weighted else None
    settings = {"max_bins": 255, "categorical_features": [6], "prior": 0.5}
    one, three = (
        BayesianTreeClassifier(**settings, n_jobs=n_jobs).fit(X, y, sample_weight=weight) for n_jobs in (1, 3)
    )
    assert_same_arrays(three, one)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(y=y, w=weight)
    given = {"weight": "w"} if weighted else {}
    source = frame if weighted else frame.drop(columns="w")
    settings["categorical_features"] = ["x6"]
    by_level = engines.fit(BayesianTreeClassifier(**settings), source, target="y", **given)
    assert_same_arrays(by_level, one)
    assert one.get_n_leaves() > 40


def test_nodes_beyond_the_tables_have_the_scores_of_the_exact_tree():
    random = np.random.default_rng(3)
    n = 140_000  # more rows than there are log-gammas in tables
    X = random.integers(0, 200, size=(n, 3)).astype(float)
    for n_classes in (2, 3):
        score = (X[:, 0] > 90) + X[:, 1] / 200 + random.normal(size=n) / 2
        y = (score > 1).astype(int) + (X[:, 2] > 150) * (n_classes - 2)
        exact, model = (BayesianTreeClassifier(max_bins=bins, max_depth=4, calibrate=False) for bins in (None, 255))
        assert_same_arrays(model.fit(X, y), exact.fit(X, y))
        assert exact.get_n_leaves() > 3
