"""Forests of every outcome for tests of sources, and what these compare."""

from __future__ import annotations

from baytree import BayesianForestClassifier, BayesianForestRegressor
from tests.comparison import assert_same_store
from tests.sources import model_of


def forest_of(outcome, **parameters):
    """A forest that any source can grow."""
    parameters = {"n_estimators": 12, "partitions": "axis", "max_bins": 20, "random_state": 3} | parameters
    if outcome == "classes":
        return BayesianForestClassifier(**parameters | {"monotonic_cst": None})
    return BayesianForestRegressor(outcome=model_of(outcome).outcome, **parameters)


def assert_same_forest(one, other):
    """Every tree of two forests is the same, bit for bit, and all that is measured."""
    assert_same_store(one.fitted_.trees, other.fitted_.trees)
    assert_same_store(one.readable_tree_.tree_, other.readable_tree_.tree_)
    assert one.fitted_.forest == other.fitted_.forest
    assert getattr(one.outcome_, "spread", None) == getattr(other.outcome_, "spread", None)
