"""Predictions that must rise or fall with a feature: reading the parameter, and holding a tree to it."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ._typing import FloatArray, IntArray
from ._validation import describe_column, shown
from .table import Categories, as_dict_by_column
from .tree import LEAF, Tree


def read_monotonic(monotonic_cst: Any, categories: Categories, names: Any) -> IntArray | None:
    """Read the `monotonic_cst` parameter: 1 rising, -1 falling, 0 free for each feature; None: all free."""
    d = len(categories)
    what = "monotonic_cst must give 1 (rising), -1 (falling) or 0 for each feature, or a dict by name or position"
    if monotonic_cst is None:
        return None
    by_column = as_dict_by_column("monotonic_cst", monotonic_cst, d, names)
    if by_column is not None:
        given = [by_column.get(i, 0) for i in range(d)]
    else:
        try:
            given = np.asarray(monotonic_cst).tolist()
        except ValueError:
            given = []
        if not isinstance(given, list) or len(given) != d:
            raise ValueError(f"{what}; X has {d} features, got {shown(monotonic_cst)}.")
    for column, value in enumerate(given):
        if isinstance(value, bool) or not isinstance(value, Real) or value not in (-1, 0, 1):
            raise ValueError(f"{what}; got {shown(value)} for {describe_column(column, names).lower()}.")
        if value != 0 and categories[column] is not None:
            raise ValueError(
                f"{describe_column(column, names)} of X is categorical: its levels have no order, so monotonic_cst "
                "cannot hold it."
            )
    return np.array(given, dtype=np.int64) if any(given) else None


def in_order(tree: Tree, monotonic: IntArray, value: FloatArray) -> FloatArray:
    """Predictions of all nodes, put where the cuts along constrained features allow them to be.

    The tree was grown to keep the order, so at fit this changes what rounding did and no more.
    """
    value = value.copy()
    low, high = np.full(tree.node_count, -np.inf), np.full(tree.node_count, np.inf)
    for node in range(tree.node_count):  # parents come before their children
        value[node] = np.clip(value[node], low[node], high[node])
        left, right = tree.children_left[node], tree.children_right[node]
        if left == LEAF:
            continue
        low[[left, right]], high[[left, right]] = low[node], high[node]
        direction = monotonic[tree.feature[node]] if np.isfinite(tree.threshold[node]) else 0
        if direction == 0:
            continue
        middle = np.clip(0.5 * value[left] + 0.5 * value[right], low[node], high[node])
        below, above = (left, right) if direction > 0 else (right, left)
        high[below] = low[above] = middle
    return value
