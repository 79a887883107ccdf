"""The kinds of split, as data: what a node looks at, where a row goes, and how to say it."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from .._typing import FloatArray
from .._words import grouping, number_text
from ..table import Kind, Schema

_LARGEST = math.nextafter(math.inf, 0.0)
_FEW = 3  # categories that are named, even where the others are fewer
NumberText = Callable[[float], str]
Row = Sequence[float] | FloatArray


class SplitKind(IntEnum):
    """The kinds as the arrays of a tree keep them."""

    NONE = 0  # a leaf
    THRESHOLD = 1
    PRESENT_MISSING = 2
    CATEGORY_SET = 3
    HYPERPLANE = 4


@dataclass(frozen=True)
class Threshold:
    """Values up to a threshold go left.

    Attributes
    ----------
    feature, threshold
        Position of the feature, and the largest value that goes left.
    missing_left, has_missing
        Where a missing value goes, and whether the node's training rows decided it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> model.tree_.split(0).threshold
    0.8
    """

    feature: int
    threshold: float
    missing_left: bool
    has_missing: bool

    @property
    def features(self) -> tuple[int, ...]:
        """The features that are used."""
        return (self.feature,)

    def goes_left(self, row: Row) -> bool:
        """Whether a row goes left."""
        value = row[self.feature]
        return self.missing_left if value != value else bool(value <= self.threshold)

    def has_seen(self, row: Row) -> bool:
        """Whether the training rows tell where a row goes."""
        return self.has_missing or bool(row[self.feature] == row[self.feature])

    def subject(self, schema: Schema) -> str:
        """The tested feature: ``age``."""
        return schema.name(self.feature)

    def condition(self, schema: Schema, *, left: bool = True, number: NumberText = number_text) -> str:
        """The condition for a row to go to one side: ``<= 3``, ``> medium or missing``, ``is false``."""
        text = schema.columns[self.feature].condition(self.threshold, left=left, number=number)
        return f"{text} or missing" if self.has_missing and self.missing_left == left else text

    def question(self, schema: Schema, number: NumberText = number_text) -> tuple[str, bool]:
        """The split as a question, and whether a yes goes left; of truth values whether it is true."""
        left = schema.columns[self.feature].kind is not Kind.TRUTH
        return f"{self.subject(schema)} {self.condition(schema, left=left, number=number)}", left


@dataclass(frozen=True)
class PresentMissing:
    """Rows that have a value go left, rows that do not go right.

    Attributes
    ----------
    feature
        Position of the feature.

    Examples
    --------
    >>> import numpy as np
    >>> from baytree import BayesianTreeClassifier
    >>> X = np.array([[np.nan], [1.0]] * 20)
    >>> BayesianTreeClassifier().fit(X, np.isnan(X[:, 0])).tree_.split(0)
    PresentMissing(feature=0)
    """

    feature: int
    has_missing = True
    missing_left = False

    @property
    def features(self) -> tuple[int, ...]:
        """The features that are used."""
        return (self.feature,)

    def goes_left(self, row: Row) -> bool:
        """Whether a row goes left."""
        return bool(row[self.feature] == row[self.feature])

    def has_seen(self, row: Row) -> bool:  # noqa: ARG002
        """Whether the training rows tell where a row goes: always."""
        return True

    def subject(self, schema: Schema) -> str:
        """The tested feature."""
        return schema.name(self.feature)

    def condition(self, schema: Schema, *, left: bool = True, number: NumberText = number_text) -> str:  # noqa: ARG002
        """``is present`` or ``is missing``."""
        return "is present" if left else "is missing"

    def question(self, schema: Schema, number: NumberText = number_text) -> tuple[str, bool]:
        """The split as a question, and whether a yes goes left."""
        return f"{self.subject(schema)} {self.condition(schema, number=number)}", True


@dataclass(frozen=True)
class CategorySet:
    """Some categories go left, others right.

    Attributes
    ----------
    feature
        Position of the feature.
    left, right
        Positions of the categories that the node's training rows have, on either side.
    unseen_left
        Where other categories go.
    missing_left, has_missing
        Where a missing value goes, and whether the node's training rows decided it.

    Examples
    --------
    >>> from baytree import BayesianTreeClassifier
    >>> model = BayesianTreeClassifier().fit([["red"], ["blue"]] * 20, [0, 1] * 20)
    >>> model.tree_.split(0).left, model.tree_.split(0).right
    ((0,), (1,))
    """

    feature: int
    left: tuple[int, ...]
    right: tuple[int, ...]
    unseen_left: bool
    missing_left: bool
    has_missing: bool

    @property
    def features(self) -> tuple[int, ...]:
        """The features that are used."""
        return (self.feature,)

    def goes_left(self, row: Row) -> bool:
        """Whether a row goes left."""
        value = row[self.feature]
        if value != value:
            return self.missing_left
        return value in self.left or (self.unseen_left and value not in self.right)

    def has_seen(self, row: Row) -> bool:
        """Whether the training rows tell where a row goes."""
        value = row[self.feature]
        return self.has_missing if value != value else value in self.left or value in self.right

    def side(self, *, left: bool) -> tuple[int, ...]:
        """The categories on one side."""
        return self.left if left else self.right

    def subject(self, schema: Schema) -> str:
        """The tested feature."""
        return schema.name(self.feature)

    def condition(self, schema: Schema, *, left: bool = True, number: NumberText = number_text) -> str:  # noqa: ARG002
        """The set on a side, or where it is long and the other is not ``not in`` that; missing counts as a category."""
        here, there = self._members(schema, left=left), self._members(schema, left=not left)
        inside = len(here) <= max(len(there), _FEW)
        return f"{'in' if inside else 'not in'} {{{', '.join(here if inside else there)}}}"

    def question(self, schema: Schema, number: NumberText = number_text) -> tuple[str, bool]:  # noqa: ARG002
        """The split as a question of the shorter set, so that none is put in the negative; whether a yes goes left."""
        left = len(self._members(schema, left=True)) <= len(self._members(schema, left=False))
        return f"{self.subject(schema)} {self.condition(schema, left=left)}", left

    def _members(self, schema: Schema, *, left: bool) -> list[str]:
        names = schema.columns[self.feature].category_texts(self.side(left=left))
        return [*names, "missing"] if self.has_missing and self.missing_left == left else names


@dataclass(frozen=True)
class Hyperplane:
    """Rows whose weighted sum of several features is at most a threshold go left.

    Attributes
    ----------
    features, coefficients
        Positions of the features, and what their values are multiplied by.
    threshold
        The largest sum that goes left.
    missing_values
        What a missing value of each feature counts as.

    Examples
    --------
    >>> import numpy as np
    >>> from baytree import BayesianTreeClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = BayesianTreeClassifier(partitions="oblique").fit(X, X.sum(axis=1) > 0)
    >>> model.tree_.split(0).features
    (1, 0)
    """

    features: tuple[int, ...]
    coefficients: tuple[float, ...]
    missing_values: tuple[float, ...]
    threshold: float
    has_missing = False
    missing_left = False

    def sum(self, row: Row) -> float:
        """The weighted sum, taken in the order of the compiled core."""
        total = 0.0
        for feature, coefficient, missing in zip(self.features, self.coefficients, self.missing_values, strict=True):
            value = row[feature]
            total += coefficient * (value if value == value else missing)
        return float(total)

    def goes_left(self, row: Row) -> bool:
        """Whether a row goes left."""
        return self.sum(row) <= self.threshold

    def has_seen(self, row: Row) -> bool:  # noqa: ARG002
        """Whether the training rows tell where a row goes: always, since missing values count as the mean."""
        return True

    def subject(self, schema: Schema, number: NumberText = number_text) -> str:
        """The sum: ``glucose + 0.4 × bmi``."""
        text = ""
        for coefficient, feature in zip(self.coefficients, self.features, strict=True):
            sign = ("" if coefficient > 0 else "-") if not text else (" + " if coefficient > 0 else " - ")
            size = "" if abs(coefficient) == 1 else f"{number(abs(coefficient))} × "
            text += f"{sign}{size}{schema.name(feature)}"
        return text

    def condition(self, schema: Schema, *, left: bool = True, number: NumberText = number_text) -> str:  # noqa: ARG002
        """``<= 3``; beside coefficients of few digits the threshold has been rounded as far as it can be."""
        is_exact = all(float(f"{coefficient:.6g}") == coefficient for coefficient in self.coefficients)
        threshold = f"{self.threshold:{grouping(abs(self.threshold))}.15g}" if is_exact else number(self.threshold)
        return f"{'<=' if left else '>'} {threshold}"

    def question(self, schema: Schema, number: NumberText = number_text) -> tuple[str, bool]:
        """The split as a question, and whether a yes goes left."""
        return f"{self.subject(schema)} {self.condition(schema, number=number)}", True

    def coefficient(self, feature: int) -> float:
        """The coefficient of a feature."""
        return self.coefficients[self.features.index(feature)]

    def bounds(self, feature: int, row: Row, *, left: bool) -> tuple[float, float]:
        """The numbers of one feature that send a row to one side: above the first, at most the second."""
        rising = self.coefficient(feature) > 0
        changed = list(row)

        def goes_below(number: float) -> bool:
            """True up to some number and False from there on: rounding keeps the order."""
            changed[feature] = number
            return self.goes_left(changed) == rising

        edge = last_float(goes_below, self._crossing(feature, row))
        return (-math.inf, edge) if left == rising else (edge, math.inf)

    def _crossing(self, feature: int, row: Row) -> float:
        """The value of a feature at which the sum equals the threshold, but for rounding."""
        rest = self.threshold
        for other, coefficient, missing in zip(self.features, self.coefficients, self.missing_values, strict=True):
            if other != feature:
                rest -= coefficient * (row[other] if row[other] == row[other] else missing)
        return rest / self.coefficient(feature)


Split = Threshold | PresentMissing | CategorySet | Hyperplane


def last_float(holds: Callable[[float], bool], guess: float) -> float:
    """The largest float for which a condition holds that is true up to there; -inf for none, inf for all of them."""
    low, high = _ordinal(-_LARGEST), _ordinal(_LARGEST)
    if not holds(-_LARGEST):
        return -math.inf
    if holds(_LARGEST):
        return math.inf
    if math.isfinite(guess):
        near = max(low, _ordinal(guess) - 8), min(high, _ordinal(guess) + 8)
        low, high = near if holds(_float(near[0])) and not holds(_float(near[1])) else (low, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(_float(middle)) else (low, middle)
    return _float(low)


def _ordinal(number: float) -> int:
    """Floats as whole numbers in the same order, without holes."""
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    return bits if bits >= 0 else -(bits & (2**63 - 1))


def _float(ordinal: int) -> float:
    (number,) = struct.unpack("<d", struct.pack("<q", abs(ordinal)))
    return number if ordinal >= 0 else -number
