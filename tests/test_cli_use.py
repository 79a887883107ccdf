"""Commands that use a model: predict, explain, show, export, compare, report, completion."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import baytree
from baytree import BayesianTreeClassifier, outcomes
from baytree._words import estimate_text, percent_text
from baytree.cli import main
from tests.command_line import customers, start

pytest.importorskip("click")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder to work in, with a table and two models."""
    monkeypatch.chdir(tmp_path)
    customers().to_csv("customers.csv", index=False)
    for target, drop in (("bought", "spent"), ("spent", "bought")):
        arguments = ["--target", target, "--drop", drop, "--folds", "0", "-o", f"{target}.json"]
        assert main(["fit", "customers.csv", *arguments]) == 0
    return tmp_path


def assert_predicted(path, model="bought.json"):
    """A file holds what the model predicts for all rows, beside what was there."""
    written = pd.read_parquet(path) if path.endswith("parquet") else pd.read_csv(path, sep=None, engine="python")
    frame, estimator = customers(), baytree.load(model)
    X = frame[["income", "region", "member"]]
    assert written["customer"].tolist() == frame["customer"].tolist()
    if estimator.fitted_.classes is None:
        np.testing.assert_array_equal(written["prediction"], estimator.predict(X))
        np.testing.assert_array_equal(written[["low", "high"]], estimator.predict_interval(X, level=0.8))
        return
    assert written["prediction"].tolist() == estimator.predict(X).tolist()
    np.testing.assert_array_equal(written[["probability_no", "probability_yes"]], estimator.predict_proba(X))


@pytest.mark.parametrize("out", ["p.csv", "p.tsv", "p.parquet"])
def test_predictions_are_the_models(out, folder, capsys):
    capsys.readouterr()
    customers().to_parquet("customers.parquet")
    for table in ("customers.csv", "customers.parquet"):
        assert main(["predict", "bought.json", table, "-o", out]) == 0
        assert_predicted(out)
        assert main(["predict", "spent.json", table, "-o", out, "--interval", "0.8"]) == 0
        assert_predicted(out, "spent.json")
    assert capsys.readouterr().out == ""


def test_predictions_on_standard_output(folder, capsys):
    capsys.readouterr()
    assert main(["predict", "bought.json", "customers.csv", "--carry", "customer"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "customer,prediction,probability_no,probability_yes"
    assert len(lines) == 301
    assert main(["predict", "bought.json", "customers.csv", "--carry", "customer", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["prediction"] for row in rows] == [line.split(",")[1] for line in lines[1:]]


def test_values_come_through_as_they_are_written(folder):
    """Leading zeros, quotes, line ends in text, spaces around numbers, texts that mean missing."""
    text = 'id,note,income,region,member\n007,"a, ""b""\nc", 30000 ,north,True\n008,,NA,mars,false\n'
    (folder / "t.csv").write_text(text)
    assert main(["predict", "bought.json", "t.csv", "-o", "p.csv"]) == 0
    written = pd.read_csv("p.csv", dtype=str, keep_default_na=False)
    assert written["id"].tolist() == ["007", "008"]
    assert written["note"].tolist() == ['a, "b"\nc', ""]
    assert written["income"].tolist() == [" 30000 ", "NA"]
    X = pd.DataFrame({"income": [30000, np.nan], "region": ["north", "mars"], "member": [True, False]})
    expected = baytree.load("bought.json").predict_proba(X)
    np.testing.assert_array_equal(written["probability_yes"].astype(float), expected[:, 1])


def test_many_blocks_are_one_table(folder, monkeypatch):
    monkeypatch.setattr("baytree.cli._blocks._BLOCK_BYTES", 100)
    assert main(["predict", "bought.json", "customers.csv", "-o", "p.csv"]) == 0
    assert_predicted("p.csv")


@pytest.mark.parametrize("size", [1, 2, 7, 100])
@pytest.mark.parametrize(
    "content",
    [
        b'a,b\n1,"x\ny"\n"z""\n",2\n\n3,4',
        b'a,b\n5" pipe,"c\nd"\n6",7\n',
        b'a,b\n"","""\n"\n"x"y\n1,2\n',
        b"\n \na\n1\n",
        b"a\n1",
        b"",
    ],
)
def test_blocks_end_where_rows_end(content, size, monkeypatch):
    from baytree.cli import _blocks

    monkeypatch.setattr(_blocks, "_BLOCK_BYTES", size)
    blocks = list(_blocks.read_blocks(io.BytesIO(content), ",", "it"))
    assert b"".join(blocks) == (content if content.strip() else b"")
    for block in blocks[:-1]:
        assert block.endswith(b"\n")
        assert block.strip()
    ends = {sum(map(len, blocks[:i])) for i in range(1, len(blocks))}
    assert ends <= {content.find(row) for row in (b"1,", b'"z', b"\n3,4", b"3,4", b'5"', b'6"', b'"",', b'"x"y', b"1")}


def test_a_quote_that_is_never_closed_is_named_in_bounded_memory(folder, monkeypatch, capsys):
    """A mark of inches is none: a quote opens a value only where the value begins."""
    from baytree.cli import _blocks

    lines = (folder / "customers.csv").read_text().splitlines()
    row = lines[150].split(",")
    place = lines[0].split(",").index("region")
    for name, value in (("inches.csv", '5"'), ("open.csv", '"north')):
        changed = ",".join([*row[:place], value, *row[place + 1 :]])
        (folder / name).write_text("\n".join([*lines[:150], changed, *lines[151:]]))
    assert main(["predict", "bought.json", "inches.csv", "-o", "p.csv"]) == 0
    assert len(pd.read_csv("p.csv")) == 300
    for command in ("predict bought.json open.csv", "fit open.csv --target bought --folds 0"):
        assert main(command.split()) == 1
        assert 'opens a quote (") in line 151 that is never closed' in capsys.readouterr().err
    read = []

    class Endless(io.RawIOBase):
        def read(self, size):
            read.append(size)
            return b'"' + b"x" * (size - 1) if len(read) == 1 else b"x\n" * (size // 2)

    monkeypatch.setattr(_blocks, "_LONGEST_ROW", 2**22)
    with pytest.raises(ValueError, match="line 1 that is never closed"):
        list(_blocks.read_blocks(Endless(), ",", "it"))
    assert sum(read) < 2**24


def test_headers_may_be_wide(folder):
    zeros = pd.DataFrame(0, index=range(20), columns=[f"a column with a long name {i:05d}" for i in range(4000)])
    pd.concat([zeros, customers(20)], axis=1).to_csv("wide.csv", index=False)
    assert main(["predict", "bought.json", "wide.csv", "--carry", "customer", "-o", "p.csv"]) == 0
    assert len(pd.read_csv("p.csv")) == 20


def test_compressed_parquet_is_read(folder):
    frame = customers()
    (folder / "customers.parquet.gz").write_bytes(gzip.compress(frame.to_parquet()))
    assert main(["predict", "bought.json", "customers.parquet.gz", "-o", "p.csv"]) == 0
    assert_predicted("p.csv")


@pytest.mark.skipif(os.name != "posix", reason="needs permissions of POSIX")
@pytest.mark.parametrize("command", ["predict bought.json customers.csv", "export bought.json --to c"])
def test_files_have_the_permissions_that_they_should(command, folder):
    before = os.umask(0o077)
    try:
        assert main([*command.split(), "-o", "new"]) == 0
    finally:
        os.umask(before)
    assert (folder / "new").stat().st_mode & 0o777 == 0o600
    (folder / "new").chmod(0o640)
    assert main([*command.split(), "-o", "new"]) == 0
    assert (folder / "new").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_output_is_compressed_where_its_name_says_so(form, folder):
    for name in (f"p.{form}", f"p.{form}.gz", f"again.{form}.gz"):
        assert main(["predict", "bought.json", "customers.csv", "-o", name]) == 0
    packed = (folder / f"p.{form}.gz").read_bytes()
    assert gzip.decompress(packed) == (folder / f"p.{form}").read_bytes()
    assert packed == (folder / f"again.{form}.gz").read_bytes()  # without the name and the time
    if form != "jsonl":
        assert main(["predict", "bought.json", f"p.{form}.gz", "-o", "q.csv", "--carry", "customer"]) == 0
    assert main(["export", "bought.json", "--to", "sql", "-o", "p.sql.gz"]) == 0
    assert gzip.decompress((folder / "p.sql.gz").read_bytes()).startswith(b"SELECT")


@pytest.mark.skipif(os.name != "posix", reason="needs pipes of POSIX")
@pytest.mark.parametrize(
    "command",
    [
        "predict bought.json customers.csv",
        "export bought.json --to c",
        "fit customers.csv --target bought --folds 0",
        "report customers.csv --target bought --model bought.json",
    ],
)
def test_output_goes_to_pipes_and_devices(command, folder):
    assert main([*command.split(), "-o", "file"]) == 0
    os.mkfifo("pipe")
    read = []
    reader = threading.Thread(target=lambda: read.append(Path("pipe").read_bytes()))
    reader.start()
    assert main([*command.split(), "-o", "pipe"]) == 0
    reader.join(20)
    assert len(read[0]) == pytest.approx(len((folder / "file").read_bytes()), rel=0.01)  # a model has its date
    assert stat.S_ISFIFO((folder / "pipe").stat().st_mode)
    assert main([*command.split(), "-o", "/dev/null"]) == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    (folder / "link").symlink_to("file")
    assert main([*command.split(), "-o", "link"]) == 0
    assert (folder / "link").is_symlink()


def test_nothing_is_left_where_a_prediction_fails(folder):
    (folder / "p.csv").write_text("as it was")
    frame = customers().astype({"income": object})
    frame.loc[200, "income"] = "much"
    frame.to_csv("wrong.csv", index=False)
    assert main(["predict", "bought.json", "wrong.csv", "-o", "p.csv"]) == 1
    assert (folder / "p.csv").read_text() == "as it was"
    assert not list(folder.glob(".*"))


def test_columns_that_the_tree_does_not_use_need_not_be_there(folder):
    model = baytree.load("bought.json")
    used = [model.feature_names_in_[i] for i in model.fitted_.used_features]
    customers()[["customer", *reversed(used)]].to_csv("few.csv", index=False)
    assert main(["predict", "bought.json", "few.csv", "-o", "p.csv"]) == 0
    assert_predicted("p.csv")


@pytest.mark.skipif(sys.platform != "linux", reason="counts kilobytes")
def test_memory_does_not_grow_with_the_table(folder):
    peaks = []
    frame = customers(20_000)
    for copies in (1, 12):
        pd.concat([frame] * copies).to_csv("many.csv", index=False)
        process = start("predict", "bought.json", "many.csv", "-o", "p.csv")
        with process.stderr:
            assert process.stderr.read() == b""
        _, process.returncode, usage = os.wait4(process.pid, 0)
        peaks.append(usage.ru_maxrss / 1024)
        assert (folder / "p.csv").read_bytes().count(b"\n") == 20_000 * copies + 1
    assert peaks[1] - peaks[0] < 60, peaks  # megabytes


def test_a_row_is_explained_by_number_by_value_and_as_a_case(folder, capsys):
    frame = customers()
    capsys.readouterr()
    assert main(["explain", "bought.json", "customers.csv", "--row", "12"]) == 0
    by_number = capsys.readouterr().out
    assert main(["explain", "bought.json", "customers.csv", f"customer={frame['customer'][11]}"]) == 0
    assert capsys.readouterr().out == by_number
    values = [f"{name}={frame[name][11]}" for name in ("income", "region", "member")]
    assert main(["explain", "bought.json", *values]) == 0
    case = capsys.readouterr().out
    assert by_number.strip().splitlines() == ["Row 12", *case.strip().splitlines()]
    expected = baytree.load("bought.json").explain(frame.loc[[11], ["income", "region", "member"]])[0]
    assert case.strip() == str(expected)


def test_explanations_as_json(folder, capsys):
    capsys.readouterr()
    arguments = ["--row", "1", "--row", "3", "--immutable", "region", "--json"]
    assert main(["explain", "bought.json", "customers.csv", *arguments]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [one["row"] for one in printed] == ["Row 1", "Row 3"]
    assert {"decision", "steps", "changes"} <= set(printed[0])
    assert "region" not in json.dumps([one["changes"] for one in printed])


def test_show(folder, capsys):
    capsys.readouterr()
    assert main(["show", "bought.json"]) == 0
    said = capsys.readouterr().out
    for part in ("BayesianTreeClassifier in bought.json", "the class no, yes", "300 rows x 3 columns", "income"):
        assert part in said
    assert main(["show", "bought.json", "--rules"]) == 0
    assert capsys.readouterr().out.count("\nif ") == baytree.load("bought.json").get_n_leaves()
    assert main(["show", "spent.json", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["classes"] is None
    assert len(printed["rules"]) == printed["n_leaves"]


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("sql", "SELECT"),
        ("c", "/*"),
        ("rules", "if "),
        ("text", ""),
        ("csv", "node,"),
        ("json", "{"),
    ],
)
def test_exports(form, start, folder, capsys):
    capsys.readouterr()
    assert main(["export", "bought.json", "--to", form]) == 0
    text = capsys.readouterr().out
    assert text.startswith(start)
    assert main(["export", "bought.json", "--to", form, "-o", "out"]) == 0
    assert (folder / "out").read_text("utf-8") == text
    if form == "json":
        assert baytree.load("out").get_n_leaves() == baytree.load("bought.json").get_n_leaves()


def test_onnx_is_written_as_bytes(folder):
    onnx = pytest.importorskip("onnx")
    assert main(["export", "bought.json", "--to", "onnx", "-o", "m.onnx"]) == 0
    assert onnx.load("m.onnx").graph.node


def test_a_model_compared_with_itself_has_not_changed(folder, capsys):
    capsys.readouterr()
    for model in ("bought.json", "spent.json"):
        assert main(["compare", model, model, "customers.csv", "--json"]) == 0
        printed = json.loads(capsys.readouterr().out)
        assert printed["models"]["changed_splits"] == []
        assert printed["models"]["same_splits"] == baytree.load(model).get_n_leaves() - 1
        assert printed["rows"]["mean_change"] == 0
        assert not printed["rows"]["largest"]


def test_what_changed_between_two_models(folder, capsys):
    customers(200, seed=1).drop(columns="region").to_csv("later.csv", index=False)
    assert main(["fit", "later.csv", "--target", "bought", "--drop", "spent", "--folds", "0", "-o", "later.json"]) == 0
    capsys.readouterr()
    arguments = ["compare", "bought.json", "later.json", "customers.csv", "--target", "bought"]
    assert main([*arguments, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    frame = customers()
    first, second = (baytree.load(file) for file in ("bought.json", "later.json"))
    before = first.predict(frame[["income", "region", "member"]])
    after = second.predict(frame[["income", "member"]])
    assert rows["n_changed"] == (before != after).sum() > 0
    assert rows["figures"]["accuracy"] == {
        "before": pytest.approx((before == frame["bought"]).mean()),
        "after": pytest.approx((after == frame["bought"]).mean()),
    }
    changed = rows["largest"][0]["number"] - 1
    assert before[changed] != after[changed]
    moved = np.abs(
        first.predict_proba(frame[["income", "region", "member"]])[:, 1]
        - second.predict_proba(frame[["income", "member"]])[:, 1]
    )
    assert rows["mean_change"] == pytest.approx(moved.mean())
    assert main(arguments) == 0
    said = capsys.readouterr().out
    for part in ("Columns only in the first model: region", "No longer used: region", "before: ", "no -> yes"):
        assert part in said, part


def test_two_models_are_measured_on_the_same_rows(folder, capsys):
    customers(200, seed=1).to_csv("later.csv", index=False)
    assert main(["fit", "later.csv", "--target", "bought", "--drop", "spent", "--folds", "0", "-o", "later.json"]) == 0
    capsys.readouterr()
    arguments = ["compare", "bought.json", "later.json", "customers.csv", "--target", "bought", "--positive", "no"]
    assert main([*arguments, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["rows"]["comparison"]
    frame = customers()
    X = frame[["income", "region", "member"]]
    first, second = (baytree.load(file) for file in ("bought.json", "later.json"))
    expected = baytree.compare(first, second, X, frame["bought"], positive="no").to_dict()
    assert printed["positive"] == "no"
    for name, figure in expected["figures"].items():
        assert printed["figures"][name]["difference"] == pytest.approx(figure["difference"])
    assert [swap["n"] for swap in printed["swaps"]] == [swap["n"] for swap in expected["swaps"]]
    assert main([*arguments, "--actions", "no=decline,yes=approve"]) == 0
    said = capsys.readouterr().out
    for part in ("Comparison of both models", "Gini", "KS", "observed no", "decline", "before decides"):
        assert part in said, part
    assert main(["compare", "bought.json", "later.json", "--positive", "no"]) == 2
    assert "--positive and --actions need --target" in capsys.readouterr().err
    assert main([*arguments, "--actions", "decline"]) == 2


@pytest.mark.parametrize("array", ["threshold", "hyperplane_coefficient"])
def test_splits_that_differ_in_the_last_digits_are_not_the_same(array, folder, capsys):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(300, 2)), columns=["a", "b"])
    is_plane = array != "threshold"
    model = BayesianTreeClassifier(max_depth=1, prune=False, partitions="oblique" if is_plane else "axis")
    model.fit(X, X["a"] + is_plane * X["b"] > 0.1)
    model.save("one.json")
    tree = model.tree_
    assert len(tree.hyperplane_coefficient) == 2 * is_plane
    moved = getattr(tree, array).copy()
    moved[-1 if is_plane else 0] = np.nextafter(moved[-1 if is_plane else 0], np.inf)
    fitted = replace(model.fitted_, trees=replace(tree, **{array: moved}), grown_tree=None)
    BayesianTreeClassifier.from_fitted(fitted, model.get_params(deep=False)).save("other.json")
    capsys.readouterr()
    assert main(["compare", "one.json", "other.json"]) == 0
    said = capsys.readouterr().out
    assert "equal in both trees: 0" in said
    before, after = re.findall(r"(?:before|after): +(.*) \(odds", said)
    assert before != after


@pytest.mark.parametrize("missing", ["NA", "", "nan", "?"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_targets_that_are_missing_do_not_count(missing, form, folder, capsys):
    frame = customers()
    X, y = frame[["income", "region", "member"]], frame["bought"]
    gone = np.arange(len(frame)) % 2 == 0
    right = baytree.load("bought.json").predict(X) == y
    error = (baytree.load("spent.json").predict(X) - frame["spent"]) ** 2
    for target, name, expected in (
        ("bought", "accuracy", right[~gone].mean()),
        ("spent", "RMSE", error[~gone].mean() ** 0.5),
    ):
        if form == "csv":
            frame.assign(**{target: frame[target].astype(object).where(~gone, missing)}).to_csv("t.csv", index=False)
        else:
            frame.assign(**{target: frame[target].where(~gone)}).to_parquet("t.parquet")
        capsys.readouterr()
        arguments = [f"{target}.json", f"{target}.json", f"t.{form}", "--target", target, "--missing", "?", "--json"]
        assert main(["compare", *arguments]) == 0
        figures = json.loads(capsys.readouterr().out)["rows"]["figures"]
        assert figures[name]["before"] == pytest.approx(expected)


def strict_json(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_json_has_no_nan(folder, capsys):
    frame = customers().assign(more=[np.nan, np.inf, *range(298)], when=pd.Timestamp("2024-02-29"))
    frame.to_parquet("t.parquet")
    capsys.readouterr()
    assert main(["predict", "bought.json", "t.parquet", "--json"]) == 0
    rows = [strict_json(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["more"] for row in rows[:3]] == [None, None, 0]
    assert rows[0]["when"].startswith("2024-02-29")
    for command in ("explain bought.json t.parquet", "show spent.json", "compare spent.json spent.json t.parquet"):
        assert main([*command.split(), "--json"]) == 0
        strict_json(capsys.readouterr().out)


def test_models_of_numbers_compared(folder, capsys):
    customers(200, seed=1).to_csv("later.csv", index=False)
    assert main(["fit", "later.csv", "--target", "spent", "--folds", "0", "-o", "later.json"]) == 0
    capsys.readouterr()
    assert main(["compare", "spent.json", "later.json", "customers.csv", "--target", "spent"]) == 0
    said = capsys.readouterr().out
    assert "predictions of 300 rows changed by" in said
    assert "Root mean squared error" in said


def test_a_page_of_a_model(folder, capsys):
    capsys.readouterr()
    assert main(["report", "customers.csv", "--target", "bought", "--model", "bought.json", "-o", "page.html"]) == 0
    assert capsys.readouterr().out == "page.html\n"
    page = (folder / "page.html").read_text("utf-8")
    assert "predicts bought (no, yes)" in page
    assert "other rows than those" not in page


def test_fit_and_report_measure_alike(folder, capsys):
    capsys.readouterr()
    assert main(["fit", "customers.csv", "--target", "bought", "--drop", "spent", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)["cross_validation"]["models"]["BayesianTreeClassifier"]
    assert main(["report", "customers.csv", "--target", "bought", "--model", "bought.json", "-o", "page.html"]) == 0
    page = (folder / "page.html").read_text("utf-8")
    texts = {"Accuracy": percent_text(figures["accuracy"]), "Log loss": estimate_text(figures["log loss"])}
    for name, text in texts.items():
        assert re.search(rf">{name}</th><td[^>]*>{re.escape(text)}<", page), (name, text)


@pytest.mark.parametrize("command", ["explain", "completion"])
def test_examples_in_a_help_text_keep_their_lines(command, capsys):
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert "\\b" not in text
    assert "\x08" not in text
    assert len([line for line in text.splitlines() if "baytree " in line]) >= 3


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell, capsys):
    assert main(["completion", shell]) == 0
    assert "_BAYTREE_COMPLETE" in capsys.readouterr().out


def test_options_are_completed():
    environment = {"_BAYTREE_COMPLETE": "bash_complete", "COMP_WORDS": "baytree fit --par", "COMP_CWORD": "2"}
    process = start(env=environment, stdout=subprocess.PIPE)
    assert b"--partitions" in process.communicate()[0]


def test_names_that_are_written_twice_are_the_same():
    """Options list them without importing the package."""
    from baytree.cli._options import OUTCOMES

    assert set(OUTCOMES) == set(outcomes.REGRESSION_OUTCOMES)
