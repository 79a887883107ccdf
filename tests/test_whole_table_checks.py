"""Weights are checked and judged over the whole table, not over its parts: alike in memory and at every source."""

from __future__ import annotations

import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from baytree import engines
from tests.sources import OUTCOMES, assert_same_model, fitted_in_memory, model_of, table_of

# Ibis and its drivers warn of their own affairs.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)
SMALL = r"^sample_weight sums to 1 over 300 rows\. "


def sources_of(frame, duckdb):
    """A frame at every source, in parts of 100 rows."""
    parts = [frame[start : start + 100] for start in range(0, len(frame), 100)]
    return {"frame": frame, "parts": lambda: parts, "dask": dd.from_pandas(frame, npartitions=3), "sql": duckdb(frame)}


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("part", [0, 1])
def test_a_part_may_have_no_weight(duckdb, outcome, part, cache):
    frame, names = table_of(outcome, weighted=True, n=300)
    frame.loc[100 * part : 100 * part + 99, "w"] = 0.0
    expected = fitted_in_memory(model_of(outcome), frame, names)
    for source in sources_of(frame, duckdb).values():
        assert_same_model(engines.fit(model_of(outcome), source, cache=cache, **names), expected)


@pytest.mark.parametrize("cache", [True, False])
def test_categories_of_rows_without_weight_are_those_of_the_table(duckdb, cache):
    """A part may have no other value of the column."""
    frame, names = table_of("classes", weighted=True, n=300)
    frame["city"] = frame["city"].astype(object)
    frame.loc[100:199, "city"] = None
    frame.loc[150, ["city", "w"]] = ["elsewhere", 0.0]
    expected = fitted_in_memory(model_of("classes"), frame, names)
    assert "elsewhere" in expected.categories_[list(expected.feature_names_in_).index("city")]
    for source in sources_of(frame, duckdb).values():
        assert_same_model(engines.fit(model_of("classes"), source, cache=cache, **names), expected)


def test_small_weights_of_a_part_are_no_reason_to_warn(duckdb):
    frame, names = table_of("classes", weighted=True, n=300)
    frame.loc[:99, "w"] = 1e-3
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=UserWarning)
        fitted_in_memory(model_of("classes"), frame, names)
        for source in sources_of(frame, duckdb).values():
            engines.fit(model_of("classes"), source, **names)


def test_small_weights_of_a_table_are_warned_of_everywhere(duckdb):
    frame, names = table_of("classes", n=300)
    frame["w"] = 1 / 300
    with pytest.warns(UserWarning, match=SMALL):
        fitted_in_memory(model_of("classes"), frame, names | {"weight": "w"})
    for source in sources_of(frame, duckdb).values():
        with pytest.warns(UserWarning, match=SMALL):
            engines.fit(model_of("classes"), source, weight="w", **names)


def test_no_weight_at_all_is_refused_everywhere(duckdb):
    frame, names = table_of("classes", n=300)
    frame["w"] = 0.0
    for source in sources_of(frame, duckdb).values():
        with pytest.raises(ValueError, match="all weights are zero"):
            engines.fit(model_of("classes"), source, weight="w", **names)


@pytest.mark.parametrize("feature_prior", [None, {"x": 0.0}])
def test_infinite_values_of_rows_without_weight_are_refused_everywhere(duckdb, feature_prior):
    frame, names = table_of("classes", weighted=True, n=300)
    frame["x"] = np.linspace(0, 1, 300)
    frame.loc[9, ["x", "w"]] = [-np.inf, 0.0]
    model = model_of("classes", feature_prior=feature_prior)
    with pytest.raises(ValueError, match="Column 'x' of X has an infinite value"):
        fitted_in_memory(model, frame, names)
    for source in sources_of(frame, duckdb).values():
        with pytest.raises(ValueError, match="Column 'x' of X has an infinite value"):
            engines.fit(model, source, **names)


def test_a_database_has_no_row_numbers(duckdb):
    frame, names = table_of("poisson", n=50)
    frame["y"] = frame["y"].astype(float)
    frame.loc[7, "y"] = 0.5
    with pytest.raises(ValueError, match="whole number") as caught:
        engines.fit(model_of("poisson"), duckdb(frame), **names)
    assert "row" not in str(caught.value)


def test_the_limit_of_categories_is_the_same_everywhere(duckdb):
    n = 65_536
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(n)], "y": np.arange(n) % 2})
    message = r"^Column 'name' of X has more than 65,535 categories: leave it out"
    with pytest.raises(ValueError, match=message):
        fitted_in_memory(model_of("classes"), frame, {})
    parts = [frame[start : start + 20_000] for start in range(0, n, 20_000)]
    for source in (lambda: parts, duckdb(frame)):
        with pytest.raises(ValueError, match=message.replace(" of X", "( of X)?")):
            engines.fit(model_of("classes"), source)


@pytest.mark.parametrize("cause", [ConnectionResetError(104, "Connection reset by peer"), MemoryError("too little")])
def test_errors_of_reading_are_not_those_of_a_full_disk(cause):
    frame, names = table_of("classes", n=300)
    calls = iter(range(100))

    def read():
        yield frame
        if next(calls) == 2:
            raise cause

    with pytest.raises(type(cause), match=str(cause.args[-1])):
        engines.fit(model_of("classes"), read, **names)
