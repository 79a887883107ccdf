"""A fitted model as a sum over paths, from which interventional SHAP values are computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .._typing import BoolArray, FloatArray
from ..fitted import Fitted
from ..tree import CategorySet, Hyperplane, PresentMissing, Split, Threshold, TreeStore
from ._members import members_of

_MOST_PATHS = 100_000


@dataclass(frozen=True)
class Step:
    """One split on a path, and the side that the path takes."""

    split: Split
    left: bool

    def is_taken(self, X: FloatArray) -> BoolArray:
        """Which rows take this side."""
        return goes_left(self.split, X) == self.left


@dataclass(frozen=True)
class Path:
    """The path from the root to a node, and its prediction times the probability that a tree ends there."""

    steps: tuple[Step, ...]
    value: FloatArray


def goes_left(split: Split, X: FloatArray) -> BoolArray:
    """Which rows of a dense matrix go left; the features are along the last axis."""
    if isinstance(split, Hyperplane):
        total = np.zeros(X.shape[:-1])
        for feature, coefficient, instead in zip(split.features, split.coefficients, split.missing_values, strict=True):
            values = X[..., feature]
            total = total + coefficient * np.where(np.isnan(values), instead, values)
        return np.asarray(total <= split.threshold)
    values = X[..., split.feature]
    missing = np.isnan(values)
    match split:
        case Threshold():
            return np.where(missing, split.missing_left, values <= split.threshold)
        case PresentMissing():
            return ~missing
        case CategorySet():
            inside = np.isin(values, split.left) | (split.unseen_left & ~np.isin(values, split.right))
            return np.where(missing, split.missing_left, inside)


def paths_of(fitted: Fitted) -> list[Path]:
    """All paths; their values sum to what is predicted where every step is taken."""
    result: list[Path] = []
    for member in members_of(fitted):
        for path in _paths_below(member.trees):
            result.append(Path(path.steps, member.share * path.value))
            if len(result) > _MOST_PATHS:
                raise ValueError(
                    f"The model has more than {_MOST_PATHS:,} ways to a leaf: leave background out, "
                    "explore less (max_nodes), or grow fewer trees."
                )
    return result


def _paths_below(trees: TreeStore) -> Iterator[Path]:
    """The paths from a root to the nodes in which rows may end."""
    stack: list[tuple[int, tuple[Step, ...], float]] = [(0, (), 1.0)]
    value, leaf_share, share = trees.leaves.value, trees.leaf_share, trees.choice_share
    while stack:
        node, steps, probability = stack.pop()
        if leaf_share[node] > 0:
            yield Path(steps, probability * leaf_share[node] * value[node])
        for choice in trees.splits_of(node):
            below = probability * float(share[choice])
            stack += [(child, (*steps, step), below) for child, step in _sides(trees, choice)]


def _sides(grown: TreeStore, i: int) -> list[tuple[int, Step]]:
    """The two children of a split, and the steps to them."""
    split = grown.split(i)
    return [(int(grown.children_left[i]), Step(split, True)), (int(grown.children_right[i]), Step(split, False))]
