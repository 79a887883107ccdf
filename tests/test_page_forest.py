"""The page of a forest in a real browser: the forest answers, one of its trees is drawn."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_breast_cancer, load_diabetes

from baytree import BayesianForestClassifier, BayesianForestRegressor
from tests.browser import overlaps

CANCER = load_breast_cancer(return_X_y=True, as_frame=True)
DIABETES = load_diabetes(return_X_y=True, as_frame=True)


def forest(kind=BayesianForestClassifier, **options):
    X, y = CANCER if kind is BayesianForestClassifier else DIABETES
    return kind(n_estimators=20, random_state=0, **options).fit(X, y), X, y


def entered(row):
    return {k: repr(float(value)) for k, value in enumerate(row.iloc[0])}


def test_the_page_says_that_it_is_of_a_forest(open_page):
    model, X, y = forest()
    page = open_page(model, X, y, {"folds": 2}).page
    lead = page.inner_text(".lead")
    assert "A forest of 20 Bayesian decision trees that predicts" in lead
    assert "The tree below was fitted to the unweighted rows" in lead
    assert "proportion of the trees whose first split uses the column" in page.inner_text("#features")
    n_drawn = page.locator(".node").count()
    assert n_drawn == model.readable_tree_.tree_.node_count


@pytest.mark.parametrize("kind", [BayesianForestClassifier, BayesianForestRegressor])
def test_a_case_has_the_answer_and_the_interval_of_the_forest(kind, open_page):
    model, X, y = forest(kind)
    opened = open_page(model, X, y, {"folds": 2})
    for i in (0, 25, 50):
        row = X.iloc[[i]]
        answer = opened.answer(entered(row))
        cell = opened.page.locator("#answer tbody tr >> nth=0").locator("td >> nth=1").inner_text()
        numbers = [float(number.replace(",", "")) for number in re.findall(r"[\d.,]+", cell)]
        if kind is BayesianForestClassifier:
            assert_allclose(answer, model.predict_proba(row)[0], rtol=1e-10)
            assert_allclose(np.array(numbers) / 100, model.predict_interval(row)[0, 1], atol=1e-3)  # "< 0.1 %"
            assert opened.page.inner_text("#says") == str(model.predict(row)[0])
        else:
            assert_allclose(answer, model.predict(row), rtol=1e-10)
            assert_allclose(numbers, model.predict_interval(row, kind="mean")[0], rtol=2e-3)
    assert "This is the average over all trees. The prediction of the readable tree is" in opened.page.inner_text(
        "#answer"
    )
    assert "Path in the readable tree" in opened.page.inner_text("#answer")


@pytest.mark.parametrize("partitions", ["axis", "oblique"])
def test_changes_on_the_page_change_the_decision_of_the_forest(partitions, open_page):
    model, X, y = forest(partitions=partitions)
    opened = open_page(model, X, y, {"folds": 2})
    n_changes = 0
    for i in np.argsort(np.abs(model.predict_proba(X)[:, 1] - 0.5))[:15]:
        row = X.iloc[[i]]
        opened.answer(entered(row))
        listed = opened.page.locator("ol#changes li").all()
        changed = [json.loads(item.get_attribute("data-row")) for item in listed]
        n_changes += len(changed)
        for new_values in changed:  # without the columns that no tree uses
            values = [value if new is None else new for new, value in zip(new_values, row.iloc[0], strict=True)]
            assert model.predict(pd.DataFrame([values], columns=X.columns))[0] != model.predict(row)[0]
            assert (np.array(values) >= X.min()).all()
            assert (np.array(values) <= X.max()).all()
        if not changed:
            assert "leads to another prediction" in opened.page.inner_text("#changes")
    assert n_changes > 4


def test_a_forest_that_is_too_large_for_a_page_says_so(open_page, monkeypatch):
    monkeypatch.setattr("baytree.report._contents._MOST_NODES", 10)
    model, X, y = forest()
    opened = open_page(model, X, y, {"folds": 2})
    answer = opened.answer(entered(X.iloc[[3]]))
    assert_allclose(answer, model.readable_tree_.predict_proba(X.iloc[[3]])[0], rtol=1e-10)
    assert "The model averages over many trees and may predict another class" in opened.page.inner_text("#answer")


def test_the_slider_decides_for_the_forest(open_page):
    model, X, y = forest()
    opened = open_page(model, X, y, {"folds": 2})
    row = X.iloc[[int(np.argmin(np.abs(model.predict_proba(X)[:, 1] - 0.6)))]]
    share = opened.answer(entered(row))[1]
    for threshold in (max(0.02, share - 0.2), min(0.98, share + 0.2)):
        opened.set_threshold(threshold)
        assert opened.page.inner_text("#says") == str(int(share >= threshold))


def test_it_fits_a_phone_and_prints(open_page):
    pdfium = pytest.importorskip("pypdfium2")
    opened = open_page(*forest(partitions="axis"), {"folds": 2}, viewport={"width": 390, "height": 800})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 391
    pdf = pdfium.PdfDocument(io.BytesIO(opened.page.pdf(format="A4")))
    assert len(pdf) < 15
    assert not any(overlaps(one) for one in pdf)
