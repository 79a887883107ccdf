"""Two models on the same rows: figures against scikit-learn's, paired intervals by simulation, decisions of both."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score, root_mean_squared_error
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, compare
from baytree.decision import Decision
from baytree.evaluation import compare_predictions

DATA = load_breast_cancer(as_frame=True)
X, Y = DATA.data, DATA.target_names[DATA.target]
TRAIN, TEST = np.arange(len(Y)) % 2 == 0, np.arange(len(Y)) % 2 == 1
TREE = BayesianTreeClassifier(decision={"malignant": {"benign": 5}}).fit(X[TRAIN], Y[TRAIN])
LINEAR = make_pipeline(StandardScaler(), LogisticRegression(C=0.01)).fit(X[TRAIN], Y[TRAIN])


def by_name(comparison):
    return {figure.name: figure for figure in comparison.figures}


def test_figures_are_those_of_scikit_learn():
    figures = by_name(compare(TREE, LINEAR, X[TEST], Y[TEST]))
    is_malignant = Y[TEST] == "malignant"
    for part, model in (("first", TREE), ("second", LINEAR)):
        p = model.predict_proba(X[TEST])
        decided = np.where(p[:, 1] >= 1 / 6, "malignant", "benign")  # 5 : 1, for the linear model too
        figure = {name: getattr(compared, part) for name, compared in figures.items()}
        assert float(figure["Area under the curve"]) == pytest.approx(roc_auc_score(is_malignant, p[:, 1]))
        assert float(figure["Gini"]) == pytest.approx(2 * roc_auc_score(is_malignant, p[:, 1]) - 1)
        assert float(figure["Log loss"]) == pytest.approx(log_loss(Y[TEST], p))
        assert float(figure["Accuracy"]) == pytest.approx(accuracy_score(Y[TEST], decided))
        missed, wrongly = is_malignant & (decided == "benign"), ~is_malignant & (decided == "malignant")
        assert float(figure["Expected cost"]) == pytest.approx((5 * missed + wrongly).mean())
    for compared in figures.values():
        assert float(compared.difference) == pytest.approx(float(compared.second) - float(compared.first))


def test_the_positive_class_turns_rates_and_not_differences():
    malignant, benign = (compare(TREE, LINEAR, X[TEST], Y[TEST], positive=name) for name in ("malignant", "benign"))
    assert malignant.positive == "malignant"
    assert str(malignant).count("observed malignant") == str(benign).count("observed benign") == 1
    for one, other in zip(malignant.swaps, benign.swaps, strict=True):
        assert float(one.rate) == pytest.approx(1 - float(other.rate))
    for name, figure in by_name(malignant).items():
        assert float(figure.difference) == pytest.approx(float(by_name(benign)[name].difference), abs=1e-12)


def test_swap_sets_are_counts_of_both_decisions():
    actions = {"malignant": "operate", "benign": "send home"}
    comparison = compare(TREE, LINEAR, X[TEST], Y[TEST], actions=actions, names=("tree", "line"))
    table = pd.DataFrame(
        {
            "tree": np.where(TREE.predict(X[TEST]) == "malignant", "operate", "send home"),
            "line": np.where(LINEAR.predict_proba(X[TEST])[:, 1] >= 1 / 6, "operate", "send home"),
            "bad": Y[TEST] == "malignant",
        }
    )
    counts = table.groupby(["tree", "line"])["bad"].agg(["size", "mean"])
    assert {(s.first, s.second): (s.n, float(s.rate)) for s in comparison.swaps} == {
        pair: (row["size"], pytest.approx(row["mean"])) for pair, row in counts.iterrows()
    }
    assert "tree       line       rows" in str(comparison)


def test_folds_fit_copies_and_leave_the_models_alone():
    tree, linear = BayesianTreeClassifier(), make_pipeline(StandardScaler(), LogisticRegression())
    comparison = compare(tree, linear, X, Y, folds=4)
    assert not hasattr(tree, "fitted_")
    assert comparison.method.startswith("4-fold cross-validation")
    assert "Expected cost" not in by_name(comparison)
    assert 0.9 < float(by_name(comparison)["Area under the curve"].first) < 1


def test_a_model_compared_with_itself_is_not_better():
    comparison = compare(TREE, TREE, X[TEST], Y[TEST])
    assert comparison.names == ("BayesianTreeClassifier 1", "BayesianTreeClassifier 2")
    for figure in comparison.figures:
        assert (figure.difference.low, float(figure.difference), figure.difference.high) == (0, 0, 0)
        assert figure.better is None
    assert [swap.first for swap in comparison.swaps] == [swap.second for swap in comparison.swaps]


def test_numbers_and_many_classes():
    table, y = load_diabetes(return_X_y=True)
    tree, line = BayesianTreeRegressor().fit(table[::2], y[::2]), LinearRegression().fit(table[::2], y[::2])
    figures = by_name(compare(tree, line, table[1::2], y[1::2]))
    assert float(figures["R squared"].second) == pytest.approx(r2_score(y[1::2], line.predict(table[1::2])))
    rmse = root_mean_squared_error(y[1::2], tree.predict(table[1::2]))
    assert float(figures["Root mean squared error"].first) == pytest.approx(rmse)
    flowers, kinds = load_iris(return_X_y=True)
    several = compare(BayesianTreeClassifier(), DecisionTreeClassifier(random_state=0), flowers, kinds, folds=3)
    assert several.positive is None
    assert [figure.name for figure in several.figures] == ["Log loss", "Accuracy"]
    assert "second is right" in str(several)
    assert several.to_dict()["figures"]["Accuracy"]["first"]["estimate"] > 0.9


def test_weights_count_as_rows_do():
    weight = np.where(np.arange(TEST.sum()) % 3 == 0, 2, 1)
    again = np.repeat(np.arange(TEST.sum()), weight)
    one = compare(TREE, LINEAR, X[TEST], Y[TEST], sample_weight=weight)
    other = compare(TREE, LINEAR, X[TEST].iloc[again], Y[TEST][again])
    for first, second in zip(one.figures, other.figures, strict=True):
        assert float(first.difference) == pytest.approx(float(second.difference))
        assert first.difference.low == pytest.approx(second.difference.low)


class _Given(BaseEstimator):
    """Predicts a column of the table."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.classes_, self.is_fitted_ = np.array([0, 1]), True
        return self


class GivenNumbers(RegressorMixin, _Given):
    def predict(self, X):
        return X[:, self.column]


def test_nine_in_ten_paired_intervals_hold():
    """Log loss, cost and accuracy of two fixed scores for classes, R squared and both errors for numbers."""
    random = np.random.RandomState(0)
    rules, costs = [Decision(), Decision()], [[0, 1], [4, 0]]

    def classes(n):
        z, more = random.normal(size=(2, n))
        y = (random.random(n) < 1 / (1 + np.exp(1 - z - 0.7 * more))).astype(int)
        p = [1 / (1 + np.exp(1 - z)), 1 / (1 + np.exp(1.3 - 0.8 * z - 0.9 * more))]
        both = [np.column_stack([1 - p_second, p_second]) for p_second in p]
        return compare_predictions(y, np.array([0, 1]), both, rules, np.ones(n), ("a", "b"), "", costs=costs).figures

    tree = BayesianTreeRegressor(prune=False).fit(np.zeros((20, 2)), np.arange(20.0))

    def numbers(n):
        table = random.normal(size=(n, 2))
        y = 2 + table @ [1.0, 0.5] + random.standard_t(6, n)
        return compare(tree, GivenNumbers(0).fit(None, None), table, y).figures

    for draw in (classes, numbers):
        truth = {figure.name: float(figure.difference) for figure in draw(400_000)}
        held = {name: [] for name in truth}
        for _ in range(300):
            for figure in draw(300):
                held[figure.name].append(figure.difference.low <= truth[figure.name] <= figure.difference.high)
        for name, hits in held.items():
            assert 0.85 <= np.mean(hits) <= (0.98 if name == "KS" else 0.95), name


class GivenClasses(ClassifierMixin, _Given):
    def predict(self, X):
        return (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        ((LINEAR, LINEAR), {}, "needs a model of baytree as one of the two"),
        ((TREE, Ridge()), {}, "One of the models predicts classes"),
        ((TREE, LINEAR), {"positive": "malign"}, "positive names the class 'malign'"),
        ((TREE, LINEAR), {"actions": {"bad": "decline"}}, "actions names the class 'bad'"),
        ((TREE, LINEAR), {"costs": 0.3}, "costs must be a matrix"),
        ((TREE, LINEAR), {"groups": Y}, "groups are for folds"),
        (
            (TREE, GridSearchCV(DecisionTreeClassifier(), {}).fit(X[TRAIN], Y[TRAIN] == "benign")),
            {},
            "different classes",
        ),
    ],
)
def test_bad_input_is_refused(models, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        compare(*models, X, Y, **options)
    with pytest.raises(TypeError, match="no predict_proba"):
        compare(BayesianTreeClassifier(), GivenClasses(), X.to_numpy(), Y == "benign", folds=2)
