"""Quantile bins count weights: a row of weight 2 is the row twice, in memory and at every source."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from baytree import engines
from tests.sources import OUTCOMES, assert_same_model, divided, fitted_in_memory, model_of, table_of

# Ibis and its drivers warn of their own affairs.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)
STRUCTURE = ["children_left", "children_right", "feature", "threshold"]


def weighted_twice(outcome):
    """A table with a column of many values and whole weights, and the same rows as often as they weigh."""
    frame, names = table_of(outcome, n=400)
    random = np.random.default_rng(1)
    frame["many"] = random.normal(size=400).round(2)
    weighted = frame.assign(w=np.where(frame["many"] > 0, random.integers(1, 9, 400), 1))
    return weighted, names | {"weight": "w"}, frame.loc[frame.index.repeat(weighted["w"])], names


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_row_of_weight_two_is_the_row_twice(outcome):
    weighted, with_weight, repeated, names = weighted_twice(outcome)
    one = fitted_in_memory(model_of(outcome, max_bins=9), weighted, with_weight)
    other = fitted_in_memory(model_of(outcome, max_bins=9), repeated, names)
    assert one.get_n_leaves() > 2
    for name in STRUCTURE:
        assert_array_equal(getattr(one.tree_, name), getattr(other.tree_, name), err_msg=name)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("whole", [True, False])
def test_sources_find_the_same_bins(duckdb, outcome, whole):
    frame, names, _, _ = weighted_twice(outcome)
    if not whole:
        frame["w"] = np.random.default_rng(2).exponential(size=len(frame))
    expected = fitted_in_memory(model_of(outcome, max_bins=9), frame, names)
    sources = {
        "parts": lambda: divided(frame, 4),
        "dask": dd.from_pandas(frame, npartitions=3),
        "database": duckdb(frame),
    }
    for source in sources.values():
        assert_same_model(engines.fit(model_of(outcome, max_bins=9), source, **names), expected)


@pytest.mark.parametrize("shape", ["heavy tail", "two values far apart"])
def test_databases_divide_columns_of_every_shape(put, shape):
    random = np.random.default_rng(3)
    x = np.exp(10 * random.normal(size=3000)) if shape == "heavy tail" else np.append(random.random(2999), 1e12)
    frame = pd.DataFrame(
        {"x": x, "y": (random.random(3000) < 1 / (1 + x)).astype(int), "w": random.exponential(size=3000)}
    )
    expected = fitted_in_memory(model_of("classes", max_bins=40), frame, {"weight": "w"})
    assert_same_model(engines.fit(model_of("classes", max_bins=40), put(frame), weight="w"), expected)


def test_class_weights_count_too(duckdb):
    frame, names = table_of("classes")
    frame["many"] = np.random.default_rng(4).normal(size=len(frame))
    model = model_of("classes", max_bins=7, class_weight={"yes": 3.0})
    expected = fitted_in_memory(model, frame, names)
    for source in (lambda: divided(frame, 3), duckdb(frame)):
        model = model_of("classes", max_bins=7, class_weight={"yes": 3.0})
        assert_same_model(engines.fit(model, source, **names), expected)
        described = engines.describe(model, source, **names)
        assert_same_model(engines.fit(model, source, **names, **described), expected)
