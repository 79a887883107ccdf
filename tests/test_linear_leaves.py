"""Linear leaves against dense linear algebra, and what must hold for any table."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianTreeRegressor, PartitionPrior, engines, load
from baytree.export import from_dict, shap_values, to_dict, to_sql, to_text
from baytree.fitted import ModelKind, contributions
from baytree.leaves import TermKind
from baytree.persistence._trees import arrays_of, read_store
from baytree.table import Rows
from tests.reference import linear_leaves as reference
from tests.strategies import columns, examples, tables

PRIOR = (0.3, 0.1, 2.0, 0.5)


def linear_tree(**parameters):
    return BayesianTreeRegressor(**{"leaf": "linear", "prior": PRIOR, "calibrate": False} | parameters)


@st.composite
def small_tables(draw, max_rows=12):
    """A few columns of ordinary numbers, and y that depends on them or not."""
    n, d = draw(st.integers(3, max_rows)), draw(st.integers(1, 3))
    numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-10, 10).map(lambda x: round(x, 3)))
    X = np.array(draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n)))
    slopes = np.array(draw(st.lists(st.sampled_from([0.0, 0.0, 1.0, -2.0]), min_size=d, max_size=d)))
    noise = np.array(draw(st.lists(st.integers(-5, 5).map(lambda x: x / 10), min_size=n, max_size=n)))
    return X, X @ slopes + noise


@given(small_tables(), st.integers(0, 3))
def test_a_leaf_is_that_of_dense_linear_algebra(table, most):
    X, y = table
    model = linear_tree(max_depth=0, max_leaf_terms=most).fit(X, y)
    leaf = reference.fit_leaf(X, y, PRIOR, most)
    assert_allclose(model.tree_.log_likelihood[0], leaf.log_evidence, rtol=1e-8)
    leaves = model.tree_.leaves
    assert leaves.terms.feature.tolist() == leaf.terms
    expected = reference.posterior_at(leaf, X, PRIOR)
    clipped = np.clip(expected[:, 0], *leaves.limits[0])
    assert_allclose(model.posterior(X), np.column_stack([clipped, expected[:, 1:]]), rtol=1e-7, atol=1e-9)
    assert_allclose(model.predict(X), clipped, rtol=1e-7, atol=1e-9)


@given(small_tables(max_rows=8))
def test_choices_of_terms_have_probabilities_that_sum_to_one(table):
    X, y = table
    for most in (1, 2, 3):
        choices = reference.every_choice(X, y, PRIOR, most)
        n = sum(len(np.unique(x)) > 1 for x in X.T)
        assert_allclose(sum(np.exp(reference.log_choice(n, most, len(terms))) for terms in choices), 1.0)
        chosen = reference.fit_leaf(X, y, PRIOR, most)
        assert_allclose(choices[tuple(sorted(chosen.terms))], chosen.log_evidence, rtol=1e-9)
        assert chosen.log_evidence <= max(choices.values()) + 1e-9


def test_orthogonal_columns_give_the_best_of_all_choices():
    X = np.array([[a, b, c] for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (-1.0, 1.0)] * 3)
    y = 2 * X[:, 0] - X[:, 2] + np.random.default_rng(0).normal(size=len(X)) / 5
    choices = reference.every_choice(X, y, PRIOR, 3)
    model = linear_tree(max_depth=0).fit(X, y)
    assert tuple(sorted(model.tree_.leaves.terms.feature.tolist())) == max(choices, key=choices.get)
    assert_allclose(model.tree_.log_likelihood[0], max(choices.values()) - np.log(4 / 4), rtol=1e-9)


@examples(0.5)
@given(small_tables(), st.booleans())
def test_a_tree_is_the_naive_one(table, prune):
    X, y = table
    prior = PartitionPrior(split=0.6, by_depth=False)
    model = linear_tree(partition_prior=prior, prune=prune, max_leaf_terms=2).fit(X, y)
    tree = reference.grow(X, y, PRIOR, 2, 0.6)
    tree = reference.most_probable_pruning(tree) if prune else tree
    assert_allclose(model.log_posterior_, tree.log_posterior(), rtol=1e-8)
    leaf_of_row = model.apply(X)
    for leaf in tree.leaves():
        assert len(np.unique(leaf_of_row[leaf.rows])) == 1
    assert model.get_n_leaves() == len(tree.leaves())


@given(tables(max_rows=20), st.data())
def test_any_table_has_a_model(X, data):
    squarable = columns(len(X)).filter(lambda y: all(v == 0 or 1e-100 < abs(v) < 1e100 for v in y))
    y = np.array(data.draw(squarable))
    weight = data.draw(st.one_of(st.none(), st.lists(st.integers(1, 3), min_size=len(X), max_size=len(X))))
    hidden = np.where(data.draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X))), np.nan, X[:, 0])
    table = np.column_stack([X, X[:, :1], hidden])  # a copy of a column, and one with missing values
    model = BayesianTreeRegressor(leaf="linear").fit(table, y, sample_weight=weight)
    elsewhere = np.where(np.isnan(table), 0.0, -table)
    for rows in (table, elsewhere, np.full_like(table, np.nan)):
        assert np.all(np.isfinite(model.predict(rows)))
        assert np.all(np.isfinite(model.predict_interval(rows)))
    low, high = model.tree_.leaves.limits[model.apply(elsewhere)].T
    assert np.all((model.predict(elsewhere) >= low) & (model.predict(elsewhere) <= high))


@given(small_tables(), st.data())
def test_order_copies_and_units_change_nothing(table, data):
    X, y = table
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(y), max_size=len(y))))
    order = np.array(data.draw(st.permutations(range(len(y)))))
    model = linear_tree().fit(X, y, sample_weight=weight)
    again = linear_tree().fit(X[order], y[order], sample_weight=weight[order])
    assert_array_equal(again.predict(X), model.predict(X))
    copies = linear_tree().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert_allclose(copies.predict(X), model.predict(X), rtol=1e-9, atol=1e-9)
    units = linear_tree().fit(X * 2.0**60, y, sample_weight=weight)
    assert_allclose(units.predict(X * 2.0**60), model.predict(X), rtol=1e-9, atol=1e-9)


def lines(n=300, seed=0):
    """A line in one column on one side of another column, and another line on the other side."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, size=(n, 3))
    return X, np.where(X[:, 1] > 0, 3 * X[:, 0], 1 - 2 * X[:, 0]) + 0.1 * random.normal(size=n)


def test_two_lines_are_one_split():
    X, y = lines()
    model = BayesianTreeRegressor(leaf="linear").fit(X, y)
    tree = model.tree_
    assert tree.n_leaves == 2
    assert tree.feature[0] == 1
    leaves = tree.leaves
    for node, slope in zip(np.flatnonzero(tree.is_leaf), (-2, 3), strict=True):
        (term,) = leaves.terms.of(node)
        assert leaves.terms.feature[term] == 0
        assert_allclose(leaves.coefficient[term] / leaves.terms.scale[term], slope, atol=0.1)
    assert model.score(*lines(seed=1)) > 0.98 > 0.95 > BayesianTreeRegressor().fit(X, y).score(*lines(seed=1))


def test_threads_change_nothing():
    X, y = lines(5000)
    one, two = (linear_tree(n_jobs=n).fit(X, y) for n in (1, 2))
    assert_array_equal(one.predict(X), two.predict(X))


def test_intervals_hold_on_new_rows():
    covered = []
    for seed in range(8):
        X, y = lines(200, seed)
        new, outcome = lines(1000, 100 + seed)
        low, high = BayesianTreeRegressor(leaf="linear").fit(X, y).predict_interval(new).T
        covered.append(np.mean((low <= outcome) & (outcome <= high)))
    assert 0.87 <= np.mean(covered) <= 0.93


@pytest.mark.parametrize(
    "mean",
    [
        lambda X: X[:, 0] + 0.5 * X[:, 1],
        lambda X: 1.5 * np.abs(X[:, 0]),
        lambda X: np.where(X[:, 0] > 0, 1.0, -1.0),
        lambda X: np.where(X[:, 2] > 0, 1.5, -1.5) * X[:, 0],
        lambda X: np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2,
        lambda X: np.zeros(len(X)),
    ],
    ids=["line", "bend", "step", "interaction", "curve", "nothing"],
)
def test_intervals_hold_whatever_the_mean(mean):
    covered = []
    for seed in range(8):
        random = np.random.default_rng(seed)
        X, new = random.normal(size=(400, 3)), random.normal(size=(500, 3))
        y, outcome = (mean(table) + 0.5 * random.normal(size=len(table)) for table in (X, new))
        low, high = BayesianTreeRegressor(leaf="linear").fit(X, y).predict_interval(new).T
        covered.append(np.mean((low <= outcome) & (outcome <= high)))
    assert 0.87 <= np.mean(covered) <= 0.93


def test_categories_and_missing_values_are_terms():
    random = np.random.default_rng(0)
    job, x = random.choice(["clerk", "nurse", "pilot"], 400), random.normal(size=400)
    hidden = random.random(400) < 0.3
    y = 2.0 * (job == "pilot") + 1.5 * hidden + np.where(hidden, 0, x) + 0.1 * random.normal(size=400)
    table = pd.DataFrame({"job": job, "x": np.where(hidden, np.nan, x)})
    model = BayesianTreeRegressor(leaf="linear", max_depth=0).fit(table, y)
    terms = model.tree_.leaves.terms
    kinds = {(TermKind(k), f, c) for k, f, c in zip(terms.kind, terms.feature, terms.category, strict=True)}
    assert kinds == {(TermKind.CATEGORY, 0, 2.0), (TermKind.VALUE, 1, 0.0), (TermKind.MISSING, 1, 0.0)}
    assert_allclose(model.predict(table[:50]), y[:50], atol=0.5)
    assert np.isfinite(model.predict(pd.DataFrame({"job": ["cook"], "x": [1.0]})))[0]


def test_a_feature_without_prior_weight_is_no_term():
    X, y = lines()
    model = BayesianTreeRegressor(leaf="linear", feature_prior=[0, 1, 1]).fit(X, y)
    assert 0 not in model.tree_.leaves.terms.feature


def test_extrapolation_is_a_choice():
    X, y = lines()
    far = np.array([[100.0, 0.5, 0.0]])
    assert BayesianTreeRegressor(leaf="linear").fit(X, y).predict(far)[0] < 4
    assert BayesianTreeRegressor(leaf="linear", extrapolate=True).fit(X, y).predict(far)[0] > 250


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"leaf": "quadratic"}, "leaf must be 'constant' or 'linear'"),
        ({"max_leaf_terms": -1}, "max_leaf_terms must be"),
        ({"extrapolate": "no"}, "extrapolate must be"),
        ({"outcome": "poisson"}, "leaf='linear' needs outcome='normal'; got 'poisson'"),
        ({"lookahead": 1}, "leaf='linear' needs lookahead=0; got 1"),
        ({"smoothing": 0.5}, "leaf='linear' needs smoothing=0; got 0.5"),
        ({"partitions": "oblique"}, "leaf='linear' needs partitions='axis'"),
    ],
)
def test_what_has_no_meaning_is_refused(parameters, message):
    X, y = lines(50)
    with pytest.raises((ValueError, TypeError), match=message):
        BayesianTreeRegressor(**{"leaf": "linear"} | parameters).fit(X, y)


def test_rows_cannot_be_added():
    X, y = lines(50)
    model = BayesianTreeRegressor(leaf="linear").fit(X, y)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="no attribute 'partial_fit'") as error:
        model.partial_fit(X, y)
    assert "partial_fit needs constant leaves" in str(error.value.__cause__)
    with pytest.raises(ValueError, match="partial_fit needs constant leaves"):
        model.set_params(leaf="constant").partial_fit(X, y)


@given(small_tables(), st.booleans())
def test_a_file_keeps_every_prediction(table, extrapolate):
    X, y = table
    model = linear_tree(extrapolate=extrapolate).fit(X, y)
    again = from_dict(to_dict(model))
    assert_array_equal(again.posterior(X * 2), model.posterior(X * 2))
    assert again.log_posterior_ == model.log_posterior_
    assert to_text(again) == to_text(model)


def test_a_calibrated_model_is_saved(tmp_path):
    X, y = lines()
    model = BayesianTreeRegressor(leaf="linear").fit(X, y)
    assert model.spread_ != 1
    model.save(tmp_path / "model.json")
    assert_array_equal(load(tmp_path / "model.json").predict_interval(X), model.predict_interval(X))


def test_rows_at_a_source_are_refused():
    X, y = lines()
    table = pa.table({"x": X[:, 0], "y": y})
    with pytest.raises(ValueError, match="leaf='linear' needs the rows in memory: make it 'constant'"):
        engines.fit(BayesianTreeRegressor(leaf="linear"), lambda: iter([table]), target="y")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("leaf_scale", lambda a: -a, "the scale or the range of a term is none"),
        ("leaf_feature", lambda a: a + 3, "a feature or a kind that does not exist"),
        ("leaf_kind", lambda a: a + 1, "a term does not fit its column"),
        ("leaf_start", lambda a: a * 2, "the array leaf_kind has a wrong shape"),
        ("leaf_covariance", lambda a: -a, "the covariance of a leaf is none"),
        ("leaf_posterior", lambda a: a * np.nan, "not finite"),
        ("leaf_y_range", lambda a: a[:, ::-1].copy(), "the range of y in a leaf is none"),
    ],
)
def test_damaged_models_are_refused(name, change, message):
    model = BayesianTreeRegressor(leaf="linear").fit(*lines())
    arrays = arrays_of(model.tree_)
    with pytest.raises(ValueError, match=message):
        read_store(arrays | {name: change(arrays[name])}, ModelKind.TREE, model.schema_, model.outcome_)


def test_a_leaf_has_a_line_for_each_term():
    random = np.random.default_rng(0)
    table = pd.DataFrame({"age": random.uniform(20, 60, 200), "job": random.choice(["clerk", "cook"], 200)})
    y = 12.4 + 0.8 * table["age"] + 3 * (table["job"] == "clerk") + random.normal(size=200)
    model = BayesianTreeRegressor(leaf="linear").fit(table, y)
    assert to_text(model).splitlines() == [
        f"{y.mean():.2f} at the mean   n=200",
        "    +7.97 (7.87 to 8.07) per 10 of age",
        "     +3.3 (3.1 to 3.6)   if job is clerk",
    ]


def test_the_terms_with_the_largest_effect_over_their_spread_come_first():
    random = np.random.default_rng(1)
    table = pd.DataFrame({name: scale * random.normal(size=300) for name, scale in (("a", 1), ("b", 0.01), ("c", 100))})
    y = table["a"] + 300 * table["b"] - 0.02 * table["c"] + 0.1 * random.normal(size=300)
    lines = to_text(BayesianTreeRegressor(leaf="linear").fit(table, y)).splitlines()
    assert [line.split(" of ")[1] for line in lines[1:]] == ["b", "c", "a"]
    assert len({line.index("(") for line in lines[1:]}) == len({line.index("per ") for line in lines[1:]}) == 1


def test_explanations_give_the_reasons_that_a_letter_gives():
    random = np.random.default_rng(2)
    X = pd.DataFrame(random.uniform(-1, 1, size=(400, 4)), columns=list("abcd"))
    y = np.where(X["b"] > 0, 3 * X["a"], 1 - 2 * X["a"]) + X["c"] + 0.2 * random.normal(size=400)
    model = BayesianTreeRegressor(leaf="linear").fit(X, y)
    assert model.get_n_leaves() > 1
    explanations, reasons = model.explain(X[:30]), model.reasons(X[:30], k=4)
    for i, explanation in enumerate(explanations):
        told = reasons[reasons["row"] == i]["feature"].tolist()
        assert [line.split(" = ")[0] for line in explanation.because()] == told
        assert f"a model of {explanation.n_terms} terms" in str(explanation)
        assert "per " not in str(explanation)  # the formula is that of the leaf, not of the row


def test_explanations_are_of_the_row_and_not_of_its_leaf():
    X, y = lines()
    model = BayesianTreeRegressor(leaf="linear").fit(X, y)
    for explanation, predicted, row in zip(model.explain(X[:20]), model.predict(X[:20]), X, strict=False):
        assert_allclose(explanation.estimate["mean"], predicted)
        assert "x2" in explanation.unused
        assert "x0" not in explanation.unused
        assert explanation.note == ""
        assert explanation.n_terms >= 1
        value_of = {part.column: part.value for part in explanation.contributions}
        assert value_of[0] == row[0]
    shapley = contributions(model.fitted_, Rows(X))
    assert_allclose(shapley.base[:, 0] + shapley.values.sum(axis=(1, 2)), model.predict(X))


def test_contributions_to_one_leaf_are_slopes_times_distances_from_the_mean():
    X, y = lines()
    y = 3 * X[:, 0] - X[:, 1] + y / 100
    model = BayesianTreeRegressor(leaf="linear", max_depth=0, extrapolate=True).fit(X, y)
    leaves = model.tree_.leaves
    expected = np.zeros(X.shape)
    for term, b in enumerate(leaves.coefficient):
        feature = leaves.terms.feature[term]
        expected[:, feature] = b * (X[:, feature] - X[:, feature].mean()) / X[:, feature].std()
    shap = shap_values(model, X)
    assert_allclose(shap.values, expected, atol=1e-9)
    assert_allclose(shap.base + shap.values.sum(axis=1), model.predict(X))
    with pytest.raises(ValueError, match="An export holds one prediction for each leaf"):
        shap_values(model, X, background=X)


@pytest.mark.parametrize("extrapolate", [False, True])
def test_sql_predicts_what_the_model_predicts(extrapolate):
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "age": np.where(random.random(400) < 0.1, np.nan, random.uniform(20, 60, 400)),
            "job's": random.choice(["clerk", "cook", "o'dd"], 400),
            "old": random.random(400) < 0.5,
        }
    )
    y = np.where(table["old"], 1, 3) * table["age"].fillna(90) + 30 * (table["job's"] == "o'dd")
    model = BayesianTreeRegressor(leaf="linear", extrapolate=extrapolate).fit(table, y + random.normal(size=400))
    assert model.get_n_leaves() > 1
    new = pd.concat([table, table.assign(age=table["age"] * 3), table.assign(**{"job's": None})])
    new["job's"] = new["job's"].astype(table["job's"].dtype)
    with closing(sqlite3.connect(":memory:")) as connection:
        new.assign(old=new["old"].astype(int)).to_sql("rows", connection, index=False)
        predicted = pd.read_sql(to_sql(model, dialect="sqlite"), connection)
    assert_array_equal(predicted["leaf"], model.apply(new))
    assert_allclose(predicted["mean"], model.predict(new), rtol=1e-9)
    with pytest.raises(ValueError, match="std and the interval of a linear leaf depend on the row"):
        to_sql(model, std=True)
