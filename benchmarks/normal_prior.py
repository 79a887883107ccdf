"""Choose the default prior of the normal outcome by measurement: ``python -m benchmarks.normal_prior DATA``.

On every regression table of a folder, 5-fold, with pruning and calibration: mean negative log predictive density (in
units of the standard deviation of y), share of test rows inside the 90 % interval, and R2. The prior has kappa, alpha
and beta = alpha times noise times the variance of y; the noise is what is left of the variance of y within the leaves
of a tree that was grown with another noise, from all of the variance on, some passes long.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold

from baytree import BayesianTreeRegressor

from .data import raw_table

KAPPAS = (0.02, 0.1, 0.5, "noise", "noise / 2")
ALPHAS = (1.0, 2.0, 5.0)
PASSES = (0, 1, 2, 4)


def prior_of(X: Any, y: Any, kappa: float | str, alpha: float, passes: int) -> list[float]:
    """The prior after some passes."""
    noise = 1.0
    for remaining in range(passes, -1, -1):
        kappa_now = {"noise": noise, "noise / 2": noise / 2}[kappa] if isinstance(kappa, str) else kappa
        prior = [y.mean(), kappa_now, alpha, alpha * noise * y.var()]
        if remaining:
            leaf = BayesianTreeRegressor(prior=prior, prune=False, calibrate=False).fit(X, y).apply(X)
            n, s, q = (np.bincount(leaf, weights=values) for values in (np.ones(len(y)), y, y * y))
            noise = float((q - s * s / np.maximum(n, 1)).sum() / len(y) / y.var())
    return prior


def score(X: Any, y: Any, *setting: Any) -> tuple[float, float, float]:
    """Cross-validate one setting."""
    density, inside, predicted = [], [], np.empty(len(y))
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        model = BayesianTreeRegressor(prior=prior_of(X.iloc[train], y[train], *setting)).fit(X.iloc[train], y[train])
        density.append(-model.predict_dist(X.iloc[test]).logpdf(y[test]).mean() - np.log(y.std()))
        low, high = model.predict_interval(X.iloc[test], level=0.9).T
        inside.append(np.mean((y[test] >= low) & (y[test] <= high)))
        predicted[test] = model.predict(X.iloc[test])
    return float(np.mean(density)), float(np.mean(inside)), float(r2_score(y, predicted))


def main(folder: Path) -> None:
    """Print one line a setting, best mean density first."""
    tables = {path.stem.removeprefix("reg_"): raw_table(path) for path in sorted(folder.glob("reg_*.csv"))}
    tables = {name: (X, y.astype(float)) for name, (X, y) in tables.items()}
    rows = {}
    for setting in itertools.product(KAPPAS, ALPHAS, PASSES):
        rows[setting] = [score(X, y, *setting) for X, y in tables.values()]
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print("| kappa | alpha | passes | mean density | mean R2 | " + " | ".join(tables) + " |")
    print("|---" * (5 + len(tables)) + "|")
    for setting, of_tables in sorted(rows.items(), key=lambda row: np.mean(row[1], axis=0)[0]):
        density, _, r2 = np.mean(of_tables, axis=0)
        cells = [f"{d:.2f} / {inside:.3f} / {r2:.2f}" for d, inside, r2 in of_tables]
        print(f"| {' | '.join(map(str, setting))} | {density:.3f} | {r2:.3f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
