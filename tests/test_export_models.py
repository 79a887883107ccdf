"""Models in leaves in other languages: they predict what the model predicts, also beyond the ranges of the columns."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianTreeClassifier, BayesianTreeRegressor
from baytree.export import to_c, to_onnx, to_shap, to_sql
from tests.c_compiler import compiled, needs_compiler

CASES = [
    (n_classes, extrapolate, decision)
    for n_classes in (1, 2, 3)
    for extrapolate in (False, True)
    for decision in ((None,) if n_classes == 1 else (None, "costs"))
]


def rows(n=900):
    random = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": np.where(random.random(n) < 0.1, np.nan, random.uniform(20, 60, n).round(1)),
            "job's": random.choice(["clerk", "cook", "o'dd"], n),
            "old": random.random(n) < 0.5,
            "x": random.normal(size=n),
        }
    )


@cache
def fitted(n_classes, extrapolate, decision):
    """A tree of several leaves, most of which have terms of every kind; of one class a regressor."""
    table, random = rows(), np.random.default_rng(1)
    age = table["age"].fillna(80) / 20 - 2
    signal = np.where(table["old"], 2, -1.5) * age + 1.5 * (table["job's"] == "o'dd") + table["x"]
    signal = np.where(table["job's"] == "cook", 2.0, signal)
    if n_classes == 1:
        model = BayesianTreeRegressor(leaf="linear", extrapolate=extrapolate)
        return model.fit(table, signal + 0.1 * random.normal(size=len(table)))
    limits = [-np.inf, 0.0] if n_classes == 2 else [-np.inf, -1.0, 1.5]
    y = np.array(["a", "b'", "c"])[np.searchsorted(limits, signal + random.logistic(size=len(table))) - 1]
    costs = None if decision is None else 1 - np.eye(n_classes) * 0.5 + np.arange(n_classes)[:, None]
    model = BayesianTreeClassifier(leaf="linear", extrapolate=extrapolate, decision=None if costs is None else costs)
    return model.fit(table, y)


def new_rows(model):
    """Training rows, values at and beyond the ends of every range, missing values and categories that are new."""
    table = rows()
    parts = [table, table.assign(age=table["age"] * 3), table.assign(x=-50 * table["x"]), table.assign(age=np.nan)]
    parts += [table.assign(**{"job's": job}) for job in (None, "new")]
    terms = model.tree_.leaves.terms
    for name in ("age", "x"):
        of_column = terms.feature == table.columns.get_loc(name)
        ends = np.unique(np.concatenate([terms.low[of_column], terms.high[of_column], terms.centre[of_column]]))
        parts.append(table.iloc[: len(ends)].assign(**{name: ends}))
    return pd.concat(parts, ignore_index=True).astype({"job's": object, "old": bool})


def expected(model, table):
    return model.predict_proba(table) if hasattr(model, "predict_proba") else model.predict(table)[:, None]


def test_the_cases_have_leaves_with_terms_and_without():
    for case in CASES:
        tree = fitted(*case).tree_
        counts = tree.leaves.terms.counts[tree.is_leaf]
        assert counts.min() == 0
        assert np.count_nonzero(counts > 1) > 1


def assert_same_query(model, case, table, predicted):
    """The columns of a query against the model, in the order of the rows."""
    predicted = predicted.sort_values("row")
    assert_array_equal(predicted["leaf"], model.apply(table))
    names = ["mean"] if case[0] == 1 else [f"probability_{label}" for label in model.classes_]
    assert_allclose(predicted[names], expected(model, table), rtol=1e-9, atol=1e-12)
    if case[0] > 1:
        assert_array_equal(predicted["prediction"], model.predict(table))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_sql(case, database):
    model = fitted(*case)
    table = new_rows(model)
    given = pa.Table.from_pandas(table.assign(row=range(len(table))), preserve_index=False)
    predicted = database.run(given, to_sql(model, dialect=database.dialect, columns=["row"]))
    assert_same_query(model, case, table, predicted)


@needs_compiler
@pytest.mark.parametrize("case", CASES, ids=str)
def test_c(case, tmp_path):
    model = fitted(*case)
    table = new_rows(model)
    wrapper = "\ndouble text(const char *t, long n) { return m_text(1, t, (size_t)n); }\n"
    wrapper += "void run(const double *x, double *values, int *leaf) { m(x, values); *leaf = m_leaf(x); }\n"
    if case[0] > 1:
        wrapper += "int best(const double *x) { return m_class(x); }\n"
    library = compiled(to_c(model, name="m") + wrapper, tmp_path)
    library.text.restype = ctypes.c_double
    jobs = {job: library.text(None if job is None else job.encode(), len(job or "")) for job in set(table["job's"])}
    coded = table.assign(**{"job's": table["job's"].map(jobs.__getitem__)}).to_numpy(dtype=np.float64)
    values, leaf = np.empty((len(table), case[0])), np.empty(len(table), np.intc)
    best = np.zeros(len(table), dtype=np.int64)
    for i, row in enumerate(np.ascontiguousarray(coded)):
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (row, values[i], leaf[i : i + 1])]
        library.run(*pointers)
        best[i] = library.best(pointers[0]) if case[0] > 1 else 0
    assert_array_equal(leaf, model.apply(table))
    assert_allclose(values, expected(model, table), rtol=1e-9, atol=1e-12)
    if case[0] > 1:
        assert_array_equal(model.classes_[best], model.predict(table))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_onnx(case):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = fitted(*case)
    table = new_rows(model)
    session = onnxruntime.InferenceSession(to_onnx(model, missing="?").SerializeToString())
    given = {name: table[[name]].to_numpy(dtype=np.float64) for name in ("age", "old", "x")}
    given["job's"] = np.array([["?" if job is None else job] for job in table["job's"]], dtype=object)
    names = [output.name for output in session.get_outputs()]
    assert "std" not in names
    scored = dict(zip(names, session.run(None, {i.name: given[i.name] for i in session.get_inputs()}), strict=True))
    assert_array_equal(scored["leaf"], model.apply(table))
    assert_allclose(scored["probabilities" if case[0] > 1 else "mean"], expected(model, table), rtol=1e-9, atol=1e-12)
    if case[0] > 1:
        assert_array_equal(scored["label"], model.predict(table))


@pytest.mark.parametrize("n_classes", [1, 2])
def test_what_an_export_cannot_hold_is_refused(n_classes):
    model = fitted(n_classes, False, None)
    with pytest.raises(ValueError, match="each row: use shap_values"):
        to_shap(model)
    for export in (to_c, to_sql):
        with pytest.raises(ValueError, match="The std and the interval of a linear leaf depend on the row"):
            export(model, interval=0.9)


def test_a_column_that_would_be_there_twice_is_refused():
    X = rows()[["x"]].to_numpy()
    model = BayesianTreeClassifier(leaf="linear").fit(pd.DataFrame({"leaf": X[:, 0]}), X[:, 0] > 0)
    with pytest.raises(ValueError, match="two columns of the name 'leaf'"):
        to_sql(model)
