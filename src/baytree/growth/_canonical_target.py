"""A canonical form of a target: the same for any order of the rows, and for a row twice or with twice the weight."""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, BoolArray
from ..outcomes import Target


def canonical_target(target: Target) -> Target:
    """Sort the outcomes and merge equal ones, adding up their weights, so that sums over them are always the same."""
    if target.y.ndim != 1 or target.y.dtype.kind not in "biuf":
        return target  # of a custom outcome
    weight = np.ones(len(target.y)) if target.weight is None else target.weight
    order = np.lexsort((weight, *target.extras.values(), target.y))
    target, weight = target.take(order), weight[order]
    is_new = _changes(target.y, *target.extras.values())
    # Equal weights are multiplied, so that a row of weight 4 gives the same sums, bit for bit, as four rows.
    first = np.flatnonzero(is_new | _changes(weight))
    total = weight[first] * np.diff(np.append(first, len(order)))
    merged = target.take(is_new)
    return Target(merged.y, np.add.reduceat(total, np.flatnonzero(is_new[first])), merged.extras)


def _changes(*columns: AnyArray) -> BoolArray:
    """Whether each row differs from the one before it; true for the first."""
    differs = [np.append(True, column[1:] != column[:-1]) for column in columns]
    return np.asarray(np.logical_or.reduce(differs))
