"""The kinds of tables that X may be."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ._frames import check_frame


def as_table(X: Any) -> Any:
    """Return X as a data frame, a sparse matrix or an array, whichever it is nearest to."""
    if isinstance(X, np.ndarray) and X.dtype.kind == "f" and not isinstance(X, np.ma.MaskedArray):
        return X
    if is_frame(X):
        check_frame(X)
        return X
    if sparse.issparse(X):
        return X
    if isinstance(X, np.ma.MaskedArray):
        text = may_hold_text(X.data)
        values = X.data.astype(object if text else np.float64)
        values[np.ma.getmaskarray(X)] = None if text else np.nan
        X = values
    elif not isinstance(X, np.ndarray):
        array = np.asarray(X)
        # NumPy turns a list of numbers and text into text.
        X = np.array(X, dtype=object) if array.dtype.kind in "US" else array
    if X.dtype.kind in "mM":
        raise TypeError(f"X holds dates or times ({X.dtype}): turn them into numbers, say the days since a date.")
    if X.dtype.names is not None:
        raise TypeError("X is a structured array: pass a data frame, or a plain array.")
    return X


def is_frame(X: Any) -> bool:
    """Whether X is a table with named columns of their own type: pandas, polars, pyarrow."""
    return hasattr(type(X), "columns") or hasattr(type(X), "column_names")


def may_hold_text(X: Any) -> bool:
    """Whether an array is of a type that may hold text."""
    return isinstance(X, np.ndarray) and X.dtype.kind in "OUST"
