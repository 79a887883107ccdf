"""On the page: another threshold moves everything that depends on it; cases say what would change them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor, metrics
from baytree._words import estimate_text, number_text, percent_text
from baytree.evaluation import hold_out, read_dataset

DATA = load_breast_cancer(as_frame=True)
X, Y = DATA.data, DATA.target_names[DATA.target]
SEX = np.random.default_rng(0).choice(["female", "male"], len(Y))


def percents(text):
    return [float(number) / 100 for number in re.findall(r"[\d.]+", text)]


def test_the_slider_moves_confusion_rates_curves_and_cost(open_page):
    model = BayesianTreeClassifier(decision=0.3).fit(X, Y)
    held_out = hold_out(model, read_dataset(model.fitted_, X, Y), None, 5)
    opened = open_page(model, X, Y)
    page = opened.page
    assert page.inner_text("#threshold-text") == "30 %"
    before = page.inner_html("#roc g")
    page.fill("#cost-fn", "7")
    for share in (0.05, 0.5, 0.77):
        opened.set_threshold(share)
        decided, second = held_out.probabilities[:, 1] >= share, Y == "malignant"
        tp, fn = (second & decided).sum(), (second & ~decided).sum()
        fp, tn = (~second & decided).sum(), (~second & ~decided).sum()
        for name, count in {"tp": tp, "fn": fn, "fp": fp, "tn": tn}.items():
            assert page.inner_text(f"#{name}") == str(count)
        pairs = [(tp, fn), (tn, fp), (tp, fp), (tn, fn), (tp + fp, fn + tn), (tp + tn, fp + fn)]
        for i, (hits, misses) in enumerate(pairs):
            assert page.inner_text(f"#rate-{i}") == percent_text(hits / (hits + misses))
            low, high = percents(page.inner_text(f"#rate-{i}-interval"))
            assert_allclose([low, high], stats.beta(hits + 0.5, misses + 0.5).interval(0.9), atol=6e-4)
        assert f"Mean cost per row: {estimate_text((7 * fn + fp) / len(Y))} " in page.inner_text("#cost")
        assert page.inner_html("#roc g") != before
        x, y = (float(page.get_attribute("#roc .here", name)) for name in ("cx", "cy"))
        assert x == pytest.approx(64 + 380 * fp / (fp + tn))
        assert y == pytest.approx(322 - 300 * tp / (tp + fn))
    page.click("#threshold-own")
    assert page.inner_text("#threshold-text") == "30 %"
    assert page.inner_html("#roc g") != ""
    page.fill("#cost-fn", "much")
    assert page.inner_text("#cost") == "Enter the costs as numbers."


def test_the_slider_moves_subgroups_the_tree_and_a_case(open_page):
    model = BayesianTreeClassifier().fit(X, Y)
    held_out = hold_out(model, read_dataset(model.fitted_, X, Y), None, 5)
    opened = open_page(model, X, Y, {"subgroups": {"sex": SEX}})
    page = opened.page
    page.click("#open-all")
    unsure = int(np.argmax((model.predict_proba(X)[:, 1] >= 0.2) & (model.predict_proba(X)[:, 1] < 0.5)))
    case = {i: repr(float(value)) for i, value in enumerate(X.iloc[unsure])}
    opened.answer(case)
    assert page.inner_text("#says") == model.predict(X.iloc[[unsure]])[0] == "benign"
    opened.set_threshold(0.2)
    for k, sex in enumerate(["female", "male"]):
        rows = sex == SEX
        second, decided = Y[rows] == "malignant", held_out.probabilities[rows, 1] >= 0.2
        assert page.inner_text(f"#group-{k}-decided").split("\n")[0] == percent_text(decided.mean())
        missed = (second & ~decided).sum() / second.sum()
        assert page.inner_text(f"#group-{k}-missed").split("\n")[0] == percent_text(missed)
    ratios = metrics.impact_ratio(held_out.probabilities[:, 1] < 0.2, SEX)
    for k, impact in enumerate(ratios):
        shown = page.inner_text(f"#group-{k}-impact").split("\n")
        assert shown == [impact.ratio.text(), *([] if impact.is_reference else [impact.ratio.interval()])]
    other = BayesianTreeClassifier(decision=0.2).fit(X, Y)
    assert page.inner_text("#says") == other.predict(X.iloc[[unsure]])[0] == "malignant"
    page.click("#open-all")
    for leaf in np.flatnonzero(model.tree_.is_leaf):
        assert f": {other.fitted_.decisions().name(leaf)}, " in page.get_attribute(f"#node-{leaf}", "aria-label")


def loans(n=3000):
    random = np.random.default_rng(3)
    frame = pd.DataFrame(
        {
            "income": random.lognormal(10.3, 0.6, n).round(-1),
            "age": random.integers(18, 80, n).astype(float),
            "purpose": random.choice(["business", "car", "education", "other", "travel"], n),
            "owner": random.random(n) < 0.4,
            "months": np.where(random.random(n) < 0.2, np.nan, random.exponential(50, n).round()),
        }
    )
    risk = 0.1 + 0.3 * frame["purpose"].isin(["business", "travel"]) + 0.4 * frame["months"].isna()
    risk = risk + 0.3 * (frame["income"] < 20_000) - 0.2 * frame["owner"] + 0.3 * (frame["age"] < 25)
    return frame, np.where(random.random(n) < risk, "default", "repaid")


def entries(model, row):
    """What a person would enter."""
    result = {}
    for i, (value, column) in enumerate(zip(row, model.schema_.columns, strict=True)):
        if pd.isna(value):
            result[i] = ""
        elif column.categories is not None:
            result[i] = str(list(column.categories).index(value))
        else:
            result[i] = str(int(value)) if column.kind == "truth value" else repr(float(value))
    return result


@pytest.mark.parametrize("options", [{}, {"immutable": ["age", "income"], "directions": {"months": 1}}])
def test_changes_on_the_page_are_those_of_explain(options, open_page):
    frame, y = loans()
    model = BayesianTreeClassifier(prior=1.0).fit(frame, y)
    opened = open_page(model, frame, y, {"folds": 2, **options})
    for i, explanation in enumerate(model.explain(frame[:40], **options)):
        opened.answer(entries(model, frame.iloc[i]))
        told = [text.split(": ")[0] for text in opened.page.locator("ol#changes li").all_inner_texts()]
        assert told == [str(change).split(" -> ")[0] for change in explanation.changes]
        assert opened.page.locator("#changes").count() == 1


def test_what_may_change_can_be_chosen_on_the_page(open_page):
    frame, y = loans()
    model = BayesianTreeClassifier(prior=1.0).fit(frame, y)
    opened = open_page(model, frame, y, {"folds": 2})
    opened.answer(entries(model, frame.iloc[0]))
    page = opened.page
    page.click("text=Columns that may change")
    for feature in range(frame.shape[1]):
        if page.locator(f"#way-{feature}").count():
            page.select_option(f"#way-{feature}", "0")
    assert page.inner_text("#changes") == "No allowed change leads to another prediction."


def test_changes_behind_hyperplanes_are_those_of_explain(open_page):
    model = BayesianTreeClassifier(partitions="oblique", prior=1.0).fit(X, Y)
    opened = open_page(model, X, Y, {"folds": 2})
    told = same = 0
    for i, explanation in enumerate(model.explain(X[:40])):
        opened.answer({k: repr(float(value)) for k, value in enumerate(X.iloc[i])})
        shown = [text.split(": ")[0] for text in opened.page.locator("ol#changes li").all_inner_texts()]
        told += len(shown)
        same += shown == [str(change).split(" -> ")[0] for change in explanation.changes]
    assert told > 20
    assert same == 40


@pytest.mark.parametrize("missing", ["majority", "average"])
def test_an_empty_case_says_what_was_never_missing(missing, open_page):
    model = BayesianTreeClassifier(prior=1.0, unseen=missing).fit(X, Y)
    opened = open_page(model, X, Y, {"folds": 2})
    empty = X.iloc[[0]] * np.nan
    assert_allclose(opened.answer(dict.fromkeys(range(X.shape[1]), "")), model.predict_proba(empty)[0], rtol=1e-9)
    warning = opened.page.inner_text("#unseen")
    assert "is missing" in warning
    assert ("follow both branches" if missing == "average" else "follow the branch with more training rows") in warning
    said = percents(opened.page.locator("#answer tbody tr >> nth=0").locator("td >> nth=1").inner_text())
    assert_allclose(said, model.predict_interval(empty)[0, 1], atol=6e-4)


@pytest.mark.parametrize("kind", [TreeSpaceClassifier, TreeSpaceRegressor])
def test_tree_spaces_have_intervals_on_the_page(kind, open_page):
    table, y = load_diabetes(return_X_y=True, as_frame=True)
    y = np.where(y > 140, "high", "low") if kind is TreeSpaceClassifier else y
    model = kind(max_nodes=60).fit(table, y)
    opened = open_page(model, table, y, {"folds": 2})
    for i in range(5):
        row = table.iloc[[i]]
        opened.answer({k: repr(float(value)) for k, value in enumerate(row.iloc[0])})
        cell = opened.page.locator("#answer tbody tr >> nth=0").locator("td >> nth=1").inner_text()
        if kind is TreeSpaceClassifier:
            assert_allclose(percents(cell), model.predict_interval(row)[0, 1], atol=6e-4)
        else:
            numbers = [float(number.replace(",", "")) for number in re.findall(r"[\d.,]+", cell)]
            assert_allclose(numbers, model.predict_interval(row, kind="mean")[0], rtol=2e-3)


@pytest.mark.parametrize("outcome", ["poisson", "negative_binomial", "exponential"])
@pytest.mark.parametrize("kind", [TreeSpaceRegressor, BayesianTreeRegressor])
def test_counts_and_durations_have_intervals_on_the_page(kind, outcome, open_page):
    """Those of averages are worked out on the page: over a tree space, and both ways of what was never missing."""
    table, y = load_diabetes(return_X_y=True, as_frame=True)
    options = {"max_nodes": 40} if kind is TreeSpaceRegressor else {"unseen": "average"}
    model = kind(outcome=outcome, **options).fit(table, np.ceil(y / 10))
    opened = open_page(model, table, np.ceil(y / 10), {"folds": 2})
    for i in range(4):
        row = table.iloc[[i]].copy()
        if i > 1:
            row.loc[:, model.feature_names_in_[model.fitted_.readable.trees.feature[0]]] = np.nan
        opened.answer({k: "" if np.isnan(value) else repr(float(value)) for k, value in enumerate(row.iloc[0])})
        for place, of in enumerate(("mean", "outcome")):
            cell = opened.page.locator(f"#answer tbody tr >> nth={place}").locator("td >> nth=1").inner_text()
            numbers = [float(number.replace(",", "")) for number in re.findall(r"[\d.,]+", cell)]
            assert_allclose(numbers, model.predict_interval(row, kind=of)[0], rtol=2e-3)


def test_numbers_are_written_alike_in_both_languages(open_page):
    model = BayesianTreeRegressor(max_depth=1).fit(X[["mean area"]], X["worst area"])
    page = open_page(model, X[["mean area"]], X["worst area"], {"folds": 2}).page
    numbers = [0, 1, -1, 0.1, 59780.0, 570097.62183302, -38411.5, 0.13505, 1e-9, 1.5e20, 99999.95, 0.00012345]
    random = np.random.default_rng(0)
    numbers += (random.normal(size=200) * 10.0 ** random.integers(-4, 12, 200)).tolist()
    # The script keeps its names to itself, so it is read and run again here.
    script = page.evaluate("document.querySelectorAll('script')[1].textContent")
    words = script[script.index("function written") : script.index("// Beta, gamma and Student")]
    run = f"(numbers) => {{ {words} return numbers.map((n) => [numberText(n), estimateText(n), percentText(n)]); }}"
    for number, said in zip(numbers, page.evaluate(run, numbers), strict=True):
        assert said[:2] == [number_text(number), estimate_text(number)]
    shares = random.random(50).tolist()
    assert [said[2] for said in page.evaluate(run, shares)] == [percent_text(share) for share in shares]


def test_the_page_is_about_the_positive_class_that_the_decision_names(open_page):
    model = BayesianTreeClassifier(decision={"benign": 0.9}).fit(X, Y)
    held_out = hold_out(model, read_dataset(model.fitted_, X, Y), None, 5)
    opened = open_page(model, X, Y, {"subgroups": {"sex": SEX}})
    page = opened.page
    is_benign = Y == "benign"
    for share in (0.9, 0.4):
        opened.set_threshold(share)
        decided = held_out.probabilities[:, 0] >= share
        counts = {"tp": is_benign & decided, "fp": ~is_benign & decided, "fn": is_benign & ~decided}
        for name, rows in counts.items():
            assert page.inner_text(f"#{name}") == str(rows.sum())
        women = SEX == "female"
        assert page.inner_text("#group-0-decided").split("\n")[0] == percent_text(decided[women].mean())
    page.click("#threshold-own")
    unsure = int(np.argmin(np.abs(model.predict_proba(X)[:, 0] - 0.8)))
    opened.answer({i: repr(float(value)) for i, value in enumerate(X.iloc[unsure])})
    assert page.inner_text("#says") == model.predict(X.iloc[[unsure]])[0]
    assert page.inner_text("#answer tbody th").startswith("benign")
