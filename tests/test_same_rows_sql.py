"""Every query of a fit in a database sees the same rows, or the fit is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from baytree import engines
from baytree.sources import _sql
from tests.postgres import as_arguments
from tests.sources import OUTCOMES, assert_same_model, fitted_in_memory, model_of, table_of

ibis = pytest.importorskip("ibis")
# Ibis and its drivers warn of their own affairs.
pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::ResourceWarning"
)

WRONG = r"^The source gave other rows when it was read again"


@pytest.mark.parametrize("keeps_order", [True, False])
def test_a_limit_is_drawn_once(duckdb, keeps_order):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": np.arange(300_000) % 997, "y": random.integers(0, 2, 300_000)})
    frame["y"] |= frame["x"] < 300
    table = duckdb(frame)
    connection = table.get_backend().con
    connection.execute(f"SET preserve_insertion_order = {keeps_order}")
    try:
        models = [engines.fit(model_of("classes"), table.limit(100_000)) for _ in range(2)]
        view = table.get_backend().create_view("first_rows", table.limit(100_000), overwrite=True)
        text = table.get_backend().sql(f"SELECT * FROM {table.get_name()} LIMIT 100000")
        if keeps_order:
            models += [engines.fit(model_of("classes"), source) for source in (view, text)]
    finally:
        connection.execute("RESET preserve_insertion_order")
    assert all(model.fitted_.fitted_on.n_rows == 100_000 for model in models)
    if keeps_order:
        expected = fitted_in_memory(model_of("classes"), frame[:100_000], {})
        for model in models:
            assert_same_model(model, expected)


def test_a_sample_and_random_values_are_drawn_once(put):
    frame, names = table_of("classes")
    table = put(frame)
    for drawn in (table.sample(0.5), table.filter(ibis.random() < 0.5), table.mutate(more=ibis.random())):
        model = engines.fit(model_of("classes"), drawn, **names)
        assert 1 < model.fitted_.fitted_on.n_rows <= 600
    assert not [name for name in table.get_backend().list_tables() if name.startswith("baytree_")]


def test_a_limit_without_temporary_tables_is_refused(duckdb, monkeypatch):
    frame, names = table_of("classes")
    monkeypatch.setattr(_sql.TemporaryTables, "are_possible", lambda *_: False)
    with pytest.raises(ValueError, match=r"^The table has a limit, a sample or random values, so that every query may"):
        engines.fit(model_of("classes"), duckdb(frame).limit(300), **names)


def meanwhile(monkeypatch, step, change):
    """Run `change` before a step of a fit in a database."""
    original = getattr(_sql.SqlSource, step)

    def changed(self, *given):
        change()
        return original(self, *given)

    monkeypatch.setattr(_sql.SqlSource, step, changed)


CHANGES = [
    'INSERT INTO "{t}" SELECT * FROM "{t}"',
    "UPDATE \"{t}\" SET city = 'a new one' WHERE x > 0",
    'UPDATE "{t}" SET x = x + 1000',
    'UPDATE "{t}" SET x = NULL WHERE noise > 0',
    'DELETE FROM "{t}" WHERE noise > 0',
]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("step", ["bins", "totals"])
@pytest.mark.parametrize("outcome", ["classes", "normal"])
def test_a_fit_sees_the_table_as_it_was(put, request, monkeypatch, outcome, step, change):
    frame, names = table_of(outcome)
    table = put(frame)
    name, backend = table.get_name(), table.get_backend()
    if backend.name == "duckdb":
        other = backend.con.cursor()
    else:
        other = ibis.postgres.connect(**as_arguments(request.getfixturevalue("postgres"))).con
    expected = fitted_in_memory(model_of(outcome), frame, names)
    meanwhile(monkeypatch, step, lambda: other.execute(change.format(t=name)))
    assert_same_model(engines.fit(model_of(outcome), table, **names), expected)
    other.close()


@pytest.mark.parametrize("temporary", [True, False])
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("step", ["bins", "totals"])
def test_without_a_transaction_changes_are_refused(duckdb, monkeypatch, step, change, temporary):
    frame, names = table_of("classes")
    table = duckdb(frame)
    name, connection = table.get_name(), table.get_backend().con
    monkeypatch.setattr(_sql, "Snapshot", NoSnapshot)
    if not temporary:
        monkeypatch.setattr(_sql.TemporaryTables, "are_possible", lambda *_: False)
    meanwhile(monkeypatch, step, lambda: connection.execute(change.format(t=name)))
    with pytest.raises(ValueError, match=WRONG):
        engines.fit(model_of("classes"), table, **names)


@pytest.mark.parametrize("change", CHANGES)
def test_changes_between_levels_are_refused(duckdb, monkeypatch, change):
    frame, names = table_of("classes")
    table = duckdb(frame)
    name, connection, levels = table.get_name(), table.get_backend().con, iter(range(100))
    monkeypatch.setattr(_sql, "Snapshot", NoSnapshot)
    monkeypatch.setattr(_sql.TemporaryTables, "are_possible", lambda *_: False)
    meanwhile(monkeypatch, "histograms", lambda: next(levels) == 1 and connection.execute(change.format(t=name)))
    with pytest.raises(ValueError, match=WRONG):
        engines.fit(model_of("classes"), table, **names)


class NoSnapshot:
    """The lack of a transaction, as in most databases."""

    def __init__(self, backend):
        self.backend = backend

    def close(self, *, keep=False):
        """Nothing is open."""


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_categories_and_weights_of_zero_are_as_in_memory(put, outcome):
    frame, names = table_of(outcome, weighted=True)
    frame["city"] = frame["city"].astype(object)
    frame.loc[np.flatnonzero(frame["w"] == 0)[:3], "city"] = "elsewhere"
    expected = fitted_in_memory(model_of(outcome), frame, names)
    assert "elsewhere" in expected.categories_[list(expected.feature_names_in_).index("city")]
    assert_same_model(engines.fit(model_of(outcome), put(frame), **names), expected)


def test_an_open_transaction_of_the_user_is_left_open(put):
    frame, names = table_of("classes")
    table = put(frame)
    connection = table.get_backend().con
    connection.execute("BEGIN")
    expected = fitted_in_memory(model_of("classes"), frame, names)
    assert_same_model(engines.fit(model_of("classes"), table, **names), expected)
    connection.execute("ROLLBACK")
