"""Reasons are the columns that push the decision of the model most: a frame, and the table of a command."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from baytree import BayesianForestClassifier, BayesianForestRegressor, BayesianTreeClassifier, TreeSpaceClassifier
from baytree.cli import main
from baytree.export import shap_values


def applicants(n=600):
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "income": random.lognormal(10, 0.5, n).round(),
            "region": random.choice(["north", "south", "west"], n),
            "owner": random.random(n) < 0.5,
            "noise": random.normal(size=n).round(3),
        }
    )
    risk = -2 * np.log(X["income"] / 22000) + 1.5 * (X["region"] == "south") - X["owner"]
    return X, np.where(risk + random.logistic(size=n) > 0, "bad", "good"), risk


MODELS = {
    "tree": BayesianTreeClassifier(),
    "space": TreeSpaceClassifier(max_nodes=50),
    "forest": BayesianForestClassifier(n_estimators=20, random_state=0),
    "costs": BayesianForestClassifier(n_estimators=20, random_state=0, decision={"bad": {"good": 5.0}}),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("towards", [None, "bad", "good"])
def test_reasons_are_the_largest_contributions_towards_a_class(kind, towards):
    X, y, _ = applicants()
    model = MODELS[kind].fit(X, y)
    rows = X[:25]
    reasons, values = model.reasons(rows, k=2, towards=towards), shap_values(model, rows).values
    assert list(reasons.columns) == ["row", "rank", "feature", "contribution", "value"]
    for i, label in enumerate(model.predict(rows) if towards is None else [towards] * 25):
        towards_class = values[i, :, model.classes_.tolist().index(label)]
        order = [f for f in np.argsort(-towards_class, kind="stable") if towards_class[f] > 0][:2]
        mine = reasons[reasons["row"] == i]
        assert mine["feature"].tolist() == [X.columns[f] for f in order]
        assert mine["rank"].tolist() == list(range(1, len(order) + 1))
        assert_allclose(mine["contribution"], towards_class[order], atol=1e-12)
        assert mine["value"].tolist() == [rows.iloc[i, f] for f in order]


def test_reasons_of_numbers_push_up_or_down():
    X, _, risk = applicants()
    model = BayesianForestRegressor(n_estimators=10, random_state=0).fit(X, risk)
    high, low = (model.reasons(X[:10], towards=way) for way in ("high", "low"))
    assert (high["contribution"] > 0).all()
    assert (low["contribution"] < 0).all()
    decided = model.reasons(X[:10])
    for i, explanation in enumerate(model.explain(X[:10])):
        assert (decided[decided["row"] == i]["contribution"] > 0).all() == (explanation.direction > 0)


def test_codes_and_their_texts_stand_beside_the_reasons():
    X, y, _ = applicants()
    model = MODELS["tree"].fit(X, y)
    codes = {"income": ("R01", "Income too low for the amount"), "region": "R02"}
    reasons = model.reasons(X[:50], codes=codes)
    assert list(reasons.columns)[-2:] == ["code", "text"]
    for _, one in reasons.iterrows():
        code = codes.get(one["feature"])
        assert (one["code"], one["text"]) == ((code, None) if code is None or isinstance(code, str) else code)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"k": 0}, ValueError, "k must be"),
        ({"towards": "ugly"}, ValueError, "towards must be one of the classes"),
        ({"codes": {"incom": "R1"}}, ValueError, "did you mean"),
        ({"codes": ["R1"]}, TypeError, "codes must be a dict"),
        ({"codes": {"income": 3}}, TypeError, "a pair of a code and its text"),
    ],
)
def test_wrong_arguments_are_refused(options, error, words):
    X, y, _ = applicants()
    with pytest.raises(error, match=words):
        MODELS["tree"].fit(X, y).reasons(X[:2], **options)


def test_directions_of_numbers_are_high_and_low():
    X, _, risk = applicants()
    model = BayesianForestRegressor(n_estimators=3, random_state=0).fit(X, risk)
    with pytest.raises(ValueError, match="'high' or 'low'"):
        model.reasons(X[:2], towards=3)


def test_the_command_lists_the_same_reasons(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y, _ = applicants()
    model = BayesianForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    model.save("model.zip")
    X[:30].to_csv("rows.csv", index=False)
    (tmp_path / "codes.csv").write_text("column,code,text\nincome,R01,Income too low\nregion,R02,\n")
    (tmp_path / "codes.json").write_text(json.dumps({"income": ["R01", "Income too low"], "region": ["R02", ""]}))
    expected = model.reasons(X[:30], k=2, codes={"income": ("R01", "Income too low"), "region": ("R02", "")})
    for codes in ("codes.csv", "codes.json"):
        assert main(["reasons", "model.zip", "rows.csv", "-k", "2", "--codes", codes, "-o", "out.csv"]) == 0
        written = pd.read_csv("out.csv")
        assert (written["row"] - 1).tolist() == expected["row"].tolist()
        assert written["feature"].tolist() == expected["feature"].tolist()
        assert_allclose(written["contribution"], expected["contribution"])
        assert written["code"].fillna("").tolist() == expected["code"].fillna("").tolist()
    capsys.readouterr()
    assert main(["reasons", "model.zip", "rows.csv", "--towards", "bad", "--json"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["feature"] for line in lines] == model.reasons(X[:30], towards="bad")["feature"].tolist()
    assert main(["reasons", "model.zip", "rows.csv", "--towards", "ugly"]) == 1
    assert "--towards must be one of the classes bad, good" in capsys.readouterr().err
    (tmp_path / "codes.csv").write_text("name,code\nincome,R01\n")
    assert main(["reasons", "model.zip", "rows.csv", "--codes", "codes.csv"]) == 1
    assert "must have the columns 'column' and 'code'" in capsys.readouterr().err
