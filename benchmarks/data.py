"""Tables to measure on: made, not loaded, so that anyone can repeat it."""

from __future__ import annotations

from sklearn.datasets import make_classification


def classification(n_rows: int, n_features: int = 20, n_classes: int = 2):
    """Float64 features, half of them informative."""
    return make_classification(n_rows, n_features, n_informative=n_features // 2, n_classes=n_classes, random_state=0)
