"""Ctrl-C at every source: a real signal in the middle of a level ends the fit, and nothing of it stays behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.postgres import as_arguments

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")

# A fit that says when its first level begins; then it would take long. What it leaves behind is told at the end.
SCRIPT = """
import json, signal, sys, tempfile, time
from pathlib import Path
import numpy as np, pandas as pd
from baytree import BayesianTreeClassifier, engines
from baytree.sources import _part_source, _sql

source_of, given = sys.argv[1], json.loads(sys.argv[2])


def frame(n_rows, n_features=12):
    random = np.random.default_rng(0)
    X = random.random((n_rows, n_features))
    y = sum(np.sin(60 * X[:, k]) for k in range(3)) > random.normal(size=n_rows)
    return pd.DataFrame(X, columns=[f"x{k}" for k in range(n_features)]).assign(y=y.astype(int))


def telling(original):
    def totals(self, *given):
        found = original(self, *given)
        print("level", flush=True)
        return found

    return totals


def main():
    left = lambda: []
    if source_of == "memory":
        rows = frame(2_000_000)
        model = BayesianTreeClassifier(prior=0.01, prune=False, max_bins=255)
        print("level", flush=True)
        return left, model, lambda: model.fit(rows.drop(columns="y"), rows["y"])
    if source_of == "frame":
        source = frame(1_000_000)
    elif source_of in ("parquet", "uncached"):
        source = str(Path(given["folder"]) / "rows.parquet")
        frame(1_000_000 if source_of == "uncached" else 5_000_000).to_parquet(source, row_group_size=100_000)
    elif source_of == "function":
        rows = frame(5_000_000)  # grown as in memory
        source = lambda: (rows[i : i + 100_000] for i in range(0, len(rows), 100_000))
    elif source_of == "dask":
        import dask.dataframe as dd
        from distributed import Client

        client = Client(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50)
        source = dd.from_pandas(frame(1_000_000), npartitions=6).persist()

        def left():
            for _ in range(600):  # what was running may end
                running = [key for keys in client.processing().values() for key in keys]
                if not running:
                    break
                time.sleep(0.1)
            client.cancel(source)
            client.shutdown()
            return running
    else:
        import ibis

        how = given["postgres"]
        connect = lambda: ibis.duckdb.connect() if source_of == "duckdb" else ibis.postgres.connect(**how)
        connection = connect()
        columns = ", ".join(f"random() as x{k}" for k in range(12))
        series = "range(500000)" if source_of == "duckdb" else "generate_series(1, 100000)"
        values = f"select *, (random() < 0.5 + sin(60 * x1) / 2)::int as y from (select {columns} from {series}) as s"
        connection.con.execute(f"create table sample as {values}")
        if source_of == "postgres":
            connection.con.commit()
        source = connection.table("sample")

        def left():
            found = [name for name in connection.list_tables() if name.startswith("baytree")]
            if source_of == "postgres":
                running = "select query from pg_stat_activity where state = 'active' and query like '%baytree_%'"
                other = connect()
                with other.con.cursor() as cursor:
                    cursor.execute(running + " and pid <> pg_backend_pid()")
                    found += [query for query, in cursor.fetchall()]
                other.disconnect()
            assert connection.table("sample").count().execute() > 0  # the connection is of use
            connection.disconnect()
            return found

    for kind in (_part_source.PartSource, _sql.SqlSource):
        kind.totals = telling(kind.totals)
    model = BayesianTreeClassifier(prior=0.001, prune=False)
    bins = {f"x{k}": np.arange(1, 255) / 255 for k in range(12)}
    return left, model, lambda: engines.fit(model, source, bins=bins, cache=source_of != "uncached")


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever the test runner made of it
    left, model, fit = main()
    try:
        fit()
        caught = None
    except KeyboardInterrupt:
        caught = time.monotonic()
    files = [path.name for path in Path(tempfile.gettempdir()).glob("baytree-*")]
    print(json.dumps({"caught": caught, "left": left() + files, "fitted": hasattr(model, "fitted_")}))
"""


def interrupted(name, folder, **given):
    """Run a fit until it is interrupted; returns what it says, once all of its processes are gone."""
    (folder / "script.py").write_text(SCRIPT, "utf-8")
    (folder / "tmp").mkdir()
    command = [sys.executable, "-W", "ignore", str(folder / "script.py"), name]
    options = {"text": True, "start_new_session": True, "env": os.environ | {"TMPDIR": str(folder / "tmp")}}
    command.append(json.dumps({"folder": str(folder)} | given))
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        try:
            assert process.stdout.readline() == "level\n", process.stderr.read()
            time.sleep(0.3)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=240)  # one that hangs is a failure
            assert process.returncode == 0, errors
            assert not is_alive(process.pid)
            return json.loads(output) | {"errors": errors}
        finally:
            if is_alive(process.pid):
                os.killpg(process.pid, signal.SIGKILL)


def is_alive(group):
    """Whether a process of a group lives on; those that end have some seconds."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return False
        time.sleep(0.1)
    return True


SOURCES = ["memory", "frame", "parquet", "uncached", "function", "dask", "duckdb", "postgres"]


@pytest.mark.parametrize("name", SOURCES)
def test_an_interrupt_ends_the_fit_and_leaves_nothing_behind(name, tmp_path, request):
    given = {"postgres": as_arguments(request.getfixturevalue("postgres")) if name == "postgres" else None}
    report = interrupted(name, tmp_path, **given)
    assert report["caught"] is not None, f"the fit was over before the signal: {report['errors']}"
    assert report["left"] == []
    assert not report["fitted"]
