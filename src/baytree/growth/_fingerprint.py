"""A hash of a table: equal tables have the same."""

from __future__ import annotations

import hashlib

import numpy as np
from scipy import sparse

from .._typing import AnyArray
from ..outcomes import Target
from ..table import Rows

_SPREAD_VALUES = 2**17  # so many values of a table are read one by one, in rows that are spread evenly


def fingerprint(rows: Rows, target: Target, n_threads: int) -> str:
    """A hash of all targets, of the sum of each column's bits, and of values in rows that are spread evenly.

    Hashing all values would take as long as growing a tree from bins; the sums notice every single change.
    """
    matrix = rows.matrix
    result = hashlib.sha256(f"{matrix.shape} {sorted(target.extras)}".encode())
    step = max(1, matrix.shape[0] * matrix.shape[1] // _SPREAD_VALUES)
    spread = Rows(sparse.csr_matrix(matrix)[::step] if sparse.issparse(matrix) else matrix[::step])
    parts = [
        rows.scan(n_threads).bit_sums,
        spread.dense(),
        target.y,
        *(target.extras[name] for name in sorted(target.extras)),
    ]
    for part in parts if target.weight is None else [*parts, target.weight]:
        result.update(_bytes(part))
    return result.hexdigest()


def _bytes(part: AnyArray) -> memoryview | bytes:
    """Numbers as they are; what else y may hold as it is shown."""
    if part.dtype.kind not in "biuf":
        return repr(part.tolist()).encode()
    return np.ascontiguousarray(part).data
