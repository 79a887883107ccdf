"""Numbers in text files: decimal points and commas, and what separates thousands."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import baytree
from baytree.cli import main

pytest.importorskip("click")
pa = pytest.importorskip("pyarrow")

from baytree.cli._files import TextFormat  # noqa: E402 - which needs what may not be there
from baytree.cli._table import open_table, read_table  # noqa: E402

AMOUNTS = [1234567.5, 999.0, 1234.25, 0.5, -2500.75, 12.0]
ENGLISH = ["1,234,567.5", "999", "1,234.25", "0.5", "-2,500.75", "12"]
GERMAN = ["1.234.567,5", "999", "1.234,25", "0,5", "-2.500,75", "12"]


def write(path, columns, delimiter):
    pd.DataFrame(columns).to_csv(path, index=False, sep=delimiter)


def numbers_of(path, name, **options):
    """A column as `fit` reads it; `predict` reads the same."""
    text_format = TextFormat(**options)
    whole = read_table(str(path), text_format)[name]
    with open_table(str(path), text_format) as parts:
        (table,) = parts.tables
        texts = parts.marks.plain(table[name]).to_pylist()
    if pa.types.is_string(whole.type):
        return whole.to_pylist()
    assert [float(text) for text in texts] == whole.to_pylist()
    return whole.to_pylist()


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("texts", "mark"), [(ENGLISH, "separators of thousands"), (GERMAN, "a decimal comma")])
def test_all_columns_decide(texts, mark, first, delimiter, tmp_path, capsys):
    """The column may be the first or the last, and values that alone could be either are read as the others are."""
    other = ["1,234", "999", "1,000", "5", "7", "8"] if texts is ENGLISH else ["1.234", "999", "1.000", "5", "7", "8"]
    names = ["amount", "other"] if first else ["other", "amount"]
    columns = {"amount": texts, "other": other}
    write(tmp_path / "t.csv", {name: columns[name] for name in names}, delimiter)
    assert numbers_of(tmp_path / "t.csv", "amount") == AMOUNTS
    assert numbers_of(tmp_path / "t.csv", "other") == [1234, 999, 1000, 5, 7, 8]
    assert mark in capsys.readouterr().err


@pytest.mark.parametrize("texts", [["1,234", "999"], ["1.234", "999"], ["1,234", "2,345"]])
@pytest.mark.parametrize("delimiter", ["\t", ",", ";"])
def test_what_can_be_read_in_two_ways_is_refused(texts, delimiter, tmp_path):
    write(tmp_path / "t.tsv", {"a": ["x", "y"], "amount": texts}, delimiter)
    with pytest.raises(ValueError, match=r"'amount': 1[.,]234 may separate thousands or be a decimal mark.*--decimal"):
        read_table(str(tmp_path / "t.tsv"), TextFormat())
    comma = [float(text.replace(".", "").replace(",", ".")) for text in texts]
    point = [float(text.replace(",", "")) for text in texts]
    assert numbers_of(tmp_path / "t.tsv", "amount", decimal=",") == comma
    assert numbers_of(tmp_path / "t.tsv", "amount", decimal=".") == point
    assert numbers_of(tmp_path / "t.tsv", "amount", thousands=".") == comma
    assert numbers_of(tmp_path / "t.tsv", "amount", thousands=",") == point


def test_columns_of_both_kinds_are_refused(tmp_path):
    write(tmp_path / "t.csv", {"a": ["1,5", "2"], "b": ["0.5", "1"]}, ";")
    with pytest.raises(ValueError, match=r"decimal point \('b': 0.5\) and with a decimal comma \('a': 1,5\)"):
        read_table(str(tmp_path / "t.csv"), TextFormat())
    assert numbers_of(tmp_path / "t.csv", "a", decimal=",") == [1.5, 2.0]
    assert numbers_of(tmp_path / "t.csv", "a", decimal=".") == ["1,5", "2"]


@pytest.mark.parametrize(
    "texts",
    [
        ["0.125", "1.234"],
        ["1.234", "5.678"],  # as programs write numbers to three digits
        ["1.5", "1.234"],
        ["1e5", "-3"],
        [".5", "5."],
        ["1234.567", "8"],
    ],
)
def test_numbers_as_programs_write_them_need_no_word(texts, tmp_path, capsys):
    write(tmp_path / "t.csv", {"a": texts, "b": ["x,y", "1.2.2024"]}, ",")
    assert numbers_of(tmp_path / "t.csv", "a") == [float(text) for text in texts]
    assert numbers_of(tmp_path / "t.csv", "b") == ["x,y", "1.2.2024"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("thousands", ["'", " "])
def test_other_marks_of_thousands_are_given(thousands, tmp_path):
    write(tmp_path / "t.csv", {"a": [text.replace(",", thousands) for text in ENGLISH]}, ";")
    assert numbers_of(tmp_path / "t.csv", "a", thousands=thousands) == AMOUNTS


def test_missing_values_and_long_headers_do_not_hide_the_marks(tmp_path):
    columns = {f"a column with a long name {i:05d}": ["x"] * 4 for i in range(40_000)}  # more than one block
    write(tmp_path / "t.csv", columns | {"amount": ["NA", "1,5", "", "2,25"]}, ";")
    assert read_table(str(tmp_path / "t.csv"), TextFormat())["amount"].to_pylist() == [None, 1.5, None, 2.25]
    with open_table(str(tmp_path / "t.csv"), TextFormat()) as parts:
        assert parts.marks.decimal == ","


def test_a_model_is_fitted_and_used_on_a_file_with_separated_thousands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"income": range(500, 200_500, 500)})
    frame["bought"] = (frame["income"] > 60_000).astype(int)
    frame.to_csv("plain.csv", index=False)
    texts = [f"{value:,}.00" for value in frame["income"]]
    frame.assign(income=texts).to_csv("grouped.csv", index=False)
    frame.assign(income=texts).to_csv("grouped.tsv", index=False, sep="\t")
    trees = []
    for name in ("plain.csv", "grouped.csv", "grouped.tsv"):
        assert main(["fit", name, "--target", "bought", "--folds", "0", "-o", f"{name}.json"]) == 0
        trees.append(baytree.load(f"{name}.json").tree_.threshold.tolist())
        assert main(["predict", "plain.csv.json", name, "--carry", "bought", "-o", f"{name}.out.csv"]) == 0
    assert trees[0] == trees[1] == trees[2]
    outputs = [(tmp_path / f"{name}.out.csv").read_text() for name in ("plain.csv", "grouped.csv", "grouped.tsv")]
    assert outputs[0] == outputs[1] == outputs[2]
    assert "commas in numbers are read as separators of thousands, as in 'income': 1,000.00" in capsys.readouterr().err


@pytest.mark.parametrize("later", [["1,234"], ["1.234"]])
def test_marks_in_later_rows_are_not_guessed(later, tmp_path):
    """The first block of a file of sorted amounts may have no mark at all."""
    write(
        tmp_path / "t.tsv", {"text": "a text that makes the rows longer", "amount": [*range(1000)] * 40 + later}, "\t"
    )
    with pytest.raises(ValueError, match=r"can be read in two ways: the mark in 'amount': 1[.,]234 may separate"):
        read_table(str(tmp_path / "t.tsv"), TextFormat())


@pytest.mark.parametrize(("later", "number", "note"), [("0,5", 0.5, "a decimal comma"), ("0.5", 0.5, "")])
def test_marks_in_later_rows_count(later, number, note, tmp_path, capsys):
    write(
        tmp_path / "t.tsv", {"text": "a text that makes the rows longer", "amount": [*range(1000)] * 40 + [later]}, "\t"
    )
    assert read_table(str(tmp_path / "t.tsv"), TextFormat())["amount"].to_pylist()[-1] == number
    errors = capsys.readouterr().err
    assert note in errors
    assert bool(note) == bool(errors)


def test_predict_does_not_take_a_comma_in_a_later_row_for_thousands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    amounts = [*range(1000)] * 40
    write("fit.tsv", {"amount": range(1000), "y": np.arange(1000) > 400}, "\t")
    write("new.tsv", {"text": "a text that makes the rows longer", "amount": [*amounts, "1,234"]}, "\t")
    assert main(["fit", "fit.tsv", "--target", "y", "--folds", "0", "--keep", "amount", "-o", "m.json"]) == 0
    assert main(["predict", "m.json", "new.tsv", "-o", "p.csv"]) == 1
    assert "Row 40,001 has '1,234' in the column 'amount'" in capsys.readouterr().err
    assert main(["predict", "m.json", "new.tsv", "--decimal", ".", "-o", "p.csv"]) == 0
