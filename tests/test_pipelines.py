"""Pipelines: plots, exports and pages take their last step, with the table passed through the steps before."""

from __future__ import annotations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OrdinalEncoder, StandardScaler

from baytree import (
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    load,
    plot,
    report,
)
from baytree.estimators import estimator_of, fitted_of, read_rows, readable_tree_of, table_of
from baytree.export import from_dict, to_dict, to_frame, to_rules, to_sklearn, to_text

mpl.use("Agg")
X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    plt.close("all")


def scaled(model):
    """A pipeline whose steps keep the names of the columns."""
    return make_pipeline(StandardScaler().set_output(transform="pandas"), "passthrough", model)


def fitted_pairs():
    """A pipeline, and its last step with the table that it sees."""
    for model in (BayesianTreeClassifier(), TreeSpaceClassifier(max_nodes=30)):
        pipeline = scaled(model).fit(X, Y)
        yield pipeline, pipeline[-1], pipeline[:-1].transform(X)


PAIRS = {type(alone).__name__: (pipeline, alone, table) for pipeline, alone, table in fitted_pairs()}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pipeline_means_its_last_step_and_what_the_others_make_of_the_table(name):
    pipeline, alone, table = PAIRS[name]
    assert estimator_of(pipeline) is alone
    assert fitted_of(pipeline) is alone.fitted_
    assert readable_tree_of(pipeline) is alone.fitted_.readable
    pd.testing.assert_frame_equal(table_of(pipeline, X), table)
    assert_array_equal(read_rows(pipeline, X).matrix, table)
    assert_array_equal(fitted_of(pipeline).mean(read_rows(pipeline, X)), pipeline.predict_proba(X))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("export", [to_text, to_rules, to_frame, to_dict])
def test_exports_take_pipelines_and_fitted_results(export, name):
    pipeline, alone, _ = PAIRS[name]
    assert str(export(pipeline)) == str(export(alone))
    if export is not to_dict:
        assert str(export(alone.fitted_)) == str(export(alone))


def test_the_last_step_comes_back_from_the_dictionary():
    pipeline, alone, table = PAIRS["BayesianTreeClassifier"]
    assert_array_equal(from_dict(to_dict(pipeline)).predict_proba(table), alone.predict_proba(table))
    assert_array_equal(to_sklearn(pipeline).apply(table), alone.apply(table))


@pytest.mark.parametrize("name", PAIRS)
def test_plots_take_pipelines(name):
    pipeline, alone, table = PAIRS[name]

    def texts(ax):
        return [text.get_text() for text in ax.texts]

    assert texts(plot.tree(pipeline)) == texts(plot.tree(alone)) == texts(plot.tree(alone.fitted_))
    assert len(plot.leaves(pipeline).get_yticks()) == alone.get_n_leaves()
    shares = [[bar.get_width() for bar in plot.feature_posterior(one).patches] for one in (pipeline, alone)]
    assert shares[0] == shares[1]
    features = ("worst area", "worst texture")
    drawn = [
        plot.surface(one, given, Y, features=features)[0].images[0].get_array()
        for one, given in ((pipeline, X), (alone, table))
    ]
    assert_array_equal(*drawn)
    lines = [plot.calibration(one, given, Y).lines[1].get_xydata() for one, given in ((pipeline, X), (alone, table))]
    assert_array_equal(*lines)
    if name.startswith("TreeSpace"):
        assert texts(plot.trees(pipeline, n=2)) == texts(plot.trees(alone, n=2))


def test_plots_of_numbers_take_pipelines():
    A, b = load_diabetes(return_X_y=True, as_frame=True)
    pipeline = scaled(BayesianTreeRegressor()).fit(A, b)
    drawn = plot.regression(pipeline, A, b, "bmi").lines[0].get_data()
    assert_array_equal(drawn, plot.regression(pipeline[-1], pipeline[:-1].transform(A), b, "bmi").lines[0].get_data())


@pytest.mark.parametrize("name", PAIRS)
def test_pages_take_pipelines(name, tmp_path):
    """Each fold is fitted whole, so that the scaler does not see the rows that are held out."""
    pipeline, alone, _ = PAIRS[name]
    page = report.write(pipeline, X, Y, tmp_path / "page.html", folds=2).read_text("utf-8")
    assert type(alone).__name__ in page
    assert "2-fold cross-validation" in page
    held_out = report.write(pipeline, X, Y, tmp_path / "page.html", held_out=(X[:100], Y[:100])).read_text("utf-8")
    assert "rows given as held out" in held_out


def test_tables_may_change_their_columns_on_the_way():
    frame = pd.DataFrame({"city": ["a", "b", "c"] * 50, "x": np.arange(150.0)})
    y = (frame["city"] == "b").to_numpy()
    pipeline = make_pipeline(
        make_column_transformer((OrdinalEncoder(), ["city"]), remainder="passthrough"),
        BayesianTreeClassifier(prior=0.1, categorical_features=[0]),
    ).fit(frame, y)
    assert "x0 in {1}" in to_text(pipeline)
    assert_array_equal(fitted_of(pipeline).class_codes(read_rows(pipeline, frame)), y)
    left, _ = plot.surface(pipeline, frame, y, features=(0, 1))
    assert len(left.images) == 1


def test_nested_pipelines_are_followed():
    inner = make_pipeline(StandardScaler(), FunctionTransformer(np.negative))
    pipeline = make_pipeline(inner, BayesianTreeClassifier()).fit(X.to_numpy(), Y)
    assert_array_equal(table_of(pipeline, X.to_numpy()), inner.transform(X.to_numpy()))


class NoTransform(BaseEstimator):
    """A step that hands nothing on."""

    def fit(self, X, y=None):
        return self


def test_what_cannot_be_followed_is_said_in_a_sentence():
    grown = BayesianTreeClassifier().fit(X, Y)
    with pytest.raises(TypeError, match="a pipeline or threshold classifier that ends in one; got LogisticRegression"):
        to_text(make_pipeline(StandardScaler(), LogisticRegression()))
    with pytest.raises(TypeError, match="model must be a tree, a tree space or a forest of baytree"):
        to_text(LogisticRegression())
    with pytest.raises(TypeError, match="The step 'first' of the pipeline has no transform"):
        plot.surface(Pipeline([("first", NoTransform()), ("tree", grown)]), X)
    with pytest.raises(NotFittedError):
        plot.tree(make_pipeline(StandardScaler(), BayesianTreeClassifier()))
    with pytest.raises(ValueError, match="feature names"):
        plot.calibration(PAIRS["BayesianTreeClassifier"][0], X.rename(columns={"mean area": "area"}), Y)


def test_a_pipeline_is_no_file_but_its_last_step_is(tmp_path):
    pipeline, alone, table = PAIRS["BayesianTreeClassifier"]
    pipeline[-1].save(tmp_path / "model.json")
    assert_array_equal(load(tmp_path / "model.json").predict(table), pipeline.predict(X))
    assert alone is pipeline[-1]
