"""The tables of docs/deploy.md say what every target carries: every field of them is tried."""

from __future__ import annotations

import pickle
import re
from functools import cache
from pathlib import Path

import cloudpickle
import joblib
import numpy as np
import pandas as pd
import pytest

from baytree import (
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
    export,
    load,
)
from baytree.outcomes import REGRESSION_OUTCOMES
from tests.own_outcomes import Rates

PAGE = Path(__file__).parents[1] / "docs" / "deploy.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="needs the repository, not only the package")
RANDOM = np.random.default_rng(0)
NUMBERS = pd.DataFrame(RANDOM.random((300, 2)), columns=["a", "b"])
CATEGORIES = NUMBERS.assign(city=RANDOM.choice(["p", "q", "r"], 300))
MISSING = NUMBERS.assign(a=NUMBERS["a"].mask(NUMBERS["a"] > 0.7))


def tables():
    """The rows of each table, by the names of its columns."""
    lines = PAGE.read_text("utf-8").splitlines() if PAGE.exists() else []
    result, header = [], None
    for line in lines:
        fields = [field.strip() for field in line.strip("|").split("|")]
        if not line.startswith("|"):
            header = None
        elif header is None:
            header = fields
        elif not set(line) <= {"|", "-"}:
            result.append(dict(zip(header, fields, strict=True)))
    return result


def fields():
    for row in tables():
        names = row["target"].replace("[file](file_format.md)", "file").replace("`", "").split(", ")
        for target in names:
            yield from ((target, column, said) for column, said in row.items() if column != "target")


@cache
def model_of(column):
    """A model that has what a column of the tables names."""
    y = NUMBERS["a"] > 0.5
    match column:
        case "numbers" | "classes" | "interval of a tree":
            return BayesianTreeClassifier().fit(NUMBERS, y)
        case "categories":
            return BayesianTreeClassifier().fit(CATEGORIES, CATEGORIES["city"] == "q")
        case "missing values":
            return BayesianTreeClassifier().fit(MISSING, MISSING["a"].isna())
        case "hyperplanes":
            return BayesianTreeClassifier(partitions="oblique").fit(NUMBERS, NUMBERS.sum(axis=1) > 1)
        case "tree space":
            return TreeSpaceClassifier(max_nodes=200).fit(NUMBERS, NUMBERS.sum(axis=1) > 1)
        case "interval of an average":
            return TreeSpaceRegressor(max_nodes=20).fit(NUMBERS, NUMBERS["a"])
        case "forest" | "standard deviation":
            forest = BayesianForestRegressor(n_estimators=3, partitions="axis", random_state=0)
            return forest.fit(NUMBERS, NUMBERS["a"] + RANDOM.random(300))
        case "your own":
            return BayesianTreeRegressor(outcome=Rates()).fit(NUMBERS, 1 + 9 * y)
        case _:
            assert column in REGRESSION_OUTCOMES
            return BayesianTreeRegressor(outcome=column).fit(NUMBERS, 1 + 9 * y)


def skops(model):
    io = pytest.importorskip("skops.io")
    content = io.dumps(model)
    io.loads(content, trusted=io.get_untrusted_types(data=content))


def carry(target, model, column, folder):
    """Carry a model to a target, with what the column asks for beside it."""
    options = {"interval": 0.9} if column.startswith("interval") else {}
    options |= {"std": True} if column == "standard deviation" else {}
    rows = {"categories": CATEGORIES, "missing values": MISSING}.get(column, NUMBERS)
    match target:
        case "file":
            model.save(folder / "model")
            load(folder / "model")
        case "pickle":
            pickle.loads(pickle.dumps(model))
        case "joblib":
            joblib.dump(model, folder / "model")
            joblib.load(folder / "model")
        case "cloudpickle":
            pickle.loads(cloudpickle.dumps(model))
        case "skops":
            skops(model)
        case "shap_values":
            export.shap_values(model, rows[:3])
        case "to_onnx":
            pytest.importorskip("onnx")
            made = export.to_onnx(model)
            assert ("std" in [value_info.name for value_info in made.graph.output]) >= (column == "standard deviation")
        case _:
            export_to = getattr(export, target)
            assert export_to(model, **(options if target in ("to_sql", "to_c") else {})) is not None


def sentence(letter):
    """What a letter stands for, as a pattern."""
    note = re.search(rf"^- \({letter}\) (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)
    return ".*".join(map(re.escape, note[1].split("…")))


@pytest.mark.parametrize(("target", "column", "said"), [*fields()])
def test_a_target_carries_what_the_table_says(target, column, said, tmp_path):
    model = model_of(column)
    if said in ("yes", "one tree"):
        carry(target, model, column, tmp_path)
        return
    if said == "none":
        assert target == "to_onnx" or "interval" not in getattr(export, target).__code__.co_varnames
        return
    with pytest.raises((ValueError, TypeError), match=sentence(said.strip("()"))):
        carry(target, model, column, tmp_path)


def test_every_target_and_outcome_is_in_the_tables():
    wanted = {name for name in dir(export) if name.startswith("to_")} - {"to_ibis", "to_scorecard"} | {"shap_values"}
    for rows in (fields(), [row for row in fields() if row[1] == "poisson"]):
        assert wanted <= {target for target, *_ in rows}
    assert {"classes", *REGRESSION_OUTCOMES, "your own"} <= {column for _, column, _ in fields()}
