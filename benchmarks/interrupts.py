"""How long after Ctrl-C does a call end, in seconds? ``python -m benchmarks.interrupts``."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections.abc import Callable

import numpy as np

from baytree import BayesianTreeClassifier, TreeSpaceClassifier, partition_space

RANDOM = np.random.default_rng(0)


def table(n_rows: int, n_features: int):
    """Two classes that two features and a product decide, with noise."""
    X = RANDOM.normal(size=(n_rows, n_features))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + RANDOM.normal(size=n_rows) > 0).astype(int)


def report(name: str, call: Callable[[], object], after: float) -> None:
    """Interrupt a call after some seconds and print how long it took to answer."""
    sent: list[float] = []

    def send() -> None:
        time.sleep(after)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send, daemon=True).start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
        how = "kept what it had" if sent else "was over before"
    except KeyboardInterrupt:
        how = "raised KeyboardInterrupt"
    answered = time.perf_counter()
    print(f"{name:52s} {answered - sent[0] if sent else float('nan'):6.2f}   {how}", flush=True)


def main() -> None:
    """All long loops."""
    X, y = table(1_000_000, 28)
    for n_jobs in (1, 2):
        model = BayesianTreeClassifier(partitions="oblique", n_jobs=n_jobs)
        for after in (1.0, 3.0, 5.0):
            report(
                f"hyperplanes, 1,000,000 x 28, n_jobs={n_jobs}, after {after:g} s", lambda m=model: m.fit(X, y), after
            )
    report("greedy tree, 1,000,000 x 28", lambda: BayesianTreeClassifier().fit(X, y), 1.0)
    report("tree space, 1,000,000 x 28", lambda: TreeSpaceClassifier().fit(X, y), 6.0)
    for after in (1.5, 4.0):
        report(f"partition_space, 1,000,000 x 10, after {after:g} s", lambda: partition_space(X[:, :10], y), after)
    X, y = table(500, 10)
    report("lookahead=6, 500 x 10", lambda: BayesianTreeClassifier(lookahead=6).fit(X, y), 2.0)
    X, y = table(300_000, 10)
    report("lookahead=5, 300,000 x 10", lambda: BayesianTreeClassifier(lookahead=5).fit(X, y), 3.0)
    X, y = table(2_000, 10)
    for partitions in ("axis", "oblique"):
        model = TreeSpaceClassifier(max_nodes=None, partitions=partitions)
        report(f"tree space without limit, 2,000 x 10, {partitions}", lambda m=model: m.fit(X, y), 3.0)


if __name__ == "__main__":
    main()
