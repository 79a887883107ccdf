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
        return {
            "feature": self.feature.astype(np.int32),
            "threshold": self.threshold,
            "lower": self.children_left,
            "upper": self.children_right,
            "gaps_lower": self.missing_go_to_left.view(np.uint8),
            "unseen_lower": self.unseen_go_to_left.view(np.uint8),
            "level_start": self.level_start,
            "level": self.level,
            "level_lower": self.level_goes_left.view(np.uint8),
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


def take_levels(cuts: CutArrays, chosen: IntArray) -> dict[str, Any]:
    """The level arrays of some cuts in a new order; -1 stands for no cut, which has no levels."""
    start, end = cuts.level_start[chosen], cuts.level_start[chosen + 1]
    n_levels = np.where(chosen < 0, 0, end - start)
    level_start = np.append(0, np.cumsum(n_levels))
    place = np.repeat(start - level_start[:-1], n_levels) + np.arange(level_start[-1])
    return {"level_start": level_start, "level": cuts.level[place], "level_goes_left": cuts.level_goes_left[place]}
