"""Stability of splits and decisions, against an oracle that compares sets of rows one by one."""

from collections import Counter

import numpy as np
import pytest

from baytree import BayesianForestClassifier, BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier
from baytree.fitted import Fitted, compare_with_refits
from baytree.growth import bootstrap_weights, hash_each_row
from baytree.outcomes import Target
from baytree.table import Rows
from baytree.tree import CategorySet, Hyperplane


def nodes_of_row(tree, row):
    """The nodes that a row passes."""
    nodes = [0]
    while not tree.is_leaf[nodes[-1]]:
        side = tree.children_left if tree.split(nodes[-1]).goes_left(row) else tree.children_right
        nodes.append(int(side[nodes[-1]]))
    return nodes


def row_sets(tree, matrix):
    """The rows of every node, as sets of numbers."""
    sets = {node: set() for node in range(tree.node_count)}
    for i, row in enumerate(matrix):
        for node in nodes_of_row(tree, row):
            sets[node].add(i)
    return sets


def fate_by_hand(tree, refit, node, matrix):
    """What became of a split: 'kept', 'threshold', 'no split', 'no rows', or the features of the other split."""
    node_rows, sets = row_sets(tree, matrix)[node], row_sets(refit, matrix)
    overlap = {other: len(node_rows & rows) / len(node_rows | rows) for other, rows in sets.items()}
    best = max(overlap.values())
    if best < 0.5:
        return "no rows"
    other = min(node for node, value in overlap.items() if value == best)
    if refit.is_leaf[other]:
        return "no split"
    split, new = tree.split(node), refit.split(other)
    if set(split.features) & set(new.features):
        moved = sum(split.goes_left(matrix[i]) != new.goes_left(matrix[i]) for i in node_rows)
        if isinstance(split, CategorySet | Hyperplane):
            moved = min(moved, len(node_rows) - moved)
        left = sum(split.goes_left(matrix[i]) for i in node_rows)
        if moved <= 0.1 * len(node_rows) + 1e-9 and moved <= min(left, len(node_rows) - left) / 2:
            return "kept"
    return "threshold" if split.features == new.features else new.features


def shares_of(split, schema):
    """The shares of a result in the words of the oracle."""
    shares = {"kept": split.kept, "threshold": split.other_threshold, "no split": split.not_split}
    shares["no rows"] = split.no_such_rows
    shares |= {(schema.names.index(name),): share for name, share in split.other_columns if name in schema.names}
    hyperplanes = sum(share for name, share in split.other_columns if name not in schema.names)
    return {key: share for key, share in (shares | {"plane": hyperplanes}).items() if share > 0}


def table_of(seed, n=120):
    r = np.random.default_rng(seed)
    X = np.round(r.normal(size=(n, 3)), 1)
    X[r.random(n) < 0.2, 1] = np.nan
    X = np.c_[X, r.integers(0, 4, n)]
    y = (X[:, 0] + (X[:, 3] == 1) + 0.7 * r.normal(size=n) > 0.3).astype(int)
    return X, y


@pytest.mark.parametrize("partitions", ["axis", "oblique"])
@pytest.mark.parametrize("seed", range(6))
def test_shares_are_those_of_the_oracle(seed, partitions):
    pd = pytest.importorskip("pandas")
    X, y = table_of(seed)
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = BayesianTreeClassifier(partitions=partitions, categorical_features=["d"]).fit(frame, y)
    r = np.random.default_rng(seed)
    weights = [r.exponential(size=len(y)) for _ in range(5)]
    refits = [
        BayesianTreeClassifier(partitions=partitions, categorical_features=["d"]).fit(frame, y, w).fitted_
        for w in weights
    ]
    matrix = model.schema_.read(frame).dense()
    result = compare_with_refits(model.fitted_, refits, Rows(matrix))
    for split in result.splits:
        fates = [fate_by_hand(model.tree_, refit.trees, split.node, matrix) for refit in refits]
        fates = ["plane" if isinstance(fate, tuple) and len(fate) > 1 else fate for fate in fates]
        expected = {fate: count / len(refits) for fate, count in Counter(fates).items()}
        assert shares_of(split, model.schema_) == pytest.approx(expected)
    before = model.predict(frame)
    changed = [np.mean(refit.class_codes(Rows(matrix)) != before) for refit in refits]
    assert result.decisions == pytest.approx(np.mean(changed))


def test_a_strong_split_is_kept():
    r = np.random.default_rng(0)
    X = r.normal(size=(400, 3))
    y = (X[:, 1] > 0.2).astype(int)
    stability = BayesianTreeClassifier().fit(X, y).stability(X, y)
    assert stability.splits[0].kept == 1
    assert stability.decisions < 0.01


def test_two_columns_that_measure_the_same_share_the_splits():
    r = np.random.default_rng(0)
    signal = r.normal(size=600)
    X = np.c_[signal + 0.3 * r.normal(size=600), signal + 0.3 * r.normal(size=600), r.normal(size=600)]
    y = (signal > 0).astype(int)
    root = BayesianTreeClassifier(max_depth=1).fit(X, y).stability(X, y, n_refits=60).splits[0]
    other = dict(root.other_columns)
    named = "x0" if root.split.startswith("x1") else "x1"
    assert 0.2 < other[named] < 0.8
    assert "x2" not in other
    assert root.kept + root.other_threshold + other[named] == pytest.approx(1)


def test_noise_is_unstable():
    r = np.random.default_rng(3)
    X, y = r.normal(size=(200, 5)), r.integers(0, 2, 200)
    model = BayesianTreeClassifier(max_depth=2, partition_prior=0.9999999, prune=False).fit(X, y)
    assert model.get_n_leaves() > 1
    stability = model.stability(X, y)
    assert stability.splits[0].kept < 0.8
    assert stability.decisions > 0.02


def test_the_shares_of_a_split_sum_to_one():
    X, y = table_of(9)
    for split in BayesianTreeClassifier().fit(X, y).stability(X, y).splits:
        others = sum(share for _, share in split.other_columns)
        assert split.kept + split.other_threshold + others + split.not_split + split.no_such_rows == pytest.approx(1)


def test_the_answer_depends_neither_on_threads_nor_on_the_order_of_rows():
    X, y = table_of(4, 300)
    order = np.random.default_rng(0).permutation(len(y))
    model = BayesianTreeClassifier().fit(X, y)
    one = model.stability(X, y, n_refits=8)
    threads = model.set_params(n_jobs=3).stability(X, y, n_refits=8)
    shuffled = model.stability(X[order], y[order], n_refits=8)
    assert one.splits == threads.splits == shuffled.splits
    np.testing.assert_array_equal(one.by_row[order], shuffled.by_row)
    other = model.stability(X, y, n_refits=8, random_state=1)
    assert not np.array_equal(one.by_row, other.by_row)


def test_a_regressor_tells_how_far_predictions_move():
    r = np.random.default_rng(0)
    X = r.normal(size=(300, 2))
    y = (X[:, 0] > 0) + 0.1 * r.normal(size=300)
    model = BayesianTreeRegressor().fit(X, y)
    stability = model.stability(X, y, n_refits=5)
    moved = []
    hashes = hash_each_row(Rows(X), Target(y))
    for draw in range(5):
        weight = bootstrap_weights(hashes, None, 0, draw)
        refit = BayesianTreeRegressor(prior=model.prior_).fit(X, y, sample_weight=weight)
        moved.append(refit.predict(X) - model.predict(X))
    typical = np.mean([np.sqrt(np.mean(change**2)) for change in moved])
    assert stability.decisions is None
    assert stability.change == pytest.approx(typical / np.std(model.predict(X)))
    assert stability.by_row == pytest.approx(np.sqrt(np.mean(np.square(moved), axis=0)))


def test_counts_with_exposure():
    r = np.random.default_rng(0)
    X, exposure = r.normal(size=(300, 2)), r.uniform(0.5, 2, 300)
    y = r.poisson(exposure * np.where(X[:, 0] > 0, 5, 1))
    model = BayesianTreeRegressor(outcome="poisson").fit(X, y, exposure=exposure)
    assert model.stability(X, y, exposure=exposure, n_refits=5).splits[0].kept == 1


@pytest.mark.parametrize(
    "model",
    [
        BayesianForestClassifier(5, random_state=0),
        TreeSpaceClassifier(max_nodes=50),
        BayesianTreeClassifier(max_bins=8),
    ],
)
def test_the_tree_to_read_of_any_model(model):
    X, y = table_of(2)
    readable = getattr(model.fit(X, y), "readable_tree_", model)
    stability = model.stability(X, y, n_refits=3)
    assert len(stability.splits) == len(readable.tree_.internal_nodes)


def test_balanced_classes_and_rows_without_weight():
    X, y = table_of(1)
    weight = np.where(np.arange(len(y)) % 5 == 0, 0.0, 1.0)
    model = BayesianTreeClassifier(class_weight="balanced").fit(X, y, sample_weight=weight)
    assert len(model.stability(X, y, sample_weight=weight, n_refits=2).by_row) == int((weight > 0).sum())


def test_weights_are_exponential_and_those_of_weighted_rows_gamma():
    X = np.arange(20_000.0)[:, None] // 2  # each row twice
    hashes = hash_each_row(Rows(X), Target(np.zeros(20_000)))
    assert len(np.unique(hashes)) == 20_000
    plain = bootstrap_weights(hashes, None, 0, 0)
    heavy = bootstrap_weights(hashes, np.full(20_000, 4.0), 0, 0)
    assert plain.mean() == pytest.approx(1, abs=0.03)
    assert plain.var() == pytest.approx(1, abs=0.06)
    assert heavy.mean() == pytest.approx(4, abs=0.06)
    assert heavy.var() == pytest.approx(4, abs=0.2)
    assert abs(np.corrcoef(plain, bootstrap_weights(hashes, None, 0, 1))[0, 1]) < 0.03
    assert abs(np.corrcoef(plain, bootstrap_weights(hashes, None, 1, 0))[0, 1]) < 0.03


def test_other_tables_are_refused():
    X, y = table_of(0)
    model = BayesianTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="classes"):
        model.stability(X, y + 1)
    with pytest.raises(ValueError, match="n_refits"):
        model.stability(X, y, n_refits=0)
    assert isinstance(model.fitted_, Fitted)


def test_a_tree_without_splits():
    X, y = np.zeros((30, 1)), (np.arange(30) % 3 == 0).astype(int)
    stability = BayesianTreeClassifier().fit(X, y).stability(X, y, n_refits=2)
    assert stability.splits == ()
    assert stability.decisions == 0
    assert "0 splits" in str(stability)


def test_sparse_tables_are_those_of_dense_ones():
    sparse = pytest.importorskip("scipy.sparse")
    X, y = table_of(5)
    X = np.where(np.abs(X) < 0.5, 0, X)
    dense = BayesianTreeClassifier().fit(X, y).stability(X, y, n_refits=4)
    thin = BayesianTreeClassifier().fit(sparse.csr_matrix(X), y).stability(sparse.csr_matrix(X), y, n_refits=4)
    assert [split.kept for split in dense.splits] == [split.kept for split in thin.splits]
