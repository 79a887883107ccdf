"""The paper's sets: from a folder, from OpenML, and what happens where neither has them."""

from __future__ import annotations

import os
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from benchmarks import paper_sets
from benchmarks.paper_sets import load, make_ripley


def test_sets_come_from_a_folder(fake_sets, monkeypatch):
    heart = load("heart", fake_sets)
    assert heart.X.shape == (270, 10 + 3 * 4)  # three columns of four categories are spread out
    assert heart.feature_names[2:6] == ("c2 = 0", "c2 = 1", "c2 = 2", "c2 = 3")
    assert_array_equal(heart.X[:, 2:6].sum(axis=1), 1)
    ripley = load("ripley", str(fake_sets))
    assert ripley.X.shape == (250, 2)
    assert ripley.X_test.shape == (1000, 2)
    assert_array_equal(ripley.X, make_ripley(250, 1)[0])
    monkeypatch.setenv("BAYTREE_DATA", str(fake_sets))
    assert_array_equal(load("haberman").X, load("haberman", fake_sets).X)


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda path: path.unlink(), "does not exist"),
        (lambda path: path.write_text(""), "no rows"),
        (lambda path: path.write_text(path.read_text()[:-60]), "damaged"),
        (lambda path: path.write_text(path.read_text() + "1,2\n"), "line 308"),
        (lambda path: path.write_text(path.read_text().replace("\n", "\nx", 1)), "no number"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00" * 40), "cannot be read"),
        (lambda path: path.write_text(path.read_text().replace(",1\n", ",2\n")), "the class, 0 or 1"),
        (lambda path: path.write_text(path.read_text().replace(",1\n", ",0\n", 3)), "but haberman has"),
    ],
    ids=["missing", "empty", "cut short", "uneven", "text", "bytes", "labels", "counts"],
)
def test_a_damaged_file_is_named_in_one_sentence(fake_sets, damage, words):
    damage(fake_sets / "haberman.csv")
    with pytest.raises((ValueError, FileNotFoundError), match=words) as caught:
        load("haberman", fake_sets)
    assert "haberman" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="one of heart, credit"):
        load("iris")


def test_sets_come_from_openml_where_there_is_no_folder(monkeypatch):
    monkeypatch.delenv("BAYTREE_DATA", raising=False)
    random = np.random.default_rng(0)
    data = random.integers(0, 60, (306, 3)).astype(float)
    target = np.where(np.arange(306) < 81, "2", "1")
    asked = []

    def fetch(**arguments):
        asked.append(arguments)
        return SimpleNamespace(
            data=data, target=target, feature_names=["a", "b", "c"], categories={"b": list("0123456789") * 6}
        )

    monkeypatch.setattr(paper_sets, "fetch_openml", fetch)
    table = load("haberman")
    assert asked[0]["name"] == "haberman"
    assert table.feature_names == ("a", "b", "c")
    assert_array_equal(table.y, target == "2")
    assert_array_equal(table.X[:, 0], data[:, 0])
    assert_array_equal(table.X[:, 1], data[:, 1] % 10)


@pytest.mark.parametrize(("name", "words"), [("heart", "could not be fetched .*heart.csv"), ("ripley", "make_ripley")])
def test_without_folder_and_network_the_message_says_what_to_do(name, words, monkeypatch):
    def fetch(**arguments):
        raise OSError

    monkeypatch.delenv("BAYTREE_DATA", raising=False)
    monkeypatch.setattr(paper_sets, "fetch_openml", fetch)
    with pytest.raises(ValueError, match=words):
        load(name)


def test_ripleys_mixture_has_its_moments():
    X, y = make_ripley(200_000, 0)
    assert_allclose(X[y == 0].mean(axis=0), [-0.2, 0.3], atol=0.01)
    assert_allclose(X[y == 1].mean(axis=0), [0.05, 0.7], atol=0.01)
    assert_allclose(X[y == 0].var(axis=0), [0.03 + 0.25, 0.03], rtol=0.02)
    assert_array_equal(make_ripley(10, 3)[0], make_ripley(10, 3)[0])


@pytest.mark.skipif(not os.environ.get("BAYTREE_DATA"), reason="BAYTREE_DATA names no folder of data sets")
def test_every_set_of_the_paper_is_in_the_folder():
    widths = {
        "heart": 20,
        "credit": 32,
        "haberman": 3,
        "seismic": 18,
        "ripley": 2,
        "gamma": 10,
        "diabetic": 19,
        "eeg": 14,
    }
    for name in paper_sets.NAMES:
        data = load(name)
        assert data.X.shape == (len(data.y), widths[name])
        assert np.isfinite(data.X).all()
