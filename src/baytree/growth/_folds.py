"""Folds that depend on what is in the rows, not on their order: the same rows give the same tree in any order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from .._typing import AnyArray, IntArray
from ..outcomes import Target
from ..table import Rows

_FEWEST_POINTS = 50  # that can be told from few values


def folds_of(rows: Rows, target: Target, n_folds: int) -> IntArray:
    """The fold of each row; equal rows are in one fold, as a row of weight 2 is."""
    return _fold(_marks_of(rows, target), n_folds)


def some_folds_of(rows: Rows, target: Target, n_folds: int, most_rows: int, *, by: AnyArray | None = None) -> IntArray:
    """Folds of about so many rows at most; other rows have a higher number than the last fold.

    Equal rows are dealt out to the folds one by one: a table of few values is full of them, and without all rows that
    are equal to one of them another distribution is left. `by` decides in place of y which fold comes first.
    """
    marks = _marks_of(rows, target)
    all_folds = n_folds * -(-len(marks) // most_rows)
    first = _fold(marks if by is None else _marks_of(rows, replace(target, y=by)), all_folds)
    return (first + _number_among_equals(marks, target.weight)) % all_folds


def n_copies(rows: Rows, target: Target) -> int:
    """How many rows are equal to another one; none in a table of few values, where rows are so by chance."""
    _, rows_of_mark = np.unique(_marks_of(rows, target), return_counts=True)
    n_points = len(np.unique(_marks_of(rows, Target(np.zeros(len(rows))))))
    if n_points < _FEWEST_POINTS or n_points < len(rows_of_mark):  # equal rows but for y
        return 0
    return int(rows_of_mark[rows_of_mark > 1].sum())


def _number_among_equals(marks: AnyArray, weight: AnyArray | None) -> IntArray:
    """0, 1, ... for the rows of each mark, in the order of their weights."""
    order = np.argsort(marks) if weight is None else np.lexsort((weight, marks))
    is_new = np.append(True, marks[order][1:] != marks[order][:-1])
    first = np.flatnonzero(is_new)
    result = np.empty(len(marks), dtype=np.int64)
    result[order] = np.arange(len(marks)) - np.repeat(first, np.diff(np.append(first, len(marks))))
    return result


def _fold(marks: AnyArray, n_folds: int) -> IntArray:
    return (marks >> np.uint64(33)).astype(np.int64) % n_folds


def _marks_of(rows: Rows, target: Target) -> AnyArray:
    """A number of each row, the same for equal rows, in [0, 2^64)."""
    marks = _sum_of_marks(rows.matrix) + _marks(np.asarray(target.y, dtype=np.float64).reshape(len(rows), -1)).sum(
        axis=1
    )
    for values in target.extras.values():
        marks = marks + _marks(values)
    return _scrambled(marks)


def _sum_of_marks(matrix: Any) -> AnyArray:
    """Sums over the columns, so that their order does not matter; zeros add nothing."""
    if sparse.issparse(matrix):
        entries = matrix.tocoo()
        result = np.zeros(matrix.shape[0], dtype=np.uint64)
        np.add.at(result, entries.row, _marks(entries.data))
        return result
    result = np.zeros(len(matrix), dtype=np.uint64)
    for column in np.asarray(matrix).T:
        result += _marks(column)
    return result


def _marks(values: AnyArray) -> AnyArray:
    """A number for each value, all missing ones alike."""
    plain = np.where(np.isnan(values), np.float64(np.pi * 1e300), np.asarray(values, dtype=np.float64) + 0.0)
    return _scrambled(np.ascontiguousarray(plain).view(np.uint64))


def _scrambled(bits: AnyArray) -> AnyArray:
    """The finalizer of splitmix64, which maps 0 to 0."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
