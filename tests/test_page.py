"""The report in a real browser: it works, it agrees with Python, it runs nothing that a name or a value says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)
from tests.browser import entries_of, random_rows

HOSTILE = [
    "<script>window.hacked = 1; alert(1)</script>",
    '"\'><img src=x onerror="window.hacked = 1">',
    "</script><script>window.hacked = 1</script>",
    "😀 emoji & <b>bold</b>",
    "שלום עולם",
    "x" * 10_000,
]


def mixed(n=600, seed=0):
    """Numbers, categories and missing values, and a class that depends on all of them."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "income": random.lognormal(10, 1, n).round(2),
            "age": random.integers(18, 90, n).astype(float),
            "city": random.choice(["Rome", "Oslo", "Bern", "a, b"], n),
        }
    )
    y = (frame["income"] > 20_000).astype(int) ^ (frame["city"].isin(["Rome", "a, b"])) ^ (random.random(n) < 0.1)
    frame.loc[random.random(n) < 0.15, "income"] = np.nan
    frame.loc[random.random(n) < 0.1, "city"] = None
    return frame, y


def in_order():
    """Ordered categories and truth values, some of them missing, beside numbers and categories."""
    frame, y = mixed()
    random = np.random.default_rng(3)
    grades = ["low", "middle", "high", "top"]
    frame = frame.assign(
        grade=pd.Categorical(random.choice(grades, len(y)), grades, ordered=True), owner=random.random(len(y)) < 0.5
    )
    y = np.where(frame["owner"], y, frame["grade"] > "middle").astype(int)
    frame.loc[random.random(len(y)) < 0.1, "grade"] = None
    return BayesianTreeClassifier(prior=0.2).fit(frame, y), frame, y


def oblique():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return BayesianTreeClassifier(partitions="oblique", prior=1.0).fit(X, y), X, y


def models():
    frame, y = mixed()
    cancer = load_breast_cancer(return_X_y=True, as_frame=True)
    diabetes = load_diabetes(return_X_y=True, as_frame=True)
    counts = np.random.default_rng(0).poisson(3, len(frame))
    yield "numbers", lambda: (BayesianTreeClassifier(prior=1.0).fit(*cancer), *cancer)
    yield (
        "missing values and categories",
        lambda: (BayesianTreeClassifier(prior=0.5, partition_prior="paper").fit(frame, y), frame, y),
    )
    yield "kinds of columns", in_order
    yield "hyperplanes", oblique
    yield (
        "three classes",
        lambda: (
            BayesianTreeClassifier(prior=0.5).fit(*load_iris(return_X_y=True)),
            *load_iris(return_X_y=True),
        ),
    )
    yield "real outcome", lambda: (BayesianTreeRegressor().fit(*diabetes), *diabetes)
    yield "counts", lambda: (BayesianTreeRegressor(outcome="poisson").fit(frame, counts), frame, counts)
    yield "tree space", lambda: (TreeSpaceClassifier(max_nodes=150).fit(frame, y), frame, y)
    yield "space of real trees", lambda: (TreeSpaceRegressor(max_nodes=80).fit(*diabetes), *diabetes)
    yield (
        "both ways",
        lambda: (BayesianTreeClassifier(prior=0.5, unseen="average").fit(frame, y), frame, y),
    )
    yield (
        "space both ways",
        lambda: (TreeSpaceClassifier(max_nodes=80, unseen="average", decision=0.3).fit(frame, y), frame, y),
    )
    yield "forest", lambda: (BayesianForestClassifier(n_estimators=9, random_state=0).fit(frame, y), frame, y)
    yield (
        "forest of numbers",
        lambda: (
            BayesianForestRegressor(n_estimators=9, unseen="average", random_state=0).fit(*diabetes),
            *diabetes,
        ),
    )
    yield "one leaf", lambda: (BayesianTreeClassifier(max_depth=0).fit(frame, y), frame, y)


MODELS = dict(models())


@pytest.mark.parametrize("name", MODELS)
def test_a_case_gets_the_same_answer_as_in_python(name, open_page):
    model, X, y = MODELS[name]()
    opened = open_page(model, X, y)
    rows = random_rows(model, X)
    with_names = rows if isinstance(X, pd.DataFrame) else rows.to_numpy()
    expected = (
        model.predict_proba(with_names) if model.fitted_.classes is not None else model.predict(with_names)[:, None]
    )
    answers = [opened.answer(entries_of(model, row)) for row in rows.itertuples(index=False)]
    assert_allclose(answers, expected, rtol=1e-12, atol=1e-12)


def test_splits_close_and_open_by_mouse_and_keyboard(open_page):
    opened = open_page(*MODELS["numbers"]())
    page, nodes = opened.page, opened.page.locator(".node")
    page.click("#open-all")
    everything = nodes.count()
    assert everything == 2 * MODELS["numbers"]()[0].get_n_leaves() - 1
    page.click("#node-0")
    assert nodes.count() == 1
    assert page.get_attribute("#node-0", "aria-expanded") == "false"
    assert "leaves" in page.text_content("#node-0")
    page.focus("#node-0")
    page.keyboard.press("Enter")  # one level
    assert nodes.count() == 3
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "node-1"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.id") == "node-0"
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.id") != "node-0"
    page.click("#close-all")
    assert nodes.count() == 1
    page.click("#open-all")
    assert nodes.count() == everything
    page.focus("#zoom-in")
    page.keyboard.press("Tab")  # from the last button into the tree, which is one stop
    assert page.evaluate("document.activeElement.id") == "node-0"


def test_a_leaf_tells_its_rule_and_the_drawing_zooms(open_page):
    model, X, y = MODELS["numbers"]()
    page = open_page(model, X, y).page
    leaf = int(np.flatnonzero(model.tree_.is_leaf)[-1])
    page.click("#open-all")
    page.click(f"#node-{leaf}")
    assert page.inner_text("#rule").startswith("If ")
    assert f"Leaf {leaf}" in page.inner_text("#detail")
    assert str(model.tree_.n_node_samples[leaf]) in page.inner_text("#detail")
    page.hover("#node-0")
    assert "Odds of the split" in page.inner_text("#detail")
    page.click("#zoom-in")
    assert page.inner_text("#zoom") == "125 %"
    page.focus("#node-0")
    page.keyboard.press("-")
    assert page.inner_text("#zoom") == "100 %"


def figures(page):
    """The figures of an answer, class by class."""
    cells = page.locator("#answer [data-value]").all()
    return [
        float(cell.get_attribute("data-value"))
        for cell in sorted(cells, key=lambda cell: int(cell.get_attribute("data-place")))
    ]


def test_pasted_cases_are_read(open_page):
    model, X, y = MODELS["missing values and categories"]()
    page = open_page(model, X, y).page
    page.click("#case details summary")
    row = pd.DataFrame([{"income": 30_000.0, "age": 40.0, "city": "a, b"}])
    expected = model.predict_proba(row)[0]
    for text in (
        '{"income": 30000, "city": "a, b", "age": 40}',
        "income\tcity\tage\n30000\ta, b\t40",
        "30000\t40\ta, b",
    ):
        page.fill("#paste", text)
        page.click("#fill")
        assert_allclose(figures(page), expected, rtol=1e-12)
    for text, complaint in (
        ('{"incme": 3}', "there is no column incme"),
        ("1\t2", "it has 2 values, the table has 3 columns"),
        ("{", "could not be read"),
        ("much\t2\tRome", "Not a number: income"),
    ):
        page.fill("#paste", text)
        page.click("#fill")
        assert complaint in page.inner_text("#answer")


def test_pasted_categories_are_recognised_as_they_stand_in_tables(open_page):
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "guarantor": random.choice(["none", "yes", " no"], 500),
            "grade": pd.Categorical(random.integers(1, 4, 500)),
            "owner": random.random(500) < 0.5,
            "job": random.choice(["clerk, office", "other"], 500),
        }
    )
    y = (
        (frame["guarantor"] == "none").astype(int) * 2
        + (frame["grade"] == 3)
        + frame["owner"]
        + (frame["job"] == "other")
    )
    y = (y + random.random(500) > 2.5).astype(int).rename("default")
    frame.loc[random.random(500) < 0.2, "guarantor"] = None
    model = BayesianTreeClassifier(prior=0.2).fit(frame, y)
    page = open_page(model, frame, y).page
    page.click("#case details summary")
    for i in range(25):
        row = frame.iloc[[i]]
        for text in (
            row.to_csv(index=False),
            row.assign(default=1).to_csv(index=False),
            row.to_csv(index=False, header=False).strip("\r\n"),
            row.to_json(orient="records")[1:-1],
        ):
            page.fill("#paste", text)
            page.click("#fill")
            assert_allclose(figures(page), model.predict_proba(row)[0], rtol=1e-12)
    page.fill("#paste", "perhaps,1,True,other")
    page.click("#fill")
    assert "guarantor: no training row has the category perhaps." in page.inner_text("#answer")


def test_a_missing_value_in_json_is_not_the_empty_category(open_page):
    random = np.random.default_rng(0)
    values = random.choice(np.array(["", "a", None], dtype=object), 600)
    frame = pd.DataFrame({"letter": values, "number": random.random(600)})
    y = (random.random(600) < np.where(values == "", 0.95, np.where(values == "a", 0.5, 0.05))).astype(int)
    model = BayesianTreeClassifier().fit(frame, y)
    page = open_page(model, frame, y).page
    page.click("#case details summary")
    for letter, text in ((None, '{"letter": null, "number": 0.5}'), ("", '{"letter": "", "number": 0.5}')):
        page.fill("#paste", text)
        page.click("#fill")
        expected = model.predict_proba(pd.DataFrame({"letter": [letter], "number": [0.5]}))[0]
        assert_allclose(figures(page), expected, rtol=1e-12)


def hostile_model():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.random((400, len(HOSTILE))), columns=HOSTILE)
    frame["kind"] = random.choice(HOSTILE, 400)
    y = np.where((frame.iloc[:, 0] > 0.4) & (frame["kind"].isin(HOSTILE[:3])), HOSTILE[0], HOSTILE[2])
    return BayesianTreeClassifier(prior=1.0).fit(frame, y), frame, y


def test_hostile_names_are_text(open_page):
    opened = open_page(*hostile_model())
    page = opened.page
    page.click("#open-all")
    opened.answer({0: "0.3"})
    for node in page.locator(".node").all()[:8]:
        node.dispatch_event("mouseenter")
    assert page.evaluate("window.hacked") is None
    assert HOSTILE[0] in page.inner_text("#rules")
    assert page.locator("main img, main b").count() == 0


AXE = ["missing values and categories", "real outcome", "tree space", "forest", "one leaf"]


@pytest.mark.parametrize("name", [*AXE, "hostile"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_fault_of_accessibility(name, scheme, open_page):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    model, X, y = hostile_model() if name == "hostile" else MODELS[name]()
    opened = open_page(model, X, y, color_scheme=scheme)
    opened.answer({0: "1"})
    for summary in opened.page.locator("summary").all():
        summary.click()
    violations = axe.run(opened.page).response["violations"]
    serious = [(v["id"], v["nodes"][0]["html"][:200]) for v in violations if v["impact"] in ("serious", "critical")]
    assert serious == []
