"""What goes wrong on the command line ends with one sentence and the right exit code."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from baytree.cli import main
from tests.command_line import customers, start

pytest.importorskip("click")
POSIX = pytest.mark.skipif(os.name != "posix", reason="needs signals and pipes of POSIX")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "customers.csv"
    customers().to_csv(path, index=False)
    return path


@pytest.fixture
def model(table, tmp_path):
    path = tmp_path / "model.json"
    assert main(["fit", str(table), "--target", "bought", "--folds", "0", "-o", str(path)]) == 0
    return path


def files(folder):
    """Files that are not what they should be, by name."""
    contents = {
        "empty.csv": b"",
        "blank.csv": b"\n \n",
        "header.csv": b"a,b\n",
        "one.csv": b"a,y\n" + b"".join(b"%d,same\n" % i for i in range(30)),
        "own.csv": b"a,y\n" + b"".join(b"%d,label %d\n" % (i % 3, i) for i in range(30)),
        "binary.csv": bytes(range(256)) * 40,
        "workbook.csv": b"PK\x03\x04" + bytes(100),
        "ragged.csv": b"a,y\n1,2\n3\n",
        "latin.csv": "a,y\nM\xfcnchen,1\nK\xf6ln,0\n".encode("latin-1"),
        "twice.csv": b"a,a,y\n1,2,0\n3,4,1\n",
        "only.csv": b"y\n0\n1\n1\n",
        "unknown.csv": b"a,y\n1,\n2,\n",
        "damaged.parquet": b"PAR1" + bytes(50),
        "dates.csv": b"a,y\n" + b"".join(b"2020-01-%02d,%d\n" % (i + 1, i % 2) for i in range(28)),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["customers.csv", "--target", "bougth"], "has no column 'bougth': did you mean 'bought'?"),
        (["custmers.csv", "--target", "y"], r"does not exist: did you mean '.*customers.csv'\?"),
        (["nothing.csv", "--target", "y"], "does not exist."),
        ([".", "--target", "y"], "is a folder, not a file."),
        (["empty.csv", "--target", "y"], "is empty."),
        (["blank.csv", "--target", "y"], "is empty."),
        (["header.csv", "--target", "b"], "has no rows below its header."),
        (["one.csv", "--target", "y"], "The column 'y' is always 'same': there is nothing to predict."),
        (["own.csv", "--target", "y"], "Every row has its own value in the column 'y'"),
        (["binary.csv", "--target", "y"], "is not a table of text: it holds binary data."),
        (["workbook.csv", "--target", "y"], "a workbook or another archive: save the sheet as CSV"),
        (["ragged.csv", "--target", "y"], "is not a table: a row has 1 value, but the header has 2: '3'."),
        (["latin.csv", "--target", "y"], "is not UTF-8 text .*--encoding cp1252"),
        (["latin.csv", "--target", "y", "--encoding", "klingon"], "'klingon' is not known"),
        (["twice.csv", "--target", "y"], "has more than one column 'a': rename them."),
        (["only.csv", "--target", "y"], "has no column to predict from."),
        (["unknown.csv", "--target", "y"], "No row of .* has a value in the column 'y'."),
        (["damaged.parquet", "--target", "y"], "is a damaged Parquet file"),
        (["dates.csv", "--target", "y"], "No column is left to predict from: 'a' holds dates or times"),
        (["customers.csv", "--target", "joined"], "holds dates or times, which cannot be predicted"),
        (["customers.csv", "--target", "bought", "--task", "regression"], "--task regression needs numbers"),
        (["customers.csv", "--target", "bought", "--keep", "regin"], "did you mean 'region'?"),
        (["customers.csv", "--target", "bought", "--keep", "joined"], "--keep 'joined': the column holds dates"),
        (["customers.csv", "--target", "bought", "--drop", "bought"], "'bought' is the target"),
        (["customers.csv", "--target", "bought", "--delimiter", "ab"], "--delimiter must be one character"),
        (["customers.csv", "--target", "bought", "-o", "no/where.json"], "the folder .*no' does not exist."),
        (["customers.csv", "--target", "bought", "-o", "customers.csv"], "would overwrite"),
        (["customers.csv", "--target", "income", "--outcome", "poisson"], "needs counts."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_bad_input_is_one_sentence_and_the_code_1(arguments, sentence, table, tmp_path, monkeypatch, capsys):
    files(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert main(["fit", *arguments]) == 1
    error = capsys.readouterr().err
    assert re.search(sentence.replace("?", r"\?") if sentence.endswith("'?") else sentence, error), error
    assert error.count("\n") == 1
    assert error.startswith("baytree: ")
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["predict", "model.json", "header.csv"], "has no rows below its header"),
        (["predict", "model.json", "other.csv"], "has no column '.*'.*, which the model uses"),
        (
            ["predict", "model.json", "text.csv"],
            "Row 2 has 'much' in the column 'spent', where the model expects a number",
        ),
        (["predict", "customers.csv", "customers.csv"], "is not a baytree model"),
        (["predict", "model.json", "customers.csv", "--carry", "custmer"], "did you mean 'customer'?"),
        (["explain", "model.json", "customers.csv", "--row", "301"], "has 300 rows: there is no row 301."),
        (["explain", "model.json", "customers.csv", "region=mars"], "No row of 'customers.csv' has region=mars."),
        (["explain", "model.json", "incme=3"], "has no column 'incme': did you mean 'income'?"),
        (["explain", "model.json", "spent=much"], "where the model expects a number"),
        (["show", "models.json"], "did you mean 'model.json'?"),
        (["export", "model.json", "--to", "sql", "--dialect", "klingon"], "dialect must be one of"),
        (["compare", "model.json", "numbers.json"], "One of .* predicts classes and the other numbers"),
        (["compare", "model.json", "model.json", "customers.csv", "--target", "x"], "has no column 'x'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_other_commands_too(arguments, sentence, model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    customers()[:0].to_csv(tmp_path / "header.csv", index=False)
    frame = customers()[:3].astype({"spent": object})
    frame.loc[1, "spent"] = "much"
    frame.to_csv(tmp_path / "text.csv", index=False)
    assert main(["fit", "customers.csv", "--target", "spent", "--folds", "0", "-o", "numbers.json"]) == 0
    capsys.readouterr()
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert re.search(sentence.replace("?", r"\?"), error), error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [["fit"], ["fit", "a.csv"], ["fitt"], ["fit", "a.csv", "--target", "y", "--model", "bush"], ["explain", "m.json"]],
)
def test_bad_usage_is_the_code_2(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert "Error: " in capsys.readouterr().err


def test_debug_shows_the_traceback(tmp_path, capsys):
    assert main(["fit", str(tmp_path / "no.csv"), "--target", "y", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_defect_of_ours_says_so(model, monkeypatch, capsys):
    def fail(*arguments, **options):
        raise KeyError("x")

    monkeypatch.setattr("baytree.export.to_text", fail)
    assert main(["show", str(model)]) == 1
    assert "an internal error (KeyError: 'x'). Please report it" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["click", "pyarrow", "rich"])
def test_without_the_extra_it_says_what_to_install(name, monkeypatch, capsys):
    monkeypatch.setattr("baytree.cli.find_spec", lambda module: None if module == name else object())
    assert main(["--help"]) == 1  # one of three is not there
    assert capsys.readouterr().err == f"The command line needs {name}: pip install 'baytree[cli]'.\n"


@POSIX
def test_a_reader_who_has_seen_enough(model, tmp_path):
    """As in ``baytree predict ... | head -1``: nothing is said, and the code is that of other programs."""
    pd.concat([customers()] * 100).to_csv(tmp_path / "many.csv", index=False)
    process = start("predict", model, tmp_path / "many.csv", stdout=subprocess.PIPE)
    assert process.stdout.readline().startswith(b"customer,")
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == b""
    assert process.wait() == 141


@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["predict", "show", "fit"])
def test_a_full_disk(command, model, table):
    arguments = {
        "predict": ["predict", model, table],
        "show": ["show", model],
        "fit": ["fit", table, "--target", "bought", "--folds", "0"],
    }[command]
    with Path("/dev/full").open("w") as full:
        process = start(*arguments, stdout=full)
        error = process.communicate()[1].decode()
    assert process.returncode == 1
    assert error == "baytree: No space left on device.\n"


@POSIX
def test_ctrl_c(tmp_path):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.random((9000, 30)), columns=[f"x{i}" for i in range(30)])
    frame["y"] = random.integers(0, 2, 9000)
    frame.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.json"
    process = start("fit", tmp_path / "t.csv", "--target", "y", "-o", out, "--folds", "500", stdout=subprocess.PIPE)
    try:
        while b"Performance" not in process.stdout.readline():
            pass
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        error = process.communicate(timeout=60)[1].decode()
    finally:
        process.kill()
    assert process.returncode == 130
    assert error.strip() == "Stopped. Nothing was written."
    assert not out.exists()
    assert not list(tmp_path.glob(".*"))


def test_help_imports_nothing_heavy():
    heavy = "{'numpy', 'pandas', 'pyarrow', 'sklearn', 'scipy', 'rich'}"
    code = f"import sys; from baytree.cli import main; main(['--help']); assert not {heavy} & set(sys.modules)"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert process.returncode == 0, process.stderr.decode()
