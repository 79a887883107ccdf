"""Pages in Chromium: what they did that they should not, and cases as people enter them."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pandas as pd
import pytest

from baytree.table import Kind

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def launch():
    """A browser to use and to close; skips where there is none."""
    if CHROMIUM is None:
        if os.environ.get("BAYTREE_NEEDS_BROWSER"):
            pytest.fail("no chromium is installed")
        pytest.skip("no chromium is installed")
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


class Opened:
    """A page, and everything it did that it should not."""

    def __init__(self, browser, path, **options):
        self.page = browser.new_page(**options)
        self.faults = []
        self.page.on("console", lambda message: self.faults.append(message.text))
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.faults.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.faults.append(request.url))
        self.page.goto(path.as_uri())
        self.faults.remove(path.as_uri())

    def answer(self, values):
        """Fill in the form as a person would, but faster; return the figures of the answer, class by class."""
        return self.page.evaluate(
            """(values) => {
              for (const [feature, value] of Object.entries(values)) {
                const field = document.getElementById(`field-${feature}`);
                if (field) field.value = value;
              }
              document.getElementById("form").requestSubmit();
              return [...document.querySelectorAll("#answer [data-value]")]
                .sort((a, b) => a.dataset.place - b.dataset.place).map((cell) => Number(cell.dataset.value));
            }""",
            {str(feature): value for feature, value in values.items()},
        )

    def is_inside(self, inner, outer):
        """Whether an element lies inside of what another shows."""
        return self.page.evaluate(
            """([inner, outer]) => {
              const a = document.querySelector(inner).getBoundingClientRect();
              const b = document.querySelector(outer).getBoundingClientRect();
              return a.left >= b.left - 1 && a.right <= b.right + 1 && a.top >= b.top - 1 && a.bottom <= b.bottom + 1;
            }""",
            [inner, outer],
        )

    def set_threshold(self, share):
        """Move the slider to a threshold."""
        self.page.evaluate(
            """(share) => {
              const at = JSON.parse(document.getElementById("model").textContent).thresholds.at;
              const slider = document.getElementById("threshold");
              const far = at.map((own) => Math.abs(own - share));
              slider.value = far.indexOf(Math.min(...far));
              slider.dispatchEvent(new Event("input"));
            }""",
            share,
        )


@pytest.fixture(scope="module")
def browser():
    """A browser for all tests of a module."""
    yield from launch()


@pytest.fixture
def open_page(browser, tmp_path):
    """Writes a page and opens it; at the end it must have done nothing that it should not."""
    from baytree import report

    opened = []

    def open_model(model, X, y, written=None, **options):
        path = report.write(model, X, y, tmp_path / "page.html", **{"references": False, **(written or {})})
        opened.append(Opened(browser, path, **options))
        return opened[-1]

    yield open_model
    for page in opened:
        assert page.faults == []
        page.page.close()


def overlaps(page):
    """Pairs of letters that stand on each other."""
    text = page.get_textpage()
    boxes = [text.get_charbox(i) for i in range(text.count_chars()) if text.get_text_range(i, 1).strip()]
    left, bottom, right, top = np.array(boxes).T
    width = np.minimum(right[:, None], right) - np.maximum(left[:, None], left)
    height = np.minimum(top[:, None], top) - np.maximum(bottom[:, None], bottom)
    area = (right - left) * (top - bottom)
    shared = np.where((width > 0) & (height > 0), width * height, 0.0)
    return np.argwhere(np.triu(shared > 0.5 * np.minimum(area[:, None], area), 1)).tolist()


def random_rows(model, X, n=200):
    """Rows with values near the splits, missing values and categories that nobody has seen."""
    random = np.random.default_rng(1)
    X = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X)
    rows = X.iloc[random.integers(0, len(X), n)].reset_index(drop=True).copy()
    splits = model.fitted_.trees
    for i, name in enumerate(rows.columns):
        column = model.schema_.columns[i]
        thresholds = splits.threshold[(splits.feature == i) & np.isfinite(splits.threshold)]
        if column.kind is Kind.NUMBER and len(thresholds):
            at = random.random(n) < 0.3
            rows.loc[at, name] = random.choice(thresholds, at.sum())
        if column.kind is not Kind.NUMBER:
            rows[name] = rows[name].astype(object)
        rows.loc[random.random(n) < 0.1, name] = np.nan if column.kind is Kind.NUMBER else None
        if column.categories is not None:
            rows.loc[random.random(n) < 0.1, name] = "nobody has seen this"
    return rows


def entries_of(model, row):
    """What a person would choose or write in the form."""
    entries = {}
    for i, value in enumerate(row):
        column = model.schema_.columns[i]
        if pd.isna(value):
            entries[i] = ""
        elif column.categories is None:
            entries[i] = repr(float(value)) if column.kind is Kind.NUMBER else str(int(value))
        elif value in list(column.categories):
            entries[i] = str(list(column.categories).index(value))
        else:
            entries[i] = "-1" if column.kind is Kind.CATEGORY else ""  # a category without a place counts as missing
    return entries
