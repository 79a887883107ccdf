"""Our tree beside those of others on the same cluster, in one run: ``python -m benchmarks.clusters``.

MLlib in one Spark session, LightGBM and XGBoost on one Dask cluster, if they are installed; two workers each, trees of
the same depth, 255 bins. Every time is that of the second of two fits, whose rows each side reads from the same files.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from baytree import BayesianTreeClassifier, engines
from benchmarks.engines import COLUMNS, report, write_parquet

DEPTH, BINS = 8, 255


def our_tree() -> BayesianTreeClassifier:
    """What is measured; the others do not calibrate probabilities either."""
    return BayesianTreeClassifier(max_depth=DEPTH, max_bins=BINS, calibrate=False, prune=False)


def second_time(fit: Callable[[], object]) -> float:
    """Seconds of the second of two calls: the first one starts workers and compiles."""
    fit()
    start = time.perf_counter()
    fit()
    return time.perf_counter() - start


def spark(folder: str, rows: str) -> None:
    """MLlib's tree in the same session."""
    from pyspark.ml.classification import DecisionTreeClassifier  # noqa: PLC0415
    from pyspark.ml.feature import VectorAssembler  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master("local[2]").config("spark.driver.memory", "6g")
    session = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    table = session.read.parquet(folder)
    names = [name for name in table.columns if name != "y"]
    mllib = DecisionTreeClassifier(featuresCol="all", labelCol="y", maxDepth=DEPTH, maxBins=BINS, maxMemoryInMB=1024)
    vectors = VectorAssembler(inputCols=names, outputCol="all").transform(table)
    theirs = second_time(lambda: mllib.fit(vectors))
    ours = second_time(lambda: engines.fit(our_tree(), table))
    session.stop()
    show(f"{rows} rows in Spark / MLlib's DecisionTreeClassifier", ours, theirs, "at most 1.5")


def dask(folder: str, rows: str) -> None:
    """One tree of LightGBM and of XGBoost on the same workers."""
    import dask.dataframe as dd  # noqa: PLC0415
    import distributed  # noqa: PLC0415

    how: dict[str, Any] = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with distributed.LocalCluster(**how) as cluster, distributed.Client(cluster) as client:
        table = dd.read_parquet(folder)
        X, y = table.drop(columns="y"), table["y"]
        ours = second_time(lambda: engines.fit(our_tree(), table))
        if importlib.util.find_spec("lightgbm"):
            import lightgbm  # noqa: PLC0415

            one = {"n_estimators": 1, "max_depth": DEPTH, "num_leaves": 2**DEPTH, "max_bin": BINS, "verbose": -1}
            theirs = second_time(lambda: lightgbm.DaskLGBMClassifier(client=client, **one).fit(X, y))
            show(f"{rows} rows in Dask / a tree of LightGBM", ours, theirs)
        if importlib.util.find_spec("xgboost"):
            import xgboost.dask as xgb  # noqa: PLC0415

            tree = {"max_depth": DEPTH, "max_bin": BINS, "tree_method": "hist", "objective": "binary:logistic"}
            theirs = second_time(lambda: xgb.train(client, tree, xgb.DaskDMatrix(client, X, y), 1))
            show(f"{rows} rows in Dask / a tree of XGBoost", ours, theirs)


def show(what: str, ours: float, theirs: float, promise: str = "") -> None:
    """One line of the table."""
    report(what, ours / theirs, promise, f"{ours:.1f} s against {theirs:.1f} s")


def main() -> None:
    """Write the rows, and fit them everywhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'':62s} {'ratio':>8s}   promise")
    with tempfile.TemporaryDirectory(prefix="baytree-bench-") as folder:
        write_parquet(Path(folder), given.rows)
        n_rows = sum(pq.read_metadata(file).num_rows for file in Path(folder).iterdir())
        rows = f"{n_rows:,} x {COLUMNS}"
        if importlib.util.find_spec("pyspark"):
            spark(folder, rows)
        dask(folder, rows)


if __name__ == "__main__":
    main()
