"""Column specifications: dtypes, bins and categories that a user gives and a fit need not find."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import short_repr
from .._words import within_sentence
from ..growth import ColumnBins
from ..table import (
    UNSEEN,
    Column,
    Kind,
    Schema,
    as_table,
    choose_categorical,
    column_position,
    describe_column,
    is_frame,
)

MAX_CODES = 65536  # of a column
KINDS = {"number": Kind.NUMBER, "bool": Kind.TRUTH, "category": Kind.CATEGORY, "ordered": Kind.ORDERED}
_NUMBERS = ("int", "uint", "float", "double", "decimal")
_TEXT = ("str", "string", "large_string", "object", "utf8", "categorical", "dictionary", "enum")
_TRUTH_BINS = ColumnBins(np.array([0.0, 1.0]), np.array([0.0, 1.0]), has_missing=True)


@dataclass(frozen=True)
class ColumnSpec:
    """The specification of one column, as far as it is given."""

    kind: Kind | None = None
    categories: AnyArray | None = None
    bins: ColumnBins | None = None

    @property
    def is_complete(self) -> bool:
        """Whether the column can be encoded without a pass over its values."""
        return self.bins is not None or self.categories is not None

    @property
    def column(self) -> Column:
        """The column of a complete specification."""
        return Column(self.kind or Kind.NUMBER, self.categories)


@dataclass(frozen=True)
class ColumnSpecs:
    """The specifications of all features of a table."""

    columns: tuple[ColumnSpec, ...]
    names: tuple[str, ...] | None
    is_categorical: tuple[bool, ...] | None  # None where dtypes decide

    @property
    def incomplete(self) -> list[int]:
        """The columns that need a pass over their values."""
        return [i for i, spec in enumerate(self.columns) if not spec.is_complete]

    @property
    def bins(self) -> dict[int, ColumnBins]:
        """The bins of the columns whose specifications are complete."""
        return {i: _bins_of(spec) for i, spec in enumerate(self.columns) if spec.is_complete}

    @property
    def complete_categories(self) -> list[int]:
        """The columns of specified unordered categories, some of which may turn out not to occur."""
        return [i for i, spec in enumerate(self.columns) if spec.is_complete and spec.kind is Kind.CATEGORY]

    def kinds(self) -> dict[int, Kind]:
        """The specified kinds of incomplete columns, by their positions among these."""
        kinds = {place: self.columns[i].kind for place, i in enumerate(self.incomplete)}
        return {place: kind for place, kind in kinds.items() if kind is not None}

    def categorical_features(self) -> Any:
        """The parameter `categorical_features` for the incomplete columns."""
        return "from_dtype" if self.is_categorical is None else [self.is_categorical[i] for i in self.incomplete]

    def schema(self, incomplete: Schema | None) -> Schema:
        """The schema of all columns, given that of the incomplete ones."""
        others = iter(() if incomplete is None else incomplete.columns)
        columns = tuple(spec.column if spec.is_complete else next(others) for spec in self.columns)
        return Schema(columns, self.names)

    def read(self, X: Any, schema: Schema) -> FloatArray:
        """The features of a part as numbers; values that contradict the specifications raise an error."""
        complete = [i for i, spec in enumerate(self.columns) if spec.is_complete]
        # As unordered categories: values that are not in an order would become missing.
        columns = tuple(
            Column(Kind.CATEGORY, column.categories) if column.kind is Kind.ORDERED and i in complete else column
            for i, column in enumerate(schema.columns)
        )
        reason = "dtypes, bins or categories say that it holds {}"
        matrix = Schema(columns, schema.names).read(as_table(X), known=reason).dense()
        for i in complete:
            values = matrix[:, i]
            if self.columns[i].categories is not None:
                is_wrong = values == UNSEEN
            elif self.columns[i].kind is Kind.TRUTH:
                is_wrong = ~(np.isnan(values) | (values == 0) | (values == 1))
            else:
                is_wrong = np.isinf(values) if len(self.bins[i].highs) else ~np.isnan(values)
            if is_wrong.any():
                raise self.error_of_value(i, _value(X, int(np.argmax(is_wrong)), i))
        return matrix

    def error_of_value(self, column: int, value: Any) -> ValueError:
        """The error for a value that contradicts the specification of its column."""
        spec, name = self.columns[column], describe_column(column, self.names)
        if spec.categories is not None:
            return ValueError(
                f"{name} of X has the value {short_repr(value)}, which is not among its given categories: add it to "
                "categories, or leave the column out there."
            )
        if spec.kind is Kind.TRUTH:
            return ValueError(
                f"{name} of X has the value {short_repr(value)}, but dtypes says that it is a truth value."
            )
        if len(self.bins[column].highs) == 0:
            return ValueError(
                f"{name} of X has the value {short_repr(value)}, but no bins: give it bins, or none at all."
            )
        return ValueError(f"{name} of X has an infinite value ({value}): replace it, or make it missing.")


def present_bins(bins: ColumnBins, is_present: BoolArray) -> ColumnBins:
    """The bins that have rows; the last entry of `is_present` is for missing values."""
    return ColumnBins(bins.lows[is_present[:-1]], bins.highs[is_present[:-1]], has_missing=bool(is_present[-1]))


def _value(X: Any, row: int, column: int) -> Any:
    return nw.from_native(X, eager_only=True)[row, column] if is_frame(X) else X[row, column]


def _bins_of(spec: ColumnSpec) -> ColumnBins:
    if spec.bins is not None:
        return spec.bins
    positions = np.arange(0 if spec.categories is None else len(spec.categories), dtype=np.float64)
    return ColumnBins(positions, positions, has_missing=True)


@dataclass(frozen=True)
class TableSpec:
    """Checked dtypes, bins and categories, by the names or positions of their columns."""

    kinds: dict[Any, Kind] = field(default_factory=dict)
    bins: dict[Any, ColumnBins] = field(default_factory=dict)
    categories: dict[Any, AnyArray] = field(default_factory=dict)

    @classmethod
    def read(
        cls, dtypes: Any, bins: Any, categories: Any, not_features: list[Any], *, round_ends: bool = True
    ) -> TableSpec:
        """Read the arguments of `fit`; the dtypes may include those of columns that are not features.

        `round_ends` is whether thresholds will be round numbers: then values between two bins are divided there too.
        """
        target_columns = {column for column in not_features if isinstance(column, str)}
        kinds = {
            column: _kind(column, dtype)
            for column, dtype in _check_mapping("dtypes", dtypes).items()
            if not (isinstance(column, str) and column in target_columns)
        }
        labels = {column: of_dtype for column, (_, of_dtype) in kinds.items() if of_dtype is not None}
        labels |= {
            column: _labels(column, values) for column, values in _check_mapping("categories", categories).items()
        }
        return cls(
            {column: kind for column, (kind, _) in kinds.items()},
            {
                column: replace(_bins(column, values), round_ends=round_ends)
                for column, values in _check_mapping("bins", bins).items()
            },
            labels,
        )

    def of(self, names: Sequence[str] | None, n_columns: int, categorical_features: Any) -> ColumnSpecs:
        """The specifications of the features of a table."""
        by_dtype = isinstance(categorical_features, str) and categorical_features == "from_dtype"
        chosen = None if by_dtype else tuple(choose_categorical(categorical_features, n_columns, names))
        kinds, bins, categories = (
            _by_position(parameter, by_column, names, n_columns)
            for parameter, by_column in (("dtypes", self.kinds), ("bins", self.bins), ("categories", self.categories))
        )
        columns = tuple(
            _column_spec(describe_column(i, names), kinds.get(i), bins.get(i), categories.get(i), is_chosen)
            for i, is_chosen in enumerate([None] * n_columns if chosen is None else chosen)
        )
        return ColumnSpecs(columns, None if names is None else tuple(names), chosen)


def _column_spec(
    name: str, kind: Kind | None, bins: ColumnBins | None, categories: AnyArray | None, is_chosen: bool | None
) -> ColumnSpec:
    """The specification of one column, which must not contradict itself."""
    if bins is not None and categories is not None:
        raise ValueError(f"{name} has both bins and categories: give bins for numbers, categories for anything else.")
    of_categories = kind in (Kind.CATEGORY, Kind.ORDERED)
    if bins is not None and (of_categories or kind is Kind.TRUTH):
        raise ValueError(f"{name} has bins, but dtypes says that it is a {kind}: bins are for numbers.")
    if categories is not None and kind is not None and not of_categories:
        raise ValueError(f"{name} has categories, but dtypes says that it is a {kind}: leave one of them out.")
    if is_chosen is not None:
        if is_chosen and bins is not None:
            raise ValueError(f"{name} has bins, but categorical_features names it: bins are for numbers.")
        if not is_chosen and (of_categories or categories is not None):
            raise ValueError(f"{name} has categories, but categorical_features does not name it: add it there.")
        kind = Kind.CATEGORY if is_chosen and not of_categories else kind
    if kind is None:
        kind = Kind.NUMBER if bins is not None else Kind.CATEGORY if categories is not None else None
    if categories is not None and kind is Kind.CATEGORY:
        categories = np.array(sorted(categories.tolist()), dtype=categories.dtype)
    return ColumnSpec(kind, categories, _TRUTH_BINS if kind is Kind.TRUTH else bins)


def _by_position(parameter: str, by_column: dict[Any, Any], names: Sequence[str] | None, n: int) -> dict[int, Any]:
    result: dict[int, Any] = {}
    for column, value in by_column.items():
        if names is None and isinstance(column, str) and column.isdecimal():
            column = int(column)  # noqa: PLW2901  which JSON made a text
        position = column_position(parameter, column, n, names)
        if position in result:
            raise ValueError(f"{parameter} gives {within_sentence(describe_column(position, names))} twice.")
        result[position] = value
    return result


def _check_mapping(parameter: str, argument: Any) -> dict[Any, Any]:
    if argument is None:
        return {}
    if hasattr(argument, "index") and hasattr(argument, "to_dict"):  # the dtypes of a pandas frame
        argument = argument.to_dict()
    if not isinstance(argument, Mapping):
        raise TypeError(f"{parameter} must be a dict by the names of columns; got {type(argument).__name__}.")
    return dict(argument)


def _kind(column: Any, dtype: Any) -> tuple[Kind, AnyArray | None]:
    """The kind of column that a dtype means, and the categories of a categorical one."""
    values = getattr(dtype, "categories", None)
    labels = None if values is None else _labels(column, values)
    word = getattr(dtype, "__name__", None) if isinstance(dtype, type) else None
    text = (word or str(dtype)).lower().partition("(")[0].partition("[")[0].partition("<")[0]
    if text == "enum" or (labels is not None and getattr(dtype, "ordered", False)):
        return Kind.ORDERED, labels
    if text in KINDS:
        return KINDS[text], labels
    if text.startswith("bool"):
        return Kind.TRUTH, None
    if text.startswith(_NUMBERS):
        return Kind.NUMBER, None
    if text in _TEXT:
        return Kind.CATEGORY, None
    raise ValueError(
        f"dtypes gives column {column!r} the type {short_repr(dtype)}: it must be 'number', 'bool', 'category' or "
        "'ordered', or a dtype that is one of these."
    )


def _labels(column: Any, values: Any) -> AnyArray:
    """Read categories: all text or all numbers, each once."""
    labels = values.tolist() if hasattr(values, "tolist") else values
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(f"categories of column {column!r} must be a list; got {short_repr(values)}.")
    labels = list(labels)
    if len(set(labels)) < len(labels):
        raise ValueError(f"categories of column {column!r} hold a value twice: give each once.")
    if all(isinstance(label, str) for label in labels):
        result = np.empty(len(labels), dtype=object)
        result[:] = labels
        return result
    if all(isinstance(label, (int, float, np.number)) and np.isfinite(label) for label in labels):
        return np.array(labels, dtype=np.float64)
    raise TypeError(
        f"categories of column {column!r} must be all text or all finite numbers; got {short_repr(labels)}."
    )


def _bins(column: Any, values: Any) -> ColumnBins:
    """Read bins: their limits, or the lowest and the highest value of each bin."""
    what = f"bins of column {column!r} must be numbers in ascending order, or the lowest and highest value of each bin"
    try:
        numbers = np.asarray(values, dtype=np.float64) + 0.0
    except (TypeError, ValueError):
        raise TypeError(f"{what}; got {short_repr(values)}.") from None
    if numbers.shape == (1, 0):  # JSON's way to say that there is no bin
        numbers = numbers.reshape(0, 2)
    if numbers.ndim not in (1, 2) or (numbers.ndim == 2 and numbers.shape[1] != 2) or not np.isfinite(numbers).all():
        raise ValueError(f"{what}; got {short_repr(values)}.")
    if numbers.ndim == 1:
        if np.any(np.diff(numbers) <= 0):
            raise ValueError(f"{what}; {short_repr(values)} are not in ascending order.")
        lows, highs = numbers[[0, *range(len(numbers))] if len(numbers) else []], np.append(numbers, numbers[-1:])
    else:
        lows, highs = numbers.T
        if np.any(lows > highs) or np.any(highs[:-1] >= lows[1:]):
            raise ValueError(f"{what}; those of {short_repr(values)} overlap or are not in ascending order.")
    if len(lows) == 0 and numbers.ndim == 1:  # no limit: one bin
        lows = highs = np.zeros(1)
    if len(lows) >= MAX_CODES:
        raise ValueError(f"bins of column {column!r} are more than {MAX_CODES - 1}: give fewer.")
    return ColumnBins(np.ascontiguousarray(lows), np.ascontiguousarray(highs), has_missing=True)
