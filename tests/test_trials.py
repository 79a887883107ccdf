"""What trials broke, each as it was found: crashes, silent wrong answers, messages of inner libraries."""

from __future__ import annotations

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.ensemble import AdaBoostClassifier

from baytree import (
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    partition_space,
)
from baytree.export import from_dict, to_dict
from baytree.persistence._document import _checksum

X = np.array([[0.0], [1.0], [2.0], [3.0]] * 5)
Y = np.array([0, 0, 1, 1] * 5)


@pytest.mark.parametrize("outcome", ["poisson", "negative_binomial"])
@pytest.mark.parametrize("count", [5e15, 1e17, 1e99])
def test_counts_of_any_size_have_intervals(outcome, count):
    model = BayesianTreeRegressor(outcome=outcome).fit([[0.0], [1.0]], [count, count])
    low, high = model.predict_interval([[0.0]])[0]
    assert 0 <= low <= count <= high
    assert model.explain([[0.0]])


def test_counts_that_cannot_be_squared_are_refused():
    with pytest.raises(ValueError, match="too large for a count: give it in a larger unit"):
        BayesianTreeRegressor(outcome="poisson").fit([[0.0], [1.0]], [1e200, 1.0])


def test_a_posterior_from_a_file_may_be_huge():
    document = to_dict(BayesianTreeRegressor(outcome="poisson").fit(X, Y))
    entry = document["stores"]["trees"]["prior"]
    entry["values"] = [1e16, 2.0] * (len(entry["values"]) // 2)
    statistics = document["stores"]["trees"]["statistics"]
    statistics["values"] = [1.0, 0.0, 0.0, 0.0] * (len(statistics["values"]) // 4)
    document["sha256"] = _checksum(document)
    low, high = from_dict(document).predict_interval(X[:1])[0]
    assert low < 5e15 < high


class NoStatistics:
    prior = (1.0,)

    def statistics(self, y):
        return np.zeros((len(y), 0))

    def log_marginal(self, statistics, prior):
        return np.zeros(len(statistics))

    def update(self, prior, statistics):
        return prior

    def mean(self, posterior):
        return posterior[:, 0]


class NoLikelihood(NoStatistics):
    def statistics(self, y):
        return np.ones((len(y), 1))

    def log_marginal(self, statistics, prior):
        return np.full(len(statistics), -np.inf)


def test_an_outcome_without_statistics_is_refused():
    with pytest.raises(ValueError, match=r"each of one number or more; got shape \(20, 0\)"):
        BayesianTreeRegressor(outcome=NoStatistics()).fit(X, Y)


def unscorable():
    three = np.arange(20) % 3
    yield "weights", BayesianTreeClassifier(), {"sample_weight": np.full(20, 1e306)}, three
    yield "class weights", BayesianTreeClassifier(class_weight={0: 1e308, 1: 1e308}), {}, Y
    yield "smoothing", BayesianTreeClassifier(prior=0.1, smoothing=1e308), {}, Y
    yield "durations", BayesianTreeRegressor(outcome="exponential"), {}, np.full(20, 5e-324)
    yield "own", BayesianTreeRegressor(outcome=NoLikelihood()), {}, Y
    yield "space", TreeSpaceClassifier(smoothing=1e308), {}, Y


@pytest.mark.parametrize(("what", "model", "more", "y"), list(unscorable()), ids=lambda value: str(value)[:20])
def test_a_fit_that_cannot_score_its_data_raises_and_leaves_the_model(what, model, more, y):
    fitted = BayesianTreeClassifier().fit(X, np.arange(20) % 3) if what != "own" else None
    with pytest.raises(ValueError, match=r"no finite likelihood|too large to be summed"), np.errstate(all="ignore"):
        model.fit(X, y, **more)
    assert "fitted_" not in vars(model)
    if fitted is not None and isinstance(model, BayesianTreeClassifier):
        before = fitted.predict_proba(X)
        with pytest.raises(ValueError, match=r"no finite|too large|rows"), np.errstate(all="ignore"):
            fitted.set_params(prior=1e306).fit(X, Y)
        assert_array_equal(fitted.predict_proba(X), before)


def test_more_rows_are_refused_where_a_fit_would_refuse_them():
    model = BayesianTreeRegressor().fit(X, Y.astype(float))
    before = model.tree_.posterior.copy()
    with pytest.raises(ValueError, match="too large"):
        model.partial_fit([[0.0]], [1e160])
    assert_array_equal(model.tree_.posterior, before)


def test_masked_values_are_missing():
    words = np.ma.masked_array(np.array([["a"], ["b"], ["a"], ["b"]] * 5, dtype=object), mask=[[False], [True]] * 10)
    model = BayesianTreeClassifier(prior=0.1).fit(words, Y)
    assert model.categories_[0].tolist() == ["a"]
    numbers = np.ma.masked_array(X, mask=X == 3.0)
    plain = BayesianTreeClassifier(prior=0.1).fit(np.where(X == 3.0, np.nan, X), Y)
    assert_array_equal(BayesianTreeClassifier(prior=0.1).fit(numbers, Y).apply(numbers), plain.apply(numbers))


@pytest.mark.parametrize("name", ["y", "sample_weight", "exposure", "event"])
def test_masked_values_are_refused_where_every_row_needs_one(name):
    masked = np.ma.masked_array(np.ones(20), mask=np.arange(20) == 7)
    outcome = "exponential" if name == "event" else "poisson"
    given = {name: masked} if name != "y" else {}
    with pytest.raises(ValueError, match=f"{name} is masked in row 7"):
        BayesianTreeRegressor(outcome=outcome).fit(X, masked if name == "y" else np.ones(20), **given)


@pytest.mark.parametrize("unit", [1e-140, 1e-100, 1e100, 1e140])
def test_small_and_large_units_change_no_tree(unit):
    y = np.where(X[:, 0] > 1.5, 3.0, 1.0) + np.sin(np.arange(20)) * 0.1
    one, other = BayesianTreeRegressor().fit(X, y), BayesianTreeRegressor().fit(X, y * unit)
    assert_array_equal(one.tree_.threshold, other.tree_.threshold)
    assert_allclose(other.predict(X) / unit, one.predict(X), rtol=1e-9)


def test_units_whose_squares_vanish_are_refused():
    with pytest.raises(ValueError, match="too small to be squared"):
        BayesianTreeRegressor().fit(X, np.arange(20) * 1e-170)


def test_a_prior_beside_which_no_row_counts_is_refused():
    with pytest.raises(ValueError, match=r"prior counts as 2e\+14 rows, beside which float64 cannot see those of X"):
        BayesianTreeClassifier(prior=1e14).fit(X, Y)


def test_quantiles_of_a_weak_prior_are_in_order_and_right():
    random = np.random.default_rng(0)
    table = random.normal(size=(60, 3))
    model = TreeSpaceClassifier(prior=0.02, max_nodes=200).fit(table, (table[:, 0] > 0).astype(int))
    interval = model.predict_interval(table, level=0.9)
    assert np.all(interval[..., 0] <= interval[..., 1])
    weights, posterior = model.posterior_mixture(table[:5])
    from scipy.special import betainc

    upper = interval[:5, 1, 1]
    cdf = [w @ betainc(posterior[:, 1], posterior[:, 0], u) for w, u in zip(weights.toarray(), upper, strict=True)]
    inside = (upper > 1e-300) & (upper < 1 - 1e-12)
    assert_allclose(np.array(cdf)[inside], 0.95, atol=1e-6)


@pytest.mark.parametrize("y", [Y, np.ones(20, dtype=int)])
def test_a_sparse_table_without_a_split(y):
    table = sparse.csr_matrix(np.zeros((20, 3)))
    for model in (BayesianTreeClassifier(), BayesianTreeClassifier(max_depth=0), TreeSpaceClassifier()):
        assert model.fit(table, y).get_n_leaves() == 1
        assert model.explain(table[:2])
    assert len(partition_space(table, y)) == 1


def test_weights_that_sum_to_one_are_remarked_upon():
    with pytest.warns(UserWarning, match="sample_weight sums to 1 over 20 rows. Weights count rows"):
        BayesianTreeClassifier().fit(X, Y, np.full(20, 0.05))
    with pytest.warns(UserWarning, match="Weights count rows"):
        AdaBoostClassifier(BayesianTreeClassifier(), n_estimators=2).fit(X, Y)


@pytest.mark.parametrize(
    ("fit", "error", "words"),
    [
        (lambda: BayesianTreeRegressor().fit(X, np.arange(20).astype("datetime64[D]")), ValueError, "dates or times"),
        (lambda: BayesianTreeClassifier().fit(X, Y, np.ones(20) * 1j), TypeError, "sample_weight must hold one number"),
        (lambda: BayesianTreeRegressor().fit(X, [10**400] * 20), (TypeError, ValueError), "float64|too large|int"),
        (lambda: BayesianTreeClassifier().fit(X, Y).predict_quantiles(X, []), ValueError, "quantiles must be numbers"),
        (lambda: BayesianTreeClassifier().partial_fit(X, Y, classes=[]), ValueError, "classes must list every"),
        (
            lambda: BayesianTreeRegressor(outcome="poisson").fit(X, Y, exposure=np.full(20, 1e308)),
            ValueError,
            "exposure is too large to be summed",
        ),
        (lambda: BayesianTreeRegressor(prior=[7, 0, 1, 1]).fit(X, Y), ValueError, r"got \[7, 0, 1, 1\]"),
        (lambda: BayesianTreeClassifier(n_jobs=10**30).fit(X, Y), ValueError, str(10**30)),
        (
            lambda: BayesianTreeClassifier().fit(X, Y).partial_fit(X[:1], np.array([2])),
            ValueError,
            r"y has the class 2, which is not one of the classes \[0, 1\]",
        ),
        (lambda: partition_space(X, np.linspace(0, 1, 20)), ValueError, "y holds 20 different numbers: say outcome="),
    ],
)
def test_messages_say_what_is_wrong(fit, error, words):
    with pytest.raises(error, match=words) as caught:
        fit()
    assert "np." not in str(caught.value)


@pytest.mark.parametrize(
    "damage",
    [
        lambda d: d.__setitem__("version", 0),
        lambda d: d.__setitem__("version", True),
        lambda d: d["stores"]["trees"]["statistics"].__setitem__("array", "<08"),
        lambda d: d["stores"]["trees"]["statistics"].__setitem__("shape", [10**8, 2]),
        lambda d: d["stores"]["trees"]["prior"]["values"].__setitem__(0, -1.0),
        lambda d: d["stores"]["trees"]["statistics"]["values"].__setitem__(0, -100.0),
        lambda d: d["stores"]["trees"]["statistics"]["values"].__setitem__(0, "nan"),
        lambda d: d["outcome"]["state"].__setitem__("classes", None),
        lambda d: d["schema"].__setitem__("kinds", ["number"] * 10**6),
    ],
)
@pytest.mark.parametrize("with_checksum", [True, False])
def test_a_file_is_checked_value_by_value(damage, with_checksum):
    document = json.loads(json.dumps(to_dict(BayesianTreeClassifier(prior=0.1).fit(X, Y))))
    damage(document)
    if with_checksum:
        document["sha256"] = _checksum(document)
    with pytest.raises(ValueError, match=r"damaged|format version"):
        from_dict(document)


def test_many_classes_cost_no_more_than_their_number():
    y = np.arange(400) % 200
    model = TreeSpaceClassifier(max_nodes=5).fit(np.arange(400.0)[:, None], y)
    assert model.space_.leaves.log_ceiling.shape == (model.space_.node_count,)


@pytest.mark.parametrize("scale", ["log", "linear"])
@pytest.mark.parametrize("feature", ["good", "poor", "words"])
def test_the_splits_of_a_poor_feature_are_drawn(scale, feature):
    plt = pytest.importorskip("matplotlib.pyplot")
    import pandas as pd

    from baytree import plot

    random = np.random.default_rng(0)
    good = random.normal(size=3000)
    words = random.choice(["a", "b", "c"], 3000)
    table = pd.DataFrame({"good": good, "poor": random.normal(size=3000), "words": words})
    ax = plot.partition_posterior(table, (good > 0).astype(int), feature, scale=scale)
    drawn = sum(len(line.get_xdata()) for line in ax.lines) + len(ax.containers)
    assert drawn > 0
    low, high = ax.get_ylim()
    assert np.isfinite([low, high]).all()
    if feature != "words":
        points = max(ax.lines, key=lambda line: len(line.get_xdata()))
        assert np.all((points.get_ydata() >= low) & (points.get_ydata() <= high))
        assert len(points.get_xdata()) > 10
    plt.close("all")


def test_an_output_is_never_an_input(tmp_path, capsys):
    from baytree.cli import main

    data = tmp_path / "a.csv"
    data.write_text("x,target\n" + "\n".join(f"{i},{i % 2}" for i in range(20)))
    before = data.read_text()
    assert main(["report", str(data), "--target", "target", "--out", str(tmp_path / "." / "a.csv")]) == 1
    assert "would overwrite" in capsys.readouterr().err
    assert data.read_text() == before


def test_the_version_is_told(capsys):
    from baytree.cli import main

    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("baytree ")
