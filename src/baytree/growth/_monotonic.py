"""Predictions that must rise or fall with a feature: reading the parameter, and holding a tree to it."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from .._validation import shown
from ..leaves import ConstantLeaves
from ..table import Schema
from ..tree import SplitKind, TreeStore


def read_monotonic(monotonic_cst: Any, schema: Schema) -> IntArray | None:
    """Read the `monotonic_cst` parameter: 1 rising, -1 falling, 0 free for each feature; None: all free."""
    d = schema.n_features
    what = "monotonic_cst must give 1 (rising), -1 (falling) or 0 for each feature, or a dict by name or position"
    if monotonic_cst is None:
        return None
    by_column = schema.by_position("monotonic_cst", monotonic_cst)
    if by_column is not None:
        given = [by_column.get(i, 0) for i in range(d)]
    else:
        try:
            given = np.asarray(monotonic_cst).tolist()
        except ValueError:
            given = []
        if not isinstance(given, list) or len(given) != d:
            raise ValueError(f"{what}; X has {d} features, got {shown(monotonic_cst)}.")
    for position, value in enumerate(given):
        if isinstance(value, bool) or not isinstance(value, Real) or value not in (-1, 0, 1):
            raise ValueError(f"{what}; got {shown(value)} for {schema.describe(position).lower()}.")
        if value != 0 and schema.columns[position].is_nominal:
            raise ValueError(
                f"{schema.describe(position)} of X is categorical: its categories have no order, so monotonic_cst "
                "cannot hold it."
            )
    return np.array(given, dtype=np.int64) if any(given) else None


def put_in_order(store: TreeStore, monotonic: IntArray | None) -> TreeStore:
    """Take rounding out of predictions that must be monotone; refuse what is more than that."""
    if monotonic is None:
        return store
    leaves = store.leaves
    if not isinstance(leaves, ConstantLeaves):
        raise TypeError("monotonic_cst holds constant leaves.")
    before = leaves.value[:, -1]  # the mean, or the probability of the second class
    after = _in_order(store, monotonic, before)
    finite = before[np.isfinite(before)]
    rounding = 1e-9 * (finite.max() - finite.min()) if len(finite) else 0.0
    if not np.allclose(before, after, rtol=1e-9, atol=rounding):
        raise ValueError("These rows would break monotonic_cst in the tree as it is: fit it anew on all rows.")
    is_mean = leaves.value.shape[1] == 1
    value = after[:, None] if is_mean else np.stack([1 - after, after], axis=1)
    return replace(store, leaves=replace(leaves, mean_in_order=value))


def _in_order(store: TreeStore, monotonic: IntArray, value: FloatArray) -> FloatArray:
    """Predictions of all nodes, put where the splits along constrained features allow them to be.

    The trees were grown to keep the order, so at fit this changes what rounding did and no more.
    """
    value = value.copy()
    low, high = np.full(store.node_count, -np.inf), np.full(store.node_count, np.inf)
    for at in store.splits_by_depth:
        value[at] = np.clip(value[at], low[at], high[at])
        left, right = store.children_left[at], store.children_right[at]
        for child in (left, right):
            low[child], high[child] = low[at], high[at]
        by_threshold = store.kind[at] == SplitKind.THRESHOLD
        direction = np.where(by_threshold, monotonic[store.feature[at]], 0)
        middle = np.clip(0.5 * value[left] + 0.5 * value[right], low[at], high[at])
        for below, above, held in ((left, right, direction > 0), (right, left, direction < 0)):
            high[below[held]] = low[above[held]] = middle[held]
    leaves = np.flatnonzero(store.is_leaf)
    value[leaves] = np.clip(value[leaves], low[leaves], high[leaves])
    return value
