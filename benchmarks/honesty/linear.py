"""How often 90 % intervals of linear and logistic leaves hold."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from baytree import BayesianTreeClassifier, BayesianTreeRegressor
from baytree.table import Rows
from benchmarks.honesty.tables import SHAPES, Made, made

N_NEW = 10_000
MEANS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "line": lambda X: X[:, 0] + 0.5 * X[:, 1],
    "bend": lambda X: 1.5 * np.abs(X[:, 0]),
    "step": lambda X: np.where(X[:, 0] > 0, 1.0, -1.0),
    "interaction": lambda X: np.where(X[:, 2] > 0, 1.5, -1.5) * X[:, 0],
    "curve": lambda X: np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] ** 2,
    "noise": lambda X: np.zeros(len(X)),
}


def coverage_of_numbers(shape: str, n: int, n_tables: int) -> float:
    """How many new outcomes lie in their intervals."""
    random, inside = np.random.default_rng([n, n_tables]), []
    for _ in range(n_tables):
        X, new = random.normal(size=(n, 6)), random.normal(size=(N_NEW, 6))
        y, outcome = (MEANS[shape](rows) + 0.5 * random.normal(size=len(rows)) for rows in (X, new))
        low, high = BayesianTreeRegressor(leaf="linear").fit(X, y).predict_interval(new).T
        inside.append(np.mean((low <= outcome) & (outcome <= high)))
    return float(np.mean(inside))


def coverage_of_classes(shape: str, n: int, n_tables: int) -> tuple[float, float]:
    """How many intervals hold what the leaf would predict with all rows there are, and the row's own probability."""
    random, of_leaf, of_row = np.random.default_rng([n, n_tables]), [], []
    for _ in range(n_tables):
        train, new = made(shape, n, random), made(shape, N_NEW, random)
        model = BayesianTreeClassifier(leaf="linear").fit(train.X, train.y)
        low, high = np.moveaxis(model.predict_interval(new.X), -1, 0)
        truths = limits_of_leaves(model, new), new.p
        for coverage, truth in zip((of_leaf, of_row), truths, strict=True):
            coverage.append(np.mean((truth >= low) & (truth <= high)))
    return float(np.mean(of_leaf)), float(np.mean(of_row))


def limits_of_leaves(model: Any, new: Made) -> np.ndarray:
    """The probabilities of the logistic models with the terms of the leaves that are nearest to the true ones."""
    leaves, nodes, result = model.tree_.leaves, model.apply(new.X), np.empty(new.p.shape)
    n_classes = new.p.shape[1]
    for node in np.unique(nodes).tolist():
        at = np.flatnonzero(nodes == node)
        if len(leaves.terms.of(node)) == 0:
            result[at] = new.p[at].mean(axis=0)
            continue
        z = leaves.terms.scaled(node, Rows(new.X), at, clip=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            nearest = LogisticRegression(C=1e6, max_iter=300).fit(
                np.tile(z, (n_classes, 1)), np.repeat(np.arange(n_classes), len(at)), new.p[at].T.ravel()
            )
        result[at] = nearest.predict_proba(z)
    return result


def print_linear() -> None:
    """Coverage of the outcomes of numbers, and of class probabilities."""
    print("\nCoverage of 90 % intervals of linear leaves: new outcomes")
    for n, n_tables in ((300, 40), (1000, 20), (3000, 8)):
        shares = {shape: coverage_of_numbers(shape, n, n_tables) for shape in MEANS}
        words = "  ".join(f"{shape} {share:.2f}" for shape, share in shares.items())
        print(f"  n={n:<5d} {words}  mean {np.mean([*shares.values()]):.2f}", flush=True)
    print("Coverage of 90 % intervals of logistic leaves: with all rows there are (in brackets: the row's own)")
    for n, n_tables in ((300, 60), (1000, 30), (3000, 12)):
        pairs = {shape: coverage_of_classes(shape, n, n_tables) for shape in SHAPES}
        words = "  ".join(f"{shape} {leaf:.2f} ({row:.2f})" for shape, (leaf, row) in pairs.items())
        print(f"  n={n:<5d} {words}  mean {np.mean([leaf for leaf, _ in pairs.values()]):.2f}", flush=True)
