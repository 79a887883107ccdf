"""The columns of a table in a database: their kinds, ranges and categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ibis
import numpy as np

from .._typing import AnyArray
from ..table import MAX_CATEGORIES, Kind, too_many_categories
from ._column_specs import ColumnSpec, ColumnSpecs
from ._roles import ColumnRoles
from ._sql_bins import Range
from ._sql_dialects import dialect_of
from ._sql_execution import fetch
from ._sql_fixed_point import as_number, is_missing, number

_FEATURES_PER_QUERY = 16
_MIN_ROWS_TO_GUESS = 2**20  # the ranges of fewer rows are found fast
_GUESS_ROWS = 2**17  # from which ranges are guessed


@dataclass(frozen=True)
class ColumnQueries:
    """Queries of the features of a table."""

    table: Any
    names: ColumnRoles

    @property
    def features(self) -> list[str]:
        """The names of the features."""
        return self.names.features_of(self.table.columns)

    def kinds(self, specs: ColumnSpecs) -> list[Kind]:
        """The kind of each feature, from its type and its specification."""
        chosen = [None] * len(self.features) if specs.is_categorical is None else specs.is_categorical
        return [
            self._kind(name, spec, is_chosen)
            for name, spec, is_chosen in zip(self.features, specs.columns, chosen, strict=True)
        ]

    def _kind(self, name: str, spec: ColumnSpec, is_chosen: bool | None) -> Kind:
        dtype = self.table[name].type()
        if not (dtype.is_boolean() or dtype.is_numeric() or dtype.is_string()):
            raise TypeError(f"Column {name!r} holds {dtype}: turn it into numbers, truth values or text, or drop it.")
        kind = Kind.TRUTH if dtype.is_boolean() else Kind.NUMBER if dtype.is_numeric() else Kind.CATEGORY
        if kind is Kind.CATEGORY and is_chosen is False:
            raise ValueError(
                f"Column {name!r} of X holds text: name it in categorical_features, or turn it into numbers."
            )
        content = "text" if kind is Kind.CATEGORY else "numbers"
        expected = "numbers" if spec.kind in (Kind.NUMBER, Kind.TRUTH) else content
        if spec.categories is not None and len(spec.categories):
            expected = "text" if spec.categories.dtype.kind == "O" else "numbers"
        if expected != content:
            raise ValueError(
                f"Column {name!r} of X holds {content}, but dtypes, bins or categories say that it holds {expected}: "
                "convert it."
            )
        if spec.kind is Kind.ORDERED and spec.categories is None:
            raise ValueError(f"Column {name!r} of X is to be ordered, but has no order: give its categories, in order.")
        return spec.kind or kind

    def ranges(self, rows: Any, n_rows: int, kinds: dict[int, Kind]) -> dict[int, Range]:
        """The range of each of some features, or a guess; infinite values raise an error."""
        features = [i for i in kinds if kinds[i] in (Kind.NUMBER, Kind.TRUTH)]
        result = self._guesses(rows, n_rows, [i for i in features if kinds[i] is Kind.NUMBER])
        result |= self.ranges_of_numbers(rows, n_rows, [i for i in features if i not in result])
        others = [i for i in kinds if i not in result]
        for batch in _batches(others):
            aggregates = [{f"n_{i}": (~is_missing(rows[self.features[i]])).sum()} for i in batch]
            row = _fetch_row(rows, aggregates)
            result |= {i: _range(row, i, n_rows) for i in batch}
        return result

    def _guesses(self, rows: Any, n_rows: int, features: list[int]) -> dict[int, Range]:
        """Guess the ranges of features from the first rows, if these have no missing value, and widen them.

        It is for databases that take as long to find the extremes of a column as to count its slices.
        """
        if not dialect_of(rows.get_backend()).finds_extremes_slowly or n_rows < _MIN_ROWS_TO_GUESS:
            return {}
        first = rows.limit(_GUESS_ROWS)
        result: dict[int, Range] = {}
        for batch in _batches(features):
            row = _fetch_row(first, [self._plain_range(first, i) for i in batch])
            ranges = {i: _range(row, i, min(n_rows, _GUESS_ROWS)) for i in batch}
            result |= {i: of.widen() for i, of in ranges.items() if not (of.has_missing or of.has_nan)}
        return result

    def ranges_of_numbers(self, rows: Any, n_rows: int, features: list[int]) -> dict[int, Range]:
        """The ranges of numeric features."""
        result: dict[int, Range] = {}
        for batch in _batches(features):
            row = _fetch_row(rows, [self._plain_range(rows, i) for i in batch])
            result |= {i: _range(row, i, n_rows) for i in batch}
        with_nan = [i for i, of in result.items() if of.has_nan]
        for batch in _batches(with_nan):
            row = _fetch_row(rows, [self._range_without_nan(rows, i) for i in batch])
            self._check_finite(row, batch)
            result |= {i: _range(row, i, n_rows, has_nan=True) for i in batch}
        return result

    def refuse_infinity(self, rows: Any, features: list[int]) -> None:
        """Refuse infinite values of some features in rows that do not count, as in memory."""
        for batch in _batches(features):
            self._check_finite(_fetch_row(rows, [self._n_infinite(rows, i) for i in batch]), batch)

    def _check_finite(self, row: dict[str, Any], features: list[int]) -> None:
        for i in features:
            if row[f"infinite_{i}"]:
                raise ValueError(
                    f"Column {self.features[i]!r} of X has an infinite value: replace it, or make it null."
                )

    def _plain_range(self, rows: Any, i: int) -> dict[str, Any]:
        """The count and the extremes of a feature, and an aggregate that shows NaN and infinite values."""
        values = as_number(rows[self.features[i]])
        aggregates = {f"n_{i}": values.count(), f"low_{i}": values.min(), f"high_{i}": values.max()}
        is_floating = rows[self.features[i]].type().is_floating()
        odd = dialect_of(rows.get_backend()).odd_values(values) if is_floating else None
        return aggregates if odd is None else aggregates | {f"odd_{i}": odd}

    def _range_without_nan(self, rows: Any, i: int) -> dict[str, Any]:
        values = number(rows[self.features[i]])
        extremes = {f"low_{i}": values.min(), f"high_{i}": values.max()}
        return self._n_infinite(rows, i) | {f"n_{i}": values.count()} | extremes

    def _n_infinite(self, rows: Any, i: int) -> dict[str, Any]:
        column = rows[self.features[i]]
        return {f"infinite_{i}": (as_number(column).isinf() & ~is_missing(column)).sum()}

    def labels(self, name: str) -> tuple[AnyArray, AnyArray]:
        """The categories of a column in ascending order, and the positions of those in rows of positive weight."""
        weight = self.names.weight
        has_weight = ibis.literal(1) if weight is None else (as_number(self.table[weight]) > 0).cast("int32")
        present = self.table.filter(~is_missing(self.table[name])).select(
            label=_label(self.table[name]), has_weight=has_weight
        )
        groups = present.group_by("label").aggregate(has_weight=present.has_weight.max()).limit(MAX_CATEGORIES + 1)
        fetched = fetch(groups)
        if len(fetched["label"]) > MAX_CATEGORIES:
            raise too_many_categories(f"Column {name!r}")
        order = sorted(range(len(fetched["label"])), key=fetched["label"].__getitem__)
        labels = [fetched["label"][i] for i in order]
        positions = np.flatnonzero([fetched["has_weight"][i] for i in order]).astype(np.float64)
        if all(isinstance(label, str) for label in labels):
            result = np.empty(len(labels), dtype=object)
            result[:] = labels
            return result, positions
        return np.array([float(label) for label in labels]), positions


def _batches(features: list[int]) -> list[list[int]]:
    """Some features for each query, so that none is long and Ctrl-C is noticed."""
    return [features[start : start + _FEATURES_PER_QUERY] for start in range(0, len(features), _FEATURES_PER_QUERY)]


def _fetch_row(rows: Any, aggregates: list[dict[str, Any]]) -> dict[str, Any]:
    together = {name: expression for group in aggregates for name, expression in group.items()}
    return {name: values[0] for name, values in fetch(rows.aggregate(**together)).items()}


def _range(row: dict[str, Any], i: int, n_rows: int, *, has_nan: bool = False) -> Range:
    low, high = row.get(f"low_{i}"), row.get(f"high_{i}")
    is_odd = low is not None and high is not None and not np.isfinite(float(low) - float(high))
    return Range(
        None if low is None else float(low) + 0.0,
        None if high is None else float(high) + 0.0,
        has_missing=int(row[f"n_{i}"] or 0) < n_rows,
        has_nan=has_nan or is_odd or bool(row.get(f"odd_{i}")),
        n_missing=n_rows - int(row[f"n_{i}"] or 0),
    )


def _label(column: Any) -> Any:
    return column if column.type().is_string() else number(column)
