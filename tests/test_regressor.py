"""The regressor: what holds for real outcomes beyond equality with the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, load
from baytree.outcomes import REGRESSION_OUTCOMES, NegativeBinomial
from tests import strategies
from tests.comparison import assert_same_arrays

OUTCOMES = list(REGRESSION_OUTCOMES)


def problem(outcome, n=400, seed=0):
    """A table with two useful columns, and outcomes of the kind."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 3))
    rate = np.exp(0.8 * (X[:, 0] > 0) + 0.6 * (X[:, 1] > 0.5))
    y = {
        "normal": lambda: 3 * rate + random.normal(size=n),
        "poisson": lambda: random.poisson(3 * rate),
        "negative_binomial": lambda: random.poisson(random.gamma(2, 3 * rate / 2)),
        "exponential": lambda: random.exponential(1 / rate) + 1e-9,
    }[outcome]()
    return X, y


def settled(outcome):
    """The outcome with all that a fit would choose given."""
    return NegativeBinomial(dispersion=0.5) if outcome == "negative_binomial" else outcome


def same_structure(a, b):
    return all(
        np.array_equal(getattr(a.tree_, name), getattr(b.tree_, name))
        for name in ("children_left", "children_right", "feature", "threshold", "n_node_samples")
    )


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e6, 1e9, 1e12])
def test_d7_an_offset_in_y_changes_no_tree(offset):
    X, y = problem("normal")
    y = np.round(y * 16) / 16  # exact under every offset
    base, shifted = BayesianTreeRegressor().fit(X, y), BayesianTreeRegressor().fit(X, y + offset)
    assert base.get_n_leaves() > 2
    assert same_structure(base, shifted)
    assert_allclose(shifted.predict(X) - offset, base.predict(X), atol=1e-14 * offset + 1e-9)
    assert_allclose(shifted.log_evidence_, base.log_evidence_, rtol=1e-7)


@given(st.floats(1e-6, 1e6), st.floats(-1e3, 1e3))
def test_the_units_of_y_change_only_the_scale_of_the_answers(scale, shift):
    X, y = problem("normal", 80)
    base = BayesianTreeRegressor(max_depth=3).fit(X, y)
    other = BayesianTreeRegressor(max_depth=3).fit(X, scale * y + shift * scale)
    assert same_structure(base, other)
    assert_allclose(other.predict(X), scale * (base.predict(X) + shift), rtol=1e-7, atol=1e-7 * scale)
    assert_allclose(other.predict_interval(X), scale * (base.predict_interval(X) + shift), rtol=1e-6, atol=1e-6 * scale)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_d9_smoothing_reaches_the_posterior_of_every_child(outcome):
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array([1.0, 1.0, 40.0, 40.0])
    model = BayesianTreeRegressor(outcome=outcome, smoothing=0.5, partition_prior=0.9).fit(X, y)
    plain = BayesianTreeRegressor(outcome=outcome, partition_prior=0.9).fit(X, y)
    assert model.get_n_leaves() == plain.get_n_leaves() == 2
    assert not np.any(np.all(model.tree_.prior[1:] == model.tree_.prior[0], axis=1))
    assert not np.any(np.isclose(model.tree_.posterior[1:], plain.tree_.posterior[1:]).all(axis=1))


def test_d16_smoothing_of_the_normal_counts_rows_delta_times():
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    y = np.array([1.0, 2.0, 40.0, 42.0])
    mu, kappa, alpha, beta = prior = np.array([10.0, 0.5, 1.0, 2.0])
    delta = 0.3
    model = BayesianTreeRegressor(prior=prior, smoothing=delta, partition_prior=0.999).fit(X, y)
    assert model.get_n_leaves() >= 2
    child = model.tree_.prior[1]
    n, mean, squares = 2 * delta, 1.5, 0.5 * delta
    after = kappa + n
    expected = [
        (kappa * mu + n * mean) / after,
        after,
        alpha + n / 2,
        beta + squares / 2 + kappa * n * (mean - mu) ** 2 / (2 * after),
    ]
    assert_allclose(child, expected, rtol=1e-12)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_predictions_agree_with_the_predictive_distribution(outcome):
    X, y = problem(outcome)
    model = BayesianTreeRegressor(outcome=outcome).fit(X, y)
    distribution = model.predict_dist(X)
    mean, std = model.predict(X, return_std=True)
    assert_allclose(distribution.mean(), mean, rtol=1e-9)
    assert_allclose(distribution.std(), std, rtol=1e-9)
    assert_allclose(model.predict_interval(X, level=0.8), model.predict_quantiles(X, [0.1, 0.9]), rtol=1e-9)
    assert_allclose(distribution.ppf(0.3), model.predict_quantiles(X, 0.3)[:, 0], rtol=1e-9)
    narrow = model.predict_interval(X, kind="mean")
    assert np.all(narrow[:, 1] - narrow[:, 0] < np.ptp(model.predict_interval(X), axis=1))
    assert model.posterior(X).shape == (len(X), len(REGRESSION_OUTCOMES[outcome].parameter_names))


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_intervals_hold_on_new_rows(outcome):
    X, y = problem(outcome, 2000)
    X_new, y_new = problem(outcome, 4000, seed=1)
    low, high = BayesianTreeRegressor(outcome=outcome).fit(X, y).predict_interval(X_new, level=0.9).T
    assert np.mean((y_new >= low) & (y_new <= high)) > 0.87
    assert np.mean((y_new > low) & (y_new < high)) < 0.93  # without the ends, on which many counts lie


def test_predictive_distributions_are_what_the_docs_say():
    X, y = problem("normal")
    model = BayesianTreeRegressor().fit(X, y)
    mu, kappa, alpha, beta = model.posterior(X[:1])[0]
    scale = model.spread_ * np.sqrt(beta * (kappa + 1) / (alpha * kappa))
    expected = stats.t(2 * alpha, loc=mu, scale=scale)
    assert_allclose(model.predict_dist(X[:1]).logpdf(1.0), expected.logpdf(1.0))


@pytest.mark.parametrize("outcome", ["categorical", *OUTCOMES])
def test_partial_fit_gives_the_posteriors_of_routing_all_rows(outcome):
    X, y = problem("normal" if outcome == "categorical" else outcome)
    if outcome == "categorical":
        y = np.where(y > np.median(y), "high", "low")
    outcome_to_fit = settled(outcome)
    make = BayesianTreeClassifier if outcome == "categorical" else lambda: BayesianTreeRegressor(outcome=outcome_to_fit)
    half = make().fit(X[:200], y[:200])
    updated = make().fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    assert_array_equal(half.tree_.threshold, updated.tree_.threshold)
    leaves = half.apply(X)
    assert half.get_n_leaves() > 1
    for leaf in np.unique(leaves):
        alone = make().set_params(prior=half.prior_, max_depth=0)
        rows = leaves == leaf
        if outcome == "categorical" and len(np.unique(y[rows])) < 2:
            continue
        alone.fit(X[rows], y[rows])
        assert_allclose(updated.tree_.posterior[leaf], alone.tree_.posterior[0], rtol=1e-9)
        assert updated.tree_.n_node_samples[leaf] == rows.sum()
    root = make().set_params(prior=half.prior_, max_depth=0).fit(X, y)
    assert_allclose(updated.tree_.posterior[0], root.tree_.posterior[0], rtol=1e-9)


def test_partial_fit_before_fit_is_a_fit_and_may_name_the_classes():
    X, y = problem("poisson")
    labels = np.where(y > 5, "many", "few")
    first = BayesianTreeClassifier().partial_fit(X[:50], labels[:50], classes=["few", "many", "none"])
    assert list(first.classes_) == ["few", "many", "none"]
    assert first.predict_proba(X).shape == (len(X), 3)
    with pytest.raises(ValueError, match="'other'"):
        first.partial_fit(X[:1], ["other"])
    assert same_structure(BayesianTreeRegressor().partial_fit(X, y), BayesianTreeRegressor().fit(X, y))


@pytest.mark.parametrize("outcome", ["categorical", *OUTCOMES])
def test_the_evidence_chooses_the_prior_of_highest_evidence(outcome):
    X, y = problem("normal" if outcome == "categorical" else outcome)
    if outcome == "categorical":
        y = (y > np.median(y)).astype(int)
        model, default = BayesianTreeClassifier(prior="evidence"), BayesianTreeClassifier()
    else:
        model, default = (BayesianTreeRegressor(outcome=outcome, prior=prior) for prior in ("evidence", None))
    model.fit(X, y)
    if outcome != "negative_binomial":  # whose dispersion each half of the rows chooses for the other
        missed = 1.0  # nats, by a search of nine values
        assert model.log_evidence_ >= default.fit(X, y).log_evidence_ - missed
    outcome_to_fit = NegativeBinomial(1 / model.outcome_.size) if outcome == "negative_binomial" else outcome
    given = {"prior": model.prior_} | ({} if outcome == "categorical" else {"outcome": outcome_to_fit})
    again = type(model)(**model.get_params(deep=False) | given).fit(X, y)
    assert_allclose(again.log_evidence_, model.log_evidence_, rtol=1e-12)
    assert_array_equal(again.tree_.feature, model.tree_.feature)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_are_bit_identical_for_any_number_of_threads(outcome, weighted):
    X, y = problem(outcome, 50_000)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    one, *others = (
        BayesianTreeRegressor(outcome=outcome, n_jobs=n_jobs).fit(X, y, sample_weight=weight) for n_jobs in (1, 2, 5)
    )
    assert one.get_n_leaves() > 2
    for other in others:
        assert_same_arrays(one, other)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_saved_model_predicts_the_same(outcome, tmp_path):
    X, y = problem(outcome)
    model = BayesianTreeRegressor(outcome=outcome, prior="evidence").fit(X, y)
    model.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert_array_equal(loaded.predict_interval(X), model.predict_interval(X))
    assert_array_equal(loaded.partial_fit(X, y).predict(X), model.partial_fit(X, y).predict(X))


@given(strategies.tables(), st.floats(-1e6, 1e6))
def test_a_constant_outcome_is_one_leaf(X, value):
    model = BayesianTreeRegressor().fit(X, np.full(len(X), value))
    assert model.get_n_leaves() == 1
    assert_allclose(model.predict(X), value, rtol=1e-12, atol=1e-12)
    assert np.all(np.isfinite(model.predict_interval(X)))


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_one_row(outcome):
    model = BayesianTreeRegressor(outcome=outcome).fit([[1.0, 2.0]], [3.0])
    assert model.get_n_leaves() == 1
    assert np.all(np.isfinite(model.predict_interval([[0.0, 0.0]])))


def test_counts_without_any_event():
    model = BayesianTreeRegressor(outcome="poisson").fit(np.arange(10.0)[:, None], np.zeros(10))
    assert 0 < model.predict([[3.0]])[0] < 1


def test_the_dispersion_of_counts_is_found():
    X, y = problem("negative_binomial", 2000)
    model = BayesianTreeRegressor(outcome="negative_binomial").fit(X, y)
    assert 0.3 <= 1 / model.outcome_.size <= 0.8  # it is 0.5
    even = BayesianTreeRegressor(outcome="negative_binomial").fit(*problem("poisson", 2000))
    assert 1 / even.outcome_.size <= 0.05  # it is 0


def test_next_to_no_dispersion_is_the_poisson_outcome():
    X, y = problem("poisson")
    size, (shape, rate) = 1e7, (2.0, 0.5)
    poisson = BayesianTreeRegressor(outcome="poisson", prior=[shape, rate]).fit(X, y)
    other = BayesianTreeRegressor(outcome=NegativeBinomial(1 / size), prior=[rate * size + 1, shape]).fit(X, y)
    assert same_structure(poisson, other)
    assert_allclose(other.predict(X), poisson.predict(X), rtol=1e-4)
    assert_allclose(other.log_evidence_, poisson.log_evidence_, rtol=1e-4)
    assert_array_equal(other.predict_interval(X), poisson.predict_interval(X))


@pytest.mark.parametrize("dispersion", [0, -1, np.nan, np.inf, "a"])
def test_a_bad_dispersion_is_named(dispersion):
    with pytest.raises((ValueError, TypeError), match="dispersion"):
        BayesianTreeRegressor(outcome=NegativeBinomial(dispersion)).fit([[0.0], [1.0]], [1, 2])


def test_exposure_counts_as_more_time():
    X, y = problem("poisson")
    twice = BayesianTreeRegressor(outcome="poisson").fit(X, y, exposure=np.full(len(y), 2.0))
    once = BayesianTreeRegressor(outcome="poisson").fit(X, y)
    assert_allclose(2 * twice.predict(X), once.predict(X), rtol=1e-9)


def test_censored_durations_mean_longer_ones():
    X, y = problem("exponential")
    event = np.random.default_rng(0).random(len(y)) < 0.5
    assert np.all(
        BayesianTreeRegressor(outcome="exponential", max_depth=0).fit(X, y, event=event).predict(X)
        > BayesianTreeRegressor(outcome="exponential", max_depth=0).fit(X, y).predict(X)
    )


BAD_TARGETS = [
    ("poisson", [1, 2, -1, 3], {}, "y is negative in row 2"),
    ("poisson", [1, 2, 1.5, 3], {}, "y is not a whole number in row 2"),
    ("poisson", [1, 2, 1, 3], {"exposure": [1, 1, 0, 1]}, "exposure must be positive; it is 0 in row 2"),
    ("poisson", [1, 2, 1, 3], {"exposure": [1, 1]}, "exposure must hold one number per row"),
    ("poisson", [1, 2, 1, 3], {"exposure": [1, np.nan, 1, 1]}, "exposure holds NaN"),
    ("poisson", [1, 2, 1, 3], {"event": [1, 1, 1, 1]}, "event is for outcome='exponential' only"),
    ("exponential", [1, 2, 0, 3], {}, "y is not positive in row 2"),
    ("exponential", [1, 2, 1, 3], {"event": [1, 2, 0, 1]}, "event must be True or False"),
    ("exponential", [1, 2, 1, 3], {"event": ["a", "b", "c", "d"]}, "event must be True or False"),
    (
        "exponential",
        [1, 2, 1, 3],
        {"exposure": [1, 1, 1, 1]},
        "exposure is for outcome='poisson' or 'negative_binomial' only; outcome is 'exponential'",
    ),
    ("normal", [1, 2, np.nan, 3], {}, "y contains NaN"),
    ("normal", [1, 2, np.inf, 3], {}, "y contains infinity"),
    ("normal", [1, 2, 1e200, -1e200], {}, "y is too large to be squared"),
    ("gaussian", [1, 2, 1, 3], {}, "outcome must be one of 'normal'"),
    (object(), [1, 2, 1, 3], {}, "object lacks prior"),
]


@pytest.mark.parametrize(("outcome", "y", "extras", "message"), BAD_TARGETS)
def test_bad_targets_get_one_clear_sentence(outcome, y, extras, message):
    model = BayesianTreeRegressor(outcome=outcome)
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        model.fit(np.arange(8.0).reshape(4, 2), y, **extras)
    assert "\n" not in str(caught.value)
    assert not hasattr(model, "tree_")


@pytest.mark.parametrize(
    ("outcome", "prior", "message"),
    [
        ("normal", [0, 1, 1], "one number per parameter"),
        ("normal", [0, 1, 1, 0], "prior must be positive"),
        ("normal", [np.nan, 1, 1, 1], "prior must be finite"),
        ("poisson", [1, -1], "prior must be positive"),
        ("poisson", "strong", "prior must be None, 'evidence'"),
        ("exponential", 3.0, "one number per parameter"),
    ],
)
def test_bad_priors_get_one_clear_sentence(outcome, prior, message):
    with pytest.raises((ValueError, TypeError), match=message):
        BayesianTreeRegressor(outcome=outcome, prior=prior).fit([[1.0], [2.0]], [1.0, 2.0])
