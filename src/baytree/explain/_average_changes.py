"""Changes of one or two columns that lead an average over trees to another decision.

Along one column the prediction changes only at the thresholds of the trees, and where a hyperplane crosses the row. So
these are the candidates, within the range of the column in training. Of many, evenly spaced ones are tried first, then
evenly spaced ones between the row and the nearest that leads to another decision, and so on. Pairs are tried for
the columns that alone move the prediction most. Every proposal is one that the model itself decides otherwise. The
distance of a change is a share of the column's range; another category, a truth value, and a value that is filled in
or becomes missing count 1, as does a step to the next ordered category.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np

from .._typing import FloatArray, IntArray
from .._words import number_text
from ..table import Column
from ..tree import SplitKind
from ._counterfactual import AllowedChanges, Change, Counterfactual
from ._row_decisions import RowDecisions

_MOST_VALUES = 48  # of a column that are tried at first
_ROUNDING = 0.01  # of a column's range, by which a number may be farther away to have few digits
_PAIRED_COLUMNS = 6
_PAIRED_VALUES = 6  # of each of them


class _Candidate(NamedTuple):
    """A new value of a column, what it leads to, and how far away it is."""

    column: int
    value: float
    distance: float
    code: int
    against: float  # how much it speaks against the decision
    estimate: float


class AverageChanges:
    """Finds the counterfactuals of rows by asking the model."""

    def __init__(self, decided: RowDecisions, allowed: AllowedChanges) -> None:
        self.decided, self.allowed = decided, allowed
        fitted = decided.fitted
        self.schema, self.trees = fitted.schema, fitted.trees
        thresholds = self.trees.is_of(SplitKind.THRESHOLD)
        self.thresholds = [
            np.unique(self.trees.threshold[thresholds & (self.trees.feature == f)])
            for f in range(self.schema.n_features)
        ]
        self.used = [f for f in fitted.trees.used_features.tolist() if f not in allowed.immutable]
        missing = self.trees.feature[self.trees.has_missing | self.trees.is_of(SplitKind.PRESENT_MISSING)]
        self.may_be_missing = set(missing.tolist()) if allowed.missing else set()

    def of(self, row: FloatArray, code: int) -> tuple[Counterfactual, ...]:
        """Ways to another decision of a row, the nearest first."""
        values = {f: self._values(f, row) for f in self.used}
        tried = self._try_alone(row, code, values)
        proposals: list[tuple[_Candidate, ...]] = []
        for f, candidates in tried.items():
            flips = [candidate for candidate in candidates if candidate.code != code]
            if flips:
                nearest = min(flips, key=lambda candidate: candidate.distance)
                proposals.append((self._shortened(row, self._nearer(row, code, nearest, values[f]), (), values[f]),))
        if self.allowed.max_features > 1:
            proposals += self._pairs(row, code, tried, proposals, values)
        proposals.sort(key=lambda changes: (sum(change.distance for change in changes), len(changes)))
        return tuple(self._counterfactual(row, changes) for changes in proposals[: self.allowed.n_changes])

    def _values(self, f: int, row: FloatArray) -> FloatArray:
        """All values of a column at which the prediction may change, in ascending order, but the row's own."""
        column, current = self.schema.columns[f], row[f]
        if column.categories is not None:
            values = np.arange(len(column.categories), dtype=np.float64)
        elif column.is_whole:
            values = np.array([0.0, 1.0])
        else:
            values = self._numbers(f, column, row)
        direction = self.allowed.direction(f)
        if direction and current == current:
            values = values[values >= current] if direction > 0 else values[values <= current]
        return values[values != current]

    def _numbers(self, f: int, column: Column, row: FloatArray) -> FloatArray:
        low, high = self._range(f)
        edges = np.concatenate([self.thresholds[f], self._crossings(f, row)])
        if not self.trees.leaves.is_constant:  # predictions change between thresholds too
            edges = np.append(edges, np.linspace(low, high, _MOST_VALUES))
        edges = edges[np.isfinite(edges)]
        sides = [np.floor(edges), np.floor(edges) + 1] if column.is_integer else [edges, np.nextafter(edges, np.inf)]
        values = np.unique(np.concatenate([*sides, [low, high]]))
        return values[(values >= low) & (values <= high)]

    def _crossings(self, f: int, row: FloatArray) -> FloatArray:
        """The values of a column at which hyperplanes meet the row."""
        trees = self.trees
        if len(trees.hyperplane_feature) == 0:
            return np.zeros(0)
        values = row[trees.hyperplane_feature]
        terms = trees.hyperplane_coefficient * np.where(np.isnan(values), trees.hyperplane_missing_value, values)
        plane = np.repeat(np.arange(trees.n_choices), np.diff(trees.hyperplane_start))
        rest = trees.threshold - np.bincount(plane, weights=terms, minlength=trees.n_choices)
        with_f = np.flatnonzero(trees.hyperplane_feature == f)
        with np.errstate(over="ignore", invalid="ignore"):
            return (rest[plane[with_f]] + terms[with_f]) / trees.hyperplane_coefficient[with_f]

    def _try(self, row: FloatArray, code: int, columns: IntArray, values: FloatArray) -> list[_Candidate]:
        """Candidates for one new value each."""
        if len(values) == 0:
            return []
        changed = np.repeat(row[None], len(values), axis=0)
        changed[np.arange(len(values)), columns] = values
        mean = self.decided.means(changed)
        codes, against = self.decided.codes(mean), self._against(mean, code)
        return [
            _Candidate(f, value, self._distance(f, row[f], value), new, against[i], self._estimate(mean[i], new))
            for i, (f, value, new) in enumerate(zip(columns.tolist(), values.tolist(), codes.tolist(), strict=True))
        ]

    def _against(self, mean: FloatArray, code: int) -> list[float]:
        numbers: list[float] = (-self.decided.direction(code) * mean[:, self.decided.column(code)]).tolist()
        return numbers

    def _estimate(self, mean: FloatArray, code: int) -> float:
        return float(mean[self.decided.column(code)])

    def _try_alone(self, row: FloatArray, code: int, values: dict[int, FloatArray]) -> dict[int, list[_Candidate]]:
        """Each column alone: evenly spaced ones of its values, and a missing value where that is allowed."""
        tried = {}
        for f, to_try in values.items():
            n = min(len(to_try), _MOST_VALUES)
            some = to_try[np.unique(np.linspace(0, len(to_try) - 1, n).round().astype(np.int64))]
            tried[f] = np.append(some, np.nan) if f in self.may_be_missing and row[f] == row[f] else some
        columns = np.repeat(list(tried), [len(to_try) for to_try in tried.values()]).astype(np.int64)
        result: dict[int, list[_Candidate]] = {f: [] for f in tried}
        for candidate in self._try(row, code, columns, np.concatenate([*tried.values(), []])):
            result[candidate.column].append(candidate)
        return result

    def _nearer(self, row: FloatArray, code: int, flip: _Candidate, values: FloatArray) -> _Candidate:
        """The nearest value to the row's own that leads to another decision, as far as evenly spaced ones show."""
        f = flip.column
        if self.schema.columns[f].is_nominal or row[f] != row[f] or flip.value != flip.value:
            return flip
        side = (
            values[(values > row[f]) & (values <= flip.value)]
            if flip.value > row[f]
            else (values[(values < row[f]) & (values >= flip.value)][::-1])
        )
        low, high = -1, len(side) - 1  # the row itself keeps the decision, the last one does not
        while high - low > 1:
            places = np.unique(np.linspace(low + 1, high, min(high - low, _MOST_VALUES)).round().astype(np.int64))
            candidates = self._try(row, code, np.full(len(places), f), side[places])
            first = next((i for i, candidate in enumerate(candidates) if candidate.code != code), len(places) - 1)
            flip, high = candidates[first], int(places[first])
            low = int(places[first - 1]) if first > 0 else low
        return flip

    def _pairs(
        self,
        row: FloatArray,
        code: int,
        tried: dict[int, list[_Candidate]],
        alone: list[tuple[_Candidate, ...]],
        values: dict[int, FloatArray],
    ) -> list[tuple[_Candidate, ...]]:
        """Pairs of columns of which neither alone leads to another decision as near."""
        keeping = {f: [one for one in candidates if one.code == code] for f, candidates in tried.items()}
        best = {f: max(one.against for one in candidates) for f, candidates in keeping.items() if candidates}
        columns = sorted(best, key=lambda f: (-best[f], f))[:_PAIRED_COLUMNS]
        chosen = {f: _front(keeping[f])[:_PAIRED_VALUES] for f in columns}
        pairs = [(a, b) for f, g in combinations(columns, 2) for a in chosen[f] for b in chosen[g]]
        if not pairs:
            return []
        changed = np.repeat(row[None], len(pairs), axis=0)
        for place in (0, 1):
            changed[np.arange(len(pairs)), [pair[place].column for pair in pairs]] = [
                pair[place].value for pair in pairs
            ]
        mean = self.decided.means(changed)
        codes, limit = self.decided.codes(mean), {change.column: change.distance for change, *_ in alone}
        nearest: dict[tuple[int, int], tuple[_Candidate, ...]] = {}
        for pair, new, mean_of_pair in zip(pairs, codes.tolist(), mean, strict=True):
            distance, columns_of_pair = pair[0].distance + pair[1].distance, (pair[0].column, pair[1].column)
            is_nearer = all(distance < limit.get(f, math.inf) for f in columns_of_pair)
            before = nearest.get(columns_of_pair)
            if new != code and is_nearer and (before is None or distance < before[0].distance + before[1].distance):
                estimate = self._estimate(mean_of_pair, new)
                nearest[columns_of_pair] = tuple(one._replace(code=new, estimate=estimate) for one in pair)
        return [self._shortened_pair(row, pair, values) for pair in nearest.values()]

    def _shortened_pair(
        self, row: FloatArray, pair: tuple[_Candidate, ...], values: dict[int, FloatArray]
    ) -> tuple[_Candidate, ...]:
        one, two = pair
        one = self._shortened(row, one, (two,), values[one.column])
        two = self._shortened(row, two, (one,), values[two.column])
        return one._replace(estimate=two.estimate), two

    def _shortened(
        self, row: FloatArray, change: _Candidate, others: tuple[_Candidate, ...], values: FloatArray
    ) -> _Candidate:
        """The change with a number of few digits, where that leads to the same decision."""
        f, value, current = change.column, change.value, row[change.column]
        column = self.schema.columns[f]
        if column.categories is not None or column.is_whole or column.is_integer or value != value:
            return change
        most = _ROUNDING * (self._range(f)[1] - self._range(f)[0])
        place = int(np.searchsorted(values, value)) + (-1 if value < current else 1)
        next_value = float(values[place]) if 0 <= place < len(values) else value
        # Beyond the next value too, if the decision stays the same there; else short of it, where it surely does.
        rounded = max(values[0], value - most) if value < current else min(values[-1], value + most)
        for farthest in (rounded, next_value):
            end = value + (float(farthest) - value) / 2 if farthest == next_value else float(farthest)
            short = _short_number(min(value, end), max(value, end))
            changed = row.copy()
            for other in others:
                changed[other.column] = other.value
            changed[f] = short
            mean = self.decided.means(changed[None])
            new = int(self.decided.codes(mean)[0])
            if new == change.code and abs(short - value) <= most:
                estimate = self._estimate(mean[0], new)
                return change._replace(value=short, distance=self._distance(f, current, short), estimate=estimate)
        return change

    def _distance(self, f: int, old: float, new: float) -> float:
        column = self.schema.columns[f]
        if old != old or new != new or column.is_nominal:
            return 1.0
        if column.is_whole:
            return abs(new - old)
        low, high = self._range(f)
        return abs(new / 2 - old / 2) / ((high / 2 - low / 2) or 1.0)

    def _range(self, f: int) -> tuple[float, float]:
        """The range of a column of numbers in training; in a model that does not know it, that of its thresholds."""
        low, high = self.schema.columns[f].low, self.schema.columns[f].high
        if low is not None and high is not None:
            return low, high
        edges = self.thresholds[f]
        return (float(edges[0]), float(np.nextafter(edges[-1], np.inf))) if len(edges) else (0.0, 0.0)

    def _counterfactual(self, row: FloatArray, changes: tuple[_Candidate, ...]) -> Counterfactual:
        ordered = sorted(changes, key=lambda change: change.column)
        return Counterfactual(
            changes=tuple(self._change(float(row[change.column]), change) for change in ordered),
            distance=sum(change.distance for change in changes),
            decision=self.decided.names[changes[0].code],
            estimate=changes[0].estimate,
            leaf=None,
            n_rows=None,
        )

    def _change(self, old: float, change: _Candidate) -> Change:
        f, column, name = change.column, self.schema.columns[change.column], self.schema.name(change.column)
        text: Callable[[float], str] = column.text
        if column.categories is None and _is_cut(change.value):
            text = repr  # all digits matter
        before = "missing" if old != old else text(old)
        after = "missing" if change.value != change.value else text(change.value)
        return Change(name, f, column.value(old), column.value(change.value), f"{name} from {before} to {after}")


def _front(candidates: list[_Candidate]) -> list[_Candidate]:
    """Those that speak more against the decision than any nearer one; the one that does so most comes first."""
    front: list[_Candidate] = []
    for candidate in sorted(candidates, key=lambda change: (change.distance, -change.against)):
        if not front or candidate.against > front[-1].against:
            front.append(candidate)
    return front[::-1]


def _short_number(low: float, high: float) -> float:
    """A number of few digits from low to high."""
    for digits in range(17):
        for number in (low + (high - low) / 2, low, high):
            short = float(f"{number:.{digits}e}")
            if low <= short <= high:
                return short
    return low


def _is_cut(number: float) -> bool:
    """Whether a number to read has fewer digits than the number itself."""
    return number == number and float(number_text(number).replace(",", "")) != number
