"""Monotonic predictions of trees with models in their leaves: within a leaf, across splits, and in every pruning."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import special

from baytree import BayesianTreeClassifier, BayesianTreeRegressor
from baytree.export import from_dict, to_dict
from baytree.leaves import TermKind
from baytree.table import Rows
from tests.reference import linear_leaves as of_numbers
from tests.reference import logistic_leaves as of_classes
from tests.strategies import examples

PRIOR = (0.3, 0.1, 2.0, 0.5)


def regressor(**parameters):
    return BayesianTreeRegressor(**{"leaf": "linear", "prior": PRIOR, "calibrate": False} | parameters)


def classifier(**parameters):
    return BayesianTreeClassifier(**{"leaf": "linear"} | parameters)


@st.composite
def bent_tables(draw, max_rows=40):
    """Columns on a coarse grid, one of them of categories, and numbers with slopes, steps and interactions."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(4, max_rows)), draw(st.integers(2, 4))
    X = np.round(random.normal(size=(n, d)), draw(st.integers(0, 2)))
    X[random.random(size=(n, d)) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    slopes, steps, with_next = random.normal(size=(3, d)) * draw(st.sampled_from([0.5, 2.0]))
    filled = np.nan_to_num(X)
    mean = filled @ slopes + (filled > 0) @ steps + (filled * (np.roll(filled, 1, axis=1) > 0)) @ with_next
    directions = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=d, max_size=d))
    categories = random.integers(0, 3, n)
    frame = pd.DataFrame(X, columns=list("abcd")[:d])
    frame["e"] = pd.Categorical.from_codes(categories, list("xyz"))
    return frame, mean + (categories == 1) + 0.3 * random.normal(size=n), [*directions, 0]


def steps_along(model, frame, j, predict):
    """Differences of predictions between neighbours on a grid of a column, the other columns as they are."""
    column = frame.iloc[:, j].dropna()
    ends = [-9.0, 9.0] if len(column) == 0 else [column.min() - 1, column.max() + 1]
    thresholds = model.tree_.threshold[model.tree_.feature == j]
    thresholds = thresholds[np.isfinite(thresholds)]  # not between present and missing values
    near = np.concatenate([thresholds, np.nextafter(thresholds, np.inf), column.unique(), np.linspace(*ends, 9)])
    rows = pd.concat([frame, frame.sample(frac=1, random_state=0).reset_index(drop=True)])
    grid = [predict(rows.assign(**{frame.columns[j]: value})) for value in np.sort(near)]
    return np.diff(grid, axis=0)


def assert_in_order(model, frame, directions, predict):
    for j, direction in enumerate(directions):
        if direction != 0:
            assert np.all(direction * steps_along(model, frame, j, predict) >= -1e-9)


@examples(2)
@given(bent_tables(), st.booleans(), st.booleans())
def test_numbers_are_in_order_over_the_whole_table(table, prune, extrapolate):
    frame, y, directions = table
    model = BayesianTreeRegressor(
        leaf="linear", monotonic_cst=directions, prune=prune, extrapolate=extrapolate, calibrate=False
    ).fit(frame, y)
    assert_in_order(model, frame, directions, model.predict)


@examples(2)
@given(bent_tables(), st.booleans(), st.booleans())
def test_probabilities_are_in_order_over_the_whole_table(table, prune, extrapolate):
    frame, y, directions = table
    y = (y > np.median(y)).astype(int)
    if len(np.unique(y)) < 2:
        return
    model = classifier(monotonic_cst=directions, prune=prune, extrapolate=extrapolate).fit(frame, y)
    assert_in_order(model, frame, directions, lambda rows: model.predict_proba(rows)[:, 1])


@given(bent_tables(), st.integers(1, 4))
def test_every_pruning_is_in_order(table, n_leaves):
    frame, y, directions = table
    model = BayesianTreeRegressor(leaf="linear", monotonic_cst=directions, max_leaf_nodes=n_leaves, prune=False)
    model.set_params(calibrate=False).fit(frame, y)
    assert_in_order(model, frame, directions, model.predict)


@st.composite
def small_tables(draw, numbers=True):
    n, d = draw(st.integers(6, 16)), draw(st.integers(1, 3))
    cells = st.integers(-9, 9).map(lambda x: x / 2)
    X = np.array(draw(st.lists(st.lists(cells, min_size=d, max_size=d), min_size=n, max_size=n)))
    noise = np.array(draw(st.lists(st.integers(-9, 9).map(lambda x: x / 5), min_size=n, max_size=n)))
    y = X @ np.array(draw(st.lists(st.sampled_from([0.0, 1.0, -1.0]), min_size=d, max_size=d))) + noise
    directions = draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=d, max_size=d))
    return X, y, directions


@given(small_tables(), st.integers(0, 3))
def test_a_leaf_of_numbers_is_that_of_dense_linear_algebra(table, most):
    X, y, directions = table
    model = regressor(max_depth=0, max_leaf_terms=most, monotonic_cst=directions).fit(X, y)
    leaf = of_numbers.fit_leaf(X, y, PRIOR, most, directions)
    assert model.tree_.leaves.terms.feature.tolist() == leaf.terms
    assert_allclose(model.tree_.log_likelihood[0], leaf.log_evidence, rtol=1e-8)
    choices = of_numbers.every_choice(X, y, PRIOR, most, directions)
    assert tuple(sorted(leaf.terms)) in choices
    assert leaf.log_evidence <= max(choices.values()) + 1e-9


@given(small_tables(), st.integers(0, 2))
def test_a_leaf_of_classes_is_that_of_a_general_optimiser(table, most):
    X, y, directions = table
    y = (y > np.median(y)).astype(int)
    if len(np.unique(y)) < 2:
        return
    model = classifier(max_depth=0, max_leaf_terms=most, monotonic_cst=directions).fit(X, y)
    terms, evidence = of_classes.fit_leaf(X, y, [1.0, 1.0], most, directions)
    assert model.tree_.leaves.terms.feature.tolist() == terms
    assert_allclose(model.tree_.log_likelihood[0], evidence, rtol=1e-6)


def steps_and_slopes(n=1500, seed=0):
    """Rises along the first column: a step, and a slope that differs between the two sides of another column."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(n, 3))
    mean = 2.0 * (X[:, 0] > 0.2) + X[:, 0] * np.where(X[:, 1] > 0, 1.0, 0.3) - X[:, 2]
    return X, mean + 0.2 * random.normal(size=n), mean


def test_splits_and_slopes_along_a_constrained_column_are_both_used():
    X, y, mean = steps_and_slopes()
    free = BayesianTreeRegressor(leaf="linear").fit(X, y)
    held = BayesianTreeRegressor(leaf="linear", monotonic_cst=[1, 0, -1]).fit(X, y)
    inner = held.tree_.feature[~held.tree_.is_leaf]
    assert 0 in inner
    terms = held.tree_.leaves.terms
    assert {0, 2} <= set(terms.feature[terms.kind == TermKind.VALUE].tolist())
    assert held.score(X, mean) > free.score(X, mean) - 0.01
    against = BayesianTreeRegressor(leaf="linear", monotonic_cst=[-1, 0, 0]).fit(X, y)
    assert 0 not in against.tree_.leaves.terms.feature


def test_probabilities_are_the_medians_and_intervals_hold_them():
    X, _, mean = steps_and_slopes()
    y = (np.random.default_rng(1).random(len(X)) < special.expit(mean)).astype(int)
    model = classifier(monotonic_cst=[1, 0, -1]).fit(X, y)
    p, interval = model.predict_proba(X)[:, 1], model.predict_interval(X)[:, 1]
    assert np.all((interval[:, 0] <= p) & (p <= interval[:, 1]))
    leaves, nodes = model.tree_.leaves, model.apply(X)
    for node in np.unique(nodes).tolist():
        at = np.flatnonzero(nodes == node)
        if len(leaves.terms.of(node)):
            z = np.column_stack([np.ones(len(at)), leaves.terms.scaled(node, Rows(X), at, clip=True)])
            logits, _ = leaves.logits(node, z)
            assert_allclose(p[at], special.expit(logits[:, 1] - logits[:, 0]))


def test_large_nodes_that_are_searched_on_some_rows_are_in_order():
    X, y, _ = steps_and_slopes(20_000)
    frame = pd.DataFrame(X, columns=list("abc"))
    model = BayesianTreeRegressor(leaf="linear", monotonic_cst={"a": 1, "c": -1}, calibrate=False).fit(frame, y)
    assert model.get_n_leaves() > 1
    assert_in_order(model, frame[:500], [1, 0, -1], model.predict)


@pytest.mark.parametrize("make", [BayesianTreeRegressor, BayesianTreeClassifier])
def test_a_file_keeps_predictions_and_refuses_slopes_of_the_wrong_direction(make):
    X, y, _ = steps_and_slopes(300)
    y = y if make is BayesianTreeRegressor else y > 0
    model = make(leaf="linear", monotonic_cst=[1, 0, -1]).fit(X, y)
    document = to_dict(model)
    assert_allclose(from_dict(document).posterior(X), model.posterior(X), rtol=0)
    tampered = to_dict(model)
    tampered["monotonic"]["values"] = [-1, 0, 0]
    with pytest.raises(ValueError, match=r"damaged|direction|changed"):
        from_dict(tampered)
