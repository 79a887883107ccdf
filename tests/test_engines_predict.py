"""`engines.predict` answers with the model that was fitted, a forest or a tree space too, wherever the rows are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
    engines,
)
from tests.sources import table_of

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)

FEATURES = ["x", "noise", "flag"]  # numbers: an array has no text
MODELS = {
    "tree classifier": BayesianTreeClassifier(),
    "space classifier": TreeSpaceClassifier(max_nodes=15),
    "forest classifier": BayesianForestClassifier(4, partitions="axis", max_depth=3, random_state=0),
    "both ways": BayesianTreeClassifier(unseen="average"),
    "costs": BayesianForestClassifier(3, partitions="axis", decision={"yes": {"no": 5.0}}, random_state=0),
    "tree regressor": BayesianTreeRegressor(),
    "space regressor": TreeSpaceRegressor(max_nodes=15),
    "forest regressor": BayesianForestRegressor(4, partitions="axis", max_depth=3, random_state=0),
    "linear leaves": BayesianTreeRegressor(leaf="linear"),
    "logistic leaves": BayesianTreeClassifier(leaf="linear"),
    "oblique forest": BayesianForestRegressor(3, max_depth=2, random_state=0),
}


def frame_of(model):
    frame, _ = table_of("normal" if "regressor" in type(model).__name__.lower() else "classes", n=300)
    kept = frame[[*FEATURES, "y"]].assign(row=np.arange(300))
    return kept.astype(dict.fromkeys(FEATURES, float))


def of_pandas(predict, frame, _):
    return predict(frame)


def of_polars(predict, frame, _):
    polars = pytest.importorskip("polars")
    return predict(polars.from_pandas(frame)).to_pandas()


def of_arrow(predict, frame, _):
    pyarrow = pytest.importorskip("pyarrow")
    return predict(pyarrow.Table.from_pandas(frame)).to_pandas()


def of_function(predict, frame, _):
    return pd.concat(list(predict(lambda: iter([frame[:100], frame[100:]]))))


def of_parquet(predict, frame, tmp_path):
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "rows.parquet")
    return pd.concat([part.to_pandas() for part in predict(tmp_path / "rows.parquet")])


def of_dask(predict, frame, _):
    dask = pytest.importorskip("dask.dataframe")
    return predict(dask.from_pandas(frame, npartitions=3)).compute()


IN_MEMORY = [of_pandas, of_polars, of_arrow, of_function, of_parquet, of_dask]


@pytest.fixture(scope="module", params=MODELS)
def fitted(request):
    model = MODELS[request.param]
    frame = frame_of(model)
    return model.fit(frame[FEATURES], frame["y"]), frame


def assert_predictions(predicted, model, frame):
    expected = model.predict(frame[FEATURES])
    if not hasattr(model, "classes_"):
        assert_allclose(predicted["prediction"].to_numpy(dtype=float), expected, rtol=1e-12)
        return
    assert_array_equal(np.asarray(predicted["prediction"]), expected)
    names = [f"probability_{label}" for label in model.classes_]
    assert_allclose(predicted[names].to_numpy(dtype=float), model.predict_proba(frame[FEATURES]), rtol=1e-12)


@pytest.mark.parametrize("source", IN_MEMORY, ids=lambda source: source.__name__)
def test_every_source_of_frames_gets_the_answer_of_the_model(fitted, source, tmp_path):
    model, frame = fitted
    predicted = source(lambda rows: engines.predict(model, rows), frame, tmp_path)
    assert_array_equal(predicted["row"], frame["row"])  # other columns are left alone
    assert_predictions(predicted, model, frame)


def test_a_dask_array_gets_the_answer_of_the_model(fitted):
    dask_array = pytest.importorskip("dask.array")
    model, frame = fitted
    plain = type(model)(**model.get_params(deep=False)).fit(frame[FEATURES].to_numpy(), frame["y"])
    predicted = engines.predict(plain, dask_array.from_array(frame[FEATURES].to_numpy(), chunks=(120, 3))).compute()
    named = frame[FEATURES].to_numpy()
    assert_array_equal(np.asarray(predicted["prediction"]), plain.predict(named))


@pytest.mark.filterwarnings("ignore")
def test_a_database_gets_the_answer_of_the_model(fitted, put):
    model, frame = fitted
    if model.get_params()["partitions"] == "oblique" and model.fitted_.trees.hyperplane_start[-1] == 0:
        pytest.fail("the model has no hyperplane")
    predicted = engines.predict(model, put(frame)).order_by("row").execute()
    assert_array_equal(predicted["row"], frame["row"])
    assert_predictions(predicted, model, frame)


def test_a_forest_is_not_its_readable_tree(fitted):
    """The case that went wrong: the readable tree answered for the forest."""
    model, frame = fitted
    if not hasattr(model, "readable_tree_"):
        pytest.skip("a single tree")
    answers = engines.predict(model, frame)
    of_tree = engines.predict(model.readable_tree_, frame)
    columns = [name for name in answers.columns if name.startswith(("probability", "prediction"))]
    numbers = answers[columns].select_dtypes("number")
    assert not np.allclose(numbers, of_tree[numbers.columns])
