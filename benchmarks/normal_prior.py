"""Choose the default prior of the normal outcome by measurement: ``python -m benchmarks.normal_prior DATA``.

On every regression table of a folder, 5-fold: mean negative log predictive density (in units of the standard
deviation of y), share of test rows inside the 90 % interval, and R2, over a grid of kappa, alpha and noise; beta
is alpha times noise times the variance of y. A tree of scikit-learn tuned by cross-validation stands beside them.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.tree import DecisionTreeRegressor

from baytree import BayesianTreeRegressor

KAPPAS = (0.02, 0.1, 0.5, 2.0)
ALPHAS = (0.5, 1.0, 2.0, 5.0)
NOISES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def load(path: Path):
    """Read a table: text as codes, gaps as the column's median."""
    table = pd.read_csv(path)
    for column in table.select_dtypes(exclude="number"):
        table[column] = table[column].astype("category").cat.codes
    table = table.fillna(table.median())
    return table.drop(columns="target").to_numpy(float), table["target"].to_numpy(float)


def folds(X):
    """The same five folds for everybody."""
    return list(KFold(5, shuffle=True, random_state=0).split(X))


def score(X, y, make_prior) -> dict[str, float]:
    """Cross-validate one prior."""
    density, inside, predicted, leaves = [], [], np.empty(len(y)), []
    for train, test in folds(X):
        model = BayesianTreeRegressor(prior=make_prior(y[train])).fit(X[train], y[train])
        distribution = model.predict_dist(X[test])
        density.append(-distribution.logpdf(y[test]).mean() - np.log(y.std()))
        interval = model.predict_interval(X[test], level=0.9)
        inside.append(np.mean((y[test] >= interval[:, 0]) & (y[test] <= interval[:, 1])))
        predicted[test] = model.predict(X[test])
        leaves.append(model.get_n_leaves())
    return {
        "nlpd": float(np.mean(density)),
        "cover": float(np.mean(inside)),
        "r2": float(r2_score(y, predicted)),
        "leaves": float(np.mean(leaves)),
    }


def tuned_tree(X, y) -> float:
    """R2 of scikit-learn's tree with its pruning chosen by cross-validation."""
    predicted = np.empty(len(y))
    for train, test in folds(X):
        path = DecisionTreeRegressor(random_state=0).cost_complexity_pruning_path(X[train], y[train])
        alphas = np.unique(np.quantile(path.ccp_alphas, np.linspace(0, 1, 25)))
        search = GridSearchCV(DecisionTreeRegressor(random_state=0), {"ccp_alpha": alphas}, cv=5)
        predicted[test] = search.fit(X[train], y[train]).predict(X[test])
    return float(r2_score(y, predicted))


def prior_of(kappa: float, alpha: float, noise: float):
    """A prior as a function of y."""
    return lambda y: [y.mean(), kappa, alpha, alpha * noise * y.var()]


def main(folder: Path) -> None:
    """Print the table: one line a prior, one block a table, best mean density first."""
    tables = {path.stem.removeprefix("reg_"): load(path) for path in sorted(folder.glob("reg_*.csv"))}
    rows = {}
    for setting in itertools.product(KAPPAS, ALPHAS, NOISES):
        rows[setting] = {name: score(X, y, prior_of(*setting)) for name, (X, y) in tables.items()}
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{'kappa':>6s}{'alpha':>6s}{'noise':>6s} | mean nlpd | " + " | ".join(f"{name:>22s}" for name in tables))
    print(f"{'':19s}|{'':11s}| " + " | ".join(f"{'nlpd':>7s}{'cover':>8s}{'R2':>7s}" for _ in tables))
    for setting, by_table in sorted(rows.items(), key=lambda row: mean_density(row[1])):
        cells = [f"{s['nlpd']:7.3f}{s['cover']:8.3f}{s['r2']:7.3f}" for s in by_table.values()]
        print("".join(f"{x:6g}" for x in setting) + f" | {mean_density(by_table):9.4f} | " + " | ".join(cells))
    print("tuned CART, R2: " + ", ".join(f"{name} {tuned_tree(X, y):.3f}" for name, (X, y) in tables.items()))


def mean_density(by_table) -> float:
    """Mean over tables."""
    return float(np.mean([s["nlpd"] for s in by_table.values()]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
