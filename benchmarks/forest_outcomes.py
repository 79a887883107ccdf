"""How deep trees of counts and durations should be, and what names of rows do.

``python -m benchmarks.forest_outcomes DATA``. Counts: three tables whose targets are whole numbers, 3,000 rows to fit
and 1,000 to test. Simulated: rare counts and durations, 2,000 rows to fit. Names: the credit approvals with a column of
text that has a name for every so many rows, five folds.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from baytree import BayesianForestClassifier, BayesianForestRegressor, BayesianTreeRegressor
from benchmarks.forest import variant

FACTORS = (1.0, 2.0, 4.0)


def models(outcome: str) -> dict[str, Any]:
    """One tree, and forests whose rows count so many times while they grow."""
    forests = {
        f"factor {factor:g}": variant(BayesianForestRegressor, {"forest_factor": factor}, outcome=outcome, n_jobs=-1)()
        for factor in FACTORS
    }
    return {"one tree": BayesianTreeRegressor(outcome=outcome)} | forests


def counts(folder: Path) -> None:
    """R2 and log probability of counts."""
    print("| table | outcome | model | R2 | −log probability |\n|---|---|---|---:|---:|")
    for name in ("abalone", "bike_hour", "wine_white"):
        table = pd.read_csv(folder / f"reg_{name}.csv").sample(4000, random_state=0)
        y = table.pop("target").to_numpy()
        train, test = slice(0, 3000), slice(3000, 4000)
        for outcome in ("poisson", "negative_binomial"):
            for what, model in models(outcome).items():
                model.fit(table[train], y[train])
                error = np.mean((model.predict(table[test]) - y[test]) ** 2) / y[test].var()
                surprise = -model.predict_dist(table[test]).logpmf(y[test]).mean()
                print(f"| {name} | {outcome} | {what} | {1 - error:.3f} | {surprise:.3f} |", flush=True)


def simulated(what: str, random: np.random.Generator) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Rows, their outcomes, the true means, and what `fit` takes beside them; the first 2,000 rows are fitted."""
    X = random.uniform(size=(5000, 3))
    mean = 1 + 3 * X[:, 0] + 2 * (X[:, 1] > 0.5)
    if what == "rare counts":
        return X, random.poisson(mean / 10), mean / 10, {}
    time = random.exponential(mean)
    if what == "durations":
        return X, time, mean, {}
    end = random.uniform(0, 6, 5000)
    return X, np.where(np.arange(5000) < 2000, np.minimum(time, end), time), mean, {"event": (time <= end)[:2000]}


def noisy() -> None:
    """The share of the variance of the true mean that predictions explain; mean of five simulations."""
    print("\n| simulated | model | R2 of the true mean | −log density |\n|---|---|---:|---:|")
    train, test = slice(0, 2000), slice(2000, 5000)
    for what in ("rare counts", "durations", "censored durations"):
        by_model: dict[str, list[tuple[float, float]]] = {}
        for seed in range(5):
            X, y, mean, extras = simulated(what, np.random.default_rng(seed))
            for name, model in models("poisson" if what == "rare counts" else "exponential").items():
                model.fit(X[train], y[train], **extras)
                error = np.mean((model.predict(X[test]) - mean[test]) ** 2) / mean[test].var()
                distribution = model.predict_dist(X[test])
                log = distribution.logpmf if what == "rare counts" else distribution.logpdf
                by_model.setdefault(name, []).append((1 - error, -log(y[test]).mean()))
        for name, figures in by_model.items():
            r2, surprise = np.mean(figures, axis=0)
            print(f"| {what} | {name} | {r2:.2f} | {surprise:.3f} |", flush=True)


def names(folder: Path) -> None:
    """Accuracy and log loss with names of rows beside the other columns."""
    print("\n| rows of a name | accuracy | log loss | importance of the names |\n|---|---:|---:|---:|")
    table = pd.read_csv(folder / "clf_credit_approval.csv")
    y, random = table.pop("target"), np.random.default_rng(0)
    for rows_each in (0, 1, 2, 7, 23):
        named = table
        if rows_each:
            named = table.assign(name=[f"p{i // rows_each}" for i in random.permutation(len(y))])
        figures = []
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(named, y):
            model = BayesianForestClassifier(random_state=0, n_jobs=-1).fit(named.iloc[train], y.iloc[train])
            probability = model.predict_proba(named.iloc[test])
            importance = model.feature_importances_[-1] if rows_each else 0.0
            figures.append(
                (model.score(named.iloc[test], y.iloc[test]), log_loss(y.iloc[test], probability), importance)
            )
        accuracy, loss, importance = np.mean(figures, axis=0)
        print(f"| {rows_each or 'no names'} | {100 * accuracy:.1f} | {loss:.3f} | {importance:.3f} |", flush=True)


if __name__ == "__main__":
    counts(Path(sys.argv[1]))
    noisy()
    names(Path(sys.argv[1]))
