"""Forests against scikit-learn's random forest, 100 trees each: ``python -m benchmarks.forest_speed``.

Fit and prediction with the same number of threads, peak memory of a fit in a process of its own, bytes of the file.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier

from baytree import BayesianForestClassifier

from .measure import PEAK, milliseconds, seconds_of

SIZES = ((1_000, 10, 3), (10_000, 20, 2), (100_000, 20, 1))  # rows, columns, repeats
_MEMORY = (
    PEAK
    + """
import sys
from benchmarks.forest_speed import forests_of, table_of

n, d, which = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
forests_of(1)[which].fit(*table_of(300, d))  # load everything first
X, y = table_of(n, d)
forget_peak()
before = peak()
model = forests_of(-1)[which].fit(X, y)
print(peak() - before)
"""
)


def table_of(n: int, d: int) -> tuple[Any, Any]:
    """Two classes that half of the columns tell apart."""
    X, y = make_classification(n, d, n_informative=d // 2, random_state=0)
    return X, y


def forests_of(n_jobs: int) -> dict[str, Any]:
    """What is compared."""
    return {
        "oblique": BayesianForestClassifier(random_state=0, n_jobs=n_jobs),
        "axis": BayesianForestClassifier(partitions="axis", random_state=0, n_jobs=n_jobs),
        "random forest": RandomForestClassifier(100, random_state=0, n_jobs=n_jobs),
    }


def report(what: str, ratio: float, promise: str, detail: str) -> None:
    """Print one line."""
    print(f"{what:58s}{ratio:8.2f}  {promise:14s}{detail}", flush=True)


def bytes_of(model: Any) -> int:
    """Size of the file, of a model of another library that of its pickle."""
    if not isinstance(model, BayesianForestClassifier):
        return len(pickle.dumps(model))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.baytree"
        model.save(path)
        return path.stat().st_size


def memory_of(n: int, d: int, which: str) -> float:
    """Peak bytes that a fit adds."""
    command = [sys.executable, "-c", _MEMORY, str(n), str(d), which]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, env=os.environ).stdout)


def main() -> None:
    """Print the ratios beside their promises; sizes as arguments, such as 10000x20, measure these alone."""
    asked = sys.argv[1:]
    for n, d, repeats in SIZES:
        if asked and f"{n}x{d}" not in asked:
            continue
        X, y = table_of(n, d)
        forests = forests_of(-1)
        oblique, axis, other = seconds_of(*(partial(forest.fit, X, y) for forest in forests.values()), repeats=repeats)
        detail = f"{milliseconds(oblique)}, {milliseconds(axis)} against {milliseconds(other)}"
        report(f"fit {n:,} x {d}, oblique / random forest", oblique / other, "at most 2", detail)
        report(f"fit {n:,} x {d}, axis / random forest", axis / other, "at most 1", detail)
        predictions = [partial(forest.predict_proba, X) for forest in forests.values()]
        oblique, axis, other = seconds_of(*predictions, repeats=10)
        detail = f"{milliseconds(oblique)}, {milliseconds(axis)} against {milliseconds(other)}"
        report("  predicted rows a second, oblique / random forest", other / oblique, "at least 2", detail)
        report("  predicted rows a second, axis / random forest", other / axis, "at least 2", detail)
        sizes = [bytes_of(forest) for forest in forests.values()]
        report(
            "  file, oblique / pickled random forest", sizes[0] / sizes[2], "at most 0.5", f"{sizes[0] / 1e6:.1f} MB"
        )
        memory = {which: memory_of(n, d, which) for which in forests}
        detail = f"{memory['oblique'] / 1e6:.0f} MB against {memory['random forest'] / 1e6:.0f} MB"
        report(
            "  memory of fit, oblique / random forest", memory["oblique"] / memory["random forest"], "at most 1", detail
        )


if __name__ == "__main__":
    main()
