"""A warning of rows that were copied: drawn with replacement, or repeated to balance the classes."""

from __future__ import annotations

import warnings

import numpy as np

from .._typing import IntArray
from .._words import percent_text
from ..growth import TableData, count_duplicates, mix_bits

_MANY = 0.4  # share of the rows that equal another one
_MOST_ROWS = 5000  # that are compared
_GLANCE = 1000  # rows that tell which column varies most
_VARIED = 50  # values in these rows; with fewer in every column, rows are equal by chance


def warn_of_copied_rows(data: TableData) -> None:
    """Warn where many rows equal another one in X and y, while no rows differ in y alone, as noise would make them."""
    chosen = _rows_with_their_copies(data)
    if len(chosen) == 0:
        return
    some = data.take(chosen)
    share = count_duplicates(some.rows, some.target) / len(chosen)
    if share > _MANY:
        warnings.warn(
            f"About {percent_text(round(share, 2))} of the rows are equal to another one in X and y. If rows were "
            "drawn with replacement or copied to balance the classes, drop the copies, since the model takes them for "
            "independent rows; to predict a rare class more often, set decision.",
            UserWarning,
            stacklevel=8,
        )


def _rows_with_their_copies(data: TableData) -> IntArray:
    """Some rows with all that are equal to them: those whose value in one column has a certain hash."""
    glance = data.rows.take(0, _GLANCE).dense()
    n_values = [len(np.unique(column)) for column in glance.T]
    column = int(np.argmax(n_values))
    if n_values[column] < _VARIED:
        return np.zeros(0, dtype=np.int64)
    n_shares = len(data) // _MOST_ROWS
    if n_shares <= 1:
        return np.arange(len(data))
    values = np.concatenate([part[:, column] for part in data.rows.dense_parts()])
    return np.flatnonzero(mix_bits((values + 0.0).view(np.uint64)) % np.uint64(n_shares) == 0)
