"""Predictions of numbers along a feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._typing import FloatArray
from ..estimators import Model, fitted_of, read_rows
from ..outcomes import read_numbers
from ._axes import BLUE, OVER_DATA, VERMILION, axes_of, finish
from ._table import Feature, Table, check_regressor, held_features_title, single_mean

_POINTS = 400


def regression(model: Model, X: Any, y: Any, feature: Any, *, ax: Any = None) -> Axes:
    """Draw the prediction along a feature, with 90 % intervals of the mean and of the outcome, and the data.

    Every other feature is held at its median or its most common category.

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

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from baytree import BayesianTreeRegressor, plot
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeRegressor().fit(X[::2], y[::2])
    >>> ax = plot.regression(model, X, y, "bmi")
    >>> ax.get_xlabel()
    'bmi'
    """
    fitted = fitted_of(model)
    check_regressor("regression", fitted)
    table = Table(fitted.schema, read_rows(model, X))
    column = table.feature("feature", feature)
    outcomes = read_numbers("y", y, len(column.values))
    places, values = _feature_grid(column)
    rows = table.typical_rows({column.position: values})
    prediction = single_mean("regression", fitted.mean(rows))
    ax = axes_of(ax)
    for kind, strength in (("outcome", 0.18), ("mean", 0.45)):
        if fitted.has_distribution(kind):
            low, high = _break_between_categories(column, fitted.quantiles(rows, np.array([0.05, 0.95]), kind)).T
            ax.fill_between(places, low, high, color=BLUE, alpha=strength, lw=0, label=f"90 % interval of the {kind}")
    drawn_at = column.jittered(np.random.default_rng(0))
    ax.scatter(drawn_at, outcomes, s=8, color="#444444", alpha=0.6, lw=0, label="data")
    ax.plot(places, _break_between_categories(column, prediction), color=VERMILION, lw=1.5, label="prediction")
    ax.legend(**OVER_DATA)
    ax.set_ylabel("outcome")
    column.label(ax.xaxis)
    return finish(ax, held_features_title("Prediction and data", table, 1))


def _feature_grid(column: Feature) -> tuple[FloatArray, FloatArray]:
    """Places on the axis, and the values that are predicted there; a category has a stretch of its own."""
    if column.names is None:
        edges = column.edges(_POINTS)
        return edges, edges
    codes = np.arange(len(column.names), dtype=np.float64)
    return (codes[:, None] + [-0.4, 0.4, 0.4]).ravel(), np.repeat(codes, 3)


def _break_between_categories(column: Feature, values: FloatArray) -> FloatArray:
    """Break lines and bands between categories."""
    values = np.array(values, dtype=np.float64)
    if column.names is not None:
        values[2::3] = np.nan
    return values
