"""Leaves that predict from the values of a row: nothing but the leaf model knows how a leaf predicts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from baytree import BayesianForestRegressor, BayesianTreeRegressor, TreeSpaceRegressor, report
from baytree.export import shap_values, to_c, to_dict, to_onnx, to_shap, to_sklearn, to_sql
from baytree.leaves import ConstantLeaves
from baytree.table import Rows

RANDOM = np.random.default_rng(0)
X = RANDOM.random((5000, 3))
Y = np.floor(4 * X[:, 1]) + 0.3 * RANDOM.normal(size=len(X))
HIDDEN = np.where(RANDOM.random(X.shape) < [0, 0.3, 0.3], np.nan, X)  # the leaves need the first column


@dataclass(frozen=True, eq=False)
class ShiftedLeaves(ConstantLeaves):
    """The mean of a constant leaf and the first value of the row."""

    is_constant = False

    def parameters(self, node, rows, row=None):
        first = rows.dense()[:, 0]
        result = self.posterior.take(node, axis=0)
        result[:, 0] += first if row is None else first[row]
        return result

    def means(self, node, rows, row=None):
        return self.outcome.mean(self.parameters(node, rows, row))


def with_shift(fitted):
    """Give a fitted model leaves that add the first value of a row."""
    if fitted is None:
        return None
    leaves = fitted.trees.leaves
    shifted = ShiftedLeaves(leaves.outcome, leaves.prior, leaves.statistics)
    trees = replace(fitted.trees, leaves=shifted)
    return replace(fitted, trees=trees, tree_of_all_rows=with_shift(fitted.tree_of_all_rows))


MODELS = {
    "tree": BayesianTreeRegressor(),
    "tree, both ways": BayesianTreeRegressor(unseen="average"),
    "space": TreeSpaceRegressor(max_nodes=20),
    "space, both ways": TreeSpaceRegressor(max_nodes=20, unseen="average"),
    "forest": BayesianForestRegressor(3, max_depth=6, calibrate=False, random_state=0),
    "forest, both ways": BayesianForestRegressor(3, max_depth=6, calibrate=False, random_state=0, unseen="average"),
}


@pytest.fixture(scope="module")
def results():
    """Every model with constant leaves, and with leaves that add the first value of a row."""
    constant = {name: model.fit(X[:600], Y[:600]).fitted_ for name, model in MODELS.items()}
    return {name: (fitted, with_shift(fitted)) for name, fitted in constant.items()}


@pytest.mark.parametrize("name", MODELS)
def test_every_prediction_asks_the_leaves(name, results):
    constant, shifted = results[name]
    rows, few = Rows(HIDDEN), Rows(HIDDEN[:40])
    assert_allclose(shifted.mean(rows), constant.mean(rows) + X[:, :1], rtol=1e-9)
    assert_allclose(shifted.predict(few), constant.predict(few) + X[:40, 0], rtol=1e-9)
    assert_allclose(shifted.std(few), constant.std(few), rtol=1e-9)
    assert_allclose(shifted.uncertainty(few), constant.uncertainty(few), rtol=1e-9)
    ends = np.array([0.05, 0.95])
    for kind in ("outcome", "mean"):
        expected = constant.quantiles(few, ends, kind) + X[:40, :1]
        assert_allclose(shifted.quantiles(few, ends, kind), expected, rtol=1e-6)
    at = constant.quantiles(few, np.array([0.3]))[:, 0]
    below = shifted.cdf_at(few, at + X[:40, 0])(shifted.outcome)
    assert_allclose(below, constant.cdf_at(few, at)(constant.outcome), rtol=1e-6)


@pytest.mark.parametrize("name", ["forest", "forest, both ways"])
def test_the_trees_of_a_forest_ask_their_leaves(name, results):
    constant, shifted = results[name]
    rows = Rows(HIDDEN[:40])
    assert_allclose(shifted.tree_means(rows), constant.tree_means(rows) + X[:40, :1, None], rtol=1e-9)
    for one, other in zip(shifted.single_trees(), constant.single_trees(), strict=True):
        assert_allclose(one.mean(rows), other.mean(rows) + X[:40, :1], rtol=1e-9)
    assert_allclose(shifted.readable.mean(rows), constant.readable.mean(rows) + X[:40, :1], rtol=1e-9)


@pytest.mark.parametrize("export", [to_c, to_onnx, to_shap, to_sklearn, to_sql], ids=lambda function: function.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_exports_that_hold_numbers_refuse_them(name, export, results):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="one prediction for each leaf, but the leaves of this model predict from the"):
        export(results[name][1])


def test_shapley_values_files_and_pages_refuse_them(tmp_path):
    model = BayesianTreeRegressor().fit(X[:600], Y[:600])
    model = BayesianTreeRegressor.from_fitted(with_shift(model.fitted_), model.get_params(deep=False))
    with pytest.raises(ValueError, match=r"An export holds one prediction .* fit a model with constant leaves"):
        shap_values(model, X[:5])
    with pytest.raises(TypeError, match="Only constant leaves can be written to a model file"):
        to_dict(model)
    with pytest.raises(TypeError, match="Only constant leaves can be written"):  # a page has the model's fingerprint
        report.write(model, X[:600], Y[:600], tmp_path / "page.html")
