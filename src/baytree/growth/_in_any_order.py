"""What does not depend on the order of the rows, nor on whether a row is given twice or with twice the weight."""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, BoolArray
from ..outcomes import Target


def in_any_order(target: Target) -> Target:
    """The same outcomes, each once, in ascending order and with all of its weight: sums over it are always the same."""
    if target.y.ndim != 1 or target.y.dtype.kind not in "biuf":
        return target  # of an outcome of the user's own
    weight = np.ones(len(target.y)) if target.weight is None else target.weight
    order = np.lexsort((weight, *target.extras.values(), target.y))
    target, weight = target.take(order), weight[order]
    is_new = _changes(target.y, *target.extras.values())
    # Equal weights are multiplied, so that a row of weight 4 is the row four times but for nothing.
    first = np.flatnonzero(is_new | _changes(weight))
    total = weight[first] * np.diff(np.append(first, len(order)))
    merged = target.take(is_new)
    return Target(merged.y, np.add.reduceat(total, np.flatnonzero(is_new[first])), merged.extras)


def _changes(*columns: AnyArray) -> BoolArray:
    """Where a row differs from the one before it; the first does."""
    differs = [np.append(True, column[1:] != column[:-1]) for column in columns]
    return np.asarray(np.logical_or.reduce(differs))
