"""The effects of columns in a forest, as they are drawn, are those of predictions for changed rows."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_iris

from baytree import BayesianForestClassifier, BayesianForestRegressor, BayesianTreeClassifier, plot

mpl.use("Agg")


def mixed_table(n=150):
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {"size": random.normal(size=n), "kind": random.choice(["a", "b", "c"], n), "noise": random.random(n)}
    )
    X.loc[::7, "size"] = np.nan
    return X, np.where((X["size"] > 0) | (X["kind"] == "b"), "yes", "no")


def drawn(ax):
    """By column: the effect, and the ends of its interval."""
    names = [label.get_text().replace("\n", " ") for label in ax.get_yticklabels()]
    dots = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    ends = [collection.get_segments()[0][:, 0] for collection in ax.collections]
    return {name: (dot, *end) for name, dot, end in zip(names, dots, ends, strict=True)}


def effect_of(model, X, column):
    """The effect by predictions of the model and of its trees, all rows having one value after another."""
    is_text = not pd.api.types.is_numeric_dtype(X[column])
    present = X[column].dropna()
    values = sorted(present.unique()) if is_text else np.linspace(*np.quantile(present, [0.02, 0.98]), 9)
    is_classes = hasattr(model, "classes_")
    whole, of_trees = [], []
    for value in values:
        changed = X.assign(**{column: value})
        if is_classes:
            whole.append(model.predict_proba(changed).mean(axis=0))
            trees = [tree.predict_proba(changed).mean(axis=0) for tree in model.trees_]
            of_trees.append(model.calibration_.probabilities(np.array(trees)))
        else:
            whole.append([model.predict(changed).mean()])
            of_trees.append([[tree.predict(changed).mean()] for tree in model.trees_])
    whole, of_trees = np.array(whole), np.array(of_trees)
    k = int(np.argmax(np.ptp(whole, axis=0)[-1:])) + 1 if whole.shape[1] == 2 else int(np.argmax(np.ptp(whole, axis=0)))
    high, low = whole[:, k].argmax(), whole[:, k].argmin()
    return whole[high, k] - whole[low, k], *np.quantile(of_trees[high, :, k] - of_trees[low, :, k], [0.05, 0.95])


def problems():
    flowers, kinds = load_iris(return_X_y=True, as_frame=True)
    patients, progression = load_diabetes(return_X_y=True, as_frame=True)
    forest = {"n_estimators": 12, "random_state": 0}
    return {
        "two classes": (BayesianForestClassifier(**forest), *mixed_table()),
        "three classes": (BayesianForestClassifier(**forest), flowers, kinds),
        "numbers": (BayesianForestRegressor(**forest), patients[::4], progression[::4]),
    }


@pytest.mark.parametrize("name", problems())
def test_effects_are_those_of_changed_rows(name):
    model, X, y = problems()[name]
    model.fit(X, y)
    X = X.iloc[:90]
    effects = drawn(plot.forest(model, X))
    for column, effect in effects.items():
        assert_allclose(effect, effect_of(model, X, column), atol=1e-9)
    assert len(effects) == len(model.fitted_.trees.used_features)
    sizes = [size for size, _, _ in effects.values()]
    assert sizes == sorted(sizes, reverse=True)


def test_the_picture_shows_shares_of_trees_and_the_agreement():
    model, X, y = problems()["two classes"]
    ax = plot.forest(model.fit(X, y), X, max_columns=2)
    assert len(ax.get_yticks()) == 2
    assert sum(text.get_text().endswith(" %") for text in ax.texts) == 2
    assert ax.get_title().startswith("Effects in 12 trees; the readable tree decides alike for")
    assert ax.get_xlabel() == "largest change of the average probability of yes"
    ax.figure.canvas.draw()


def test_it_is_for_forests():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match=r"plot\.forest draws the columns of a forest: for another model, use"):
        plot.forest(BayesianTreeClassifier().fit(X, y), X)


def test_a_forest_without_splits_has_no_columns():
    model = BayesianForestClassifier(3, random_state=0).fit(np.zeros((30, 2)), np.arange(30) % 2)
    assert len(plot.forest(model, np.zeros((5, 2))).get_yticks()) == 0
