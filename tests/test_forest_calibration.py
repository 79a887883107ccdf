"""The class probabilities of forests are calibrated by the trees that lack a row."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from baytree import BayesianForestClassifier, load
from baytree.export import shap_values, to_shap
from baytree.fitted import contributions
from baytree.outcomes import ForestCalibration, OutOfBagProbabilities, estimate_forest_calibration
from tests.reference import calibration as naive

CASES = {2: ForestCalibration(1.7, np.array([0.4, -0.4])), 4: ForestCalibration(0.6, np.array([0.5, -0.2, -0.4, 0.1]))}


def random_rows(seed, n_classes, n=40):
    random = np.random.default_rng(seed)
    whole, one, other = random.dirichlet(np.full(n_classes, 0.7), (3, n)) * 0.98 + 0.02 / n_classes
    return OutOfBagProbabilities(
        whole, (one, other), random.uniform(0, 1, n), random.integers(0, n_classes, n), random.integers(1, 4, n) * 1.0
    )


def forest(**parameters):
    return BayesianForestClassifier(**{"n_estimators": 30, "random_state": 0} | parameters)


@pytest.fixture(scope="module", params=[load_breast_cancer, load_wine], ids=["two classes", "three classes"])
def fitted(request):
    X, y = request.param(return_X_y=True)
    return X, y, forest().fit(X, y), forest(calibrate=False).fit(X, y)


@pytest.mark.parametrize("n_classes", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_loss_is_that_of_rows_one_by_one(seed, n_classes):
    rows, (exponent, intercepts) = random_rows(seed, n_classes), CASES[n_classes]
    loss, of_exponent, of_intercepts = rows.loss(exponent, intercepts)
    assert_allclose(loss, naive.forest_loss(rows, exponent, intercepts))
    figures = np.array([exponent, *intercepts])
    slopes = optimize.approx_fprime(figures, lambda x: naive.forest_loss(rows, x[0], x[1:]), 1e-6)
    assert_allclose([of_exponent, *of_intercepts], slopes, atol=1e-3)


@pytest.mark.parametrize("n_classes", CASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_figures_have_the_highest_posterior(seed, n_classes):
    rows = random_rows(seed, n_classes)
    rows = rows._replace(gain=rows.gain / 5)

    def loss(figures):
        exponent, intercepts = float(np.exp(figures[0])), figures[1:]
        return naive.forest_loss(rows, exponent, intercepts) + naive.forest_penalty(exponent, intercepts)

    found = estimate_forest_calibration(rows)
    expected = optimize.minimize(loss, np.zeros(n_classes + 1), method="BFGS").x
    assert_allclose(found.exponent, np.exp(expected[0]), atol=2e-4)
    assert_allclose(found.intercepts, expected[1:] - expected[1:].mean(), atol=2e-4)


@pytest.mark.parametrize("n_classes", CASES)
def test_many_rows_find_the_true_figures(n_classes):
    random, calibration = np.random.default_rng(0), CASES[n_classes]
    p = random.dirichlet(np.ones(n_classes), 20_000)
    true = calibration.probabilities(p)
    code = (random.random(len(p))[:, None] > true.cumsum(axis=1)[:, :-1]).sum(axis=1)
    found = estimate_forest_calibration(OutOfBagProbabilities(p, (p, p), np.zeros(len(p)), code, np.ones(len(p))))
    assert_allclose(found.exponent, calibration.exponent, rtol=0.05)
    assert_allclose(found.intercepts, calibration.intercepts, atol=0.06)


def test_neither_the_order_of_rows_nor_copies_change_the_figures():
    rows = random_rows(0, 3)
    order = np.random.default_rng(1).permutation(np.repeat(np.arange(40), rows.weight.astype(int)))
    copies = OutOfBagProbabilities(
        rows.whole[order],
        (rows.halves[0][order], rows.halves[1][order]),
        rows.gain[order],
        rows.code[order],
        np.ones(len(order)),
    )
    found, of_copies = estimate_forest_calibration(rows), estimate_forest_calibration(copies)
    assert found.exponent == of_copies.exponent
    assert_array_equal(found.intercepts, of_copies.intercepts)


@pytest.mark.parametrize("n_classes", CASES)
def test_values_of_a_class_keep_the_proportions_of_the_others(n_classes):
    calibration, p = CASES[n_classes], np.random.default_rng(0).dirichlet(np.ones(n_classes), 5)
    values = np.sort(np.random.default_rng(1).random((5, n_classes, 3)), axis=2)
    result = calibration.values(values, p)
    for row in range(5):
        for c in range(n_classes):
            for k in range(3):
                moved = p[row] * (1 - values[row, c, k]) / (1 - p[row, c])
                moved[c] = values[row, c, k]
                expected = naive.forest_probabilities(moved, *calibration)[c]
                assert_allclose(result[row, c, k], expected)
    assert_allclose(calibration.values(p[..., None], p)[..., 0], calibration.probabilities(p))
    assert np.all(np.diff(result, axis=2) >= 0)
    certain = np.eye(n_classes)[:1]
    assert_allclose(calibration.values(certain[..., None], certain)[..., 0], certain)


@pytest.mark.parametrize("n_classes", CASES)
def test_contributions_follow_the_way_from_the_base(n_classes):
    calibration, random = CASES[n_classes], np.random.default_rng(2)
    base, p = random.dirichlet(np.ones(n_classes), (2, 4))
    added = random.normal(size=(4, 3, n_classes))
    added -= added.mean(axis=2, keepdims=True)
    added[:, 2] = p - base - added[:, :2].sum(axis=1)
    result = calibration.contributions(added, base)
    change = calibration.probabilities(p) - calibration.probabilities(base)
    assert_allclose(result.sum(axis=1), change, atol=1e-14)
    for row in range(4):
        assert_allclose(result[row], naive.forest_contributions(added[row], base[row], *calibration), atol=1e-5)
    if n_classes == 2:
        assert_allclose(result, added * (change / (p - base))[:, None], atol=1e-9)
    assert_allclose(calibration.errors(np.zeros_like(added), added, base), 0)
    assert np.all(calibration.errors(np.abs(added), added, base) >= np.abs(result) - 1e-9)


def test_predictions_are_the_calibrated_averages(fitted):
    X, _, model, bare = fitted
    exponent, intercepts = model.calibration_
    assert exponent != 1
    assert_array_equal(bare.calibration_.intercepts, 0)
    assert bare.calibration_.exponent == 1
    expected = [naive.forest_probabilities(p, exponent, intercepts) for p in bare.predict_proba(X)]
    assert_allclose(model.predict_proba(X), expected)
    assert_array_equal(model.predict(X), model.classes_[np.argmax(expected, axis=1)])
    assert_array_equal(model.readable_tree_.predict_proba(X), bare.readable_tree_.predict_proba(X))
    assert_array_equal(model.trees_[0].predict_proba(X), bare.trees_[0].predict_proba(X))
    assert model.trees_[0].calibration_.discount == 1


def test_intervals_and_uncertainty_are_those_of_the_calibrated_model(fitted):
    X, _, model, bare = fitted
    X = X[::40]
    quantiles = model.calibration_.values(bare.predict_quantiles(X, [0.05, 0.5, 0.95]), bare.predict_proba(X))
    assert_allclose(model.predict_quantiles(X, [0.05, 0.5, 0.95]), quantiles, rtol=1e-9)
    p = model.predict_proba(X)
    assert_allclose(model.predict_uncertainty(X).sum(axis=1), -(p * np.log(p)).sum(axis=1))


def test_explanations_add_up_to_the_calibrated_prediction(fitted):
    X, _, model, _ = fitted
    X = X[::40]
    p, shap = model.predict_proba(X), shap_values(model, X)
    assert_allclose(shap.base + shap.values.sum(axis=1), p, atol=1e-12)
    for row, explanation in enumerate(model.explain(X)):
        assert explanation.decision == str(model.predict(X[row : row + 1])[0])
        of_decision = p[row, list(model.classes_).index(model.predict(X[row : row + 1])[0])]
        assert_allclose(list(explanation.estimate.values()), p[row])
        total = explanation.base + sum(one.contribution for one in explanation.contributions)
        assert_allclose(total, of_decision, atol=1e-9)
    with pytest.raises(ValueError, match="which this forest calibrates: use shap_values"):
        to_shap(model)


def test_background_values_add_up_too():
    X, y = load_wine(return_X_y=True)
    model = forest(partitions="axis").fit(X, y)
    shap = shap_values(model, X[:4], background=X[::20])
    assert_allclose(shap.base + shap.values.sum(axis=1), model.predict_proba(X[:4]), atol=1e-12)
    assert_allclose(shap.base.sum(), 1)


def test_sampled_contributions_have_larger_errors_too(fitted):
    X, _, model, bare = fitted
    rows = model._read(X[:2])
    exact = contributions(bare.fitted_, rows)
    unsure = replace(exact, error=np.full_like(exact.error, 0.01))
    errors = model.calibration_.errors(unsure.error, exact.values, exact.base)
    assert np.all(errors > 0)
    assert_array_equal(contributions(model.fitted_, rows).error, 0)


def test_out_of_bag_figures_are_calibrated(fitted):
    X, y, _, _ = fitted
    options = {"n_estimators": 150, "oob_score": True}
    one, other = (forest(calibrate=calibrate, **options).fit(X, y) for calibrate in (True, False))
    known = ~np.isnan(other.oob_decision_function_[:, 0])
    expected = one.calibration_.probabilities(other.oob_decision_function_[known])
    assert_allclose(one.oob_decision_function_[known], expected)


def test_neither_order_nor_threads_change_the_calibration(fitted):
    X, y, model, _ = fitted
    order = np.random.default_rng(0).permutation(len(y))
    for other in (forest().fit(X[order], y[order]), forest(n_jobs=2).fit(X, y)):
        assert other.calibration_.exponent == model.calibration_.exponent
        assert_array_equal(other.calibration_.intercepts, model.calibration_.intercepts)


def test_files_keep_the_calibration(fitted, tmp_path):
    X, _, model, _ = fitted
    model.save(tmp_path / "forest.baytree")
    read = load(tmp_path / "forest.baytree")
    assert_array_equal(read.predict_proba(X), model.predict_proba(X))
    assert read.calibration_.exponent == model.calibration_.exponent
    assert_array_equal(read.readable_tree_.predict_proba(X), model.readable_tree_.predict_proba(X))


def test_held_out_rows_are_more_probable():
    X, y = make_classification(2000, 12, n_informative=8, n_classes=6, n_clusters_per_class=1, random_state=0)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    one, other = (forest(calibrate=calibrate).fit(X, y) for calibrate in (True, False))
    assert one.calibration_.exponent > 1
    losses = [log_loss(y_test, model.predict_proba(X_test)) for model in (one, other)]
    assert losses[0] < 0.95 * losses[1]


def test_some_forests_are_not_calibrated():
    random = np.random.default_rng(0)
    few = forest().fit(random.normal(size=(15, 2)), np.arange(15) % 2)
    noise = forest().fit(np.zeros((60, 2)), random.integers(0, 2, 60))
    one_class = forest().fit(random.normal(size=(60, 2)), np.zeros(60))
    for model in (few, noise, one_class):
        assert model.calibration_.exponent == 1
        assert model.fitted_.forest_calibration is None


def test_calibrate_is_true_or_false():
    with pytest.raises(TypeError, match="calibrate must be True or False; got 1"):
        forest(calibrate=1).fit(pd.DataFrame({"x": [0.0, 1.0]}), [0, 1])
