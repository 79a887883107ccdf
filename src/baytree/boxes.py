"""What each leaf asks of a row, all cuts on its path taken together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ._typing import BoolArray
from .cuts import CutArrays
from .tree import LEAF, Tree


@dataclass(frozen=True)
class Levels:
    """The levels of a categorical feature that lead to a leaf."""

    here: BoolArray  # whether each level leads here
    known: BoolArray  # and whether the training rows on the way tell so
    others: bool = True  # whether a level that was not in the table leads here

    @cached_property
    def first(self) -> int | None:
        """The first level that is known to lead here."""
        found = np.flatnonzero(self.here & self.known)
        return int(found[0]) if len(found) else None

    def behind(self, cuts: CutArrays, cut: int, *, left: bool) -> Levels:
        """The same, on one side of a cut between levels too."""
        others_here = bool(cuts.unseen_go_to_left[cut]) == left
        goes_here, seen = np.full(len(self.here), others_here), np.zeros(len(self.here), dtype=bool)
        for side in (left, not left):
            own = cuts.levels_of(cut, left=side)
            goes_here[own], seen[own] = side == left, True
        return Levels(self.here & goes_here, self.known & seen, self.others and others_here)


@dataclass(frozen=True)
class Demand:
    """The cells of one feature that lead to a leaf."""

    low: float = -math.inf  # numbers: low < x <= high
    high: float = math.inf
    levels: Levels | None = None  # of a categorical feature
    gap: bool = True  # whether a gap leads here
    gap_known: bool = True  # whether the training rows on the way tell where gaps go

    def holds(self, cell: float) -> bool:
        """Whether a cell meets the demand."""
        if cell != cell:
            return self.gap
        if self.levels is None:
            return self.low < cell <= self.high
        return bool(self.levels.here[int(cell)]) if cell >= 0 else self.levels.others

    @property
    def has_numbers(self) -> bool:
        """Whether some finite number meets the demand."""
        after = math.nextafter(self.low, math.inf)
        return after <= self.high and after < math.inf

    def between(self, low: float, high: float) -> Demand:
        """The same, of numbers within bounds only."""
        return replace(self, low=max(self.low, low), high=min(self.high, high), gap=False)

    def behind(self, cuts: CutArrays, cut: int, *, left: bool) -> Demand:
        """The same, on one side of a cut too."""
        low, high, levels, threshold = self.low, self.high, self.levels, float(cuts.threshold[cut])
        if levels is not None and cuts.divides_levels[cut]:
            levels = levels.behind(cuts, cut, left=left)
        elif left:
            high = min(high, threshold)
        else:
            low = max(low, threshold)
        gap = self.gap and bool(cuts.missing_go_to_left[cut]) == left
        # Once gaps went another way, later cuts say nothing about them.
        gap_known = self.gap_known and (not self.gap or bool(cuts.has_missing[cut]))
        return Demand(low, high, levels, gap, gap_known)


@dataclass(frozen=True)
class Box:
    """A leaf with its demands."""

    leaf: int
    demands: dict[int, Demand]  # by feature, in the order in which they are first asked
    planes: tuple[tuple[int, bool], ...]  # hyperplanes on the path: the node, and whether the path goes left there


def any_cell(levels: Sequence[Any] | None) -> Demand:
    """The demand that every cell of a feature meets; `levels` are those of a categorical one."""
    if levels is None:
        return Demand()
    every = np.ones(len(levels), dtype=bool)
    return Demand(levels=Levels(every, every))


def boxes_of(tree: Tree, categories: Sequence[Any]) -> list[Box]:
    """The box of every leaf, in the order of the leaves."""
    found: list[Box] = []
    is_oblique = tree.is_oblique
    stack = [Box(0, {}, ())]
    while stack:
        box = stack.pop()
        node = box.leaf
        if tree.children_left[node] == LEAF:
            found.append(box)
            continue
        for child, left in ((int(tree.children_right[node]), False), (int(tree.children_left[node]), True)):
            if is_oblique[node]:
                stack.append(Box(child, box.demands, (*box.planes, (node, left))))
                continue
            feature = int(tree.feature[node])
            before = box.demands.get(feature) or any_cell(categories[feature])
            demands = box.demands | {feature: before.behind(tree, node, left=left)}
            stack.append(Box(child, demands, box.planes))
    return found
