"""A source that gives other rows at a later pass is refused, whatever the change and the source."""

from __future__ import annotations

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

from baytree import engines
from tests.sources import assert_same_model, fitted_in_memory, model_of, table_of

WRONG = r"^The source gave other rows when it was read again \("


def changing(frame, changed, at):
    """A function that returns a frame, and another one from call number `at` on."""
    calls = iter(range(100))
    return lambda: [changed if next(calls) >= at else frame]


def counting(frame):
    """A function that returns a frame, and an iterator whose next value is the number of its calls."""
    calls = iter(range(100))

    def read():
        next(calls)
        return [frame]

    return read, calls


def frame_of(outcome="normal"):
    """A table with columns of many values, of few values and of text, weights, and the names of what is no feature."""
    frame, names = table_of(outcome, weighted=True)
    return frame.assign(many=np.arange(len(frame)) * 0.37), names


def with_value(frame, column, row, value):
    """The frame with one other value."""
    changed = frame.copy()
    changed[column] = changed[column].astype(object)
    changed.loc[row, column] = value
    return changed.convert_dtypes(infer_objects=True) if frame[column].dtype == object else changed.astype(frame.dtypes)


def changes(frame):
    """Tables of as many rows with one other value."""
    of_weight = int(np.flatnonzero(frame["w"] > 0)[3])
    text = next(name for name in frame if not pd.api.types.is_numeric_dtype(frame[name]) and name != "y")
    y = frame["y"][of_weight] + 0.25 if pd.api.types.is_float_dtype(frame["y"]) else frame["y"].iloc[-1]
    return {
        "many": with_value(frame, "many", of_weight, frame["many"][of_weight] + 1e-9),
        text: with_value(frame, text, of_weight, "a new category"),
        "the weight": with_value(frame, "w", of_weight, frame["w"][of_weight] + 0.125),
        "the target": with_value(frame, "y", of_weight, y),
    }


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("at", [2, 3, 4])
@pytest.mark.parametrize("what", ["many", "text", "weight", "target"])
def test_one_other_value_is_noticed(what, at, cache):
    frame, names = frame_of()
    changed = list(changes(frame).values())[["many", "text", "weight", "target"].index(what)]
    read, calls = counting(frame)
    engines.fit(model_of("normal"), read, cache=cache, **names)
    n_passes = next(calls)
    if at >= n_passes:
        pytest.skip(f"the table is read {n_passes} times")
    with pytest.raises(ValueError, match=WRONG):
        engines.fit(model_of("normal"), changing(frame, changed, at), cache=cache, **names)


@pytest.mark.parametrize("cache", [True, False])
def test_two_values_that_change_by_as_much_are_noticed(cache):
    frame = pd.DataFrame({"x": np.arange(500) / 500 + 1.0, "y": np.arange(500) % 2})
    changed = frame.copy()
    changed.loc[[100, 200], "x"] += [2.0**-20, -(2.0**-20)]  # the sum of the values and that of their bits stay
    with pytest.raises(ValueError, match=WRONG + "column 'x' has other values"):
        engines.fit(model_of("classes"), changing(frame, changed, 2), cache=cache)


def test_rows_may_come_in_another_order_and_in_other_parts():
    frame, names = frame_of("classes")
    random = np.random.default_rng(0)

    def read():
        shuffled = frame.sample(frac=1, random_state=int(random.integers(99)))
        return [shuffled[:200], shuffled[200:]]

    expected = fitted_in_memory(model_of("classes"), frame, names)
    for cache in (True, False):
        assert_same_model(engines.fit(model_of("classes"), read, cache=cache, **names), expected)


def test_other_partitions_of_dask_are_noticed(tmp_path):
    frame, names = frame_of("classes")
    calls = tmp_path / "calls"

    def part(_):
        """The table, with another value from the fourth call on."""
        n = len(calls.read_text()) if calls.exists() else 0
        calls.write_text("x" * (n + 1))
        return frame.assign(many=frame["many"] + (n >= 3))

    parts = dd.from_map(part, [0], meta=frame[:0])
    with pytest.raises(ValueError, match=WRONG):
        engines.fit(model_of("classes"), parts, **names)


def test_files_that_are_written_anew_are_noticed(tmp_path):
    frame, names = frame_of("classes")
    frame.to_parquet(tmp_path / "rows.parquet")
    calls = iter(range(100))

    def read():
        if next(calls) == 2:
            frame.assign(many=frame["many"][::-1].to_numpy() + 1).to_parquet(tmp_path / "rows.parquet")
        return [pd.read_parquet(tmp_path / "rows.parquet")]

    with pytest.raises(ValueError, match=WRONG + "column 'many' has other values"):
        engines.fit(model_of("classes"), read, **names)
