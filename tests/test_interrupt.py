"""Ctrl-C: a real signal stops a long fit long before it would have ended, and the model is what it was."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

# A model that is fitted already is refitted on a long table: once to the end, and once until it is interrupted.
# The classes follow waves, so that growing takes long.
SCRIPT = """
import json, signal, sys, time
import numpy as np
from sklearn.base import clone
from baytree import BayesianTreeClassifier

n_rows, n_features, parameters = json.loads(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the test runner made of it
random = np.random.default_rng(0)
X = random.random((n_rows, n_features))
y = sum(np.sin(60 * X[:, k]) for k in range(3)) > random.normal(size=n_rows)
model = BayesianTreeClassifier(prior=0.01, **parameters).fit(X[:1000], y[:1000])
before, proba = dict(vars(model)), model.predict_proba(X[:1000])
begun = time.monotonic()
clone(model).fit(X, y)
whole = time.monotonic() - begun
try:
    print(whole, flush=True)
    model.fit(X, y)
    caught = None
except KeyboardInterrupt:
    caught = time.monotonic()
same = vars(model).keys() == before.keys() and all(vars(model)[name] is before[name] for name in before)
print(json.dumps({"caught": caught, "same": same and np.array_equal(model.predict_proba(X[:1000]), proba)}))
"""

SPACE_SCRIPT = """
import json, signal, warnings
from sklearn.datasets import load_breast_cancer
from baytree import TreeSpaceClassifier

signal.signal(signal.SIGINT, signal.default_int_handler)
X, y = load_breast_cancer(return_X_y=True)
model = TreeSpaceClassifier(max_nodes=10**9)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print("1.5", flush=True)
    model.fit(X, y)
words = [str(warning.message) for warning in caught]
print(json.dumps({"words": words, "nodes": model.space_.node_count, "score": model.score(X, y)}))
"""


@contextmanager
def running(script, *arguments):
    """Run a script; whatever happens, it does not outlive the test."""
    command = [sys.executable, "-W", "error", "-c", script, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


def report_of(process):
    """What the script prints last; a script that hangs is a failure."""
    output, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (0, "")
    return json.loads(output)


CASES = {  # rows, features, parameters
    "sorting many columns": (2_000_000, 20, {"n_jobs": 2, "max_depth": 0}),
    "sorting long columns": (5_000_000, 4, {"n_jobs": 1, "max_depth": 0}),
    "growing": (2_000_000, 4, {"n_jobs": 1}),
    "growing on two threads": (2_000_000, 4, {"n_jobs": 2}),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_an_interrupted_fit_stops_long_before_its_end_and_changes_nothing(case):
    with running(SCRIPT, json.dumps(case)) as process:
        whole = float(process.stdout.readline())
        time.sleep(whole / 4)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        report = report_of(process)
    assert report["caught"] is not None, "the fit was over before the signal"
    assert report["caught"] - sent < 0.75 * whole / 2, "it took more than half of the time that was left"
    assert report["same"]


def test_an_interrupted_exploration_keeps_what_it_has():
    """It would take years: that it ends at all is the signal's doing."""
    with running(SPACE_SCRIPT) as process:
        time.sleep(float(process.stdout.readline()))
        process.send_signal(signal.SIGINT)
        report = report_of(process)
    assert report["words"] == [
        f"The search was interrupted: the model holds the {report['nodes']} nodes that were explored."
    ]
    assert report["nodes"] > 100
    assert report["score"] > 0.95


ENDLESS_SCRIPT = """
import json, signal, sys
import numpy as np
from baytree import BayesianTreeClassifier

n_rows, n_features, parameters = json.loads(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)
random = np.random.default_rng(0)
X = random.normal(size=(n_rows, n_features))
y = (X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=n_rows) > 0).astype(int)
try:
    print("1.0", flush=True)
    BayesianTreeClassifier(**parameters).fit(X, y)
    caught = False
except KeyboardInterrupt:
    caught = True
print(json.dumps(caught))
"""

ENDLESS = {  # rows, features, parameters: fits that would take minutes or years
    "look-ahead": (500, 10, {"lookahead": 7}),
    "look-ahead on many rows": (300_000, 10, {"lookahead": 5}),
    "hyperplanes": (400_000, 20, {"partitions": "oblique", "n_jobs": 2}),
}


@pytest.mark.parametrize("case", ENDLESS.values(), ids=ENDLESS.keys())
def test_what_would_take_very_long_ends_with_the_signal(case):
    with running(ENDLESS_SCRIPT, json.dumps(case)) as process:
        time.sleep(float(process.stdout.readline()))
        process.send_signal(signal.SIGINT)
        assert report_of(process) is True
