"""The page in a browser against the model."""

from __future__ import annotations

import contextlib
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from baytree import BayesianTreeClassifier, TreeSpaceClassifier, report
from tests.browser import Opened, launch
from tests.fuzzing.case import Case, Skipped


def check_page(case: Case) -> str:
    """Rows of the table, as a person fills them in: the page gives the probabilities of the model."""
    if case.n < 30:
        return "page: left out"
    y = (case.random.random(case.n) < 0.2) ^ (pd.factorize(case.table.iloc[:, 0])[0] % 2 == 1)
    if len({*y}) < 2:
        return "page: left out"
    model = (BayesianTreeClassifier() if case.random.random() < 0.7 else TreeSpaceClassifier(max_nodes=30)).fit(
        case.table, y
    )
    with contextlib.ExitStack() as stack:
        try:
            browser = stack.enter_context(contextlib.contextmanager(launch)())
        except (pytest.skip.Exception, pytest.fail.Exception) as reason:
            raise Skipped(str(reason)) from None
        path = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "page.html"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            report.write(model, case.table, y, path, folds=2)
        opened = Opened(browser, path)
        for row in case.random.choice(case.n, 8, replace=False).tolist():
            values = {i: _written(case.table.iloc[row, i], kind, model, i) for i, kind in enumerate(case.kinds)}
            answer = opened.answer(values)
            np.testing.assert_allclose(answer, model.predict_proba(case.table.iloc[[row]])[0], rtol=1e-9, atol=1e-12)
        assert not opened.faults, opened.faults
    return "page"


def _written(value, kind, model, feature) -> str:
    """What a field of the form takes: a number, 0 or 1, or the position of a category."""
    if pd.isna(value):
        return ""
    if kind == "truth":
        return str(int(value))
    categories = model.schema_.columns[feature].categories
    return repr(float(value)) if categories is None else str(categories.tolist().index(value))
