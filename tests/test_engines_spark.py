"""A Spark cluster of processes grows the tree of the table in memory, bit for bit, also when an executor is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from baytree import engines
from tests.forests import assert_same_forest, forest_of
from tests.sources import OUTCOMES, assert_same_model, divided, fitted_in_memory, model_of, table_of
from tests.spark import in_spark, reason_to_skip, spark_session

pytestmark = [
    pytest.mark.skipif(reason_to_skip() is not None, reason=str(reason_to_skip())),
    # Spark warns of versions of pandas, and of its own affairs.
    pytest.mark.filterwarnings("ignore"),
]


@pytest.fixture(scope="module")
def spark():
    with spark_session() as session:
        yield session


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_partitions_grow_the_same_tree(spark, outcome):
    frame, names = table_of(outcome, weighted=outcome == "normal")
    expected = fitted_in_memory(model_of(outcome, max_depth=3), frame, names)
    source = in_spark(spark, divided(frame, 3))  # and one that has no row
    assert_same_model(engines.fit(model_of(outcome, max_depth=3), source, **names), expected)


def test_partitions_grow_the_same_forest(spark):
    frame, names = table_of("classes")
    expected = fitted_in_memory(forest_of("classes", n_estimators=3, max_depth=3), frame, names)
    model = engines.fit(forest_of("classes", n_estimators=3, max_depth=3), in_spark(spark, divided(frame, 3)), **names)
    assert_same_forest(model, expected)


HOSTILE = {"x": "a.b", "noise": "`", "flag": 'Ä " select', "city": "item", "y": "Y'; --"}


def test_hostile_names(spark):
    frame, _ = table_of("classes")
    frame = frame.rename(columns=HOSTILE)
    expected = fitted_in_memory(model_of("classes", max_depth=3), frame.rename(columns={HOSTILE["y"]: "y"}), {})
    source = in_spark(spark, divided(frame, 2))
    model = engines.fit(model_of("classes", max_depth=3), source, target=HOSTILE["y"])
    assert_same_model(model, expected)
    predicted = engines.predict(model, source)
    assert predicted.columns[: len(frame.columns)] == [*frame.columns]
    assert predicted.count() == len(frame)


def test_what_is_known_is_not_looked_for_and_no_memory_is_kept(spark, monkeypatch):
    from baytree.sources import _spark

    frame, names = table_of("classes")
    expected = fitted_in_memory(model_of("classes", max_depth=3), frame, names)
    known = engines.describe(model_of("classes", max_depth=3), frame, **names)
    monkeypatch.setattr(_spark.SparkParts, "reduce", lambda *_args: pytest.fail("the table is read again"))
    source = in_spark(spark, divided(frame, 2)).selectExpr("uuid() AS id", "*")
    model = engines.fit(model_of("classes", max_depth=3), source, drop=["id"], **names, **known)
    assert_same_model(model, expected)
    assert spark.sparkContext._jsc.getPersistentRDDs().isEmpty()


def test_errors_on_an_executor_are_the_users_sentences(spark):
    frame, names = table_of("classes")
    with pytest.raises(ValueError, match="no rows"):
        engines.fit(model_of("classes"), in_spark(spark, [frame[:0]]), **names)
    labels = frame["y"].where(frame.index != 7)
    with pytest.raises(ValueError, match=r"^y has a missing label \(.*\) in row \d+: remove the row or name it\.$"):
        engines.fit(model_of("classes"), in_spark(spark, [frame.assign(y=labels)]), **names)
    source = in_spark(spark, [frame])
    with pytest.raises(ValueError, match="The table has no column 'z'"):
        engines.fit(model_of("classes"), source, target="z")
    with pytest.raises(ValueError, match="X has 2 columns of the name 'x'"):
        engines.fit(model_of("classes"), source.select("x", "x", "y"))
    with pytest.raises(TypeError, match=r"RDD is no source: give the data frame itself, or rdd.toDF\(\)"):
        engines.fit(model_of("classes"), source.rdd)


def test_predictions_stay_lazy(spark):
    frame, names = table_of("classes")
    frame["row"] = range(len(frame))
    frame["prediction"] = "old"
    model = fitted_in_memory(model_of("classes"), frame.drop(columns=["row", "prediction"]), names)
    source = in_spark(spark, divided(frame, 2))
    predicted = engines.predict(model, source)
    assert type(predicted) is type(source)
    done = predicted.toArrow().to_pandas().sort_values("row")
    assert list(done.columns) == [*frame.columns, *(f"probability_{label}" for label in model.classes_)]
    features = frame.drop(columns=["y", "row", "prediction"])
    assert_array_equal(np.asarray(done["prediction"]), model.predict(features))
    assert_array_equal(done[f"probability_{model.classes_[2]}"], model.predict_proba(features)[:, 2])
    numbers = fitted_in_memory(model_of("normal"), frame.assign(y=range(len(frame)))[["x", "noise", "y"]], {})
    done = engines.predict(numbers, source).select("row", "prediction").toArrow().to_pandas().sort_values("row")
    assert_array_equal(done["prediction"], numbers.predict(frame[["x", "noise"]]))
    with pytest.raises(ValueError, match="The table has no column 'x', which the model needs"):
        engines.predict(model, source.drop("x"))


def executors(spark):
    """The processes of the executors of a session."""
    import psutil

    driver = int(spark._jvm.java.lang.ProcessHandle.current().pid())
    children = psutil.Process(driver).children(recursive=True)
    running = [child for child in children if child.status() != psutil.STATUS_ZOMBIE]
    return [child for child in running if any("CoarseGrainedExecutorBackend" in word for word in child.cmdline())]


def test_an_executor_that_is_killed_changes_nothing(spark, monkeypatch):
    from baytree.sources import _spark

    frame, names = table_of("normal")
    expected = fitted_in_memory(model_of("normal", max_depth=3), frame, names)
    calls, original = [], _spark.SparkEncoded.reduce

    def reduce(self, work, merge):
        calls.append(work)
        if len(calls) == 3:
            os.kill(executors(spark)[0].pid, signal.SIGKILL)
        return original(self, work, merge)

    monkeypatch.setattr(_spark.SparkEncoded, "reduce", reduce)
    model = engines.fit(model_of("normal", max_depth=3), in_spark(spark, divided(frame, 4)), **names)
    assert len(calls) > 3
    assert_same_model(model, expected)


def test_an_ibis_table_in_spark_is_the_data_frame_of_its_query(spark):
    ibis = pytest.importorskip("ibis")
    frame, names = table_of("classes")
    expected = fitted_in_memory(model_of("classes", max_depth=2), frame, names)
    in_spark(spark, divided(frame, 2)).createOrReplaceTempView("rows")
    table = ibis.pyspark.connect(spark).table("rows")
    assert_same_model(engines.fit(model_of("classes", max_depth=2), table, **names), expected)
    assert engines.predict(expected, table).count().execute() == len(frame)


CONNECT = """
    from pyspark.sql import SparkSession

    from baytree import engines
    from tests.sources import assert_same_model, divided, fitted_in_memory, model_of, table_of
    from tests.spark import QUICK_JAVA, in_spark

    builder = SparkSession.builder.remote("local[2]")
    session = builder.config("spark.driver.extraJavaOptions", QUICK_JAVA).getOrCreate()
    try:
        frame, names = table_of("classes")
        expected = fitted_in_memory(model_of("classes", max_depth=2), frame, names)
        source = in_spark(session, divided(frame, 2))
        model = model_of("classes", max_depth=2).fit(source, "y")
        assert_same_model(model, expected)
        predicted = engines.predict(model, source).select("prediction").toArrow()["prediction"].to_pylist()
        assert sorted(predicted) == sorted(expected.predict(frame.drop(columns="y")))
    finally:
        session.stop()
    print("the same tree")
"""


def test_spark_connect():
    """In a process of its own: a session of Spark is either classic or of Spark Connect."""
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-c", textwrap.dedent(CONNECT)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.stdout.strip().endswith("the same tree"), done.stderr[-3000:]
