"""Read the labels, scores and weights that a figure is computed from."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from .._validation import check_sample_weight, short_repr


def read_positive(y: Any, positive: Any) -> BoolArray:
    """Which rows are of the positive class; None: the second of two classes in sorted order."""
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) == 0:
        raise ValueError(f"y must hold one label per row; got shape {labels.shape}.")
    classes = np.unique(labels)
    if len(classes) > 2:
        raise ValueError(f"y must have two classes; it has {len(classes)}: {short_repr(classes.tolist())}.")
    if positive is None:
        if len(classes) < 2:
            raise ValueError(f"y has one class only ({short_repr(classes[0].item())}): this figure needs both.")
        return np.asarray(labels == classes[1])
    of_positive = np.asarray(labels == positive)
    if of_positive.shape != labels.shape or not np.any(of_positive):
        raise ValueError(
            f"positive={short_repr(positive)} is none of the classes of y, {short_repr(classes.tolist())}."
        )
    return of_positive


def read_score(score: Any, n_rows: int) -> FloatArray:
    """Scores as numbers, one for each row."""
    try:
        numbers: FloatArray = np.asarray(score, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError("score must hold one number per row, such as the probability of the positive class.") from None
    if numbers.shape != (n_rows,):
        raise ValueError(f"score must hold one number per row ({n_rows} of them); got shape {numbers.shape}.")
    if not np.all(np.isfinite(numbers)):
        raise ValueError("score has values that are missing or infinite.")
    return numbers


def read_rows(y: Any, score: Any, positive: Any, sample_weight: Any) -> tuple[BoolArray, FloatArray, FloatArray]:
    """Labels, scores and weights of the rows that count; both classes must be there."""
    of_positive = read_positive(y, positive)
    numbers, weight = read_score(score, len(of_positive)), read_weight(sample_weight, len(of_positive))
    counts = weight > 0
    of_positive, numbers, weight = of_positive[counts], numbers[counts], weight[counts]
    if of_positive.all() or not of_positive.any():
        raise ValueError("y has one class only: this figure needs rows of both.")
    return of_positive, numbers, weight


def read_weight(sample_weight: Any, n_rows: int) -> FloatArray:
    """Weights, one for each row; 1 where none are given."""
    weight = check_sample_weight(sample_weight, n_rows)
    return np.ones(n_rows) if weight is None else weight


def read_groups(groups: Any, n_rows: int) -> AnyArray:
    """The subgroup of each row."""
    values = np.asarray(groups, dtype=object)
    if values.shape != (n_rows,):
        raise ValueError(f"groups must hold one value per row ({n_rows} of them); got shape {values.shape}.")
    return values
