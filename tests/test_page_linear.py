"""The report of models with linear leaves: the terms of every leaf, figures of predictions, and no form for cases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, report
from baytree.export import to_text


def lines():
    """Two lines, one on either side of zero, and a third column that adds to both."""
    random = np.random.default_rng(2)
    X = pd.DataFrame(random.uniform(-1, 1, (400, 4)), columns=["slope", "side", "more", "noise"])
    y = np.where(X["side"] > 0, 3 * X["slope"], 1 - 2 * X["slope"]) + X["more"] + 0.2 * random.normal(size=400)
    return BayesianTreeRegressor(leaf="linear").fit(X, y), X, y


def risk():
    """A class whose log odds are linear in two columns."""
    random = np.random.default_rng(3)
    X = pd.DataFrame({"balance": random.normal(size=500), "job": random.choice(["clerk", "cook"], 500)})
    odds = 1.5 * X["balance"] - (X["job"] == "clerk")
    y = np.where(random.random(500) < 1 / (1 + np.exp(-odds)), "late", "paid")
    return BayesianTreeClassifier(leaf="linear").fit(X, y), X, y


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
    assert page.locator("#form").count() == 0
    assert "this page does not compute" in page.inner_text("#case")
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
