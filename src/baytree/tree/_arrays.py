"""Splits and nodes as parallel arrays: what trees and tree spaces have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ._splits import CategorySet, Hyperplane, PresentMissing, Split, SplitKind, Threshold


@dataclass(frozen=True, eq=False)
class SplitArrays:
    """One entry per split in each array (of a tree: per node)."""

    children_left: IntArray
    children_right: IntArray
    kind: AnyArray  # of SplitKind, uint8
    feature: IntArray
    threshold: FloatArray
    missing_go_to_left: BoolArray
    has_missing: BoolArray
    unseen_go_to_left: BoolArray
    category_start: IntArray
    category: IntArray
    category_goes_left: BoolArray
    hyperplane_start: IntArray
    hyperplane_feature: IntArray
    hyperplane_coefficient: FloatArray
    hyperplane_missing_value: FloatArray
    log_prior_split: FloatArray
    log_likelihood_split: FloatArray

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # and nothing that was worked out

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def arrays(self) -> dict[str, Any]:
        """Every array by its name."""
        state = self.__getstate__()
        return {name: value for name, value in state.items() if isinstance(value, np.ndarray)}

    def routing(self) -> dict[str, Any]:
        """What the compiled core needs to send rows down."""
        return {name: getattr(self, name) for name in _ROUTING}

    def is_of(self, kind: SplitKind) -> BoolArray:
        """Whether each split is of a kind."""
        return np.asarray(self.kind == kind)

    def split(self, i: int) -> Split:
        """One split as data; a leaf has none."""
        match SplitKind(int(self.kind[i])):
            case SplitKind.THRESHOLD:
                has_missing, missing_left = bool(self.has_missing[i]), bool(self.missing_go_to_left[i])
                return Threshold(int(self.feature[i]), float(self.threshold[i]), missing_left, has_missing)
            case SplitKind.PRESENT_MISSING:
                return PresentMissing(int(self.feature[i]))
            case SplitKind.CATEGORY_SET:
                return self._category_set(i)
            case SplitKind.HYPERPLANE:
                return self._hyperplane(i)
            case SplitKind.NONE:
                raise ValueError(f"Node {i} is a leaf: it has no split.")

    def _category_set(self, i: int) -> CategorySet:
        part = slice(int(self.category_start[i]), int(self.category_start[i + 1]))
        own, goes_left = self.category[part], self.category_goes_left[part]
        return CategorySet(
            int(self.feature[i]),
            tuple(own[goes_left].tolist()),
            tuple(own[~goes_left].tolist()),
            bool(self.unseen_go_to_left[i]),
            bool(self.missing_go_to_left[i]),
            bool(self.has_missing[i]),
        )

    def _hyperplane(self, i: int) -> Hyperplane:
        terms = slice(int(self.hyperplane_start[i]), int(self.hyperplane_start[i + 1]))
        return Hyperplane(
            tuple(self.hyperplane_feature[terms].tolist()),
            tuple(self.hyperplane_coefficient[terms].tolist()),
            tuple(self.hyperplane_missing_value[terms].tolist()),
            float(self.threshold[i]),
        )

    @property
    def used_features(self) -> IntArray:
        """The features that some split uses, in ascending order."""
        return np.union1d(self.feature[self.kind != SplitKind.NONE], self.hyperplane_feature)


_ROUTING = tuple(
    field.name
    for field in fields(SplitArrays)
    if field.name not in ("has_missing", "log_prior_split", "log_likelihood_split")
)


@dataclass(frozen=True, eq=False)
class NodeArrays:
    """One entry per node in each array."""

    value: FloatArray
    n_node_samples: IntArray
    weighted_n_node_samples: FloatArray
    depth: IntArray
    prior: FloatArray
    posterior: FloatArray
    log_likelihood: FloatArray
    log_prior_leaf: FloatArray

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.depth)


# Arrays that have several entries for a split: where those of a split begin, and what they are.
RAGGED = {
    "category_start": ("category", "category_goes_left"),
    "hyperplane_start": ("hyperplane_feature", "hyperplane_coefficient", "hyperplane_missing_value"),
}
RAGGED_NAMES = {name for group in RAGGED.items() for name in (group[0], *group[1])}
# What the other arrays hold where there is no split.
NO_SPLIT: dict[str, Any] = {
    "kind": SplitKind.NONE,
    "feature": -2,  # as in scikit-learn
    "threshold": -2.0,
    "missing_go_to_left": False,
    "has_missing": False,
    "unseen_go_to_left": False,
    "log_prior_split": -np.inf,
    "log_likelihood_split": -np.inf,
}


def take_splits(splits: SplitArrays, chosen: IntArray) -> dict[str, Any]:
    """The arrays of some splits in a new order, but for their children; -1 stands for no split."""
    none = chosen < 0
    result: dict[str, Any] = {}
    for name, filler in NO_SPLIT.items():
        array = getattr(splits, name)
        taken = array[chosen] if len(array) else np.zeros(len(chosen), dtype=array.dtype)
        result[name] = np.where(none, np.asarray(filler, dtype=array.dtype), taken)
    for name, others in RAGGED.items():
        all_start = getattr(splits, name)
        first, end = all_start[chosen], all_start[chosen + 1]
        n_entries = np.where(none, 0, end - first)
        start = np.append(0, np.cumsum(n_entries))
        place = np.repeat(first - start[:-1], n_entries) + np.arange(start[-1])
        result |= {name: start} | {other: getattr(splits, other)[place] for other in others}
    return result


def joined(several: Sequence[SplitArrays]) -> SplitArrays:
    """The splits of several, one behind the other; their children stay as they are."""
    result: dict[str, Any] = {}
    for name in SplitArrays.__annotations__:
        own = [getattr(splits, name) for splits in several]
        if name in RAGGED:
            begin = np.cumsum([0, *(starts[-1] for starts in own)])[:-1]
            own = [np.zeros(1, dtype=np.int64), *(b + starts[1:] for b, starts in zip(begin, own, strict=True))]
        result[name] = np.concatenate(own)
    return SplitArrays(**result)
