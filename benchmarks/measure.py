"""Times, memory and calibration."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def seconds_of(*calls: Callable[[], object], repeats: int) -> list[float]:
    """Best time of each call: what else runs on the machine only ever adds. The calls take turns."""
    best = [np.inf] * len(calls)
    for _ in range(repeats):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


def milliseconds(seconds: float) -> str:
    """A time, for reading."""
    return f"{1e3 * seconds:.0f} ms" if seconds >= 0.01 else f"{1e3 * seconds:.2f} ms"


def calibration_error(y: Any, probability: Any, classes: Any) -> float:
    """How far the probability of the predicted class is from how often it is right, over 15 bins."""
    best = np.argmax(probability, axis=1)
    predicted, right = probability[np.arange(len(y)), best], classes[best] == y
    error = np.bincount(np.minimum((15 * predicted).astype(int), 14), weights=predicted - right, minlength=15)
    return float(np.abs(error).sum() / len(y))


# What getrusage says includes the peak of the process that started this one; the kernel's own mark does not, and can be
# set back to what is in use.
PEAK = """
def peak():
    import re
    from pathlib import Path
    return int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) * 1024

def forget_peak():
    from pathlib import Path
    Path("/proc/self/clear_refs").write_text("5")
"""
_MEMORY_PROGRAM = (
    PEAK
    + """
import sys
import numpy as np
from baytree import BayesianTreeClassifier

n, d, n_jobs, max_bins = map(int, sys.argv[1:])
how = {"n_jobs": n_jobs, "max_bins": max_bins or None}
random = np.random.default_rng(0)
BayesianTreeClassifier(**how).fit(random.normal(size=(100, d)), np.arange(100) % 2)  # load everything first
X = np.empty((n, d))
for column in range(d):
    X[:, column] = random.normal(size=n)
y = (X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=n) > 0).astype(int)
forget_peak()
before = peak()
BayesianTreeClassifier(**how).fit(X, y)
print((peak() - before) / X.nbytes)
"""
)


def extra_memory_of_fit(n_rows: int, n_features: int, n_jobs: int, max_bins: int = 0) -> float:
    """Peak memory that a fit adds, in a process of its own, over the size of the float64 input."""
    command = [sys.executable, "-c", _MEMORY_PROGRAM, str(n_rows), str(n_features), str(n_jobs), str(max_bins)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


_SPACE_PROGRAM = (
    PEAK
    + """
from sklearn.datasets import load_breast_cancer
from baytree import TreeSpaceClassifier

X, y = load_breast_cancer(return_X_y=True)
TreeSpaceClassifier(max_nodes=100).fit(X, y)  # load everything first
before = peak()
model = TreeSpaceClassifier(max_nodes=20_000).fit(X, y)
print((peak() - before) / model.space_.node_count)
"""
)


def memory_of_a_space_node() -> float:
    """Peak memory in bytes that exploring a tree space adds, over its nodes, in a process of its own."""
    command = [sys.executable, "-c", _SPACE_PROGRAM]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
