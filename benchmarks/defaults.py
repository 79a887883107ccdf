"""Old and new defaults and the other models on every table of a folder: ``python -m benchmarks.defaults DATA``.

Raw tables: text is categorical, missing values stay missing. Five folds, shuffled, seed 0, where --repeats says so with
further seeds. Classes: accuracy, log loss, calibration error (15 bins), leaves. Numbers: R2, negative log density in
units of the standard deviation of y, share of test rows inside the 90 % interval, its width in the same units, leaves.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import accuracy_score, log_loss, r2_score
from sklearn.model_selection import KFold, StratifiedKFold

from baytree import BayesianTreeClassifier, BayesianTreeRegressor, TreeSpaceClassifier, TreeSpaceRegressor
from benchmarks.data import raw_table
from benchmarks.measure import calibration_error
from benchmarks.paper_sets import NAMES


class OldDefault(BayesianTreeRegressor):
    """Noise of a fifth of the variance of y, worth ten rows."""

    def fit(self, X: Any, y: Any) -> OldDefault:
        """Set the prior from y."""
        self.set_params(prior=[y.mean(), 0.02, 5.0, y.var()], prune=False, calibrate=False)
        super().fit(X, y)
        return self


PAPER_SETS = tuple(name for name in NAMES if name != "ripley")  # which has a part for testing
CLASSES: dict[str, Callable[[], Any]] = {
    "paper (the old default)": lambda: BayesianTreeClassifier(prior="paper", prune=False, partition_prior="paper"),
    "2 pseudo-observations": lambda: BayesianTreeClassifier(prune=False),
    "and pruned: the default": BayesianTreeClassifier,
    'prior="evidence"': lambda: BayesianTreeClassifier(prior="evidence"),
    "lookahead=1": lambda: BayesianTreeClassifier(lookahead=1),
    'leaf="linear"': lambda: BayesianTreeClassifier(leaf="linear"),
    'partitions="oblique"': lambda: BayesianTreeClassifier(partitions="oblique"),
    "tree space": TreeSpaceClassifier,
    "tree space, oblique": lambda: TreeSpaceClassifier(partitions="oblique"),
}
NUMBERS: dict[str, Callable[[], Any]] = {
    "the old default": OldDefault,
    "noise from the leaves": lambda: BayesianTreeRegressor(prune=False, calibrate=False),
    "and pruned": lambda: BayesianTreeRegressor(calibrate=False),
    "and calibrated: the default": BayesianTreeRegressor,
    'prior="evidence"': lambda: BayesianTreeRegressor(prior="evidence"),
    "prune=False": lambda: BayesianTreeRegressor(prune=False),
    "lookahead=1": lambda: BayesianTreeRegressor(lookahead=1),
    'leaf="linear"': lambda: BayesianTreeRegressor(leaf="linear"),
    'partitions="oblique"': lambda: BayesianTreeRegressor(partitions="oblique"),
    "tree space": TreeSpaceRegressor,
    "tree space, oblique": lambda: TreeSpaceRegressor(partitions="oblique"),
}


def of_classes(make: Callable[[], Any], X: pd.DataFrame, y: Any, seed: int) -> list[float]:
    """Mean figures over five folds."""
    figures = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        start = time.process_time()
        model = make().fit(X.iloc[train], y[train])
        seconds = time.process_time() - start
        probability = model.predict_proba(X.iloc[test])
        figures.append(
            [
                100 * accuracy_score(y[test], model.classes_[np.argmax(probability, axis=1)]),
                log_loss(y[test], probability, labels=model.classes_),
                calibration_error(y[test], probability, model.classes_),
                model.get_n_leaves(),
                1e3 * seconds,
            ]
        )
    return np.mean(figures, axis=0).tolist()


def of_numbers(make: Callable[[], Any], X: pd.DataFrame, y: Any, seed: int) -> list[float]:
    """Mean figures over five folds, R2 over all rows."""
    figures, predicted, scale = [], np.empty(len(y)), y.std()
    for train, test in KFold(5, shuffle=True, random_state=seed).split(X):
        start = time.process_time()
        model = make().fit(X.iloc[train], y[train])
        seconds = time.process_time() - start
        predicted[test] = model.predict(X.iloc[test])
        low, high = model.predict_interval(X.iloc[test]).T
        figures.append(
            [
                -model.predict_dist(X.iloc[test]).logpdf(y[test]).mean() - np.log(scale),
                100 * np.mean((y[test] >= low) & (y[test] <= high)),
                (high - low).mean() / scale,
                model.get_n_leaves(),
                1e3 * seconds,
            ]
        )
    return [float(r2_score(y, predicted)), *np.mean(figures, axis=0).tolist()]


def print_tables(header: str, form: str, by_set: dict[str, dict[str, list[float]]]) -> None:
    """One table a model, and the means."""
    for model in next(iter(by_set.values())):
        rows = {name: figures[model] for name, figures in by_set.items()}
        print(f"\n{model:26s} {header}")
        for name, figures in rows.items():
            print(f"  {name:24s} {form.format(*figures)}")
        print(f"  {'mean':24s} {form.format(*np.mean(list(rows.values()), axis=0))}", flush=True)


def main() -> None:
    """Print both tables."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.defaults", description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--repeats", type=int, default=1)
    options.add_argument("--models", default="", help="only models with this in their name")
    given = options.parse_args()
    seeds = range(given.repeats)
    paths = [given.data / f"{name}.csv" for name in PAPER_SETS] + sorted(given.data.glob("clf_*.csv"))
    of_sets: dict[str, dict[str, list[float]]] = {}
    for path in paths:
        X, y = raw_table(path)
        of_sets[path.stem] = {
            name: np.mean([of_classes(make, X, y, seed) for seed in seeds], axis=0).tolist()
            for name, make in CLASSES.items()
            if given.models in name
        }
        print(".", end="", flush=True)
    header = "accuracy  log loss  calibration  leaves   fit, ms"
    print_tables(header, "{:8.2f}  {:8.3f}  {:11.3f}  {:6.1f}  {:8.1f}", of_sets)
    of_sets = {}
    for path in sorted(given.data.glob("reg_*.csv")):
        X, y = raw_table(path)
        y = y.astype(float)
        of_sets[path.stem] = {
            name: np.mean([of_numbers(make, X, y, seed) for seed in seeds], axis=0).tolist()
            for name, make in NUMBERS.items()
            if given.models in name
        }
        print(".", end="", flush=True)
    header = "   R2  -log density   inside  width  leaves   fit, ms"
    print_tables(header, "{:5.3f}  {:12.3f}  {:6.1f}%  {:5.2f}  {:6.1f}  {:8.1f}", of_sets)


if __name__ == "__main__":
    main()
