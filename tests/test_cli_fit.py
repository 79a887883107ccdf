"""baytree fit: what it says, what it leaves out, what it writes."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

import baytree
from baytree.cli import main
from tests.command_line import customers

pytest.importorskip("click")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "customers.csv"
    customers().to_csv(path, index=False)
    return path


def fit(*arguments):
    return main(["fit", *map(str, arguments), "--folds", "0"])


def test_fit_says_all_that_a_new_user_must_know(table, tmp_path, capsys):
    model = tmp_path / "model.json"
    assert main(["fit", str(table), "--target", "bought", "--drop", "spent", "-o", str(model)]) == 0
    said = capsys.readouterr().out
    for part in (
        "300 rows, 3 columns to predict from: 1 of numbers, 1 of truth values, 1 of categories",
        "'bought' is predicted by classification: 2 values: no, yes",
        "'customer' is left out: it looks like an identifier",
        "'joined' is left out: it holds dates or times",
        "'country' is left out: it is constant",
        "'spent' is left out, as --drop says",
        "To use it: --keep customer",
        "BayesianTreeClassifier ",
        "scikit-learn's DecisionTreeClassifier",
        "scikit-learn's RandomForestClassifier",
        "most frequent class",
        "5-fold cross-validation",
        "Next steps",
        f"baytree explain {model} {table} --row 1",
    ):
        assert part in said, part
    assert "\x1b" not in said  # no colours where nobody looks
    fitted = baytree.load(model)
    assert list(fitted.feature_names_in_) == ["income", "region", "member"]
    assert fitted.get_n_leaves() > 2


def test_the_same_tree_as_from_python(table, tmp_path):
    assert fit(table, "--target", "bought", "--drop", "spent", "-o", tmp_path / "m.json") == 0
    frame = pd.read_csv(table)
    expected = baytree.BayesianTreeClassifier().fit(frame[["income", "region", "member"]], frame["bought"])
    model = baytree.load(tmp_path / "m.json")
    np.testing.assert_array_equal(model.tree_.threshold, expected.tree_.threshold)
    np.testing.assert_array_equal(model.tree_.value, expected.tree_.value)


def test_numbers_are_a_regression(table, tmp_path, capsys):
    assert main(["fit", str(table), "--target", "spent", "--json", "--folds", "3"]) == 0
    streams = capsys.readouterr()
    said = json.loads(streams.out)
    assert (said["task"], said["model"], said["n_rows"]) == ("regression", "BayesianTreeRegressor", 300)
    assert set(said["left_out"]) == {"customer", "joined", "country"}
    figures = said["cross_validation"]["models"]
    assert figures["BayesianTreeRegressor"]["RMSE"] < figures["always the mean"]["RMSE"] / 2
    assert "Data: " in streams.err


@pytest.mark.parametrize(
    ("values", "task"),
    [
        ([1, 2, 3], "classification"),
        (range(25), "regression"),
        ([0.5, 1.25], "regression"),
        (["a", "b"], "classification"),
        ([True, False], "classification"),
        ([1.0, 2.0, None], "classification"),
    ],
)
def test_the_task_is_guessed_from_the_target(values, task, tmp_path, capsys):
    random = np.random.default_rng(0)
    y = [list(values)[i % len(values)] for i in range(100)]
    pd.DataFrame({"x": random.random(100), "y": y}).to_csv(tmp_path / "t.csv", index=False)
    assert fit(tmp_path / "t.csv", "--target", "y", "--json") == 0
    assert json.loads(capsys.readouterr().out)["task"] == task


def test_the_task_can_be_given(tmp_path, capsys):
    frame = pd.DataFrame({"x": np.arange(90.0), "y": np.arange(90) // 30})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert fit(tmp_path / "t.csv", "--target", "y") == 0
    assert "where these are amounts: --task regression" in capsys.readouterr().out
    assert fit(tmp_path / "t.csv", "--target", "y", "--task", "regression") == 0
    assert fit(tmp_path / "t.csv", "--target", "y", "--outcome", "poisson") == 0


@pytest.mark.parametrize("kind", ["space", "forest"])
def test_other_models(kind, table, tmp_path, capsys):
    arguments = ["--target", "bought", "--drop", "spent", "--model", kind, "--partitions", "axis"]
    assert fit(table, *arguments, "-o", tmp_path / "m.json") == 0
    assert "The readable tree of the " in capsys.readouterr().out
    assert (
        type(baytree.load(tmp_path / "m.json")).__name__
        == {
            "space": "TreeSpaceClassifier",
            "forest": "BayesianForestClassifier",
        }[kind]
    )


def test_weights_exposure_and_events(tmp_path, capsys):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"x": random.random(200), "years": random.uniform(1, 3, 200), "w": random.integers(1, 4, 200)})
    frame["claims"] = random.poisson(frame["years"] * (1 + 3 * (frame["x"] > 0.5)))
    frame.to_csv(tmp_path / "t.csv", index=False)
    arguments = [
        tmp_path / "t.csv",
        "--target",
        "claims",
        "--outcome",
        "poisson",
        "--exposure",
        "years",
        "--weight",
        "w",
    ]
    assert main(["fit", *map(str, arguments), "-o", str(tmp_path / "m.json")]) == 0
    assert "take neither exposure nor events" in capsys.readouterr().out
    expected = baytree.BayesianTreeRegressor(outcome="poisson")
    expected.fit(frame[["x"]], frame["claims"], frame["w"], exposure=frame["years"])
    np.testing.assert_array_equal(baytree.load(tmp_path / "m.json").tree_.value, expected.tree_.value)


def written(frame, path):
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    elif path.name.endswith("comma.csv"):
        frame.to_csv(path, index=False, sep=";", decimal=",")
    elif path.suffix == ".utf16":
        frame.to_csv(path, index=False, encoding="utf-16")
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.mark.parametrize("name", ["t.tsv", "t.parquet", "t.csv.gz", "comma.csv", "t.utf16", "no_suffix"])
def test_every_kind_of_file_gives_the_same_model(name, table, tmp_path):
    frame = customers().drop(columns="spent")
    path = written(frame, tmp_path / name)
    assert fit(table, "--target", "bought", "--drop", "spent", "-o", tmp_path / "a.json") == 0
    assert fit(path, "--target", "bought", "-o", tmp_path / "b.json") == 0
    first, second = (baytree.load(tmp_path / file) for file in ("a.json", "b.json"))
    np.testing.assert_array_equal(first.tree_.value, second.tree_.value)
    np.testing.assert_array_equal(first.tree_.threshold, second.tree_.threshold)


def test_standard_input_and_output(table, tmp_path, capfdbinary, monkeypatch):
    class Stream:
        buffer = io.BytesIO(table.read_bytes())

    monkeypatch.setattr("sys.stdin", Stream)
    assert fit("-", "--target", "bought", "--drop", "spent", "-o", "-") == 0
    (tmp_path / "m.json").write_bytes(capfdbinary.readouterr().out)
    assert baytree.load(tmp_path / "m.json").get_n_leaves() > 2


def test_a_column_that_was_meant_as_numbers_is_pointed_out(tmp_path, capsys):
    random = np.random.default_rng(0)
    values = random.random(200).round(4).astype(str)
    values[::40] = "?"
    pd.DataFrame({"x": values, "y": random.integers(0, 2, 200)}).to_csv(tmp_path / "t.csv", index=False)
    assert fit(tmp_path / "t.csv", "--target", "y", "--keep", "x") == 0
    assert "--missing '?'" in capsys.readouterr().out
    assert fit(tmp_path / "t.csv", "--target", "y", "--missing", "?") == 0
    assert "1 of numbers" in capsys.readouterr().out


def test_row_numbers_are_left_out_unless_kept(tmp_path, capsys):
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"id": random.permutation(1000)[:100] * 7, "x": random.random(100)})
    frame["y"] = random.integers(0, 2, 100)
    frame.to_csv(tmp_path / "t.csv")  # with pandas' index, a column without a name
    assert fit(tmp_path / "t.csv", "--target", "y", "--json") == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["x"]
    assert fit(tmp_path / "t.csv", "--target", "y", "--keep", "id", "--json") == 0
    assert json.loads(capsys.readouterr().out)["columns"] == ["id", "x"]


def test_a_class_with_few_rows_can_be_cross_validated(tmp_path, capsys):
    frame = pd.DataFrame({"x": np.arange(60.0), "y": ["a"] * 30 + ["b"] * 28 + ["c", "d"]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    assert main(["fit", str(tmp_path / "t.csv"), "--target", "y"]) == 0
    assert "accuracy" in capsys.readouterr().out


def test_the_stability_of_the_tree_is_told(tmp_path, capsys):
    path = tmp_path / "t.csv"
    random = np.random.default_rng(0)
    x = random.normal(size=200)
    pd.DataFrame({"x": x, "z": random.normal(size=200), "y": np.where(x > 0, "a", "b")}).to_csv(path, index=False)
    fit(path, "--target", "y", "--refits", "3")
    said = capsys.readouterr().out
    assert "Stability" in said
    assert "100 %  x <= " in said
    fit(path, "--target", "y", "--refits", "0", "--json")
    assert json.loads(capsys.readouterr().out)["stability"] is None
    fit(path, "--target", "y", "--refits", "3", "--json")
    told = json.loads(capsys.readouterr().out)["stability"]
    assert told["refits"] == 3
    assert told["splits"][0]["kept"] == 1


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_both_kinds_of_leaves_stand_side_by_side(leaf, table, tmp_path, capsys):
    model = tmp_path / "m.json"
    arguments = ["fit", str(table), "--target", "spent", "--leaf", leaf, "--refits", "0", "--folds", "3", "--json"]
    assert main([*arguments, "-o", str(model)]) == 0
    printed = json.loads(capsys.readouterr().out)
    fitted = baytree.load(model)
    assert fitted.leaf == leaf
    assert printed["n_terms"] == fitted.tree_.leaves.n_terms[fitted.tree_.is_leaf].sum()
    first_model, other, *peers = printed["cross_validation"]["models"].values()
    linear, constant = (first_model, other) if leaf == "linear" else (other, first_model)
    assert linear["terms"] >= 1
    assert constant["terms"] is None
    assert linear["R²"] > constant["R²"]  # the amount rises with the income in a line
    assert all(peer["terms"] is None for peer in peers)


def test_linear_leaves_are_for_single_trees(table, capsys):
    assert fit(table, "--target", "bought", "--leaf", "linear", "--model", "forest") == 1
    assert "--leaf is for a single tree" in capsys.readouterr().err


def test_the_rules_of_a_fit(table, tmp_path, capsys):
    """Decision, direction and size of the tree are those that the options name."""
    for kind in ("tree", "space", "forest"):
        model = tmp_path / f"{kind}.json"
        arguments = ["--target", "bought", "--drop", "spent", "--model", kind, "--refits", "0", "-o", model]
        rules = [
            "--decision",
            "0.2",
            "--positive",
            "no",
            "--monotonic",
            "income=up",
            "--max-depth",
            "2",
            "--min-leaf",
            "20",
        ]
        assert fit(table, *arguments, *rules) == 0
        fitted = baytree.load(model)
        assert fitted.decision == {"no": 0.2}
        assert (fitted.max_depth, fitted.min_samples_leaf) == (2, 20)
        assert fitted.monotonic_cst == {"income": 1}
        X = pd.read_csv(table)[["income", "region", "member"]]
        assert np.array_equal(fitted.predict(X) == "no", fitted.predict_proba(X)[:, 0] >= 0.2)
    capsys.readouterr()


def test_costs_are_json(table, tmp_path, capsys):
    model = tmp_path / "m.json"
    costs = '{"yes": {"no": 5}}'
    assert fit(table, "--target", "bought", "--drop", "spent", "--decision", costs, "-o", model, "--refits", "0") == 0
    assert baytree.load(model).decision == {"yes": {"no": 5}}
    capsys.readouterr()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--decision", "2"], "--decision must be a probability between 0 and 1"),
        (["--decision", "{1"], "--decision '{1' is not of the form"),
        (["--decision", '{"yes": {"maybe": 2}}'], "--decision names the class 'maybe', which is not one of no, yes"),
        (["--positive", "perhaps"], "--positive names the class 'perhaps', which is not one of no, yes"),
        (["--positive", "yes", "--decision", '{"yes": {"no": 5}}'], "--positive is for a threshold"),
        (["--monotonic", "income"], "--monotonic 'income' is not of the form COLUMN=up"),
        (["--monotonic", "incme=up"], "--monotonic names 'incme', which is not predicted from"),
    ],
)
def test_rules_that_do_not_fit_the_table(arguments, sentence, table, capsys):
    assert fit(table, "--target", "bought", "--drop", "spent", *arguments) == 1
    assert sentence in capsys.readouterr().err


def test_decisions_are_for_classes(table, capsys):
    assert fit(table, "--target", "spent", "--decision", "0.2") == 1
    assert "--decision and --positive are for classes" in capsys.readouterr().err


def test_the_tree_that_is_printed_is_the_tree_that_is_scored(tmp_path, capsys):
    """A large table is not thinned out: the scored tree is fitted to four fifths of all rows."""
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 2))
    y = np.where(random.random(len(X)) < 1 / (1 + np.exp(-3 * X[:, 0] * X[:, 1])), "b", "a")
    pd.DataFrame({"u": X[:, 0], "v": X[:, 1], "y": y}).to_csv(tmp_path / "t.csv", index=False)
    assert main(["fit", str(tmp_path / "t.csv"), "--target", "y", "--refits", "0", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    scored = printed["cross_validation"]["models"]["BayesianTreeClassifier"]["leaves"]
    assert printed["cross_validation"]["n_rows"] == 4_000
    assert 0.7 < scored / printed["n_leaves"] < 1.3
