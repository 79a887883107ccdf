"""The compiled core at its boundary: what lives how long, what is refused."""

from __future__ import annotations

import gc
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse

from baytree import _core
from baytree.growth._row_hash import hash_of_values
from baytree.outcomes import Target
from baytree.table import Rows


def settings(n_features):
    prior = _core.PartitionPrior(0.5, False, False, True, True, True, np.ones(n_features))
    return _core.Settings(prior, _core.Rules(None, 1, 0.0, None, None), 0.0, True, _core.Oblique(0.0, 1.0))


def grow(columns, y):
    outcome = _core.CategoricalCounts(y.astype(np.uint16), None, 2)
    return _core.grow(columns, outcome, [1.0, 1.0], settings(columns.n_columns), _core.Lookahead(0, 1, 1), 4096, 1)


def kinds(*is_categorical):
    return np.array(is_categorical, dtype=np.uint8)


def test_columns_keep_the_matrix_whose_values_they_need():
    X = np.arange(40.0).reshape(20, 2)
    before = sys.getrefcount(X)
    columns = _core.encode(X, kinds(0, 0), 0, 0, False, 1)
    assert sys.getrefcount(X) > before
    y = X[:, 0] > 20
    del X
    gc.collect()
    noise = [np.full(40, np.nan) for _ in range(100)]  # would take the place of freed values
    assert grow(columns, y)["threshold"][0] == 21.0
    del columns, noise


def test_columns_keep_the_arrays_of_a_sparse_matrix():
    X = sparse.csc_matrix(np.where(np.arange(60) % 3 > 0, np.arange(60.0), 0.0).reshape(20, 3))
    parts = [X.data.copy(), X.indices.astype(np.int32), X.indptr.astype(np.int64)]
    columns = _core.encode_sparse(20, *parts, kinds(0, 0, 0), 0, 0, False, 1)
    y = X.toarray()[:, 1] > 30
    del parts
    gc.collect()
    noise = [np.full(40, np.nan) for _ in range(100)]
    assert grow(columns, y)["threshold"][0] in (29.5, 30.0, 30.5, 32.5)
    del noise


def test_the_rows_of_a_sparse_column_must_ascend():
    with pytest.raises(ValueError, match="ascending"):
        _core.encode_sparse(
            3, np.array([1.0, 2.0]), np.array([2, 0], dtype=np.int32), np.array([0, 2]), kinds(0), 0, 0, False, 1
        )


@pytest.mark.parametrize("n_columns", [1, 3, 8, 28])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda X: np.repeat(X, 2, axis=1)[:, ::2]])
@pytest.mark.parametrize("n_rows", [1, 7, 8, 100_003])
def test_a_scan_is_what_numpy_finds(n_rows, n_columns, layout):
    random = np.random.default_rng(n_rows + n_columns)
    X = layout(random.choice([0.0, -0.0, 1.5, np.nan, -1.7e308, 5e-324], (n_rows, n_columns)))
    X[:, 0] = np.where(np.isnan(X[:, 0]), np.nan, 4.0)
    spoilt = X.copy(order="K")
    spoilt[random.integers(n_rows), random.integers(n_columns)] = -np.inf
    for values in (X, spoilt):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # columns without a number
            ranges = np.nanmin(values, axis=0), np.nanmax(values, axis=0)
        are_integers = ((np.floor(values) == values) | np.isnan(values)).all(axis=0)
        sums = np.ascontiguousarray(values).view(np.uint64).sum(axis=0, dtype=np.uint64)
        for n_threads in (1, 3):
            for scanned, expected in zip(_core.scan(values, n_threads), (sums, *ranges, are_integers), strict=True):
                assert scanned.dtype == expected.dtype
                np.testing.assert_array_equal(scanned, expected)


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, sparse.csr_matrix])
def test_hashes_of_rows_do_not_depend_on_the_layout_nor_on_the_order_of_columns(layout):
    X = np.random.default_rng(0).choice([0.0, -0.0, 1.5, np.nan, -1.7e308], (5000, 7))
    target = Target(np.zeros(5000))
    hashes = hash_of_values(Rows(layout(X)), target)
    assert np.array_equal(hashes, hash_of_values(Rows(layout(X[:, ::-1])), target))
    # Equal hashes are those of the same values: sorted rows with one zero and one missing value.
    values = np.sort(np.where(np.isnan(X), 1.8e300, X + 0.0), axis=1)
    assert len(np.unique(hashes)) == len(np.unique(values, axis=0))


def test_the_arrays_of_a_tree_have_the_types_that_are_promised():
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=200), rng.integers(0, 4, 200)], axis=1)
    y = (X[:, 0] > 0) | np.isin(X[:, 1], [1, 2])
    X[rng.random(200) < 0.2, 0] = np.nan
    arrays = grow(_core.encode(X, kinds(0, 1), 0, 0, False, 1), y)
    promised = {
        np.int64: ["children_left", "children_right", "feature", "category_start", "category", "hyperplane_start"],
        np.uint8: ["kind"],
        np.float64: ["threshold", "log_prior_split", "log_likelihood_split", "hyperplane_coefficient"],
        np.bool_: ["has_missing", "missing_go_to_left", "category_goes_left"],
    }
    for dtype, names in promised.items():
        for name in names:
            assert arrays[name].dtype == dtype, name
    leaf = arrays["kind"] == 0
    assert np.array_equal(leaf, arrays["children_left"] == -1)
    assert np.all(arrays["feature"][leaf] == -2)
    assert np.all(arrays["threshold"][leaf] == -2.0)
    assert np.all(np.isneginf(arrays["log_prior_split"][leaf]))
    assert np.all(np.isnan(arrays["threshold"][arrays["kind"] == 3]))
    assert np.all(np.isfinite(arrays["threshold"][arrays["kind"] == 1]))
    assert {1, 3} <= set(arrays["kind"].tolist())
    assert not np.any(arrays["missing_go_to_left"] & ~arrays["has_missing"])


def tree(**changes):
    """A tree of one threshold in the second of three features."""
    arrays = {
        "children_left": np.array([1, -1, -1]),
        "children_right": np.array([2, -1, -1]),
        "kind": np.array([1, 0, 0], dtype=np.uint8),
        "feature": np.array([1, -2, -2]),
        "threshold": np.array([0.5, -2.0, -2.0]),
        "missing_go_to_left": np.array([True, False, False]),
        "unseen_go_to_left": np.zeros(3, dtype=bool),
        "category_start": np.zeros(4, dtype=np.int64),
        "category": np.zeros(0, dtype=np.int64),
        "category_goes_left": np.zeros(0, dtype=bool),
        "hyperplane_start": np.zeros(4, dtype=np.int64),
        "hyperplane_feature": np.zeros(0, dtype=np.int64),
        "hyperplane_coefficient": np.zeros(0),
        "hyperplane_missing_value": np.zeros(0),
    }
    return arrays | changes


def test_a_router_finds_features_in_any_column():
    router = _core.Router(**tree(), n_features=3)
    leaves, no_infinity = router.route(np.array([[9.0, 0.5, 9.0], [9.0, 0.6, 9.0], [9.0, np.nan, np.inf]]), None, 1)
    assert leaves.tolist() == [1, 2, 1]
    assert not no_infinity
    only_the_second = np.array([-1, 0, -1])
    leaves, no_infinity = router.route(np.array([[0.5], [0.6], [np.nan]]), only_the_second, 1)
    assert leaves.tolist() == [1, 2, 1]
    assert no_infinity


@pytest.mark.parametrize("columns", [None, np.array([0, -1, 0]), np.array([0, 1, 0]), np.array([0, 0])])
def test_a_router_refuses_a_matrix_without_the_features_it_needs(columns):
    with pytest.raises(ValueError, match=r"does not have|there is not"):
        _core.Router(**tree(), n_features=3).route(np.zeros((2, 1)), columns, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"children_left": np.array([0, -1, -1])},
        {"children_left": np.array([2, -1, -1])},
        {"children_right": np.array([3, -1, -1])},
        {"children_right": np.array([2, -1])},
        {"kind": np.array([5, 0, 0], dtype=np.uint8)},
        {"kind": np.array([0, 0, 0], dtype=np.uint8)},
        {"kind": np.array([4, 0, 0], dtype=np.uint8)},
        {"feature": np.array([3, -2, -2])},
        {"threshold": np.array([np.nan, -2.0, -2.0])},
        {"category_start": np.array([0, 1, 1, 1])},
        {"category_start": np.array([0, 1, 1, 1]), "category": np.array([0]), "category_goes_left": np.array([True])},
        {"hyperplane_feature": np.array([0])},
    ],
)
def test_a_router_refuses_damaged_arrays(changes):
    with pytest.raises(ValueError, match=r"\w"):
        _core.Router(**tree(**changes), n_features=3)


def test_a_router_converts_nothing():
    with pytest.raises(TypeError):
        _core.Router(**tree(feature=np.array([1, -2, -2], dtype=np.int32)), n_features=3)
    with pytest.raises(TypeError):
        _core.Router(**tree(missing_go_to_left=np.array([1, 0, 0], dtype=np.uint8)), n_features=3)


def test_a_space_of_one_tree_weighs_its_leaves():
    choices = {
        name: array[:2] if name.endswith("_start") else array[:1] if len(array) == 3 else array
        for name, array in tree().items()
    }
    router = _core.SpaceRouter(
        **choices,
        choice_start=np.array([0, 1, 1, 1]),
        leaf_share=np.array([0.25, 1.0, 1.0]),
        choice_share=np.array([0.75]),
        n_features=3,
    )
    start, node, weight = router.weigh(np.array([[0.5], [0.6]]), np.array([-1, 0, -1]), 1)
    assert start.tolist() == [0, 2, 4]
    assert node.tolist() == [0, 1, 0, 2]
    assert weight.tolist() == [0.25, 0.75, 0.25, 0.75]
    with pytest.raises(ValueError, match="choices"):
        _core.SpaceRouter(
            **choices,
            choice_start=np.array([0, 1, 1]),
            leaf_share=np.array([0.25, 1.0, 1.0]),
            choice_share=np.array([0.75]),
            n_features=3,
        )
