"""Reading a split that a user gives: a column with a threshold, or with categories."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._validation import short_repr
from .._words import within_sentence
from ..table import Column, Kind, Schema
from ..tree import CategorySet, Split, Threshold


def read_split(
    schema: Schema, column: Any, threshold: Any, categories: Any, *, missing_left: bool, others: Any = None
) -> Split:
    """A split of a column: at a threshold, or of some categories from all others, or from some others."""
    feature = schema.position("column", column)
    kind, name = schema.columns[feature], within_sentence(schema.describe(feature))
    if kind.is_nominal:
        if threshold is not None or categories is None:
            raise ValueError(f"{schema.describe(feature)} is categorical: give categories=, those that go left.")
        left = _positions(kind, categories, "categories", name)
        every = set(range(0 if kind.categories is None else len(kind.categories)))
        right = every - left if others is None else _positions(kind, others, "others", name)
        if not left or not right or left & right:
            raise ValueError(f"categories must be some of the categories of {name}, neither none nor all.")
        return CategorySet(feature, tuple(sorted(left)), tuple(sorted(right)), False, missing_left, True)
    if categories is not None:
        raise ValueError(f"{schema.describe(feature)} has an order: give threshold=, the largest value that goes left.")
    return Threshold(feature, read_threshold(kind, threshold, name), missing_left, True)


def read_threshold(column: Column, threshold: Any, name: str) -> float:
    """A threshold: a number, an ordered category, or nothing for truth values."""
    if column.kind is Kind.TRUTH and threshold is None:
        return 0.5
    if column.kind is Kind.ORDERED and column.categories is not None:
        return _position(column, threshold, "threshold", name) + 0.5
    if threshold is None:
        raise ValueError(f"threshold is missing: give the largest value of {name} that goes left.")
    if isinstance(threshold, bool) or not isinstance(threshold, (int, float, np.integer, np.floating)):
        raise TypeError(f"threshold must be a number for {name}; got {short_repr(threshold)}.")
    if not abs(float(threshold)) < np.inf:
        raise ValueError(f"threshold must be a finite number for {name}; got {threshold}.")
    return float(threshold)


def _positions(column: Column, categories: Any, parameter: str, name: str) -> set[int]:
    if isinstance(categories, str | dict) or not isinstance(categories, Iterable):
        raise TypeError(f"{parameter} must be a list of categories of {name}; got {short_repr(categories)}.")
    return {_position(column, category, parameter, name) for category in categories}


def _position(column: Column, category: Any, parameter: str, name: str) -> int:
    """The position of a category."""
    labels = [] if column.categories is None else column.categories.tolist()
    if category in labels:
        return int(labels.index(category))
    raise ValueError(
        f"{parameter} names {short_repr(category)}, which {name} does not have: it has {short_repr(labels)}."
    )
