"""Explanations and what notebooks show: complete, safe with any name, fit for JSON."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn import config_context
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor
from baytree.explain import tree_html
from baytree.export import to_frame, to_rules, to_text
from tests import strategies
from tests.own_outcomes import Mean
from tests.safe_html import assert_safe

HOSTILE = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "🌳 & <b>tree</b>",
    "\u202eעברית العربية",
    "x" * 10_000,
    "</details></div>",
]


GOLDEN = """\
malignant
because worst concave points = 0.2575 > 0.13505  (+0.4371; split beyond doubt; column 95.1 %, else worst concavity \
3.5 %)
despite worst perimeter = 98.87 <= 105.95  (-0.3029; split beyond doubt; column 73.4 %, else worst radius 18.5 %)
leaf 3, 25 training rows, Beta(22, 23):
    benign: 0.4889  (90 % between 0.3678 and 0.6106)
    malignant: 0.5111  (90 % between 0.3894 and 0.6322)
to change it: worst concave points from 0.2575 to at most 0.13505 -> benign (0.9588; like 320 training rows)
or: worst perimeter from 98.87 to more than 105.95 but at most 117.45, and worst smoothness from 0.2098 to at most \
0.1361 -> benign (0.6667; like 34 training rows)
not used: mean radius, mean texture, mean perimeter, mean area, mean smoothness and 23 more"""


def cancer(**parameters):
    data = load_breast_cancer(as_frame=True)
    return BayesianTreeClassifier(**parameters).fit(data.data, data.target_names[data.target]), data.data


def test_an_explanation_of_breast_cancer():
    model, X = cancer(prior="paper", partition_prior="paper", prune=False, calibrate=False)
    row = X[model.apply(X) == 3][:1]
    assert str(model.explain(row)[0]) == GOLDEN


@strategies.examples(0.6)
@given(strategies.fitted_trees())
def test_explanations_are_complete(fitted):
    model, X = fitted
    matrix, tree = model._read_all(X).matrix, model.tree_
    for row, explanation in zip(matrix, model.explain(X), strict=True):
        leaf = tree.apply(row[None, :])[0]
        used = {int(tree.feature[node]) for node in tree.path(leaf)[:-1]}
        assert explanation.unused == tuple(f"x{i}" for i in range(len(row)) if i not in used)
        assert list(explanation.posterior.values()) == tree.calibrated[leaf].tolist()
        assert len(explanation.steps) == tree.depth[leaf]
        document = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
        assert document == explanation.to_dict()
        assert_safe(explanation._repr_html_())
    assert_safe(tree_html(model.fitted_.readable))


def hostile_problem():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({name: random.normal(size=400) for name in HOSTILE})
    frame["kinds <i>"] = random.choice(HOSTILE, 400)
    y = frame[HOSTILE[0]] + frame["kinds <i>"].isin(HOSTILE[:3]) + 0.5 * frame[HOSTILE[3]] > 0.5
    return frame, np.where(y, HOSTILE[0], HOSTILE[2])


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_no_name_can_break_out(kind):
    frame, y = hostile_problem()
    if kind == "classes":
        model = BayesianTreeClassifier(prior=0.3).fit(frame, y)
    else:
        model = BayesianTreeRegressor().fit(frame, y == HOSTILE[0])
    assert model.get_n_leaves() > 3
    cases = pd.concat(
        [frame[:20], frame[:1].assign(**{"kinds <i>": ["<u>new</u>"]}), pd.DataFrame({name: [None] for name in frame})]
    )
    for explanation in model.explain(cases):
        assert_safe(explanation._repr_html_())
        assert str(explanation)
        json.dumps(explanation.to_dict(), allow_nan=False)
    assert_safe(tree_html(model.fitted_.readable))
    assert HOSTILE[0] in to_text(model)
    assert HOSTILE[0] in str(to_rules(model))
    assert any(HOSTILE[0] in rule for rule in to_frame(model)["rule"])
    assert HOSTILE[0] not in model._repr_html_()


def test_rows_may_lack_values_and_have_new_categories():
    frame, y = hostile_problem()
    model = BayesianTreeClassifier(prior=0.3).fit(frame, y)
    empty = pd.DataFrame({name: [None] for name in frame})
    explanation = model.explain(empty)[0]
    assert not any(step.seen for step in explanation.steps)
    assert explanation.nearest.changes[0].old is None


def test_missing_values_in_hyperplanes_are_told():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = BayesianTreeClassifier(partitions="oblique").fit(X[["worst area", "worst smoothness"]], y)
    row = pd.DataFrame({"worst area": [700.0], "worst smoothness": [np.nan]})
    step = model.explain(row)[0].steps[0]
    assert step.filled == (("worst smoothness", pytest.approx(X["worst smoothness"].mean())),)
    assert "where worst smoothness is missing and counts as 0.132" in str(step)


def test_one_leaf_uses_nothing():
    model = BayesianTreeClassifier().fit([[1.0, 2.0]] * 4, ["a", "b"] * 2)
    explanation = model.explain([[5.0, 6.0]])[0]
    assert explanation.unused == ("x0", "x1")
    assert str(explanation).splitlines()[1] == "leaf 0, 4 training rows, Beta(3, 3):"
    assert str(explanation).splitlines()[-1] == "not used: x0, x1"
    assert "<details" not in tree_html(model.fitted_.readable)


def test_one_row_and_many_rows_say_the_same():
    model, X = cancer()
    many = model.explain(X[:20])
    assert [model.explain(X[i : i + 1])[0] for i in range(20)] == many


def test_intervals_that_have_no_number_are_none_in_json():
    model = BayesianTreeRegressor(prior=[0.0, 1.0, 1e-9, 1.0]).fit([[0.0]], [1.0])
    document = model.explain([[0.0]])[0].to_dict()
    json.dumps(document, allow_nan=False)


def test_outcomes_without_distributions_have_no_interval():
    model = BayesianTreeRegressor(outcome=Mean()).fit([[0.0], [1.0]] * 10, [0.0, 1.0] * 10)
    explanation = model.explain([[0.0]])[0]
    assert "between" not in str(explanation)
    assert list(explanation.posterior) == ["p0", "p1"]
    assert explanation.to_dict()["interval"] == {"mean": [None, None], "outcome": [None, None]}
    assert_safe(tree_html(model.fitted_.readable))


@pytest.mark.parametrize(
    "estimator", [BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor]
)
def test_notebooks_show_the_tree_below_the_box_of_scikit_learn(estimator):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    y = y > 140 if "Classifier" in estimator.__name__ else y
    model = estimator()
    assert "<details open>" not in model._repr_html_()
    assert "sk-container" in model._repr_html_()
    model.fit(X, y)
    tree = tree_html(model.fitted_.readable)
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "sk-container" in html
        assert html.endswith(tree)
    assert "<summary>" in tree
    assert "90 % between" in tree
    with config_context(display="text"):
        assert not hasattr(model, "_repr_html_")
        assert list(model._repr_mimebundle_()) == ["text/plain"]
    assert "sk-container" in make_pipeline(StandardScaler(), model)._repr_html_()


def test_notebooks_show_three_levels():
    random = np.random.default_rng(0)
    X = random.normal(size=(3000, 4))
    model = BayesianTreeRegressor().fit(X, np.sin(3 * X).sum(axis=1))
    tree = tree_html(model.fitted_.readable)
    assert model.get_depth() > 3
    assert tree.count("<details") == np.sum(~model.tree_.is_leaf & (model.tree_.depth < 3))
    assert tree.count("…") == np.sum(~model.tree_.is_leaf & (model.tree_.depth == 3))
