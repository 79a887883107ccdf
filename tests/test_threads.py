"""Threads, processes and parallel work grow the same tree, bit for bit."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
from joblib import Parallel, delayed

from baytree import BayesianTreeClassifier, PartitionPrior
from baytree._threads import map_on_threads
from tests.comparison import assert_same_store

N_ROWS = 50_000

SETTINGS = {
    "plain": {"prior": 0.1},
    "smoothing": {"prior": 0.1, "smoothing": 0.05},
    "distance": {"prior": 0.1, "partition_prior": PartitionPrior(location="distance")},
    "limits": {"prior": 0.1, "min_samples_leaf": 5, "max_leaf_nodes": 100},
}


@cache
def table(n_classes=2, seed=0):
    """Columns with and without ties, and noisy classes that depend on most of them."""
    random = np.random.default_rng(seed)
    X = np.column_stack(
        [
            random.normal(size=(N_ROWS, 3)),
            random.integers(0, 2, N_ROWS),
            random.integers(0, 50, N_ROWS),
            random.exponential(size=N_ROWS).round(2),
            random.normal(size=N_ROWS).round(1),
            np.zeros(N_ROWS),
        ]
    )
    waves = np.sin(6 * X[:, 0]) + np.sin(4 * X[:, 1]) + np.sin(X[:, 4]) + X[:, 3] + np.sin(7 * X[:, 5]) + X[:, 6]
    score = waves + random.normal(size=N_ROWS) / 2
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    return X, y


def weights(kind):
    random = np.random.default_rng(1)
    return {"none": None, "whole": random.integers(0, 4, N_ROWS), "real": random.uniform(0.1, 3, N_ROWS)}[kind]


def fit(settings, n_jobs, kind="none", n_classes=2, seed=0):
    X, y = table(n_classes, seed)
    return BayesianTreeClassifier(**SETTINGS[settings], n_jobs=n_jobs).fit(X, y, sample_weight=weights(kind))


alone = cache(fit)


def assert_identical(model, expected):
    assert expected.get_n_leaves() >= 20  # else there is little to compare
    assert_same_store(expected.tree_, model.tree_, strict=True)


@pytest.mark.parametrize("n_jobs", [2, 3, 8, -1])
@pytest.mark.parametrize("kind", ["none", "whole", "real"])
@pytest.mark.parametrize("settings", SETTINGS)
def test_trees_do_not_depend_on_the_number_of_threads(settings, kind, n_jobs):
    assert_identical(fit(settings, n_jobs, kind), alone(settings, 1, kind))


@pytest.mark.parametrize("n_classes", [3, 12])
@pytest.mark.parametrize("n_jobs", [2, 3, 8])
def test_trees_of_many_classes_do_not_depend_on_the_number_of_threads(n_classes, n_jobs):
    assert_identical(fit("plain", n_jobs, n_classes=n_classes), alone("plain", 1, n_classes=n_classes))


@pytest.mark.parametrize("n_jobs", [1, 8])
def test_the_first_of_features_that_are_as_good_but_for_rounding_is_split_where_it_would_be_alone(n_jobs):
    """The second has a value less and so scores a little higher: less than what counts as rounding."""
    random = np.random.default_rng(3)
    first = random.permutation(N_ROWS).astype(float)
    second = np.where(first == 7, 8, first)
    y = (first + 9_000 * random.normal(size=N_ROWS) > N_ROWS / 2).astype(int)
    X = np.column_stack([first, second])
    model, alone, other = (
        BayesianTreeClassifier(prior=0.1, max_depth=1, n_jobs=n_jobs).fit(columns, y)
        for columns in (X, X[:, :1], X[:, 1:])
    )
    scores = [of.tree_.log_prior_split[0] + of.tree_.log_likelihood_split[0] for of in (alone, other)]
    assert 0 < scores[1] - scores[0] < 1e-9 * abs(scores[0])
    assert (model.tree_.feature[0], model.tree_.threshold[0]) == (0, alone.tree_.threshold[0])
    assert model.tree_.log_likelihood_split[0] == alone.tree_.log_likelihood_split[0]


@pytest.mark.parametrize("n_jobs", [2, 3, 8])
def test_predictions_do_not_depend_on_the_number_of_threads(n_jobs):
    model, X = alone("plain", 1), table()[0]
    expected = model.apply(X), model.predict_proba(X), model.predict_interval(X)
    threaded = fit("plain", n_jobs)
    for one, other in zip(
        expected, (threaded.apply(X), threaded.predict_proba(X), threaded.predict_interval(X)), strict=True
    ):
        assert np.array_equal(one, other)


def test_more_threads_than_rows_are_fine():
    model = BayesianTreeClassifier(n_jobs=64).fit([[0.0], [1.0]], [0, 1])
    assert model.predict_proba([[0.0], [1.0]]).shape == (2, 2)


forks = pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")


@forks
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_fits_after_its_parent_used_threads():
    expected = alone("plain", 1)
    assert_identical(fit("plain", 2), expected)
    child = multiprocessing.get_context("fork").Process(target=lambda: assert_identical(fit("plain", 2), expected))
    child.start()
    child.join(timeout=60)
    hangs = child.is_alive()
    if hangs:
        child.kill()
    assert not hangs
    assert child.exitcode == 0
    assert_identical(fit("plain", 2), expected)


@forks
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_worker_of_a_pool_fits_without_a_warning():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert_identical(pool.apply_async(fit, ("plain", 2)).get(timeout=60), alone("plain", 1))


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib_workers_grow_the_same_trees(backend):
    models = [BayesianTreeClassifier(**settings, n_jobs=2) for settings in SETTINGS.values()]
    grown = Parallel(n_jobs=2, backend=backend)(delayed(model.fit)(*table()) for model in models)
    for settings, model in zip(SETTINGS, grown, strict=True):
        assert_identical(model, alone(settings, 1))


def test_concurrent_fits_do_not_disturb_each_other():
    tasks = [(settings, 2, kind) for settings in SETTINGS for kind in ("none", "real")]
    with ThreadPoolExecutor(4) as pool:
        grown = list(pool.map(lambda task: fit(*task), tasks))
    for (settings, _, kind), model in zip(tasks, grown, strict=True):
        assert_identical(model, alone(settings, 1, kind))


def test_one_model_predicts_from_many_threads_at_once():
    model, X = alone("plain", 1), table()[0]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(model.predict_proba, [X] * 16))
    assert all(np.array_equal(answer, model.predict_proba(X)) for answer in answers)


# Stacks are so large that no thread starts within the limit, while there is room for the fit.
NO_THREADS = """
import resource, sys, threading
import numpy as np
from baytree import BayesianForestRegressor, BayesianTreeClassifier

random = np.random.default_rng(0)
X = random.normal(size=(40_000, 3))
y = X[:, 0] + random.normal(size=len(X))
makes = [
    lambda n_jobs: BayesianTreeClassifier(n_jobs=n_jobs, max_depth=4).fit(X, y > 0).predict_proba(X[:50]),
    lambda n_jobs: BayesianForestRegressor(8, random_state=0, n_jobs=n_jobs).fit(X[:500], y[:500]).predict(X[:50]),
    lambda n_jobs: forest.set_params(n_jobs=n_jobs).predict_interval(X),
    lambda n_jobs: tree.set_params(n_jobs=n_jobs).stability(X[:500], y[:500] > 0, n_refits=4).by_row,
]
forest = BayesianForestRegressor(8, random_state=0).fit(X[:500], y[:500])
tree = BayesianTreeClassifier().fit(X[:500], y[:500] > 0)
expected = [make(1) for make in makes]
pages = int(open("/proc/self/statm").read().split()[0])
limit = pages * resource.getpagesize() + 2**29
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    threading.Thread(target=print).start()
except RuntimeError:
    print("no threads")
for make, without in zip(makes, expected):
    np.testing.assert_array_equal(make(4), without)
print("fitted")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and /proc of Linux")
def test_threads_that_cannot_start_are_done_without():
    import resource

    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    if hard != resource.RLIM_INFINITY and hard < 2**30:
        pytest.skip("stacks are limited")
    done = subprocess.run(
        ["sh", "-c", 'ulimit -s 1048576; exec "$0" -W ignore -c "$1"', sys.executable, NO_THREADS],
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout.split("\n")[:2]) == (0, ["no threads", "fitted"]), done.stderr


@pytest.mark.parametrize("n_threads", [1, 3])
def test_a_failure_ends_the_work_of_all_threads(n_threads):
    done = []

    def work(item):
        if item == 5:
            raise KeyboardInterrupt
        done.append(item)
        time.sleep(0.001)
        return item

    with pytest.raises(KeyboardInterrupt):
        map_on_threads(work, range(10_000), n_threads)
    assert len(done) < 100
    assert map_on_threads(work, range(5), n_threads) == [0, 1, 2, 3, 4]
    assert map_on_threads(work, [], n_threads) == []
