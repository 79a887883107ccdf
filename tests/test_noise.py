"""Noise is left whole: default trees split at most one in twenty tables whose columns tell nothing of the outcome."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from baytree import BayesianTreeClassifier, BayesianTreeRegressor
from baytree.outcomes import REGRESSION_OUTCOMES

N_ROWS, N_TABLES, SHARE = 150, 60, 0.05

COLUMNS = {
    "truth values": lambda random, n: random.integers(0, 2, n).astype(float),
    "few values": lambda random, n: random.integers(0, 5, n).astype(float),
    "real numbers": lambda random, n: random.normal(size=n),
    "categories": lambda random, n: pd.Categorical(random.choice(list("uvwxyz"), n)),
    "missing values": lambda random, n: np.where(random.random(n) < 0.3, np.nan, random.normal(size=n)),
}
CLASSES = {
    "two classes": lambda random, n: random.integers(0, 2, n),
    "a rare class": lambda random, n: (random.random(n) < 0.1).astype(int),
    "four classes": lambda random, n: random.integers(0, 4, n),
}
NUMBERS = {
    "normal": lambda random, n: random.normal(size=n),
    "poisson": lambda random, n: random.poisson(3.0, n),
    "negative_binomial": lambda random, n: random.negative_binomial(2, 0.4, n),
    "exponential": lambda random, n: random.exponential(2.0, n),
}


def n_split(outcome, kind):
    """How many of some tables of noise are split: two columns of one kind, and an outcome."""
    random = np.random.default_rng([*outcome.encode(), *kind.encode()])
    split = 0
    for _ in range(N_TABLES):
        X = pd.DataFrame({name: COLUMNS[kind](random, N_ROWS) for name in "ab"})
        model = BayesianTreeClassifier() if outcome in CLASSES else BayesianTreeRegressor(outcome=outcome)
        model.fit(X, (CLASSES | NUMBERS)[outcome](random, N_ROWS))
        split += model.get_n_leaves() > 1
    return split


def test_every_outcome_is_tried():
    assert set(NUMBERS) == set(REGRESSION_OUTCOMES)


@pytest.mark.parametrize("outcome", [*CLASSES, *NUMBERS])
def test_noise_is_not_split(outcome):
    """At most one table in twenty: in all kinds together as counted, in each kind as far as so few tables can tell."""
    counts = {kind: n_split(outcome, kind) for kind in COLUMNS}
    assert sum(counts.values()) <= SHARE * N_TABLES * len(COLUMNS), counts
    assert max(counts.values()) <= stats.binom(N_TABLES, SHARE).ppf(0.999), counts


def test_with_the_papers_prior_noise_in_truth_values_is_split():
    """What the default is for: its odds are 99 to 1 for a split, and a column of one threshold bears all of them."""
    random = np.random.default_rng(0)
    models = []
    for _ in range(20):
        X = random.integers(0, 2, (N_ROWS, 2)).astype(float)
        models.append(BayesianTreeClassifier(partition_prior="paper").fit(X, random.integers(0, 2, N_ROWS)))
    assert all(model.get_n_leaves() > 1 for model in models)
