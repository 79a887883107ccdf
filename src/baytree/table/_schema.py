"""The schema of a table: names, kinds and categories of its columns.

A schema is learnt from the table of `fit`. At predict it reads a table of the same columns into rows of numbers:
numbers as they are, truth values as 0 and 1, categories as their positions, NaN where a value is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, Self

import numpy as np
from scipy import sparse

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from .._validation import short_repr
from .._words import category_text, number_text, within_sentence
from ._frames import frame_columns
from ._rows import Rows
from ._tables import is_frame, may_hold_text
from ._values import UNSEEN, NumberValues, Values, values_of_objects


class Kind(StrEnum):
    """The kind of a column, which decides how it may be split."""

    NUMBER = "number"
    TRUTH = "truth value"
    CATEGORY = "category"  # split into sets
    ORDERED = "ordered category"  # split by order


MOST_INTEGER = 2**53  # beyond it float64 does not know all integers
MAX_CATEGORIES = 65535  # of a column; with missing values, codes of 16 bits
_OF_CATEGORIES = (Kind.CATEGORY, Kind.ORDERED)


@dataclass(frozen=True)
class Column:
    """One column: its kind, its categories (ordered ones in their order), and the range of its numbers in training.

    Attributes
    ----------
    kind
        How the column may be split.
    categories
        The categories; None for numbers and truth values.
    low, high
        The lowest and the highest number in training; None where there is none, or where they are not known.
    is_integer
        Whether all numbers in training were integers, below 2**53.

    Examples
    --------
    >>> from baytree import BayesianTreeClassifier
    >>> model = BayesianTreeClassifier().fit([[1.0, 0.5], [2.0, 0.7], [3.0, 0.6]], [0, 1, 0])
    >>> [(column.low, column.high, column.is_integer) for column in model.schema_.columns]
    [(1.0, 3.0, True), (0.5, 0.7, False)]
    """

    kind: Kind = Kind.NUMBER
    categories: AnyArray | None = None
    low: float | None = None
    high: float | None = None
    is_integer: bool = False

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state | {"kind": Kind(state["kind"])})  # skops makes plain text of it

    def with_numbers(self, low: float, high: float, is_integer: bool) -> Column:
        """The column with the range of its numbers in training; NaN for no number. Other kinds have none."""
        if self.kind is not Kind.NUMBER or not low <= high:
            return self
        is_integer = bool(is_integer) and max(abs(low), abs(high)) < MOST_INTEGER
        return Column(self.kind, self.categories, float(low), float(high), is_integer)

    @property
    def is_nominal(self) -> bool:
        """Whether the column has categories without an order."""
        return self.kind is Kind.CATEGORY

    def value(self, number: float) -> float | bool | str | None:
        """The meaning of a number of a row: itself, a truth value, a category; None where it is missing."""
        if number != number:
            return None
        if self.kind is Kind.TRUTH and number in (0.0, 1.0):
            return bool(number == 1.0)
        if self.categories is None:
            return float(number)
        if number < 0:
            return "another category"
        label = self.categories[int(number)]
        return label if isinstance(label, str) else float(label)

    def text(self, number: float) -> str:
        """The meaning of a number of a row, as text."""
        value = self.value(number)
        if value is None:
            return "missing"
        if isinstance(value, bool):
            return "true" if value else "false"
        return number_text(value) if self.categories is None and isinstance(value, float) else category_text(value)

    @property
    def is_whole(self) -> bool:
        """Whether only whole positions stand for something, though the column is split by a threshold."""
        return self.kind in (Kind.TRUTH, Kind.ORDERED)

    def condition(self, threshold: float, *, left: bool, number: Callable[[float], str] = number_text) -> str:
        """The condition of a value on one side of a threshold: ``<= 3``, ``> medium``, ``is true``."""
        if self.kind is Kind.TRUTH and 0 <= threshold < 1:
            return "is false" if left else "is true"
        return f"{'<=' if left else '>'} {self.bound_text(threshold, number)}"

    def bound_text(self, threshold: float, number: Callable[[float], str] = number_text) -> str:
        """A threshold: a number, the highest integer on its lower side, or the last category there."""
        if self.categories is None:
            return number(float(math.floor(threshold)) if self.is_integer and abs(threshold) < math.inf else threshold)
        return category_text(self.categories[min(max(math.floor(threshold), 0), len(self.categories) - 1)])

    def category_texts(self, positions: Iterable[int] | None = None) -> list[str]:
        """The names of some categories, or of all."""
        if self.categories is None:
            return []
        chosen = range(len(self.categories)) if positions is None else positions
        return [category_text(self.categories[i]) for i in chosen]


@dataclass(frozen=True, eq=False)
class Schema:
    """The columns of a table, in order, with their names where they have any."""

    columns: tuple[Column, ...]
    names: tuple[str, ...] | None = None

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def is_nominal(self) -> BoolArray:
        """Whether each column has categories without an order."""
        return np.array([column.is_nominal for column in self.columns], dtype=bool)

    @property
    def is_plain(self) -> bool:
        """Whether every column holds numbers or truth values, so that a matrix is read as it is."""
        return all(column.categories is None for column in self.columns)

    @property
    def categories(self) -> tuple[AnyArray | None, ...]:
        """The categories of each column, None where it has none."""
        return tuple(column.categories for column in self.columns)

    def name(self, position: int) -> str:
        """The name of a column, ``x3`` where the table has no names."""
        return f"x{position}" if self.names is None else self.names[position]

    def describe(self, position: int) -> str:
        """A column in an error: ``Column 'age'``."""
        return describe_column(position, self.names)

    def position(self, parameter: str, column: Any) -> int:
        """The position of a column that a parameter gives by name or by position."""
        return column_position(parameter, column, self.n_features, self.names)

    def by_position(self, parameter: str, value: Any) -> dict[int, Any] | None:
        """A parameter that is given by name or position, by position; None where it is given in order."""
        if hasattr(value, "index") and hasattr(value, "to_dict"):  # a pandas Series; its own labels are names
            value = value.to_dict()
        if not isinstance(value, dict):
            return None
        result: dict[int, Any] = {}
        for column, entry in value.items():
            position = self.position(parameter, column)
            if position in result:
                raise ValueError(f"{parameter} gives {within_sentence(self.describe(position))} twice.")
            result[position] = entry
        return result

    def with_numbers(self, numbers: Sequence[tuple[float, float, bool]], is_used: BoolArray) -> Schema:
        """The schema with the range of the numbers of each used column."""
        trios = zip(self.columns, numbers, is_used.tolist(), strict=True)
        columns = (column.with_numbers(*ends) if used else column for column, ends, used in trios)
        return replace(self, columns=tuple(columns))

    @classmethod
    def learn(
        cls, X: Any, categorical_features: Any, names: Sequence[str] | None, kinds: dict[int, Kind] | None = None
    ) -> tuple[Rows, Self]:
        """Read the table of a fit, and what its columns are; the kinds of some, by position, may be known."""
        names = None if names is None else tuple(map(str, names))
        by_dtype = isinstance(categorical_features, str) and categorical_features == "from_dtype"
        plain = not is_frame(X) and not may_hold_text(X)
        if plain and not kinds and (categorical_features is None or by_dtype):
            kind = Kind.TRUTH if getattr(X, "dtype", None) == np.bool_ else Kind.NUMBER
            return Rows(_as_float(X)), cls((Column(kind),) * X.shape[1], names)
        if sparse.issparse(X):
            if any(choose_categorical(categorical_features, X.shape[1], names)):
                raise TypeError("A sparse X holds numbers only: categorical_features needs a dense table.")
            return Rows(X), cls((Column(),) * X.shape[1], names)
        values = _read_columns(X, range(X.shape[1]), names)
        chosen = [column.are_categories for column in values]
        if not by_dtype:
            chosen = choose_categorical(categorical_features, len(values), names)
        kinds = kinds or {}
        chosen = [kinds[i] in _OF_CATEGORIES if i in kinds else is_chosen for i, is_chosen in enumerate(chosen)]
        pairs = enumerate(zip(values, chosen, strict=True))
        schema = cls(
            tuple(
                _learn_column(column_values, is_chosen, describe_column(i, names), kinds.get(i))
                for i, (column_values, is_chosen) in pairs
            ),
            names,
        )
        return schema._rows(values, range(len(values))), schema

    def read(self, X: Any, used: IntArray | None = None, known: str = "held {} in training") -> Rows:
        """Read a table of the same columns; of a data frame only the columns that are used.

        `known` says in an error where the columns are known from.
        """
        if not is_frame(X) and not may_hold_text(X) and self.is_plain:
            return Rows(_as_float(X))
        positions = range(self.n_features) if used is None or not is_frame(X) else used.tolist() or [0]
        return self._rows(_read_columns(X, positions, self.names), positions, known)

    def refuse_infinity(self, rows: Rows, n_threads: int = 1) -> None:
        """Refuse infinite values, naming the first column that has one."""
        X = rows.matrix
        if not rows.scan(n_threads).has_infinity:
            return
        entries = X.tocoo() if sparse.issparse(X) else sparse.coo_array(np.isinf(X))
        infinite = np.isinf(entries.data) if sparse.issparse(X) else entries.data
        in_row, in_column = entries.row[infinite], entries.col[infinite]
        first = np.lexsort((in_row, in_column))[0]
        row, column = int(in_row[first]), int(in_column[first])
        feature = column if rows.column_of is None else int(np.flatnonzero(rows.column_of == column)[0])
        raise ValueError(
            f"{self.describe(feature)} of X has an infinite value ({X[row, column]}) in row {row}: "
            "replace it, or make it NaN if it is unknown; X must not hold inf."
        )

    def _rows(self, values: list[Values], positions: Sequence[int], known: str = "") -> Rows:
        matrix = np.empty((len(values[0].missing), len(values)), order="F")
        for place, (position, column_values) in enumerate(zip(positions, values, strict=True)):
            matrix[:, place] = _numbers(column_values, self.columns[position], self.describe(position), known)
        if len(positions) == self.n_features:
            return Rows(matrix)
        column_of = np.full(self.n_features, -1, dtype=np.int64)
        column_of[list(positions)] = np.arange(len(positions))
        return Rows(matrix, column_of)


def too_many_categories(column: str) -> ValueError:
    """The error for a column of so many categories that it must be an identifier."""
    return ValueError(
        f"{column} of X has more than {MAX_CATEGORIES:,} categories: leave it out if it names the rows, or make them "
        "fewer."
    )


def _as_float(X: Any) -> Any:
    return X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)


def _learn_column(values: Values, is_chosen: bool, name: str, known: Kind | None = None) -> Column:
    if values.holds == "text" and not is_chosen:
        raise ValueError(f"{name} of X holds text: name it in categorical_features, or turn it into numbers.")
    if is_chosen:
        kind = Kind.ORDERED if values.are_ordered else Kind.CATEGORY
        if known is Kind.ORDERED and kind is Kind.CATEGORY:
            raise ValueError(f"{name} of X is to be ordered, but has no order: give its categories, in order.")
        labels = values.categories()
        if len(labels) > MAX_CATEGORIES:
            raise too_many_categories(name)
        if known is Kind.CATEGORY and kind is Kind.ORDERED:
            return Column(known, np.array(sorted(labels.tolist()), dtype=labels.dtype))
        return Column(kind, labels)
    return Column(known or (Kind.TRUTH if values.are_truth_values else Kind.NUMBER))


def _numbers(values: Values, column: Column, name: str, known: str) -> FloatArray:
    """The values of a column as float64, checked against what the column held in training."""
    if values.missing.all():
        return np.full(len(values.missing), np.nan)
    categories = column.categories
    held = "text" if categories is not None and categories.dtype.kind == "O" else "numbers"
    if values.holds != held and (categories is None or len(categories) > 0):
        raise ValueError(f"{name} of X holds {values.holds}, but {known.format(held)}: convert it.")
    if categories is None:
        return values.numbers
    if values.holds == "numbers":
        _check_number_categories(values.numbers, name)
    codes = values.codes(categories)
    # A category without a place in the order counts as missing.
    return np.where(codes == UNSEEN, np.nan, codes) if column.kind is Kind.ORDERED else codes


def _check_number_categories(numbers: FloatArray, name: str) -> None:
    """Categories that are numbers: float64 must tell them apart."""
    size = float(np.nanmax(np.abs(numbers)))
    if np.isinf(size):
        raise ValueError(
            f"{name} of X has an infinite value as a category: replace it, or make it NaN if it is unknown."
        )
    if size >= 2**53:
        raise ValueError(
            f"{name} of X has categories beyond 2**53, which float64 cannot tell apart: turn them into text."
        )


def _read_columns(X: Any, positions: Sequence[int], names: Any) -> list[Values]:
    if is_frame(X):
        return frame_columns(X, positions, lambda i: describe_column(i, names))
    if may_hold_text(X):
        return [values_of_objects(X[:, i].tolist(), describe_column(i, names)) for i in positions]
    truth = X.dtype == np.bool_
    return [NumberValues(np.asarray(X[:, i], dtype=np.float64), truth) for i in positions]


def choose_categorical(categorical_features: Any, n_columns: int, names: Any) -> list[bool]:
    """Read the `categorical_features` parameter, but for "from_dtype": which columns are categorical."""
    what = "categorical_features must be None, 'from_dtype', a mask, or positions or names of columns"
    if categorical_features is None:
        return [False] * n_columns
    if isinstance(categorical_features, (str, dict)) or not isinstance(categorical_features, Iterable):
        raise ValueError(f"{what}; got {short_repr(categorical_features)}.")
    wanted = [column.item() if isinstance(column, np.generic) else column for column in categorical_features]
    if wanted and all(isinstance(column, bool) for column in wanted):
        if len(wanted) != n_columns:
            raise ValueError(f"categorical_features is a mask of {len(wanted)} columns, but X has {n_columns}.")
        return wanted
    chosen = {column_position("categorical_features", column, n_columns, names) for column in wanted}
    return [i in chosen for i in range(n_columns)]


def describe_column(position: int, names: Sequence[str] | None) -> str:
    """Name a column by its name, or by its position where it has none."""
    return f"Column {position}" if names is None else f"Column {names[position]!r}"


def column_position(parameter: str, column: Any, n_columns: int, names: Sequence[str] | None) -> int:
    """The position of a column that a parameter gives by name or by position."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(f"{parameter} names the column {column!r}, but the columns of X have no names.")
        if column not in names:
            raise ValueError(
                f"{parameter} names the column {column!r}, which X does not have: {nearest_name(column, names)}"
            )
        return list(names).index(column)
    if isinstance(column, bool) or not isinstance(column, (int, np.integer)):
        raise TypeError(f"{parameter} must give columns by name or position; got {short_repr(column)}.")
    if not -n_columns <= column < n_columns:
        raise ValueError(f"{parameter} gives column {column}, but X has {n_columns} columns.")
    return int(column) % n_columns


def nearest_name(name: str, names: Iterable[Any]) -> str:
    """A hint for a name that is not among the names of a table."""
    known = [str(name) for name in names]
    near = get_close_matches(name, known, n=1)
    return f"did you mean {near[0]!r}?" if near else f"it has {short_repr(known)}."
