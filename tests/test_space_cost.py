"""What tree spaces cost: a step costs the same, however many were taken before. Times are of the processor alone."""

from __future__ import annotations

import time

import numpy as np
import pytest

from baytree import TreeSpaceClassifier, TreeSpaceRegressor
from benchmarks.small_spaces import table, target


def seconds(model, X, y, sample_weight=None):
    start = time.process_time()
    model.fit(X, y, sample_weight)
    return time.process_time() - start


def test_the_default_on_few_rows_and_many_columns():
    """It took more than a minute, cubic in max_nodes."""
    random = np.random.RandomState(42)
    X, y, weight = random.rand(15, 30), random.randint(0, 3, 15), random.randint(0, 5, 15)
    model = TreeSpaceClassifier(partition_prior="paper")  # which splits more
    assert seconds(model, X, y, weight) < 10
    assert model.space_.is_complete
    assert model.log_evidence_ == pytest.approx(-14.832780108953514)


@pytest.mark.parametrize("what", ["2 classes", "numbers"])
@pytest.mark.parametrize("kind", ["random", "duplicated", "tied"])
@pytest.mark.parametrize("shape", [(10, 200), (60, 60)])
def test_a_step_costs_the_same_however_many_there_were(shape, kind, what):
    random = np.random.default_rng(0)
    X = table(kind, *shape, random)
    y = target(kind, what, X, random)
    Space = TreeSpaceRegressor if what == "numbers" else TreeSpaceClassifier
    few, many = Space(max_nodes=300), Space(max_nodes=3000)
    before, after = min(seconds(few, X, y) for _ in range(3)), seconds(many, X, y)
    steps = [max(model.space_.n_choices + model.space_.node_count, 1000) for model in (few, many)]
    assert after < 0.5 + 6 * before * steps[1] / steps[0]


def test_copies_of_a_column_do_not_blow_up_the_space():
    """Every split exists a hundred times and leads to nodes that are there already."""
    random = np.random.default_rng(0)
    X = np.repeat(random.random((60, 2)), 100, axis=1)
    model = TreeSpaceClassifier(max_nodes=300)
    assert seconds(model, X, random.integers(0, 2, 60)) < 10
    assert model.space_.n_choices <= 60 * 300 + 200


def test_columns_cost_no_more_than_in_proportion():
    random = np.random.default_rng(0)
    y = np.arange(10) % 2
    X = random.random((10, 20_000))
    few, many = (
        min(seconds(TreeSpaceClassifier(max_nodes=50), X[:, :d], y) for _ in range(2)) for d in (2_000, 20_000)
    )
    assert many < 1 + 30 * few


def test_classes_cost_no_more_than_in_proportion():
    random = np.random.default_rng(0)
    X = random.random((4000, 3))
    few, many = (seconds(TreeSpaceClassifier(max_nodes=10), X, np.arange(4000) % k) for k in (200, 2000))
    assert many < 2 + 30 * few
