"""The report of models with linear leaves: the terms of every leaf, figures of predictions, and answers for cases."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, report
from baytree.export import to_text
from tests.browser import entries_of, random_rows


def lines(**parameters):
    """Two lines, one on either side of zero, and a third column that adds to both."""
    random = np.random.default_rng(2)
    X = pd.DataFrame(random.uniform(-1, 1, (400, 4)), columns=["slope", "side", "more", "noise"])
    y = np.where(X["side"] > 0, 3 * X["slope"], 1 - 2 * X["slope"]) + X["more"] + 0.2 * random.normal(size=400)
    return BayesianTreeRegressor(leaf="linear", **parameters).fit(X, y), X, y


def risk(**parameters):
    """A class whose log odds are linear in two columns."""
    random = np.random.default_rng(3)
    X = pd.DataFrame({"balance": random.normal(size=500), "job": random.choice(["clerk", "cook"], 500)})
    odds = 1.5 * X["balance"] - (X["job"] == "clerk")
    y = np.where(random.random(500) < 1 / (1 + np.exp(-odds)), "late", "paid")
    return BayesianTreeClassifier(leaf="linear", **parameters).fit(X, y), X, y


def mixed(y_of=lambda score, random: score + random.normal(size=len(score))):
    """Numbers with missing values, categories and truth values; slopes differ between the sides of a column."""
    random = np.random.default_rng(4)
    n = 700
    X = pd.DataFrame(
        {
            "age": random.integers(18, 90, n).astype(float),
            "income": random.lognormal(10, 1, n).round(),
            "city": random.choice(["Rome", "Oslo", "Bern"], n),
            "owner": random.random(n) < 0.5,
        }
    )
    slope = np.where(X["income"] > 25_000, 0.06, -0.05)
    score = slope * (X["age"] - 50) + (X["city"] == "Oslo") + X["owner"]
    hidden = random.random(n) < 0.15
    X.loc[hidden, "age"] = np.nan
    X.loc[random.random(n) < 0.1, "city"] = None
    return X, y_of(score.to_numpy() + 1.5 * hidden, random)


def of_numbers(**parameters):
    X, y = mixed()
    return BayesianTreeRegressor(leaf="linear", **parameters).fit(X, y), X, y


def of_classes(n_classes=2, **parameters):
    X, y = mixed(
        lambda score, random: np.digitize(score + random.logistic(size=len(score)), [0.5, 2, 3][: n_classes - 1])
    )
    return BayesianTreeClassifier(leaf="linear", **parameters).fit(X, y), X, y


MODELS = {
    "lines": lines,
    "two classes": risk,
    "categories and missing values": of_numbers,
    "beyond the leaves": lambda: of_numbers(extrapolate=True),
    "both ways": lambda: of_numbers(unseen="average"),
    "two classes of all": of_classes,
    "three classes": lambda: of_classes(3),
    "monotonic": lambda: of_classes(monotonic_cst={"income": 1}),
    "monotonic numbers": lambda: of_numbers(monotonic_cst={"income": 1}),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_case_gets_the_same_answer_as_in_python(name, open_page):
    model, X, y = MODELS[name]()
    assert len(model.tree_.leaves.terms) > 0
    opened = open_page(model, X, y, {"refits": 0, "folds": 3})
    rows = random_rows(model, X)
    expected = model.predict_proba(rows) if model.fitted_.classes is not None else model.predict(rows)[:, None]
    answers = [opened.answer(entries_of(model, row)) for row in rows.itertuples(index=False)]
    assert_allclose(answers, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["categories and missing values", "two classes of all", "three classes", "monotonic"])
def test_the_interval_of_a_case_is_that_of_the_model(name, open_page):
    model, X, y = MODELS[name]()
    opened = open_page(model, X, y, {"refits": 0, "folds": 3})
    for row in X.iloc[:8].itertuples(index=False):
        one = pd.DataFrame([row], columns=X.columns).astype(X.dtypes)
        opened.answer(entries_of(model, row))
        lines_of_table = opened.page.locator("#answer tbody tr").all_inner_texts()
        if model.fitted_.classes is None:
            low, high = model.predict_interval(one)[0]
            assert f"{low:.4g} to {high:.4g}" in lines_of_table[1]
            continue
        for i, (low, high) in enumerate(model.predict_interval(one)[0]):
            (line,) = [text for text in lines_of_table if text.startswith(f"{model.classes_[i]}\t")]
            near, far = (100 * float(number) for number in (low, high))
            shown = line.split("\t")[2].replace("< ", "").replace("> ", "").removesuffix(" %").split(" to ")
            assert_allclose([float(number) for number in shown], [near, far], atol=0.11)


def test_the_effects_of_terms_add_up_to_the_prediction(open_page):
    model, X, y = lines(extrapolate=True)
    opened = open_page(model, X, y, {"refits": 0, "folds": 3})
    leaves, leaf_of_row = model.tree_.leaves, model.apply(X)
    for i, row in enumerate(X.iloc[:10].itertuples(index=False)):
        opened.answer(entries_of(model, row))
        effects = opened.page.locator("#effects li").all()
        total = sum(float(effect.get_attribute("data-effect")) for effect in effects)
        assert_allclose(leaves.value[leaf_of_row[i], 0] + total, model.predict(X.iloc[[i]])[0])


@pytest.mark.parametrize("name", ["lines", "two classes", "categories and missing values", "three classes"])
def test_changes_lead_to_another_decision_and_are_the_nearest(name, open_page):
    model, X, y = MODELS[name]()
    opened = open_page(model, X, y, {"refits": 0, "folds": 3, "immutable": [X.columns[-1]]})
    middle = None if model.fitted_.classes is not None else float(model.fitted_.node_means[0, 0])

    def decisions(rows):
        return model.predict(rows) if middle is None else model.predict(rows) > middle

    n_shown = 0
    for row in X.iloc[:12].itertuples(index=False):
        opened.answer(entries_of(model, row))
        one = pd.DataFrame([row], columns=X.columns).astype(X.dtypes)
        before = decisions(one)[0]
        for text in opened.page.locator("#changes li").evaluate_all("all => all.map(one => one.dataset.row)"):
            changed = read_row(model, one, text)
            assert decisions(changed)[0] != before
            (column,) = [c for c in X.columns if not same(changed[c].iloc[0], one[c].iloc[0])]
            assert column != X.columns[-1]
            assert_nearest(decisions, one, column, changed[column].iloc[0], before)
            n_shown += 1
    assert n_shown > 3


def read_row(model, one, text):
    """A changed row of the page, which leaves out columns that the model does not use."""
    changed = one.copy()
    used = {*model.tree_.feature[~model.tree_.is_leaf].tolist(), *model.tree_.leaves.used_features.tolist()}
    for i, value in enumerate(json.loads(text)):
        if i in used and value is not None:
            categories = model.schema_.columns[i].categories
            changed[one.columns[i]] = value if categories is None else categories[value]
    return changed


def same(one, other):
    return one == other or (pd.isna(one) and pd.isna(other))


def assert_nearest(decisions, one, column, value, before):
    now = one[column].iloc[0]
    if isinstance(value, str | bool | np.bool_) or pd.isna(now):
        return
    between = now + (value - now) * np.linspace(0, 0.95, 20)
    if float(value).is_integer():
        between = between[np.abs(between - value) >= 1]
    rows = pd.concat([one, *(one.assign(**{column: x}) for x in between)])
    assert np.all(decisions(rows) == before)


@pytest.mark.parametrize("make", [lines, risk])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_shows_the_terms_of_every_leaf(make, width, open_page):
    model, X, y = make()
    page = open_page(model, X, y, {"refits": 0, "folds": 3}, viewport={"width": width, "height": 900}).page
    page.click("#open-all")
    text = to_text(model)
    for leaf in np.flatnonzero(model.tree_.is_leaf).tolist():
        page.hover(f"#node-{leaf}")
        n_terms = int(model.tree_.leaves.n_terms[leaf])
        assert f"model of {n_terms} term{'s' if n_terms > 1 else ''}" in page.text_content(f"#node-{leaf}")
        shown = page.text_content("#terms").split("\n")
        assert len(shown) == n_terms
        assert all(line in text for line in shown)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_figures_and_subgroups_are_those_of_the_predictions(tmp_path):
    model, X, y = lines()
    held_out = {"X": X, "y": y}
    path = report.write(model, X, y, tmp_path / "page.html", held_out=held_out, subgroups=["slope"], refits=0)
    text = path.read_text("utf-8")
    explained = 1 - np.sum((y - model.predict(X)) ** 2) / np.sum((y - y.mean()) ** 2)
    assert f"{explained:.4g}" in text
    assert "No split of the tree uses this column, but models in the leaves do." in text
    assert "The numbers are averages over the rows of each leaf" in text
