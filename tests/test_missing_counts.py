"""How many training rows lack the value that a split asks for, counted one by one."""

import numpy as np
import pandas as pd
import pytest

from baytree import BayesianForestClassifier, BayesianTreeClassifier, BayesianTreeRegressor, engines, load
from baytree.sources import _batches
from tests.sources import assert_same_model, divided, fitted_in_memory, model_of
from tests.sources import table_of as source_table


def table_of(seed=0, n=400):
    r = np.random.default_rng(seed)
    X = np.round(r.normal(size=(n, 3)), 1)
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.5 * r.normal(size=n) > 0).astype(int)
    X[r.random(n) < 0.2, 0] = np.nan
    X[r.random(n) < 0.5 * y, 2] = np.nan
    return X, y


def counts_by_hand(tree, X):
    """The rows that reach each split without its feature."""
    counts = [0] * tree.node_count
    for row in X:
        node = 0
        while not tree.is_leaf[node]:
            split = tree.split(node)
            counts[node] += bool(np.isnan(row[split.features[0]])) and len(split.features) == 1
            node = int((tree.children_left if split.goes_left(row) else tree.children_right)[node])
    return counts


@pytest.mark.parametrize("max_bins", [None, 16])
@pytest.mark.parametrize("seed", range(5))
def test_counts_are_those_of_the_oracle(seed, max_bins):
    X, y = table_of(seed)
    model = BayesianTreeClassifier(max_bins=max_bins, partition_prior=0.9, prune=False).fit(X, y)
    for tree in (model.tree_, model.grown_tree_):
        expected = counts_by_hand(tree, X)
        assert any(expected)
        assert tree.n_missing.tolist() == expected
        assert np.array_equal(tree.n_missing > 0, tree.has_missing)


def test_sparse_tables_and_categories():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = table_of(1)
    dense = BayesianTreeClassifier().fit(X, y)
    assert (
        BayesianTreeClassifier().fit(sparse.csr_matrix(X), y).tree_.n_missing.tolist() == dense.tree_.n_missing.tolist()
    )
    labels = np.where(np.isnan(X[:, [0]]), None, np.where(X[:, [0]] > 0, "high", "low"))
    model = BayesianTreeClassifier().fit(labels, y)
    assert model.tree_.n_missing[0] == np.isnan(X[:, 0]).sum()


def test_no_missing_values_have_no_counts():
    X, y = table_of(2)
    model = BayesianTreeRegressor().fit(np.nan_to_num(X), y)
    assert model.tree_.n_missing is None


@pytest.mark.parametrize("outcome", ["classes", "poisson"])
def test_batches_count_as_memory_does(outcome):
    frame, names = source_table(outcome)
    memory = fitted_in_memory(model_of(outcome), frame, names)
    assert memory.tree_.n_missing.any()
    model = engines.fit(model_of(outcome), lambda: divided(frame, 4), target="y", **names)
    assert model.tree_.n_missing.tolist() == memory.tree_.n_missing.tolist()


def test_level_by_level_splits_that_a_limit_removes_leave_no_counts(monkeypatch):
    monkeypatch.setattr(_batches, "half_of_memory", lambda: 0)
    r = np.random.default_rng(0)
    frame = pd.DataFrame({"whole": r.normal(size=400), "part": r.normal(size=400)})
    frame["y"] = 2 * (frame["whole"] > 0) + (frame["part"] > 0)
    frame.loc[r.random(400) < 0.2, "part"] = np.nan
    for max_leaf_nodes, has_counts in ((2, False), (4, True)):
        memory = fitted_in_memory(model_of("normal", max_leaf_nodes=max_leaf_nodes), frame, {})
        model = engines.fit(model_of("normal", max_leaf_nodes=max_leaf_nodes), lambda: divided(frame, 4))
        assert (memory.tree_.n_missing is not None) == has_counts
        assert_same_model(model, memory)


def test_more_rows_are_counted_and_files_keep_the_counts(tmp_path):
    X, y = table_of(3)
    model = BayesianTreeClassifier().fit(X, y)
    before = model.tree_.n_missing.copy()
    model.partial_fit(X, y)
    assert model.tree_.n_missing.tolist() == (2 * before).tolist()
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").tree_.n_missing.tolist() == (2 * before).tolist()


def test_the_readable_tree_of_a_forest_has_counts(tmp_path):
    X, y = table_of(4)
    forest = BayesianForestClassifier(3, random_state=0).fit(X, y)
    tree = forest.readable_tree_.tree_
    assert tree.n_missing.tolist() == counts_by_hand(tree, X)
    forest.save(tmp_path / "forest.json")
    assert load(tmp_path / "forest.json").readable_tree_.tree_.n_missing.tolist() == tree.n_missing.tolist()
