"""Print what settings, threads and more rows do to the time of an exact fit: ``python -m benchmarks.exact``."""

from __future__ import annotations

import os

from baytree import BayesianTreeClassifier, PartitionPrior
from benchmarks.data import classification
from benchmarks.engines import best_cpu
from benchmarks.measure import milliseconds, seconds_of

_THREADS = (2, 4, 8, 16)


def report(what: str, value: float, promise: str, detail: str = "") -> None:
    """Print one line of the table."""
    print(f"{what:58s} {value:8.2f}   {promise:14s} {detail}", flush=True)


def limits_and_distances() -> None:
    """Limits on leaves and thresholds weighed by distance against the default fit, in processor time."""
    X, y = classification(100_000)
    settings = {
        "min_samples_leaf=2": ({"min_samples_leaf": 2}, "at most 1.2"),
        "min_samples_leaf=50": ({"min_samples_leaf": 50}, "at most 1.2"),
        'location="distance"': ({"partition_prior": PartitionPrior(location="distance")}, "at most 2"),
    }
    calls = [lambda how=how: BayesianTreeClassifier(**how).fit(X, y) for how, _ in settings.values()]
    plain, *times = best_cpu(lambda: BayesianTreeClassifier().fit(X, y), *calls, repeats=9)
    for (name, (_, promise)), time in zip(settings.items(), times, strict=True):
        report(f"fit 100,000 x 20 with {name} / fit", time / plain, promise, milliseconds(time))


def threads(n_rows: int, n_columns: int, repeats: int, promises: dict[int, str]) -> None:
    """One thread against several, up to the number of cores."""
    X, y = classification(n_rows, n_columns)
    numbers = [n for n in _THREADS if n <= (os.cpu_count() or 1)]
    calls = [lambda n=n: BayesianTreeClassifier(n_jobs=n).fit(X, y) for n in (1, *numbers)]
    one, *times = seconds_of(*calls, repeats=repeats)
    for n, time in zip(numbers, times, strict=True):
        name = f"one thread / {n} threads, {n_rows:,} x {n_columns}"
        report(name, one / time, promises.get(n, ""), f"{milliseconds(one)} against {milliseconds(time)}")


def all_threads() -> None:
    """Threads on two tables."""
    threads(100_000, 20, 15, {2: "at least 1.7"})
    threads(1_000_000, 28, 5, {2: "at least 1.7", 16: "at least 8"})


def many_rows() -> None:
    """Four million rows against the first million of them, in processor time; 2.2 times for twice the rows is 4.84."""
    X, y = classification(4_000_000, 28)
    few, many = best_cpu(
        lambda: BayesianTreeClassifier().fit(X[:1_000_000], y[:1_000_000]),
        lambda: BayesianTreeClassifier().fit(X, y),
        repeats=1,
    )
    detail = f"{milliseconds(many)} against {milliseconds(few)}"
    report("fit 4,000,000 x 28 / fit 1,000,000 x 28", many / few, "at most 4.84", detail)


if __name__ == "__main__":
    limits_and_distances()
    all_threads()
    many_rows()
