"""Tables that scikit-learn bundles or generates: no default of the forest was chosen on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from sklearn import datasets

Table = tuple[str, bool, Any, Any]  # name, whether numbers are predicted, X and y


def letters(n_rows: int = 5000) -> tuple[Any, Any]:
    """As many classes as there are letters, in 16 columns."""
    return datasets.make_classification(
        n_rows, 16, n_informative=12, n_redundant=2, n_classes=26, n_clusters_per_class=1, class_sep=2.0, random_state=0
    )


def bundled() -> Iterator[Table]:
    """Classes first, then numbers."""
    classes = {
        "iris": datasets.load_iris(return_X_y=True),
        "wine": datasets.load_wine(return_X_y=True),
        "breast cancer": datasets.load_breast_cancer(return_X_y=True),
        "digits": datasets.load_digits(return_X_y=True),
        "moons": datasets.make_moons(1000, noise=0.3, random_state=0),
        "hastie": datasets.make_hastie_10_2(2000, random_state=0),
        "quantiles": datasets.make_gaussian_quantiles(n_samples=1500, n_features=6, n_classes=4, random_state=0),
        "clusters": datasets.make_classification(
            2000, 20, n_informative=8, n_redundant=4, n_classes=4, flip_y=0.05, random_state=0
        ),
        "letters": letters(),
    }
    numbers = {
        "diabetes": datasets.load_diabetes(return_X_y=True),
        "friedman 1": datasets.make_friedman1(1000, noise=1.0, random_state=0),
        "friedman 2": datasets.make_friedman2(1000, noise=100.0, random_state=0),
        "friedman 3": datasets.make_friedman3(1000, noise=0.1, random_state=0),
        "linear": datasets.make_regression(500, 12, n_informative=6, noise=50.0, random_state=0),
    }
    for are_numbers, tables in ((False, classes), (True, numbers)):
        for name, (X, y) in tables.items():
            yield name, are_numbers, pd.DataFrame(X).add_prefix("x"), y
