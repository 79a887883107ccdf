"""Tables as they come: frames, text, sparse matrices, weights, files, bad input."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, load, partition_space
from baytree.export import to_text
from baytree.table import Rows, Schema
from baytree.tree import SplitKind
from tests import strategies
from tests.comparison import assert_same_arrays, raw_frame


def frames(frame):
    """Convert a table to every kind of frame, with text as text and as categories."""
    categories = frame.astype({"city": "category"})
    polars = pl.DataFrame({name: frame[name].to_list() for name in frame}, nan_to_null=True)
    return {
        "pandas": frame,
        "pandas category": categories,
        "pandas other order": frame.assign(
            city=categories["city"].cat.reorder_categories(categories.city.cat.categories[::-1])
        ),
        "pandas nullable": frame.convert_dtypes(),
        "polars": polars,
        "polars category": polars.with_columns(pl.col("city").cast(pl.Categorical)),
        "pyarrow": pa.Table.from_pandas(frame, preserve_index=False),
        "pyarrow dictionary": pa.Table.from_pandas(categories, preserve_index=False),
    }


@pytest.mark.parametrize("kind", frames(raw_frame(5)[0]))
def test_every_kind_of_frame_gives_the_same_tree(kind):
    frame, y = raw_frame()
    expected = BayesianTreeClassifier(prior=1.0).fit(frame, y)
    assert {0, 1} <= set(expected.tree_.feature)
    table = frames(frame)[kind]
    model = BayesianTreeClassifier(prior=1.0).fit(table, y)
    assert_same_arrays(model, expected)
    assert_array_equal(model.feature_names_in_, frame.columns)
    assert_array_equal(model.predict_proba(table), expected.predict_proba(frame))
    assert_array_equal(model.predict_proba(frame), expected.predict_proba(frame))


@given(strategies.raw_problems())
def test_pandas_polars_and_pyarrow_give_identical_trees(problem):
    X, y, weight, parameters = problem
    names = [f"c{i}" for i in range(X.shape[1])]
    categorical = parameters.pop("categorical_features")
    columns = {
        name: [None if np.isnan(value) else f"kind {value:02.0f}" if i in categorical else value for value in X[:, i]]
        for i, name in enumerate(names)
    }
    categories = {names[i]: pl.String for i in categorical}
    polars = pl.DataFrame(columns, schema_overrides=categories | {n: pl.Float64 for n in names if n not in categories})
    parameters["categorical_features"] = list(categories)
    models = [
        BayesianTreeClassifier(**parameters).fit(table, y, sample_weight=weight)
        for table in (polars, polars.to_pandas(), polars.to_arrow())
    ]
    for model in models[1:]:
        assert_same_arrays(model, models[0])
        assert_array_equal(model.apply(polars), models[0].apply(polars.to_pandas()))


@pytest.mark.parametrize("scale", [2, 9])
def test_decimals_of_every_library_are_the_nearest_numbers(scale):
    values = [None, *(Decimal(i) / 100 for i in range(-500, 500))]
    of_arrow = pa.array(values, pa.decimal128(20, scale))
    frames = {
        "pyarrow": pa.table({"x": of_arrow}),
        "pandas": pd.DataFrame({"x": pd.Series(values, dtype=pd.ArrowDtype(of_arrow.type))}),
        "polars": pl.DataFrame({"x": pl.from_arrow(of_arrow)}),
        "objects": pd.DataFrame({"x": values}),
    }
    for name, frame in frames.items():
        rows, _ = Schema.learn(frame, "from_dtype", None)
        assert_array_equal(rows.matrix[:, 0], [np.nan, *(float(value) for value in values[1:])], err_msg=name)


def test_lists_and_arrays_of_objects_give_the_tree_of_the_frame():
    frame, y = raw_frame()
    expected = BayesianTreeClassifier(prior=1.0).fit(frame, y)
    for rows in (frame.to_numpy(dtype=object), frame.to_numpy(dtype=object).tolist()):
        model = BayesianTreeClassifier(prior=1.0).fit(rows, y)
        assert_same_arrays(model, expected)
        assert_array_equal(model.predict(rows), expected.predict(frame))


@pytest.mark.parametrize("given", [["city"], [0], [-4], [True, False, False, False], np.array([0]), ("city",)], ids=str)
def test_categorical_features_by_name_position_and_mask(given):
    frame, y = raw_frame()
    expected = BayesianTreeClassifier(prior=1.0).fit(frame, y)
    assert_same_arrays(BayesianTreeClassifier(prior=1.0, categorical_features=given).fit(frame, y), expected)


def test_numbers_can_be_categories():
    frame, y = raw_frame()
    codes = frame.assign(city=frame["city"].str[5:].astype(int) * 10)
    expected = BayesianTreeClassifier(prior=1.0).fit(frame, y)
    for table, features in [
        (codes, ["city"]),
        (codes.astype({"city": "category"}), "from_dtype"),
        (codes.to_numpy(float), [0]),
    ]:
        model = BayesianTreeClassifier(prior=1.0, categorical_features=features).fit(table, y)
        assert_same_arrays(model, expected)
        assert_array_equal(model.categories_[0], np.arange(12) * 10.0)
    assert not BayesianTreeClassifier(prior=1.0).fit(codes, y).tree_.is_of(SplitKind.CATEGORY_SET).any()


def test_intervals_as_categories_are_shown_as_text():
    frame, y = raw_frame()
    in_order = frame.assign(x=pd.cut(frame["x"], [-9, -0.5, 0.5, 9]))
    without = in_order.assign(x=in_order["x"].cat.as_unordered())
    model = BayesianTreeClassifier(prior=1.0).fit(without, y)
    assert list(model.categories_[1]) == ["(-0.5, 0.5]", "(-9.0, -0.5]", "(0.5, 9.0]"]
    assert 'x in {"(-0.5, 0.5]", "(-9.0, -0.5]"}' in to_text(model)
    assert_array_equal(model.predict(without), model.predict(without.astype({"x": str}).replace("nan", None)))
    model = BayesianTreeClassifier(prior=1.0).fit(in_order, y)
    assert list(model.categories_[1]) == ["(-9.0, -0.5]", "(-0.5, 0.5]", "(0.5, 9.0]"]
    assert 'x <= "(-0.5, 0.5]"' in to_text(model)
    assert_array_equal(model.predict(in_order), model.predict(in_order.astype({"x": str}).replace("nan", None)))


@given(strategies.raw_problems(), st.booleans())
def test_training_rows_go_where_their_counts_are(problem, framed):
    """Whatever the columns are: the rows that end in a leaf are those it counted."""
    X, y, weight, parameters = problem
    table = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]) if framed else X
    model = BayesianTreeClassifier(**parameters).fit(table, y, sample_weight=weight)
    tree = model.tree_
    leaves = model.apply(table)
    assert_array_equal(np.bincount(leaves, minlength=tree.node_count)[tree.is_leaf], tree.n_node_samples[tree.is_leaf])
    passed = np.asarray(model.decision_path(table).sum(axis=0)).ravel()
    assert_array_equal(passed, tree.n_node_samples)
    for explanation, leaf in zip(model.explain(table), leaves, strict=True):
        assert explanation.leaf == leaf
        json.dumps(explanation.to_dict(), allow_nan=False)


@given(
    strategies.problems(), st.sampled_from([sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.csr_array])
)
def test_sparse_equals_dense(problem, container):
    X, y, weight, parameters = problem
    X = np.where(np.abs(X) < 1.5, 0.0, X)
    X[0, 0] = np.nan
    table = container(X)
    dense = BayesianTreeClassifier(**parameters).fit(X, y, sample_weight=weight)
    model = BayesianTreeClassifier(**parameters).fit(table, y, sample_weight=weight)
    assert_same_arrays(model, dense)
    assert_array_equal(model.predict_proba(table), dense.predict_proba(X))
    assert_array_equal(model.apply(X), dense.apply(table))
    assert [str(e) for e in model.explain(table)] == [str(e) for e in dense.explain(X)]


def test_sparse_rows_are_made_dense_some_at_a_time(monkeypatch):
    random = np.random.default_rng(0)
    X = sparse.random_array((500, 40), density=0.05, rng=random, format="csr")
    y = np.asarray(X.sum(axis=1)).ravel() > 1
    model = BayesianTreeClassifier(prior=0.5).fit(X, y)
    expected = model.predict_proba(X.toarray())
    whole = Rows.dense_parts
    monkeypatch.setattr(Rows, "dense_parts", lambda rows: whole(rows, max_values=1000))
    assert [len(part) for part in Rows(X).dense_parts()] == [25] * 20
    assert_array_equal(model.predict_proba(X), expected)


# Weights, files, bad input.


@pytest.mark.filterwarnings("ignore:About .* of the rows are equal")
def test_weights_count_rows_in_raw_tables():
    frame, y = raw_frame()
    twice = np.arange(len(y)) % 2 + 1
    weighted = BayesianTreeClassifier(prior=1.0, class_weight={0: 1, 1: 2}).fit(frame, y, sample_weight=twice)
    rows = np.repeat(np.arange(len(y)), twice * (1 + y))
    repeated = BayesianTreeClassifier(prior=1.0).fit(frame.iloc[rows], y[rows])
    assert_array_equal(weighted.tree_.feature, repeated.tree_.feature)
    assert_array_equal(weighted.tree_.category, repeated.tree_.category)
    assert_allclose(weighted.tree_.posterior, repeated.tree_.posterior)


@pytest.mark.parametrize("n_jobs", [2, 3])
def test_threads_do_not_change_raw_trees(n_jobs):
    frame, y = raw_frame(3000)
    one = BayesianTreeClassifier(prior=0.5).fit(frame, y)
    assert_same_arrays(BayesianTreeClassifier(prior=0.5, n_jobs=n_jobs).fit(frame, y), one)


def test_a_raw_model_comes_back_from_its_file(tmp_path):
    frame, y = raw_frame()
    for model in (
        BayesianTreeClassifier(prior=1.0, monotonic_cst={"x": 1}, feature_prior={"x": 2.0}).fit(frame, y),
        BayesianTreeRegressor(categorical_features=["city", "flag"]).fit(frame, y),
    ):
        model.save(tmp_path / "model.json")
        other = load(tmp_path / "model.json")
        assert_same_arrays(other, model)
        assert other.get_params() == model.get_params()
        assert_array_equal(other.predict(frame), model.predict(frame))
        assert to_text(other) == to_text(model)


FRAME, LABELS = raw_frame(40)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (FRAME.assign(x=["a", 1] * 20), "Column 'x' .* mixed"),
        (FRAME.assign(x=pd.Timestamp("2020-01-01")), "Column 'x' .* dates"),
        (pl.DataFrame({"when": [pd.Timestamp("2020-01-01").to_pydatetime()] * 40}), "Column 'when' .* dates"),
        (FRAME.assign(x=[{}] * 40), r"Column 'x' .*\(dict"),
        (FRAME.assign(x=np.inf), "Column 'x' .* infinite"),
        (pd.concat([FRAME, FRAME[["x"]]], axis=1), "2 columns of the name 'x'"),
        (FRAME[:0], "0 sample"),
        (FRAME[[]], "0 feature"),
        (pl.DataFrame({"a": [1.0] * 40}).lazy(), "collect"),
        (FRAME.assign(x=[10**400, 1] * 20), "Column 'x' .* float64"),
        (np.zeros((40, 2), dtype="M8[ns]"), "dates"),
        (np.zeros(40, dtype=[("a", float), ("b", int)]), "structured"),
        (np.array([["a", {}]] * 40, dtype=object), r"Column 1 .*\(dict"),
    ],
    ids=[
        "mixed",
        "dates",
        "polars dates",
        "dict",
        "inf",
        "twice",
        "no rows",
        "no columns",
        "lazy",
        "huge",
        "array of dates",
        "structured",
        "objects",
    ],
)
def test_bad_tables_are_refused_by_column(table, words):
    model = BayesianTreeClassifier().fit(FRAME, LABELS)
    before = dict(vars(model))
    y = LABELS[: len(table)] if hasattr(table, "__len__") else LABELS
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        model.fit(table, y)
    assert "\n" not in str(caught.value)
    assert vars(model) == before


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"categorical_features": None}, "Column 'city' .* text"),
        ({"categorical_features": ["citty"]}, "'citty', .* did you mean 'city'"),
        ({"categorical_features": "city"}, "categorical_features"),
        ({"categorical_features": [9]}, "column 9"),
        ({"categorical_features": [0.5]}, "categorical_features"),
        ({"categorical_features": [["city"]]}, "categorical_features"),
        ({"categorical_features": 0}, "categorical_features"),
        ({"categorical_features": [True]}, "mask of 1"),
        ({"categorical_features": {"city": 1}}, "categorical_features"),
        ({"monotonic_cst": {"city": 1}}, "'city' .* categorical"),
        ({"monotonic_cst": {"y": 1}}, "monotonic_cst names the column 'y'"),
        ({"monotonic_cst": {"x": 2}}, "monotonic_cst"),
        ({"monotonic_cst": {"x": True}}, "monotonic_cst"),
        ({"monotonic_cst": [0, 1]}, "4 features"),
        ({"monotonic_cst": "x"}, "monotonic_cst"),
        ({"monotonic_cst": 1}, "monotonic_cst"),
        ({"feature_prior": {"z": 1.0}}, "feature_prior names the column 'z'"),
        ({"feature_prior": {"x": -1.0}}, "feature_prior of column 'x'"),
        ({"feature_prior": {"x": 1.0, 1: 2.0}}, "feature_prior gives column 'x' twice"),
        ({"monotonic_cst": {"x": pd.NA}}, "monotonic_cst"),
        ({"monotonic_cst": {"x": np.array([1, 0])}}, "monotonic_cst"),
    ],
    ids=str,
)
def test_bad_parameters_for_raw_tables_are_refused(parameters, words):
    with pytest.raises((ValueError, TypeError), match=words) as caught:
        BayesianTreeClassifier(**parameters).fit(FRAME, LABELS)
    assert "\n" not in str(caught.value)


def test_constraints_need_two_classes():
    with pytest.raises(ValueError, match=r"two classes, of which .* y has 3"):
        BayesianTreeClassifier(monotonic_cst={"x": 1}).fit(FRAME, np.arange(40) % 3)


def test_sparse_tables_hold_numbers():
    with pytest.raises(TypeError, match="sparse"):
        BayesianTreeClassifier(categorical_features=[0]).fit(sparse.csr_array(np.eye(4)), [0, 1, 0, 1])
    with pytest.raises(ValueError, match=r"Column 1 .* infinite .* row 2"):
        BayesianTreeClassifier().fit(sparse.csr_array([[0, 0], [1, 0], [0, np.inf]]), [0, 1, 0])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda frame: frame.assign(city=1.0), "'city' .* numbers, but held text"),
        (lambda frame: frame.assign(x="a"), "'x' .* text, but held numbers"),
        (lambda frame: frame[["x", "city", "flag", "noise"]], "same order"),
        (lambda frame: frame.rename(columns={"x": "xx"}), "xx"),
        (lambda frame: frame.assign(more=1), "more"),
        (lambda frame: frame.drop(columns="x"), "x"),
        (lambda frame: frame.assign(x=np.inf), "'x' .* infinite"),
    ],
    ids=["numbers", "text", "order", "name", "more", "less", "inf"],
)
def test_a_table_that_differs_at_predict_is_refused(change, words):
    model = BayesianTreeClassifier(prior=1.0).fit(*raw_frame())
    assert {0, 1} <= set(model.tree_.feature)
    with pytest.raises(ValueError, match=rf"(?s){words}"):
        model.predict(change(FRAME))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_odd_columns_are_fine(missing):
    """More categories than fit anything, one category, none at all, missing values of every kind."""
    frame = FRAME.assign(
        name=pd.Categorical([f"row {i}" for i in range(40)], categories=[f"row {i}" for i in range(100)]),
        one="same",
        none=pd.Series([missing] * 40, dtype=object),
        big=10**15,
    )
    model = BayesianTreeClassifier(prior=1.0).fit(frame, LABELS)
    assert model.predict(frame).shape == (40,)
    assert len(model.categories_[4]) == 40
    assert len(model.categories_[6]) == 0
    assert model.predict(frame.assign(name="new", one=missing, none="text now")).shape == (40,)


def test_columns_may_have_any_name():
    frame, y = raw_frame(60)
    names = dict(zip(frame.columns, ["collect", "column_names", "columns", "shape"], strict=True))
    model = BayesianTreeClassifier(prior=1.0).fit(frame.rename(columns=names), y)
    assert_same_arrays(model, BayesianTreeClassifier(prior=1.0).fit(frame, y))
    assert_array_equal(
        BayesianTreeClassifier().fit(frame.set_axis([3, 1, 2, 0], axis=1), y).categories_[1:], [None] * 3
    )


def test_masked_values_are_missing():
    X = np.where(np.arange(80) % 2, -999.0, np.arange(80.0))[:, None]
    masked = np.ma.masked_array(X, mask=X < 0)
    model = BayesianTreeClassifier(prior=1.0).fit(masked, X[:, 0] < 0)
    assert model.tree_.threshold[0] == np.inf
    assert model.score(masked, X[:, 0] < 0) == 1


def test_numpys_own_strings_are_text():
    frame, y = raw_frame()
    column = frame[["city"]].to_numpy(dtype=np.dtypes.StringDType())
    assert_same_arrays(BayesianTreeClassifier().fit(column, y), BayesianTreeClassifier().fit(frame[["city"]], y))


@pytest.mark.parametrize(
    ("categories", "words"), [([2.0**53, 1.0], "beyond 2"), ([np.inf, 1.0], "infinite value as a category")]
)
def test_categories_that_float64_cannot_hold_are_refused(categories, words):
    with pytest.raises(ValueError, match=f"Column 'a' .* {words}"):
        BayesianTreeClassifier(categorical_features=["a"]).fit(pd.DataFrame({"a": categories * 10}), [0, 1] * 10)


def test_a_sparse_matrix_is_left_as_it_is():
    rows, start = np.array([2, 1, 0, 1, 0], dtype=np.int32), np.array([0, 3, 5], dtype=np.int32)
    X = sparse.csc_matrix((np.array([1.0, 2, 3, 4, 5]), rows, start), shape=(4, 2))
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    BayesianTreeClassifier(categorical_features=[]).fit(X, [0, 1, 0, 1])
    assert_array_equal(X.indices, [2, 1, 0, 1, 0])
    twice = sparse.coo_array(([1.0, 2.0, 1.0], ([0, 0, 1], [0, 0, 0])), shape=(4, 1))
    dense = BayesianTreeClassifier(prior=0.1).fit(twice.toarray(), [0, 1, 1, 1])
    assert_same_arrays(BayesianTreeClassifier(prior=0.1).fit(twice, [0, 1, 1, 1]), dense)


def test_a_series_speaks_by_its_labels():
    frame, y = raw_frame()
    by_name = BayesianTreeClassifier(feature_prior=pd.Series([3.0, 0.5], index=["x", "city"])).fit(frame, y)
    assert_same_arrays(by_name, BayesianTreeClassifier(feature_prior={"city": 0.5, "x": 3.0}).fit(frame, y))


def test_names_and_positions_can_be_mixed():
    frame, y = raw_frame()
    for chosen in (["city", 2], {"city", 2}, np.array(["city", 2], dtype=object)):
        model = BayesianTreeClassifier(categorical_features=chosen).fit(frame, y)
        assert [categories is not None for categories in model.categories_] == [True, False, True, False]


def test_text_tells_categories_and_numbers_apart():
    def text(values, y):
        return to_text(BayesianTreeClassifier(prior=1.0).fit(pd.DataFrame({"c": values}), y))

    odd = text(["a\nb", "b", "missing", None] * 50, [0, 1, 0, 1] * 50)
    assert len(odd.splitlines()) == 3
    assert 'c in {"a\\nb", "missing"}' in odd
    assert 'c in {"", "a, b"}' in text(["a, b", "b", "", " "] * 50, [0, 1, 0, 1] * 50)
    assert "c in {1234567}" in text(pd.Categorical([1234567, 1234568] * 100), [0, 1] * 100)
    model = BayesianTreeClassifier(prior=1.0).fit([[0.1], [0.1 + 1e-12]] * 50, [0, 1] * 50)
    assert str(model.explain([[0.1 + 1e-12]])[0]).startswith("1\nbecause x0 = 0.100000000001")


def test_the_prior_within_limits_sums_to_one():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"a": random.integers(0, 8, 200).astype(str)})
    space = partition_space(X, random.integers(0, 2, 200), min_samples_leaf=30)
    assert_allclose(np.exp(space["log_prior"]).sum(), 1, rtol=1e-12)


def test_zero_weight_rows_are_no_rows_in_raw_tables():
    frame, y = raw_frame()
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    one = BayesianTreeClassifier(prior=1.0).fit(frame, y, sample_weight=weight)
    other = BayesianTreeClassifier(prior=1.0).fit(frame[weight > 0], y[weight > 0])
    assert_same_arrays(one, other)
