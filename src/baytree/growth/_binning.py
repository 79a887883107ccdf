"""Binning: the columns of a table become integer codes, the rank of a value among the distinct ones or its bin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .. import _core
from .._typing import BoolArray, FloatArray, IntArray
from ..table import Rows
from ._settings import Growth


@dataclass(frozen=True)
class ColumnBins:
    """The lowest and the highest value of each bin of a column; each category that occurs is a bin of one position."""

    lows: FloatArray
    highs: FloatArray
    has_missing: bool
    round_ends: bool = True  # the limits between bins are round numbers, as thresholds are; or midpoints

    @property
    def middle(self) -> FloatArray:
        """The midpoint of each bin, which represents its values."""
        with np.errstate(invalid="ignore"):  # of a column that no split may use
            return np.where(self.lows < self.highs, self.lows / 2 + self.highs / 2, self.lows)

    @property
    def numbers(self) -> tuple[float, float, bool]:
        """The lowest and the highest number, and whether the ends of all bins are integers; NaN for no number."""
        if len(self.lows) == 0:
            return np.nan, np.nan, False
        are_integers = all(bool(np.all(ends == np.floor(ends))) for ends in (self.lows, self.highs))
        return float(self.lows[0]), float(self.highs[-1]), are_integers

    @property
    def n_codes(self) -> int:
        """The number of codes: one for each bin, and one for missing values."""
        return len(self.highs) + self.has_missing

    @property
    def ends(self) -> FloatArray:
        """The upper limit of each bin: the threshold between it and the next, so that no value falls between."""
        between = _core.thresholds_between(self.highs[:-1].copy(), self.lows[1:].copy(), self.round_ends)
        return np.append(np.asarray(between), np.inf)[: len(self.highs)]


def encode_rows(rows: Rows, is_nominal: BoolArray, growth: Growth, weight: IntArray | None = None) -> _core.Columns:
    """Encode the columns of a table; a table of few rows needs no bins. Quantile bins count integer weights."""
    X, engine = _make_constant(rows.matrix, growth.feature_weight == 0), growth.engine
    max_bins = growth.max_bins or 0
    n_bins = engine.n_bins if len(rows) > engine.subtree_rows and max_bins < engine.n_bins else 0
    keep_values = growth.partition_prior.location == "distance" or growth.oblique
    options = (is_nominal.astype(np.uint8), n_bins, max_bins, keep_values, growth.n_threads, weight)
    if not sparse.issparse(X):
        return _core.encode(X, *options)
    if not X.has_canonical_format:
        X = X.copy()  # the matrix of the caller is not changed
        X.sum_duplicates()
    return _core.encode_sparse(X.shape[0], X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), *options)


def bins_of_columns(columns: _core.Columns, rows: Rows) -> tuple[ColumnBins, ...]:
    """The bins of encoded columns."""
    result = []
    for f in range(columns.n_columns):
        values = rows.matrix[:, [f]].todense() if sparse.issparse(rows.matrix) else rows.matrix[:, f]
        values = np.asarray(values).ravel()
        has_missing = bool(np.isnan(values).any())
        lows, highs = (np.asarray(ends) for ends in columns.bins(f))
        if len(lows) == 0:
            lows = highs = np.unique(values[~np.isnan(values)])
        n_bins = len(lows) - (has_missing and len(lows) > 0 and bool(np.isnan(lows[-1])))
        result.append(ColumnBins(lows[:n_bins], highs[:n_bins], has_missing))
    return tuple(result)


def _make_constant(X: Any, is_excluded: BoolArray) -> Any:
    """Make excluded columns constant, so that no split and no hyperplane uses them."""
    if not is_excluded.any():
        return X
    if sparse.issparse(X):
        factor = sparse.diags_array(np.where(is_excluded, 0.0, 1.0))
        return sparse.csc_matrix(X @ factor)
    return np.where(is_excluded, 0.0, X)
