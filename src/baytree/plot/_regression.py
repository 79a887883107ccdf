"""Predictions of numbers along a feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._typing import FloatArray
from ..outcomes._base import check_numbers
from ._canvas import BLUE, VERMILION, axes_of, open_frame
from ._posteriors import check_model
from ._table import Feature, Table, note_on_others

_POINTS = 400


def regression(model: Any, X: Any, y: Any, feature: Any, *, ax: Any = None) -> Axes:
    """Draw the prediction along a feature, with 90 % intervals of the mean and of the outcome, and the data.

    Every other feature is held at its median or its most common level.

    Parameters
    ----------
    model
        A fitted regressor: a tree or a tree space.
    X, y
        Rows and their outcomes, drawn as points.
    feature
        Name or position of the feature.
    ax
        Axes to draw on; None: a new figure.

    Returns
    -------
    matplotlib Axes
    """
    check_model(model)
    if hasattr(model, "classes_"):
        raise TypeError(f"regression needs a regressor: {type(model).__name__} predicts classes.")
    table = Table(model, X)
    column = table.feature("feature", feature)
    outcomes = check_numbers("y", y, len(column.cells))
    places, cells = _along(column)
    rows = table.typical_rows({column.position: cells})
    prediction = table.model.predict(rows)
    if prediction.ndim > 1:
        raise ValueError("regression needs an outcome whose mean is one number; that of this model is several.")
    ax = axes_of(ax)
    for kind, method, strength in (("outcome", "distribution", 0.18), ("mean", "mean_distribution", 0.45)):
        if _knows(table.model, method):
            low, high = _apart(column, table.model.predict_interval(rows, level=0.9, kind=kind)).T
            ax.fill_between(places, low, high, color=BLUE, alpha=strength, lw=0, label=f"90 % interval of the {kind}")
    drawn_at = column.scattered(np.random.default_rng(0))
    ax.scatter(drawn_at, outcomes, s=8, color="#444444", alpha=0.6, lw=0, label="data")
    ax.plot(places, _apart(column, prediction), color=VERMILION, lw=1.5, label="prediction")
    ax.legend(fontsize=9, framealpha=0.85, edgecolor="none")
    ax.set_ylabel("outcome")
    column.label(ax.xaxis)
    note_on_others(ax, table, 1, "Prediction and data")
    open_frame(ax)
    return ax


def _along(column: Feature) -> tuple[FloatArray, FloatArray]:
    """Places on the axis, and the cells that the model is asked about there; a level has a stretch of its own."""
    if column.levels is None:
        edges = column.edges(_POINTS)
        return edges, edges
    codes = np.arange(len(column.levels), dtype=np.float64)
    return (codes[:, None] + [-0.4, 0.4, 0.4]).ravel(), np.repeat(codes, 3)


def _apart(column: Feature, values: FloatArray) -> FloatArray:
    """Break lines and bands between levels."""
    values = np.array(values, dtype=np.float64)
    if column.levels is not None:
        values[2::3] = np.nan
    return values


def _knows(model: Any, method: str) -> bool:
    """Whether the outcome has a distribution; one of the user's own need not."""
    return model.outcome_.name != "custom" or hasattr(model.outcome_.definition, method)
