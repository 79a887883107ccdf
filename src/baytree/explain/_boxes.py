"""What each leaf demands of a row, all splits on its path taken together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .._typing import BoolArray
from ..table import Column, Schema
from ..tree import NO_CHILD, CategorySet, Hyperplane, PresentMissing, Threshold, TreeStore


@dataclass(frozen=True)
class Categories:
    """The categories of a feature that lead to a leaf."""

    here: BoolArray  # whether each category leads here
    known: BoolArray  # and whether the training rows on the way tell so
    others: bool = True  # whether a category that was not in the table leads here

    @cached_property
    def first(self) -> int | None:
        """The first category that is known to lead here."""
        found = np.flatnonzero(self.here & self.known)
        return int(found[0]) if len(found) else None

    def behind(self, split: CategorySet, *, left: bool) -> Categories:
        """The same, on one side of a split too."""
        others_here = split.unseen_left == left
        goes_here, seen = np.full(len(self.here), others_here), np.zeros(len(self.here), dtype=bool)
        for side in (left, not left):
            own = list(split.side(left=side))
            goes_here[own], seen[own] = side == left, True
        return Categories(self.here & goes_here, self.known & seen, self.others and others_here)


@dataclass(frozen=True)
class Demand:
    """The values of one feature that lead to a leaf."""

    low: float = -math.inf  # numbers: low < x <= high
    high: float = math.inf
    categories: Categories | None = None  # of a feature that is split into sets
    missing: bool = True  # whether a missing value leads here
    missing_known: bool = True  # whether the training rows on the way tell where missing values go

    def holds(self, value: float) -> bool:
        """Whether a value meets the demand."""
        if value != value:
            return self.missing
        if self.categories is None:
            return self.low < value <= self.high
        return bool(self.categories.here[int(value)]) if value >= 0 else self.categories.others

    @property
    def has_numbers(self) -> bool:
        """Whether some finite number meets the demand."""
        after = math.nextafter(self.low, math.inf)
        return after <= self.high and after < math.inf

    def between(self, low: float, high: float) -> Demand:
        """The same, of numbers within bounds only."""
        return replace(self, low=max(self.low, low), high=min(self.high, high), missing=False)

    def behind(self, split: Threshold | PresentMissing | CategorySet, *, left: bool) -> Demand:
        """The same, on one side of a split too."""
        low, high, categories = self.low, self.high, self.categories
        match split:
            case CategorySet():
                categories = None if categories is None else categories.behind(split, left=left)
            case Threshold():
                low, high = (low, min(high, split.threshold)) if left else (max(low, split.threshold), high)
            case PresentMissing():
                low = low if left else math.inf
        missing = self.missing and split.missing_left == left
        # Once missing values went another way, later splits say nothing about them.
        missing_known = self.missing_known and (not self.missing or split.has_missing)
        return Demand(low, high, categories, missing, missing_known)


@dataclass(frozen=True)
class Box:
    """A leaf with its demands."""

    leaf: int
    demands: dict[int, Demand]  # by feature, in the order in which they are first used
    hyperplanes: tuple[tuple[int, bool], ...]  # on the path: the node, and whether the path goes left there


def any_value(column: Column) -> Demand:
    """The demand that every value of a column meets."""
    if not column.is_nominal or column.categories is None:
        return Demand()
    every = np.ones(len(column.categories), dtype=bool)
    return Demand(categories=Categories(every, every))


def boxes_of(tree: TreeStore, schema: Schema) -> list[Box]:
    """The box of every leaf, in the order of the leaves."""
    found: list[Box] = []
    stack = [Box(0, {}, ())]
    while stack:
        box = stack.pop()
        node = box.leaf
        if tree.children_left[node] == NO_CHILD:
            found.append(box)
            continue
        split = tree.split(node)
        for child, left in ((int(tree.children_right[node]), False), (int(tree.children_left[node]), True)):
            if isinstance(split, Hyperplane):
                stack.append(Box(child, box.demands, (*box.hyperplanes, (node, left))))
                continue
            before = box.demands.get(split.feature) or any_value(schema.columns[split.feature])
            demands = box.demands | {split.feature: before.behind(split, left=left)}
            stack.append(Box(child, demands, box.hyperplanes))
    return found
