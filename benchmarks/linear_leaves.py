"""Models in the leaves beside constant ones and other models: ``python -m benchmarks.linear_leaves DATA``.

Every table of a folder, text as categories, missing values as they are, at most --rows rows drawn at random. The tables
are divided into two halves, every other one by name. Each model has one or more settings; the best of them in the mean
of the first half is reported on the second. Five folds: log loss and area under the curve for classes, R2 for numbers;
leaves, and terms in all leaves.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss, r2_score, roc_auc_score
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from baytree import (
    BayesianForestClassifier,
    BayesianForestRegressor,
    BayesianTreeClassifier,
    BayesianTreeRegressor,
)
from benchmarks.data import raw_table

try:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
except ImportError:  # which is measured where it is installed
    ExplainableBoostingClassifier = ExplainableBoostingRegressor = None

Settings = dict[str, Callable[[], Any]]
LOWEST = 1e-15  # of a probability: a forest gives classes none


def encoded(model: Any) -> Any:
    """A model behind indicators of categories, medians of missing values, and columns of variance 1."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    categories = OneHotEncoder(handle_unknown="ignore")
    return make_pipeline(
        make_column_transformer(
            (numbers, make_column_selector(dtype_include="number")),
            (categories, make_column_selector(dtype_exclude="number")),
        ),
        model,
    )


def trees(tree: Callable[..., Any], forest: Callable[..., Any]) -> dict[str, Settings]:
    """The models of this library."""
    return {
        "constant leaves": {"default": tree, "prior by evidence": lambda: tree(prior="evidence")},
        "linear leaves": {
            f"{n} terms": lambda n=n: tree(leaf="linear", max_leaf_terms=n)  # type: ignore[misc]
            for n in (5, 10, 20)
        },
        "oblique tree": {"default": lambda: tree(partitions="oblique")},
        "forest": {"default": lambda: forest(n_estimators=50, random_state=0)},
    }


def models(*, of_classes: bool) -> dict[str, Settings]:
    """All models and their settings."""
    if of_classes:
        result = trees(BayesianTreeClassifier, BayesianForestClassifier)
        result["logistic regression"] = {
            f"C={c}": lambda c=c: encoded(LogisticRegression(C=c, max_iter=2000))  # type: ignore[misc]
            for c in (0.01, 0.1, 1, 10)
        }
        random_forest, ebm = RandomForestClassifier, ExplainableBoostingClassifier
    else:
        result = trees(BayesianTreeRegressor, BayesianForestRegressor)
        result["ridge regression"] = {
            f"alpha={a}": lambda a=a: encoded(Ridge(alpha=a))  # type: ignore[misc]
            for a in (0.1, 1, 10, 100)
        }
        random_forest, ebm = RandomForestRegressor, ExplainableBoostingRegressor
    result["random forest"] = {
        f"leaves of {n}": lambda n=n: encoded(random_forest(200, min_samples_leaf=n, random_state=0))  # type: ignore[misc]
        for n in (1, 5)
    }
    if ebm is not None:
        result["explainable boosting"] = {"default": lambda: encoded(ebm(random_state=0))}
    return result


def size(model: Any) -> tuple[float, float]:
    """Leaves and terms of a single tree."""
    tree = getattr(model, "tree_", None)
    if tree is None:
        return np.nan, np.nan
    leaves = np.flatnonzero(tree.is_leaf)
    return len(leaves), tree.leaves.n_terms[leaves].sum()


def of_classes(make: Callable[[], Any], X: pd.DataFrame, y: Any) -> list[float]:
    """Log loss, area under the curve, leaves and terms, the means of five folds."""
    figures = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = make().fit(X.iloc[train], y[train])
        p = np.clip(model.predict_proba(X.iloc[test]), LOWEST, 1)
        p /= p.sum(axis=1, keepdims=True)
        area = roc_auc_score(y[test], p[:, 1] if p.shape[1] == 2 else p, multi_class="ovr")
        figures.append([log_loss(y[test], p, labels=model.classes_), area, *size(model)])
    return np.mean(figures, axis=0).tolist()


def of_numbers(make: Callable[[], Any], X: pd.DataFrame, y: Any) -> list[float]:
    """R2 over all rows, and the means of leaves and terms."""
    predicted, sizes = np.empty(len(y)), []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        model = make().fit(X.iloc[train], y[train])
        predicted[test] = model.predict(X.iloc[test])
        sizes.append(size(model))
    return [float(r2_score(y, predicted)), *np.mean(sizes, axis=0).tolist()]


def some_rows(path: Path, most: int) -> tuple[pd.DataFrame, Any]:
    """A table, or so many of its rows."""
    X, y = raw_table(path)
    if len(y) > most:
        rows = np.sort(np.random.default_rng(0).permutation(len(y))[:most])
        X, y = X.iloc[rows], y[rows]
    return X, y


def compare(paths: list[Path], most_rows: int, *, of_class: bool, chosen_only: bool) -> None:
    """Choose settings on every other table, and print the figures of the rest."""
    measure, sign = (of_classes, 1) if of_class else (of_numbers, -1)
    tables = {path.stem: some_rows(path, most_rows) for path in paths}
    first, second = list(tables)[::2], list(tables)[1::2]
    reported: dict[str, dict[str, list[float]]] = {}
    for name, settings in models(of_classes=of_class).items():
        choices: dict[str, Any] = {}
        for setting, make in settings.items():
            if len(settings) > 1 or chosen_only:
                choices[setting] = [measure(make, *tables[table]) for table in first]
                means = "  ".join(f"{figures[0]:.3f}" for figures in choices[setting])
                print(f"{name}, {setting}: {means}, mean {np.mean(choices[setting], axis=0)[0]:.4f}", flush=True)
            else:
                choices[setting] = [[0.0]]
        best = min(choices, key=lambda setting: sign * np.mean(choices[setting], axis=0)[0])
        if not chosen_only:
            reported[f"{name}, {best}"] = {table: measure(settings[best], *tables[table]) for table in second}
    header = "log loss    area  leaves  terms" if of_class else "   R2  leaves  terms"
    form = "{:8.3f}  {:6.3f}  {:6.1f}  {:5.1f}" if of_class else "{:5.3f}  {:6.1f}  {:5.1f}"
    for name, by_table in reported.items():
        print(f"\n{name:32s} {header}")
        for table, figures in by_table.items():
            print(f"  {table:30s} {form.format(*figures)}")
        print(f"  {'mean':30s} {form.format(*np.mean(list(by_table.values()), axis=0))}", flush=True)


def main() -> None:
    """Print both comparisons."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.linear_leaves", description=__doc__)
    options.add_argument("data", type=Path)
    options.add_argument("--rows", type=int, default=4000)
    options.add_argument("--choose", action="store_true", help="only the half on which settings are chosen")
    given = options.parse_args()
    warnings.filterwarnings("ignore", module="sklearn")
    numbers = sorted(given.data.glob("reg_*.csv"))
    classes = [path for path in sorted(given.data.glob("*.csv")) if path not in numbers and "test" not in path.stem]
    compare(classes, given.rows, of_class=True, chosen_only=given.choose)
    compare(numbers, given.rows, of_class=False, chosen_only=given.choose)


if __name__ == "__main__":
    main()
