"""Rows with the trees of a forest that lack them, all of these and in two halves.

What halves lose against all shows what more trees would gain: the fewer trees are averaged, the noisier is their
average, whose variance is in proportion to 1 / k for k trees.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._typing import FloatArray, IntArray
from ..growth import FoldParts, TableData


def rows_with_trees(
    data: TableData, oob_weights: Callable[[IntArray], FloatArray], dealt: FoldParts
) -> tuple[TableData, FloatArray]:
    """The dealt rows that at least two trees lack, and how much each tree counts for them, (n_rows, n_trees)."""
    trees = oob_weights(dealt.rows)
    enough = (trees > 0).sum(axis=1) > 1
    weight = None if dealt.weight is None else dealt.weight[enough]
    return data.take(dealt.rows[enough], weight), trees[enough]


def with_halves(trees: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How much trees count for each row, (n_rows, n_trees): all of them, and every other one of those that count."""
    is_odd = np.cumsum(trees > 0, axis=1) % 2 == 1
    return trees, trees * is_odd, trees * ~is_odd


def number_of_equal_trees(trees: FloatArray) -> FloatArray:
    """By row, how many trees that count alike would have the same noise."""
    return np.asarray(trees.sum(axis=1, dtype=np.float64) ** 2 / (trees**2).sum(axis=1, dtype=np.float64))
