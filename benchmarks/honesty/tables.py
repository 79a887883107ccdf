"""Made tables whose true probabilities are known, noise, and real tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from benchmarks.data import raw_table

Probabilities = Callable[[np.ndarray], np.ndarray]
N_FEATURES = 6
_MOST_ROWS = 2000  # of a real table


def two(p: np.ndarray) -> np.ndarray:
    """Two classes, the second with probability p."""
    return np.stack([1 - p, p], axis=1)


def steps(X: np.ndarray) -> np.ndarray:
    """A tree of four leaves."""
    upper = np.where(X[:, 1] > 0, 0.9, 0.5)
    return two(np.where(X[:, 0] > 0.3, upper, np.where(X[:, 2] > -0.5, 0.1, 0.35)))


def five(X: np.ndarray) -> np.ndarray:
    """Five classes."""
    score = np.stack([X[:, 0], X[:, 1], X[:, 2], X[:, 1] - X[:, 0], -X[:, 1]], axis=1)
    return special.softmax(1.2 * score, axis=1)


SHAPES: dict[str, Probabilities] = {
    "logistic": lambda X: two(special.expit(1.2 * X[:, 0] + 0.8 * X[:, 1] - 0.5 * X[:, 2])),
    "steps": steps,
    "exclusive or": lambda X: two(np.where((X[:, 0] > 0.4) == (X[:, 1] > -0.4), 0.8, 0.2)),
    "one in twenty": lambda X: two(special.expit(-3.6 + 1.1 * X[:, 0] + 0.6 * X[:, 1])),
    "three classes": lambda X: special.softmax(
        np.stack([1.5 * X[:, 0], 1.2 * X[:, 1], X[:, 2] - 0.8 * X[:, 0]], axis=1), axis=1
    ),
    "five classes": five,
}


@dataclass(frozen=True)
class Made:
    """Rows, their true class probabilities and their classes."""

    X: np.ndarray
    p: np.ndarray
    y: np.ndarray


def made(shape: str, n: int, random: np.random.Generator) -> Made:
    """Draw a table."""
    X = random.normal(size=(n, N_FEATURES))
    p = SHAPES[shape](X)
    return Made(X, p, (random.random(n)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1))


def noise(kind: str, n: int, random: np.random.Generator) -> pd.DataFrame:
    """Columns that have nothing to do with the outcome."""
    draw: dict[str, Callable[[], Any]] = {
        "0 or 1": lambda: random.integers(0, 2, n).astype(float),
        "few values": lambda: random.integers(0, 6, n).astype(float),
        "real values": lambda: random.normal(size=n),
        "categories": lambda: pd.Categorical.from_codes(random.integers(0, 5, n), list("abcde")),
        "half missing": lambda: np.where(random.random(n) < 0.5, np.nan, random.normal(size=n)),
    }
    return pd.DataFrame({f"x{i}": draw[kind]() for i in range(2)})


NOISE_KINDS = ("0 or 1", "few values", "real values", "categories", "half missing")


def real_tables() -> Iterator[tuple[str, pd.DataFrame, np.ndarray]]:
    """The tables for classification in the folder BAYTREE_DATA, at most two thousand rows of each."""
    folder = os.environ.get("BAYTREE_DATA")
    paths = [] if not folder else sorted(Path(folder).glob("*.csv"))
    for path in paths:
        if path.stem.startswith("reg_") or path.stem == "ripley_test":
            continue
        X, y = raw_table(path)
        chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:_MOST_ROWS])
        yield path.stem.removeprefix("clf_"), X.iloc[chosen].reset_index(drop=True), y[chosen]
