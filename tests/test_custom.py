"""Outcomes that a user writes."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from baytree import BayesianTreeRegressor
from tests.comparison import every_array
from tests.own_outcomes import Counts

DOCS = Path(__file__).parents[1] / "docs"


def problem():
    random = np.random.default_rng(0)
    X = np.column_stack([random.normal(size=300), random.integers(0, 5, 300)])
    return X, random.poisson(np.where(X[:, 0] > 0, 8, 3) + X[:, 1]), random.uniform(0.5, 2, 300)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_outcome_written_in_numpy_equals_the_built_in(smoothing, weighted):
    X, y, weight = problem()
    weight = weight if weighted else None
    custom = BayesianTreeRegressor(outcome=Counts(), smoothing=smoothing).fit(X, y, sample_weight=weight)
    built_in = BayesianTreeRegressor(outcome="poisson", prior=Counts.prior, smoothing=smoothing)
    built_in.fit(X, y, sample_weight=weight)
    assert built_in.get_n_leaves() > 2
    for name, array in every_array(built_in.tree_).items():
        if name != "statistics":  # the built-in one adds up a factor of the likelihood besides
            assert_allclose(getattr(custom.tree_, name), array, rtol=1e-9, atol=1e-9, err_msg=name)
    assert_allclose(custom.predict_interval(X), built_in.predict_interval(X))
    assert_allclose(custom.predict(X, return_std=True), built_in.predict(X, return_std=True))


def test_evidence_and_partial_fit_and_pickle():
    X, y, _ = problem()
    model = BayesianTreeRegressor(outcome=Counts(), prior="evidence").fit(X[:200], y[:200])
    assert model.prior_.tolist() in Counts().candidates()
    updated = pickle.loads(pickle.dumps(model)).partial_fit(X[200:], y[200:])
    assert updated.tree_.n_node_samples[0] == 300
    assert_allclose(updated.tree_.posterior[0], np.add(model.prior_, [y.sum(), 300]))
    with pytest.raises(TypeError, match="pickle"):
        model.save("never-written.json")


def test_the_worked_example_of_the_docs_is_short():
    text = (DOCS / "your_outcome.md").read_text(encoding="utf-8")
    code = text[text.index("class Binomial") : text.index("random =")]
    assert len([line for line in code.splitlines() if line.strip()]) <= 40


class Broken(Counts):
    def __init__(self, **members):
        vars(self).update(members)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"log_marginal": lambda s, p: np.zeros(3)}, "log_marginal"),
        ({"log_marginal": lambda s, p: np.full(len(s), np.nan)}, "none of them NaN"),
        ({"statistics": lambda y: np.zeros((2, 3))}, "statistics"),
        ({"statistics": lambda y: np.full((len(y), 3), np.inf)}, "statistics"),
        ({"prior": np.array([np.nan, 1.0])}, "prior"),
    ],
)
def test_an_outcome_that_answers_nonsense_gets_one_clear_sentence(members, message):
    X, y, _ = problem()
    with pytest.raises(ValueError, match=message):
        BayesianTreeRegressor(outcome=Broken(**members)).fit(X, y)


def test_an_error_inside_of_an_outcome_reaches_its_author():
    def fails(statistics, prior):
        raise ZeroDivisionError("mine")

    X, y, _ = problem()
    with pytest.raises(ZeroDivisionError, match="mine"):
        BayesianTreeRegressor(outcome=Broken(log_marginal=fails), n_jobs=2).fit(X, y)
