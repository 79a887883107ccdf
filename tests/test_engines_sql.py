"""Databases grow the tree of the table in memory, bit for bit: DuckDB, and a PostgreSQL of our own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from baytree import BayesianTreeRegressor, PartitionPrior, engines
from baytree.growth import ColumnBins, _encoded_rows, _histogram_data, _histograms
from baytree.sources import (
    _interrupts,
    _sql,
    _sql_backend,
    _sql_bins,
    _sql_columns,
    _sql_execution,
    _sql_node_table,
    _sql_packing,
    _sql_slices,
    _sql_target,
)
from tests.sources import OUTCOMES, assert_same_model, fitted_in_memory, model_of, table_of

ibis = pytest.importorskip("ibis")
# Ibis and its drivers warn of their own affairs.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_database_grows_the_same_tree(put, outcome, weighted):
    frame, names = table_of(outcome, weighted=weighted, n=300)
    expected = fitted_in_memory(model_of(outcome, max_bins=9), frame, names)
    table = put(frame)
    before = set(table.get_backend().list_tables())
    model = engines.fit(model_of(outcome, max_bins=9), table, **names)
    assert_same_model(model, expected)
    assert set(table.get_backend().list_tables()) == before  # what was temporary is gone


def frame_of_many_leaves(outcome: str) -> pd.DataFrame:
    random = np.random.default_rng(0)
    x, z, label = random.random(3000), random.random(3000), random.integers(0, 12, 3000)
    frame = pd.DataFrame({"x": x, "z": z, "label": np.array(list("abcdefghijkl"))[label]})
    level = (np.floor(5 * x) + 2 * np.floor(3 * z) + label * 7 % 3).astype(int)
    frame["y"] = np.minimum(level // 3, 2) if outcome == "classes" else level + 0.1 * random.normal(size=3000)
    return frame


def test_trees_that_are_grown_one_after_the_other_begin_with_all_rows(put):
    frame = frame_of_many_leaves("classes")
    model = model_of("classes", max_bins=20, prior="evidence")
    expected = fitted_in_memory(clone(model), frame, {})
    assert expected.get_n_leaves() > 30
    assert_same_model(engines.fit(model, put(frame)), expected)


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (_sql_backend, "_MAX_PARTS", 4),  # nodes are counted in several tables
        (_sql_node_table, "_MAX_NUMBERS", 8),  # rows are written anew after a few levels
        (_histogram_data, "_MAX_BYTES", 2**15),  # some open nodes wait until others are done
        (_histograms, "_MAX_PARENT_BYTES", 2**13),  # both children of some nodes are counted
    ],
)
@pytest.mark.parametrize("outcome", ["classes", "normal"])
def test_rows_that_are_placed_in_another_way_grow_the_same_tree(put, monkeypatch, outcome, module, name, value):
    frame = frame_of_many_leaves(outcome)
    model = model_of(outcome, max_bins=20)
    expected = fitted_in_memory(clone(model), frame, {})
    assert expected.get_n_leaves() > 30
    monkeypatch.setattr(module, name, value)
    assert_same_model(engines.fit(model, put(frame)), expected)


@pytest.mark.parametrize(("name", "value"), [("_MAX_FETCHED", 0), ("_SLICES", 5)])
def test_columns_that_slices_divide_badly_have_the_same_bins(put, monkeypatch, name, value):
    monkeypatch.setattr(_sql_bins, name, value)
    frame, names = table_of("normal", n=200)
    frame["x"] = np.exp(20 * frame["x"])
    expected = fitted_in_memory(model_of("normal", max_bins=9), frame, names)
    assert_same_model(engines.fit(model_of("normal", max_bins=9), put(frame), **names), expected)


@pytest.fixture
def guesses(monkeypatch):
    """Ranges are guessed from a few rows; tells which of them were wrong."""
    monkeypatch.setattr(_sql_columns, "_MIN_ROWS_TO_GUESS", 1)
    monkeypatch.setattr(_sql_columns, "_GUESS_ROWS", 50)
    wrong, original = [], _sql.SqlSource._exact_range

    def exact_range(self, name):
        wrong.append(name)
        return original(self, name)

    monkeypatch.setattr(_sql.SqlSource, "_exact_range", exact_range)
    return wrong


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_ranges_that_are_guessed_lead_to_the_same_tree(duckdb, outcome, guesses):
    frame, names = table_of(outcome, weighted=True, n=300)
    expected = fitted_in_memory(model_of(outcome, max_bins=9), frame, names)
    assert_same_model(engines.fit(model_of(outcome, max_bins=9), duckdb(frame), **names), expected)
    assert "noise" not in guesses


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (299, 1e9),  # behind the rows that are looked at
        (299, -1e9),
        (299, np.nan),
        (299, None),
        (0, None),  # among them: nothing is guessed
        (slice(0, 100), 0.5),  # a single value among them
        (slice(50, 300), 2.0),  # few values behind them
    ],
)
def test_a_wrong_guess_leads_to_the_same_tree(duckdb, guesses, at, value):
    frame, names = table_of("classes", n=300)
    x = pd.Series(np.random.default_rng(0).random(300), dtype="Float64" if value is None else "float64")
    x[at] = value
    expected = fitted_in_memory(model_of("classes", max_bins=9), frame.assign(x=x), names)
    table = duckdb(frame.assign(x=x))
    assert_same_model(engines.fit(model_of("classes", max_bins=9), table, **names), expected)
    assert ("x" in guesses) == (at != 0)


@pytest.mark.parametrize("is_guessed", [False, True])
@pytest.mark.parametrize("first", [0, 280])
def test_a_parquet_file_whose_footer_does_not_tell_of_nan(duckdb, request, tmp_path, is_guessed, first):
    frame, names = table_of("classes", n=300)
    frame["x"] = np.random.default_rng(0).random(300)
    frame.loc[(frame.index >= first) & (frame.index % 3 == 0), "x"] = np.nan
    with_nan = pa.Table.from_pandas(frame, preserve_index=False)
    with_nan = with_nan.set_column(frame.columns.get_loc("x"), "x", pa.array(frame["x"].to_numpy()))
    pq.write_table(with_nan, tmp_path / "nan.parquet")
    table = duckdb(frame).get_backend().read_parquet(tmp_path / "nan.parquet")
    expected = fitted_in_memory(model_of("classes", max_bins=9), frame, names)
    wrong = request.getfixturevalue("guesses") if is_guessed else []
    assert_same_model(engines.fit(model_of("classes", max_bins=9), table, **names), expected)
    assert ("x" in wrong) == (is_guessed and first > 0)


def test_infinite_values_are_refused_where_the_range_was_guessed(duckdb, guesses):
    frame, names = table_of("classes", n=300)
    frame["x"] = np.where(np.arange(300) == 299, np.inf, np.random.default_rng(0).random(300))
    with pytest.raises(ValueError, match="Column 'x' of X has an infinite value"):
        engines.fit(model_of("classes", max_bins=9), duckdb(frame), **names)
    assert guesses == ["x"]


@pytest.mark.parametrize("outcome", ["classes", "normal"])
def test_columns_of_many_bins_have_the_same_codes(put, outcome):
    frame, names = table_of(outcome, n=1000)
    frame["skewed"] = np.exp(3 * np.random.default_rng(1).normal(size=len(frame)))
    frame.loc[::9, "skewed"] = None
    expected = fitted_in_memory(model_of(outcome, max_bins=60), frame, names)
    assert_same_model(engines.fit(model_of(outcome, max_bins=60), put(frame), **names), expected)


@given(st.data(), st.integers(24, 60))
def test_slices_lead_to_the_bin_of_every_value(data, n_bins):
    drawn = data.draw(st.lists(st.floats(-1e6, 1e6), min_size=n_bins, max_size=n_bins, unique=True))
    ends = np.unique(np.array(drawn) + 0.0)
    share = data.draw(st.floats(1e-3, 1.0))
    lows = np.append(ends[0], ends[:-1] + np.diff(ends) * share)
    slices = _sql_slices.Slices.of(ColumnBins(lows, ends, has_missing=False))
    if slices is None:
        return
    values = np.concatenate([lows, ends, lows / 2 + ends / 2])
    w = (values - slices.low) * slices.factor
    for rounded in (w, np.nextafter(w, -np.inf), np.nextafter(w, np.inf)):  # a database may round in another way
        shift, *beyond = (of_slice[np.floor(rounded).astype(int)] for of_slice in slices.by_slice)
        codes = np.floor(rounded * 0.5 + shift) + sum((rounded > further).astype(int) for further in beyond)
        assert_array_equal(codes, np.searchsorted(ends, values))


def test_values_that_slices_do_not_tell_apart_have_the_same_codes(put):
    random = np.random.default_rng(0)
    frame, names = table_of("classes", n=1000)
    frame["close"] = 1.0 + random.integers(0, 90, len(frame)) * np.finfo(np.float64).eps
    frame["wide"] = np.where(np.arange(len(frame)) == 3, 1e6, frame["close"])
    expected = fitted_in_memory(model_of("classes", max_bins=60), frame, names)
    assert_same_model(engines.fit(model_of("classes", max_bins=60), put(frame), **names), expected)


def test_settings_of_the_connection_are_as_before(duckdb):
    frame, names = table_of("classes", n=100)
    table = duckdb(frame)
    connection = table.get_backend().con
    connection.execute("SET perfect_ht_threshold = 7")
    asked = "SELECT current_setting('perfect_ht_threshold'), current_setting('preserve_insertion_order')"
    for keeps_order in (True, False):
        connection.execute(f"SET preserve_insertion_order = {keeps_order}")
        engines.fit(model_of("classes", max_bins=9), table, **names)
        assert connection.sql(asked).fetchone() == (7, keeps_order)
    connection.execute("RESET perfect_ht_threshold")
    connection.execute("RESET preserve_insertion_order")


def frame_with_missing_truth_values(*, all_missing: bool) -> pd.DataFrame:
    random = np.random.default_rng(1)
    x, truth = random.normal(size=600), random.random(600) < 0.5
    gone = np.full(600, True) if all_missing else np.arange(600) % 5 == 0
    frame = pd.DataFrame({"truth": pd.array(truth, dtype="boolean"), "x": x, "y": (truth ^ (x > 0)).astype(int)})
    frame.loc[gone, "truth"] = None
    if all_missing:
        frame.insert(0, "number", np.full(600, np.nan))
        frame.insert(1, "text", pd.array([None] * 600, dtype="string"))
    return frame


@pytest.mark.parametrize("all_missing", [False, True])
def test_missing_truth_values_stay_missing(put, all_missing):
    frame = frame_with_missing_truth_values(all_missing=all_missing)
    # The most probable split of a column: neither column says anything of y without the other.
    prior = PartitionPrior(split=0.99, choose="partition")
    expected = fitted_in_memory(model_of("classes", partition_prior=prior), frame, {})
    model = engines.fit(model_of("classes", partition_prior=prior), put(frame))
    assert_same_model(model, expected)
    assert all_missing or model.get_n_leaves() > 3


def test_missing_values_of_every_type_in_a_parquet_view(duckdb, tmp_path):
    frame = frame_with_missing_truth_values(all_missing=True).assign(nothing=None)
    frame.to_parquet(tmp_path / "missing.parquet")
    table = duckdb(frame).get_backend().read_parquet(tmp_path / "missing.parquet")
    columns = ["number", "text", "truth", "x", "nothing", "y"]
    expected = fitted_in_memory(model_of("classes"), frame[columns], {})
    assert_same_model(engines.fit(model_of("classes"), table.select(columns)), expected)


@pytest.mark.parametrize("outcome", ["classes", "normal"])
@pytest.mark.parametrize("code", [lambda n: n + 1, lambda n: n - 1])
def test_sums_of_columns_that_do_not_agree_are_refused(duckdb, monkeypatch, outcome, code):
    frame, names = table_of(outcome, n=100)
    table, original = duckdb(frame), _sql_packing.Packing.code
    monkeypatch.setattr(_sql_packing.Packing, "code", lambda *given: code(original(*given).cast("int16")))
    with pytest.raises(ValueError, match=r"^The source gave other rows when it was read again"):
        engines.fit(model_of(outcome, max_bins=9), table, **names)


HOSTILE = ['a"b', "c'd; drop table t0; --", "new\nline", "back\\slash", "semi;colon", "percent%s", "{brace}", "ünïcode"]


def test_names_and_categories_cannot_break_out_of_sql(put):
    random = np.random.default_rng(0)
    n = 400
    names = HOSTILE
    frame = pd.DataFrame({name: random.normal(size=n) for name in names[1:]})
    frame[names[0]] = np.array(HOSTILE, dtype=object)[random.integers(0, len(HOSTILE), n)]
    target = "y'; --"
    chance = np.isin(frame[names[0]], HOSTILE[:3]) ^ (frame[names[1]] > 0)
    frame[target] = np.array(["it's", 'so"'], dtype=object)[chance.astype(int)]
    model = engines.fit(model_of("classes"), put(frame), target=target)
    expected = model_of("classes").fit(frame.drop(columns=target), frame[target])
    assert_same_model(model, expected)
    assert model.get_n_leaves() > 3
    predicted = engines.predict(model, put(frame)).execute()
    assert sorted(predicted["prediction"]) == sorted(expected.predict(frame.drop(columns=target)))


def test_null_characters_do_not_end_a_statement(duckdb):
    random = np.random.default_rng(0)
    texts = np.array(["a\0b", "a", "\0", "a\0c"], dtype=object)
    frame = pd.DataFrame({"text": texts[random.integers(0, 4, 200)], "row": np.arange(200)})
    frame["y"] = frame["text"].map({"a\0b": "no\0", "\0": "no\0", "a": "no", "a\0c": "yes"})
    model = engines.fit(model_of("classes", class_weight={"no\0": 2.0}), duckdb(frame))
    assert_same_model(model, fitted_in_memory(model_of("classes", class_weight={"no\0": 2.0}), frame, {}))
    with pytest.raises(ValueError, match="null character"):  # SQL cannot say which categories go left
        engines.predict(model, duckdb(frame))


def test_the_spread_comes_from_the_same_rows(put, monkeypatch):
    monkeypatch.setattr(_encoded_rows, "_SAMPLE_ROWS", 100)
    frame, names = table_of("normal", weighted=True, n=300)
    parameters = {"calibrate": True, "max_bins": 9}
    expected = fitted_in_memory(model_of("normal", **parameters), frame, names)
    assert_same_model(engines.fit(model_of("normal", **parameters), put(frame), **names), expected)


def test_the_calibration_of_classes_comes_from_the_same_rows(put, monkeypatch):
    monkeypatch.setattr(_encoded_rows, "_SAMPLE_ROWS", 100)
    frame, names = table_of("classes", weighted=True, n=300)
    expected = fitted_in_memory(model_of("classes", max_bins=9), frame, names)
    model = engines.fit(model_of("classes", max_bins=9), put(frame), **names)
    assert_same_model(model, expected)
    assert model.calibration_.discount < 1


@pytest.mark.parametrize("weighted", [False, True])
def test_the_rows_choose_the_same_dispersion(put, weighted):
    frame, names = table_of("negative_binomial", weighted=weighted, n=200)
    model = BayesianTreeRegressor(outcome="negative_binomial", max_bins=6, max_depth=2)
    expected = fitted_in_memory(clone(model), frame, names)
    assert_same_model(engines.fit(model, put(frame), **names), expected)
    assert model.outcome_.size == expected.outcome_.size


@pytest.mark.parametrize("outcome", ["classes", "normal"])
def test_predictions_are_an_expression(put, outcome):
    frame, names = table_of(outcome, n=300)
    frame["row"] = np.arange(len(frame))
    model = fitted_in_memory(model_of(outcome), frame, names)
    expression = engines.predict(model, put(frame))
    assert isinstance(expression, ibis.expr.types.Table)
    predicted = expression.order_by("row").execute()
    features = frame.drop(columns="y")
    if outcome == "classes":
        assert_array_equal(predicted["prediction"], model.predict(features))
        assert_allclose(predicted[[f"probability_{label}" for label in model.classes_]], model.predict_proba(features))
    else:
        assert_allclose(predicted["prediction"], model.predict(features))


@pytest.mark.parametrize("max_depth", [0, 9])
def test_predictions_of_many_classes_and_leaves(put, max_depth):
    frame = frame_of_many_leaves("classes").assign(row=np.arange(3000), prediction="old")
    random = np.random.default_rng(0)
    frame["y"] = np.where(random.random(3000) < 0.1, random.integers(0, 20, 3000), frame["y"])
    features = ["x", "z", "label"]
    model = model_of("classes", max_depth=max_depth).fit(frame[features], frame["y"])
    rows = engines.predict(model, put(frame))
    names = [f"probability_{label}" for label in model.classes_]
    assert list(rows.columns) == [*frame.columns, *names]  # a column of the same name is replaced
    predicted = rows.order_by("row").execute()
    assert_array_equal(predicted["prediction"], model.predict(frame[features]))
    assert_array_equal(predicted[names], model.predict_proba(frame[features]))
    assert rows.filter(rows.row == 7).execute()["prediction"].tolist() == predicted["prediction"][7:8].tolist()


def test_a_read_only_database_needs_no_temporary_table(duckdb, monkeypatch):
    frame, names = table_of("normal", n=200)
    table = duckdb(frame)

    def refuse(*_args, **_kwargs):
        raise RuntimeError("Cannot execute statement of type CREATE in read-only mode")

    monkeypatch.setattr(type(table.get_backend()), "create_table", refuse)
    model = engines.fit(model_of("normal", max_bins=5), table, **names)
    assert_same_model(model, fitted_in_memory(model_of("normal", max_bins=5), frame, names))


class Queries:
    """Records the queries of a database."""

    def __init__(self, monkeypatch):
        self.asked = []
        for name in ("fetch", "fetch_arrays"):
            for module in (_sql, _sql_bins, _sql_columns, _sql_target):
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, self.recorded(getattr(_sql_execution, name)))

    def recorded(self, original):
        def fetch(expression):
            self.asked.append(ibis.to_sql(expression))
            return original(expression)

        return fetch


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_what_is_known_is_not_asked_for(put, outcome, monkeypatch):
    frame, names = table_of(outcome, weighted=outcome in ("classes", "normal"), n=300)
    expected = fitted_in_memory(model_of(outcome, max_bins=9), frame, names)
    table = put(frame)
    known = engines.describe(model_of(outcome, max_bins=9), table, **names)
    features = [name for name in frame.columns if name not in ("y", *names.values())]
    queries = Queries(monkeypatch)
    assert_same_model(engines.fit(model_of(outcome, max_bins=9), table, **names, **known), expected)
    assert queries.asked
    for query in queries.asked:  # of the table itself the targets alone
        assert not [name for name in features if f'"{name}"' in query], query


def test_the_rest_is_asked_for(put, monkeypatch):
    frame, names = table_of("normal", n=300)
    expected = fitted_in_memory(model_of("normal", max_bins=9, calibrate=True), frame, names)
    known = engines.describe(model_of("normal", max_bins=9), frame, **names)
    known["bins"].pop("noise")
    known["categories"]["city"] += ["zebra", "z'"]
    queries = Queries(monkeypatch)
    model = engines.fit(model_of("normal", max_bins=9, calibrate=True), put(frame), **names, **known)
    assert not [query for query in queries.asked if '"city"' in query or '"x"' in query]
    for name in ("feature", "threshold", "n_node_samples", "value", "log_prior_leaf", "log_likelihood"):
        assert_array_equal(getattr(model.tree_, name), getattr(expected.tree_, name), err_msg=name)
    assert model.spread_ == expected.spread_


@pytest.mark.parametrize("outcome", ["classes", "normal", "poisson"])
def test_categories_that_no_row_has_change_nothing(put, outcome):
    frame, names = table_of(outcome, n=300)
    expected = fitted_in_memory(model_of(outcome, max_bins=9), frame, names)
    cities = {"city": ["aardvark", *sorted(set(frame["city"].dropna())), "city 00b", "zebra"]}
    model = engines.fit(model_of(outcome, max_bins=9), put(frame), **names, categories=cities)
    for name in ("feature", "threshold", "n_node_samples", "value", "log_prior_leaf", "log_likelihood"):
        assert_array_equal(getattr(model.tree_, name), getattr(expected.tree_, name), err_msg=name)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"categories": {"city": ["city 01"]}}, "Column 'city' of X has the value 'city .*', which is not among its"),
        ({"categories": {"x": ["a"]}}, "Column 'x' of X holds numbers, but dtypes, bins or categories say that it hol"),
        ({"dtypes": {"city": "float"}}, "Column 'city' of X holds text, but dtypes, bins or categories say that it"),
        ({"dtypes": {"x": "bool"}}, "Column 'x' of X has the value .*, but dtypes says that it is a truth value"),
        ({"dtypes": {"city": "ordered"}}, "Column 'city' of X is to be ordered, but has no order"),
        ({"bins": {"cit": [1.0]}}, "bins names the column 'cit', which X does not have: did you mean 'city'"),
        ({"bins": {"z": [0.0]}}, "Column 'z' of X has an infinite value"),
    ],
)
def test_what_is_known_must_be_so(put, known, message):
    frame, names = table_of("classes", n=60)
    frame["z"] = np.where(np.arange(60) == 7, np.inf, 1.0) if "z" in known.get("bins", {}) else 1.0
    model, table = model_of("classes"), put(frame)
    before = set(table.get_backend().list_tables())
    with pytest.raises(ValueError, match=message):
        engines.fit(model, table, **names, **known)
    assert not hasattr(model, "fitted_")
    assert set(table.get_backend().list_tables()) == before


def test_a_query_that_ctrl_c_left_running_is_ended(in_postgres):
    info = in_postgres(pd.DataFrame({"x0": [0.0, 1.0], "y": [0, 1]})).get_backend().con.info
    how = {"host": info.host, "port": info.port, "user": info.user, "database": info.dbname}
    connection = ibis.postgres.connect(**how)
    connection.con.pgconn.send_query(b"select pg_sleep(60)")  # as the driver does, and Ctrl-C comes before it waits
    _interrupts.end_running_query(connection)
    assert connection.con.execute("select 1").fetchone() == (1,)
    _interrupts.end_running_query(connection)  # nothing runs
    assert connection.con.execute("select 2").fetchone() == (2,)
    connection.disconnect()


@pytest.mark.parametrize("at", ["summarise", "bins", "totals", "histograms", "second histograms"])
def test_a_lost_connection_fails_at_once(in_postgres, at, monkeypatch):
    frame, names = table_of("classes", n=200)
    table = in_postgres(frame)
    info = table.get_backend().con.info
    how = {"host": info.host, "port": info.port, "user": info.user, "database": info.dbname}
    connection = ibis.postgres.connect(**how)  # the other tests need theirs
    killer = ibis.postgres.connect(**how)
    name, calls = at.split()[-1], []
    original = getattr(_sql.SqlSource, name)

    def kill(self, *given):
        calls.append(name)
        if len(calls) == len(at.split()):
            killer.con.execute(f"select pg_terminate_backend({connection.con.info.backend_pid})")
        return original(self, *given)

    monkeypatch.setattr(_sql.SqlSource, name, kill)
    model = model_of("classes", max_bins=9)
    with pytest.raises(Exception, match=r"terminat|close|connection"):
        engines.fit(model, connection.table(table.get_name()), **names)
    assert not hasattr(model, "fitted_")
    killer.disconnect()


def many_categories():
    """A frame with a column of text and one of numbers, each of many categories; some values are missing."""
    random = np.random.default_rng(0)
    n = 2000
    codes = random.integers(0, 200, n)
    labels = np.array([f'it\'s "{k}" {"é" * (k % 3)}' for k in range(200)], dtype=object)
    frame = pd.DataFrame({"text": labels[codes], "number": random.integers(-30, 30, n) / 4.0})
    frame["y"] = (((codes < 100) & (frame["number"] * 4 % 3 == 0)) ^ (random.random(n) < 0.1)).astype(int)
    frame.loc[::11, "text"] = None
    frame.loc[::13, "number"] = None
    return frame


def test_many_categories_are_joined(put, monkeypatch):
    from baytree.sources import _sql_slices

    frame, joined, original = many_categories(), [], _sql_slices.join_labels
    monkeypatch.setattr(_sql_slices, "join_labels", lambda *given: joined.append(list(given[2])) or original(*given))
    model = model_of("classes", categorical_features=["text", "number"], monotonic_cst=None)
    expected = fitted_in_memory(clone(model), frame, {})
    assert {0, 1} <= {*expected.grown_tree_.feature}
    assert_same_model(engines.fit(clone(model), put(frame)), expected)
    known = engines.describe(clone(model), put(frame))
    assert_same_model(engines.fit(clone(model), put(frame), **known), expected)
    assert joined == [["c0", "c1"]] * 2
    frame.loc[5, "text"] = "new"
    with pytest.raises(ValueError, match="Column 'text' of X has the value 'new', which is not among its given"):
        engines.fit(clone(model), put(frame), **known)


def test_a_wide_table_of_many_bins(put):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(300, 60)).round(3), columns=[f"x{i}" for i in range(60)])
    frame["y"] = (frame["x3"] + frame["x40"] > 0).astype(int)
    expected = fitted_in_memory(model_of("classes", max_bins=100), frame, {})
    assert_same_model(engines.fit(model_of("classes", max_bins=100), put(frame)), expected)
    known = engines.describe(model_of("classes", max_bins=100), frame)
    assert_same_model(engines.fit(model_of("classes", max_bins=100), put(frame), **known), expected)
