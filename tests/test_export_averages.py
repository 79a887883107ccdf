"""Exports of averages over single trees, each with its share: a tree space of few trees, written out tree by tree."""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from baytree import TreeSpaceClassifier, TreeSpaceRegressor
from baytree.export import shap_values, to_c, to_onnx, to_python, to_sql
from baytree.export._members import Member, trees_of

X, Y = load_iris(return_X_y=True)
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(
    b=np.where(X[:, 1] > 3.3, np.nan, X[:, 1]), kind=np.array(["p", "q", "r"])[(X[:, 2] * 10).astype(int) % 3]
)


@pytest.fixture(params=[TreeSpaceClassifier, TreeSpaceRegressor], ids=["classes", "numbers"])
def average(request, monkeypatch):
    """A tree space that exports take for its trees."""
    model = request.param(space="prunings", max_depth=3, partitions="oblique").fit(FRAME, Y)
    trees = [Member(share, tree) for share, tree in trees_of(model.fitted_, "a test")]
    assert len(trees) > 2
    for module in ("_sql", "_python", "_c", "_onnx_model", "_paths", "_members"):
        monkeypatch.setattr(f"baytree.export.{module}.members_of", lambda fitted: trees)
    return model


def names_of(model):
    return [f"probability_{label}" for label in getattr(model, "classes_", ())] or ["mean"]


def mean_of(model):
    return model.fitted_.mean(model._read_all(FRAME))


def test_sql(average):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.register("rows", FRAME.assign(row=np.arange(len(FRAME))))
        found = connection.execute(to_sql(average, columns=["row"])).df().sort_values("row")
    assert_allclose(found[names_of(average)], mean_of(average), rtol=1e-12)
    if hasattr(average, "classes_"):
        assert_array_equal(found["prediction"], average.predict(FRAME))


def test_python(average):
    names = {}
    exec(to_python(average), names)
    found = [names["predict"](row) for row in FRAME.to_dict("records")]
    assert_allclose([[row[name] for name in names_of(average)] for row in found], mean_of(average), rtol=1e-12)
    if hasattr(average, "classes_"):
        assert [row["prediction"] for row in found] == average.predict(FRAME).tolist()


def test_c(average, tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    own_class = "m_class(x)" if hasattr(average, "classes_") else "0"
    text = f"{to_c(average, name='m')}\nint run(const double *x, double *v) {{ m(x, v); return {own_class}; }}\n"
    text += "const char *column(int i) { return m_column(i) ? m_value(0) : 0; }\n"
    text += "double code(const char *t) { return m_number(0, 1) ? m_text(4, t, strlen(t)) : 0; }\n"
    (tmp_path / "m.c").write_text(text, "utf-8")
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(tmp_path / "m.c"), "-o", str(tmp_path / "m.so"), "-lm"], check=True)
    library = ctypes.CDLL(str(tmp_path / "m.so"))
    values = np.empty((len(FRAME), len(names_of(average))))
    for row, own in zip(np.ascontiguousarray(average._read_all(FRAME).dense()), values, strict=True):
        pointers = (array.ctypes.data_as(ctypes.c_void_p) for array in (row, own))
        best = library.run(*pointers)
        assert not hasattr(average, "classes_") or best == own.argmax()
    assert_allclose(values, mean_of(average), rtol=1e-12)


def test_onnx(average):
    pytest.importorskip("onnx")
    session = pytest.importorskip("onnxruntime").InferenceSession(to_onnx(average).SerializeToString())
    given = {own.name: FRAME[[own.name]].to_numpy() for own in session.get_inputs()}
    found = dict(zip([own.name for own in session.get_outputs()], session.run(None, given), strict=True))
    assert_allclose(found.get("probabilities", found.get("mean")), mean_of(average), rtol=1e-12)


def test_shap(average):
    found = shap_values(average, FRAME)
    assert_allclose(
        (found.base + found.values.sum(axis=1)).reshape(mean_of(average).shape), mean_of(average), rtol=1e-10
    )
