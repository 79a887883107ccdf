"""The values of one column of a table: numbers, or labels of categories, some of them missing."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import is_missing, short_repr

UNSEEN = -1.0  # the code of a category that was not there in training
_MISSING = -1  # the code of a missing label in its own column


@dataclass(frozen=True)
class NumberValues:
    """Numbers; NaN is missing."""

    numbers: FloatArray
    are_truth_values: bool = False
    are_categories = False
    are_ordered = False
    holds = "numbers"

    @property
    def missing(self) -> BoolArray:
        """Which values are missing."""
        return np.isnan(self.numbers)

    def categories(self) -> AnyArray:
        """The distinct values in ascending order."""
        return np.unique(self.numbers[~self.missing])

    def codes(self, categories: AnyArray) -> FloatArray:
        """The position of each value among some categories; UNSEEN for other values, NaN where missing."""
        if len(categories) == 0:
            return np.where(self.missing, np.nan, UNSEEN)
        order = np.argsort(categories)
        place = order[np.searchsorted(categories, self.numbers, sorter=order).clip(max=len(categories) - 1)]
        return np.where(self.missing, np.nan, np.where(categories[place] == self.numbers, place, UNSEEN))


@dataclass(frozen=True)
class LabelValues:
    """Labels, all text or all numbers, as positions in a list of distinct ones."""

    positions: IntArray  # in `labels`; -1 is missing
    labels: AnyArray
    are_ordered: bool = False  # the labels stand in their order
    are_categories = True
    are_truth_values = False

    @property
    def holds(self) -> str:
        """The type of the labels: text or numbers."""
        return "text" if self.labels.dtype.kind == "O" else "numbers"

    @property
    def missing(self) -> BoolArray:
        """Which values are missing."""
        return self.positions == _MISSING

    @property
    def numbers(self) -> FloatArray:
        """Labels that are numbers, as numbers."""
        return np.append(self.labels, np.nan).astype(np.float64)[self.positions]

    def categories(self) -> AnyArray:
        """The labels in their order; those that have none in ascending order, as far as they occur."""
        if self.are_ordered:
            return self.labels
        present = self.labels[np.unique(self.positions[~self.missing])]
        return np.array(sorted(present), dtype=self.labels.dtype)

    def codes(self, categories: AnyArray) -> FloatArray:
        """The position of each label among some categories; UNSEEN for other labels, NaN where missing."""
        position = {label: float(i) for i, label in enumerate(categories.tolist())}
        code = [position.get(label, UNSEEN) for label in self.labels.tolist()]
        return np.array([*code, np.nan])[self.positions]


Values = NumberValues | LabelValues


def values_of_objects(values: list[Any], column: str) -> Values:
    """The values of a column of Python objects, which must be all numbers or all text where they are not missing."""
    missing = np.fromiter(map(is_missing, values), bool, len(values))
    present = [value for value, absent in zip(values, missing, strict=True) if not absent]
    if all(isinstance(value, (Number, np.bool_)) and not isinstance(value, complex) for value in present):
        numbers = np.full(len(values), np.nan)
        try:
            numbers[~missing] = [float(value) for value in present]
        except (OverflowError, ValueError) as error:
            raise ValueError(f"{column} of X holds a number that is no float64 ({error}).") from None
        truth = len(present) > 0 and all(isinstance(value, (bool, np.bool_)) for value in present)
        return NumberValues(numbers, truth)
    kinds = sorted({"text" if isinstance(value, str) else type(value).__name__ for value in present})
    if kinds != ["text"]:
        odd = next(value for value in present if not isinstance(value, str))
        raise TypeError(
            f"{column} of X holds values of mixed or unknown type ({', '.join(kinds)}; {short_repr(odd)} for one): "
            "every argument must be a string, or every one a number; convert the column."
        )
    return values_of_text(values)


def values_of_text(values: list[Any]) -> LabelValues:
    """The values of a column of text; what is not text is missing."""
    position = {value: i for i, value in enumerate(dict.fromkeys(values))}
    positions = np.fromiter(map(position.__getitem__, values), np.int64, len(values))
    labels = [value for value in position if isinstance(value, str)]
    place = {label: i for i, label in enumerate(labels)}
    kept = np.array([place.get(value, _MISSING) for value in position], dtype=np.int64)
    known = np.empty(len(labels), dtype=object)
    known[:] = labels
    return LabelValues(kept[positions] if len(kept) else positions, known)


def values_of_labels(positions: IntArray, labels: list[Any], column: str, *, are_ordered: bool) -> LabelValues:
    """The values of a categorical column, whose labels may be anything: what is neither number nor text is shown."""
    if any(is_missing(label) for label in labels):
        raise ValueError(f"{column} of X has a missing value among its categories: remove it from them.")
    are_numbers = [isinstance(label, (Number, np.bool_)) and not isinstance(label, complex) for label in labels]
    are_text = [isinstance(label, str) for label in labels]
    if labels and all(are_numbers):
        return LabelValues(positions, np.array([float(label) for label in labels]), are_ordered)
    if any(are_text) and not all(are_text) and all(a or b for a, b in zip(are_numbers, are_text, strict=True)):
        raise TypeError(f"{column} of X has categories of mixed type, numbers and text: convert the column.")
    known = np.empty(len(labels), dtype=object)
    known[:] = [str(label) for label in labels]
    return LabelValues(positions, known, are_ordered)
