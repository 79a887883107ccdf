"""A Dask cluster of processes grows the tree of the table in memory, bit for bit, also when workers come and go."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from baytree import BayesianTreeRegressor, engines
from tests.forests import assert_same_forest, forest_of
from tests.sources import OUTCOMES, assert_same_model, divided, fitted_in_memory, model_of, table_of

dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
# Dask and its event loop warn of their own affairs.
pytestmark = pytest.mark.filterwarnings("ignore")


@contextmanager
def two_workers():
    how = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**how, silence_logs=50) as local, distributed.Client(local):
        yield local


@pytest.fixture(scope="module")
def cluster():
    with two_workers() as client:
        yield client


@pytest.fixture
def changing_cluster():
    """For a test whose workers come and go, which may last longer than it."""
    with two_workers() as client:
        yield client


def partitions(frames):
    return dd.from_delayed([_kept(frame) for frame in frames], meta=frames[0][:0], verify_meta=False)


def _kept(frame):
    from dask import delayed

    return delayed(pd.DataFrame.copy)(frame)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_any_partitions_grow_the_same_tree(cluster, outcome):
    frame, names = table_of(outcome, weighted=outcome == "normal")
    expected = fitted_in_memory(model_of(outcome), frame, names)
    for n_parts in (1, 2, 7):
        assert_same_model(engines.fit(model_of(outcome), partitions(divided(frame, n_parts)), **names), expected)


def test_the_rows_choose_the_same_dispersion(cluster):
    frame, names = table_of("negative_binomial")
    model = BayesianTreeRegressor(outcome="negative_binomial", max_bins=20)
    expected = fitted_in_memory(clone(model), frame, names)
    assert_same_model(engines.fit(model, partitions(divided(frame, 3)), **names), expected)
    assert model.outcome_.size == expected.outcome_.size


def test_partitions_may_differ_in_types_and_categories(cluster):
    frame, names = table_of("classes")
    expected = fitted_in_memory(model_of("classes"), frame, names)
    parts = divided(frame, 3)
    parts[0] = parts[0].assign(city=parts[0]["city"].astype("category"))
    parts[1] = parts[1].assign(x=parts[1]["x"].astype(object))
    assert_same_model(engines.fit(model_of("classes"), partitions(parts), **names), expected)


@pytest.mark.parametrize("outcome", ["classes", "normal", "poisson"])
def test_any_partitions_grow_the_same_forest(cluster, outcome):
    frame, names = table_of(outcome, weighted=outcome == "normal")
    expected = fitted_in_memory(forest_of(outcome), frame, names)
    for n_parts in (1, 5):
        model = engines.fit(forest_of(outcome), partitions(divided(frame, n_parts)), **names)
        assert_same_forest(model, expected)


def test_without_a_cluster_threads_do():
    frame, names = table_of("classes")
    expected = fitted_in_memory(model_of("classes"), frame, names)
    import dask

    with dask.config.set(scheduler="threads"):
        assert_same_model(engines.fit(model_of("classes"), partitions(divided(frame, 3)), **names), expected)


def killing(monkeypatch, cluster, at_call, after):
    """Kill a worker, by its process id, some time after a level has begun."""
    from baytree.sources import _dask

    calls, original = [], _dask.DaskEncoded.reduce

    def kill():
        time.sleep(after)
        worker = next(iter(cluster.workers.values()))
        os.kill(worker.pid if hasattr(worker, "pid") else worker.process.pid, signal.SIGKILL)

    def reduce(self, work, merge):
        calls.append(work)
        if len(calls) == at_call:
            threading.Thread(target=kill).start()
        return original(self, _slow(work), merge)

    monkeypatch.setattr(_dask.DaskEncoded, "reduce", reduce)
    return calls


class _slow:  # noqa: N801  a function that takes its time
    def __init__(self, work):
        self.work = work

    def __call__(self, part):
        time.sleep(0.1)
        return self.work(part)


@pytest.mark.parametrize(("at_call", "after"), [(1, 0.0), (3, 0.15)])
def test_a_worker_that_is_killed_changes_nothing(changing_cluster, monkeypatch, at_call, after):
    frame, names = table_of("normal")
    expected = fitted_in_memory(model_of("normal", max_depth=3), frame, names)
    calls = killing(monkeypatch, changing_cluster, at_call, after)
    model = engines.fit(model_of("normal", max_depth=3), partitions(divided(frame, 6)), **names)
    assert len(calls) > at_call
    assert_same_model(model, expected)


def test_more_workers_than_partitions_with_rows(cluster):
    frame, names = table_of("classes")
    expected = fitted_in_memory(model_of("classes"), frame, names)
    parts = [frame[:0], frame, frame[:0]]
    assert_same_model(engines.fit(model_of("classes"), partitions(parts), **names), expected)


def test_workers_may_join_and_leave(changing_cluster):
    frame, names = table_of("classes")
    expected = fitted_in_memory(model_of("classes"), frame, names)
    source = partitions(divided(frame, 5))
    for n_workers in (3, 1, 2):
        changing_cluster.scale(n_workers)
        assert_same_model(engines.fit(model_of("classes"), source, **names), expected)


def test_workers_may_join_and_leave_in_the_middle_of_a_level(changing_cluster, monkeypatch):
    from baytree.sources import _dask

    frame, names = table_of("classes")
    expected = fitted_in_memory(model_of("classes", max_depth=3), frame, names)
    sizes, original = iter([3, 1, 2]), _dask.DaskEncoded.reduce

    def reduce(self, work, merge):
        n_workers = next(sizes, None)
        if n_workers is not None:
            threading.Timer(0.1, changing_cluster.scale, [n_workers]).start()
        return original(self, _slow(work), merge)

    monkeypatch.setattr(_dask.DaskEncoded, "reduce", reduce)
    model = engines.fit(model_of("classes", max_depth=3), partitions(divided(frame, 6)), **names)
    assert next(sizes, None) is None
    assert_same_model(model, expected)


def test_a_worker_that_restarts_and_loses_its_data(changing_cluster):
    """LightGBM's fit hangs then (its issue 5920)."""
    frame, names = table_of("normal")
    expected = fitted_in_memory(model_of("normal"), frame, names)
    source = partitions(divided(frame, 5)).persist()
    distributed.wait(source)
    client = distributed.get_client()
    client.restart_workers([next(iter(client.scheduler_info()["workers"]))])
    assert_same_model(engines.fit(model_of("normal"), source, **names), expected)


def test_data_on_one_worker_only(cluster):
    """The others end LightGBM's training (its issue 3882)."""
    frame, names = table_of("classes")
    expected = fitted_in_memory(model_of("classes"), frame, names)
    client = distributed.get_client()
    client.wait_for_workers(2, timeout=60)
    one = next(iter(client.scheduler_info()["workers"]))
    parts = client.scatter(divided(frame, 3), workers=[one])
    source = dd.from_delayed(parts, meta=frame[:0], verify_meta=False)
    assert_same_model(engines.fit(model_of("classes"), source, **names), expected)


def test_several_fits_at_once(cluster):
    """LightGBM's hang at random (its issue 4942)."""
    outcomes = ["classes", "normal", "poisson"]
    tables = {outcome: table_of(outcome) for outcome in outcomes}

    def fit(outcome):
        frame, names = tables[outcome]
        return engines.fit(model_of(outcome), partitions(divided(frame, 3)), **names)

    with ThreadPoolExecutor(3) as threads:
        for outcome, model in zip(outcomes, threads.map(fit, outcomes, timeout=300), strict=True):
            assert_same_model(model, fitted_in_memory(model_of(outcome), *tables[outcome]))


def test_an_error_on_a_worker_is_the_users_sentence(cluster):
    frame, names = table_of("classes")
    parts = divided(frame, 3)
    parts[1] = parts[1].assign(city=1.5)
    with pytest.raises(ValueError, match="Column 'city' of X is a"):
        engines.fit(model_of("classes"), partitions(parts), **names)
    with pytest.raises(ValueError, match="no rows"):
        engines.fit(model_of("classes"), partitions([frame[:0]]), **names)


def test_predictions_stay_lazy(cluster):
    frame, names = table_of("classes")
    model = fitted_in_memory(model_of("classes"), frame, names)
    predicted = engines.predict(model, dd.from_pandas(frame, npartitions=3))
    assert isinstance(predicted, dd.DataFrame)
    done = predicted.compute()
    features = frame.drop(columns="y")
    assert_array_equal(np.asarray(done["prediction"]), model.predict(features))
    assert_array_equal(done[f"probability_{model.classes_[2]}"], model.predict_proba(features)[:, 2])


def arrays(frame, names, chunks):
    import dask.array as da

    features = frame.drop(columns=["y", "city", *names.values()], errors="ignore").select_dtypes("number")
    X = da.from_array(features.to_numpy(dtype=float), chunks=(chunks, 2))
    beside = {name: da.from_array(frame[column].to_numpy(), chunks=97) for name, column in names.items()}
    return features.to_numpy(dtype=float), X, {"target": da.from_array(frame["y"].to_numpy(), chunks=61)} | beside


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_arrays_grow_the_same_tree(cluster, outcome):
    frame, names = table_of(outcome, weighted=outcome == "classes")
    features, X, beside = arrays(frame, names, 83)
    extras = {name: frame[column] for name, column in names.items() if name != "weight"}
    weight = {"sample_weight": frame["w"]} if "weight" in names else {}
    expected = model_of(outcome).fit(features, frame["y"], **weight, **extras)
    model = engines.fit(model_of(outcome), X, **beside)
    assert_same_model(model, expected)
    done = engines.predict(model, X).compute()
    assert_array_equal(np.asarray(done["prediction"]), expected.predict(features))


def test_arrays_that_do_not_fit_together_are_refused(cluster):
    frame, names = table_of("classes")
    _, X, beside = arrays(frame, names, 83)
    with pytest.raises(TypeError, match="target must be a Dask array of one axis; got str"):
        engines.fit(model_of("classes"), X, target="y")
    with pytest.raises(ValueError, match="target must have a value for each row"):
        engines.fit(model_of("classes"), X, target=beside["target"][:-1])
    with pytest.raises(ValueError, match="two axes, rows and columns; it has 1"):
        engines.fit(model_of("classes"), beside["target"], target=beside["target"])


def test_what_is_known_is_not_looked_for(cluster, monkeypatch):
    from baytree.sources import _dask

    passes, original = [], _dask._apply
    monkeypatch.setattr(_dask.DaskParts, "reduce", lambda *_args: passes.append(original))
    for outcome in OUTCOMES:
        frame, names = table_of(outcome, weighted=outcome == "normal")
        expected = fitted_in_memory(model_of(outcome), frame, names)
        known = engines.describe(model_of(outcome), frame, **names)
        assert_same_model(engines.fit(model_of(outcome), partitions(divided(frame, 3)), **names, **known), expected)
    assert not passes


def test_partly_known_columns_and_wrong_ones(cluster):
    frame, names = table_of("classes")
    expected = fitted_in_memory(model_of("classes"), frame, names)
    known = engines.describe(model_of("classes"), partitions(divided(frame, 3)), **names)
    known["bins"].pop("noise")
    source = partitions(divided(frame, 3))
    assert_same_model(engines.fit(model_of("classes"), source, **names, **known), expected)
    known["categories"]["city"] = known["categories"]["city"][1:]
    with pytest.raises(ValueError, match="Column 'city' of X has the value 'city 00', which is not among its given"):
        engines.fit(model_of("classes"), source, **names, **known)
    with pytest.raises(ValueError, match="bins names the column 'nois', which X does not have: did you mean 'noise'"):
        engines.fit(model_of("classes"), source, **names, bins={"nois": [0]})


def test_columns_of_arrays_are_known_by_position(cluster):
    frame, names = table_of("normal")
    features, X, beside = arrays(frame, names, 83)
    known = engines.describe(model_of("normal"), X, **beside)
    assert list(known["bins"]) == [0, 1]
    expected = model_of("normal").fit(features, frame["y"])
    assert_same_model(engines.fit(model_of("normal"), X, **beside, **known), expected)
    with pytest.raises(ValueError, match="bins names the column 'x', but the columns of X have no names"):
        engines.fit(model_of("normal"), X, **beside, bins={"x": [0]})


def test_many_partitions_make_few_tasks_in_a_pass(cluster, monkeypatch):
    from baytree.sources import _dask

    frame, names = table_of("normal")
    expected = fitted_in_memory(model_of("normal", max_depth=3), frame, names)
    described = engines.describe(model_of("normal", max_depth=3), frame, **names)
    sizes, original = [], _dask.DaskEncoded.reduce

    def reduce(self, work, merge):
        sizes.append(len(self.groups))
        return original(self, work, merge)

    monkeypatch.setattr(_dask.DaskEncoded, "reduce", reduce)
    source = partitions(divided(frame, 60))
    for known in ({}, described):
        assert_same_model(engines.fit(model_of("normal", max_depth=3), source, **names, **known), expected)
    assert max(sizes) <= 2 * _dask._GROUPS
