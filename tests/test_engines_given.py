"""Dtypes, bins and categories that are given need not be found: the tree is the same, and the rows are read once."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from baytree import BayesianTreeClassifier, PartitionPrior, TreeSpaceClassifier, engines
from tests.reference.bins import bins as naive_bins
from tests.reference.thresholds import roundest
from tests.sources import OUTCOMES, assert_same_model, divided, fitted_in_memory, model_of, table_of


class Reader:
    """Hands out frames, and counts how often each of them is read."""

    def __init__(self, parts):
        self.parts, self.read = parts, 0

    def __call__(self):
        for part in self.parts:
            self.read += 1
            yield part


def with_all_kinds(outcome, **how):
    """A table with numbers, text, truth values and an ordered column."""
    frame, names = table_of(outcome, **how)
    sizes = ["small", "medium", "large"]
    place = np.random.default_rng(1).integers(0, 3, len(frame))
    frame["size"] = pd.Categorical.from_codes(place, sizes, ordered=True)
    return frame, names


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_what_describe_finds_grows_the_same_tree_in_one_pass(outcome, weighted):
    frame, names = with_all_kinds(outcome, weighted=weighted)
    expected = fitted_in_memory(model_of(outcome), frame, names)
    parts = divided(frame, 3)
    described = engines.describe(model_of(outcome), lambda: parts, **names)
    read = Reader(parts)
    assert_same_model(engines.fit(model_of(outcome), read, **names, **described), expected)
    assert read.read <= len(parts) + 1  # the first part tells the columns
    assert engines.fit(model_of(outcome), Reader(parts), **names, **described, cache=False).get_n_leaves() > 1


def test_every_part_may_have_labels_of_its_own():
    frame, names = with_all_kinds("classes")
    expected = fitted_in_memory(model_of("classes"), frame, names)
    described = engines.describe(model_of("classes"), frame, **names)
    parts = [part for _, part in frame.groupby("y", sort=False)][::-1]
    assert_same_model(engines.fit(model_of("classes"), lambda: parts, **names, **described), expected)


def test_describe_finds_the_naive_bins():
    frame, names = with_all_kinds("classes")
    frame["nothing"] = np.nan
    described = engines.describe(model_of("classes"), frame, **names)
    assert described["dtypes"] == {
        "city": "category", "x": "number", "flag": "bool", "noise": "number", "size": "ordered", "nothing": "number"
    }  # fmt: skip
    assert described["categories"] == {"city": sorted(set(frame["city"])), "size": ["small", "medium", "large"]}
    for name in ("x", "noise", "nothing"):
        bins = [tuple(pair) for pair in described["bins"][name] if pair]
        assert bins == naive_bins(frame[name].tolist(), 20)
    expected = fitted_in_memory(model_of("classes"), frame, names)
    assert_same_model(engines.fit(model_of("classes"), frame, **names, **described), expected)
    of_space = engines.describe(TreeSpaceClassifier(max_bins=model_of("classes").max_bins), frame, **names)
    assert of_space["bins"].keys() == described["bins"].keys()  # columns do not depend on what is grown


@pytest.mark.parametrize(
    "parameters",
    [
        {"min_samples_leaf": 20},
        {"monotonic_cst": {"x": 1}},
        {"feature_prior": {"city": 0.0, "x": 2.0}},
        {"partition_prior": PartitionPrior(location="distance")},
        {"calibrate": True},
        {"max_bins": 1000},
        {"categorical_features": ["city", "flag"]},
    ],
    ids=str,
)
def test_every_parameter_means_the_same(parameters):
    frame, names = table_of("normal", weighted=True)
    expected = fitted_in_memory(model_of("normal", **parameters), frame, names)
    described = engines.describe(model_of("normal", **parameters), frame, **names)
    model = engines.fit(model_of("normal", **parameters), lambda: divided(frame, 3), **names, **described)
    assert_same_model(model, expected)


@given(st.data())
def test_only_the_rest_is_found(data):
    frame, names = with_all_kinds("classes", n=120)
    expected = fitted_in_memory(model_of("classes"), frame, names)
    described = engines.describe(model_of("classes"), frame, **names)
    given = {
        what: {name: by_name[name] for name in data.draw(st.sets(st.sampled_from(sorted(by_name))))}
        for what, by_name in described.items()
    }
    for name in given["categories"]:
        given["dtypes"].setdefault(name, described["dtypes"][name])  # or an order is none
    model = engines.fit(model_of("classes"), lambda: divided(frame, 2), **names, **given)
    assert_same_model(model, expected)


@pytest.mark.parametrize("max_bins", [5, 40])
def test_ordered_columns_of_many_categories_are_described(max_bins):
    random = np.random.default_rng(0)
    codes = random.integers(0, 30, 500)
    frame = pd.DataFrame({"x": random.normal(size=500), "y": (codes > 12) ^ (random.random(500) < 0.1)})
    frame["grade"] = pd.Categorical.from_codes(codes, [f"grade {i}" for i in range(30)], ordered=True)
    model, parts = BayesianTreeClassifier(max_bins=max_bins), divided(frame, 3)
    described = engines.describe(model, lambda: parts, target="y")
    expected = engines.fit(BayesianTreeClassifier(max_bins=max_bins), lambda: parts, target="y")
    assert_same_model(engines.fit(model, lambda: parts, target="y", **described), expected)
    assert expected.schema_.columns[1].kind == "ordered category"


def test_columns_that_are_given_are_not_looked_at(monkeypatch):
    from baytree.sources import _parts

    frame, names = table_of("normal")
    described = engines.describe(model_of("normal"), frame, **names)
    counted, original = [], _parts.count

    def count(matrix, splitters, *others):
        counted.extend(splitters)
        return original(matrix, splitters, *others)

    monkeypatch.setattr(_parts, "count", count)
    engines.fit(model_of("normal"), frame, **names, bins={"x": described["bins"]["x"]})
    assert len(counted) == 2  # flag and noise


@pytest.mark.parametrize("way", ["frame", "polars", "parquet", "arrow"])
def test_dtypes_are_those_of_any_library(way, tmp_path):
    frame, names = table_of("classes")
    expected = fitted_in_memory(model_of("classes"), frame, names)
    described = engines.describe(model_of("classes"), frame, **names)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    features = frame.drop(columns="y")
    if way == "frame":
        source, dtypes = frame, frame.dtypes
    elif way == "polars":
        source = pl.from_pandas(frame)
        dtypes = {name: dtype for name, dtype in source.schema.items() if name != "y"}
    elif way == "parquet":
        source, dtypes = tmp_path / "one.parquet", {"city": str, "x": float, "flag": bool, "noise": np.float64}
        pq.write_table(table, source)
    else:
        source, dtypes = lambda: [table], {name: table.schema.field(name).type for name in features.columns}
    model = engines.fit(model_of("classes"), source, **names, **described | {"dtypes": dtypes})
    assert_same_model(model, expected)


def test_a_dtype_may_bring_its_categories():
    frame, names = with_all_kinds("classes")
    expected = fitted_in_memory(model_of("classes"), frame, names)
    as_text = frame.assign(size=frame["size"].astype(object))
    for dtype in (frame["size"].dtype, pl.Enum(["small", "medium", "large"])):
        assert_same_model(engines.fit(model_of("classes"), as_text, **names, dtypes={"size": dtype}), expected)


def test_numbers_may_be_categories():
    frame, names = table_of("classes")
    frame["number"] = np.random.default_rng(0).integers(0, 5, len(frame))
    expected = fitted_in_memory(model_of("classes"), frame.assign(number=frame["number"].astype("category")), names)
    for known in ({"dtypes": {"number": "category"}}, {"categories": {"number": [4, 3, 2, 1, 0]}}):
        assert_same_model(engines.fit(model_of("classes"), lambda: divided(frame, 2), **names, **known), expected)


def test_categories_that_do_not_occur_change_no_probability():
    frame, names = table_of("normal", weighted=True)
    expected = fitted_in_memory(model_of("normal", calibrate=True), frame, names)
    described = engines.describe(model_of("normal"), frame, **names)
    described["categories"]["city"] += ["aaa", "zzz"]
    for known in (described, {"categories": described["categories"]}):
        for cache in (True, False):
            source = lambda: divided(frame, 3)  # noqa: E731
            model = engines.fit(model_of("normal", calibrate=True), source, **names, **known, cache=cache)
            for name in ("feature", "threshold", "n_node_samples", "value", "log_prior_leaf", "log_likelihood"):
                assert_array_equal(getattr(model.tree_, name), getattr(expected.tree_, name), err_msg=name)
            assert list(model.categories_[0]) == ["aaa", *expected.categories_[0], "zzz"]
            assert_array_equal(
                model.predict(frame[list(model.feature_names_in_)]),
                expected.predict(frame[list(model.feature_names_in_)]),
            )


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=6, unique=True).map(sorted))
def test_borders_are_thresholds(borders):
    frame, names = table_of("classes", n=200)
    frame["x"] = frame["x"].round(1)
    model = engines.fit(model_of("classes"), frame, **names, bins={"x": borders}, dtypes={"x": "float32"})
    in_batches = engines.fit(model_of("classes"), lambda: divided(frame, 3), **names, bins={"x": borders})
    assert_same_model(in_batches, model)
    place = np.where(frame["x"].isna(), np.nan, np.searchsorted(borders, frame["x"]))
    expected = fitted_in_memory(model_of("classes"), frame.assign(x=place), names)
    for name in ("feature", "children_left", "n_node_samples", "posterior", "missing_go_to_left"):
        assert_array_equal(getattr(model.tree_, name), getattr(expected.tree_, name))
    features = frame.drop(columns="y")
    assert_array_equal(model.apply(features), expected.apply(features.assign(x=place)))
    # Between bins that have no rows in between.
    neighbours = [roundest(low, high) for low in borders for high in borders if low <= high]
    assert np.isin(model.tree_.threshold[model.tree_.feature == 1], neighbours).all()


def test_rows_that_the_bins_were_not_found_on_go_where_predictions_go():
    frame, names = table_of("classes", n=2000)
    given = engines.describe(model_of("classes"), frame[:100], **names)
    given["categories"]["city"] = sorted(set(frame["city"]))
    model = engines.fit(model_of("classes"), lambda: divided(frame, 3), **names, **given)
    leaves, rows = np.unique(model.apply(frame.drop(columns="y")), return_counts=True)
    assert_array_equal(model.tree_.n_node_samples[leaves], rows)
    assert rows.sum() == 2000


WRONG = {
    "bins by list": ({"bins": [1, 2]}, TypeError, "bins must be a dict by the names of columns; got list"),
    "unknown name": ({"bins": {"nois": [1.0]}}, ValueError, "bins names the column 'nois', which X does not have: "),
    "target": ({"bins": {"y": [1.0]}}, ValueError, "bins names the column 'y', which X does not have"),
    "not sorted": ({"bins": {"x": [2.0, 1.0]}}, ValueError, "bins of column 'x' must be numbers in ascending order"),
    "twice": ({"bins": {"x": [1.0, 1.0]}}, ValueError, "are not in ascending order"),
    "overlap": ({"bins": {"x": [[0, 2], [1, 3]]}}, ValueError, "overlap or are not in ascending order"),
    "infinite": ({"bins": {"x": [0.0, np.inf]}}, ValueError, "bins of column 'x' must be numbers"),
    "text": ({"bins": {"x": ["a"]}}, TypeError, "bins of column 'x' must be numbers"),
    "shape": ({"bins": {"x": [[1, 2, 3]]}}, ValueError, "bins of column 'x' must be numbers"),
    "too many": ({"bins": {"x": np.arange(70000)}}, ValueError, "bins of column 'x' are more than 65535: give fewer"),
    "dtype": ({"dtypes": {"x": "complex"}}, ValueError, "dtypes gives column 'x' the type 'complex': it must be"),
    "date": ({"dtypes": {"x": "datetime64[ns]"}}, ValueError, "dtypes gives column 'x' the type"),
    "categories": ({"categories": {"city": "abc"}}, TypeError, "categories of column 'city' must be a list"),
    "mixed": ({"categories": {"city": ["a", 1]}}, TypeError, "must be all text or all finite numbers"),
    "category twice": ({"categories": {"city": ["a", "a"]}}, ValueError, "hold a value twice: give each once"),
    "both": ({"bins": {"x": [1.0]}, "categories": {"x": [1]}}, ValueError, "Column 'x' has both bins and categories"),
    "bins of text": ({"bins": {"city": [1.0]}}, ValueError, "Column 'city' of X holds text, but dtypes, bins or"),
    "said text": ({"bins": {"x": [1.0]}, "dtypes": {"x": str}}, ValueError, "Column 'x' has bins, but dtypes says"),
    "said number": ({"categories": {"city": ["a"]}, "dtypes": {"city": int}}, ValueError, "has categories, but dtypes"),
    "text as number": ({"dtypes": {"city": "number"}}, ValueError, "Column 'city' of X holds text"),
    "no order": ({"dtypes": {"city": "ordered"}}, ValueError, "is to be ordered, but has no order: give its"),
    "outside": ({"categories": {"city": ["a"]}}, ValueError, "Column 'city' of X has the value 'city .*', which"),
    "outside an order": (
        {"categories": {"city": ["a"]}, "dtypes": {"city": "ordered"}}, ValueError, "which is not among its given"
    ),
    "no truth value": ({"dtypes": {"x": "bool"}}, ValueError, "has the value .*, but dtypes says that it is a truth"),
}  # fmt: skip


@pytest.mark.parametrize(("wrong", "error", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_is_one_sentence(wrong, error, message):
    frame, names = table_of("classes", n=60)
    model = model_of("classes")
    with pytest.raises(error, match=message):
        engines.fit(model, lambda: divided(frame, 2), **names, **wrong)
    assert not hasattr(model, "fitted_")


def test_nothing_is_read_before_what_is_given_is_checked():
    read = Reader(divided(table_of("classes", n=60)[0], 2))
    with pytest.raises(ValueError, match="ascending order"):
        engines.fit(model_of("classes"), read, bins={"x": [2, 1]})
    with pytest.raises(ValueError, match=r"ctegories|bins names the column 'z'"):
        engines.fit(model_of("classes"), read, bins={"z": [1, 2]})
    assert read.read <= 1


def test_infinite_values_of_known_columns_are_refused():
    frame, names = table_of("classes", n=60)
    described = engines.describe(model_of("classes"), frame, **names)
    frame.loc[7, "x"] = np.inf
    with pytest.raises(ValueError, match="Column 'x' of X has an infinite value"):
        engines.fit(model_of("classes"), frame, **names, **described)


def test_categorical_features_and_dtypes_must_agree():
    frame, names = table_of("classes", n=60)
    model = BayesianTreeClassifier(categorical_features=["flag"])
    with pytest.raises(ValueError, match="Column 'city' has categories, but categorical_features does not name it"):
        engines.fit(model, frame, **names, dtypes={"city": "category"})
    with pytest.raises(ValueError, match="Column 'flag' has bins, but categorical_features names it"):
        engines.fit(model, frame, **names, bins={"flag": [0.5]})


of_ibis = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning")


def near_limits(n_bins):
    """Limits of bins, and values on them, a float beside them, between them and far beyond them."""
    random = np.random.default_rng(n_bins)
    limits = np.unique(np.round(np.exp(random.normal(size=n_bins)), 3))
    near = np.concatenate([limits, np.nextafter(limits, -np.inf), np.nextafter(limits, np.inf)])
    odd = [np.nan, 0.0, -1e300, 1e300, 5e-324, -1e9, 1e9, np.inf, -np.inf]
    return limits, np.concatenate([near, odd, random.uniform(-1, limits[-1] + 1, 500)])


@of_ibis
@pytest.mark.parametrize("n_bins", [30, 200])
def test_slices_find_the_given_bin_of_every_value(duckdb, n_bins):
    from baytree.sources import _sql_slices as slices
    from baytree.sources._sql_temporary import TemporaryTables

    limits, x = near_limits(n_bins)
    rows = duckdb(pd.DataFrame({"x": x, "row": np.arange(len(x))}))
    column = slices.SlicedColumn(rows.x.nullif(np.nan), 1000, slices.Slices.of_limits(limits), limits, 2000)
    tables = TemporaryTables(rows.get_backend())
    encoded = slices.encode_by_slices(tables, rows, {"code": column}, {}, {"row": rows.row}).order_by("row").execute()
    tables.drop()
    expected = np.searchsorted(limits, x)
    expected[np.isnan(x)], expected[np.isinf(x)] = 1000, 2000
    assert_array_equal(encoded["code"], expected)


@of_ibis
def test_given_bins_in_duckdb_are_looked_up_by_slices(duckdb, monkeypatch):
    from baytree.sources import _sql

    limits, x = near_limits(100)
    frame = pd.DataFrame({"x": x[~np.isinf(x)]})
    frame["y"] = (frame["x"] > np.median(limits)) ^ (np.arange(len(frame)) % 5 == 0)
    looked_up, original = [], _sql.encode_by_slices
    monkeypatch.setattr(_sql, "encode_by_slices", lambda *given: looked_up.append(list(given[2])) or original(*given))
    for bins in (limits, np.stack([limits[:-1], limits[1:] - 1e-4], axis=1)):
        expected = engines.fit(model_of("classes"), frame, bins={"x": bins})
        assert_same_model(engines.fit(model_of("classes"), duckdb(frame), bins={"x": bins}), expected)
    assert looked_up == [["c0"], ["c0"]]
    frame.loc[3, "x"] = np.inf
    with pytest.raises(ValueError, match="Column 'x' of X has an infinite value"):
        engines.fit(model_of("classes"), duckdb(frame), bins={"x": limits})
