"""Round thresholds as far as the rows allow it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from .._typing import BoolArray, FloatArray
from ..growth import TrainingData
from ..outcomes import Outcome
from ..table import Kind
from ..tree import Outline, Threshold, TreeStore, outline_of, store_of, sum_from_leaves
from ._read import bin_around

_MOST_DIGITS = 4  # of a rounded threshold
_ROUNDING = 1e-9  # log likelihoods that differ by less are equal


def rounded_outline(tree: TreeStore, data: TrainingData, outcome: Outcome, log_odds: float) -> Outline:
    """The tree with the roundest thresholds that cost at most these log odds each.

    Nodes of a level are rounded together, the root first: their subtrees have no row in common, so that the marginal
    likelihood of the rows below a node is the cost of its threshold alone. The number of digits is found by bisection;
    of the two numbers of so many digits, the nearer one is tried first.
    """
    outline, cost = outline_of(tree), _Costs(tree, data, outcome)
    now = cost.of(outline)[0]
    for level in tree.splits_by_depth:
        digits = {node: (1, _MOST_DIGITS + 1) for node in level.tolist() if _is_number(outline, node, data)}
        best: dict[int, float] = {}
        while waiting := {node: (low + high) // 2 for node, (low, high) in digits.items() if low < high}:
            found: dict[int, float] = {}
            for is_nearer in (True, False):
                numbers = {node: _rounded(outline, node, n, is_nearer=is_nearer) for node, n in waiting.items()}
                tried = {
                    node: number
                    for node, number in numbers.items()
                    if node not in found and bin_around(data, _moved(outline, node, number)) is None
                }
                likelihood, has_rows = cost.of(_with_thresholds(outline, tried))
                is_good = has_rows & (likelihood >= now - log_odds - _ROUNDING)
                found |= {node: number for node, number in tried.items() if is_good[node]}
            best |= found
            for node, n in waiting.items():
                low, high = digits[node]
                digits[node] = (low, n) if node in found else (n + 1, high)
        outline = _with_thresholds(outline, best)
        now = cost.of(outline)[0]
    return outline


class _Costs:
    """The log marginal likelihood of the rows below each node, for trees of one shape."""

    def __init__(self, tree: TreeStore, data: TrainingData, outcome: Outcome) -> None:
        self._tree, self._data, self._outcome = tree, data, outcome
        self._prior = tree.prior[tree.is_leaf]

    def of(self, outline: Outline) -> tuple[FloatArray, BoolArray]:
        """By node, and whether every leaf below the node has as many rows as the model asks for."""
        tree = self._tree
        sums = self._data.leaf_sums(store_of(outline, tree.n_features, self._outcome), self._outcome)
        likelihood = np.asarray(self._outcome.log_marginal(self._prior, sums.statistics))
        is_small = (sums.n_rows < self._data.growth.min_samples_leaf).astype(np.float64)
        structure = tree.children_left, tree.children_right, tree.depth
        below = sum_from_leaves(np.stack([likelihood, is_small], axis=1), *structure)
        return below[:, 0], below[:, 1] == 0


def _is_number(outline: Outline, node: int, data: TrainingData) -> bool:
    split = outline[node].split
    return isinstance(split, Threshold) and data.schema.columns[split.feature].kind is Kind.NUMBER


def _rounded(outline: Outline, node: int, digits: int, *, is_nearer: bool) -> float:
    """A threshold with so many digits, the nearer one or that on the other side; itself if it has no more."""
    number = _threshold(outline, node).threshold
    if number == 0 or float(f"{number:.{digits}g}") == number:
        return number
    step = 10.0 ** (math.floor(math.log10(abs(number))) - digits + 1)
    sides = sorted((math.floor(number / step), math.ceil(number / step)), key=lambda n: abs(n * step - number))
    return float(f"{sides[0 if is_nearer else 1] * step:.{digits}g}")


def _threshold(outline: Outline, node: int) -> Threshold:
    split = outline[node].split
    if not isinstance(split, Threshold):
        raise TypeError("Only thresholds are rounded.")
    return split


def _moved(outline: Outline, node: int, threshold: float) -> Threshold:
    return replace(_threshold(outline, node), threshold=threshold)


def _with_thresholds(outline: Outline, thresholds: dict[int, float]) -> Outline:
    result = list(outline)
    for node, threshold in thresholds.items():
        result[node] = replace(result[node], split=_moved(outline, node, threshold))
    return tuple(result)
