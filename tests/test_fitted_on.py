"""What a model says that it was fitted on."""

from __future__ import annotations

from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, load
from baytree.estimators import ESTIMATORS
from baytree.growth._fingerprint import fingerprint
from baytree.outcomes import Target
from baytree.table import Rows
from tests import strategies
from tests.documents import RAW, X, Y, assert_damaged, document


@pytest.mark.parametrize("kind", [BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier])
def test_every_fit_says_what_it_was_fitted_on(kind, tmp_path):
    before = datetime.now(UTC).replace(microsecond=0)
    weight = np.arange(150) % 3
    model = kind().fit(RAW, Y, sample_weight=weight)
    facts = model.fitted_.fitted_on
    assert (facts.n_rows, facts.n_columns, facts.weight) == (100, 6, 150.0)
    assert facts.version == version("baytree")
    assert before <= datetime.fromisoformat(facts.date) <= datetime.now(UTC)
    assert model.fitted_.readable.fitted_on == facts
    model.save(tmp_path / "model.json")
    assert load(tmp_path / "model.json").fitted_.fitted_on == facts


def test_more_rows_are_added_to_the_facts():
    model = BayesianTreeClassifier().fit(X, Y)
    before = model.fitted_.fitted_on
    after = model.partial_fit(X[:50], Y[:50]).fitted_.fitted_on
    assert (after.n_rows, after.weight, after.n_columns) == (200, 200.0, 4)
    assert after.fingerprint != before.fingerprint


@given(strategies.raw_tables(), st.data())
def test_any_change_changes_the_fingerprint(table, data):
    X, _ = table
    y = np.arange(len(X)) % 2
    before = fingerprint(Rows(X), Target(y), 1)
    assert fingerprint(Rows(np.asfortranarray(X)), Target(y), 1) == before
    i, j = data.draw(st.integers(0, X.shape[0] - 1)), data.draw(st.integers(0, X.shape[1] - 1))
    changed, flipped = X.copy(), y.copy()
    changed[i, j] = 123.456
    flipped[i] = 1 - flipped[i]
    others = [
        fingerprint(Rows(changed), Target(y), 1),
        fingerprint(Rows(X), Target(flipped), 1),
        fingerprint(Rows(X), Target(y, np.full(len(X), 2.0)), 1),
        fingerprint(Rows(X), Target(y, None, {"exposure": np.full(len(X), 2.0)}), 1),
        fingerprint(Rows(X), Target(y.astype(str).astype(object)), 1),
    ]
    assert len({before, *others}) == len(others) + 1


def test_a_change_anywhere_in_a_large_table_is_noticed():
    table = np.random.default_rng(0).random((300_000, 8))
    y = np.zeros(len(table))
    before = fingerprint(Rows(table), Target(y), 1)
    assert fingerprint(Rows(table), Target(y), 3) == before
    table[123_457, 3] = np.nan
    assert fingerprint(Rows(table), Target(y), 1) != before


def test_a_sparse_table_has_the_fingerprint_of_the_dense_one():
    table = np.random.default_rng(0).choice([0.0, 0.0, 1.5, np.nan], (200, 9))
    table[:, [0, 4, 8]] = 0
    y = np.arange(200) % 2
    fingerprints = {
        fingerprint(Rows(make(table)), Target(y), 1)
        for make in (np.asarray, sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array)
    }
    assert len(fingerprints) == 1


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_equal_fits_write_equal_bytes_where_the_date_is_given(estimator, monkeypatch, tmp_path):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    options = {"TreeSpace": {"max_nodes": 10}, "BayesianForest": {"n_estimators": 5, "random_state": 0}}
    parameters = next((given for kind, given in options.items() if estimator.startswith(kind)), {})
    for name, rows in (("one", RAW), ("two", RAW.copy())):
        ESTIMATORS[estimator](**parameters).fit(rows, Y).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert load(tmp_path / "one").fitted_.fitted_on.date == "2023-11-14T22:13:20Z"


@pytest.mark.parametrize("given_date", ["yesterday", "", "1e9", "9" * 30])
def test_a_date_that_is_none_is_refused(given_date, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", given_date)
    with pytest.raises(ValueError, match="SOURCE_DATE_EPOCH must be a number of seconds"):
        BayesianTreeClassifier().fit(X, Y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_rows", 0),
        ("n_rows", True),
        ("n_rows", 1.5),
        ("n_columns", 5),
        ("weight", 0.0),
        ("weight", "1"),
        ("fingerprint", "0" * 63),
        ("fingerprint", "<script>"),
        ("date", "2026-07-31"),
        ("date", 5),
        ("version", "<b>"),
        ("version", ""),
        ("more", 1),
    ],
)
def test_facts_that_cannot_be_are_refused(name, value):
    changed = document()
    changed["fitted_on"][name] = value
    assert_damaged(changed)


def test_the_fingerprint_is_the_same_for_any_number_of_threads():
    X = np.random.default_rng(0).normal(size=(140_000, 2))
    y = (X[:, 0] > 0).astype(int)
    one, three = (BayesianTreeClassifier(max_bins=16, n_jobs=n_jobs).fit(X, y).fitted_.fitted_on for n_jobs in (1, 3))
    assert one.fingerprint == three.fingerprint
    X[100_000, 1] = np.inf
    with pytest.raises(ValueError, match="Column 1 of X has an infinite value"):
        BayesianTreeClassifier(max_bins=16, n_jobs=3).fit(X, y)
