"""Models through the tools that carry Python objects: the same model arrives."""

from __future__ import annotations

import copy
import io
import pickle

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from baytree import BayesianTreeClassifier, PartitionPrior, TreeSpaceRegressor, load
from baytree.estimators import ESTIMATORS
from baytree.export import from_dict, to_dict
from tests.documents import RAW, Y
from tests.scoring import N_MODELS, scored


def by_pickle(model, folder):
    return pickle.loads(pickle.dumps(model))


def by_cloudpickle(model, folder):
    return pickle.loads(cloudpickle.dumps(model))


def by_joblib(model, folder):
    content = io.BytesIO()
    joblib.dump(model, content, compress=1)
    content.seek(0)
    return joblib.load(content)


def by_copy(model, folder):
    return copy.deepcopy(model)


def by_file(model, folder):
    model.save(folder / "model")
    return load(folder / "model")


def by_dict(model, folder):
    return from_dict(to_dict(model))


def by_skops(model, folder):
    skops = pytest.importorskip("skops.io")
    content = skops.dumps(model)
    names = skops.get_untrusted_types(data=content)
    assert all(name.startswith("baytree.") for name in names)
    return skops.loads(content, trusted=names)


CARRIERS = [by_pickle, by_cloudpickle, by_joblib, by_copy, by_file, by_dict, by_skops]


@pytest.mark.parametrize(("carry", "every"), [(by, 1 if by in (by_pickle, by_file) else 5) for by in CARRIERS])
def test_the_same_model_arrives(carry, every, tmp_path):
    for seed in range(0, N_MODELS, every):
        case = scored(seed)
        other = carry(case.model, tmp_path)
        assert type(other) is type(case.model)
        assert_array_equal(other.fitted_.mean(other._read_all(case.rows)), case.mean(), strict=True)
        assert_array_equal(other.predict(case.rows), case.model.predict(case.rows), strict=True)
        if not case.is_average:
            assert_array_equal(other.predict_interval(case.rows), case.model.predict_interval(case.rows), strict=True)
        assert other.fitted_.fitted_on == case.fitted.fitted_on
        assert [column.kind for column in other.schema_.columns] == [
            column.kind for column in case.model.schema_.columns
        ]
        assert all(type(column.kind) is type(case.model.schema_.columns[0].kind) for column in other.schema_.columns)
        assert_array_equal(other.feature_names_in_, case.model.feature_names_in_)
        assert to_dict(other) == to_dict(case.model)


@pytest.mark.parametrize("carry", CARRIERS)
def test_parameters_arrive_and_the_model_can_be_fitted_again(carry, tmp_path):
    model = BayesianTreeClassifier(prior=0.5, partition_prior=PartitionPrior(split=0.9), smoothing=0.1).fit(RAW, Y)
    other = carry(model, tmp_path)
    assert other.get_params() == model.get_params()
    assert_array_equal(clone(other).fit(RAW, Y).predict_proba(RAW), model.predict_proba(RAW))


@pytest.mark.parametrize("carry", [by_pickle, by_cloudpickle, by_joblib, by_copy])
def test_a_model_that_has_worked_out_things_is_no_larger(carry, tmp_path):
    """What predictions keep for the next time stays behind."""
    model = TreeSpaceRegressor(max_nodes=20).fit(RAW, Y)
    before = len(pickle.dumps(model))
    model.predict(RAW)
    model.trees_, model.feature_importances_  # noqa: B018
    assert len(pickle.dumps(model)) <= before * 1.01
    assert_array_equal(carry(model, tmp_path).predict(RAW), model.predict(RAW))


def test_a_pickle_from_another_process_arrives(tmp_path):
    """Workers of joblib get models and give them back."""
    models = joblib.Parallel(n_jobs=2)(joblib.delayed(fitted)(name) for name in ESTIMATORS)
    for name, model in zip(ESTIMATORS, models, strict=True):
        assert_array_equal(model.predict(RAW), fitted(name).predict(RAW))


def fitted(name):
    options = {"TreeSpace": {"max_nodes": 10}, "BayesianForest": {"n_estimators": 5, "random_state": 0}}
    parameters = next((given for kind, given in options.items() if name.startswith(kind)), {})
    return ESTIMATORS[name](**parameters).fit(RAW, Y)


@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_mlflow_carries_a_pipeline_as_it_is(tmp_path):
    mlflow = pytest.importorskip("mlflow.sklearn")
    model = make_pipeline(FunctionTransformer(), BayesianTreeClassifier()).fit(RAW, Y)
    mlflow.save_model(model, tmp_path / "model", pip_requirements=[], serialization_format="cloudpickle")
    loaded = mlflow.load_model(str(tmp_path / "model"))
    assert_array_equal(loaded.predict_proba(RAW), model.predict_proba(RAW))
    served = pytest.importorskip("mlflow.pyfunc").load_model(str(tmp_path / "model"))
    assert_array_equal(np.asarray(served.predict(pd.DataFrame(RAW))), model.predict(RAW))
