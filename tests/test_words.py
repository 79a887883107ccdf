"""Numbers, shares and splits as people read them."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from baytree import BayesianTreeClassifier, BayesianTreeRegressor
from baytree._words import count_text, estimate_text, number_text, percent_text, range_text
from baytree.explain import tree_html
from baytree.export import to_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (59780.0, "59,780"),
        (570097.62183302, "570,098"),
        (-38411.5, "-38,411.5"),
        (1987.0, "1987"),
        (0.13505, "0.13505"),
        (0.1 + 0.2, "0.3"),
        (1234567890.0, "1,234,567,890"),
        (0.0, "0"),
        (-0.0, "0"),
        (1e-9, "1e-09"),
        (1.5e20, "1.5e+20"),
    ],
)
def test_values_are_written_out(number, text):
    assert number_text(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(59780.4, "59,780"), (177071.724, "177,072"), (12.3456, "12.35"), (0.98361, "0.9836"), (np.inf, "not finite")],
)
def test_estimates_have_four_digits(number, text):
    assert estimate_text(number) == text


@given(st.floats(0.001, 1e7))
def test_there_is_no_power_of_ten_where_people_count(number):
    for text in (number_text(number), estimate_text(number)):
        assert "e" not in text
        assert float(text.replace(",", "")) == pytest.approx(number, rel=1e-3)


def test_shares_and_counts():
    assert [percent_text(p) for p in (0, 0.0001, 0.3, 0.0412, 0.9999, 1)] == [
        "0 %",
        "< 0.1 %",
        "30 %",
        "4.1 %",
        "> 99.9 %",
        "100 %",
    ]
    assert range_text(0.025, 0.06, share=True) == "2.5 to 6 %"
    assert [count_text(1, "row"), count_text(48842, "row"), count_text(2, "leaf", "leaves")] == [
        "1 row",
        "48,842 rows",
        "2 leaves",
    ]


def test_no_question_is_put_in_the_negative():
    """Not "in {…}: no", not "is false: no"."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"colour": random.choice(list("abcdefg"), 900), "flag": random.random(900) < 0.5, "size": random.random(900)}
    )
    y = frame["colour"].isin(["a", "b"]) ^ frame["flag"]
    model = BayesianTreeClassifier(prior=0.5).fit(frame, y)
    for text in (to_text(model), tree_html(model.fitted_)):
        assert "not in {" not in text
        assert "is false" not in text
        assert "colour in {a, b}" in text
        assert "flag is true" in text
    for row, leaf in zip(frame[:50].itertuples(), model.apply(frame[:50]), strict=True):
        assert model.predict(frame[:50])[row.Index] == (model.tree_.value[leaf, 0, 1] > 0.5)


def test_a_number_is_explained_with_its_prediction_first_and_a_feature_once():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({"income": random.lognormal(11, 0.5, 3000).round(2), "age": random.uniform(20, 80, 3000)})
    model = BayesianTreeRegressor().fit(frame, np.sin(frame["income"] / 20000) * 3e4 + frame["age"] * 1e3)
    for explanation in model.explain(frame[:20]):
        lines = str(explanation).splitlines()
        assert re.match(r"predicted: [\d,.-]+  \(90 % between [\d,.-]+ and [\d,.-]+\); (above|at most) the", lines[0])
        reasons = [line for line in lines if line.startswith(("because", "despite", "    and"))]
        assert len(reasons) == len({step.feature for step in explanation.steps})
        assert "e+0" not in str(explanation)
