"""Our trees as scikit-learn's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.tree import export_text, plot_tree

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier
from baytree.export import to_sklearn


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_classifiers_predict_the_same(load):
    X, y = load(return_X_y=True, as_frame=True)
    X = X.astype(np.float32)
    model = BayesianTreeClassifier(prior=1.0).fit(X, y)
    other = to_sklearn(model)
    assert_allclose(other.predict_proba(X), model.predict_proba(X), rtol=1e-12)
    assert_array_equal(other.predict(X), model.predict(X))
    assert_array_equal(other.apply(X), model.apply(X))
    assert list(X.columns[model.tree_.feature[0]]) == list(str(other.feature_names_in_[other.tree_.feature[0]]))
    assert other.get_n_leaves() == model.get_n_leaves()


def test_regressors_predict_the_same_with_missing_values():
    X, y = load_diabetes(return_X_y=True)
    X = X.astype(np.float32)
    X[::7, 2] = np.nan
    model = BayesianTreeRegressor().fit(X, y)
    assert_allclose(to_sklearn(model).predict(X), model.predict(X), rtol=1e-12)


def test_a_tree_space_gives_its_readable_tree_and_one_leaf_is_fine():
    X, y = load_iris(return_X_y=True)
    space = TreeSpaceClassifier(max_nodes=50).fit(X, y)
    assert to_sklearn(space).get_n_leaves() == space.readable_tree_.get_n_leaves()
    assert to_sklearn(BayesianTreeClassifier(max_depth=0).fit(X, y)).get_n_leaves() == 1


def test_scikit_learns_tools_take_it():
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    tree = to_sklearn(BayesianTreeClassifier().fit(X, y))
    assert "worst perimeter <= 105.95" in export_text(tree, feature_names=list(X.columns))
    figure, ax = plt.subplots()
    assert len(plot_tree(tree, ax=ax)) >= tree.tree_.node_count
    plt.close(figure)


def test_splits_that_scikit_learn_has_not_are_refused():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"city": random.choice(["a", "b", "c"], 200), "x": random.random(200)})
    with pytest.raises(ValueError, match=r"cannot hold the split city in \{a\}"):
        to_sklearn(BayesianTreeClassifier().fit(frame, frame["city"] == "a"))
    X = random.random((300, 2))
    with pytest.raises(ValueError, match=r"cannot hold the split x\d [+-] .* x <= t alone"):
        to_sklearn(BayesianTreeClassifier(partitions="oblique").fit(X, X.sum(axis=1) > 1))
    X[:100, 0] = np.nan
    with pytest.raises(ValueError, match="cannot hold the split x0 is present"):
        to_sklearn(BayesianTreeClassifier().fit(X, np.arange(300) < 100))
