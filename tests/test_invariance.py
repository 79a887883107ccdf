"""Any order of the rows grows the same tree, and a row of weight 2 counts as two rows, for every model."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor
from baytree.growth import canonical_target
from baytree.outcomes import OUTCOMES, Target
from tests import strategies
from tests.comparison import engine, every_array, hyperplanes
from tests.own_outcomes import Counts

SINGLE = {"axis": {}, "oblique": {"partitions": "oblique"}, "look-ahead": {"lookahead": 1}}
SPACES = {"space": {}, "oblique space": {"partitions": "oblique"}}
# What the order of sums may change, in the last digits; hyperplanes, look-ahead and spaces keep all of it.
NUMBERS = {
    *("value", "prior", "posterior", "weighted_n_node_samples", "log_likelihood", "log_prior_leaf", "log_odds_split"),
    *("log_prior_split", "log_likelihood_split", "split_likelihood", "feature_posterior", "log_ceiling", "statistics"),
}


def grown(way, outcome, X, y, weight=None, extras=None, **parameters):
    """The arrays of a tree, or of a space."""
    if way in SINGLE:
        options = SINGLE[way] | parameters
        model = (
            BayesianTreeClassifier(**options)
            if outcome == "categorical"
            else BayesianTreeRegressor(outcome=outcome, **options)
        )
    else:
        options = SPACES[way] | {"max_nodes": 30} | parameters
        model = (
            TreeSpaceClassifier(**options)
            if outcome == "categorical"
            else TreeSpaceRegressor(outcome=outcome, **options)
        )
    model.fit(X, y, sample_weight=weight, **(extras or {}))
    return every_array(model.tree_ if way in SINGLE else model.space_)


def assert_same(way, one, other, but=()):
    """Structure is equal; so are all numbers, or but for rounding where the order of sums decides nothing."""
    # The spread of real values may differ in its last digit, which a noise of a millionth of them magnifies.
    hardly_any_noise = one["prior"].shape[-1] == 4 and one["prior"].reshape(-1, 4)[0, 1] < 1e-4
    tolerance = 1e-8 if hardly_any_noise else 1e-9
    for name, array in one.items():
        if name in but:
            continue
        if way == "axis" and name in NUMBERS:
            largest = np.max(np.abs(array), initial=1.0, where=np.isfinite(array))
            assert_allclose(other[name], array, rtol=tolerance, atol=tolerance * largest, err_msg=name)
        else:
            assert_array_equal(other[name], array, err_msg=name)


@st.composite
def problems(draw, *, whole_weights):
    """Ties, copies of rows, missing values, categories, whole or real weights, and an outcome of any kind."""
    X, categorical = draw(strategies.raw_tables(min_rows=4, max_rows=24))
    n = len(X)
    if draw(st.booleans()):
        X = X[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))]
    outcome = draw(st.sampled_from(sorted(OUTCOMES)))
    if outcome == "categorical":
        y, extras = draw(strategies.labels(n)), {}
    else:
        y = draw(strategies.REAL_TARGETS[outcome](n))
        extras = {
            extra.name: np.array(draw(st.lists(strategies.EXTRAS[extra.name], min_size=n, max_size=n)))
            for extra in OUTCOMES[outcome].extras
            if draw(st.booleans())
        }
    if draw(st.booleans()):  # something to find
        first = np.nan_to_num(np.clip(X[:, 0], -1e3, 1e3), nan=0.5)
        y = np.sort(y)[np.argsort(np.argsort(first, kind="stable"), kind="stable")]
    weight = st.integers(1, 4) if whole_weights else st.one_of(st.integers(1, 4), st.floats(0.1, 3))
    weight = np.array(draw(st.lists(weight, min_size=n, max_size=n)), dtype=float)
    parameters = {"smoothing": draw(st.sampled_from([0.0, 0.0, 0.3])), "categorical_features": categorical}
    if draw(st.booleans()):
        parameters |= {"prior": {"categorical": 0.1, "normal": [0.0, 0.05, 0.7, 0.05]}.get(outcome, [0.5, 0.7])}
    return X, y, weight, extras, outcome, parameters


def taken(rows, X, y, weight, extras):
    return X[rows], y[rows], None if weight is None else weight[rows], {k: v[rows] for k, v in extras.items()}


@pytest.mark.parametrize("way", [*SINGLE, *SPACES])
@given(problem=problems(whole_weights=False), random=st.randoms(use_true_random=False), leaf=st.sampled_from([1, 1, 3]))
def test_any_order_of_rows_gives_the_same(way, problem, random, leaf):
    X, y, weight, extras, outcome, parameters = problem
    order = list(range(len(X)))
    random.shuffle(order)
    parameters["min_samples_leaf"] = leaf
    weight = None if random.random() < 0.3 else weight
    one = grown(way, outcome, X, y, weight, extras, **parameters)
    other = grown(way, outcome, *taken(order, X, y, weight, extras), **parameters)
    assert_same(way, one, other)


@pytest.mark.parametrize("way", [*SINGLE, *SPACES])
@given(problem=problems(whole_weights=True))
def test_a_row_of_weight_2_is_the_row_twice(way, problem):
    X, y, weight, extras, outcome, parameters = problem
    rows = np.repeat(np.arange(len(X)), weight.astype(int))
    weighted = grown(way, outcome, X, y, weight, extras, **parameters)
    repeated = grown(way, outcome, *taken(rows, X, y, None, extras), **parameters)
    assert_same(way, weighted, repeated, but={"n_node_samples", "n_missing"})
    assert repeated["n_node_samples"][0] == weight.sum()
    assert weighted["n_node_samples"][0] == len(X)


@pytest.mark.parametrize("way", ["oblique", "look-ahead", "space", "oblique space"])
def test_an_outcome_of_ones_own_too(way):
    random = np.random.default_rng(3)
    X = random.integers(0, 4, (20, 2)).astype(float)
    y, weight = random.poisson(2 + 3 * (X.sum(axis=1) > 3)), random.integers(1, 4, 20).astype(float)
    order, rows = random.permutation(20), np.repeat(np.arange(20), weight.astype(int))
    one = grown(way, Counts(), X, y, weight)
    assert_same(way, one, grown(way, Counts(), X[order], y[order], weight[order]))
    assert_same(way, one, grown(way, Counts(), X[rows], y[rows]), but={"n_node_samples"})


@pytest.mark.parametrize("way", ["oblique", "oblique space"])
@pytest.mark.parametrize("outcome", ["categorical", "normal"])
@pytest.mark.filterwarnings("ignore:.* rows are equal to another one")
def test_large_nodes_are_sampled_by_what_is_in_them(way, outcome):
    """A hyperplane of many rows is searched on some of them; on which must not depend on their numbers."""
    random = np.random.default_rng(0)
    n = 9000
    X = random.normal(size=(n, 3))
    signal = X[:, 0] + 0.5 * X[:, 1] + 0.2 * random.normal(size=n)
    y = (signal > 0).astype(int) if outcome == "categorical" else signal
    weight = random.integers(1, 4, n).astype(float)
    order, rows = random.permutation(n), np.repeat(np.arange(n), weight.astype(int))
    with engine(subtree_rows=2000):
        one = grown(way, outcome, X, y, weight, max_depth=2)
        assert_same(way, one, grown(way, outcome, X[order], y[order], weight[order], max_depth=2))
        assert_same(way, one, grown(way, outcome, X[rows], y[rows], max_depth=2), but={"n_node_samples"})
    assert np.any(one["kind"] == 4)


def test_the_tables_of_the_review():
    random = np.random.default_rng(520)
    X = random.normal(size=(12, 2))
    y = (X.sum(axis=1) > 0) * 2.0 + random.normal(size=12) * 0.3
    order = np.random.default_rng(2).permutation(12)
    one, other = (BayesianTreeRegressor(partitions="oblique").fit(X[rows], y[rows]) for rows in (np.arange(12), order))
    assert one.log_posterior_ == other.log_posterior_
    assert one.get_n_leaves() == other.get_n_leaves()


@pytest.mark.filterwarnings("ignore:About .* of the rows are equal")
def test_hyperplanes_pay_for_different_points():
    """Copies of a point can be divided in no further way, whatever their outcomes are."""
    random = np.random.default_rng(0)
    X = random.normal(size=(80, 2))
    y = (X @ [1.0, 0.7] > 0).astype(int)
    once = BayesianTreeClassifier(partitions="oblique", prior=1.0, max_depth=1).fit(X, y)
    many = BayesianTreeClassifier(partitions="oblique", prior=1.0, max_depth=1).fit(
        np.repeat(X, 5, axis=0), np.repeat(y, 5)
    )
    assert hyperplanes(once.tree_)[0]
    assert hyperplanes(many.tree_)[0]
    assert_allclose(many.tree_.log_prior_split[0], once.tree_.log_prior_split[0])


@pytest.mark.parametrize("value", ["missing", "category"])
def test_what_a_split_has_not_seen_goes_where_more_weight_is(value):
    if value == "missing":
        X, new, kinds = np.arange(8.0)[:, None], [[np.nan]], {}
    else:
        X, new, kinds = np.repeat([[0.0], [1.0]], 4, axis=0), [[7.0]], {"categorical_features": [0]}
    X, y = np.vstack([X, X[:2]]), np.array([0, 0, 0, 0, 1, 1, 1, 1, 0, 0])
    weight = np.where(y == 1, 9.0, 1.0)
    rows = np.repeat(np.arange(len(y)), weight.astype(int))
    for model in (
        BayesianTreeClassifier(prior=0.1, **kinds).fit(X, y, sample_weight=weight),
        BayesianTreeClassifier(prior=0.1, **kinds).fit(X[rows], y[rows]),
    ):
        assert model.get_n_leaves() == 2
        assert model.predict(new) == [1]


def test_the_canonical_target_does_not_depend_on_the_order_of_rows():
    weight = np.array([0.1, 0.2, 0.3, 0.1, 2.0])
    target = Target(np.array([3.0, 1.0, 3.0, 3.0, -0.0]), weight, {"exposure": np.array([1.0, 1.0, 1.0, 2.0, 1.0])})
    for order in ([0, 1, 2, 3, 4], [4, 2, 3, 0, 1]):
        merged = canonical_target(target.take(order))
        assert_array_equal(merged.y, [0.0, 1.0, 3.0, 3.0])
        assert_array_equal(merged.extras["exposure"], [1.0, 1.0, 1.0, 2.0])
        assert_array_equal(merged.weight, [2.0, 0.2, 0.1 + 0.3, 0.1])
