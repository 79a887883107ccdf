"""Ctrl-C: a real signal stops a long fit within a second, and the model is what it was."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

# A model that is fitted already is refitted on a long table. The classes follow waves, so that growing takes long.
SCRIPT = """
import json, signal, sys, time
import numpy as np
from baytree import BayesianTreeClassifier

n_rows, n_features, parameters = json.loads(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the test runner made of it
random = np.random.default_rng(0)
X = random.random((n_rows, n_features))
y = sum(np.sin(60 * X[:, k]) for k in range(3)) > random.normal(size=n_rows)
model = BayesianTreeClassifier(prior=0.01, **parameters).fit(X[:1000], y[:1000])
before, proba = dict(vars(model)), model.predict_proba(X[:1000])
try:
    print("fitting", flush=True)
    model.fit(X, y)
    caught = None
except KeyboardInterrupt:
    caught = time.monotonic()
same = vars(model).keys() == before.keys() and all(vars(model)[name] is before[name] for name in before)
print(json.dumps({"caught": caught, "same": same and np.array_equal(model.predict_proba(X[:1000]), proba)}))
"""


def interrupt(seconds, n_rows, n_features, **parameters):
    """Run the script, send it SIGINT so long after its fit began; return its report and the delay."""
    arguments = [sys.executable, "-W", "error", "-c", SCRIPT, json.dumps([n_rows, n_features, parameters])]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "fitting\n"
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            sent = time.monotonic()
            output, errors = process.communicate(timeout=60)
        except BaseException:
            process.kill()
            raise
    assert (process.returncode, errors) == (0, "")
    report = json.loads(output)
    assert report["caught"] is not None, "the fit was over before the signal"
    return report, report["caught"] - sent


CASES = {  # seconds from the beginning of the fit to the signal, rows, features, parameters
    "sorting many columns": (0.6, 3_000_000, 20, {"n_jobs": 2}),
    "sorting long columns": (0.8, 6_000_000, 4, {"n_jobs": 1}),
    "growing": (1.5, 3_000_000, 4, {"n_jobs": 1}),
    "growing on two threads": (1.2, 3_000_000, 4, {"n_jobs": 2}),
}


@pytest.mark.parametrize(("seconds", "n_rows", "n_features", "parameters"), CASES.values(), ids=CASES.keys())
def test_an_interrupted_fit_stops_within_a_second_and_changes_nothing(seconds, n_rows, n_features, parameters):
    report, delay = interrupt(seconds, n_rows, n_features, **parameters)
    assert delay < 1
    assert report["same"]


SPACE_SCRIPT = """
import json, signal, time, warnings
import numpy as np
from sklearn.datasets import load_breast_cancer
from baytree import TreeSpaceClassifier

signal.signal(signal.SIGINT, signal.default_int_handler)
X, y = load_breast_cancer(return_X_y=True)
model = TreeSpaceClassifier(max_nodes=10**9)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print("fitting", flush=True)
    model.fit(X, y)
    end = time.monotonic()
words = [str(warning.message) for warning in caught]
print(json.dumps({"end": end, "words": words, "nodes": model.space_.node_count, "score": model.score(X, y)}))
"""


def test_an_interrupted_exploration_keeps_what_it_has():
    with subprocess.Popen(
        [sys.executable, "-c", SPACE_SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "fitting\n"
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        output, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    report = json.loads(output)
    assert report["end"] - sent < 2
    assert report["words"] == [
        f"The search was interrupted: the model holds the {report['nodes']} nodes that were explored."
    ]
    assert report["nodes"] > 100
    assert report["score"] > 0.95
