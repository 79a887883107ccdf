"""Whether the certainty that models express is right: ``python -m benchmarks.honesty``, or ``make honesty``.

Six parts, each on its own with --only: `simulated` and `held-out` (coverage of 90 % intervals of class probabilities),
`linear` (coverage of the intervals of models in leaves),
`noise` (tables of noise that are split), `decisions` (explanations that name the class that is predicted), `scores`
(log loss and calibration error with and without calibration). The real tables are those of the folder BAYTREE_DATA.
--page writes the coverage of `simulated` into docs/benchmarks.md and README.md.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import baytree
from baytree import (
    BayesianForestClassifier,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    TreeSpaceClassifier,
)
from benchmarks.honesty.intervals import held_out, simulated
from benchmarks.honesty.linear import print_linear
from benchmarks.honesty.pages import Coverage, write_pages
from benchmarks.honesty.tables import NOISE_KINDS, SHAPES, noise, real_tables
from benchmarks.measure import calibration_error

Make = Callable[..., Any]
MODELS: dict[str, Make] = {
    "tree": BayesianTreeClassifier,
    "oblique tree": partial(BayesianTreeClassifier, partitions="oblique"),
    "tree space": partial(TreeSpaceClassifier, max_nodes=500),
    "forest": partial(BayesianForestClassifier, 50, random_state=0),
}
N_TABLES = {"tree": {300: 150, 1000: 60, 3000: 20}, "oblique tree": {300: 30, 1000: 15}}
OTHERS = {300: 12, 1000: 8}
N_ROWS = 15  # of each table, for a model without leaves of its own: quantiles of averages take their time


def settings_of(name: str) -> dict[str, dict[str, Any]]:
    """The settings of a model that are compared: calibrated, where it can be, and not."""
    can = "calibrate" in MODELS[name]().get_params()
    return {"conjugate": {"calibrate": False}, "calibrated": {}} if can else {"default": {}}


def print_simulated(names: list[str]) -> Coverage:
    """Coverage where the truth is known, for each model, shape and number of rows; returns that of leaves."""
    coverage: Coverage = {}
    print("\nCoverage of 90 % intervals: the true mean of a leaf (in brackets: the true probability of a row)")
    for name in names:
        for n, n_tables in N_TABLES.get(name, OTHERS).items():
            for setting, parameters in settings_of(name).items():
                make = partial(MODELS[name], **parameters)
                shares = [simulated(make, shape, n, n_tables, N_ROWS) for shape in SHAPES]
                words = [f"{leaf:.2f} ({row:.2f})" for leaf, row in shares]
                coverage[name, setting, n] = [leaf for leaf, _ in shares]
                mean = np.nanmean(coverage[name, setting, n])
                print(f"  {name:13s} {setting:10s} n={n:<5d} {'  '.join(words)}  mean {mean:.2f}", flush=True)
    return coverage


def print_held_out(names: list[str]) -> None:
    """Coverage of held-out counts of the classes, in leaves or in groups of rows with similar predictions."""
    print("\nCoverage of 90 % intervals of held-out counts; in leaves below 50 rows; in single tables")
    for name in names:
        for setting, parameters in settings_of(name).items():
            by_table = held_out(partial(MODELS[name], **parameters))
            groups = np.array([group for groups in by_table.values() for group in groups]).reshape(-1, 2)
            inside, size = groups.T
            large, small = inside[size >= 50], inside[size < 50]
            few = f"{small.mean():.3f} of {len(small)}" if len(small) else "none"
            tables = "  ".join(f"{table} {np.mean([i for i, _ in values]):.2f}" for table, values in by_table.items())
            print(f"  {name:13s} {setting:10s} {large.mean():.3f} of {len(large)}; small {few}; {tables}", flush=True)


def print_noise(_names: list[str]) -> None:
    """The number of tables of noise that are split, by outcome and kind of column."""
    n_tables, n = 100, 300
    outcomes: dict[str, tuple[Make, Callable[[np.random.Generator], Any]]] = {
        "two classes": (BayesianTreeClassifier, lambda random: random.integers(0, 2, n)),
        "four classes": (BayesianTreeClassifier, lambda random: random.integers(0, 4, n)),
        "normal": (BayesianTreeRegressor, lambda random: random.normal(size=n)),
        "poisson": (partial(BayesianTreeRegressor, outcome="poisson"), lambda random: random.poisson(3, n)),
        "exponential": (
            partial(BayesianTreeRegressor, outcome="exponential"),
            lambda random: random.exponential(size=n),
        ),
    }
    print(f"\nTables of noise that are split, of {n_tables} with {n} rows")
    for name, (make, draw) in outcomes.items():
        parameters = {"calibrate": False}
        words = []
        for kind in NOISE_KINDS:
            random = np.random.default_rng(0)
            split = sum(
                make(**parameters).fit(noise(kind, n, random), draw(random)).get_n_leaves() > 1 for _ in range(n_tables)
            )
            words.append(f"{kind} {split}")
        print(f"  {name:13s} {'   '.join(words)}", flush=True)


def print_decisions(names: list[str]) -> None:
    """How often an explanation names the class that `predict` gives."""
    print("\nExplanations whose decision is the prediction")
    for name in names:
        same, total = 0, 0
        for _, X, y in real_tables():
            model = MODELS[name]().fit(X, y)
            rows = X.iloc[:50]
            same += sum(
                e.decision == str(p) for e, p in zip(model.explain(rows, n_changes=1), model.predict(rows), strict=True)
            )
            total += len(rows)
        print(f"  {name:13s} {same} of {total}", flush=True)


def print_scores(names: list[str]) -> None:
    """Accuracy, log loss and calibration error with and without calibration, three folds."""
    print("\nAccuracy, log loss, calibration error: means over the tables of BAYTREE_DATA")
    for name in names:
        for setting, parameters in settings_of(name).items():
            figures = []
            for _, X, y in real_tables():
                for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
                    model = MODELS[name](**parameters).fit(X.iloc[train], y[train])
                    p = model.predict_proba(X.iloc[test])
                    right = (model.classes_[p.argmax(axis=1)] == y[test]).mean()
                    error = calibration_error(y[test], p, model.classes_)
                    figures.append([100 * right, log_loss(y[test], p, labels=model.classes_), error])
            print(
                "  {:13s} {:10s} {:.2f} %  {:.4f}  {:.4f}".format(name, setting, *np.mean(figures, axis=0)), flush=True
            )


PARTS: dict[str, Callable[[], Any]] = {
    "simulated": print_simulated,
    "linear": print_linear,
    "held-out": print_held_out,
    "noise": print_noise,
    "decisions": print_decisions,
    "scores": print_scores,
}
_NEED_DATA = ("held-out", "decisions", "scores")


def main() -> None:
    """Print the parts that were asked for."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.honesty", description=__doc__)
    options.add_argument("--only", nargs="+", choices=PARTS, default=[*PARTS])
    options.add_argument("--models", nargs="+", choices=MODELS, default=[*MODELS])
    options.add_argument("--page", action="store_true", help="write the table of `simulated` into the docs")
    given = options.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning, module="baytree")
    print(f"baytree {baytree.__version__}, pandas {pd.__version__}")
    has_data = any(True for _ in real_tables())
    for name in given.only:
        if name in _NEED_DATA and not has_data:
            print(f"\n{name}: skipped, since BAYTREE_DATA names no folder with tables")
            continue
        result = PARTS[name](given.models)
        if name == "simulated" and given.page:
            write_pages(result)


if __name__ == "__main__":
    main()
