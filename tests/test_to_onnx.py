"""Models as ONNX: the run time predicts what the model predicts, in double precision."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor
from baytree.export import from_dict, to_dict, to_onnx
from tests.documents import signed
from tests.own_outcomes import Rates
from tests.scoring import N_MODELS, scored

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")
GROUPS = [range(first, first + 20) for first in range(0, N_MODELS, 20)]
MISSING = "\1missing"  # "" is a value of some rows


def run(model, rows, **options):
    """What the run time makes of rows: outputs by name."""
    session = onnxruntime.InferenceSession(to_onnx(model, **options).SerializeToString())
    given = {}
    for node in session.get_inputs():
        if node.name == "X" and not isinstance(rows, pd.DataFrame):
            given["X"] = rows
            continue
        values = rows[node.name]
        if node.type == "tensor(string)":
            given[node.name] = np.array([[MISSING if value is None else value] for value in values], dtype=object)
        else:
            given[node.name] = np.array([[np.nan if value is None else value] for value in values], dtype=np.float64)
    return dict(zip([node.name for node in session.get_outputs()], session.run(None, given), strict=True))


@pytest.mark.parametrize("seeds", GROUPS, ids=lambda seeds: f"{seeds[0]}-{seeds[-1]}")
def test_onnx_predicts_what_the_model_predicts(seeds):
    for seed in seeds:
        case = scored(seed)
        predicted = run(case.model, case.rows, missing=MISSING)
        expected = case.mean()
        values = predicted["probabilities" if case.is_classifier else "mean"]
        assert values.dtype == np.float64
        if case.is_average:
            assert_allclose(values, expected, rtol=1e-12, atol=1e-14)
        else:
            assert_array_equal(values, expected)
            assert_array_equal(predicted["leaf"], case.model.apply(case.rows))
        if case.is_classifier:
            clear = case.clear()
            assert_array_equal(predicted["label"][clear], case.model.predict(case.rows)[clear])
        assert ("std" in predicted) == (case.std is not None)
        if case.std is not None:
            assert_allclose(predicted["std"][:, 0], case.std, rtol=1e-9 if case.is_average else 1e-12)


@pytest.mark.parametrize("kind", [BayesianTreeClassifier, TreeSpaceClassifier])
def test_a_matrix_is_one_input(kind):
    X, y = load_iris(return_X_y=True)
    model = kind().fit(X, y)
    assert_allclose(run(model, X)["probabilities"], model.predict_proba(X), rtol=1e-12)


@pytest.mark.parametrize("kind", [BayesianTreeRegressor, TreeSpaceRegressor])
def test_a_single_leaf_is_carried(kind):
    X = np.zeros((5, 2))
    model = kind(max_depth=0).fit(X, np.arange(5.0))
    assert_allclose(run(model, X)["mean"][:, 0], model.predict(X))


def test_thresholds_are_compared_in_double_precision():
    threshold = 1 + 2.0**-50
    X = np.array([1.0, 1 + 2.0**-51, 1 + 2.0**-49, 1 + 2.0**-48])[:, None]
    model = BayesianTreeClassifier(prior=0.01).fit(np.repeat(X, 20, axis=0), np.repeat([0, 0, 1, 1], 20))
    assert np.float32(threshold) == 1
    assert_array_equal(run(model, X)["label"], [0, 0, 1, 1])


def test_numbers_that_float32_cannot_tell_from_zero_or_one_are_kept():
    X = np.arange(40.0)[:, None]
    model = TreeSpaceRegressor(max_nodes=3).fit(X, np.repeat([1e-60, 5e-60], 20))
    assert_allclose(run(model, X)["mean"][:, 0], model.predict(X), rtol=1e-12)
    document = to_dict(BayesianTreeClassifier(partitions="oblique").fit(*slanted()))
    arrays = document["stores"]["trees"]
    of_planes = arrays["hyperplane_coefficient"]
    of_planes["values"] = [1 + 1e-9] * len(of_planes["values"])
    model = from_dict(signed(document))
    rows = slanted()[0]
    rows[:, 0] = arrays["threshold"]["values"][0] - rows[:, 1]  # on the plane, but for the nine digits
    assert_array_equal(run(model, rows)["leaf"], model.apply(rows))


def slanted():
    X = np.random.default_rng(0).random((200, 2))
    return X, X.sum(axis=1) > 1


def test_means_that_are_infinite_are_carried():
    X = np.arange(40.0)[:, None]
    for kind, options in ((BayesianTreeRegressor, {}), (TreeSpaceRegressor, {"max_nodes": 10})):
        model = kind(outcome="exponential", prior=[0.1, 1.0], **options).fit(X, X[:, 0] + 1, event=np.arange(40) < 1)
        assert_allclose(run(model, X)["mean"][:, 0], model.predict(X), rtol=1e-15)


def test_what_onnx_cannot_hold_is_refused_in_one_sentence():
    frame = pd.DataFrame({"text": ["", "b"] * 20})
    model = BayesianTreeClassifier(prior=0.1).fit(frame, [0, 1] * 20)
    with pytest.raises(
        ValueError, match=r"Column 'text' has the category '', which stands for a missing value in ONNX"
    ):
        to_onnx(model)
    assert_array_equal(run(model, frame, missing=MISSING)["label"], model.predict(frame))
    with pytest.raises(TypeError, match="missing must be text"):
        to_onnx(model, missing=None)


def test_an_outcome_of_the_users_own_has_no_standard_deviation():
    X = np.arange(40.0)[:, None]
    model = BayesianTreeRegressor(outcome=Rates()).fit(X, np.repeat([1, 9], 20))
    predicted = run(model, X)
    assert set(predicted) == {"mean", "leaf"}
    assert_array_equal(predicted["mean"][:, 0], model.predict(X))


def test_names_of_outputs_may_be_names_of_columns():
    frame = pd.DataFrame({"X": [0.0, 1.0] * 20, "text": ["a", "b"] * 20})
    model = BayesianTreeClassifier(prior=0.1).fit(frame, [0, 1] * 20)
    assert_array_equal(run(model, frame)["label"], model.predict(frame))
    frame = pd.DataFrame({"label": [0.0, 1.0] * 20})
    with pytest.raises(ValueError, match="ONNX cannot hold a column of the name 'label'"):
        to_onnx(BayesianTreeClassifier(prior=0.1).fit(frame, [0, 1] * 20))
