"""What would have changed the decision: the smallest change of one feature, and of two, by exact search.

Every leaf with another decision asks something of the features on its path; a row gets there when each of the
features that it fails by gets a cell that the leaf wants. Of all leaves that need at most one such feature (or at most
two), the nearest counts. The new cell is the nearest that leads there: the threshold itself for ``x <= t``, the next
number after it for ``x > t``; of levels the first in their order.

The distance of a changed number is its move divided by the feature's scale: the span between the lowest and the
highest threshold that the tree has for it; where it has one, the size of that threshold; and 1 where that is 0. A
hyperplane counts as the threshold at which it meets the feature's axis. Another level, a gap that is filled and a cell
that becomes a gap count 1. Distances of two features add up. Of equal distances the change of fewer features counts,
then of those that come first in the table, then the first leaf.

Only cells whose way the training rows tell are proposed: no level and no gap that a cut on the way sends with the
larger part because it saw none. A feature that a hyperplane on the way tests does not become a gap.

One changed feature is searched exactly in trees with hyperplanes too: with the others fixed, each hyperplane is a bound
on it. Two features are changed together where no hyperplane on the way to the leaf has both of them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ._typing import FloatArray, IntArray
from .boxes import Box, Demand, any_cell, boxes_of
from .planes import Plane
from .rules import feature_name, level_name, number_text
from .tree import Tree

_FARTHEST = 1e300  # two of them have a finite sum
_MOST_CHANGES = 2


@dataclass(frozen=True)
class Decisions:
    """What the nodes of a tree decide, and their estimate of it."""

    code: IntArray  # by node
    names: tuple[str, ...]  # by code
    estimate: FloatArray  # by node

    def name(self, node: int) -> str:
        """The decision of a node."""
        return self.names[int(self.code[node])]


@dataclass(frozen=True)
class Change:
    """A new cell for one feature."""

    feature: str
    column: int  # its position in the table
    old: float | str | None  # a number, a level, None where it is missing
    new: float | str | None
    text: str  # "glucose from 142 to at most 127.5"

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Counterfactual:
    """A smallest change that leads to another decision."""

    changes: tuple[Change, ...]
    distance: float
    decision: str
    estimate: float  # the probability of that class; the mean of that leaf
    leaf: int

    def __str__(self) -> str:
        return f"{', and '.join(map(str, self.changes))} -> {self.decision} ({self.estimate:.3g})"


class _Move(NamedTuple):
    """A new cell for a feature, and how far away it is."""

    distance: float
    cell: float
    demand: Demand


class _Found(NamedTuple):
    """A way to another decision; the smallest in the order of these fields counts."""

    distance: float
    n_features: int
    features: tuple[int, ...]
    leaf: int
    moves: tuple[_Move, ...]


class Counterfactuals:
    """Finds the counterfactuals of rows of the matrix that a fitted tree reads."""

    def __init__(self, model: Any, decisions: Decisions) -> None:
        self.decisions = decisions
        self.names = getattr(model, "feature_names_in_", None)
        self.categories = model.categories_
        tree: Tree = model.tree_
        self.boxes = boxes_of(tree, self.categories)
        self.planes = {int(node): Plane.of(tree, int(node)) for node in np.flatnonzero(tree.is_oblique)}
        self.scale = _scales(tree, self.planes)

    def of(self, row: FloatArray, leaf: int) -> tuple[Counterfactual | None, Counterfactual | None]:
        """The smallest changes of one feature, and of at most two, of a row that is in a leaf."""
        cells = row.tolist()
        best: list[_Found | None] = [None] * _MOST_CHANGES
        decision = self.decisions.code[leaf]
        for box in self.boxes:
            if self.decisions.code[box.leaf] == decision:
                continue
            for found in self._ways(cells, box):
                for most in range(found.n_features, _MOST_CHANGES + 1):
                    known = best[most - 1]
                    if known is None or found[:4] < known[:4]:
                        best[most - 1] = found
        one, two = (None if found is None else self._in_words(cells, found) for found in best)
        return one, two

    def _ways(self, cells: Sequence[float], box: Box) -> Iterator[_Found]:
        """The changes of few features that bring a row into a box."""
        failed = []
        for feature, demand in box.demands.items():
            if not demand.holds(cells[feature]):
                failed.append(feature)
                if len(failed) > _MOST_CHANGES:
                    return
        for features in self._feature_sets(cells, box, set(failed)) if box.planes else [tuple(sorted(failed))]:
            demands = [self._demand(cells, box, feature) for feature in features]
            moves = [
                _move(cells[feature], demand, self.scale[feature])
                for feature, demand in zip(features, demands, strict=True)
            ]
            if None not in moves:
                done = tuple(move for move in moves if move is not None)
                yield _Found(sum(move.distance for move in done), len(features), features, box.leaf, done)

    def _feature_sets(self, cells: Sequence[float], box: Box, failed: set[int]) -> Iterator[tuple[int, ...]]:
        """The sets of features that may bring a row into a box behind hyperplanes; no two of one hyperplane."""
        planes = [set(self.planes[node].features) for node, _ in box.planes]
        wrong = [
            set(self.planes[node].features) for node, left in box.planes if self.planes[node].goes_left(cells) != left
        ]
        choice = failed.union(*wrong)
        for size in range(1, _MOST_CHANGES + 1):
            for features in combinations(sorted(choice), size):
                chosen = set(features)
                enough = failed <= chosen and all(plane & chosen for plane in wrong)
                if enough and all(len(plane & chosen) < 2 for plane in planes):
                    yield features

    def _demand(self, cells: Sequence[float], box: Box, feature: int) -> Demand:
        """What a box asks of a feature, the others being as they are."""
        demand = box.demands.get(feature) or any_cell(self.categories[feature])
        for node, left in box.planes:
            if feature in self.planes[node].features:
                demand = demand.between(*self.planes[node].bounds(feature, cells, left=left))
        return demand

    def _in_words(self, cells: Sequence[float], found: _Found) -> Counterfactual:
        pairs = zip(found.features, found.moves, strict=True)
        return Counterfactual(
            changes=tuple(self._change(feature, cells[feature], move) for feature, move in pairs),
            distance=found.distance,
            decision=self.decisions.name(found.leaf),
            estimate=float(self.decisions.estimate[found.leaf]),
            leaf=found.leaf,
        )

    def _change(self, feature: int, cell: float, move: _Move) -> Change:
        name, levels = feature_name(feature, self.names), self.categories[feature]
        old, new = _value(cell, levels), _value(move.cell, levels)
        number: Callable[[float], str] = number_text
        if isinstance(old, float) and number_text(old) in (number_text(move.demand.low), number_text(move.demand.high)):
            number = repr  # the digits that tell them apart
        before = number(cell) if levels is None and old is not None else _text(old)
        after = _text(new) if levels is not None or new is None else _range_text(cell, move.demand, number)
        return Change(name, feature, old, new, f"{name} from {before} to {after}")


def _move(cell: float, demand: Demand, scale: float) -> _Move | None:
    """The nearest cell that meets a demand which this one does not meet, if any."""
    is_gap = cell != cell
    found = []
    if demand.levels is not None:
        if demand.levels.first is not None:
            found.append(_Move(1.0, float(demand.levels.first), demand))
    elif demand.has_numbers:
        new = _nearest_number(cell, demand)
        found.append(_Move(1.0 if is_gap else _distance(cell, new, scale), new, demand))
    if demand.gap and demand.gap_known and not is_gap:
        found.append(_Move(1.0, math.nan, demand))
    return min(found, key=lambda move: move.distance, default=None)


def _nearest_number(cell: float, demand: Demand) -> float:
    """The number that meets a demand and is the nearest; in place of a gap one at an end."""
    after_low = math.nextafter(demand.low, math.inf)
    if cell == cell:
        return after_low if cell <= demand.low else demand.high
    if math.isfinite(demand.high):
        return demand.high
    return after_low if math.isfinite(demand.low) else 0.0


def _distance(old: float, new: float, scale: float) -> float:
    distance = abs(new - old) / scale
    if math.isinf(distance):  # as the difference of two finite numbers may be
        distance = abs(new / scale - old / scale)
    return min(distance, _FARTHEST)


def _scales(tree: Tree, planes: dict[int, Plane]) -> list[float]:
    """The scale of every feature."""
    thresholds: list[list[float]] = [[] for _ in range(tree.n_features)]
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        if node in planes:
            for feature in planes[node].features:
                thresholds[feature].append(planes[node].threshold / planes[node].coefficient(feature))
        elif np.isfinite(tree.threshold[node]):
            thresholds[tree.feature[node]].append(float(tree.threshold[node]))
    return [_scale(found) for found in thresholds]


def _scale(thresholds: list[float]) -> float:
    if not thresholds:
        return 1.0
    span = max(thresholds) - min(thresholds)
    return min(span or abs(thresholds[0]) or 1.0, sys.float_info.max)


def _value(cell: float, levels: Any) -> float | str | None:
    """A cell of the matrix as it was in the table."""
    if cell != cell:
        return None
    if levels is None:
        return float(cell)
    if cell < 0:
        return "another level"
    level = levels[int(cell)]
    return level if isinstance(level, str) else float(level)


def _text(value: float | str | None) -> str:
    return "missing" if value is None else level_name(value)


def _range_text(cell: float, demand: Demand, number: Callable[[float], str]) -> str:
    """What a number must become, the nearer end first."""
    ends = [f"at most {number(demand.high)}"] if math.isfinite(demand.high) else []
    if math.isfinite(demand.low):
        ends.insert(0 if cell <= demand.low else len(ends), f"more than {number(demand.low)}")
    return " but ".join(ends) or "any number"
