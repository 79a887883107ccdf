"""Folds that depend on the values of rows and not on their order: the same rows give the same tree in any order."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..outcomes import Target
from ..table import Rows
from ._row_hash import finer_hash_of_values, hash_by_position, hash_of_values

_MOST_COPIES = 2**40  # of a row
_FEWEST_POINTS = 50  # a table of fewer distinct rows has duplicates by chance


def assign_folds(rows: Rows, target: Target, n_folds: int) -> IntArray:
    """Assign rows to folds; duplicates share a fold, so that a row of weight 2 is treated as two rows are."""
    return _fold(hash_of_values(rows, target), n_folds)


def assign_small_folds(
    rows: Rows, target: Target, n_folds: int, max_rows: int, *, by: AnyArray | None = None
) -> IntArray:
    """Assign about `max_rows` rows to folds; the other rows get a number that is not below `n_folds`.

    Duplicates are dealt out to the folds one by one. A table of few distinct values is full of them, and folds that
    hold or lack all duplicates of a row would not have the distribution of the table. Where `by` is given, its values
    decide instead of y to which fold the first of some duplicates goes.
    """
    hashes = hash_of_values(rows, target)
    n_all_folds = n_folds * -(-len(hashes) // max_rows)
    return _first_folds(hashes, rows, target, n_all_folds, np.ones(len(hashes), dtype=np.int64), by)


class FoldParts(NamedTuple):
    """Parts of rows, each in one fold: the row, the fold, and how much of the row's weight it has."""

    rows: IntArray
    fold: IntArray
    weight: FloatArray | None  # None: every row counts once


def deal_small_folds(
    rows: Rows, target: Target, n_folds: int, max_rows: int, *, by: AnyArray | None = None
) -> FoldParts:
    """Deal out rows as `assign_small_folds` does, those of a whole weight as so many duplicates.

    A row of another weight stays together and counts as one.
    """
    if target.weight is None:
        fold = assign_small_folds(rows, target, n_folds, max_rows, by=by)
        chosen = np.flatnonzero(fold < n_folds)
        return FoldParts(chosen, fold[chosen], None)
    hashes, copies, each = hash_of_values(rows, target), *split_whole_weights(target.weight)
    n_all_folds = n_folds * max(-(-int(copies.sum()) // max_rows), 1)
    first = _first_folds(hashes, rows, target, n_all_folds, copies, by)
    parts = []
    for k in range(n_folds):
        n = -((copies - (k - first) % n_all_folds) // -n_all_folds)  # copies of each row in this fold
        chosen = np.flatnonzero(n > 0)
        parts.append((chosen, np.full(len(chosen), k), n[chosen] * each[chosen]))
    return FoldParts(*map(np.concatenate, zip(*parts, strict=True)))


def split_whole_weights(weight: FloatArray) -> tuple[IntArray, FloatArray]:
    """Number of copies of each row, and the weight of each: whole weights are so many copies of weight 1."""
    is_whole = (weight == np.floor(weight)) & (weight < _MOST_COPIES)
    return np.where(is_whole, weight, 1).astype(np.int64), np.where(is_whole, 1.0, weight)


def _first_folds(
    hashes: AnyArray, rows: Rows, target: Target, n_folds: int, copies: IntArray, by: AnyArray | None
) -> IntArray:
    """The fold of the first copy of each row, if those of equal rows are dealt out one by one."""
    first = _fold(hashes if by is None else hash_of_values(rows, replace(target, y=by)), n_folds)
    return (first + _copies_before(hashes, rows, target, copies)) % n_folds


def count_duplicates(rows: Rows, target: Target) -> int:
    """Count the rows that equal another one; 0 for a table of few distinct rows, which has duplicates by chance."""
    _, counts = np.unique(hash_of_values(rows, target), return_counts=True)
    n_points = len(np.unique(hash_of_values(rows, Target(np.zeros(len(rows))))))
    if n_points < _FEWEST_POINTS or n_points < len(counts):  # some rows differ in y alone
        return 0
    return int(counts[counts > 1].sum())


def _copies_before(hashes: AnyArray, rows: Rows, target: Target, copies: IntArray) -> IntArray:
    """Number the copies of the rows of each hash in the order of values and weights; the number of each row's first."""
    result = np.zeros(len(hashes), dtype=np.int64)
    order = np.argsort(hashes)
    is_equal = hashes[order][1:] == hashes[order][:-1]
    at = order[np.append(is_equal, False) | np.append(False, is_equal) | (copies[order] > 1)]
    if len(at) == 0:
        return result
    some = target.take(at)
    weight = np.ones(len(at)) if some.weight is None else some.weight
    # Positions of columns decide only where columns may trade places: the table is the same but for the order of rows.
    finer, last = finer_hash_of_values(Rows(rows.matrix[at]), some, copies[at]), hash_by_position(rows.matrix[at])
    at = at[np.lexsort((weight, last, finer, hashes[at]))]
    first = np.flatnonzero(np.append(True, hashes[at][1:] != hashes[at][:-1]))
    before = np.append(0, np.cumsum(copies[at]))[:-1]
    result[at] = before - np.repeat(before[first], np.diff(np.append(first, len(at))))
    return result


def _fold(hashes: AnyArray, n_folds: int) -> IntArray:
    return (hashes >> np.uint64(33)).astype(np.int64) % n_folds
