"""The box of each leaf: the conditions that all splits on its path put on a row."""

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

    leads_here: BoolArray  # whether each category leads here
    known: BoolArray  # whether training rows on the path show this
    others: bool = True  # whether a category that was not in the table leads here

    @cached_property
    def first(self) -> int | None:
        """The first category that is known to lead here."""
        reaching = np.flatnonzero(self.leads_here & self.known)
        return int(reaching[0]) if len(reaching) else None

    def after_split(self, split: CategorySet, *, left: bool) -> Categories:
        """Restrict the categories to one side of a split."""
        others_here = split.unseen_left == left
        goes_here, seen = np.full(len(self.leads_here), others_here), np.zeros(len(self.leads_here), dtype=bool)
        for side in (left, not left):
            members = list(split.side(left=side))
            goes_here[members], seen[members] = side == left, True
        return Categories(self.leads_here & goes_here, self.known & seen, self.others and others_here)


@dataclass(frozen=True)
class Condition:
    """The values of one feature that lead to a leaf."""

    low: float = -math.inf  # numbers: low < x <= high
    high: float = math.inf
    categories: Categories | None = None  # of a feature that is split into sets
    missing: bool = True  # whether a missing value leads here
    missing_known: bool = True  # whether training rows on the path show where missing values go

    def holds(self, value: float) -> bool:
        """Whether a value meets the condition."""
        if value != value:
            return self.missing
        if self.categories is None:
            return self.low < value <= self.high
        return bool(self.categories.leads_here[int(value)]) if value >= 0 else self.categories.others

    @property
    def has_numbers(self) -> bool:
        """Whether some finite number meets the condition."""
        after = math.nextafter(self.low, math.inf)
        return after <= self.high and after < math.inf

    @property
    def can_hold(self) -> bool:
        """Whether some value meets the condition."""
        if self.missing or self.categories is None:
            return self.missing or self.has_numbers
        return self.categories.others or bool(self.categories.leads_here.any())

    def within(self, low: float, high: float) -> Condition:
        """Restrict the condition to numbers within bounds."""
        return replace(self, low=max(self.low, low), high=min(self.high, high), missing=False)

    def after_split(self, split: Threshold | PresentMissing | CategorySet, *, left: bool) -> Condition:
        """Restrict the condition to one side of a split."""
        low, high, categories = self.low, self.high, self.categories
        match split:
            case CategorySet():
                categories = None if categories is None else categories.after_split(split, left=left)
            case Threshold():
                low, high = (low, min(high, split.threshold)) if left else (max(low, split.threshold), high)
            case PresentMissing():
                low = low if left else math.inf
        missing = self.missing and split.missing_left == left
        # Once missing values went another way, later splits do not change what is known about them.
        missing_known = self.missing_known and (not self.missing or split.has_missing)
        return Condition(low, high, categories, missing, missing_known)


@dataclass(frozen=True)
class Box:
    """A leaf with its conditions."""

    leaf: int
    conditions: dict[int, Condition]  # by feature, in the order in which they are first used
    hyperplanes: tuple[tuple[int, bool], ...]  # on the path: the node, and whether the path goes left there


def no_condition(column: Column) -> Condition:
    """A condition that every value of a column meets."""
    if not column.is_nominal or column.categories is None:
        return Condition()
    every = np.ones(len(column.categories), dtype=bool)
    return Condition(categories=Categories(every, every))


def boxes_of(tree: TreeStore, schema: Schema) -> list[Box]:
    """The box of every leaf, in the order of the leaves."""
    boxes: list[Box] = []
    stack = [Box(0, {}, ())]
    while stack:
        box = stack.pop()
        if tree.children_left[box.leaf] == NO_CHILD:
            boxes.append(box)
        else:
            stack += [_below(tree, schema, box, left=left) for left in (False, True)]
    return boxes


def box_of_node(tree: TreeStore, schema: Schema, node: int) -> Box:
    """The box of one node."""
    box = Box(0, {}, ())
    for child in tree.path(node)[1:]:
        box = _below(tree, schema, box, left=child == tree.children_left[box.leaf])
    return box


def _below(tree: TreeStore, schema: Schema, box: Box, *, left: bool) -> Box:
    """The box of a child of the node of a box."""
    node = box.leaf
    split, child = tree.split(node), int((tree.children_left if left else tree.children_right)[node])
    if isinstance(split, Hyperplane):
        return Box(child, box.conditions, (*box.hyperplanes, (node, left)))
    before = box.conditions.get(split.feature) or no_condition(schema.columns[split.feature])
    return Box(child, box.conditions | {split.feature: before.after_split(split, left=left)}, box.hyperplanes)
