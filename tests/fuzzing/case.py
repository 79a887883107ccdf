"""A random table with its target, weights and options, and what is compared of two models."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
from numpy.testing import assert_array_equal

from baytree import (
    BayesianTreeClassifier,
    BayesianTreeRegressor,
    PartitionPrior,
    TreeSpaceClassifier,
    TreeSpaceRegressor,
)
from baytree.outcomes import REGRESSION_OUTCOMES


class Skipped(Exception):  # noqa: N818 - it is no error
    """A trial that cannot be made here, with the reason."""


class Case:
    """One table with its target, weights and options, all from one seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random = np.random.default_rng(seed)
        self.n = int(random.choice([2, 5, 12, 30, 120]))
        self.kinds = [
            str(random.choice(["few", "many", "truth", "text", "ordered"])) for _ in range(random.integers(1, 6))
        ]
        self.table = pd.DataFrame({f"column {i}": self.column(kind) for i, kind in enumerate(self.kinds)})
        self.is_classifier = bool(random.random() < 0.5)
        self.outcome = str(random.choice(list(REGRESSION_OUTCOMES)))
        self.y = self.target()
        self.weight = self.weights()
        self.options = self.parameters()

    def column(self, kind):
        random, n = self.random, self.n
        missing = random.random(n) < random.choice([0.0, 0.0, 0.3])
        if kind == "truth":
            return random.random(n) < 0.5
        if kind in ("text", "ordered"):
            labels = [f"c{i}" for i in range(random.integers(1, 12))]
            values = [None if gone else label for gone, label in zip(missing, random.choice(labels, n), strict=True)]
            return pd.Categorical(values, labels, ordered=True) if kind == "ordered" else np.array(values, dtype=object)
        numbers = random.integers(-2, 3, n).astype(float) if kind == "few" else random.normal(size=n)
        return np.where(missing, np.nan, numbers * 10.0 ** random.integers(-3, 4))

    def target(self):
        random = self.random
        signal = self.table.apply(lambda column: pd.factorize(column)[0]).to_numpy().sum(axis=1)
        signal = (signal > np.median(signal)).astype(float)
        if self.is_classifier:
            n_classes = int(random.choice([2, 2, 3, 7]))
            noisy = random.random(self.n) < 0.2
            return np.where(noisy, random.integers(0, n_classes, self.n), signal).astype(int)
        if self.outcome == "normal":
            return (3 * signal + random.normal(size=self.n)) * 10.0 ** random.integers(-6, 7)
        if self.outcome == "exponential":
            return random.exponential(1 + 5 * signal) + 1e-9
        return random.poisson(1 + 9 * signal)

    def weights(self):
        kind = self.random.choice(["none", "none", "whole", "real"])
        if kind == "none":
            return None
        whole = self.random.integers(1, 4, self.n).astype(float)
        return whole if kind == "whole" else whole * self.random.uniform(0.3, 2, self.n)

    def parameters(self):
        random = self.random
        options = {
            "smoothing": float(random.choice([0.0, 0.0, 0.3])),
            "partitions": str(random.choice(["axis", "axis", "oblique"])),
            "max_depth": [None, None, 1, 3][random.integers(4)],
            "min_samples_leaf": int(random.choice([1, 1, 2])),
            "partition_prior": PartitionPrior(
                split=float(random.choice([0.99, 0.5])), location=str(random.choice(["uniform", "distance"]))
            ),
        }
        if random.random() < 0.3:
            of_one = [0 if kind == "text" else int(random.choice([-1, 0, 1])) for kind in self.kinds]
            options["monotonic_cst"] = of_one if not self.is_classifier or len(np.unique(self.y)) <= 2 else None
        return options

    def tree(self, **more):
        options = self.options | {"lookahead": int(self.random.choice([0, 0, 0, 1]))} | more
        if self.is_classifier:
            return BayesianTreeClassifier(prior=float(self.random.choice([0.1, 1.0])), **options)
        return BayesianTreeRegressor(outcome=self.outcome, **options)

    def space(self):
        if self.is_classifier:
            return TreeSpaceClassifier(max_nodes=30, **self.options)
        return TreeSpaceRegressor(outcome=self.outcome, max_nodes=30, **self.options)


def structure(fitted) -> dict:
    """The arrays that nothing may change but the data."""
    grown = fitted.tree_ if hasattr(fitted, "tree_") else fitted.space_
    names = ("children_left", "children_right", "kind", "feature", "threshold", "category", "category_goes_left")
    return {name: getattr(grown, name) for name in names}


def assert_same_structure(one, other) -> None:
    for name, array in structure(one).items():
        assert_array_equal(array, structure(other)[name], err_msg=name)


def polars_series(column, kind):
    values = [None if pd.isna(value) else value for value in column.tolist()]
    dtype = {"truth": pl.Boolean, "text": pl.String, "ordered": pl.Enum([f"c{i}" for i in range(12)])}
    return pl.Series(column.name, values, dtype=dtype.get(kind, pl.Float64))
