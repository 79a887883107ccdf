"""Predictions that must rise or fall with a feature: reading the parameter, and checking a tree that was changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._typing import FloatArray, IntArray
from ._validation import describe_column, shown
from .table import Categories, column_position
from .tree import LEAF, Tree


def read_monotonic(monotonic_cst: Any, categories: Categories, names: Any) -> IntArray | None:
    """Read the `monotonic_cst` parameter: 1 rising, -1 falling, 0 free for each feature; None: all free."""
    d = len(categories)
    what = "monotonic_cst must give 1 (rising), -1 (falling) or 0 for each feature, or a dict by name or position"
    if monotonic_cst is None:
        return None
    if isinstance(monotonic_cst, dict):
        given = [0] * d
        for column, value in monotonic_cst.items():
            given[column_position("monotonic_cst", column, d, names)] = value
    else:
        try:
            given = np.asarray(monotonic_cst).tolist()
        except ValueError:
            given = []
        if not isinstance(given, list) or len(given) != d:
            raise ValueError(f"{what}; X has {d} features, got {shown(monotonic_cst)}.")
    for column, value in enumerate(given):
        if isinstance(value, (bool, str, list)) or value not in (-1, 0, 1):
            raise ValueError(f"{what}; got {shown(value)} for {describe_column(column, names).lower()}.")
        if value != 0 and categories[column] is not None:
            raise ValueError(
                f"{describe_column(column, names)} of X is categorical: its levels have no order, so monotonic_cst "
                "cannot hold it."
            )
    return np.array(given, dtype=np.int64) if any(given) else None


def breaks_order(tree: Tree, monotonic: IntArray, value: FloatArray) -> bool:
    """Whether the predictions on the two sides of a cut along a constrained feature overlap in the wrong order."""
    lowest, highest = value.copy(), value.copy()
    for node in range(tree.node_count - 1, -1, -1):  # children come behind their parents
        left, right = tree.children_left[node], tree.children_right[node]
        if left == LEAF:
            continue
        lowest[node], highest[node] = min(lowest[left], lowest[right]), max(highest[left], highest[right])
        direction = 0 if not np.isfinite(tree.threshold[node]) else monotonic[tree.feature[node]]
        below, above = (left, right) if direction > 0 else (right, left)
        if direction != 0 and highest[below] > lowest[above]:
            return True
    return False
