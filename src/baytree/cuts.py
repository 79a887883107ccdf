"""Cuts and nodes as parallel arrays: what trees and tree spaces have in common."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ._typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class CutArrays:
    """One entry per cut in each array (of a tree: per node)."""

    children_left: IntArray
    children_right: IntArray
    feature: IntArray
    threshold: FloatArray
    missing_go_to_left: BoolArray
    has_missing: BoolArray
    unseen_go_to_left: BoolArray
    level_start: IntArray
    level: IntArray
    level_goes_left: BoolArray
    oblique_start: IntArray
    oblique_feature: IntArray
    oblique_coefficient: FloatArray
    oblique_gap_value: FloatArray
    log_prior_split: FloatArray
    log_likelihood_split: FloatArray

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return self.arrays()

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def arrays(self) -> dict[str, Any]:
        """Every array by its name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def routing(self) -> dict[str, Any]:
        """What the compiled core needs to send rows down."""
        kind = np.where(np.isposinf(self.threshold), 2, np.where(np.isnan(self.threshold), 3, 1))
        kind = np.where(self.children_left < 0, 0, np.where(self.is_oblique, 4, kind)).astype(np.uint8)
        return {
            "children_left": self.children_left,
            "children_right": self.children_right,
            "kind": kind,
            "feature": self.feature,
            "threshold": self.threshold,
            "missing_go_to_left": self.missing_go_to_left,
            "unseen_go_to_left": self.unseen_go_to_left,
            "category_start": self.level_start,
            "category": self.level,
            "category_goes_left": self.level_goes_left,
            "hyperplane_start": self.oblique_start,
            "hyperplane_feature": self.oblique_feature,
            "hyperplane_coefficient": self.oblique_coefficient,
            "hyperplane_missing_value": self.oblique_gap_value,
        }

    def levels_of(self, cut: int, *, left: bool) -> IntArray:
        """The levels that the training rows have and that a cut sends to one side."""
        part = slice(self.level_start[cut], self.level_start[cut + 1])
        return self.level[part][self.level_goes_left[part] == left]

    def has_seen(self, cut: int, cell: float) -> bool:
        """Whether the training rows tell where a cell of the cut's feature goes: a gap, a level, any number."""
        if np.isnan(cell):
            return bool(self.has_missing[cut])
        own = self.level[self.level_start[cut] : self.level_start[cut + 1]]
        return len(own) == 0 or bool(np.any(own == cell))

    @property
    def is_oblique(self) -> BoolArray:
        """Whether each cut is along a hyperplane of several features."""
        return np.diff(self.oblique_start) > 0

    def terms_of(self, cut: int) -> slice:
        """The terms of a hyperplane in the arrays ``oblique_feature`` and the like."""
        return slice(int(self.oblique_start[cut]), int(self.oblique_start[cut + 1]))

    def features_of(self, cut: int) -> list[int]:
        """The features that a cut asks about."""
        terms = self.terms_of(cut)
        own: list[int] = self.oblique_feature[terms].tolist()
        return own or [int(self.feature[cut])]

    @property
    def divides_levels(self) -> BoolArray:
        """Whether each cut divides the levels of a categorical feature."""
        return np.isnan(self.threshold)


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


# Arrays that have several entries for a cut: where those of a cut begin, and what they are.
RAGGED = {
    "level_start": ("level", "level_goes_left"),
    "oblique_start": ("oblique_feature", "oblique_coefficient", "oblique_gap_value"),
}


def take_ragged(cuts: CutArrays, chosen: IntArray) -> dict[str, Any]:
    """The ragged arrays of some cuts in a new order; -1 stands for no cut, which has no entries."""
    result: dict[str, Any] = {}
    for name, others in RAGGED.items():
        all_start = getattr(cuts, name)
        first, end = all_start[chosen], all_start[chosen + 1]
        n_entries = np.where(chosen < 0, 0, end - first)
        start = np.append(0, np.cumsum(n_entries))
        place = np.repeat(first - start[:-1], n_entries) + np.arange(start[-1])
        result |= {name: start} | {other: getattr(cuts, other)[place] for other in others}
    return result
