"""Folds that depend on the values of rows and not on their order: the same rows give the same tree in any order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import AnyArray, IntArray
from ..outcomes import Target
from ..table import Rows
from ._row_hash import finer_hash_of_values, hash_of_values

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
    first = _fold(hashes if by is None else hash_of_values(rows, replace(target, y=by)), n_all_folds)
    return (first + _number_among_duplicates(hashes, rows, target)) % n_all_folds


def count_duplicates(rows: Rows, target: Target) -> int:
    """Count the rows that equal another one; 0 for a table of few distinct rows, which has duplicates by chance."""
    _, counts = np.unique(hash_of_values(rows, target), return_counts=True)
    n_points = len(np.unique(hash_of_values(rows, Target(np.zeros(len(rows))))))
    if n_points < _FEWEST_POINTS or n_points < len(counts):  # some rows differ in y alone
        return 0
    return int(counts[counts > 1].sum())


def _number_among_duplicates(hashes: AnyArray, rows: Rows, target: Target) -> IntArray:
    """Number the rows of each hash 0, 1, ... in the order of their values and weights."""
    result = np.zeros(len(hashes), dtype=np.int64)
    order = np.argsort(hashes)
    is_equal = hashes[order][1:] == hashes[order][:-1]
    at = order[np.append(is_equal, False) | np.append(False, is_equal)]
    if len(at) == 0:
        return result
    some = target.take(at)
    weight = np.ones(len(at)) if some.weight is None else some.weight
    finer = finer_hash_of_values(Rows(rows.matrix[at]), some)
    at = at[np.lexsort((weight, finer, hashes[at]))]
    is_new = np.append(True, hashes[at][1:] != hashes[at][:-1])
    first = np.flatnonzero(is_new)
    result[at] = np.arange(len(at)) - np.repeat(first, np.diff(np.append(first, len(at))))
    return result


def _fold(hashes: AnyArray, n_folds: int) -> IntArray:
    return (hashes >> np.uint64(33)).astype(np.int64) % n_folds
