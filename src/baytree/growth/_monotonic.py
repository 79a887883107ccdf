"""Monotonic constraints: reading the parameter, and removing what rounding violates in the predictions of a tree."""

from __future__ import annotations

from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from .._typing import FloatArray, IntArray
from .._validation import short_repr
from .._words import within_sentence
from ..leaves import ConstantLeaves, ModelLeaves, TermKind
from ..table import Schema
from ..tree import SplitKind, TreeStore


def read_monotonic(monotonic_cst: Any, schema: Schema) -> IntArray | None:
    """Read the `monotonic_cst` parameter: 1 (rising), -1 (falling) or 0 for each feature; None without constraints."""
    d = schema.n_features
    what = "monotonic_cst must give 1 (rising), -1 (falling) or 0 for each feature, or a dict by name or position"
    if monotonic_cst is None:
        return None
    by_column = schema.by_position("monotonic_cst", monotonic_cst)
    if by_column is not None:
        directions = [by_column.get(i, 0) for i in range(d)]
    else:
        try:
            directions = np.asarray(monotonic_cst).tolist()
        except ValueError:
            directions = []
        if not isinstance(directions, list) or len(directions) != d:
            raise ValueError(f"{what}; X has {d} features, got {short_repr(monotonic_cst)}.")
    for position, value in enumerate(directions):
        if isinstance(value, bool) or not isinstance(value, Real) or value not in (-1, 0, 1):
            raise ValueError(f"{what}; got {short_repr(value)} for {within_sentence(schema.describe(position))}.")
        if value != 0 and schema.columns[position].is_nominal:
            raise ValueError(
                f"{schema.describe(position)} of X is categorical: its categories have no order, so monotonic_cst "
                "cannot hold it."
            )
    return np.array(directions, dtype=np.int64) if any(directions) else None


def enforce_monotonic(store: TreeStore, monotonic: IntArray | None) -> TreeStore:
    """Remove rounding errors from predictions that must be monotonic; larger violations raise an error.

    Models in leaves are in order as they were grown: their predictions become those of their linear forms.
    """
    if monotonic is None:
        return store
    leaves = store.leaves
    if isinstance(leaves, ModelLeaves):
        _check_slopes(leaves, monotonic)
        return replace(store, leaves=replace(leaves, monotonic=True))
    if not isinstance(leaves, ConstantLeaves):
        raise TypeError(f"{type(leaves).__name__} have no order.")
    mean = leaves.outcome.mean(leaves.posterior)  # the calibration of constrained predictions keeps it
    before = mean[:, -1]  # the mean, or the probability of the second class
    after = _clip_to_constraints(store, monotonic, before)
    finite = before[np.isfinite(before)]
    rounding = 1e-9 * (finite.max() - finite.min()) if len(finite) else 0.0
    if not np.allclose(before, after, rtol=1e-9, atol=rounding):
        raise ValueError("These rows would break monotonic_cst in the tree as it is: fit it anew on all rows.")
    is_mean = mean.shape[1] == 1
    value = after[:, None] if is_mean else np.stack([1 - after, after], axis=1)
    return replace(store, leaves=replace(leaves, monotonic_mean=value))


def _check_slopes(leaves: ModelLeaves, monotonic: IntArray) -> None:
    """Refuse terms of the wrong direction, which growth never chooses."""
    for node in np.flatnonzero(leaves.n_terms).tolist():
        at = list(leaves.terms.of(node))
        direction = monotonic[leaves.terms.feature[at]] * (leaves.terms.kind[at] == TermKind.VALUE)
        if np.any(direction * leaves.coefficients_of(node)[-len(at) :] < 0):
            raise ValueError("the slope of a term has not the direction that monotonic_cst asks for")


def _clip_to_constraints(store: TreeStore, monotonic: IntArray, value: FloatArray) -> FloatArray:
    """Clip the predictions of all nodes to the range that the splits of constrained features allow.

    The trees are grown under the constraints, so at fit this changes nothing but rounding errors.
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
        for below, above, is_bound in ((left, right, direction > 0), (right, left, direction < 0)):
            high[below[is_bound]] = low[above[is_bound]] = middle[is_bound]
    leaves = np.flatnonzero(store.is_leaf)
    value[leaves] = np.clip(value[leaves], low[leaves], high[leaves])
    return value
