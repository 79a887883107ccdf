"""Logistic leaves against a general optimiser and quadrature, and what must hold for any table."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import special
from sklearn.metrics import log_loss

from baytree import BayesianTreeClassifier, load
from baytree.export import from_dict, to_dict, to_scorecard, to_text
from baytree.fitted import ModelKind, contributions
from baytree.persistence._trees import arrays_of, read_store
from baytree.table import Rows
from tests.reference import logistic_leaves as reference
from tests.strategies import examples, tables


def linear_tree(**parameters):
    return BayesianTreeClassifier(**{"leaf": "linear"} | parameters)


@st.composite
def small_tables(draw, max_classes=2, max_features=2):
    """A few columns of ordinary numbers, and classes that depend on them or not."""
    n, d = draw(st.integers(6, 24)), draw(st.integers(1, max_features))
    k = draw(st.integers(2, max_classes))
    numbers = st.integers(-9, 9).map(lambda x: x / 2)
    X = np.array(draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n)))
    shift = np.array(draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)))
    depends = draw(st.booleans())
    y = np.clip(np.rint((X[:, 0] if depends else 0) + shift), 0, k - 1).astype(int)
    y[:k] = np.arange(k)
    return X, y


@given(small_tables(), st.integers(0, 2))
def test_a_leaf_is_that_of_a_general_optimiser(table, most):
    X, y = table
    model = linear_tree(max_depth=0, max_leaf_terms=most).fit(X, y)
    terms, evidence = reference.fit_leaf(X, y, [1.0, 1.0], most)
    assert_allclose(model.tree_.log_likelihood[0], evidence, rtol=1e-6)
    assert model.tree_.leaves.terms.feature.tolist() == terms


@examples(0.5)
@given(small_tables(max_classes=4))
def test_several_classes_have_the_evidence_and_logits_of_the_symmetric_model(table):
    X, y = table
    k = y.max() + 1
    model = linear_tree(max_depth=0).fit(X, y)
    leaves = model.tree_.leaves
    terms = leaves.terms.feature.tolist()
    if not terms:
        return
    Z = reference.scaled(X, terms)
    w, covariance, evidence = reference.laplace(Z, y, k)
    n_candidates = sum(len(np.unique(x)) > 1 for x in X.T)
    expected = evidence + reference.log_choice(n_candidates, 10, len(terms))
    assert_allclose(model.tree_.log_likelihood[0], expected, rtol=1e-5)
    mean, of_logits = leaves.logits(0, Z)
    assert_allclose(mean, Z @ w.T - (Z @ w.T).mean(axis=1, keepdims=True), atol=1e-4)
    blocks = np.einsum("nk,ckdl,nl->ncd", Z, covariance.reshape(k, len(terms) + 1, k, -1), Z)
    centred = np.eye(k) - 1 / k
    assert_allclose(of_logits, centred @ blocks @ centred, atol=1e-4)


@pytest.mark.parametrize("n", [10, 40, 200])
def test_laplace_is_near_the_integral(n):
    random = np.random.default_rng(n)
    x = random.normal(size=n)
    y = (random.random(n) < special.expit(x)).astype(int)
    Z = reference.scaled(x[:, None], [0])
    assert_allclose(reference.laplace(Z, y, 2)[2], reference.quadrature(Z, y), atol=0.06)


@given(tables(max_rows=30), st.data())
def test_any_table_has_a_model(X, data):
    y = np.array(data.draw(st.lists(st.sampled_from("abc"), min_size=len(X), max_size=len(X))))
    weight = data.draw(st.one_of(st.none(), st.lists(st.floats(0.1, 5), min_size=len(X), max_size=len(X))))
    hidden = np.where(data.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X))), np.nan, X[:, 0])
    table = np.column_stack([X, X[:, :1], hidden])
    for extrapolate in (False, True):
        model = linear_tree(extrapolate=extrapolate).fit(table, y, sample_weight=weight)
        for rows in (table, np.where(np.isnan(table), 0.0, -table), np.full_like(table, np.nan)):
            p = model.predict_proba(rows)
            assert np.all(np.isfinite(p))
            assert_allclose(p.sum(axis=1), 1)
            assert np.all(np.isfinite(model.predict_interval(rows)))


@given(small_tables(max_classes=3), st.data())
def test_order_copies_and_units_change_nothing(table, data):
    X, y = table
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(y), max_size=len(y))))
    order = np.array(data.draw(st.permutations(range(len(y)))))
    model = linear_tree(calibrate=False) if "calibrate" in linear_tree().get_params() else linear_tree()
    p = model.fit(X, y, sample_weight=weight).predict_proba(X)
    assert_array_equal(model.fit(X[order], y[order], sample_weight=weight[order]).predict_proba(X), p)
    copies = model.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(copies.predict_proba(X), p, rtol=1e-7)
    assert_allclose(model.fit(X * 2.0**60, y, sample_weight=weight).predict_proba(X * 2.0**60), p, rtol=1e-7)


def risk(n=400, seed=0, n_classes=2):
    """Log odds that add up over columns, the slope of one of them other above a threshold."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 4))
    logit = 0.3 + 1.2 * X[:, 0] - 0.8 * X[:, 1] + np.where(X[:, 2] > 0, 0.5, -0.5) * X[:, 3]
    logits = np.stack([np.zeros(n), logit, 0.7 * X[:, 3]][:n_classes], axis=1)
    p = special.softmax(logits, axis=1)
    return X, (random.random(n)[:, None] > np.cumsum(p, axis=1)).sum(axis=1), p


@pytest.mark.parametrize("n_classes", [2, 3])
def test_an_additive_risk_is_better_as_a_logistic_model(n_classes):
    X, y, _ = risk(n_classes=n_classes)
    new, outcome, p = risk(2000, 1, n_classes)
    losses = [
        log_loss(outcome, BayesianTreeClassifier(leaf=leaf).fit(X, y).predict_proba(new))
        for leaf in ("constant", "linear")
    ]
    assert losses[1] < losses[0] - 0.05
    assert losses[1] < log_loss(outcome, p) + 0.1


def test_intervals_of_probabilities_hold():
    covered = []
    for seed in range(10):
        random = np.random.default_rng(seed)
        X, new = random.normal(size=(300, 3)), random.normal(size=(500, 3))
        slopes = np.array([1.0, -0.7, 0.5])
        y = (random.random(300) < special.expit(X @ slopes)).astype(int)
        low, high = linear_tree().fit(X, y).predict_interval(new)[:, 1].T
        p = special.expit(new @ slopes)
        covered.append(np.mean((low <= p) & (p <= high)))
    assert 0.85 <= np.mean(covered) <= 0.95


def test_intervals_of_probabilities_hold_where_no_term_is_left_out():
    """Slopes are drawn from their prior; a term that is left out has no variance, and intervals are too narrow then."""
    covered = []
    for seed in range(120):
        random = np.random.default_rng(seed)
        X, new = random.normal(size=(400, 3)), random.normal(size=(300, 3))
        intercept, slopes = 0.7 * random.normal(), random.normal(size=3)
        y = (random.random(400) < special.expit(intercept + X @ slopes)).astype(int)
        model = linear_tree(max_depth=0).fit(X, y)
        if len(model.tree_.leaves.terms) == 3:
            low, high = model.predict_interval(new)[:, 1].T
            p = special.expit(intercept + new @ slopes)
            covered.append(np.mean((low <= p) & (p <= high)))
    assert len(covered) > 20
    assert 0.87 <= np.mean(covered) <= 0.93


def test_perfect_separation_has_finite_slopes():
    x = np.linspace(-1, 1, 60)[:, None]
    model = linear_tree(max_depth=0).fit(x, (x[:, 0] > 0).astype(int))
    p = model.predict_proba(x)[:, 1]
    assert np.all(np.diff(p) >= 0)
    assert 0 < p[0] < 0.1 < 0.9 < p[-1] < 1


def test_more_classes_than_a_leaf_may_model_have_constant_leaves():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    y = np.clip(np.floor(3 * X[:, 0] + 6), 0, 10).astype(int)
    model = linear_tree().fit(X, y)
    assert len(np.unique(y)) == 11
    assert len(model.tree_.leaves.terms) == 0
    assert model.get_n_leaves() > 2


def test_categories_are_terms():
    random = np.random.default_rng(0)
    job, x = random.choice(["clerk", "nurse", "pilot"], 600), random.normal(size=600)
    y = (random.random(600) < special.expit(1.5 * (job == "pilot") + x - 0.5)).astype(int)
    model = linear_tree(max_depth=0).fit(pd.DataFrame({"job": job, "x": x}), y)
    terms = model.tree_.leaves.terms
    assert {(f, c) for f, c in zip(terms.feature, terms.category, strict=True)} == {(0, 2.0), (1, 0.0)}


@given(small_tables(max_classes=3), st.booleans())
def test_a_file_keeps_every_prediction(table, extrapolate):
    X, y = table
    model = linear_tree(extrapolate=extrapolate).fit(X, y)
    again = from_dict(to_dict(model))
    assert_array_equal(again.predict_proba(X * 2), model.predict_proba(X * 2))
    assert again.log_posterior_ == model.log_posterior_
    assert to_text(again) == to_text(model)


def test_a_model_is_saved(tmp_path):
    X, y, _ = risk()
    model = linear_tree().fit(X, y)
    model.save(tmp_path / "model.json")
    assert_array_equal(load(tmp_path / "model.json").predict_interval(X), model.predict_interval(X))


def test_a_damaged_model_is_refused():
    model = linear_tree().fit(*risk()[:2])
    arrays = arrays_of(model.tree_)
    damaged = arrays | {"leaf_coefficient": arrays["leaf_coefficient"][:-1]}
    with pytest.raises(ValueError, match="the coefficients of the leaves are not all there"):
        read_store(damaged, ModelKind.TREE, model.schema_, model.outcome_)


def test_a_leaf_reads_as_odds():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"balance": 1000 * random.normal(size=900), "job": random.choice(["clerk", "cook"], 900)})
    odds = 0.5 * table["balance"] / 1000 - (table["job"] == "clerk")
    y = np.where(random.random(900) < special.expit(odds), "late", "paid")
    assert to_text(linear_tree(max_depth=0).fit(table, y)).splitlines() == [
        "paid at the mean: odds 1.39   n=900",
        "    × 0.55 (0.48 to 0.62) per 1000 of balance",
        "    × 2.78 (2.19 to 3.52) if job is clerk",
    ]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_explanations_are_of_the_row_and_not_of_its_leaf(n_classes):
    X, y, _ = risk(n_classes=n_classes)
    model = linear_tree().fit(X, y)
    p = model.predict_proba(X)
    for explanation, p_of_row in zip(model.explain(X[:20]), p, strict=False):
        assert_allclose([explanation.estimate[str(c)] for c in range(n_classes)], p_of_row)
        assert explanation.decision == str(np.argmax(p_of_row))
    shapley = contributions(model.fitted_, Rows(X))
    assert_allclose(shapley.base + shapley.values.sum(axis=1), p)


def test_points_of_a_scorecard_are_log_odds_at_the_mode():
    X, y, _ = risk(1500)
    X[::7, 0] = np.nan
    model = linear_tree().fit(X, y)
    leaves, nodes = model.tree_.leaves, model.apply(X)
    card = to_scorecard(model, base=500, odds=10, pdo=30, good=1)
    score = np.zeros(len(X))
    for leaf, lines in card.groupby("leaf"):
        at = nodes == leaf
        for line in lines.itertuples():
            feature = 0 if line.term == "" else int(line.term.removeprefix("x").removesuffix(" is missing"))
            missing = np.isnan(X[at, feature])
            value = missing.astype(float) if "missing" in line.term else np.where(missing, line.missing, X[at, feature])
            score[at] += line.points * (1.0 if line.term == "" else np.clip(value, line.minimum, line.maximum))
            assert line.term == "" or line.low <= line.points <= line.high
    for leaf in np.unique(nodes):
        at = np.flatnonzero(nodes == leaf)
        z = leaves.terms.scaled(int(leaf), Rows(X), at, clip=True)
        mean, _ = leaves.logits(int(leaf), np.column_stack([np.ones(len(at)), z]))
        expected = 500 + 30 / np.log(2) * (mean[:, 1] - mean[:, 0] - np.log(10))
        assert_allclose(score[at], expected, rtol=1e-9)


def test_a_scorecard_needs_two_classes_and_logistic_leaves():
    X, y, _ = risk(n_classes=3)
    with pytest.raises(ValueError, match="A scorecard needs a classifier of two classes"):
        to_scorecard(linear_tree().fit(X, y))
    with pytest.raises(ValueError, match="A scorecard needs a classifier of two classes"):
        to_scorecard(BayesianTreeClassifier().fit(X, y > 0))
    with pytest.raises(ValueError, match="good must be one of the classes"):
        to_scorecard(linear_tree().fit(X, y > 0), good="x")
