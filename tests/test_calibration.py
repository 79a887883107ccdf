"""Class probabilities and their intervals hold on rows that a tree has not seen."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris

from baytree import BayesianTreeClassifier, TreeSpaceClassifier, load
from baytree.outcomes import CategoricalOutcome, HeldOutCounts, estimate_calibration, estimate_discount
from baytree.outcomes._calibration import DISCOUNTS, STRENGTHS, average_dirichlet
from tests.reference import calibration as naive


def hill(X):
    """Two classes: a smooth hill in the plane."""
    p = 0.1 + 0.75 * np.exp(-0.6 * (X[:, 0] ** 2 + (X[:, 1] - 0.5) ** 2))
    return np.stack([1 - p, p], axis=1)


def stairs(X):
    """Two classes: steps of one column, with a column of few values."""
    p = np.select([X[:, 0] < -1, X[:, 0] < 0.2, X[:, 2] > 0], [0.15, 0.55, 0.9], 0.7)
    return np.stack([1 - p, p], axis=1)


def blurred(X):
    """Three classes, to which several columns add."""
    score = np.stack([1.5 * X[:, 0], 1.2 * X[:, 1], X[:, 3] - 0.8 * X[:, 0]], axis=1)
    p = np.exp(score)
    return p / p.sum(axis=1, keepdims=True)


def bands(X):
    """Four classes, of which one is rare."""
    score = np.stack([np.sin(2 * X[:, 0]), X[:, 1], -X[:, 1] * X[:, 0], np.full(len(X), -2.0)], axis=1)
    p = np.exp(1.5 * score)
    return p / p.sum(axis=1, keepdims=True)


def rare(X):
    """Two classes, one in twenty."""
    p = 0.02 + 0.2 * (X[:, 3] > 1) + 0.1 * (X[:, 1] > 0.8)
    return np.stack([1 - p, p], axis=1)


def draw(shape, n, random):
    X = random.normal(size=(n, 5))
    X[:, 2] = X[:, 2].round()
    p = shape(X)
    return X, p, (random.random(n)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)


def leaves_inside(model, X, p):
    """For each leaf and class, whether the 90 % interval holds the true mean over new rows."""
    leaf = model.apply(X)
    reached = np.unique(leaf)
    truth = np.stack([p[leaf == node].mean(axis=0) for node in reached])
    ends = CategoricalOutcome.quantiles(model.outcome_, model.tree_.calibrated[reached], np.array([0.05, 0.95]))
    return ((truth >= ends[..., 0]) & (truth <= ends[..., 1])).mean(axis=1)


def coverage(shapes, n, n_tables, **parameters):
    inside = []
    for number, shape in enumerate(shapes):
        random, of_shape = np.random.default_rng([n, number]), []
        for _ in range(n_tables):
            X, _, y = draw(shape, n, random)
            new, p, _ = draw(shape, 10_000, random)
            model = BayesianTreeClassifier(**parameters).fit(X, y)
            if model.get_n_leaves() > 1 and len(model.classes_) == p.shape[1]:
                of_shape.append(leaves_inside(model, new, p))
        inside.append(np.concatenate(of_shape).mean())
    return np.array(inside)


@pytest.mark.parametrize("n", [400, 2000])
def test_intervals_of_leaves_hold_nine_in_ten(n):
    shapes = [hill, stairs, bands, rare]
    calibrated, bare = (coverage(shapes, n, 40, calibrate=calibrate) for calibrate in (True, False))
    assert 0.86 < calibrated.mean() < 0.95
    assert bare.mean() < calibrated.mean() - 0.05


def random_counts(random, n_leaves, n_classes):
    seen, held_out = random.integers(0, 30, (n_leaves, n_classes)), random.integers(0, 5, (n_leaves, n_classes))
    rates = random.dirichlet(np.ones(n_classes), n_leaves)
    return HeldOutCounts(seen.astype(float), held_out.astype(float), rates)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_is_that_of_labels_one_by_one(seed, n_classes):
    counts = random_counts(np.random.default_rng(seed), 6, n_classes)
    for discount in (0.1, 0.7, 1.0):
        expected = [naive.log_likelihood(*counts, discount, strength) for strength in (0.5, 4.0, 90.0)]
        assert_allclose(counts.log_likelihood(discount, np.array([0.5, 4.0, 90.0])), expected)


@pytest.mark.parametrize("seed", range(3))
def test_the_points_are_those_of_the_posterior_of_both_figures(seed):
    counts = random_counts(np.random.default_rng(seed), 5, 3)
    assert_allclose(estimate_calibration(counts), naive.posterior_points(*counts, DISCOUNTS, STRENGTHS))
    logs = np.array([naive.log_likelihood(*counts, discount, 2 * discount) for discount in DISCOUNTS])
    weights = DISCOUNTS**2 * np.exp(logs - logs.max())
    discount, strength, share = estimate_discount(counts, 2.0).T
    assert_allclose(share @ discount, DISCOUNTS @ weights / weights.sum(), rtol=1e-5)
    assert_allclose(strength, 2 * discount)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_leaves_have_the_moments_of_the_mixture(n_classes):
    random = np.random.default_rng(n_classes)
    counts, rates = random.integers(0, 30, (6, n_classes)), random.dirichlet(np.ones(n_classes))
    points = np.column_stack([random.uniform(0.1, 1, 5), random.uniform(0.3, 50, 5), np.full(5, 0.2)])
    parameters = average_dirichlet(points, rates, counts.astype(float))
    assert_allclose(parameters, naive.parameters(counts.tolist(), points.tolist(), rates.tolist()))
    drawn = np.stack([random.dirichlet(s * rates + d * counts[0], 40_000) for d, s, _ in points]).reshape(-1, n_classes)
    mean = parameters[0] / parameters[0].sum()
    assert_allclose(drawn.mean(axis=0), mean, atol=0.005)
    assert_allclose(drawn.var(axis=0).sum(), (mean * (1 - mean)).sum() / (parameters[0].sum() + 1), rtol=0.02)


def test_many_rows_find_the_true_figures():
    """Counts drawn from the model itself: probabilities of a leaf given its counts, then held-out labels."""
    random, discount, strength = np.random.default_rng(0), 0.6, 12.0
    seen = random.multinomial(60, [0.5, 0.3, 0.2], 3000) * random.uniform(0.2, 3, (3000, 1)).round(1)
    rates = np.tile([0.5, 0.3, 0.2], (3000, 1))
    p = np.stack([random.dirichlet(strength * r + discount * n) for r, n in zip(rates, seen, strict=True)])
    held_out = np.stack([random.multinomial(40, p_of_row) for p_of_row in p]).astype(float)
    discounts, strengths, share = estimate_calibration(HeldOutCounts(seen, held_out, rates)).T
    assert_allclose((share @ discounts, np.exp(share @ np.log(strengths))), (discount, strength), rtol=0.1)


def test_without_held_out_rows_both_figures_are_those_of_their_priors():
    nothing = np.zeros((0, 2))
    discount, strength, share = estimate_calibration(HeldOutCounts(nothing, nothing, nothing)).T
    assert_allclose(share @ discount, 0.75, atol=0.02)  # the mean of Beta(3, 1)
    assert_allclose(np.exp(share @ np.log(strength)), 8.0)


def test_predictions_use_the_calibrated_parameters():
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianTreeClassifier(n_jobs=2).fit(X, y)
    discount, _, rates = model.calibration_
    counts = model.tree_.leaves.statistics
    assert_allclose(rates, (counts[0] + 1) / (counts[0].sum() + 2))
    parameters = np.array(naive.parameters(counts.tolist(), model.outcome_.points.tolist(), rates.tolist()))
    assert 0 < discount < 1
    assert_allclose(model.tree_.calibrated, parameters)
    assert_allclose(model.predict_proba(X), (parameters / parameters.sum(axis=1, keepdims=True))[model.apply(X)])
    assert_allclose(model.posterior(X), (counts + 1)[model.apply(X)])
    ends = model.outcome_.quantiles(parameters[model.apply(X)], np.array([0.05, 0.95]))
    assert_allclose(model.predict_interval(X), ends)


def test_without_calibration_predictions_are_those_of_the_posterior():
    X, y = load_breast_cancer(return_X_y=True)
    model, bare = BayesianTreeClassifier().fit(X, y), BayesianTreeClassifier(calibrate=False).fit(X, y)
    assert_array_equal(model.tree_.posterior, bare.tree_.posterior)
    posterior = bare.posterior(X)
    assert_allclose(bare.predict_proba(X), posterior / posterior.sum(axis=1, keepdims=True))
    assert bare.calibration_[:2] == (1.0, 2.0)
    assert_array_equal(bare.calibration_.rates, 0.5)
    assert model.log_evidence_ == bare.log_evidence_


def test_nothing_but_the_values_of_the_rows_counts():
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(1).integers(1, 3, len(y)).astype(float)
    order = np.random.default_rng(0).permutation(len(y))
    for weights in ({}, {"sample_weight": weight}):
        model = BayesianTreeClassifier().fit(X, y, **weights)
        other = BayesianTreeClassifier(n_jobs=2).fit(X[order], y[order], **{k: w[order] for k, w in weights.items()})
        assert_allclose(other.calibration_[:2], model.calibration_[:2], rtol=1e-12)
        assert_array_equal(other.tree_.posterior, model.tree_.posterior)


def test_files_and_further_rows_keep_the_calibration(tmp_path):
    X, y = load_iris(return_X_y=True)
    model = BayesianTreeClassifier().fit(X[::2], y[::2])
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.calibration_[:2] == model.calibration_[:2]
    more = again.partial_fit(X[1::2], y[1::2])
    assert more.calibration_[:2] == model.calibration_[:2]
    counts = more.tree_.leaves.statistics
    assert counts[0].sum() == len(y)
    assert_allclose(more.tree_.calibrated, naive.parameters(counts, model.outcome_.points, model.calibration_.rates))


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_constrained_probabilities_stay_in_order(smoothing):
    """Drawing small leaves more than large ones could put them in another order, so their means stay."""
    random = np.random.default_rng(0)
    X, _, y = draw(hill, 3000, random)
    X[:, 0] = -np.abs(X[:, 0])
    parameters = {"monotonic_cst": {0: 1}, "smoothing": smoothing}
    model, bare = (BayesianTreeClassifier(calibrate=c, **parameters).fit(X, y) for c in (True, False))
    assert model.get_n_leaves() > 3
    assert model.calibration_.discount < 1
    assert_allclose(model.predict_proba(X), bare.predict_proba(X), rtol=1e-12)
    assert np.all(np.ptp(model.predict_interval(X), axis=2) > np.ptp(bare.predict_interval(X), axis=2))
    X = np.repeat(X[:50], 40, axis=0)
    X[:, 0] = np.tile(np.linspace(-3, 0, 40), 50)
    assert np.all(np.diff(model.predict_proba(X)[:, 1].reshape(50, 40)) >= 0)


def test_a_tree_without_a_split_needs_no_calibration():
    one_class = BayesianTreeClassifier().fit(np.arange(19.0)[:, None], np.zeros(19))
    noise = BayesianTreeClassifier().fit(np.random.default_rng(0).random((200, 2)), np.arange(200) % 2)
    for model in (one_class, noise):
        assert model.get_n_leaves() == 1
        assert model.calibration_[:2] == (1.0, 2.0)


@pytest.mark.parametrize("n", [15, 30])
def test_intervals_hold_in_small_tables_too(n):
    """Where few rows are held out, the prior of the discount and of the strength decides, which is wide."""
    calibrated, bare = (coverage([blurred], n, 150, calibrate=calibrate) for calibrate in (True, False))
    assert calibrated.mean() > 0.8
    assert bare.mean() < calibrated.mean() - 0.04


def test_rows_that_are_too_few_to_be_held_out_leave_the_prior():
    X = np.arange(19.0)[:, None]
    model = BayesianTreeClassifier().fit(X, X[:, 0] > 9)
    assert model.get_n_leaves() == 2
    assert 0.7 < model.calibration_.discount < 0.9


@pytest.mark.parametrize("n", [20, 25, 40])
def test_few_rows_are_calibrated_by_what_they_are(n):
    """A pure table says that little is to be discounted; a class that some fold lacks is no obstacle."""
    X = np.linspace(0, 1, n)[:, None]
    model = BayesianTreeClassifier().fit(X, np.where(X[:, 0] < 0.5, "a", "b"))
    assert model.calibration_.strength < 8
    assert np.all(model.predict_proba(X).max(axis=1) > 0.85)
    y = np.where(X[:, 0] < 0.5, "a", "b")
    y[-1] = "c"
    model = BayesianTreeClassifier().fit(X, y)
    assert np.all(model.predict_proba(X) > 0)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_weights_of_classes_are_weights():
    """Probabilities are those of the weighted table, and so are the rates."""
    X, y = load_breast_cancer(return_X_y=True)
    model = BayesianTreeClassifier(class_weight={0: 3.0, 1: 1.0}).fit(X, y)
    weighted = BayesianTreeClassifier().fit(X, y, sample_weight=np.where(y == 0, 3.0, 1.0))
    assert_array_equal(model.predict_proba(X), weighted.predict_proba(X))
    assert_allclose(model.calibration_.rates[0], (3 * np.sum(y == 0) + 1) / (3 * np.sum(y == 0) + np.sum(y == 1) + 2))


def test_decisions_use_the_calibrated_probabilities():
    X, y = load_breast_cancer(return_X_y=True)
    p = BayesianTreeClassifier().fit(X, y).predict_proba(X)[:, 1]
    levels = np.unique(p)
    threshold = float((levels[0] + levels[1]) / 2)
    model = BayesianTreeClassifier(decision=threshold).fit(X, y)
    assert_array_equal(model.predict(X), p >= threshold)


def test_calibrate_must_be_true_or_false():
    with pytest.raises(TypeError, match="calibrate must be True or False; got 'yes'"):
        BayesianTreeClassifier(calibrate="yes").fit([[0.0], [1.0]], [0, 1])


def test_tree_spaces_have_no_calibration():
    X, y = load_iris(return_X_y=True)
    model = TreeSpaceClassifier(max_nodes=20).fit(X, y)
    assert not hasattr(model, "calibration_")
    with pytest.raises(AttributeError, match="A tree space has no calibration_: its class probabilities are not"):
        model.calibration_  # noqa: B018
