"""The trees of a forest that lack a row, in two halves: what halves lose against all shows what more trees would gain.

The fewer trees are averaged, the noisier is their average: its variance is in proportion to 1 / k for k trees.
"""

from __future__ import annotations

import numpy as np

from .._typing import FloatArray


def with_halves(trees: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """How much trees count for each row, (n_rows, n_trees): all of them, and every other one of those that count."""
    is_odd = np.cumsum(trees > 0, axis=1) % 2 == 1
    return trees, trees * is_odd, trees * ~is_odd


def number_of_equal_trees(trees: FloatArray) -> FloatArray:
    """By row, how many trees that count alike would have the same noise."""
    return np.asarray(trees.sum(axis=1, dtype=np.float64) ** 2 / (trees**2).sum(axis=1, dtype=np.float64))
