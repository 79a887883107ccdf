"""A hash of a table: equal tables have the same hash."""

from __future__ import annotations

import hashlib

import numpy as np
from scipy import sparse

from .._typing import AnyArray
from ..outcomes import Target
from ..table import Rows

_SAMPLE_VALUES = 2**17  # values that are hashed one by one, in evenly spaced rows


def fingerprint(rows: Rows, target: Target, n_threads: int) -> str:
    """Hash all targets, the sum of the bits of each column, and the values of evenly spaced rows.

    Hashing all values would take as long as growing a tree from bins. The sums change with every single value.
    """
    matrix = rows.matrix
    result = hashlib.sha256(f"{matrix.shape} {sorted(target.extras)}".encode())
    step = max(1, matrix.shape[0] * matrix.shape[1] // _SAMPLE_VALUES)
    sample = Rows(sparse.csr_matrix(matrix)[::step] if sparse.issparse(matrix) else matrix[::step])
    parts = [
        rows.scan(n_threads).bit_sums,
        sample.dense(),
        target.y,
        *(target.extras[name] for name in sorted(target.extras)),
    ]
    for part in parts if target.weight is None else [*parts, target.weight]:
        result.update(_bytes(part))
    return result.hexdigest()


def _bytes(part: AnyArray) -> memoryview | bytes:
    """The bytes of numbers; of other values the bytes of their text."""
    if part.dtype.kind not in "biuf":
        return repr(part.tolist()).encode()
    return np.ascontiguousarray(part).data
