"""Progress: what the line says, where it is shown, and that it moves while nothing is reported."""

from __future__ import annotations

import io
import re
import sys
import threading
import time
import warnings

import pytest

from baytree import _progress, engines
from baytree._progress import Progress, duration_text
from tests.sources import model_of, table_of


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Notebook(io.StringIO):
    """What ipykernel gives as standard error: no terminal."""

    __module__ = "ipykernel.iostream"


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand, and no thread that looks at it."""
    now = [100.0]
    monkeypatch.setattr(_progress, "_clock", lambda: now[0])
    monkeypatch.setattr(threading.Thread, "start", lambda self: None)
    return now


def shown(progress, **options):
    return progress._line(**options)


def test_what_is_done_is_counted(clock):
    progress = Progress("Forest", 200, unit="trees", show=True)
    assert shown(progress) == "Forest: 0 of 200 trees, 0 s so far"
    clock[0] += 3
    progress.update(1)
    assert shown(progress).startswith("Forest: 1 of 200 trees, 3 s so far")
    progress.update(2, "Forest of deep trees")
    assert shown(progress).startswith("Forest of deep trees: 2 of 200 trees")


def test_without_a_total_there_is_no_estimate(clock):
    progress = Progress("Exploring", unit="nodes", show=True)
    assert shown(progress) == "Exploring, 0 s so far"
    clock[0] += 4
    progress.update(1234)
    assert shown(progress) == "Exploring: 1,234 nodes, 4 s so far"
    progress.update(8000)
    assert shown(progress) == "Exploring: 8,000 nodes, 2,000 nodes a second, 4 s so far"


def test_the_rest_is_estimated_from_what_was_measured(clock):
    progress = Progress("Fits", 10, done=4, show=True)  # four were done in an earlier run
    clock[0] += 30
    assert "to go" not in shown(progress)  # nothing was measured yet
    progress.update(6)
    assert shown(progress) == "Fits: 6 of 10, 30 s so far, about 60 s to go"
    clock[0] += 20
    assert shown(progress).endswith("50 s so far, about 40 s to go")
    clock[0] += 50  # longer than the estimate: nobody knows
    assert shown(progress) == "Fits: 6 of 10, 2 min so far"
    assert "to go" not in shown(progress, at_end=True)


def test_a_phase_is_timed_by_itself(clock):
    progress = Progress("Level 1", 1000, unit="rows", show=True)
    clock[0] += 100
    progress.update(1000)
    progress.begin("Level 2", 500)
    assert shown(progress) == "Level 2: 0 of 500 rows, 2 min so far"
    clock[0] += 2
    progress.update(100)
    assert shown(progress) == "Level 2: 100 of 500 rows, 2 min so far, about 8 s to go"


def test_a_repeated_phase_is_estimated_from_its_own_pass(clock):
    progress = Progress("Finding bins", unit="rows", show=True)
    clock[0] += 50
    progress.update(600)
    assert "to go" not in shown(progress)  # nobody knows how many rows there are
    progress.repeat(600)
    assert shown(progress) == "Finding bins: 0 of 600 rows, 50 s so far"
    clock[0] += 2
    progress.update(200)
    assert shown(progress) == "Finding bins: 200 of 600 rows, 52 s so far, about 4 s to go"


@pytest.mark.parametrize("kind", ["function", "parquet", "frame", "duckdb", "dask"])
def test_the_passes_of_a_fit_are_named_and_counted(kind, monkeypatch, tmp_path, request):
    clock, seen = [100.0], []
    monkeypatch.setattr(_progress, "_clock", lambda: clock[0])
    monkeypatch.setattr(Progress, "_keep_moving", lambda self: None)
    frame, names = table_of("classes")

    def write_down(method):
        original = getattr(Progress, method)

        def noted(self, *given, **more):
            original(self, *given, **more)
            clock[0] += 1.0  # each part takes a second
            seen.append(shown(self))

        monkeypatch.setattr(Progress, method, noted)

    for method in ("begin", "update"):
        write_down(method)
    sources = {
        "function": lambda: lambda: iter([frame[:200], frame[200:400], frame[400:]]),
        "parquet": lambda: frame.to_parquet(tmp_path / "rows.parquet") or tmp_path / "rows.parquet",
        "frame": lambda: frame,
        "duckdb": lambda: request.getfixturevalue("duckdb")(frame),
        "dask": lambda: pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ibis and Dask warn of their own affairs
        engines.fit(model_of("classes"), sources[kind](), **names, verbose=1)
    passes = list(dict.fromkeys(re.split("[:,]", line)[0] for line in seen))
    assert passes[:4] == ["Opening the source", "Reading columns and target", "Finding bins", "Encoding rows"]
    assert passes[4].startswith("Level 1")
    if kind == "function":
        counts = [line for line in seen if line.startswith("Encoding rows: 2")]
        assert [re.sub(r", \d+ s so far", "", line) for line in counts] == [
            "Encoding rows: 200 of 600 rows, about 1 s to go"
        ]
        assert not [line for line in seen if "to go" in line and " of 600 rows" not in line]


def test_another_phase_gets_a_line_in_a_file_at_once(fast, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(_progress, "_PAUSE_IN_FILES", 1000.0)
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("One", show=True) as progress:
        wait_for(stream, 1)
        progress.begin("Two")
        wait_for(stream, 2)
    assert [line.partition(",")[0] for line in stream.getvalue().splitlines()] == ["One", "Two", "Two"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59.6, "60 s"), (99, "99 s"), (120, "2 min"), (5000, "83 min"), (7200, "2.0 h")]
)
def test_durations(seconds, text):
    assert duration_text(seconds) == text


@pytest.fixture
def fast(monkeypatch):
    for name in ("_QUIET", "_PAUSE", "_PAUSE_IN_FILES"):
        monkeypatch.setattr(_progress, name, 0.01)


def wait_for(stream, n_writes):
    """Work that reports nothing, until there are so many lines."""
    for _ in range(3000):
        if len(re.split(r"[\r\n]", stream.getvalue())) > n_writes:
            return
        time.sleep(0.01)
    raise AssertionError(stream.getvalue())


@pytest.mark.parametrize("stream", [Terminal(), Notebook()], ids=["terminal", "notebook"])
@pytest.mark.parametrize("show", [None, True])
def test_the_line_moves_while_nothing_is_reported(stream, show, fast, monkeypatch):
    stream.seek(0)
    stream.truncate()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("A long call", 3, show=show) as progress:
        progress.update(1)
        wait_for(stream, 5)
        assert "\n" not in stream.getvalue()
    lines = stream.getvalue().split("\r")
    assert lines[1].startswith("A long call: 1 of 3, 0 s so far")
    if show:
        assert stream.getvalue().endswith("so far\n")
    else:
        assert lines[-2].isspace()
        assert lines[-1] == ""
    assert not progress._thread.is_alive()


def test_a_file_gets_whole_lines_if_they_are_asked_for(fast, monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("Fits", 3, show=True) as progress:
        wait_for(stream, 2)
        progress.update(3)
    assert "\r" not in stream.getvalue()
    assert stream.getvalue().splitlines()[-1] == "Fits: 3 of 3, 0 s so far"


@pytest.mark.parametrize(("stream", "show"), [(io.StringIO(), None), (Terminal(), False), (None, True)])
def test_it_is_silent_where_nobody_looks(stream, show, fast, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("Fits", 3, show=show) as progress:
        time.sleep(0.05)
        progress.update(2)
    assert stream is None or stream.getvalue() == ""


def test_short_work_shows_nothing_unless_it_is_asked_for(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("Fits", 3) as progress:
        progress.update(3)
    assert stream.getvalue() == ""


def test_long_lines_do_not_wrap(fast, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "30")
    with Progress("x" * 100):
        wait_for(stream, 3)
    assert max(map(len, stream.getvalue().split("\r"))) == 29


def test_a_stream_that_is_gone_does_not_stop_the_work(fast, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with Progress("Fits", 3, show=True) as progress:
        wait_for(stream, 2)
        stream.close()
        time.sleep(0.05)
        progress.update(3)
    progress.close()  # again: nothing happens


def test_where_there_are_no_threads_the_last_line_is_shown(monkeypatch, capsys):
    def fail(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fail)
    with Progress("Fits", 3, show=True) as progress:
        progress.update(3)
    assert capsys.readouterr().err == "Fits: 3 of 3, 0 s so far\n"


def test_the_line_ends_where_the_work_fails(fast, monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    progress = Progress("Fits", 3, show=True)

    def work():
        wait_for(stream, 2)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress:
        work()
    assert stream.getvalue().endswith("\n")
    assert not progress._thread.is_alive()
