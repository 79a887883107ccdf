"""Print every ratio we promise of quantile bins and of rows that live elsewhere: ``python -m benchmarks.engines``.

``--quick`` leaves out the tables of ten million rows; ``--data FOLDER`` adds what bins cost in accuracy on large sets.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from baytree import BayesianTreeClassifier, _core
from benchmarks.data import classification
from benchmarks.measure import PEAK, extra_memory_of_fit, milliseconds, seconds_of
from benchmarks.paper_sets import load

ROWS, COLUMNS, MANY = 1_000_000, 28, 10_000_000
PART = 500_000  # rows of a Parquet file
REPETITIONS = 12  # of five folds


def report(what: str, value: float, promise: str, detail: str = "") -> None:
    """Print one line of the table."""
    print(f"{what:62s} {value:8.2f}   {promise:14s} {detail}", flush=True)


def best_cpu(*calls: Callable[[], object], repeats: int = 3) -> list[float]:
    """Best processor time of each call; they take turns. Other programs disturb it less than the time of the clock."""
    best = [np.inf] * len(calls)
    for _ in range(repeats):
        for i, call in enumerate(calls):
            start = time.process_time()
            call()
            best[i] = min(best[i], time.process_time() - start)
    return best


def fit(X: np.ndarray, y: np.ndarray, n_jobs: int = 1) -> BayesianTreeClassifier:
    """What is measured."""
    return BayesianTreeClassifier(max_bins=255, n_jobs=n_jobs).fit(X, y)


def in_memory() -> None:
    """One million rows against LightGBM and scikit-learn, and threads."""
    X, y = classification(ROWS, COLUMNS)
    calls = [lambda: fit(X, y)]
    try:
        import lightgbm  # noqa: PLC0415

        how = {"num_threads": 1, "verbose": -1, "max_bin": 255, "objective": "binary", "num_leaves": 255}
        calls.append(lambda: lightgbm.train(how, lightgbm.Dataset(X, y, params=how), 1))
    except ImportError:
        print("LightGBM is not installed: its ratio is left out.")
    times = best_cpu(*calls)
    if len(times) > 1:
        detail = f"{milliseconds(times[0])} against {milliseconds(times[1])}"
        report(
            "fit 1,000,000 x 28, 255 bins / a LightGBM tree of 255 leaves", times[0] / times[1], "at most 0.25", detail
        )
    (theirs,) = best_cpu(lambda: DecisionTreeClassifier(max_depth=8, random_state=0).fit(X, y), repeats=1)
    report("fit / DecisionTreeClassifier(max_depth=8).fit", times[0] / theirs, "at most 0.05", milliseconds(theirs))
    promises = {1: "", 2: "at least 1.7", 4: "", 8: "", 16: "at least 8"}
    threads = [n_jobs for n_jobs in promises if n_jobs <= (os.cpu_count() or 1)]
    one, *more = seconds_of(*(partial(fit, X, y, n_jobs) for n_jobs in threads), repeats=6)
    for n_jobs, took in zip(threads[1:], more, strict=True):
        detail = f"{milliseconds(one)} against {milliseconds(took)}"
        report(f"one thread / {n_jobs} threads", one / took, promises[n_jobs], detail)


def memory() -> None:
    """Peak memory beside the input."""
    share = extra_memory_of_fit(ROWS, COLUMNS, 1, 255)
    report("extra memory of fit 1,000,000 x 28, 255 bins / input", share, "at most 0.25")


def slope(largest: int) -> None:
    """Exponent of the time over the number of rows."""
    X, y = normal_rows(largest)
    sizes = [n for n in (100_000, 1_000_000, 10_000_000) if n <= largest]
    times = [best_cpu(lambda n=n: fit(X[:n], y[:n]), repeats=3 if n < MANY else 1)[0] for n in sizes]
    exponent = np.log(times[-1] / times[0]) / np.log(sizes[-1] / sizes[0])
    detail = ", ".join(f"{n:,} rows {milliseconds(t)}" for n, t in zip(sizes, times, strict=True))
    report(f"slope of the time from 100,000 to {sizes[-1]:,} rows", exponent, "about 1", detail)


def normal_rows(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows whose classes follow a few columns; the same tree is grown from any number of them, but for its size."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, COLUMNS))
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + random.normal(size=n)
    return X, (score > 0).astype(np.int64)


def write_parquet(folder: Path, n: int) -> None:
    """Rows of that kind in files."""
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415

    for number, start in enumerate(range(0, n, PART)):
        X, y = normal_rows(min(PART, n - start), seed=number)
        columns = {f"x{k}": X[:, k] for k in range(COLUMNS)} | {"y": y}
        pq.write_table(pa.table(columns), folder / f"{number:03}.parquet", row_group_size=PART // 2)


def elsewhere(n: int) -> None:
    """Equal rows in memory, in files, in Dask and in a database, each in a process of its own."""
    with tempfile.TemporaryDirectory(prefix="baytree-bench-") as name:
        write_parquet(Path(name), n)
        seconds = {}
        for where in ("memory", "parquet", "dask", "duckdb"):
            took, peak, leaves = _output(_ELSEWHERE, name, where).split()[-3:]
            seconds[where] = float(took)
            detail = f"{float(took):.1f} s, {leaves} leaves"
            if where == "parquet":
                report(f"{n:,} x 28 from Parquet, GB at most", float(peak) / 1e9, "at most 2", detail)
            if where == "dask":
                report(f"{n:,} x 28 on two Dask workers, GB in all", float(peak) / 1e9, "at most 8", detail)
            if where in ("memory", "duckdb"):
                report(f"{n:,} x 28 from {where}, GB at most", float(peak) / 1e9, "", detail)
        for where, promise in (("parquet", "at most 3"), ("duckdb", "at most 5"), ("dask", "")):
            detail = f"{seconds[where]:.1f} s against {seconds['memory']:.1f} s"
            report(f"{n:,} x 28 from {where} / from memory", seconds[where] / seconds["memory"], promise, detail)


def accuracy(folder: Path) -> None:
    """Points of accuracy that bins cost on the paper's large sets: five folds, again and again, for folds differ."""
    for name in ("credit", "gamma", "eeg", "seismic"):
        data = load(name, folder)
        X, y = data.X, data.y
        lost = []
        for seed in range(REPETITIONS):
            folds = StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)
            lost.append(np.mean([_points_lost(X, y, train, test) for train, test in folds]))
        spread = np.std(lost, ddof=1)
        detail = f"{len(y):,} rows; ± {spread / np.sqrt(REPETITIONS):.2f}, one repetition ± {spread:.2f}"
        report(f"points of accuracy that 255 bins lose, {name}", float(np.mean(lost)), "at most 0.1", detail)


def _points_lost(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> float:
    exact, binned = (
        BayesianTreeClassifier(max_bins=bins).fit(X[train], y[train]).score(X[test], y[test]) for bins in (None, 255)
    )
    return 100 * float(exact - binned)


def constants() -> None:
    """What docs/large_data.md reckons with: nanoseconds for a value, bytes for a code of an open node."""
    n, d = 1_000_000, 10
    X, y = normal_rows(n)
    X = np.ascontiguousarray(X[:, :d])
    highs = [np.sort(column)[np.arange(1, 256) * n // 255 - 1] for column in X.T]
    none = [False] * d
    codes = np.asarray(_core.encode_part(X, highs, none, none, False, 1))
    first = np.arange(d + 1, dtype=np.int64) * 255
    leaf, nowhere = np.full(1, -1, dtype=np.int32), np.zeros(1, dtype=np.int64)
    root = _core.Routes(leaf, leaf, leaf, nowhere, np.zeros(0, dtype=np.uint8), np.zeros(1, dtype=np.int32), 1)
    ends = [column[np.arange(1, 4096) * n // 4096] for column in np.sort(X, axis=0).T]
    look, code, add = best_cpu(
        lambda: _core.interval_counts(X, list(range(d)), ends, 255, 1),
        lambda: _core.encode_part(X, highs, none, none, False, 1),
        lambda: _core.tally_classes(codes, first, root, y, None, 2, 1),
    )
    report("nanoseconds to count a value on the way to its bin", 1e9 * look / (n * d), "")
    report("nanoseconds to find the bin of a value", 1e9 * code / (n * d), "")
    report("nanoseconds to add a value to its sums", 1e9 * add / (n * d), "")
    report("nanoseconds of DuckDB to add a value to its sums", 1e9 * _in_duckdb(codes.reshape(n, d), y) / (n * d), "")
    weights, _ = _core.tally_classes(codes, first, root, y, None, 2, 1)
    report("bytes of the sums of a code, two classes", np.asarray(weights).nbytes / (d * 255), "")


def _in_duckdb(codes: np.ndarray, y: np.ndarray) -> float:
    """Processor time of the queries for the sums of 64 nodes, as a fit asks them."""
    import ibis  # noqa: PLC0415
    import pyarrow as pa  # noqa: PLC0415

    from baytree.sources._sql_backend import ConnectionSettings  # noqa: PLC0415
    from baytree.sources._sql_execution import fetch_arrays  # noqa: PLC0415
    from baytree.sources._sql_histograms import ClassAggregation, Layout  # noqa: PLC0415
    from baytree.sources._sql_packing import Packing  # noqa: PLC0415

    backend = ibis.duckdb.connect(threads=1)
    n, d = codes.shape
    packing = Packing.of([255] * d, backend)
    packed = {name: np.zeros(n, dtype=np.int64) for name in packing.names}
    for column in range(d):
        packed[packing.names[packing.word[column]]] |= codes[:, column].astype(np.int64) << packing.shift[column]
    part = (np.arange(n) % 64 * 2 + y).astype(np.int32)  # by node and class
    rows = backend.create_table("coded", pa.table(packed | {"part": part}))
    layout = Layout(packing, np.arange(d + 1) * 255, np.arange(d * 255))
    ConnectionSettings(backend).tune_for(rows)
    queries = layout.queries(rows, ClassAggregation(layout, 2, weighted=False, n_rows=n))
    (took,) = best_cpu(lambda: [fetch_arrays(query) for query in queries])
    return took


def _output(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


_ELSEWHERE = (
    PEAK
    + """
import sys
import time
from pathlib import Path
import numpy as np
from baytree import BayesianTreeClassifier, engines

def main():
    folder, where = sys.argv[1:]
    model, gigabytes = BayesianTreeClassifier(max_bins=255), None
    if where == "memory":
        import pyarrow.dataset as ds
        table = ds.dataset(folder).to_table()
        X = np.column_stack([table[name].to_numpy() for name in table.column_names if name != "y"])
        y = table["y"].to_numpy()
        del table
        start = time.perf_counter()
        model.fit(X, y)
    elif where == "parquet":
        start = time.perf_counter()
        engines.fit(model, folder)
    elif where == "duckdb":
        import ibis
        table = ibis.duckdb.connect().read_parquet(folder + "/*.parquet")
        start = time.perf_counter()
        engines.fit(model, table)
    else:
        import dask.dataframe as dd
        import distributed
        how = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "3.5GB", "dashboard_address": None}
        with distributed.LocalCluster(**how, silence_logs=50) as cluster, distributed.Client(cluster) as client:
            start = time.perf_counter()
            engines.fit(model, dd.read_parquet(folder))
            took = time.perf_counter() - start
            both = sum(client.run(peak).values()) + peak()
        print(took, both, model.get_n_leaves())
        return
    print(time.perf_counter() - start, peak(), model.get_n_leaves())

if __name__ == "__main__":
    main()
"""
)


def main() -> None:
    """All of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one million rows at most")
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    given = parser.parse_args()
    start, largest = time.perf_counter(), ROWS if given.quick else MANY
    print(f"{'':62s} {'ratio':>8s}   promise")
    in_memory()
    memory()
    constants()
    slope(largest)
    elsewhere(largest)
    if given.data is not None:
        accuracy(given.data)
    report("minutes in all", (time.perf_counter() - start) / 60, "below 15")


if __name__ == "__main__":
    main()
