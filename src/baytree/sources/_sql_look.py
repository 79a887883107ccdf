"""What the columns of a table in a database are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..table import Kind
from ._column_specs import ColumnSpec, ColumnSpecs, TableSpec
from ._parts import Names
from ._sql_bins import Range
from ._sql_fixed_point import as_number, fetch, is_missing, number

_FEATURES_A_QUERY = 16
_NAN_IS_HIGHEST = ("postgres",)
_WORTH_A_GUESS = 2**20  # rows: to look at fewer takes no time
_FIRST_ROWS = 2**17  # that ranges are guessed from


@dataclass(frozen=True)
class TableLook:
    """Looks at a table."""

    table: Any
    names: Names

    @property
    def features(self) -> list[str]:
        """The columns that are features."""
        return [name for name in self.table.columns if name not in self.names.all]

    def known(self, given: TableSpec, categorical_features: Any) -> ColumnSpecs:
        """What is known of the features, from the types of the table and from what was given."""
        return given.of(self.features, len(self.features), categorical_features)

    def kinds(self, known: ColumnSpecs) -> list[Kind]:
        """The kind of each feature."""
        chosen = [None] * len(self.features) if known.chosen is None else known.chosen
        return [
            self._kind(name, own, is_chosen)
            for name, own, is_chosen in zip(self.features, known.columns, chosen, strict=True)
        ]

    def _kind(self, name: str, known: ColumnSpec, is_chosen: bool | None) -> Kind:
        dtype = self.table[name].type()
        if not (dtype.is_boolean() or dtype.is_numeric() or dtype.is_string()):
            raise TypeError(f"Column {name!r} holds {dtype}: turn it into numbers, truth values or text.")
        kind = Kind.TRUTH if dtype.is_boolean() else Kind.NUMBER if dtype.is_numeric() else Kind.CATEGORY
        if kind is Kind.CATEGORY and is_chosen is False:
            raise ValueError(
                f"Column {name!r} of X holds text: name it in categorical_features, or turn it into numbers."
            )
        held = "text" if kind is Kind.CATEGORY else "numbers"
        said = "numbers" if known.kind in (Kind.NUMBER, Kind.TRUTH) else held
        if known.categories is not None and len(known.categories):
            said = "text" if known.categories.dtype.kind == "O" else "numbers"
        if said != held:
            raise ValueError(
                f"Column {name!r} of X holds {held}, but dtypes, bins or categories say that it holds {said}: "
                "convert it."
            )
        if known.kind is Kind.ORDERED and known.categories is None:
            raise ValueError(f"Column {name!r} of X is to be ordered, but has no order: give its categories, in order.")
        return known.kind or kind

    def ranges(self, rows: Any, n_rows: int, kinds: dict[int, Kind]) -> dict[int, Range]:
        """The range of each feature that is looked at, or a guess; infinite values are refused."""
        features = [i for i in kinds if kinds[i] in (Kind.NUMBER, Kind.TRUTH)]
        result = self._guesses(rows, n_rows, [i for i in features if kinds[i] is Kind.NUMBER])
        result |= self.ranges_of_numbers(rows, n_rows, [i for i in features if i not in result])
        others = [i for i in kinds if i not in result]
        for some in _some(others):
            found = _one_row(rows, [{f"n_{i}": (~is_missing(rows[self.features[i]])).sum()} for i in some])
            result |= {i: _range(found, i, n_rows) for i in some}
        return result

    def _guesses(self, rows: Any, n_rows: int, features: list[int]) -> dict[int, Range]:
        """The ranges of features, wide enough for the first rows and more, where none of these has a missing value.

        DuckDB takes as long to find the extremes of a column as to count its slices.
        """
        if rows.get_backend().name != "duckdb" or n_rows < _WORTH_A_GUESS:
            return {}
        first = rows.limit(_FIRST_ROWS)
        result: dict[int, Range] = {}
        for some in _some(features):
            found = _one_row(first, [self._plain_range(first, i) for i in some])
            of_first = {i: _range(found, i, min(n_rows, _FIRST_ROWS)) for i in some}
            result |= {i: own.widened() for i, own in of_first.items() if not (own.has_missing or own.has_nan)}
        return result

    def ranges_of_numbers(self, rows: Any, n_rows: int, features: list[int]) -> dict[int, Range]:
        """The ranges of features that hold numbers."""
        result: dict[int, Range] = {}
        for some in _some(features):
            found = _one_row(rows, [self._plain_range(rows, i) for i in some])
            result |= {i: _range(found, i, n_rows) for i in some}
        with_nan = [i for i, own in result.items() if own.has_nan]
        for some in _some(with_nan):
            found = _one_row(rows, [self._careful_range(rows, i) for i in some])
            for i in some:
                if found[f"infinite_{i}"]:
                    raise ValueError(
                        f"Column {self.features[i]!r} of X has an infinite value: replace it, or make it null."
                    )
                result[i] = _range(found, i, n_rows, has_nan=True)
        return result

    def _plain_range(self, rows: Any, i: int) -> dict[str, Any]:
        """Counts and extremes; what is neither NaN nor infinite is nothing less itself.

        NaN is the highest value in some databases, where the extremes tell enough. In DuckDB it is, too, but not where
        the footer of a Parquet file tells the extremes.
        """
        own, backend = as_number(rows[self.features[i]]), rows.get_backend().name
        asked = {f"n_{i}": own.count(), f"low_{i}": own.min(), f"high_{i}": own.max()}
        if backend in _NAN_IS_HIGHEST or not rows[self.features[i]].type().is_floating():
            return asked
        return asked | {f"odd_{i}": own.isnan().any() if backend == "duckdb" else (own - own).sum()}

    def _careful_range(self, rows: Any, i: int) -> dict[str, Any]:
        column, own = rows[self.features[i]], number(rows[self.features[i]])
        infinite = (as_number(column).isinf() & ~is_missing(column)).sum()
        return {f"infinite_{i}": infinite, f"n_{i}": own.count(), f"low_{i}": own.min(), f"high_{i}": own.max()}

    def labels(self, rows: Any, name: str) -> AnyArray:
        """The categories of a column, in ascending order."""
        known = rows.filter(~is_missing(rows[name]))
        labels = fetch(known.select(label=_label(known[name])).distinct())["label"]
        if all(isinstance(label, str) for label in labels):
            result = np.empty(len(labels), dtype=object)
            result[:] = sorted(labels)
            return result
        return np.array(sorted(float(label) for label in labels))


def _some(features: list[int]) -> list[list[int]]:
    """Some features to a query, so that Ctrl-C is heard."""
    return [features[start : start + _FEATURES_A_QUERY] for start in range(0, len(features), _FEATURES_A_QUERY)]


def _one_row(rows: Any, asked: list[dict[str, Any]]) -> dict[str, Any]:
    all_asked = {name: own for each in asked for name, own in each.items()}
    return {name: values[0] for name, values in fetch(rows.aggregate(**all_asked)).items()}


def _range(found: dict[str, Any], i: int, n_rows: int, *, has_nan: bool = False) -> Range:
    low, high = found.get(f"low_{i}"), found.get(f"high_{i}")
    is_odd = low is not None and high is not None and not np.isfinite(float(low) - float(high))
    return Range(
        None if low is None else float(low) + 0.0,
        None if high is None else float(high) + 0.0,
        has_missing=int(found[f"n_{i}"] or 0) < n_rows,
        has_nan=has_nan or is_odd or bool(found.get(f"odd_{i}")),
    )


def _label(column: Any) -> Any:
    return column if column.type().is_string() else number(column)
