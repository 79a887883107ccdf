"""Rows and their outcomes, checked, for plots of how good a model is."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length

from .._typing import AnyArray, FloatArray
from .._validation import check_sample_weight, shown
from ..fitted import Fitted


def labels_of(what: str, fitted: Fitted, X: Any, y: Any) -> tuple[AnyArray, AnyArray]:
    """The labels of rows and the model's classes; refuses regressors and labels that the model does not know."""
    if fitted.classes is None:
        raise TypeError(f"{what} needs a classifier; this model predicts numbers.")
    outcomes = np.asarray(y)
    check_consistent_length(X, outcomes)
    unknown = outcomes[~np.isin(outcomes, fitted.classes)]
    if len(unknown) > 0:
        raise ValueError(f"y holds the label {shown(unknown.tolist()[0])}, which is none of the model's classes.")
    return outcomes, fitted.classes


def weights_of(sample_weight: Any, n_rows: int) -> FloatArray:
    """How often each row counts."""
    weight = check_sample_weight(sample_weight, n_rows)
    return np.ones(n_rows) if weight is None else weight
