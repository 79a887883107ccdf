"""The report without a browser: what it says, what it costs, what it refuses. In one: test_page.py."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.exceptions import NotFittedError

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, report
from baytree.cli import main
from baytree.evaluation import calibration_of, compare_with_references, hold_out, metrics_of, read_dataset

X, Y = load_breast_cancer(return_X_y=True, as_frame=True)


def written(model, X, y, tmp_path, *, references=False, **options):
    options["references"] = references
    return report.write(model, X, y, tmp_path / "page.html", **options).read_text(encoding="utf-8")


def measured(model, X, y, held_out=None, folds=5):
    """The figures of a model by name, and what was held out."""
    given = read_dataset(model.fitted_, X, y)
    predictions = hold_out(model, given, None if held_out is None else read_dataset(model.fitted_, *held_out), folds)
    return {metric.name: metric.figure for metric in metrics_of(model.fitted_, predictions)}, predictions


def test_the_page_tells_all_it_should(tmp_path):
    model = BayesianTreeClassifier().fit(X, Y)
    page = written(model, X, Y, tmp_path, title="Tumours & more", references=True)
    assert "<title>Tumours &amp; more</title>" in page
    for part in ("569 rows", "30 columns", "5-fold cross-validation", "Accuracy", "Brier", "SHA-256", "1, 1"):
        assert part in page, part
    for name in (
        "summary",
        "quality",
        "tree",
        "case",
        "features",
        "alternatives",
        "stability",
        "rules",
        "limits",
        "provenance",
    ):
        assert f'<section id="{name}"' in page
        assert f'href="#{name}"' in page
    assert re.search(r"script-src 'sha256-[^']+'; style-src 'sha256-", page.replace("&#x27;", "'"))
    assert "http" not in re.sub(r"http-equiv|http://www.w3.org/2000/svg", "", page)
    assert " style=" not in page  # the policy would refuse it
    assert " on" not in re.findall(r"<button[^>]*>", page)[0]


def test_a_large_tree_stays_small(tmp_path):
    random = np.random.default_rng(0)
    table = pd.DataFrame(
        random.random((10_000, 30)), columns=[f"a column with a long name, number {i}" for i in range(30)]
    )
    y = table.iloc[:, :5].sum(axis=1) > 2.5
    model = BayesianTreeClassifier(prior=0.1, partition_prior="paper", prune=False).fit(table, y)
    assert model.get_n_leaves() >= 200
    assert len(written(model, table, y, tmp_path, folds=2).encode()) < 2_000_000


def test_held_out_rows_are_measured_as_scikit_learn_does(tmp_path):
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss, roc_auc_score

    model = BayesianTreeClassifier().fit(X[::2], Y[::2])
    figures, held_out = measured(model, X[::2], Y[::2], (X[1::2], Y[1::2]))
    p, y = model.predict_proba(X[1::2]), Y[1::2]
    assert figures["Accuracy"].estimate == pytest.approx(accuracy_score(y, model.predict(X[1::2])))
    assert figures["Log loss"].estimate == pytest.approx(log_loss(y, p))
    assert figures["Brier score"].estimate == pytest.approx(brier_score_loss(y, p[:, 1]))
    assert figures["Area under the curve"].estimate == pytest.approx(roc_auc_score(y, p[:, 1]))
    for metric in figures.values():
        assert metric.low < metric.estimate < metric.high
    bins = calibration_of(model.fitted_, held_out)
    assert sum(b.n for b in bins) == len(y)
    assert all(b.observed.low <= b.observed.high for b in bins)
    assert "rows given as held out" in written(model, X[::2], Y[::2], tmp_path, held_out=(X[1::2], Y[1::2]))


def test_numbers_are_measured_as_scikit_learn_does():
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    A, b = load_diabetes(return_X_y=True)
    model = BayesianTreeRegressor().fit(A[::2], b[::2])
    figures, _ = measured(model, A, b, (A[1::2], b[1::2]))
    said = model.predict(A[1::2])
    assert figures["Root mean squared error"].estimate == pytest.approx(root_mean_squared_error(b[1::2], said))
    assert figures["Mean absolute error"].estimate == pytest.approx(mean_absolute_error(b[1::2], said))
    assert figures["R squared"].estimate == pytest.approx(r2_score(b[1::2], said))
    low, high = model.predict_interval(A[1::2], level=0.9).T
    assert figures["Coverage"].estimate == pytest.approx(np.mean((low <= b[1::2]) & (b[1::2] <= high)))


def test_what_is_not_defined_is_explained(tmp_path):
    model = BayesianTreeClassifier().fit(X, Y)
    one_class = Y == 1
    page = written(model, X, Y, tmp_path, held_out=(X[one_class], Y[one_class]))
    assert "not defined: the held-out rows have one class only" in page
    assert not re.search(r"\bnan\b", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL), re.IGNORECASE)
    two = BayesianTreeClassifier().fit(X[:2], [0, 1])
    assert "too few rows to hold some out" in written(two, X[:2], np.array([0, 1]), tmp_path)
    A, b = load_diabetes(return_X_y=True)
    model = BayesianTreeRegressor().fit(A, b)
    assert "all held-out outcomes are equal" in written(model, A, b, tmp_path, held_out=(A[:5], np.ones(5)))


def test_a_rare_class_is_measured_with_the_others(tmp_path):
    rare = np.where(np.arange(len(Y)) == 7, 2, Y)
    model = BayesianTreeClassifier().fit(X, rare)
    figures, _ = measured(model, X, rare)
    assert figures["Accuracy"].estimate > 0.85
    assert "2: 1" in written(model, X, rare, tmp_path)


def test_the_page_says_where_the_rows_come_from_and_what_no_model_would_do(tmp_path):
    model = BayesianTreeClassifier().fit(X, Y.rename("tumour"))
    page = written(model, X, Y.rename("tumour"), tmp_path, source="the ward's table of May")
    for part in ("predicts tumour (0, 1) from", "the ward&#x27;s table of May", "0: 212, 1: 357"):
        assert part in page, part
    assert f"{np.mean(Y == 1):.1%}".replace("%", " %") in page
    assert "accuracy of predicting 1 for every row" in page


def test_infinite_predictions_have_a_page(tmp_path):
    random = np.random.default_rng(0)
    A, time = random.random((40, 2)), random.exponential(size=40)
    model = BayesianTreeRegressor(outcome="exponential", prior=[0.5, 1.0]).fit(A, time, event=np.zeros(40, dtype=bool))
    assert "not finite" in written(model, A, time, tmp_path)


def test_a_space_of_trees_has_a_page(tmp_path):
    page = written(TreeSpaceClassifier(max_nodes=60).fit(X, Y), X, Y, tmp_path)
    assert "The most probable trees" in page
    assert "averages over all trees of its" in page


def test_a_failed_write_leaves_the_old_page(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("the page of yesterday", encoding="utf-8")

    def fail(*arguments):
        raise OSError("the disk is full")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(OSError, match="the disk is full"):
        report.write(BayesianTreeClassifier(max_depth=1).fit(X, Y), X, Y, path, folds=2)
    assert path.read_text("utf-8") == "the page of yesterday"
    assert list(tmp_path.iterdir()) == [path]


def test_bad_input_is_refused(tmp_path):
    model = BayesianTreeClassifier()
    with pytest.raises(NotFittedError):
        report.write(model, X, Y, tmp_path / "x.html")
    model.fit(X, Y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        report.write(model, X, Y[:-1], tmp_path / "x.html")
    with pytest.raises(ValueError, match="folds must be"):
        report.write(model, X, Y, tmp_path / "x.html", folds=1)
    with pytest.raises(TypeError, match="title must be a string"):
        report.write(model, X, Y, tmp_path / "x.html", title=3)
    with pytest.raises(ValueError, match="feature names"):
        report.write(model, X.rename(columns={"mean area": "area"}), Y, tmp_path / "x.html")
    with pytest.raises(ValueError, match="class 2, which the model does not know"):
        report.write(model, X, Y, tmp_path / "x.html", held_out=(X[:3], [0, 1, 2]))
    with pytest.raises(ValueError, match="class 'new', which the model does not know"):
        report.write(model, X, np.where(Y, "new", "old"), tmp_path / "x.html")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    X.iloc[:, :5].assign(tumour=np.where(Y, "benign", "malignant"), size=X["mean area"]).to_csv(path, index=False)
    return path


def test_the_command_writes_a_page(table, tmp_path, capsys):
    page = tmp_path / "page.html"
    arguments = ["report", str(table), "--out", str(page), "--target"]
    assert main([*arguments, "tumour", "--title", "Tumours"]) == 0
    assert capsys.readouterr().out.strip() == str(page)
    text = page.read_text(encoding="utf-8")
    assert "predicts tumour (benign, malignant)" in text
    assert hashlib.sha256(table.read_bytes()).hexdigest() in text
    assert main([*arguments, "size"]) == 0
    assert "normal outcome" in page.read_text(encoding="utf-8")
    frame = pd.read_csv(table)
    BayesianTreeClassifier(max_depth=1).fit(frame.drop(columns="tumour"), frame["tumour"]).save(tmp_path / "m.json")
    assert main([*arguments, "tumour", "--model", str(tmp_path / "m.json")]) == 0
    assert "It has 2 leaves" in page.read_text(encoding="utf-8")


def test_rows_without_a_target_are_left_out_aloud(tmp_path, capsys):
    table = pd.DataFrame({"x": np.arange(20.0), "y": [np.nan, *([0.0, 1.0] * 9), 1.0]})
    table.to_csv(tmp_path / "missing.csv", index=False)
    page = tmp_path / "page.html"
    assert main(["report", str(tmp_path / "missing.csv"), "--target", "y", "--out", str(page)]) == 0
    assert "Left out: 1 row without a value in 'y'." in capsys.readouterr().err
    assert "predicts y (0, 1)" in page.read_text(encoding="utf-8")


def test_the_command_says_what_is_wrong(table, tmp_path, capsys):
    empty, other = tmp_path / "empty.csv", tmp_path / "other.json"
    empty.write_text("")
    other.write_text("{")
    out = str(tmp_path / "page.html")
    for arguments, complaint in (
        ([str(table), "--target", "tumor"], "has no column 'tumor': did you mean 'tumour'?"),
        ([str(empty), "--target", "tumour"], "is empty."),
        ([str(tmp_path / "none.csv"), "--target", "tumour"], "does not exist"),
        ([str(table), "--target", "tumour", "--model", str(other)], "is not a baytree model"),
    ):
        assert main(["report", *arguments, "--out", out]) == 1
        assert complaint in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_the_page_has_the_stability_of_the_splits(tmp_path):
    model = BayesianTreeClassifier(max_depth=1).fit(X, Y)
    page = written(model, X, Y, tmp_path, refits=4)
    kept = model.stability(X, Y, n_refits=4)
    assert "The tree was grown again 4 times" in page
    assert kept.summary() in page
    assert "Not measured: refits=0 was given." in written(model, X, Y, tmp_path, refits=0)
    assert "Not measured: refits need the rows" in written(model, X[:400], Y[:400], tmp_path)


def test_the_page_tells_both_numbers_of_a_split(tmp_path):
    page = written(BayesianTreeClassifier().fit(X, Y), X, Y, tmp_path, refits=0)
    for text in ("odds against no split", "this column", "beyond doubt", '"exactOdds":"10'):
        assert text in page


def test_reference_models_are_measured_as_scikit_learn_does(tmp_path):
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import log_loss, roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = BayesianTreeClassifier(max_depth=2).fit(X, Y)
    data = read_dataset(model.fitted_, X, Y)
    compared = compare_with_references(model, data, None, hold_out(model, data, None, 5), 5, "this model")
    figures = {reference.name: reference.figures for reference in compared.models}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    linear = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    p = cross_val_predict(linear, X, Y, cv=folds, method="predict_proba")
    assert figures["logistic regression"]["Log loss"].estimate == pytest.approx(log_loss(Y, p))
    assert figures["logistic regression"]["Area under the curve"].estimate == pytest.approx(roc_auc_score(Y, p[:, 1]))
    assert figures["every row: 0"]["Accuracy"].estimate == pytest.approx(np.mean(Y == 0))
    assert "Log loss" not in figures["every row: 0"]
    own = {metric.name: metric.figure for metric in metrics_of(model.fitted_, hold_out(model, data, None, 5))}
    assert figures["this model"]["Log loss"] == own["Log loss"]
    assert figures["forest"]["Log loss"].estimate < figures["no model: the base rates"]["Log loss"].estimate


@pytest.mark.parametrize("held_out", [None, slice(300, None)])
def test_reference_models_take_any_table(held_out):
    random = np.random.default_rng(0)
    table = pd.DataFrame({"city": random.choice(["Rome", "Oslo", None], 400), "income": random.random(400)})
    table.loc[::7, "income"] = np.nan
    y = np.nan_to_num(table["income"], nan=2.0) + (table["city"] == "Rome")
    model = BayesianTreeRegressor().fit(table, y)
    data = read_dataset(model.fitted_, table, y, 1.0 + np.arange(400) % 2)
    rest = None if held_out is None else read_dataset(model.fitted_, table[held_out], y[held_out])
    compared = compare_with_references(model, data, rest, hold_out(model, data, rest, 3), 3, "this model")
    names = [reference.name for reference in compared.models]
    assert re.fullmatch(r"tree with linear leaves \(\d+ lea(f|ves), \d+ terms?\)", names.pop(4))
    assert names == ["this model", "no model: the mean", "ridge regression", "scikit-learn's tree", "forest"]
    for reference in compared.models[2:]:
        assert 0.4 < reference.figures["R squared"].estimate <= 1, reference.name


def test_the_summary_has_the_facts_of_the_owner(tmp_path):
    model = BayesianTreeClassifier(decision={0: 0.2}).fit(X, Y)
    facts = {"intended_use": "triage <b>", "owner": "Ann", "approver": "Bob", "period": "May 2026"}
    page = written(
        model, X, Y, tmp_path, actions={0: "operate", 1: "wait"}, descriptions={"mean area": "in mm & more"}, **facts
    )
    summary = re.search('<section id="summary".*?</section>', page)[0]
    for text in ("triage &lt;b&gt;", "Ann", "Bob", "May 2026", "0: operate; 1: wait."):
        assert text in summary, text
    assert summary.count('class="blank"') == 1  # date and signature
    assert "The model predicts 0 if its probability is at least 20 %, otherwise 1." in summary
    assert "in mm &amp; more" in page
    assert '"actions":["operate","wait"]' in page


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"actions": {2: "x"}}, ValueError, "actions names the class 2"),
        ({"actions": ["x"]}, TypeError, "actions must be a dict"),
        ({"descriptions": {"area": "x"}}, ValueError, "descriptions names the column 'area'"),
        ({"descriptions": ["x"]}, TypeError, "descriptions must be a dict"),
        ({"owner": 3}, TypeError, "owner must be a string"),
    ],
)
def test_wrong_facts_are_refused(options, error, message, tmp_path):
    model = BayesianTreeClassifier(max_depth=1).fit(X, Y)
    with pytest.raises(error, match=message):
        written(model, X, Y, tmp_path, **options)
    assert not list(tmp_path.iterdir())


def test_actions_are_for_classes(tmp_path):
    with pytest.raises(ValueError, match="this model predicts numbers"):
        written(
            BayesianTreeRegressor(max_depth=1).fit(X, X["mean area"]), X, X["mean area"], tmp_path, actions={0: "a"}
        )
