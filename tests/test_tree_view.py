"""The drawing of the tree: fits, can be searched, follows cases, prints; on wide and narrow screens."""

from __future__ import annotations

import io
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes

from baytree import BayesianTreeClassifier, BayesianTreeRegressor
from tests.browser import overlaps

CANCER = load_breast_cancer(return_X_y=True, as_frame=True)


def small():
    return BayesianTreeClassifier(prior=1.0).fit(*CANCER), *CANCER


def large(leaves=500, n=40_000):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.random((n, 10)), columns=[f"a column with a long name, number {i}" for i in range(10)])
    score = sum(np.floor(5 * X.iloc[:, i]) % 2 * (1.2 - 0.1 * i) + 2 * X.iloc[:, i] for i in range(8))
    y = np.where(score + random.normal(0, 0.6, n) > np.median(score), "yes", "no")
    model = BayesianTreeClassifier(prior=0.5, partition_prior=0.99, max_leaf_nodes=leaves, prune=False).fit(X, y)
    assert model.get_n_leaves() == leaves
    return model, X, y


def numbers():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return BayesianTreeRegressor().fit(X, y), X, y


@pytest.mark.parametrize("make", [small, lambda: large(70, 20_000), large, numbers], ids=["7", "70", "500", "numbers"])
def test_on_load_all_that_is_drawn_is_in_view(make, open_page):
    opened = open_page(*make(), {"folds": 2}, viewport={"width": 1280, "height": 860})
    assert opened.is_inside("#drawing", "#view")
    assert float(opened.page.inner_text("#zoom").split()[0]) >= 70  # and large enough to read
    assert 5 <= opened.page.locator(".node").count() <= 45


def test_a_page_of_500_leaves_is_small_and_opens_wholly(open_page, tmp_path):
    opened = open_page(*large(), {"folds": 2})
    assert (tmp_path / "page.html").stat().st_size < 3_000_000
    opened.page.click("#open-all")
    assert opened.page.locator(".node").count() == 999


def test_nothing_in_the_drawing_overlaps(open_page):
    page = open_page(*large(70, 20_000), {"folds": 2}).page
    page.click("#open-all")
    boxes = page.evaluate(
        """() => [...document.querySelectorAll("#drawing .node > .card:not(.under)")].map((card) => {
          const { left, top, right, bottom } = card.getBoundingClientRect();
          return [left, top, right, bottom];
        })"""
    )
    left, top, right, bottom = np.array(boxes).T
    apart = (
        (right[:, None] <= left + 0.5)
        | (left[:, None] >= right - 0.5)
        | (bottom[:, None] <= top + 0.5)
        | (top[:, None] >= bottom - 0.5)
    )
    assert np.all(apart | np.eye(len(boxes), dtype=bool))


def test_search_goes_to_its_hits(open_page):
    model, X, y = large(70, 20_000)
    opened = open_page(model, X, y, {"folds": 2})
    page = opened.page
    page.click("#close-all")
    page.click("#search")
    page.keyboard.type("NUMBER 5")
    uses = [node for node in model.tree_.internal_nodes if model.tree_.feature[node] == 5]
    assert page.inner_text("#found") == f"1 of {len(uses)} splits; press Enter for the next"
    seen = set()
    for _ in uses:
        (selected,) = page.locator(".node[aria-selected=true]").all()
        node = selected.get_attribute("id")
        seen.add(int(node.removeprefix("node-")))
        assert "hit" in selected.get_attribute("class")
        assert opened.is_inside(f"#{node}", "#view")
        page.keyboard.press("Enter")
    assert seen == set(uses)
    page.fill("#search", "no such column")
    assert page.inner_text("#found") == "No split uses such a column."
    assert page.locator(".node.hit").count() == 0


@pytest.mark.parametrize("width", [1280, 390])
def test_the_way_of_a_case_is_marked_and_its_leaf_is_in_view(width, open_page):
    model, X, y = large()
    opened = open_page(model, X, y, {"folds": 2}, viewport={"width": width, "height": 800})
    for i in range(4):
        row = X.iloc[[i]]
        opened.answer({k: repr(float(value)) for k, value in enumerate(row.iloc[0])})
        leaf = int(model.apply(row)[0])
        assert opened.page.locator(".node.on").count() == model.tree_.depth[leaf] + 1
        assert "on" in opened.page.get_attribute(f"#node-{leaf}", "class")
        assert opened.is_inside(f"#node-{leaf}", "#view")
        path = [int(node.get_attribute("id")[5:]) for node in opened.page.locator(".node.on").all()]
        assert sorted(path) == sorted(model.tree_.path(leaf))


def test_a_branch_can_be_looked_at_alone(open_page):
    opened = open_page(*large(70, 20_000), {"folds": 2})
    page = opened.page
    page.focus("#node-0")
    page.keyboard.press("ArrowRight")
    branch = page.evaluate("document.activeElement.id")
    page.keyboard.press("f")
    assert page.locator("#node-0").count() == 0
    assert page.locator(f"#{branch}").count() == 1
    assert page.locator("#crumbs button").count() == 2
    page.click("#crumbs button >> nth=0")
    assert page.locator("#node-0").count() == 1
    assert page.locator("#crumbs button").count() == 0


def test_the_map_leads_to_every_leaf(open_page):
    model, X, y = large(70, 20_000)
    opened = open_page(model, X, y, {"folds": 2})
    leaf = int(np.flatnonzero(model.tree_.is_leaf)[40])
    opened.page.dispatch_event(f'#map rect[data-node="{leaf}"]', "click")
    assert opened.is_inside(f"#node-{leaf}", "#view")


def test_edges_say_the_condition_and_leaves_the_same_class(open_page):
    model, X, y = small()
    page = open_page(model, X, y).page
    page.click("#open-all")
    said = page.locator(".edges text").all_text_contents()
    assert len(said) == 2 * (model.get_n_leaves() - 1)
    assert all(re.match(r"[≤>] [\d.,]+", text) for text in said)
    for leaf in np.flatnonzero(model.tree_.is_leaf):
        label = page.get_attribute(f"#node-{leaf}", "aria-label")
        share = float(re.search(r"([\d.]+) % 1, n = ", label).group(1))
        assert share == pytest.approx(100 * model.tree_.value[leaf, 0, 1], abs=0.06)
        assert f": {int(model.tree_.value[leaf, 0, 1] > 0.5)}, " in label


@pytest.mark.parametrize("make", [small, lambda: large(70, 20_000), numbers], ids=["small", "large", "numbers"])
def test_a_phone_shows_all_without_sideways_scrolling(make, open_page):
    page = open_page(*make(), {"folds": 2}, viewport={"width": 390, "height": 800}).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 391
    assert page.evaluate("document.documentElement.scrollHeight") < 25_000
    width = page.evaluate("document.querySelector('#drawing').getBoundingClientRect().width")
    assert width <= page.evaluate("document.querySelector('#view').clientWidth") + 1
    narrow = page.evaluate(
        """() => [...document.querySelectorAll(".stack td")].filter((cell) => cell.innerText.length > 12
          && cell.getBoundingClientRect().width < 150).length"""
    )
    assert narrow == 0


@pytest.mark.parametrize("make", [small, lambda: large(70, 20_000)], ids=["small", "large"])
def test_the_tree_prints_from_a_page_of_its_own_and_nothing_overlaps(make, open_page):
    pdfium = pytest.importorskip("pypdfium2")
    model, X, y = make()
    page = open_page(model, X, y, {"folds": 2}).page
    pdf = pdfium.PdfDocument(io.BytesIO(page.pdf(format="A4")))
    texts = [one.get_textpage().get_text_range() for one in pdf]
    (start,) = (i for i, text in enumerate(texts) if re.search(r"^Tree\r?$", text, re.MULTILINE))
    assert texts[start].lstrip().startswith("Tree")
    everything = "\n".join(texts)
    assert "Single cases" not in everything
    assert "Tree as text" in everything
    assert everything.count("├─ yes") >= min(model.get_n_leaves() - 1, 60)  # it is open
    assert "Provenance" in everything
    for one in pdf:
        assert not overlaps(one)
    assert page.locator("#printed").count() == 0  # and gone again
    assert page.locator("details[open]").count() == 0


def test_500_leaves_print_on_few_pages(open_page):
    """The rules of so many leaves are not printed: the text of the tree says the same, and is there whole."""
    pdfium = pytest.importorskip("pypdfium2")
    page = open_page(*large(), {"folds": 2}).page
    pdf = pdfium.PdfDocument(io.BytesIO(page.pdf(format="A4")))
    everything = "\n".join(one.get_textpage().get_text_range() for one in pdf)
    assert len(pdf) <= 30
    assert "The list of 500 rules, one for each leaf, is not printed. See the tree as text." in everything
    assert everything.count("└─ ") >= 499
    assert page.locator("#rules table tbody tr").count() == 400  # on the screen
