"""Hashes of rows: equal rows have equal hashes, whatever the order of the rows.

A hash of values mixes the bits of the float64s of a row, and does not depend on the order of the columns. A hash of
codes adds up integers below 2**63, so that a database computes the same one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from .. import _core
from .._typing import AnyArray, IntArray
from ..outcomes import Target
from ..table import Rows

Column = TypeVar("Column", bound=Any)
_MODULUS = 2**31 - 1
_MULTIPLIERS = (48271, 16807)  # of well-known generators of this modulus
_NUMBER_MODULUS = 1_048_573


def hash_of_codes(codes: Sequence[Column], numbers: Sequence[Column]) -> Column:
    """Hash rows by the integer columns of their codes and targets: arrays, or expressions of a database.

    The hashes are integers below 2**31 - 1.
    """
    terms = [(column + 1) * (7919 * (i + 1) % 65521 + 1) for i, column in enumerate(codes)]
    terms += [column % _NUMBER_MODULUS * (104_729 + 2 * i) for i, column in enumerate(numbers)]
    total: Column = reduce(add, terms)
    for multiplier in _MULTIPLIERS:
        total = total % _MODULUS * multiplier
    return total % _MODULUS


def hash_of_values(rows: Rows, target: Target) -> AnyArray:
    """Hash rows by their values and targets; the hashes are in [0, 2**64)."""
    y = np.asarray(target.y, dtype=np.float64).reshape(len(rows), -1)
    total = _sum_over_columns(rows.matrix) + _hash_of_numbers(y).sum(axis=1)
    for values in target.extras.values():
        total = total + _hash_of_numbers(values)
    return mix_bits(total)


def finer_hash_of_values(rows: Rows, target: Target, copies: IntArray) -> AnyArray:
    """Hash rows so that equal values in different columns differ: ``(0, 1)`` and ``(1, 0)`` have one plain hash.

    The factor of a column depends on its values and the rows they are in, of which there are so many copies, and not
    on its position.
    """
    y = np.asarray(target.y, dtype=np.float64).reshape(len(rows), -1)
    columns = [rows.matrix, y, *(values.reshape(-1, 1) for values in target.extras.values())]
    result, plain = np.zeros(len(rows), dtype=np.uint64), hash_of_values(rows, target)
    n_copies = copies.astype(np.uint64)
    for matrix in columns:
        entries = sparse.coo_array(matrix)
        hashes, of_column = _hash_of_numbers(entries.data), np.zeros(matrix.shape[1], dtype=np.uint64)
        np.add.at(of_column, entries.col, mix_bits(hashes + plain[entries.row]) * n_copies[entries.row])
        factor = mix_bits(of_column) | np.uint64(1)
        np.add.at(result, entries.row, mix_bits(hashes * factor[entries.col]))
        result = mix_bits(result)
    return result


def hash_by_position(matrix: Any) -> AnyArray:
    """Hash rows by their values and the positions of these: different rows have different hashes."""
    entries = sparse.coo_array(matrix)
    result = np.zeros(matrix.shape[0], dtype=np.uint64)
    position = mix_bits(entries.col.astype(np.uint64) + np.uint64(1))
    np.add.at(result, entries.row, mix_bits(_hash_of_numbers(entries.data) + position))
    return result


def _sum_over_columns(matrix: Any) -> AnyArray:
    """Sums of the hashes of values, which do not depend on the order of the columns; zeros add nothing."""
    if sparse.issparse(matrix):
        entries = matrix.tocoo()
        result = np.zeros(matrix.shape[0], dtype=np.uint64)
        np.add.at(result, entries.row, _hash_of_numbers(entries.data))
        return result
    return np.asarray(_core.row_hashes(matrix, 1))


def _hash_of_numbers(values: AnyArray) -> AnyArray:
    """Hash each number; all missing values have the same hash."""
    plain = np.where(np.isnan(values), np.float64(np.pi * 1e300), np.asarray(values, dtype=np.float64) + 0.0)
    return mix_bits(np.ascontiguousarray(plain).view(np.uint64))


def mix_bits(bits: AnyArray) -> AnyArray:
    """Mix bits by the finalizer of splitmix64, which maps 0 to 0."""
    with np.errstate(over="ignore"):
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
