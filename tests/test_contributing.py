"""The walks through the code in CONTRIBUTING.md: their files exist, and a run goes through them in their order."""

from __future__ import annotations

import re
import sys
import threading
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import baytree
from baytree import BayesianForestClassifier, BayesianTreeClassifier, edit, engines, report

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
PACKAGE = Path(baytree.__file__).parent
pytestmark = [
    pytest.mark.skipif(not PAGE.exists(), reason="needs the repository, not only the package"),
    pytest.mark.filterwarnings("ignore:The 'future.infer_string' option"),  # of ibis
]

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(RANDOM.normal(size=(120, 2)), columns=["a", "b"])
Y = np.where(X["a"] + 0.3 * X["b"] > 0, "yes", "no")
TREE = BayesianTreeClassifier(n_jobs=1)


def database(_):
    table = pytest.importorskip("ibis").duckdb.connect().create_table("rows", X.assign(y=Y))
    engines.fit(TREE, table)


WALKS = {
    "fit a frame": lambda _: TREE.fit(X, Y),
    "fit a forest": lambda _: BayesianForestClassifier(
        150, partitions="axis", oob_score=True, random_state=0, n_jobs=1
    ).fit(X, Y),
    "fit a database table": database,
    "explain": lambda _: str(TREE.explain(X[:2])[0]),
    "edit": lambda _: edit.start(TREE, X, Y).swap(0, "b"),
    "stability": lambda _: TREE.stability(X, Y, n_refits=2),
    "report": lambda folder: report.write(TREE, X, Y, folder / "page.html", refits=0),
}


def rows_of(heading):
    """The rows of the table whose first column has a heading, by their first cell."""
    lines = PAGE.read_text("utf-8").splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return dict(rows)


def files_of(text, folder=""):
    """The paths that a text names; a bare name is in the folder of the path before it."""
    for name in re.findall(r"`([\w./*]+(?:\.[chp]{2,3}|\.py|/))`", text):
        folder, _, file = name.rpartition("/") if "/" in name else (folder, "", name)
        yield f"{folder}/{file}"


def exists(path):
    return any(any(place.glob(path.strip("/"))) for place in (PACKAGE, ROOT))


@contextmanager
def recorded(files):
    """Append the file of the package in which each function begins."""

    def begin(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name.startswith(str(PACKAGE)) and frame.f_code.co_name != "<module>":
            files.append(Path(name).relative_to(PACKAGE).as_posix())

    threading.setprofile(begin)
    sys.setprofile(begin)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def test_every_walk_is_run():
    assert list(rows_of("journey")) == list(WALKS)


@pytest.mark.parametrize("walk", WALKS)
def test_a_run_goes_through_the_files_of_a_walk_in_their_order(walk, tmp_path):
    text = rows_of("journey")[walk]
    named = list(files_of(text))
    assert [path for path in named if not exists(path)] == []
    if walk != "fit a frame":
        TREE.fit(X, Y)
    visited: list[str] = []
    with recorded(visited):
        WALKS[walk](tmp_path)
    on_the_way = [path for path in files_of(re.sub(r"\([^)]*\)", "", text)) if path.endswith(".py")]
    assert len(on_the_way) >= 4
    assert [path for path in named if path.endswith(".py") and path not in visited] == []
    rest = iter([path for path, _ in groupby(visited)])
    assert [path for path in on_the_way if path not in rest] == []  # `in` takes what comes before the path


def test_the_files_to_touch_exist():
    for what, text in rows_of("what").items():
        named = [path for path in files_of(text) if "yours" not in path]
        assert len(named) >= 2
        assert [path for path in named if not exists(path)] == [], what
