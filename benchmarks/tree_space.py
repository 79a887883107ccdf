"""Greedy, look-ahead, and tree spaces of several budgets and priors: ``python -m benchmarks.tree_space DATA [FOLDS]``.

On every classification table of a folder: accuracy, log loss, leaves of the tree one would read, and fit time relative
to the greedy tree. Prints the tables of docs/tree_space.md; several minutes a fold.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import KFold

from baytree import BayesianTreeClassifier, TreeSpaceClassifier
from benchmarks.data import raw_table
from benchmarks.paper_sets import NAMES, load

PRIORS = {"default": None, "alpha 1": 1.0, "alpha 3": 3.0, "alpha 10": 10.0, "evidence": "evidence"}
BUDGETS = (300, 1000, 3000, 10_000)
SHOWN = 3000  # the budget of the most probable tree, and the default


def tables(folder: Path):
    """The paper's sets as its authors coded them, and the other classification tables as they come."""
    for name in NAMES:
        data = load(name, folder)
        yield name, pd.DataFrame(data.X), data.y, (data.X_test, data.y_test)
    for path in sorted(folder.glob("clf_*.csv")):
        yield path.stem.removeprefix("clf_"), *raw_table(path), (None, None)


def parts(X, y, test, n_folds):
    """Rows to fit and rows to test."""
    if test[0] is not None:
        yield X, y, pd.DataFrame(test[0]), test[1]
        return
    for train, rest in KFold(n_folds, shuffle=True, random_state=0).split(X):
        yield X.iloc[train], y[train], X.iloc[rest], y[rest]


def models(prior):
    """What is compared, by name."""
    yield "greedy tree", BayesianTreeClassifier(prior=prior)
    yield "look-ahead 1", BayesianTreeClassifier(prior=prior, lookahead=1)
    yield "look-ahead 2", BayesianTreeClassifier(prior=prior, lookahead=2)
    yield "average over prunings", TreeSpaceClassifier(prior=prior, space="prunings")
    for budget in BUDGETS:
        yield f"average, {budget:,} nodes", TreeSpaceClassifier(prior=prior, max_nodes=budget)


def measure(model, X_test, y_test):
    """Figures of a fitted model."""
    probability = model.predict_proba(X_test)
    return {
        "accuracy": 100 * accuracy_score(y_test, model.classes_[probability.argmax(axis=1)]),
        "log loss": log_loss(y_test, probability, labels=model.classes_),
        "leaves": model.get_n_leaves() if hasattr(model, "get_n_leaves") else np.nan,
    }


def compare(X, y, X_test, y_test, note):
    """All models on one part."""
    for label, prior in PRIORS.items():
        greedy = None
        for name, model in models(prior):
            start = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - start
            greedy = seconds if greedy is None else greedy
            note(name, label, measure(model, X_test, y_test) | {"time": seconds / greedy})
            if name == f"average, {SHOWN:,} nodes":
                tree = measure(model.readable_tree_, X_test, y_test)
                note(f"most probable tree, {SHOWN:,} nodes", label, tree | {"time": seconds / greedy})
    if all(kind.kind in "fiu" for kind in X.dtypes):
        forest = RandomForestClassifier(100, random_state=0).fit(X, y)
        note("forest of 100", "", measure(forest, X_test, y_test))


def show(title, rows, columns, cell) -> None:
    """Print a Markdown table."""
    print(f"\n| {title} | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for row in rows:
        print(f"| {row} | {' | '.join(cell(row, column) for column in columns)} |")


def main(folder: Path, n_folds: int) -> None:
    """Measure, then print a table for each figure, and one by set."""
    figures = defaultdict(list)  # (set, model, prior) -> figures of each part
    names = []
    for name, X, y, test in tables(folder):
        names.append(name)
        for X_train, y_train, X_test, y_test in parts(X, y, test, n_folds):
            print(f"{name}, {len(X_train)} rows", file=sys.stderr, flush=True)
            compare(X_train, y_train, X_test, y_test, lambda m, p, f, s=name: figures[s, m, p].append(f))
    mean = {key: {k: float(np.mean([f[k] for f in all_of])) for k in all_of[0]} for key, all_of in figures.items()}
    rows = list(dict.fromkeys(model for _, model, prior in figures if prior))

    def over_sets(what):
        def cell(model, prior):
            values = [mean[name, model, prior][what] for name in names]
            return f"{np.exp(np.mean(np.log(values))):.0f}" if what == "time" else f"{np.mean(values):{digits[what]}}"

        return cell

    digits = {"accuracy": ".1f", "log loss": ".4f", "leaves": ".0f", "time": ".0f"}
    for what in digits:
        show(what, rows, list(PRIORS), over_sets(what))
    default, forest = f"average, {SHOWN:,} nodes", "forest of 100"
    chosen = {"greedy tree, default": ("greedy tree", "default"), "tree space, default": (default, "default")}
    chosen[forest] = (forest, "")

    def by_set(name, column):
        label, what = column.rsplit(": ", 1)
        figures_of_set = mean.get((name, *chosen[label]))
        return "" if figures_of_set is None else f"{figures_of_set[what]:{digits[what]}}"

    columns = [f"{label}: {what}" for what in ("accuracy", "log loss") for label in chosen]
    show("set", names, columns, by_set)
    paper = [name for name in names if name in NAMES]
    for label, key in chosen.items():
        accuracy, loss = (np.mean([mean[(name, *key)][what] for name in paper]) for what in ("accuracy", "log loss"))
        print(f"\nMean over the paper's sets, {label}: accuracy {accuracy:.1f}, log loss {loss:.4f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 3)
