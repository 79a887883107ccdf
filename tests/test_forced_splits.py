"""Splits that are forced before a fit, and columns that are forbidden below them, held to the oracle and at sources."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, edit, engines
from baytree.tree import CategorySet, Hyperplane, PresentMissing, Threshold
from tests import strategies
from tests.comparison import oracle_settings
from tests.edited import assert_same_splits, shape_below, table_of_kinds
from tests.reference import edits as oracle
from tests.reference import outcomes
from tests.sources import divided, fitted_in_memory, model_of, table_of


@strategies.examples(6)
@given(strategies.raw_problems(min_rows=(6,)), st.data())
def test_what_grows_below_forced_splits_is_what_the_oracle_grows(problem, data):
    X, y, _, parameters = problem
    parameters |= {"monotonic_cst": None, "max_leaf_nodes": None, "prune": False}
    columns = [i for i in range(X.shape[1]) if i not in (parameters["categorical_features"] or ())]
    values = {i: np.unique(X[~np.isnan(X[:, i]), i]) for i in columns}
    columns = [i for i in columns if len(values[i]) > 1]
    if not columns:
        return
    column = data.draw(st.sampled_from(columns))
    threshold = float(values[column][:2].mean())
    forbidden = sorted(data.draw(st.sets(st.integers(0, X.shape[1] - 1))))
    forced = {"column": column, "threshold": threshold, "left": {"forbidden": forbidden}}
    model = BayesianTreeClassifier(**parameters, forced_splits=forced).fit(X, y)
    tree = model.tree_
    assert (tree.feature[0], tree.threshold[0]) == (column, threshold)
    codes = np.searchsorted(model.classes_, y).tolist()
    rows = encoded(X, parameters["categorical_features"])
    of_rows = outcomes.Categorical(codes, [1.0] * len(y), len(model.classes_))
    brute = oracle.ProblemWithout(rows.tolist(), of_rows, oracle_settings(model.prior_, parameters))
    right = int(tree.children_right[0])
    assert shape_below(tree, right, rows) == oracle.shape_of(oracle.grown_below(tree, brute, right))
    brute.forbidden = frozenset(forbidden)
    assert shape_below(tree, 1, rows) == oracle.shape_of(oracle.grown_below(tree, brute, 1))


def encoded(X, categorical):
    """Categories as positions."""
    result = X.copy()
    for column in categorical or ():
        present = ~np.isnan(X[:, column])
        result[present, column] = np.searchsorted(np.unique(X[present, column]), X[present, column])
    return result


@pytest.mark.parametrize("outcome", ["classes", "normal", "poisson"])
def test_forced_splits_at_a_source_are_those_in_memory(outcome):
    frame, names = table_of(outcome, weighted=True)
    names_of = [name for name in frame.columns if name not in ("y", *names.values())]
    forced = {"column": names_of[0], "threshold": 0.0, "right": {"forbidden": names_of[1:2]}}
    kinds = frame[names_of[0]]
    if not pd.api.types.is_numeric_dtype(kinds):
        forced = {
            "column": names_of[0],
            "categories": [kinds.dropna().unique()[0]],
            "right": {"forbidden": names_of[1:2]},
        }
    model = model_of(outcome, forced_splits=forced, prune=True)
    here = fitted_in_memory(clone(model), frame, names)
    parts = divided(frame, 3)
    there = engines.fit(clone(model), lambda: iter(parts), "y", **names)
    assert_same_splits(there.tree_, here.tree_)
    assert_allclose(there.tree_.posterior, here.tree_.posterior, rtol=1e-9)
    assert here.tree_.feature[0] == 0
    below = [
        at for at in here.tree_.internal_nodes.tolist() if int(here.tree_.children_right[0]) in here.tree_.path(at)
    ]
    assert not here.tree_.feature_uses()[below, 1].any()


def test_forced_splits_in_a_database(duckdb):
    frame, names = table_of("classes")
    forced = {"column": "noise", "threshold": 0.0, "left": {"leaf": True}}
    model = model_of("classes", forced_splits=forced)
    here = fitted_in_memory(clone(model), frame, names)
    there = engines.fit(clone(model), duckdb(frame), "y")
    assert_same_splits(there.tree_, here.tree_)
    assert here.tree_.is_leaf[1]


def test_forced_splits_are_never_pruned():
    X, y = load_breast_cancer(return_X_y=True)
    noise = np.random.default_rng(0).normal(size=(len(X), 1))
    X = np.append(noise, X, axis=1)
    forced = {"column": 0, "threshold": 0.0, "left": {"column": 0, "threshold": -1.0}}
    for limit in (None, 5, 3):
        model = BayesianTreeClassifier(forced_splits=forced, max_leaf_nodes=limit).fit(X, y)
        assert model.tree_.threshold[:2].tolist() == [0.0, -1.0]
        assert model.tree_.log_odds_split[1] < 0
        assert limit is None or model.get_n_leaves() <= limit
    with pytest.raises(ValueError, match="max_leaf_nodes is 2, but forced_splits has 3 leaves"):
        BayesianTreeClassifier(forced_splits=forced, max_leaf_nodes=2).fit(X, y)


def test_an_edited_tree_is_fitted_again_with_its_splits():
    X, y = table_of_kinds()
    draft = edit.start(BayesianTreeClassifier(max_depth=2).fit(X, y), X, y)
    draft.remove(0)
    draft.split(0, "colour", categories=["red"])
    leaf = 1
    draft.split(leaf, "size", threshold="m")
    with pytest.raises(ValueError, match="cannot be split so"):  # no deeper than the model
        draft.split(leaf + 1, "member")
    draft.set_decision(leaf + 1, "no")
    edited = draft.finish()
    again = clone(edited).fit(X, y)
    assert_same_splits(again.tree_, edited.tree_)
    assert again.log_posterior_ == edited.log_posterior_
    assert_array_equal(again.predict(X), edited.predict(X))
    half = clone(edited).fit(X[::2], y[::2])
    assert_array_equal(half.tree_.kind, edited.tree_.kind)
    assert set(half.predict(X)[edited.apply(X) == leaf + 1]) == {"no"}
    assert cross_val_score(edited, X, y, error_score="raise").min() > 0.5


def test_every_kind_of_split_can_be_forced():
    X, y = table_of_kinds()
    forced = {
        "column": "income",
        "missing": "alone",
        "left": {"column": "colour", "categories": ["red"], "others": ["blue"], "left": {"leaf": True}},
        "right": {"column": "age", "threshold": 40, "missing": "left", "left": {"leaf": True, "decision": "no"}},
    }
    tree = BayesianTreeClassifier(forced_splits=forced).fit(X, y).tree_
    assert isinstance(tree.split(0), PresentMissing)
    assert tree.split(1) == CategorySet(1, (2,), (0,), tree.split(1).unseen_left, tree.split(1).missing_left, False)
    assert isinstance(tree.split(int(tree.children_right[0])), Threshold)
    X, y = load_iris(return_X_y=True)
    plane = {"coefficients": {2: 1.0, 3: 2.0}, "threshold": 5.0, "left": {"leaf": True}}
    model = BayesianTreeClassifier(partitions="oblique", forced_splits=plane).fit(X, y)
    assert model.tree_.split(0) == Hyperplane((2, 3), (1.0, 2.0), (0.0, 0.0), 5.0)
    assert model.tree_.is_leaf[1]


WRONG = {
    "no dict": ([1], "a node must be a dict or None"),
    "an unknown key": ({"column": 0, "threshold": 1, "up": {}}, "unknown key 'up'"),
    "an unknown column": ({"column": 9, "threshold": 1}, "column gives column 9"),
    "no threshold": ({"column": 0}, "threshold is missing"),
    "a wrong side": ({"column": 0, "threshold": 1, "missing": "up"}, "missing must be"),
    "a leaf that is none": ({"leaf": False}, "leaf must be True"),
    "an unknown class": ({"leaf": True, "decision": 7}, "decision names the class 7"),
    "columns that are no list": ({"forbidden": "x"}, "forbidden must be a list"),
    "below": ({"column": 0, "threshold": 1, "left": {"leaf": 0}}, r"forced_splits\['left'\]: leaf must be True"),
    "a plane of one": ({"coefficients": {0: 1.0}, "threshold": 1}, "two columns or more"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_forced_splits_are_refused(what):
    forced, message = WRONG[what]
    X, y = load_iris(return_X_y=True)
    with pytest.raises((ValueError, TypeError), match=message):
        BayesianTreeClassifier(forced_splits=forced).fit(X, y)


def test_what_forced_splits_do_not_go_with():
    X, y = load_iris(return_X_y=True)
    leaf = {"leaf": True, "decision": 1}
    for parameters, message in (
        ({"lookahead": 1, "forced_splits": {}}, "lookahead"),
        ({"leaf": "linear", "forced_splits": {}}, "leaf='linear' needs forced_splits=None"),
        ({"unseen": "average", "forced_splits": leaf}, "unseen 'majority'"),
    ):
        with pytest.raises(ValueError, match=message):
            BayesianTreeClassifier(**parameters).fit(X, y)
    with pytest.raises(ValueError, match="numbers are predicted"):
        BayesianTreeRegressor(forced_splits=leaf).fit(X, y)
