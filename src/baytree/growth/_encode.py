"""Columns of numbers become columns of codes: the rank of each value among the distinct values, or its quantile bin."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .. import _core
from .._typing import BoolArray
from ..table import Rows
from ._histograms import ColumnBins
from ._settings import Growth


def encode_rows(rows: Rows, is_nominal: BoolArray, growth: Growth) -> _core.Columns:
    """Encode the columns of a table; short ones need no bins."""
    X, engine = _without(rows.matrix, growth.feature_weight == 0), growth.engine
    max_bins = growth.max_bins or 0
    n_bins = engine.n_bins if len(rows) > engine.subtree_rows and max_bins < engine.n_bins else 0
    keep_values = growth.partition_prior.location == "distance" or growth.oblique
    how = (is_nominal.astype(np.uint8), n_bins, max_bins, keep_values, growth.n_threads)
    if not sparse.issparse(X):
        return _core.encode(X, *how)
    if not X.has_canonical_format:
        X = X.copy()  # the caller's stays as it is
        X.sum_duplicates()
    return _core.encode_sparse(X.shape[0], X.data, X.indices.astype(np.int32), X.indptr.astype(np.int64), *how)


def bins_of_columns(columns: _core.Columns, rows: Rows) -> tuple[ColumnBins, ...]:
    """The bins of encoded columns; of one of categories the positions that occur."""
    result = []
    for f in range(columns.n_columns):
        own = np.asarray(rows.matrix[:, [f]].todense() if sparse.issparse(rows.matrix) else rows.matrix[:, f]).ravel()
        missing = bool(np.isnan(own).any())
        lows, highs = (np.asarray(values) for values in columns.bins(f))
        if len(lows) == 0:
            lows = highs = np.unique(own[~np.isnan(own)])
        n_bins = len(lows) - (missing and len(lows) > 0 and bool(np.isnan(lows[-1])))
        result.append(ColumnBins(lows[:n_bins], highs[:n_bins], missing))
    return tuple(result)


def _without(X: Any, left_out: BoolArray) -> Any:
    """Make columns of weight zero constant: then no split and no hyperplane uses them."""
    if not left_out.any():
        return X
    if sparse.issparse(X):
        keep = sparse.diags_array(np.where(left_out, 0.0, 1.0))
        return sparse.csc_matrix(X @ keep)
    return np.where(left_out, 0.0, X)
