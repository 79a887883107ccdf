"""The words of SQL: names, literals and the conditions of splits, safe whatever the names and categories are."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..table import Column, Kind, Schema
from ..tree import CategorySet, Hyperplane, PresentMissing, Split, Threshold

SMALLEST_READ, _SHIFT = 1e-290, 2.0**200  # a power of two: the product is exact
_LARGEST_TERM, _SMALLEST_TERM = 8e306, 2.5e-324  # of a sum: the terms of a hyperplane neither overflow nor vanish


@dataclass(frozen=True)
class Dialect:
    """The spelling of types, literals and functions that differ between databases."""

    double: str  # the type of float64
    text: str
    number: str  # a literal that is read as float64, with {} for its digits
    infinity: str
    is_nan: str | None  # with {} for a value; None: there is no NaN
    truth: tuple[str, str]  # false, true
    truth_as_double: str
    most_digits: int  # that its reading of numbers is sure to take in full
    longest_name: int  # in bytes
    array: str | None = None  # of numbers, with {} for them; None: there is none
    most_nested: int | None = None  # cases within cases, as far as its parser goes
    refuses_overflow: bool = False  # whether a number that overflows or vanishes is an error


DIALECTS = {
    "duckdb": Dialect(
        double="DOUBLE",
        text="VARCHAR",
        number="{}",
        infinity="CAST('Infinity' AS DOUBLE)",
        is_nan="isnan({})",
        truth=("FALSE", "TRUE"),
        truth_as_double="CAST({} AS DOUBLE)",
        most_digits=17,
        longest_name=2**16,
        array="[{}]",
    ),
    "postgres": Dialect(
        double="DOUBLE PRECISION",
        text="TEXT",
        number="float8 '{}'",
        infinity="float8 'Infinity'",
        is_nan="{} = float8 'NaN'",
        truth=("FALSE", "TRUE"),
        truth_as_double="CAST(CAST({} AS INTEGER) AS DOUBLE PRECISION)",
        most_digits=17,
        longest_name=63,
        array="ARRAY[{}]",
        refuses_overflow=True,
    ),
    "sqlite": Dialect(
        double="REAL",
        text="TEXT",
        number="{}",
        infinity="9e999",
        is_nan=None,
        truth=("0", "1"),
        truth_as_double="CAST({} AS REAL)",
        most_digits=15,
        longest_name=2**16,
        most_nested=10,
    ),
}


def identifier(name: str) -> str:
    """A name in quotes."""
    if "\0" in name:
        raise ValueError(f"SQL cannot hold the name {name!r}: it has a null character.")
    return '"' + name.replace('"', '""') + '"'


def text_literal(text: str) -> str:
    """Text in quotes."""
    if "\0" in text:
        raise ValueError(f"SQL cannot hold the text {text!r}: it has a null character.")
    return "'" + text.replace("'", "''") + "'"


def number_literal(number: float, dialect: Dialect) -> str:
    """A float64 that is read back as it is; in brackets where it is negative, for two signs begin a comment."""
    if math.isnan(number):
        return "NULL"
    size = dialect.infinity if math.isinf(number) else _size_literal(abs(float(number)), dialect)
    return f"(-{size})" if number < 0 else size


def _size_literal(size: float, dialect: Dialect) -> str:
    if dialect.most_digits < 17 and 0 < size < SMALLEST_READ:  # which would be read as 0
        return f"({digits(size * _SHIFT, dialect)} * {digits(1 / _SHIFT, dialect)})"
    return dialect.number.format(digits(size, dialect))


def digits(number: float, dialect: Dialect) -> str:
    """With an exponent: without one, databases read a decimal."""
    digits = repr(number)
    n_digits = len(digits.partition("e")[0].replace(".", "").strip("0"))
    if n_digits > dialect.most_digits or (dialect.most_digits < 17 and number and not 1e-15 < number < 1e15):
        return f"{number:.18e}"  # so near to the number that no way of rounding leads elsewhere
    return digits if "e" in digits else f"{digits}e0"


def label_literal(label: Any, dialect: Dialect) -> str:
    """A class label."""
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, bool):
        return dialect.truth[value]
    if isinstance(value, int):
        if abs(value) >= 2**63:
            raise ValueError(f"SQL cannot hold the class {value}: its whole numbers end at 2**63.")
        return f"({value})" if value < 0 else str(value)
    return text_literal(value) if isinstance(value, str) else number_literal(float(value), dialect)


def pairwise_sum(terms: list[str]) -> str:
    """Terms added in pairs, for databases limit how deep an expression may be."""
    while len(terms) > 2:
        terms = [f"({' + '.join(terms[i : i + 2])})" for i in range(0, len(terms), 2)]
    return " + ".join(terms)


@dataclass(frozen=True)
class Conditions:
    """Splits as conditions on the columns of a relation; a row goes left where its condition is true."""

    schema: Schema
    dialect: Dialect
    relation: str

    def goes_left(self, split: Split) -> str:
        """The condition of one split; it may be NULL, which is not true."""
        match split:
            case Threshold():
                return self._threshold(split)
            case PresentMissing():
                return self._is_present(split.feature)
            case CategorySet():
                return self._category_set(split)
            case Hyperplane():
                return self._hyperplane(split)

    def _column(self, feature: int) -> Column:
        return self.schema.columns[feature]

    def reference(self, feature: int) -> str:
        """A column by its name."""
        return f"{self.relation}.{identifier(self.schema.name(feature))}"

    def _value(self, feature: int) -> str:
        """A column as float64 or, of categories that are text, as text."""
        reference, column = self.reference(feature), self._column(feature)
        if column.kind is Kind.TRUTH:
            return self.dialect.truth_as_double.format(reference)
        holds_text = column.categories is not None and column.categories.dtype.kind == "O"
        return f"CAST({reference} AS {self.dialect.text if holds_text else self.dialect.double})"

    def _has_nan(self, feature: int) -> bool:
        column = self._column(feature)
        holds_numbers = column.categories is None or column.categories.dtype.kind != "O"
        return self.dialect.is_nan is not None and column.kind is not Kind.TRUTH and holds_numbers

    def _is_missing(self, feature: int) -> str:
        """Of a column without an order of categories."""
        if not self._has_nan(feature):
            return f"{self.reference(feature)} IS NULL"
        is_nan = str(self.dialect.is_nan).format(self._value(feature))
        return f"({self.reference(feature)} IS NULL OR {is_nan})"

    def _is_present(self, feature: int) -> str:
        column = self._column(feature)
        if column.kind is Kind.ORDERED:
            return self._is_among(feature, range(len(column.category_texts())))
        return (
            f"NOT {self._is_missing(feature)}" if self._has_nan(feature) else f"{self.reference(feature)} IS NOT NULL"
        )

    def _is_among(self, feature: int, positions: Iterable[int]) -> str:
        """Whether a value is one of some categories; NULL where there is none."""
        categories = self._column(feature).categories
        members = [] if categories is None else [self._category(categories[i]) for i in positions]
        return f"{self._value(feature)} IN ({', '.join(members)})" if members else "1 = 0"

    def _category(self, category: Any) -> str:
        return text_literal(category) if isinstance(category, str) else number_literal(category, self.dialect)

    def _threshold(self, split: Threshold) -> str:
        column = self._column(split.feature)
        if column.categories is not None:  # ordered ones; what has no place in the order counts as missing
            n = len(column.categories)
            n_below = max(0, min(math.floor(split.threshold) + 1, n))
            if not split.missing_left:
                return self._is_among(split.feature, range(n_below))
            return self._not(self._is_among(split.feature, range(n_below, n)), split.feature)
        below = f"{self._value(split.feature)} <= {number_literal(split.threshold, self.dialect)}"
        return f"({self._is_missing(split.feature)} OR {below})" if split.missing_left else below

    def _not(self, condition: str, feature: int) -> str:
        """Whether a condition on a value does not hold, or there is no value."""
        return f"({self.reference(feature)} IS NULL OR NOT {condition})"

    def _category_set(self, split: CategorySet) -> str:
        feature = split.feature
        if not split.unseen_left:
            inside = self._is_among(feature, split.left)
            return f"({self._is_missing(feature)} OR {inside})" if split.missing_left else inside
        outside = self._not(self._is_among(feature, split.right), feature)
        return outside if split.missing_left else f"({self._is_present(feature)} AND {outside})"

    def _hyperplane(self, split: Hyperplane) -> str:
        terms = zip(split.features, split.coefficients, split.missing_values, strict=True)
        total = " + ".join(
            f"{number_literal(coefficient, self.dialect)} * {self._number(feature, coefficient, instead)}"
            for feature, coefficient, instead in terms
        )
        return f"{total} <= {number_literal(split.threshold, self.dialect)}"

    def _bounds(self, value: str, smallest: float, largest: float) -> str:
        """Cases for products with coefficients of such sizes, where a database refuses those that overflow or vanish.

        They are infinite then, or 0, as in the model.
        """
        if not self.dialect.refuses_overflow:
            return ""
        infinity, highest = number_literal(math.inf, self.dialect), _LARGEST_TERM / max(largest, 1.0)
        cases = (
            f"WHEN {value} > {number_literal(highest, self.dialect)} THEN {infinity} "
            f"WHEN {value} < {number_literal(-highest, self.dialect)} THEN (-{infinity}) "
        )
        if smallest < 1:
            cases += f"WHEN abs({value}) <= {number_literal(_SMALLEST_TERM / smallest, self.dialect)} THEN 0e0 "
        return cases

    def position(self, feature: int, coefficients: tuple[float, float] | None = None) -> str:
        """A value as a number, NULL where it is missing; of categories their position, and -1 of those not seen.

        For hyperplanes the sizes of the smallest and the largest of its coefficients are given.
        """
        column, value = self._column(feature), self._value(feature)
        if column.categories is None:
            bounds = "" if coefficients is None else self._bounds(value, *coefficients)
            return f"CASE WHEN {self._is_missing(feature)} THEN NULL {bounds}ELSE {value} END"
        pairs = self._positions(feature)
        if column.kind is Kind.ORDERED:  # what has no place in the order counts as missing
            return f"CASE {self._value(feature)} {pairs} ELSE NULL END"
        unseen = number_literal(-1.0, self.dialect)
        known = f"CASE {self._value(feature)} {pairs} ELSE {unseen} END" if pairs else unseen
        return f"CASE WHEN {self._is_missing(feature)} THEN NULL ELSE {known} END"

    def _positions(self, feature: int) -> str:
        categories = self._column(feature).categories
        return " ".join(
            f"WHEN {self._category(category)} THEN {number_literal(i, self.dialect)}"
            for i, category in enumerate([] if categories is None else categories.tolist())
        )

    def _number(self, feature: int, coefficient: float, instead: float) -> str:
        """A column as a number to multiply, with what missing counts as; of ordered categories their position."""
        column, missing = self._column(feature), number_literal(instead, self.dialect)
        if column.categories is None:
            value = self._value(feature)
            bounds = self._bounds(value, abs(coefficient), abs(coefficient))
            return f"CASE WHEN {self._is_missing(feature)} THEN {missing} {bounds}ELSE {value} END"
        pairs = self._positions(feature)
        return f"CASE {self._value(feature)} {pairs} ELSE {missing} END" if pairs else missing
