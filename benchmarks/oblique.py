"""Hyperplanes: what they pay, and how good they are: ``python -m benchmarks.oblique DATA``.

First the paper's sets under its protocol with charges of 0, a half and all of the log of the number of hyperplanes,
beside the axis tree; then, at the root of every set, our split against a global search of scipy.
"""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from unittest import mock

import numpy as np
from scipy.optimize import differential_evolution
from scipy.special import gammaln, logsumexp

from baytree import BayesianTreeClassifier
from baytree.estimators import Estimator
from baytree.growth import Engine
from baytree.outcomes import CategoricalOutcome, Target
from benchmarks.paper_sets import NAMES, load
from benchmarks.reproduce.runs import folds

CHARGES = (0.0, 0.5, 1.0)
OBLIQUE_SIZES = (2, 3, 4, 6, 8, 12, 20)
MOST_GENERATIONS = 100  # of differential evolution; its default is 1,000


def charges(folder: Path) -> None:
    """Accuracy, log loss and leaves by charge."""
    columns = ["axis", *(f"charge {charge:g}" for charge in CHARGES)]
    print("| set | " + " | ".join(f"{name}: accuracy | log loss | leaves" for name in columns) + " |")
    print("|---|" + "---:|" * (3 * len(columns)))
    means = []
    for name in NAMES:
        data = load(name, folder)
        rows = []
        for charge in (None, *CHARGES):
            kind = "axis" if charge is None else "oblique"
            models = {"": lambda kind=kind: BayesianTreeClassifier(partitions=kind)}
            with mock.patch.object(Estimator, "_engine", Engine(oblique_charge=charge or 0.0)):
                figures = [run.figures() for run in folds(data, models, 1)]
            rows.append([np.mean([f[key] for f in figures]) for key in ("accuracy", "log_loss", "leaves")])
        means.append(rows)
        print(line(name, rows), flush=True)
    print(line("mean", np.mean(means, axis=0)))


def line(name: str, rows) -> str:
    """One line of the table."""
    return f"| {name} | " + " | ".join(f"{100 * a:.1f} | {loss:.3f} | {leaves:.0f}" for a, loss, leaves in rows) + " |"


def best_split(projection, y, outcome) -> float:
    """Log likelihood of the best split along a direction: both sides of it, for every threshold."""
    order = np.argsort(projection, kind="stable")
    counts = np.cumsum(np.eye(2)[y[order]], axis=0)
    where = np.flatnonzero(np.diff(projection[order]) > 0)
    if len(where) == 0:
        return -np.inf
    lower, prior = counts[where], np.broadcast_to(outcome.prior, (len(where), 2))
    return float((outcome.log_marginal(prior, lower) + outcome.log_marginal(prior, counts[-1] - lower)).max())


def globally(X, y, outcome) -> tuple[float, float]:
    """Log likelihood of the best split that differential evolution finds in the given features, and its seconds."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    start = time.thread_time()
    best = differential_evolution(
        lambda w: -best_split(Z @ w, y, outcome), [(-1, 1)] * Z.shape[1], seed=0, tol=1e-6, maxiter=MOST_GENERATIONS
    )
    return -best.fun, time.thread_time() - start


def fit_one_split(X, y, partitions: str):
    """The tree of one split, and the fewest seconds it took one thread."""
    model, seconds = BayesianTreeClassifier(partitions=partitions, max_depth=1), []
    for _ in range(20):
        start = time.thread_time()
        model.fit(X, y)
        seconds.append(time.thread_time() - start)
    return model.tree_, min(seconds)


def log_prior(n_rows: int, n_features: int, size: int) -> float:
    """Log prior of a hyperplane of so many features, given a split."""
    ways = logsumexp([log_choose(n_rows - 1, i) for i in range(1, size + 1)])
    n_sizes = sum(k <= n_features for k in OBLIQUE_SIZES)
    return math.log(0.5 / n_sizes) - log_choose(n_features, size) - ways


def log_choose(n: int, k: int) -> float:
    """Log of the number of ways to choose k out of n."""
    return float(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def against_global_search(folder: Path) -> None:
    """The root of every set: our hyperplane, and those of a global search among its features and all."""
    searches = "search, same features | times slower | search, all features | times slower"
    print(f"\n| set | rows | features | ours | {searches} |")
    print("|---|---:|---|---:|---:|---:|---:|---:|")
    rows = []
    for name in NAMES:
        data = load(name, folder)
        chosen = np.unique(np.linspace(0, len(data.y) - 1, 5000).astype(int))
        X, y = data.X[chosen], np.unique(data.y[chosen], return_inverse=True)[1]
        X = X[:, X.std(axis=0) > 0]
        with mock.patch.object(Estimator, "_engine", Engine(oblique_share=1 - 1e-9)):  # no other split is in the way
            tree, seconds = fit_one_split(X, y, "oblique")
        seconds -= fit_one_split(X, y, "axis")[1]
        features = list(tree.split(0).features)
        outcome = CategoricalOutcome.of(Target(y), None)
        price = [log_prior(*X.shape, size) - tree.log_likelihood[0] for size in (len(features), X.shape[1])]
        same, same_seconds = globally(X[:, features], y, outcome)
        every, all_seconds = globally(X, y, outcome)
        scores = tree.log_likelihood_split[0] + price[0], same + price[0], every + price[1]
        rows.append([scores[0], scores[1], same_seconds / seconds, scores[2], all_seconds / seconds])
        print(
            f"| {name} | {X.shape[0]:,} | {len(features)} of {X.shape[1]} | {global_line(rows[-1])} |",
            flush=True,
        )
    print(f"| mean | | | {global_line(np.mean(rows, axis=0))} |")


def global_line(row) -> str:
    """Our score and those of the global searches, with their times."""
    ours, same, same_times, every, all_times = row
    return f"{ours:.1f} | {same:.1f} | {same_times:,.0f} | {every:.1f} | {all_times:,.0f}"


if __name__ == "__main__":
    charges(Path(sys.argv[1]))
    against_global_search(Path(sys.argv[1]))
