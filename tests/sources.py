"""Tables for every outcome, and what tests of sources compare."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from baytree import BayesianTreeClassifier, BayesianTreeRegressor
from baytree.outcomes import NegativeBinomial
from tests.comparison import assert_same_store, raw_frame

OUTCOMES = ("classes", "normal", "poisson", "negative_binomial", "exponential")


def model_of(outcome, **parameters):
    """An estimator of an outcome."""
    parameters = {"max_bins": 20, "prune": False, "partition_prior": 0.99} | parameters
    if outcome == "classes":
        return BayesianTreeClassifier(**parameters)
    chosen = NegativeBinomial(dispersion=0.5) if outcome == "negative_binomial" else outcome
    return BayesianTreeRegressor(outcome=chosen, **{"calibrate": False} | parameters)


def table_of(outcome, *, weighted=False, n=600, seed=0):
    """A table with its target, and the names of what is no feature."""
    random = np.random.default_rng(seed)
    frame, y = raw_frame(n, seed)
    names = {}
    if outcome == "classes":
        y = np.array(["no", "yes", "it's"])[y + (random.random(n) < 0.1)]
    elif outcome == "normal":
        y = 1e4 + 3 * y + random.normal(size=n)
    elif outcome == "exponential":
        y = random.exponential(1 + 3 * y)
        frame["ended"] = random.random(n) < 0.8
        names["event"] = "ended"
    else:
        frame["time"] = random.uniform(0.5, 3, n)
        y = random.poisson(frame["time"] * (1 + 3 * y))
        names["exposure"] = "time"
    frame["y"] = y
    if weighted:
        frame["w"] = np.where(random.random(n) < 0.1, 0.0, random.uniform(0.5, 2, n))
        names["weight"] = "w"
    return frame, names


def fitted_in_memory(model, frame, names):
    """The model, fitted to a frame in memory."""
    extras = {name: frame[column] for name, column in names.items() if name != "weight"}
    weight = {"sample_weight": frame[names["weight"]]} if "weight" in names else {}
    return model.fit(frame.drop(columns=["y", *names.values()]), frame["y"], **weight, **extras)


def divided(frame, n_parts, seed=0):
    """The rows of a frame in another order, in parts of different sizes; some have no row."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(frame))
    ends = np.sort(random.integers(0, len(frame) + 1, n_parts - 1))
    parts = [frame.iloc[rows].reset_index(drop=True) for rows in np.split(order, ends)]
    return [*parts, frame.iloc[:0]] if n_parts > 1 else parts


def assert_same_model(one, other):
    """Every array of two fitted trees is the same, bit for bit."""
    for kind in ("tree_", "grown_tree_"):
        assert_same_store(getattr(one, kind), getattr(other, kind))
    assert_array_equal(one.prior_, other.prior_)
    for name in ("spread", "discount", "strength", "rates"):
        assert_array_equal(getattr(one.outcome_, name, None), getattr(other.outcome_, name, None))
    assert one.schema_.names == other.schema_.names
    ranges = [[(c.low, c.high, c.is_integer) for c in model.schema_.columns] for model in (one, other)]
    assert ranges[0] == ranges[1]
    for mine, its in zip(one.categories_, other.categories_, strict=True):
        assert_array_equal(mine, its)
    if hasattr(one, "classes_"):
        assert_array_equal(one.classes_, other.classes_)
