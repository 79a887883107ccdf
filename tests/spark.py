"""A local Spark cluster of two executors, each a process of its own, for as long as the tests of a file need it."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from functools import reduce

import pyarrow as pa

CLUSTER = "local-cluster[2,1,1024]"  # executors, cores of each, megabytes of each
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # which starts sooner and ends slower


def reason_to_skip():
    """What is missing; None where Spark can run, or must."""
    if os.environ.get("BAYTREE_NEEDS_SPARK"):
        return None
    if sys.platform == "win32":
        return "Spark needs Hadoop's programs on Windows"
    if shutil.which("java") is None:
        return "needs Java 17: apt install openjdk-17-jre-headless"
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "needs pyspark: pip install 'baytree[spark]'"
    return None


@contextmanager
def spark_session():
    """Start a session on this machine alone, which logs errors of its own in a temporary folder."""
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory(prefix="baytree-spark-", ignore_cleanup_errors=True) as folder:
        os.environ.update(
            PYSPARK_PYTHON=sys.executable,
            SPARK_LOCAL_IP="127.0.0.1",
            SPARK_LOCAL_DIRS=folder,
            SPARK_WORKER_DIR=folder,
            SPARK_LOG_DIR=folder,
        )
        session = (
            SparkSession.builder.master(CLUSTER)
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.driver.extraJavaOptions", QUICK_JAVA)
            .config("spark.executor.extraJavaOptions", QUICK_JAVA)
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.warehouse.dir", folder)
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        try:
            yield session
        finally:
            session.stop()


def in_spark(session, frames):
    """A Spark data frame with a partition for each of some frames."""
    whole = pa.Table.from_pandas(frames[0], preserve_index=False)
    parts = []
    for frame in frames:
        table = pa.Table.from_pandas(frame, whole.schema, preserve_index=False)
        # Of no rows, Spark Connect makes no frame.
        parts.append(session.createDataFrame(table if len(frame) else whole).limit(len(frame)).coalesce(1))
    return reduce(lambda one, other: one.union(other), parts)
