"""Models of random tables: against the oracle, in other frames, orders and weights, and through sequences of calls."""

from __future__ import annotations

import copy
import json
import pickle
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
from numpy.testing import assert_allclose, assert_array_equal

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, report
from baytree.export import to_rules, to_text
from tests.comparison import assert_same_classes, assert_same_tree
from tests.fuzzing.case import Case, assert_same_structure, polars_series
from tests.reference import outcomes as oracles

ORACLES = {
    "normal": oracles.Normal,
    "poisson": oracles.Poisson,
    "exponential": oracles.Exponential,
}


def check_oracle(case: Case) -> str:
    """Small tables of numbers and categories against the naive tree."""
    if case.n > 12 or case.outcome not in ORACLES:
        return "oracle: left out"
    codes = case.table.apply(lambda column: pd.factorize(column, sort=True)[0].astype(float))
    X = codes.where(case.table.notna(), np.nan).to_numpy(float)
    nominal = [i for i, kind in enumerate(case.kinds) if kind == "text"]
    options = case.options | {"partitions": "axis", "categorical_features": nominal}
    weight = [1.0] * case.n if case.weight is None else list(case.weight)
    if case.is_classifier:
        y = np.unique(case.y, return_inverse=True)[1]
        model = BayesianTreeClassifier(prior=0.5, **options).fit(X, y, case.weight)
        assert_same_classes(model, X, y, case.weight, options | {"prior": 0.5})
    else:
        model = BayesianTreeRegressor(outcome=case.outcome, **options).fit(X, case.y, case.weight)
        y = case.y.astype(float).tolist()
        assert_same_tree(model, X, ORACLES[case.outcome](y, weight), model.prior_, options, tolerance=1e-7)
    return "oracle"


def check_predictions(case: Case) -> str:
    """Probabilities sum to one, intervals are in order, threads change nothing, frames of two libraries agree."""
    model = case.tree().fit(case.table, case.y, case.weight)
    parallel = copy.deepcopy(model).set_params(n_jobs=3).fit(case.table, case.y, case.weight)
    assert_same_structure(model, parallel)
    interval = model.predict_interval(case.table)
    assert np.all(interval[..., 0] <= interval[..., 1])
    if case.is_classifier:
        probability = model.predict_proba(case.table)
        assert_allclose(probability.sum(axis=1), 1)
        assert np.all((interval >= 0) & (interval <= 1))
        assert np.all((interval[..., 0] <= probability + 1e-9) | (probability < 1e-9))
    polars = pl.DataFrame(
        [polars_series(case.table[name], kind) for name, kind in zip(case.table, case.kinds, strict=True)]
    )
    assert_array_equal(model.apply(polars), model.apply(case.table))
    return "predictions"


def check_order_of_rows(case: Case) -> str:
    """Check that any order of the rows grows the same tree."""
    place = case.random.permutation(case.n)
    one = case.tree(lookahead=0).fit(case.table, case.y, case.weight)
    other = copy.deepcopy(one).fit(
        case.table.iloc[place], case.y[place], None if case.weight is None else case.weight[place]
    )
    assert_same_structure(one, other)
    return "order of rows"


def check_weights(case: Case) -> str:
    """A weight of k is the row k times."""
    times = case.random.integers(1, 4, case.n)
    options = {"min_samples_leaf": 1, "lookahead": 0}
    weighted = case.tree(**options).fit(case.table, case.y, times.astype(float))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*equal to another one in X and y")  # they are copies
        repeated = copy.deepcopy(weighted).fit(case.table.loc[case.table.index.repeat(times)], np.repeat(case.y, times))
    assert_same_structure(weighted, repeated)
    assert_allclose(weighted.tree_.posterior, repeated.tree_.posterior, rtol=1e-7)
    return "weights"


def check_sequence(case: Case) -> str:
    """Fit, more rows, words, page: nothing fails, and what is refused leaves the model as it was."""
    model = case.tree().fit(case.table, case.y, case.weight)
    for _ in range(3):
        before = pickle.dumps(model.fitted_)
        try:
            model.partial_fit(case.table[: case.n // 2 + 1], case.y[: case.n // 2 + 1])
        except ValueError:
            assert pickle.dumps(model.fitted_) == before
    assert np.all(np.isfinite(model.tree_.posterior))
    for explanation in model.explain(case.table[:3]):
        assert str(explanation)
        assert json.dumps(explanation.to_dict(), allow_nan=False)
    assert to_text(model)
    assert str(to_rules(model))
    if case.random.random() < 0.1:
        with tempfile.TemporaryDirectory() as folder:
            report.write(model, case.table, case.y, Path(folder) / "page.html", folds=2)
    return "sequence"
