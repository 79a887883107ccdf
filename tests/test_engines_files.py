"""Parquet files and Arrow tables: whatever their types, the tree is that of the same frame in memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from baytree import engines
from tests.sources import assert_same_model, fitted_in_memory, model_of


def numbers_and_labels(n=400):
    """A frame whose class depends on `k`, and some noise."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"k": random.integers(0, 9, n), "x": random.normal(size=n)})
    return frame.assign(y=np.where(random.random(n) < np.where(frame["k"] > 4, 0.9, 0.1), "yes", "no"))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("dtype", "low", "high"), [("int64", 2**62, 2**63 - 1), ("uint64", 2**63, 2**64 - 1)])
def test_whole_numbers_that_float64_must_round(dtype, low, high, missing, tmp_path):
    frame = numbers_and_labels()
    random = np.random.default_rng(1)
    frame["long"] = random.integers(low, high, len(frame), dtype=dtype)
    frame["y"] = np.where(frame["long"] > low + (high - low) // 3, "yes", frame["y"])
    if missing:
        frame["long"] = frame["long"].astype(dtype.replace("int", "Int").replace("uI", "UI"))
        frame.loc[random.random(len(frame)) < 0.1, "long"] = pd.NA
    frame.to_parquet(tmp_path / "long.parquet")
    expected = fitted_in_memory(model_of("classes"), frame, {})
    assert 2 in expected.tree_.feature
    table = pa.Table.from_pandas(frame, preserve_index=False)
    as_arrow = frame.astype({"long": f"{dtype}[pyarrow]"})
    for source in (frame, as_arrow, pl.from_pandas(frame), table, tmp_path, ds.dataset(table), lambda: [table]):
        assert_same_model(engines.fit(model_of("classes"), source), expected)
    assert_same_model(model_of("classes").fit(table.drop(["y"]), frame["y"]), expected)
