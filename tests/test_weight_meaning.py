"""Weights that count rows, and weights that only compare them."""

import warnings

import numpy as np
import pytest

from baytree import (
    BayesianForestClassifier,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceRegressor,
    engines,
)
from tests.comparison import assert_same_arrays


def table_of(n=300, seed=0):
    r = np.random.default_rng(seed)
    X = np.round(r.normal(size=(n, 3)), 2)
    return X, (X[:, 0] + r.normal(size=n) > 0).astype(int), r.uniform(0.2, 3, n)


def test_importance_weights_sum_to_the_effective_number_of_rows():
    X, y, weight = table_of()
    effective = weight.sum() ** 2 / (weight**2).sum()
    model = BayesianTreeClassifier(weights="importance").fit(X, y, sample_weight=weight)
    assert float(model.tree_.weighted_n_node_samples[0]) == pytest.approx(effective)
    by_hand = BayesianTreeClassifier().fit(
        X, y, sample_weight=weight / weight.max() * (effective / (weight / weight.max()).sum())
    )
    np.testing.assert_allclose(model.tree_.posterior, by_hand.tree_.posterior)


@pytest.mark.parametrize("factor", [1e-6, 5, 1e9])
def test_importance_weights_have_no_unit(factor):
    X, y, weight = table_of()
    one = BayesianTreeClassifier(weights="importance").fit(X, y, sample_weight=weight)
    other = BayesianTreeClassifier(weights="importance").fit(X, y, sample_weight=factor * weight)
    np.testing.assert_array_equal(one.tree_.threshold, other.tree_.threshold)
    np.testing.assert_allclose(one.tree_.posterior, other.tree_.posterior, rtol=1e-9)


def test_equal_importance_weights_are_no_weights():
    X, y, _ = table_of()
    model = BayesianTreeClassifier(weights="importance").fit(X, y, sample_weight=np.full(len(y), 7.0))
    assert_same_arrays(model, BayesianTreeClassifier().fit(X, y))
    more = BayesianTreeClassifier(weights="importance").fit(X, y)
    more.partial_fit(X, y, sample_weight=np.full(len(y), 7.0))
    assert more.tree_.weighted_n_node_samples[0] == pytest.approx(2 * len(y))


@pytest.mark.parametrize(
    "model", [BayesianTreeClassifier(), BayesianForestClassifier(2), TreeSpaceRegressor(max_nodes=5)]
)
def test_weights_that_make_many_rows_of_few_are_warned_of(model):
    X, y, _ = table_of()
    with pytest.warns(UserWarning, match=r"sums to 1500 over 300 rows.*weights='importance'") as caught:
        model.fit(X, y, sample_weight=np.full(len(y), 5.0))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y, sample_weight=np.full(len(y), 1.2))
        model.set_params(weights="counts").fit(X, y, sample_weight=np.full(len(y), 5.0))
        model.set_params(weights="importance").fit(X, y, sample_weight=np.full(len(y), 5.0))


def test_batches_warn_as_memory_does():
    pd = pytest.importorskip("pandas")
    X, y, weight = table_of()
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, w=3 * weight * (np.arange(len(y)) % 10 > 0))
    texts = []
    with pytest.warns(UserWarning, match="sample_weight sums to") as caught:
        BayesianTreeClassifier(max_bins=20).fit(frame[list("abc")], frame.y, sample_weight=frame.w)
    texts.append([str(warning.message) for warning in caught])
    parts = lambda: (frame[i : i + 90] for i in range(0, len(frame), 90))  # noqa: E731
    with pytest.warns(UserWarning, match="sample_weight sums to") as caught:
        engines.fit(BayesianTreeClassifier(max_bins=20), parts, target="y", weight="w")
    texts.append([str(warning.message) for warning in caught])
    assert texts[0] == texts[1]


def test_sources_that_cannot_scale_weights_say_so():
    pd = pytest.importorskip("pandas")
    X, y, weight = table_of()
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, w=weight)
    with pytest.raises((ValueError, TypeError), match="weights='importance' needs the rows in memory"):
        engines.fit(BayesianTreeClassifier(weights="importance"), lambda: iter([frame]), target="y", weight="w")


def test_other_meanings_are_refused():
    X, y, weight = table_of()
    for wrong in ("frequency", 1, True):
        with pytest.raises(ValueError, match="weights must be None or 'counts' or 'importance'"):
            BayesianTreeRegressor(weights=wrong).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("n", [1000, 20_000])
@pytest.mark.parametrize("how", ["with replacement", "balanced"])
def test_copied_rows_are_warned_of(how, n):
    r = np.random.default_rng(0)
    X = r.normal(size=(n, 4))
    y = (X[:, 0] + r.normal(size=n) > 1.6).astype(int)
    rare = np.flatnonzero(y)
    chosen = (
        r.integers(0, n, n) if how == "with replacement" else np.append(np.arange(n), r.choice(rare, n - len(rare)))
    )
    with pytest.warns(UserWarning, match="equal to another one in X and y.*copied to balance") as caught:
        BayesianTreeClassifier().fit(X[chosen], y[chosen])
    assert caught[0].filename == __file__


@pytest.mark.parametrize("decimals", [0, 1, 2, 8])
def test_rows_that_are_equal_by_chance_are_not_warned_of(decimals):
    r = np.random.default_rng(0)
    X = r.normal(size=(3000, 2)).round(decimals)
    y = (X[:, 0] + r.normal(size=3000) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        BayesianTreeClassifier().fit(X, y)


@pytest.mark.parametrize("n", [6, 150, 3000])
@pytest.mark.parametrize("kind", ["class tree", "tree", "space"])
def test_calibration_takes_a_whole_weight_for_as_many_rows(kind, n):
    make = {
        "class tree": BayesianTreeClassifier,
        "tree": BayesianTreeRegressor,
        "space": lambda: TreeSpaceRegressor(max_nodes=10),
    }[kind]
    r = np.random.default_rng(n)
    X = r.normal(size=(n, 2)).round(1)
    y, weight = X[:, 0] + r.normal(size=n), r.integers(0, 4, n).astype(float)
    y = (y > 0.3).astype(int) if kind == "class tree" else y.round(1)
    rows = np.repeat(np.arange(n), weight.astype(int))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one, other = make().fit(X, y, sample_weight=weight), make().fit(X[rows], y[rows])
    if kind == "class tree":
        np.testing.assert_allclose(one.calibration_[:2], other.calibration_[:2], rtol=1e-9)
    else:
        assert one.spread_ == pytest.approx(other.spread_, rel=1e-3)
