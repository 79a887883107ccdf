"""Default tree spaces of small tables against the greedy tree: ``python -m benchmarks.small_spaces``.

A small table has few sets of rows and many ways to reach them. The default fit shall take no longer than a hundred
greedy fits and half a second.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor

_SHAPES = ((10, 200), (15, 30), (27, 30), (40, 8), (60, 60), (100, 20), (100, 200))
_KINDS = ("random", "noisy", "duplicated", "tied")
_TARGETS = ("2 classes", "5 classes", "numbers")


def table(kind: str, n_rows: int, n_columns: int, random: np.random.Generator) -> np.ndarray:
    """A table of random numbers; of few distinct columns and rows; of few distinct values."""
    X = random.random((n_rows, n_columns))
    if kind == "duplicated":
        X = X[random.integers(0, max(2, n_rows // 2), n_rows)][:, random.integers(0, max(2, n_columns // 8), n_columns)]
    return np.floor(4 * X) if kind == "tied" else X


def target(kind: str, what: str, X: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Outcomes that the table tells nothing of, or something."""
    signal = 0.0 if kind == "random" else X[:, 0] - X[:, -1] / 2
    signal = 2 * signal + random.normal(size=len(X))
    if what == "numbers":
        return np.asarray(signal)
    n_classes = int(what[0])
    return np.searchsorted(np.quantile(signal, np.arange(1, n_classes) / n_classes), signal)


def seconds_of(call: Callable[[], object], repeats: int) -> float:
    """Best time of a call on one thread, less what the machine did for others."""
    best = np.inf
    for _ in range(repeats):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    """Print seconds of both and the part of what is allowed."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.small_spaces", description=__doc__)
    options.add_argument("--seed", type=int, default=0)
    random = np.random.default_rng(options.parse_args().seed)
    print(f"{'table':>24} {'target':>10} {'greedy':>9} {'space':>8} {'allowed':>8} {'nodes':>6} {'choices':>8}  of it")
    worst = 0.0
    for n_rows, n_columns in _SHAPES:
        for kind in _KINDS:
            for what in _TARGETS:
                X = table(kind, n_rows, n_columns, random)
                y = target(kind, what, X, random)
                numbers = what == "numbers"
                single = BayesianTreeRegressor() if numbers else BayesianTreeClassifier()
                model = TreeSpaceRegressor() if numbers else TreeSpaceClassifier()
                greedy = seconds_of(lambda single=single, X=X, y=y: single.fit(X, y), 5)
                seconds = seconds_of(lambda model=model, X=X, y=y: model.fit(X, y), 2)
                allowed = 100 * greedy + 0.5
                worst = max(worst, seconds / allowed)
                shape = f"{kind} {n_rows} x {n_columns}"
                counts = f"{model.space_.node_count:6} {model.space_.n_choices:8}"
                print(
                    f"{shape:>24} {what:>10} {1e3 * greedy:6.1f} ms {seconds:6.2f} s {allowed:6.2f} s {counts} "
                    f"{seconds / allowed:5.0%}",
                    flush=True,
                )
    print(f"the most: {worst:.0%} of what is allowed")


if __name__ == "__main__":
    main()
