"""A fit that was interrupted goes on at the last finished level, with the same tree; other fits are refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from baytree import BayesianTreeClassifier, engines
from baytree.sources import _batches
from baytree.sources._part_source import PartSource
from tests.forests import assert_same_forest, forest_of
from tests.sources import OUTCOMES, assert_same_model, divided, fitted_in_memory, model_of, table_of

pytestmark = pytest.mark.filterwarnings("ignore:.* rows are equal to another one")


@pytest.fixture(autouse=True)
def little_memory(monkeypatch):
    """Trees grow level by level."""
    monkeypatch.setattr(_batches, "half_of_memory", lambda: 0)
    monkeypatch.setattr(_batches, "BATCH_ROWS", 200)


class CrashError(Exception):
    """Stands for the end of the process."""


@pytest.fixture
def crash_at(monkeypatch):
    """Make a pass fail, the n-th that is made, and count those that are."""

    def at(n):
        made = []
        for name in ("histograms", "factors", "sample"):
            original = getattr(PartSource, name)

            def passing(self, *given, original=original):
                made.append(original)
                if len(made) == n:
                    raise CrashError
                return original(self, *given)

            monkeypatch.setattr(PartSource, name, passing)
        return made

    return at


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_fit_goes_on_at_the_last_finished_level(outcome, tmp_path, crash_at, monkeypatch):
    frame, names = table_of(outcome, weighted=outcome == "classes")
    expected = fitted_in_memory(model_of(outcome, calibrate=True), frame, names)
    made = crash_at(3)
    with pytest.raises(CrashError):
        engines.fit(model_of(outcome, calibrate=True), lambda: divided(frame, 3), **names, checkpoint=tmp_path / "c")
    assert len(list((tmp_path / "c").glob("pass-*.npz"))) == 2
    monkeypatch.undo()
    monkeypatch.setattr(_batches, "half_of_memory", lambda: 0)
    again = crash_at(10**9)
    model = engines.fit(
        model_of(outcome, calibrate=True), lambda: divided(frame, 2), **names, checkpoint=tmp_path / "c"
    )
    assert_same_model(model, expected)
    assert not (tmp_path / "c").exists()
    n_again = len(again)
    whole = crash_at(10**9)
    engines.fit(model_of(outcome, calibrate=True), lambda: divided(frame, 2), **names)
    assert len(made) == 3
    assert n_again <= len(whole) - 2  # two passes, at least, were not made again


def test_a_resumed_fit_reads_the_rows_once(tmp_path, crash_at, monkeypatch):
    frame, names = table_of("classes")
    reads = []

    def read():
        reads.append(1)
        return [frame]

    crash_at(2)
    with pytest.raises(CrashError):
        engines.fit(model_of("classes"), read, **names, checkpoint=tmp_path)
    monkeypatch.undo()
    monkeypatch.setattr(_batches, "half_of_memory", lambda: 0)
    reads.clear()
    engines.fit(model_of("classes"), read, **names, checkpoint=tmp_path)
    assert len(reads) == 2  # to look at the columns of the first part, and to encode


def test_more_memory_may_be_at_hand_when_a_fit_goes_on(tmp_path, crash_at, monkeypatch):
    frame, names = table_of("normal")
    interrupted(tmp_path, crash_at, model_of("normal", calibrate=True), frame, **names)
    monkeypatch.undo()
    model = engines.fit(model_of("normal", calibrate=True), lambda: [frame], **names, checkpoint=tmp_path)
    assert_same_model(model, fitted_in_memory(model_of("normal", calibrate=True), frame, names))


def test_a_forest_goes_on(tmp_path, monkeypatch):
    frame, names = table_of("poisson")
    expected = fitted_in_memory(forest_of("poisson"), frame, names)
    from baytree.sources._keyed_buckets import KeyedBuckets

    made, original = [], KeyedBuckets.reduce

    def reduce(self, work, merge):
        made.append(work)
        if len(made) == 9:
            raise CrashError
        return original(self, work, merge)

    monkeypatch.setattr(KeyedBuckets, "reduce", reduce)
    with pytest.raises(CrashError):
        engines.fit(forest_of("poisson"), lambda: [frame], **names, checkpoint=tmp_path / "c")
    model = engines.fit(forest_of("poisson"), lambda: [frame], **names, checkpoint=tmp_path / "c")
    assert_same_forest(model, expected)
    assert not (tmp_path / "c").exists()


def test_a_killed_process_goes_on(tmp_path):
    """The process ends by a signal that nothing catches, at any moment."""
    frame, names = table_of("normal", n=400)
    frame.to_pickle(tmp_path / "frame")
    program = textwrap.dedent(f"""
        import os, signal, sys
        import pandas as pd
        from baytree import engines
        from baytree.engines import _checkpoint
        from baytree.sources import _batches
        from tests.sources import model_of
        _batches.half_of_memory = lambda: 0
        store = _checkpoint.Checkpoint.store
        def kill(self, name, result):
            store(self, name, result)
            if len(list(self.folder.glob("pass-*.npz"))) == 3:
                os.kill(os.getpid(), signal.SIGKILL)
        _checkpoint.Checkpoint.store = kill
        frame = pd.read_pickle({str(tmp_path / "frame")!r})
        engines.fit(model_of("normal"), lambda: [frame], checkpoint={str(tmp_path / "c")!r})
    """)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=Path.cwd())
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert len(list((tmp_path / "c").glob("pass-*.npz"))) == 3
    model = engines.fit(model_of("normal"), lambda: [frame], checkpoint=tmp_path / "c")
    assert_same_model(model, fitted_in_memory(model_of("normal"), frame, names))


def interrupted(tmp_path, crash_at, model, frame, **names):
    crash_at(3)
    with pytest.raises(CrashError):
        engines.fit(model, lambda: [frame], **names, checkpoint=tmp_path)


def test_another_fit_is_refused(tmp_path, crash_at):
    frame, names = table_of("classes")
    interrupted(tmp_path, crash_at, model_of("classes"), frame, **names)
    with pytest.raises(ValueError, match=r"that of another fit, with max_depth=None instead of 3: give another folder"):
        engines.fit(model_of("classes", max_depth=3), lambda: [frame], **names, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="with model='BayesianTreeClassifier' instead of 'BayesianForestClassifier'"):
        engines.fit(forest_of("classes"), lambda: [frame], **names, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="with weight=None instead of 'w'"):
        engines.fit(model_of("classes"), lambda: [frame], weight="w", checkpoint=tmp_path)


@pytest.mark.parametrize("change", ["a value", "a row", "a target"])
def test_other_rows_are_refused(change, tmp_path, crash_at, monkeypatch):
    frame, names = table_of("classes")
    interrupted(tmp_path, crash_at, model_of("classes"), frame, **names)
    other = frame.copy()
    if change == "a value":
        other.loc[0, "x"] = 1e9
    elif change == "a row":
        other = frame[1:]
    else:
        other.loc[0, "y"] = "yes" if other.loc[0, "y"] != "yes" else "no"
    monkeypatch.undo()
    with pytest.raises(ValueError, match="that of another table, or its rows have changed"):
        engines.fit(model_of("classes"), lambda: [other], **names, checkpoint=tmp_path)


def test_damaged_and_foreign_folders_are_refused(tmp_path, crash_at, monkeypatch):
    frame, names = table_of("classes")
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(ValueError, match="is not empty and holds no checkpoint"):
        engines.fit(model_of("classes"), lambda: [frame], **names, checkpoint=folder)
    assert (folder / "notes.txt").read_text() == "mine"
    interrupted(tmp_path / "c", crash_at, model_of("classes"), frame, **names)
    monkeypatch.undo()
    next((tmp_path / "c").glob("pass-*.npz")).write_bytes(b"no archive")
    monkeypatch.setattr(_batches, "half_of_memory", lambda: 0)
    with pytest.raises(ValueError, match=r"pass-.*npz' is damaged: remove its folder"):
        engines.fit(model_of("classes"), lambda: [frame], **names, checkpoint=tmp_path / "c")
    (tmp_path / "c" / "fit.json").write_text("{}")
    with pytest.raises(ValueError, match="is no checkpoint of this version"):
        engines.fit(model_of("classes"), lambda: [frame], **names, checkpoint=tmp_path / "c")


def test_no_file_runs_code(tmp_path):
    """Arrays of objects would be pickles: they are refused."""
    frame, names = table_of("classes")
    with pytest.raises(ValueError, match="needs a number as random_state"):
        engines.fit(forest_of("classes", random_state=None), lambda: [frame], **names, checkpoint=tmp_path / "f")
    from baytree.engines._checkpoint import Checkpoint

    checkpoint = Checkpoint.open(tmp_path / "c", BayesianTreeClassifier(), {})
    with (tmp_path / "c" / "pass-0.npz").open("wb") as file:
        np.savez(file, meta=np.array([{"code": print}], dtype=object))
    with pytest.raises(ValueError, match="is damaged"):
        checkpoint.stored("0")


@pytest.mark.parametrize("weighted", [False, True])
def test_descriptions_go_through_json(weighted):
    frame, names = table_of("normal", weighted=weighted)
    frame["nothing"] = np.nan
    frame["size"] = pd.Categorical(np.array(["small", "large"])[np.arange(len(frame)) % 2], ["small", "large"], True)
    expected = fitted_in_memory(model_of("normal"), frame, names)
    described = engines.describe(model_of("normal"), frame, **names)
    again = json.loads(json.dumps(described))
    assert again == described
    model = clone(expected)
    assert_same_model(engines.fit(model, lambda: divided(frame, 3), **names, **again), expected)


def test_descriptions_of_arrays_go_through_json():
    da = pytest.importorskip("dask.array")
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 3)), random.integers(0, 2, 300)
    lazy, target = da.from_array(X, chunks=(100, 3)), da.from_array(y, chunks=100)
    model = BayesianTreeClassifier(max_bins=10, prune=False)
    described = json.loads(json.dumps(engines.describe(model, lazy, target)))
    fitted = engines.fit(model, lazy, target, **described)
    assert_same_model(fitted, BayesianTreeClassifier(max_bins=10, prune=False).fit(X, y))
