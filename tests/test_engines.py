"""Batches grow the tree of the table in memory, bit for bit, however the rows are divided."""

from __future__ import annotations

import errno
import os
import re
import signal
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.base import clone

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, PartitionPrior, TreeSpaceClassifier, engines, load
from baytree.growth import _encoded_rows
from baytree.sources import _batches, _bins, _interrupts, _part_source
from tests import strategies
from tests.reference.bins import bins as naive_bins
from tests.sources import OUTCOMES, assert_same_model, divided, fitted_in_memory, model_of, table_of


@pytest.fixture(params=["at hand", "level by level"])
def memory(request, monkeypatch):
    """Enough of it for the codes of all rows, or not."""
    if request.param == "level by level":
        monkeypatch.setattr(_batches, "half_of_memory", lambda: 0)
        monkeypatch.setattr(_batches, "BATCH_ROWS", 100)


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_any_division_of_the_rows_grows_the_same_tree(outcome, weighted):
    frame, names = table_of(outcome, weighted=weighted)
    expected = fitted_in_memory(model_of(outcome), frame, names)
    assert expected.get_n_leaves() > 2
    for n_parts in (1, 2, 7):
        model = engines.fit(model_of(outcome), lambda n=n_parts: divided(frame, n), **names)
        assert_same_model(model, expected)


@pytest.mark.parametrize(
    "parameters",
    [
        {"min_samples_leaf": 20},
        {"min_weight_fraction_leaf": 0.05},
        {"monotonic_cst": {"x": 1}},
        {"smoothing": 0.3},
        {"max_depth": 2},
        {"max_leaf_nodes": 3},
        {"feature_prior": {"city": 0.0, "x": 2.0}},
        {"partition_prior": PartitionPrior(location="distance")},
        {"partition_prior": PartitionPrior(proper=False, subsets=False)},
        {"prune": True},
        {"calibrate": True},
        {"max_bins": 1000},
        {"prior": "evidence"},
        {"categorical_features": ["city", "flag"]},
    ],
    ids=str,
)
@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("weighted", [False, True])
def test_every_parameter_means_the_same(parameters, weighted):
    frame, names = table_of("normal", weighted=weighted)
    expected = fitted_in_memory(model_of("normal", **parameters), frame, names)
    model = engines.fit(model_of("normal", **parameters), lambda: divided(frame, 3), **names)
    assert_same_model(model, expected)


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("outcome", ["poisson", "negative_binomial"])
def test_fewer_leaves_of_counts_keep_the_logs_of_factors(outcome):
    frame, names = table_of(outcome)
    expected = fitted_in_memory(model_of(outcome, max_leaf_nodes=3), frame, names)
    model = engines.fit(model_of(outcome, max_leaf_nodes=3), lambda: divided(frame, 3), **names)
    assert model.get_n_leaves() == 3
    assert_same_model(model, expected)


def test_the_spread_comes_from_the_same_rows(monkeypatch):
    monkeypatch.setattr(_encoded_rows, "_SAMPLE_ROWS", 200)
    frame, names = table_of("normal", weighted=True)
    expected = fitted_in_memory(model_of("normal", calibrate=True), frame, names)
    model = engines.fit(model_of("normal", calibrate=True), lambda: divided(frame, 4), **names)
    assert_same_model(model, expected)
    assert model.spread_ != 1


def test_the_calibration_of_classes_comes_from_the_same_rows(monkeypatch):
    monkeypatch.setattr(_encoded_rows, "_SAMPLE_ROWS", 200)
    frame, names = table_of("classes", weighted=True)
    expected = fitted_in_memory(model_of("classes"), frame, names)
    model = engines.fit(model_of("classes"), lambda: divided(frame, 4), **names)
    assert_same_model(model, expected)
    assert model.calibration_.discount < 1


DISPERSIONS = [{}, {"monotonic_cst": {"x": 1}}, {"min_samples_leaf": 20}, {"prior": "evidence", "max_depth": 3}]


@pytest.mark.parametrize("parameters", DISPERSIONS, ids=str)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_rows_choose_the_same_dispersion(parameters, weighted):
    frame, names = table_of("negative_binomial", weighted=weighted)
    parameters = {"outcome": "negative_binomial", "max_bins": 20} | parameters
    expected = fitted_in_memory(BayesianTreeRegressor(**parameters), frame, names)
    for cache in (True, False):
        source = lambda: divided(frame, 3)  # noqa: E731
        model = engines.fit(BayesianTreeRegressor(**parameters), source, **names, cache=cache)
        assert_same_model(model, expected)
        assert model.outcome_.size == expected.outcome_.size


def test_few_rows_choose_their_dispersion_together():
    frame, names = table_of("negative_binomial", n=30)
    model = BayesianTreeRegressor(outcome="negative_binomial", max_bins=20)
    expected = fitted_in_memory(clone(model), frame, names)
    assert_same_model(engines.fit(model, lambda: divided(frame, 2), **names), expected)


@pytest.mark.parametrize("class_weight", [{"no": 2.0, "yes": 0.5}, "balanced"])
def test_classes_have_weights(class_weight):
    frame, names = table_of("classes")
    expected = fitted_in_memory(model_of("classes", class_weight=class_weight), frame, names)
    model = engines.fit(model_of("classes", class_weight=class_weight), lambda: divided(frame, 3), **names)
    assert_same_model(model, expected)


def test_every_way_to_give_batches(tmp_path):
    frame, names = table_of("classes", weighted=True)
    expected = fitted_in_memory(model_of("classes"), frame, names)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, tmp_path / "one.parquet", row_group_size=100)
    ways = {
        "frame": frame,
        "polars": pl.from_pandas(frame),
        "path": str(tmp_path / "one.parquet"),
        "folder": tmp_path,
        "data set": ds.dataset(table),
        "polars batches": lambda: (pl.from_pandas(part) for part in divided(frame, 3)),
        "arrow batches": lambda: iter(table.to_batches(max_chunksize=77)),
    }
    for way, source in ways.items():
        for cache in (True, False):
            model = engines.fit(model_of("classes"), source, **names, cache=cache)
            assert_same_model(model, expected), way


def test_parts_may_differ_in_types_and_categories():
    frame, names = table_of("classes")
    frame["n"] = np.arange(len(frame)) % 7
    expected = fitted_in_memory(model_of("classes"), frame, names)
    parts = divided(frame, 3)
    parts[0] = parts[0].assign(city=parts[0]["city"].astype("category"), n=parts[0]["n"].astype("int8"))
    parts[1] = parts[1].assign(n=parts[1]["n"].astype("float32"), flag=parts[1]["flag"].astype(object))
    assert_same_model(engines.fit(model_of("classes"), lambda: parts, **names), expected)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda part: part.assign(city=1.5), "Column 'city' of X is a category in one part of the table and a number"),
        (lambda part: part.drop(columns="x"), "do not have the same columns"),
        (lambda part: part.assign(x=np.inf), "Column 'x' of X has an infinite value"),
        (lambda part: part.drop(columns="y"), "The table has no column 'y'"),
        (lambda part: part.assign(y=None), "missing label|y"),
    ],
)
def test_parts_that_do_not_fit_are_refused(change, message):
    frame, names = table_of("classes")
    parts = divided(frame, 3)
    parts[-2] = change(parts[-2])
    model = model_of("classes")
    with pytest.raises((ValueError, TypeError), match=message):
        engines.fit(model, lambda: parts, **names)
    assert not hasattr(model, "fitted_")


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (BayesianTreeClassifier(lookahead=1), "lookahead needs the rows in memory"),
        (BayesianTreeClassifier(partitions="oblique"), "Hyperplanes need the rows in memory"),
        (TreeSpaceClassifier(), "A tree space needs the rows in memory"),
    ],
)
def test_what_needs_the_rows_is_refused(model, message):
    frame, _ = table_of("poisson")
    with pytest.raises((ValueError, TypeError), match=message):
        engines.fit(model, frame.drop(columns="time"))


def test_what_is_no_source_is_refused():
    with pytest.raises(TypeError, match="source must be a data frame, a path of Parquet"):
        engines.fit(BayesianTreeClassifier(), 3)
    with pytest.raises(ValueError, match="no features"):
        engines.fit(BayesianTreeClassifier(), pd.DataFrame({"y": [0, 1]}))
    with pytest.raises(ValueError, match="no rows"):
        engines.fit(BayesianTreeClassifier(), lambda: [pd.DataFrame({"x": [1.0], "y": [0]})[:0]])


def test_a_full_disk_is_one_sentence(monkeypatch):
    frame, names = table_of("classes")

    def full(*_args, **_kwargs):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(_batches, "_write_arrays", full)
    with pytest.raises(OSError, match=r"do not fit under .* make room, set TMPDIR"):
        engines.fit(model_of("classes"), lambda: divided(frame, 2), **names)


FULL = """
import resource, sys, tempfile
import numpy as np, pandas as pd
from pathlib import Path
from baytree import BayesianTreeClassifier, engines

frame = pd.DataFrame(np.random.default_rng(0).random((200_000, 5))).add_prefix("x")
frame["y"] = (frame["x0"] > 0.5).astype(int)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    engines.fit(BayesianTreeClassifier(), lambda: [frame])
except OSError as error:
    print(error)
print(list(Path(tempfile.gettempdir()).iterdir()))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_file_that_the_system_does_not_take_is_one_sentence(tmp_path):
    process = subprocess.run(
        [sys.executable, "-c", FULL],
        check=False,
        capture_output=True,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    assert process.returncode == 0, process.stderr
    said, left = process.stdout.splitlines()
    assert said.startswith(f"The codes of the rows do not fit under {tmp_path} (")
    assert said.endswith("make room, set TMPDIR to another folder, or pass cache=False.")
    assert left == "[]"


def test_without_bins_there_are_255(tmp_path):
    frame, names = table_of("classes")
    model = engines.fit(BayesianTreeClassifier(), frame, **names)
    assert model.max_bins is None  # what the user set stays
    assert_same_model(model, fitted_in_memory(BayesianTreeClassifier(max_bins=255), frame, names))
    model.save(tmp_path / "model.json")
    assert_same_model(load(tmp_path / "model.json"), model)
    assert model.fitted_.fitted_on.n_rows == len(frame)


@pytest.mark.parametrize("outcome", ["classes", "normal"])
def test_predictions_come_batch_by_batch(outcome):
    frame, names = table_of(outcome)
    model = fitted_in_memory(model_of(outcome), frame, names)
    parts = divided(frame, 3)
    predictions = engines.predict(model, lambda: iter(parts))
    assert iter(predictions) is predictions
    for part, predicted in zip(parts, predictions, strict=True):
        assert list(predicted.columns[: len(part.columns)]) == list(part.columns)
        if len(part):
            features = part.drop(columns="y")
            assert_array_equal(predicted["prediction"], model.predict(features))
            if outcome == "classes":
                assert_array_equal(predicted[f"probability_{model.classes_[1]}"], model.predict_proba(features)[:, 1])
    assert_array_equal(
        engines.predict(model, pl.from_pandas(frame))["prediction"], model.predict(frame.drop(columns="y"))
    )


@given(st.data(), st.integers(2, 9), st.integers(1, 4))
def test_bins_of_parts_are_the_naive_ones(data, max_bins, n_parts):
    values = np.array(data.draw(strategies.columns(data.draw(st.integers(1, 40)))))
    largest = data.draw(st.sampled_from([None, 3, 2**46]))
    lists = st.lists(st.integers(1, largest or 1), min_size=len(values), max_size=len(values))
    weight = None if largest is None else np.array(data.draw(lists), dtype=np.int64)
    splitters = _bins.splitters_of(np.array(data.draw(strategies.columns(data.draw(st.integers(1, 5))))))
    parts = np.array_split(values[:, None], n_parts)
    weights = [None] * n_parts if weight is None else np.array_split(weight, n_parts)

    def count(of, splitters, weight):
        return _bins.count(of, {0: splitters}, max_bins, weight)[0]

    counted = count(parts[0], splitters, weights[0])
    for part, share in zip(parts[1:], weights[1:], strict=True):
        counted = counted.merge(count(part, splitters, share), max_bins)
    for _ in range(data.draw(st.integers(0, 2))):  # counted again, more finely
        counted = count(values[:, None], counted.finer_splitters(max_bins), weight)
    collected = [
        _bins.collect(part, {0: counted}, max_bins, share)[0] for part, share in zip(parts, weights, strict=True)
    ]
    bins = _bins.bins_of(counted, _bins.ColumnValues.sorted(collected), max_bins, has_missing=False)
    expected = naive_bins(values.tolist(), max_bins, None if weight is None else weight.tolist())
    assert list(zip(bins.lows.tolist(), bins.highs.tolist(), strict=True)) == expected


def test_columns_that_one_look_cannot_divide_are_counted_again(monkeypatch):
    monkeypatch.setattr(_bins, "_MAX_COLLECTED", 50)
    monkeypatch.setattr(_bins, "_SPLITTERS_AGAIN", 400)
    frame, names = table_of("normal")
    expected = fitted_in_memory(model_of("normal"), frame, names)
    parts = sorted(divided(frame, 4), key=len)
    assert_same_model(engines.fit(model_of("normal"), lambda: parts, **names), expected)


@pytest.mark.parametrize("in_one_go", [False, True])
def test_progress_is_told_on_standard_error(in_one_go, capsys):
    frame, names = table_of("classes")
    source = (lambda: divided(frame, 2)) if in_one_go else frame
    engines.fit(model_of("classes"), source, **names)
    assert capsys.readouterr().err == ""
    engines.fit(model_of("classes"), source, **names, verbose=1)
    said = capsys.readouterr().err
    assert re.search(r"Level \d+: [\d,]+ open nodes, [\d,]+ rows(: 600 of 600 rows.*)?, \d+ s so far\n$", said), said


def test_an_interrupt_ends_the_fit_and_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(_batches.tempfile, "tempdir", str(tmp_path))
    frame, names = table_of("classes")

    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(_part_source, "totals_of", interrupt)
    model = model_of("classes")
    with pytest.raises(KeyboardInterrupt):
        engines.fit(model, lambda: divided(frame, 2), **names)
    assert not hasattr(model, "fitted_")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("at", ["first query", "level"])
def test_an_interrupt_that_gets_lost_is_raised_at_the_next_step(at, monkeypatch):
    frame, names = table_of("classes")
    original = _part_source.PartSource.totals

    class Loses:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)  # Python drops what is raised here

    def totals(self, *given):
        result = original(self, *given)
        lost = Loses()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            del lost
        if at == "first query":
            with _interrupts.interrupts_from_drivers():
                raise AssertionError("nothing is asked any more")
        return result

    monkeypatch.setattr(_part_source.PartSource, "totals", totals)
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            engines.fit(model_of("classes"), frame, **names)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_handlers_of_the_users_own_stay(monkeypatch):
    frame, names = table_of("classes", n=60)
    seen, original = [], _part_source.PartSource.totals

    def totals(self, *given):
        seen.append(signal.getsignal(signal.SIGINT))
        return original(self, *given)

    def handler(*_):
        pass

    monkeypatch.setattr(_part_source.PartSource, "totals", totals)
    before = signal.signal(signal.SIGINT, handler)
    try:
        engines.fit(model_of("classes"), frame, **names)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [handler]


@pytest.mark.parametrize("known", [False, True])
def test_parts_may_have_their_columns_in_another_order(known):
    frame, names = table_of("classes", weighted=True)
    expected = fitted_in_memory(model_of("classes"), frame, names)
    given = engines.describe(model_of("classes"), frame, **names) if known else {}
    for library in (lambda part: part, pl.from_pandas, pa.Table.from_pandas):
        parts = divided(frame.reset_index(drop=True), 3)
        parts[1] = parts[1][parts[1].columns[::-1]]
        parts[-1] = parts[-1][parts[-1].columns[::-1]]
        source = [library(part) for part in parts]
        for cache in (True, False):
            model = engines.fit(model_of("classes"), lambda s=source: s, **names, **given, cache=cache)
            assert_same_model(model, expected)
