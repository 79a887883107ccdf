"""Tables to measure on: made, so that anyone can repeat it, or read as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification


def classification(n_rows: int, n_features: int = 20, n_classes: int = 2):
    """Float64 features, half of them informative."""
    return make_classification(n_rows, n_features, n_informative=n_features // 2, n_classes=n_classes, random_state=0)


def mixed_frame(n_rows: int):
    """Six columns of numbers and eight of text, as they come from a file of customers, and two classes."""
    random = np.random.default_rng(0)
    numbers = {f"number {i}": random.normal(size=n_rows) for i in range(6)}
    codes = {f"text {i}": random.integers(0, 3 + 5 * i, n_rows) for i in range(8)}
    score = sum((i % 3 - 1) * column for i, column in enumerate(numbers.values()))
    score = score + sum((column % 3 - 1) * 0.7 for column in codes.values())
    text = {name: np.array([f"category {code}" for code in column], dtype=object) for name, column in codes.items()}
    y = (score + random.logistic(size=n_rows) > 0).astype(int)
    return pd.DataFrame(numbers | text), y


def raw_table(path: Path) -> tuple[pd.DataFrame, Any]:
    """A CSV file and its column "target"; text becomes categories, missing values stay missing."""
    table = pd.read_csv(path)
    y = table.pop("target").to_numpy()
    return table.astype(dict.fromkeys(table.select_dtypes(exclude="number"), "category")), y
