"""What a user says of columns beforehand: dtypes, bins and categories, so that no pass over the rows must find them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import shown
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

MOST_CODES = 65536  # of a column
WORDS = {"number": Kind.NUMBER, "bool": Kind.TRUTH, "category": Kind.CATEGORY, "ordered": Kind.ORDERED}
_NUMBERS = ("int", "uint", "float", "double", "decimal")
_TEXT = ("str", "string", "large_string", "object", "utf8", "categorical", "dictionary", "enum")
_TRUTH_BINS = ColumnBins(np.array([0.0, 1.0]), np.array([0.0, 1.0]), has_missing=True)


@dataclass(frozen=True)
class ColumnSpec:
    """What is known of one column before its values are looked at."""

    kind: Kind | None = None
    categories: AnyArray | None = None
    bins: ColumnBins | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to be found."""
        return self.bins is not None or self.categories is not None

    @property
    def column(self) -> Column:
        """The column, where nothing is left to be found."""
        return Column(self.kind or Kind.NUMBER, self.categories)


@dataclass(frozen=True)
class ColumnSpecs:
    """The same of all features of a table."""

    columns: tuple[ColumnSpec, ...]
    names: tuple[str, ...] | None
    chosen: tuple[bool, ...] | None  # which columns are categorical; None: their dtypes tell

    @property
    def rest(self) -> list[int]:
        """The columns that must be looked at."""
        return [i for i, own in enumerate(self.columns) if not own.is_whole]

    @property
    def bins(self) -> dict[int, ColumnBins]:
        """The bins of the columns that need not be looked at."""
        return {i: _bins_of(own) for i, own in enumerate(self.columns) if own.is_whole}

    @property
    def may_not_occur(self) -> list[int]:
        """Columns of given categories without an order: how many occur matters, and is seen when they are encoded."""
        return [i for i, own in enumerate(self.columns) if own.is_whole and own.kind is Kind.CATEGORY]

    def kinds(self) -> dict[int, Kind]:
        """Said kinds of those columns that must be looked at, by their place among these."""
        said = {place: self.columns[i].kind for place, i in enumerate(self.rest)}
        return {place: kind for place, kind in said.items() if kind is not None}

    def chosen_rest(self) -> Any:
        """`categorical_features` of those columns."""
        return "from_dtype" if self.chosen is None else [self.chosen[i] for i in self.rest]

    def schema(self, found: Schema | None) -> Schema:
        """The schema of all columns, those that were looked at included."""
        of_rest = iter(() if found is None else found.columns)
        columns = tuple(own.column if own.is_whole else next(of_rest) for own in self.columns)
        return Schema(columns, self.names)

    def read(self, X: Any, schema: Schema) -> FloatArray:
        """The features of a part as numbers; values that a known column must not have are refused."""
        known = [i for i, own in enumerate(self.columns) if own.is_whole]
        # An order would make missing what is not in it.
        plain = tuple(
            Column(Kind.CATEGORY, own.categories) if own.kind is Kind.ORDERED and i in known else own
            for i, own in enumerate(schema.columns)
        )
        said = "dtypes, bins or categories say that it holds {}"
        matrix = Schema(plain, schema.names).read(as_table(X), known=said).dense()
        for i in known:
            own = matrix[:, i]
            if self.columns[i].categories is not None:
                wrong = own == UNSEEN
            elif self.columns[i].kind is Kind.TRUTH:
                wrong = ~(np.isnan(own) | (own == 0) | (own == 1))
            else:
                wrong = np.isinf(own)
            if wrong.any():
                raise self.outside(i, _value(X, int(np.argmax(wrong)), i))
        return matrix

    def outside(self, column: int, value: Any) -> ValueError:
        """What to say of a value that a column must not have."""
        known, name = self.columns[column], describe_column(column, self.names)
        if known.categories is not None:
            return ValueError(
                f"{name} of X has the value {shown(value)}, which is not among its given categories: add it to "
                "categories, or leave the column out there."
            )
        if known.kind is Kind.TRUTH:
            return ValueError(f"{name} of X has the value {shown(value)}, but dtypes says that it is a truth value.")
        return ValueError(f"{name} of X has an infinite value ({value}): replace it, or make it missing.")


def occurring(bins: ColumnBins, occurs: BoolArray) -> ColumnBins:
    """Those of the bins that have rows; `occurs` tells it of each, and of missing values."""
    return ColumnBins(bins.lows[occurs[:-1]], bins.highs[occurs[:-1]], has_missing=bool(occurs[-1]))


def _value(X: Any, row: int, column: int) -> Any:
    return nw.from_native(X, eager_only=True)[row, column] if is_frame(X) else X[row, column]


def _bins_of(known: ColumnSpec) -> ColumnBins:
    if known.bins is not None:
        return known.bins
    positions = np.arange(0 if known.categories is None else len(known.categories), dtype=np.float64)
    return ColumnBins(positions, positions, has_missing=True)


@dataclass(frozen=True)
class TableSpec:
    """Dtypes, bins and categories by the name or position of their columns, checked."""

    kinds: dict[Any, Kind] = field(default_factory=dict)
    bins: dict[Any, ColumnBins] = field(default_factory=dict)
    categories: dict[Any, AnyArray] = field(default_factory=dict)

    @classmethod
    def read(cls, dtypes: Any, bins: Any, categories: Any, no_features: list[Any]) -> TableSpec:
        """Read what was given to `fit`; the dtypes may be those of all columns of the table."""
        said = {
            column: _kind(column, own)
            for column, own in _mapping("dtypes", dtypes).items()
            if not (isinstance(column, str) and any(isinstance(own, str) and own == column for own in no_features))
        }
        labels = {column: own for column, (_, own) in said.items() if own is not None}
        labels |= {column: _labels(column, own) for column, own in _mapping("categories", categories).items()}
        return cls(
            {column: kind for column, (kind, _) in said.items()},
            {column: _bins(column, own) for column, own in _mapping("bins", bins).items()},
            labels,
        )

    def of(self, names: Sequence[str] | None, n_columns: int, categorical_features: Any) -> ColumnSpecs:
        """What is known of the features of a table."""
        by_dtype = isinstance(categorical_features, str) and categorical_features == "from_dtype"
        chosen = None if by_dtype else tuple(choose_categorical(categorical_features, n_columns, names))
        kinds, bins, categories = (
            _by_position(parameter, own, names, n_columns)
            for parameter, own in (("dtypes", self.kinds), ("bins", self.bins), ("categories", self.categories))
        )
        columns = tuple(
            _known(describe_column(i, names), kinds.get(i), bins.get(i), categories.get(i), is_chosen)
            for i, is_chosen in enumerate([None] * n_columns if chosen is None else chosen)
        )
        return ColumnSpecs(columns, None if names is None else tuple(names), chosen)


def _known(
    name: str, kind: Kind | None, bins: ColumnBins | None, categories: AnyArray | None, chosen: bool | None
) -> ColumnSpec:
    """What is said of one column, which must not contradict itself."""
    if bins is not None and categories is not None:
        raise ValueError(f"{name} has both bins and categories: give bins for numbers, categories for anything else.")
    of_categories = kind in (Kind.CATEGORY, Kind.ORDERED)
    if bins is not None and (of_categories or kind is Kind.TRUTH):
        raise ValueError(f"{name} has bins, but dtypes says that it is a {kind}: bins are for numbers.")
    if categories is not None and kind is not None and not of_categories:
        raise ValueError(f"{name} has categories, but dtypes says that it is a {kind}: leave one of them out.")
    if chosen is not None:
        if chosen and bins is not None:
            raise ValueError(f"{name} has bins, but categorical_features names it: bins are for numbers.")
        if not chosen and (of_categories or categories is not None):
            raise ValueError(f"{name} has categories, but categorical_features does not name it: add it there.")
        kind = Kind.CATEGORY if chosen and not of_categories else kind
    if kind is None:
        kind = Kind.NUMBER if bins is not None else Kind.CATEGORY if categories is not None else None
    if categories is not None and kind is Kind.CATEGORY:
        categories = np.array(sorted(categories.tolist()), dtype=categories.dtype)
    return ColumnSpec(kind, categories, _TRUTH_BINS if kind is Kind.TRUTH else bins)


def _by_position(parameter: str, given: dict[Any, Any], names: Sequence[str] | None, n: int) -> dict[int, Any]:
    result: dict[int, Any] = {}
    for column, own in given.items():
        position = column_position(parameter, column, n, names)
        if position in result:
            raise ValueError(f"{parameter} gives {describe_column(position, names).lower()} twice.")
        result[position] = own
    return result


def _mapping(parameter: str, given: Any) -> dict[Any, Any]:
    if given is None:
        return {}
    if hasattr(given, "index") and hasattr(given, "to_dict"):  # the dtypes of a pandas frame
        given = given.to_dict()
    if not isinstance(given, Mapping):
        raise TypeError(f"{parameter} must be a dict by the names of columns; got {type(given).__name__}.")
    return dict(given)


def _kind(column: Any, dtype: Any) -> tuple[Kind, AnyArray | None]:
    """The kind that a dtype stands for, and its categories where it has some."""
    labels = getattr(dtype, "categories", None)
    own = None if labels is None else _labels(column, labels)
    word = getattr(dtype, "__name__", None) if isinstance(dtype, type) else None
    text = (word or str(dtype)).lower().partition("(")[0].partition("[")[0].partition("<")[0]
    if text == "enum" or (own is not None and getattr(dtype, "ordered", False)):
        return Kind.ORDERED, own
    if text in WORDS:
        return WORDS[text], own
    if text.startswith("bool"):
        return Kind.TRUTH, None
    if text.startswith(_NUMBERS):
        return Kind.NUMBER, None
    if text in _TEXT:
        return Kind.CATEGORY, None
    raise ValueError(
        f"dtypes gives column {column!r} the type {shown(dtype)}: it must be 'number', 'bool', 'category' or "
        "'ordered', or a dtype that is one of these."
    )


def _labels(column: Any, given: Any) -> AnyArray:
    """Categories, all text or all numbers, each once."""
    labels = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise TypeError(f"categories of column {column!r} must be a list; got {shown(given)}.")
    labels = list(labels)
    if len(set(labels)) < len(labels):
        raise ValueError(f"categories of column {column!r} hold a value twice: give each once.")
    if all(isinstance(label, str) for label in labels):
        result = np.empty(len(labels), dtype=object)
        result[:] = labels
        return result
    if all(isinstance(label, (int, float, np.number)) and np.isfinite(label) for label in labels):
        return np.array(labels, dtype=np.float64)
    raise TypeError(f"categories of column {column!r} must be all text or all finite numbers; got {shown(labels)}.")


def _bins(column: Any, given: Any) -> ColumnBins:
    """Borders, or the lowest and the highest value of each bin."""
    what = f"bins of column {column!r} must be numbers in ascending order, or the lowest and highest value of each bin"
    try:
        numbers = np.asarray(given, dtype=np.float64) + 0.0
    except (TypeError, ValueError):
        raise TypeError(f"{what}; got {shown(given)}.") from None
    if numbers.ndim not in (1, 2) or (numbers.ndim == 2 and numbers.shape[1] != 2) or not np.isfinite(numbers).all():
        raise ValueError(f"{what}; got {shown(given)}.")
    if numbers.ndim == 1:
        if np.any(np.diff(numbers) <= 0):
            raise ValueError(f"{what}; {shown(given)} are not in ascending order.")
        lows, highs = numbers[[0, *range(len(numbers))] if len(numbers) else []], np.append(numbers, numbers[-1:])
    else:
        lows, highs = numbers.T
        if np.any(lows > highs) or np.any(highs[:-1] >= lows[1:]):
            raise ValueError(f"{what}; those of {shown(given)} overlap or are not in ascending order.")
    if len(lows) == 0:
        lows = highs = np.zeros(1)
    if len(lows) >= MOST_CODES:
        raise ValueError(f"bins of column {column!r} are more than {MOST_CODES - 1}: give fewer.")
    return ColumnBins(np.ascontiguousarray(lows), np.ascontiguousarray(highs), has_missing=True)
