"""How long after Ctrl-C does a call end, in seconds? ``python -m benchmarks.interrupts``; ``--sources``: at sources."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable

import dask.dataframe as dd
import ibis
import numpy as np
import pandas as pd
from distributed import Client

from baytree import BayesianTreeClassifier, TreeSpaceClassifier, engines, partition_space
from tests.postgres import find_binaries, postgres_server

RANDOM = np.random.default_rng(0)


def table(n_rows: int, n_features: int):
    """Two classes that two features and a product decide, with noise."""
    X = RANDOM.normal(size=(n_rows, n_features))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + RANDOM.normal(size=n_rows) > 0).astype(int)


def report(name: str, call: Callable[[], object], after: float) -> None:
    """Interrupt a call after some seconds and print how long it took to answer."""
    sent: list[float] = []
    over = threading.Event()

    def send() -> None:
        if not over.wait(after):
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send, daemon=True).start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call()
        over.set()
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


def frame_of(n_rows: int, n_features: int):
    """Those rows as a frame."""
    X, y = table(n_rows, n_features)
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(n_features)]).assign(y=y)


def report_source(name: str, source: object, moments: tuple[float, ...], **how: bool) -> None:
    """Interrupt fits to a source at several moments."""
    for after in moments:
        model = BayesianTreeClassifier(prior=0.01, prune=False)
        report(f"{name}, after {after:g} s", lambda m=model: engines.fit(m, source, **how), after)


def sources(n_rows: int = 1_000_000, n_features: int = 20) -> None:
    """All sources."""
    frame = frame_of(n_rows, n_features)
    X, y = frame.drop(columns="y"), frame["y"]
    moments = (0.2, 0.5, 1.0, 2.0)
    for after in moments:
        model = BayesianTreeClassifier(prior=0.01, prune=False, max_bins=255)
        report(f"memory, max_bins=255, after {after:g} s", lambda m=model: m.fit(X, y), after)
    report_source("a frame", frame, moments)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.parquet"
        frame.to_parquet(path, row_group_size=2**18)
        report_source("Parquet", path, moments)
        report_source("Parquet, cache=False", path, moments, cache=False)
        report_source("a function", lambda: (frame[i : i + 2**18] for i in range(0, n_rows, 2**18)), moments)
        of_dask(path, moments)
        of_duckdb(path, moments)
    of_postgres(frame[: n_rows // 5], (1.0, 5.0, 15.0))


def of_dask(path: str, moments: tuple[float, ...]) -> None:
    """Two workers, each a process."""
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50):
        report_source("Dask, two workers", dd.read_parquet(path, split_row_groups=True), moments)


def of_duckdb(path: str, moments: tuple[float, ...]) -> None:
    """In memory."""
    connection = ibis.duckdb.connect()
    report_source("DuckDB", connection.create_table("rows", connection.read_parquet(path)), moments)


def of_postgres(frame: object, moments: tuple[float, ...]) -> None:
    """A server of our own, where PostgreSQL is installed."""
    if find_binaries() is None:
        print("PostgreSQL is not installed")
        return
    with postgres_server() as how:
        given = dict(part.split("=") for part in how.split())
        connection = ibis.postgres.connect(
            host=given["host"], port=int(given["port"]), user=given["user"], database=given["dbname"]
        )
        report_source("PostgreSQL", connection.create_table("rows", frame), moments)
        connection.disconnect()


if __name__ == "__main__":
    (sources if "--sources" in sys.argv else main)()
