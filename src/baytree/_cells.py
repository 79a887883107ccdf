"""The cells of one column of a table: numbers or text, with gaps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np

from ._typing import AnyArray, BoolArray, FloatArray
from ._validation import shown

UNSEEN = -1.0  # the code of a level that was not there in training


@dataclass(frozen=True)
class NumberCells:
    """Numbers; NaN is a gap. The column's own type may say that they are levels."""

    numbers: FloatArray
    are_levels: bool = False
    kind = "numbers"

    @property
    def missing(self) -> BoolArray:
        """Which cells are gaps."""
        return np.isnan(self.numbers)

    def levels(self) -> AnyArray:
        """The distinct values in ascending order."""
        return np.unique(self.numbers[~self.missing])

    def codes(self, levels: AnyArray) -> FloatArray:
        """The position of each cell among some levels; UNSEEN for other values, NaN for gaps."""
        if len(levels) == 0:
            return np.where(self.missing, np.nan, UNSEEN)
        place = np.searchsorted(levels, self.numbers).clip(max=len(levels) - 1)
        return np.where(self.missing, np.nan, np.where(levels[place] == self.numbers, place, UNSEEN))


@dataclass(frozen=True)
class TextCells:
    """Text, with a mask of the gaps."""

    labels: list[Any]
    missing: BoolArray
    are_levels = True
    kind = "text"

    def levels(self) -> AnyArray:
        """The distinct labels in ascending order."""
        present = {label for label, gap in zip(self.labels, self.missing, strict=True) if not gap}
        return np.array(sorted(present), dtype=object)

    def codes(self, levels: AnyArray) -> FloatArray:
        """The position of each cell among some levels; UNSEEN for other labels, NaN for gaps."""
        index = {label: float(i) for i, label in enumerate(levels)}
        codes = np.fromiter((index.get(label, UNSEEN) for label in self.labels), np.float64, len(self.labels))
        return np.where(self.missing, np.nan, codes)


Cells = NumberCells | TextCells


def cells_of_objects(values: list[Any], column: str) -> Cells:
    """The cells of a column of Python objects, which must be all numbers or all text, but for gaps."""
    missing = np.fromiter((_is_gap(value) for value in values), bool, len(values))
    present = [value for value, gap in zip(values, missing, strict=True) if not gap]
    if all(isinstance(value, (Number, np.bool_)) and not isinstance(value, complex) for value in present):
        numbers = np.full(len(values), np.nan)
        try:
            numbers[~missing] = [float(value) for value in present]
        except (OverflowError, ValueError) as error:
            raise ValueError(f"{column} of X holds a number that is no float64 ({error}).") from None
        return NumberCells(numbers)
    kinds = sorted({"text" if isinstance(value, str) else type(value).__name__ for value in present})
    if kinds != ["text"]:
        odd = next(value for value in present if not isinstance(value, str))
        raise TypeError(
            f"{column} of X holds values of mixed or unknown type ({', '.join(kinds)}; {shown(odd)} for one): every "
            "argument must be a string, or every one a number; convert the column."
        )
    return TextCells(values, missing)


def _is_gap(value: Any) -> bool:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return type(value).__name__ in ("NAType", "NaTType")  # pandas' own, without pandas
