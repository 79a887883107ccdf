"""What is decided for, given probabilities: in predict, in words, in files, through scikit-learn's wrappers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import make_scorer, recall_score
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, engines, explanations, load
from baytree.export import from_dict, to_dict, to_text
from tests.databases import scored_by_sql
from tests.documents import signed

DATA = load_breast_cancer(as_frame=True)
X, Y = DATA.data, DATA.target_names[DATA.target]
ESTIMATORS = [BayesianTreeClassifier, TreeSpaceClassifier]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_threshold_is_for_the_second_class(kind):
    model = kind(decision=0.2).fit(X, Y)
    malignant = model.predict_proba(X)[:, 1] >= 0.2
    assert_array_equal(model.predict(X), np.where(malignant, "malignant", "benign"))
    assert 0 < malignant.mean() < 1
    assert (model.predict(X) != kind().fit(X, Y).predict(X)).any()


@pytest.mark.parametrize("kind", ESTIMATORS)
@given(st.lists(st.floats(-5, 5), min_size=9, max_size=9))
def test_costs_are_the_least_that_are_expected(kind, costs):
    table, y = load_iris(return_X_y=True)
    matrix = np.reshape(costs, (3, 3))
    model = kind(decision=matrix, **({"max_nodes": 20} if kind is TreeSpaceClassifier else {})).fit(table, y)
    expected = model.predict_proba(table) @ matrix
    decided = expected[np.arange(len(y)), model.predict(table)]
    assert np.all(decided <= expected.min(axis=1) + 1e-12)


def test_costs_by_label_leave_other_errors_at_one():
    by_label = BayesianTreeClassifier(decision={"malignant": {"benign": 9}}).fit(X, Y)
    matrix = BayesianTreeClassifier(decision=[[0, 1], [9, 0]]).fit(X, Y)
    threshold = BayesianTreeClassifier(decision=0.1).fit(X, Y)
    assert_array_equal(by_label.predict(X), matrix.predict(X))
    assert_array_equal(by_label.predict(X), threshold.predict(X))
    assert by_label.fitted_.decision.threshold_of_positive(2) == pytest.approx(0.1)


@pytest.mark.parametrize("decision", [None, 0.3, [[0.0, 1.0], [5.0, 0.0]], {"malignant": {"benign": 5.0}}])
def test_everything_says_the_same_decision(decision, tmp_path):
    model = BayesianTreeClassifier(decision=decision).fit(X, Y)
    said = model.predict(X)
    assert [explanation.decision for explanation in model.explain(X[:60])] == said[:60].tolist()
    for explanation in model.explain(X[:60]):
        assert (decision is None) == (explanation.note == "")
        for change in explanation.changes:
            assert change.decision != explanation.decision
    for label in np.unique(said):
        assert f"{label}  p=" in to_text(model)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert_array_equal(again.predict(X), said)
    assert again.fitted_.decision.text(("benign", "malignant")) == model.fitted_.decision.text(("benign", "malignant"))
    assert_array_equal(model.partial_fit(X[:1], Y[:1]).predict(X[40:60]), said[40:60])


def test_rules_are_told_in_words():
    careful = BayesianTreeClassifier(decision=0.3).fit(X, Y)
    said = "(decided: malignant if its probability is at least 30 %, otherwise benign)"
    assert str(careful.explain(X[:1])[0]).splitlines()[1] == said

    def text(decision):
        return BayesianTreeClassifier(decision=decision).fit(X, Y).fitted_.decision.text(("benign", "malignant"))

    assert text(None) == "the most probable class"
    assert text(0.3) == "malignant if its probability is at least 30 %, otherwise benign"
    assert text([[0, 1], [5, 0]]) == (
        "the class with the lowest expected cost (benign for malignant costs 5, any other error 1)"
    )
    assert text([[0, 1], [1, 0]]) == "the class with the lowest expected cost (every error 1)"


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_wrappers_of_scikit_learn_keep_their_explanations(kind):
    fixed = FixedThresholdClassifier(kind(), threshold=0.2).fit(X, Y)
    assert [one.decision for one in explanations(fixed, X[:80])] == (
        fixed.predict(X[:80]).tolist()
        if kind is BayesianTreeClassifier
        else kind(decision=0.2).fit(X, Y).readable_tree_.predict(X[:80]).tolist()
    )
    with_rule = kind(decision=0.2).fit(X, Y)
    assert_array_equal(with_rule.predict(X), fixed.predict(X))
    frozen = FixedThresholdClassifier(FrozenEstimator(kind().fit(X, Y)), threshold=0.2).fit(X, Y)
    assert_array_equal(frozen.predict(X), fixed.predict(X))
    assert [str(one) for one in explanations(frozen, X[:5])] == [str(one) for one in with_rule.explain(X[:5])]


def test_the_first_class_may_be_the_one_that_a_wrapper_looks_for():
    fixed = FixedThresholdClassifier(BayesianTreeClassifier(), threshold=0.8, pos_label="benign").fit(X, Y)
    assert [one.decision for one in explanations(fixed, X)] == fixed.predict(X).tolist()


def test_tuned_thresholds_and_pipelines():
    scorer = make_scorer(recall_score, pos_label="malignant")
    tuned = TunedThresholdClassifierCV(
        make_pipeline(StandardScaler(), BayesianTreeClassifier()).set_output(transform="pandas"), scoring=scorer, cv=3
    ).fit(X, Y)
    assert [one.decision for one in explanations(tuned, X[:80])] == tuned.predict(X[:80]).tolist()
    assert cross_val_score(BayesianTreeClassifier(decision=0.1), X, Y, scoring=scorer, cv=3).mean() > 0.9


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        (0.0, r"decision must be a number in \(0, 1\)"),
        ("high", "decision must be None, a threshold"),
        ([[0, 1]], r"so of shape \(2, 2\); got shape \(1, 2\)"),
        ([[0, np.nan], [1, 0]], "a cost that is not finite"),
        ({"bad": {"benign": 2}}, "names the class 'bad'"),
        ({"benign": 3}, r"a number in \(0, 1\)"),
        ({"benign": 3, "malignant": 2}, "must be a dict of dicts"),
        ({"begnin": 0.3}, "names the class 'begnin', which is not one of"),
        ({"benign": {"malignant": "much"}}, "The cost of 'malignant' for 'benign' in decision must be a number"),
    ],
)
def test_bad_input_is_refused(decision, message):
    with pytest.raises((ValueError, TypeError), match=message):
        BayesianTreeClassifier(decision=decision).fit(X, Y)


def test_a_threshold_needs_two_classes():
    with pytest.raises(ValueError, match="a threshold for one of two classes, y has 3: give costs"):
        BayesianTreeClassifier(decision=0.3).fit(*load_iris(return_X_y=True))


def test_damaged_rules_are_refused():
    document = to_dict(BayesianTreeClassifier(decision=0.3, max_depth=1).fit(X, Y))
    for damage in (
        {"decision": document["decision"] | {"threshold": 1.5}},
        {"decision": document["decision"] | {"positive": 2}},
        {"decision": document["decision"] | {"costs": {"array": "<f8", "shape": [1, 2], "values": [0.0, 1.0]}}},
        {"unseen": "somewhere"},
    ):
        with pytest.raises(ValueError, match="model is damaged"):
            from_dict(signed(document | damage))
    numbers = BayesianTreeRegressor(max_depth=1).fit(X, X["mean area"])
    wrong = to_dict(numbers)
    with pytest.raises(ValueError, match="model is damaged"):
        from_dict(signed(wrong | {"decision": wrong["decision"] | {"threshold": 0.5}}))


@pytest.mark.parametrize("decision", [0.2, {"malignant": {"benign": 9}}])
def test_exports_carry_the_decision(decision):
    model = BayesianTreeClassifier(decision=decision).fit(X, Y)
    assert scored_by_sql(model, X[:80])["prediction"].tolist() == model.predict(X[:80]).tolist()
    space = TreeSpaceClassifier(max_nodes=20, decision=decision).fit(X, Y)
    assert scored_by_sql(space, X[:80])["prediction"].tolist() == space.predict(X[:80]).tolist()


@pytest.mark.filterwarnings("ignore")  # between Ibis and pandas
def test_tables_in_databases_are_decided_alike():
    ibis = pytest.importorskip("ibis")
    table = X.iloc[:, :5].rename(columns=lambda name: name.replace(" ", "_"))
    model = BayesianTreeClassifier(decision=0.2).fit(table, Y)
    said = (
        engines.predict(model, ibis.memtable(pa.Table.from_pandas(table.assign(place=range(len(table))))))
        .order_by("place")
        .to_pyarrow()
    )
    assert said["prediction"].to_pylist() == model.predict(table).tolist()
    averaging = BayesianTreeClassifier(unseen="average", decision=0.2).fit(table, Y)
    rows = table.assign(place=range(len(table))).mask(
        np.random.default_rng(0).random((len(table), 6)) < [0.3] * 5 + [0]
    )
    said = engines.predict(averaging, ibis.memtable(pa.Table.from_pandas(rows))).order_by("place").to_pyarrow()
    assert said["prediction"].to_pylist() == averaging.predict(rows[table.columns]).tolist()


def test_a_threshold_may_name_its_class():
    model = BayesianTreeClassifier(decision={"benign": 0.9}).fit(X, Y)
    assert_array_equal(model.predict(X) == "benign", model.predict_proba(X)[:, 0] >= 0.9)
    assert model.fitted_.decision.positive == 0
    assert model.fitted_.decision.text(("benign", "malignant")).startswith("benign if its probability is at least 90 %")


@pytest.mark.parametrize("decision", [None, 0.3, {"benign": 0.7}, {"malignant": {"benign": 5}}, [[0, 3], [1, 0]]])
@pytest.mark.parametrize("positive", [0, 1])
def test_a_rule_is_the_same_in_terms_of_either_class(decision, positive):
    rule = BayesianTreeClassifier(decision=decision).fit(X, Y).fitted_.decision
    second = np.linspace(0, 1, 1001)
    both = np.column_stack([1 - second, second])
    turned = rule.with_positive(positive)
    assert turned.positive == positive
    assert_array_equal(turned.codes(both), rule.codes(both))
    is_positive = both[:, positive] >= turned.threshold_of_positive(2)
    assert np.mean(is_positive == (rule.codes(both) == positive)) >= 0.999  # costs that are equal, but for rounding


def test_the_class_whose_errors_cost_more_is_the_positive_one():
    assert BayesianTreeClassifier(decision={"benign": {"malignant": 5}}).fit(X, Y).fitted_.decision.positive == 0
    assert BayesianTreeClassifier(decision={"malignant": {"benign": 5}}).fit(X, Y).fitted_.decision.positive == 1
