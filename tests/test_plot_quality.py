"""Plots of how good a model is, and plots of many classes and many leaves."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics import confusion_matrix, roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, partition_space, plot
from baytree._words import percent_text

DATA = load_breast_cancer(as_frame=True)
X, Y = DATA.data, DATA.target_names[DATA.target]
TRAIN, TEST = np.arange(len(Y)) % 2 == 0, np.arange(len(Y)) % 2 == 1
MODEL = BayesianTreeClassifier(prior=1.0, decision=0.3).fit(X[TRAIN], Y[TRAIN])


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    plt.close("all")


def letters(n=3000):
    random = np.random.default_rng(0)
    kind = random.integers(0, 26, n)
    centres = random.normal(0, 2.2, (26, 4))
    table = pd.DataFrame(centres[kind] + random.normal(size=(n, 4)), columns=["one", "two", "three", "four"])
    return table, np.array([f"letter {chr(65 + i)}" for i in kind])


LETTERS, KINDS = letters()
MANY = BayesianTreeClassifier(prior=0.1).fit(LETTERS, KINDS)


def drawn(ax):
    """Draw, and return all texts; nothing is cut off."""
    figure = ax.figure
    figure.canvas.draw()
    inside, extent = figure.bbox.extents, ax.get_tightbbox(figure.canvas.get_renderer()).extents
    assert np.all(extent[:2] >= inside[:2] - 2)
    assert np.all(extent[2:] <= inside[2:] + 2)
    texts = [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
    texts += [] if ax.get_legend() is None else ax.get_legend().get_texts()
    return [text.get_text() for text in texts]


def test_the_roc_curve_has_the_models_own_decision():
    ax = plot.roc(MODEL, X[TEST], Y[TEST])
    said = drawn(ax)
    area = roc_auc_score(Y[TEST] == "malignant", MODEL.predict_proba(X[TEST])[:, 1])
    assert f"area under the curve: {area:.3f}" in said
    assert "its decision, from 30 % on" in said
    (tn, fp), (fn, tp) = confusion_matrix(Y[TEST], MODEL.predict(X[TEST]))
    (point,) = (line for line in ax.lines if line.get_marker() == "o")
    assert point.get_xdata()[0] == pytest.approx(fp / (fp + tn))
    assert point.get_ydata()[0] == pytest.approx(tp / (tp + fn))


def test_a_wrapper_draws_its_own_threshold():
    wrapped = FixedThresholdClassifier(make_pipeline(StandardScaler(), BayesianTreeClassifier()), threshold=0.11)
    assert "its decision, from 11 % on" in drawn(plot.roc(wrapped.fit(X[TRAIN], Y[TRAIN]), X[TEST], Y[TEST]))


def test_confusion_counts_decisions():
    ax = plot.confusion(MODEL, X[TEST], Y[TEST])
    said = drawn(ax)
    for count in confusion_matrix(Y[TEST], MODEL.predict(X[TEST])).ravel():
        assert any(text.startswith(f"{count}\n") for text in said)
    right = (MODEL.predict(X[TEST]) == Y[TEST]).mean()
    assert percent_text(right) in ax.get_title()


def test_confusion_of_many_classes_puts_the_rest_together():
    ax = plot.confusion(MANY, LETTERS, KINDS)
    said = drawn(ax)
    assert "15 others" in said
    counts = [int(text.get_text().replace(",", "")) for text in ax.texts]
    assert sum(counts) == len(KINDS)
    assert len(counts) == 144


@pytest.mark.parametrize("groups", [np.where(X[TEST]["mean area"] > 500, "large", "small"), X[TEST]["mean area"]])
def test_subgroups_of_two_classes(groups):
    ax = plot.subgroups(MODEL, X[TEST], Y[TEST], groups)
    said = drawn(ax)
    assert {"decided to be malignant", "observed malignant"} <= set(said)
    if len(np.unique(groups)) == 2:
        places = sorted(line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o")
        decided = [np.mean(MODEL.predict(X[TEST][groups == group]) == "malignant") for group in ("large", "small")]
        assert all(any(abs(place - share) < 1e-12 for place in places) for share in decided)


def test_subgroups_of_numbers_and_many_classes():
    table, y = load_diabetes(return_X_y=True, as_frame=True)
    model = BayesianTreeRegressor().fit(table, y)
    assert {"predicted", "observed"} <= set(drawn(plot.subgroups(model, table, y, table["sex"] > 0)))
    assert "decided rightly" in drawn(plot.subgroups(MANY, LETTERS, KINDS, LETTERS["one"] > 0))
    with pytest.raises(ValueError, match="groups must hold one value per row"):
        plot.subgroups(model, table, y, [1, 2])


def test_intervals_hold_what_they_say():
    table, y = load_diabetes(return_X_y=True, as_frame=True)
    model = BayesianTreeRegressor().fit(table[::2], y[::2])
    ax = plot.intervals(model, table[1::2], y[1::2])
    low, high = model.predict_interval(table[1::2]).T
    inside = np.mean((low <= y[1::2]) & (y[1::2] <= high))
    assert ax.get_title().startswith(f"{percent_text(inside)} of the outcomes lie in their 90 % interval")
    assert len(drawn(plot.intervals(model, table, y, level=0.5, max_rows=20))) > 5
    with pytest.raises(TypeError, match="intervals needs a regressor"):
        plot.intervals(MODEL, X, Y)


def test_many_classes_and_leaves_have_pictures_that_fit():
    assert MANY.get_n_leaves() > 70
    said = drawn(plot.calibration(MANY, LETTERS, KINDS))
    assert "probability of each of 21 others" in said
    left, _ = plot.surface(MANY, LETTERS, KINDS, features=("one", "two"))
    assert any("others" in text for text in drawn(left))
    width = left.get_window_extent().width
    assert width > 0.25 * left.figure.bbox.width  # it has not collapsed
    ax = plot.leaves(MANY)
    assert ax.figure.get_figheight() < 20
    said = drawn(ax)
    assert any("the 40 leaves with most rows" in text for text in said)
    assert any(re.match(r"n = [\d,]+, letter [A-Z]: .* (<=|>|<) ", " ".join(text.split())) for text in said)
    tree = plot.tree(MANY)
    assert tree.figure.get_figwidth() < 30
    assert sum("leaves" in text for text in drawn(tree)) > 3


def test_a_large_tree_on_given_axes_is_read():
    figure, ax = plt.subplots(figsize=(9, 5))
    plot.tree(MANY, ax=ax)
    assert min(text.get_fontsize() for text in ax.texts) >= 4.5
    assert len(ax.texts) > 8
    figure.canvas.draw()


def test_the_number_of_a_leaf_is_that_of_the_class_it_names():
    """It said "benign / 0.041": the probability of the other class."""
    ax = plot.tree(MODEL)
    texts = [" ".join(text.get_text().split()) for text in ax.texts]
    ends = [text for text in texts if re.search(r"[\d.]+ % malignant", text)]
    assert len(ends) == MODEL.get_n_leaves()
    for text in ends:
        first, share = text.split(" ")[0], float(re.search(r"([\d.]+) % malignant", text).group(1))
        assert first == ("malignant" if share >= 30 else "benign")


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_splits_are_drawn_by_the_settings_of_a_model(scale):
    model = BayesianTreeRegressor(partition_prior=0.7).fit(X, X["mean area"])
    ax = plot.partition_posterior(X, X["mean area"], "worst radius", model=model, scale=scale)
    space = partition_space(X, X["mean area"], model=model)
    expected = partition_space(X, X["mean area"], outcome="normal", partition_prior=0.7, prior=model.prior_)
    assert np.array_equal(space["log_posterior"], expected["log_posterior"])
    assert len(ax.lines[0].get_xdata()) > 0
    pipeline = make_pipeline(StandardScaler(), TreeSpaceClassifier(max_nodes=5)).fit(X, Y)
    assert len(partition_space(X, Y, model=pipeline)) > 1000
    with pytest.raises(ValueError, match="model has an outcome and a prior of its own"):
        partition_space(X, Y, model=model, outcome="normal")


@pytest.mark.parametrize("scale", ["log", "linear"])
def test_splits_of_inferior_and_text_columns_have_pictures(scale):
    random = np.random.default_rng(0)
    good = random.normal(size=3000)
    frame = pd.DataFrame({"good": good, "poor": random.normal(size=3000), "word": random.choice(list("abc"), 3000)})
    for feature in frame:
        ax = plot.partition_posterior(frame, np.where(good > 0, "yes", "no"), feature, scale=scale)
        assert len(ax.patches) > 0
        drawn(ax)


@pytest.mark.parametrize("draw", [plot.roc, plot.confusion])
def test_regressors_and_unknown_labels_are_refused(draw):
    model = BayesianTreeRegressor().fit(X, X["mean area"])
    with pytest.raises(TypeError, match="needs a classifier"):
        draw(model, X, Y)
    with pytest.raises(ValueError, match="y holds the label 'maybe'"):
        draw(MODEL, X, np.full(len(X), "maybe"))


def test_the_roc_curve_needs_two_classes():
    flowers = BayesianTreeClassifier().fit(*load_iris(return_X_y=True))
    with pytest.raises(ValueError, match=r"roc needs two classes, the model has 3: use plot\.confusion"):
        plot.roc(flowers, *load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="roc needs rows of both classes"):
        plot.roc(MODEL, X[Y == "benign"], Y[Y == "benign"])


def test_a_model_in_place_of_a_table_is_refused_with_a_sentence():
    X = np.random.default_rng(0).random((40, 2))
    model = BayesianTreeClassifier().fit(X, X[:, 0] > 0.5)
    with pytest.raises(ValueError, match="X must be a table of rows and columns; got BayesianTreeClassifier"):
        plot.partition_posterior(model, X, 0)


def test_plots_are_of_the_positive_class_that_is_named():
    ax = plot.roc(MODEL, X[TEST], Y[TEST], positive="benign")
    assert "malignant taken for benign" in drawn(ax)
    assert "its decision, from 70 % on" in drawn(ax)
    ax = plot.subgroups(MODEL, X[TEST], Y[TEST], X["mean radius"][TEST], positive="benign")
    assert "observed benign" in drawn(ax)
    of_benign = BayesianTreeClassifier(decision={"benign": 0.7}).fit(X[TRAIN], Y[TRAIN])
    assert "probability of benign" in drawn(plot.calibration(of_benign, X[TEST], Y[TEST]))
    assert "probability of benign" in drawn(plot.dependence(of_benign, X, "mean radius"))
    assert plot.surface(of_benign, X, Y)[0].figure.axes[2].get_ylabel() == "probability of benign"
    assert "probability of the benign" not in drawn(plot.leaves(of_benign))
    with pytest.raises(ValueError, match="positive names the class 'beingn'"):
        plot.roc(MODEL, X[TEST], Y[TEST], positive="beingn")
    with pytest.raises(ValueError, match="positive names one of two classes, and the model predicts 26 classes"):
        plot.subgroups(MANY, LETTERS, KINDS, LETTERS["one"], positive="letter A")
