"""Changes of few features that lead to another decision, found by exact search.

Each leaf with another decision puts conditions on the features of its path; a row gets there when each feature that
fails its condition takes a value that meets it. The nearest proposal for each such leaf is kept, if it changes few
enough features. The new value is the nearest one that meets the condition: the threshold itself for ``x <= t``, the
next number after it for ``x > t``, or the next integer; the first of several categories.

The distance of a changed number is the change divided by the feature's scale: the span between the lowest and the
highest threshold that the tree has for it; where it has one, the size of that threshold; and 1 where that is 0. A
hyperplane counts as the threshold at which it meets the feature's axis. A step to the next ordered category, and from
one truth value to the other, counts 1, as do another category, a missing value that is filled in and a value that
becomes missing. Distances of several features add up. Of equal distances the change of fewer features counts, then of
those that come first in the table, then the first leaf.

The support of a change is the number of training rows in the leaf that it leads to. The best supported change is listed
first; the nearest is always listed. A proposal is dropped where another one changes a subset of its features, is no
further away, and is as well supported.

Numbers stay within the range of their column in training, and columns of integers get integers.

A value is proposed only where training rows show which way it goes: no category and no missing value that a split on
the way sends to the larger side because it saw none. A feature of a hyperplane on the way does not become missing.

A change of one feature is searched exactly in trees with hyperplanes too: with the others fixed, each hyperplane is a
bound on it. Several features are changed together where no hyperplane on the way to the leaf has two of them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from .._typing import FloatArray
from .._validation import check_integer, short_repr
from .._words import count_text, estimate_text, number_text
from ..fitted import Fitted
from ..table import Column, Schema
from ..tree import Hyperplane, SplitKind, TreeStore
from ._boxes import Box, Condition, boxes_of, no_condition

_FARTHEST = 1e300  # two of them have a finite sum


@dataclass(frozen=True)
class AllowedChanges:
    """Which features may be changed and how, and how many counterfactuals are listed."""

    immutable: frozenset[int] = frozenset()  # features that stay as they are
    directions: tuple[tuple[int, int], ...] = ()  # features that may only rise (1) or fall (-1)
    missing: bool = False  # whether a value may become missing
    max_features: int = 2
    n_changes: int = 3

    def direction(self, feature: int) -> int:
        """1, -1 or, where a feature may go either way, 0."""
        return dict(self.directions).get(feature, 0)


def read_allowed(
    schema: Schema, *, immutable: Any, directions: Any, allow_missing: Any, max_features: Any, n_changes: Any
) -> AllowedChanges:
    """Read what a user allows to be changed."""
    fixed = [immutable] if isinstance(immutable, str) else immutable
    given = schema.by_position("directions", directions or {})
    if given is None:
        raise TypeError(
            f"directions must be a dict from column to 1 (may rise) or -1 (may fall); got {short_repr(directions)}."
        )
    for feature, direction in given.items():
        if direction not in (1, -1) or isinstance(direction, bool):
            raise ValueError(f"directions must be 1 or -1; got {short_repr(direction)} for {schema.name(feature)!r}.")
        if schema.columns[feature].is_nominal:
            raise ValueError(f"directions names {schema.name(feature)!r}, whose categories have no order.")
    if not isinstance(allow_missing, bool):
        raise TypeError(f"allow_missing must be True or False; got {short_repr(allow_missing)}.")
    return AllowedChanges(
        frozenset(schema.position("immutable", column) for column in fixed),
        tuple(sorted(given.items())),
        allow_missing,
        check_integer("max_features", max_features, low=1),
        check_integer("n_changes", n_changes, low=1),
    )


@dataclass(frozen=True)
class Change:
    """A new value for one feature.

    Attributes
    ----------
    feature, column
        Name and position of the feature.
    old, new
        Values: a number, a truth value, a category; None where missing.
    text
        The change in words.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> model.explain(X[:1])[0].nearest.changes[0].text
    'petal width (cm) from 0.2 to more than 0.8 but at most 1.75'
    """

    feature: str
    column: int
    old: float | bool | str | None
    new: float | bool | str | None
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Counterfactual:
    """A change that leads to another decision.

    Attributes
    ----------
    changes
        What changes, a `Change` for each feature.
    distance
        Size of the change.
    decision, estimate
        The new decision; the probability of that class, or the mean of that leaf.
    leaf, n_rows
        The leaf that is reached, and its training rows: how usual the change is. None for an average over trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> change = model.explain(X[:1])[0].nearest
    >>> change.decision, change.n_rows
    ('1', 54)
    """

    changes: tuple[Change, ...]
    distance: float
    decision: str
    estimate: float
    leaf: int | None
    n_rows: int | None

    def __str__(self) -> str:
        usual = "" if self.n_rows is None else f"; like {count_text(self.n_rows, 'training row')}"
        return f"{', and '.join(map(str, self.changes))} -> {self.decision} ({estimate_text(self.estimate)}{usual})"


class _NewValue(NamedTuple):
    """A new value for a feature, and how far away it is."""

    distance: float
    value: float
    condition: Condition


class _Proposal(NamedTuple):
    """New values that lead to another decision; proposals are ordered by these fields."""

    distance: float
    n_features: int
    features: tuple[int, ...]
    leaf: int
    new_values: tuple[_NewValue, ...]


class Counterfactuals:
    """Finds the counterfactuals of rows of numbers."""

    def __init__(self, fitted: Fitted, allowed: AllowedChanges) -> None:
        self.allowed = allowed
        self.decisions = fitted.decisions()
        self.schema = fitted.schema
        self.n_rows = fitted.trees.n_node_samples
        self.boxes = boxes_of(fitted.trees, fitted.schema)
        self.hyperplanes = hyperplanes_of(fitted.trees)
        self.scale = scales_of(fitted)

    def of(self, row: FloatArray, leaf: int) -> tuple[Counterfactual, ...]:
        """Ways to another decision of a row that is in a leaf, the most usual first, the nearest among them."""
        values = row.tolist()
        decision = self.decisions.code[leaf]
        others = (box for box in self.boxes if self.decisions.code[box.leaf] != decision)
        nearest = (min(self._proposals(values, box), key=lambda proposal: proposal[:4], default=None) for box in others)
        proposals = self._drop_dominated([proposal for proposal in nearest if proposal is not None])
        proposals.sort(key=lambda proposal: (-self.n_rows[proposal.leaf], proposal[:4]))
        listed = proposals[: self.allowed.n_changes]
        if proposals and (first := min(proposals, key=lambda proposal: proposal[:4])) not in listed:
            listed[-1] = first
        return tuple(self._counterfactual(values, proposal) for proposal in listed)

    def _drop_dominated(self, proposals: list[_Proposal]) -> list[_Proposal]:
        """Drop proposals that change more features, further, to reach a leaf with fewer training rows."""
        return [
            proposal
            for proposal in proposals
            if not any(
                set(other.features) < set(proposal.features)
                and other.distance <= proposal.distance
                and self.n_rows[other.leaf] >= self.n_rows[proposal.leaf]
                for other in proposals
            )
        ]

    def _proposals(self, values: Sequence[float], box: Box) -> Iterator[_Proposal]:
        """The changes of few features that bring a row into a box."""
        failed = []
        for feature, condition in box.conditions.items():
            if not condition.holds(values[feature]):
                failed.append(feature)
                if len(failed) > self.allowed.max_features or feature in self.allowed.immutable:
                    return
        sets = self._feature_sets(values, box, set(failed)) if box.hyperplanes else [tuple(sorted(failed))]
        for features in sets:
            new_values = [self._new_value(feature, values, box) for feature in features]
            if None not in new_values:
                done = tuple(new_value for new_value in new_values if new_value is not None)
                yield _Proposal(sum(new_value.distance for new_value in done), len(features), features, box.leaf, done)

    def _feature_sets(self, values: Sequence[float], box: Box, failed: set[int]) -> Iterator[tuple[int, ...]]:
        """The sets of features that may bring a row into a box behind hyperplanes; no two of one hyperplane."""
        on_path = [(self.hyperplanes[node], left) for node, left in box.hyperplanes]
        every = [set(plane.features) for plane, _ in on_path]
        wrong = [set(plane.features) for plane, left in on_path if plane.goes_left(values) != left]
        choice = failed.union(*wrong) - self.allowed.immutable
        for size in range(1, self.allowed.max_features + 1):
            for features in combinations(sorted(choice), size):
                chosen = set(features)
                enough = failed <= chosen and all(plane & chosen for plane in wrong)
                if enough and all(len(plane & chosen) < 2 for plane in every):
                    yield features

    def _new_value(self, feature: int, values: Sequence[float], box: Box) -> _NewValue | None:
        """The nearest value of a feature that a box wants, the others being as they are."""
        column = self.schema.columns[feature]
        condition = box.conditions.get(feature) or no_condition(column)
        for node, left in box.hyperplanes:
            if feature in self.hyperplanes[node].features:
                condition = condition.within(*self.hyperplanes[node].bounds(feature, values, left=left))
        value, direction = values[feature], self.allowed.direction(feature)
        if direction and value == value:
            condition = condition.within(*((_previous_float(value), math.inf) if direction > 0 else (-math.inf, value)))
        return _nearest_value(value, condition, column, self.scale[feature], may_be_missing=self.allowed.missing)

    def _counterfactual(self, values: Sequence[float], proposal: _Proposal) -> Counterfactual:
        pairs = zip(proposal.features, proposal.new_values, strict=True)
        return Counterfactual(
            changes=tuple(self._change(feature, values[feature], new_value) for feature, new_value in pairs),
            distance=proposal.distance,
            decision=self.decisions.name(proposal.leaf),
            estimate=float(self.decisions.estimate[proposal.leaf]),
            leaf=proposal.leaf,
            n_rows=int(self.n_rows[proposal.leaf]),
        )

    def _change(self, feature: int, value: float, new_value: _NewValue) -> Change:
        name, column = self.schema.name(feature), self.schema.columns[feature]
        old, new = column.value(value), column.value(new_value.value)
        if column.categories is not None or isinstance(new, bool) or new is None:
            return Change(
                name, feature, old, new, f"{name} from {column.text(value)} to {column.text(new_value.value)}"
            )
        number: Callable[[float], str] = number_text
        if old is not None and number_text(value) in (
            number_text(new_value.condition.low),
            number_text(new_value.condition.high),
        ):
            number = repr  # the digits that tell them apart
        before = "missing" if old is None else number(value)
        after = _range_text(value, new_value.condition, column, number)
        return Change(name, feature, old, new, f"{name} from {before} to {after}")


def hyperplanes_of(tree: TreeStore) -> dict[int, Hyperplane]:
    """The hyperplanes of a tree by node."""
    splits = {int(node): tree.split(int(node)) for node in np.flatnonzero(tree.is_of(SplitKind.HYPERPLANE))}
    return {node: split for node, split in splits.items() if isinstance(split, Hyperplane)}


def _previous_float(value: float) -> float:
    """The number before another one: what is above it may be that number."""
    return math.nextafter(value, -math.inf)


def _nearest_value(
    value: float, condition: Condition, column: Column, scale: float, *, may_be_missing: bool
) -> _NewValue | None:
    """The nearest value that meets a condition which this one does not meet, if any."""
    is_missing = value != value
    candidates = []
    if condition.categories is not None:
        if condition.categories.first is not None:
            candidates.append(_NewValue(1.0, float(condition.categories.first), condition))
    else:
        new = (_nearest_position if column.is_whole else _nearest_number)(value, condition, column)
        if new is not None:
            candidates.append(_NewValue(1.0 if is_missing else _distance(value, new, scale), new, condition))
    if may_be_missing and condition.missing and condition.missing_known and not is_missing:
        candidates.append(_NewValue(1.0, math.nan, condition))
    return min(candidates, key=lambda new_value: new_value.distance, default=None)


def _nearest_number(value: float, condition: Condition, column: Column) -> float | None:
    """The number that meets a condition and is the nearest; in place of a missing value one at an end."""
    low, high = _reachable(condition, column)
    after_low = low + 1 if column.is_integer else math.nextafter(low, math.inf)
    if not (after_low <= high and after_low < math.inf):
        return None
    if value == value:
        return after_low if value <= low else high
    if math.isfinite(condition.high):
        return high
    return after_low if math.isfinite(condition.low) else min(max(0.0, after_low), high)


def _reachable(condition: Condition, column: Column) -> tuple[float, float]:
    """The bounds of a condition (above the first, up to the second) within the range of the column in training."""
    low, high = condition.low, condition.high
    if column.low is not None and column.high is not None:
        low, high = max(low, _previous_float(column.low)), min(high, column.high)
    return (float(np.floor(low)), float(np.floor(high))) if column.is_integer else (low, high)


def _nearest_position(value: float, condition: Condition, column: Column) -> float | None:
    """The nearest position that meets the condition, for truth values and ordered categories."""
    last = 1 if column.categories is None else len(column.categories) - 1
    fitting = [float(place) for place in range(last + 1) if condition.low < place <= condition.high]
    return min(fitting, key=lambda place: abs(place - value) if value == value else 0.0, default=None)


def _distance(old: float, new: float, scale: float) -> float:
    distance = abs(new - old) / scale
    if math.isinf(distance):  # as the difference of two finite numbers may be
        distance = abs(new / scale - old / scale)
    return min(distance, _FARTHEST)


def scales_of(fitted: Fitted) -> list[float]:
    """The scale of every feature."""
    tree, hyperplanes = fitted.trees, hyperplanes_of(fitted.trees)
    thresholds: list[list[float]] = [[] for _ in range(tree.n_features)]
    for node in np.flatnonzero(tree.is_of(SplitKind.THRESHOLD)):
        thresholds[tree.feature[node]].append(float(tree.threshold[node]))
    for plane in hyperplanes.values():
        for feature in plane.features:
            thresholds[feature].append(plane.threshold / plane.coefficient(feature))
    columns = fitted.schema.columns
    return [1.0 if column.is_whole else _scale(values) for column, values in zip(columns, thresholds, strict=True)]


def _scale(thresholds: list[float]) -> float:
    if not thresholds:
        return 1.0
    span = max(thresholds) - min(thresholds)
    return min(span or abs(thresholds[0]) or 1.0, sys.float_info.max)


def _range_text(value: float, condition: Condition, column: Column, number: Callable[[float], str]) -> str:
    """The range that a number must reach as text, the nearer end first."""
    ends = []
    if math.isfinite(condition.high):
        ends.append(f"at most {number(math.floor(condition.high) if column.is_integer else condition.high)}")
    if math.isfinite(condition.low):
        low = (
            f"at least {number(math.floor(condition.low) + 1)}"
            if column.is_integer
            else (f"more than {number(condition.low)}")
        )
        ends.insert(0 if value <= condition.low else len(ends), low)
    return " but ".join(ends) or "any number"
