"""Merging the schemas of the parts of a table that are read one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from ._schema import MAX_CATEGORIES, Column, Kind, Schema, too_many_categories


@dataclass(frozen=True)
class PartSchema:
    """The columns of a part of a table, which of them have values there, and which miss some in rows that count."""

    schema: Schema
    has_values: BoolArray
    has_missing: BoolArray

    @classmethod
    def of(cls, schema: Schema, matrix: FloatArray, has_weight: BoolArray | None) -> PartSchema:
        """Describe the columns of some rows, of which those without weight do not count."""
        missing = np.asarray(np.isnan(matrix))
        counted = missing if has_weight is None else missing[has_weight]
        return cls(schema, np.asarray(~missing.all(axis=0)), np.asarray(counted.any(axis=0)))

    def __or__(self, other: PartSchema) -> PartSchema:
        """Merge the columns of two parts."""
        one, two = self.schema, other.schema
        if one.names != two.names or one.n_features != two.n_features:
            raise ValueError("The parts of the table do not have the same columns: give all of them the same.")
        columns = tuple(
            _merge_columns(a, b, one.describe(i), self.has_values[i], other.has_values[i])
            for i, (a, b) in enumerate(zip(one.columns, two.columns, strict=True))
        )
        return PartSchema(
            Schema(columns, one.names), self.has_values | other.has_values, self.has_missing | other.has_missing
        )


def _merge_columns(one: Column, other: Column, name: str, one_has: bool, other_has: bool) -> Column:
    if not other_has and other.kind is not Kind.ORDERED:
        return one
    if not one_has and one.kind is not Kind.ORDERED:
        return other
    if one.kind is other.kind and one.categories is None:
        return one
    if {one.kind, other.kind} == {Kind.NUMBER, Kind.TRUTH}:
        return Column(Kind.NUMBER)
    if one.kind is not other.kind or one.categories is None or other.categories is None:
        raise ValueError(
            f"{name} of X is a {one.kind.value} in one part of the table and a {other.kind.value} in another: give the "
            "column the same type in all parts."
        )
    return Column(one.kind, _merge_labels(one, one.categories, other.categories, name))


def _merge_labels(column: Column, one: AnyArray, other: AnyArray, name: str) -> AnyArray:
    if (one.dtype.kind == "O") != (other.dtype.kind == "O"):
        raise ValueError(f"{name} of X holds text in one part of the table and numbers in another: convert it.")
    if column.kind is Kind.ORDERED:
        if not np.array_equal(one, other):
            raise ValueError(f"{name} of X has ordered categories that differ from part to part: unify them first.")
        return one
    labels = {*one.tolist(), *other.tolist()}
    if len(labels) > MAX_CATEGORIES:
        raise too_many_categories(name)
    return np.array(sorted(labels), dtype=one.dtype)
