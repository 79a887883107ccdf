"""Partial dependence of predictions on a feature, with bands from the trees of a forest."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._typing import FloatArray
from .._validation import check_integer
from ..estimators import Model, fitted_of, read_rows
from ..fitted import Fitted, ModelKind
from ..table import Rows
from ._axes import BLUE, CLEAR, OVER_DATA, axes_of, class_colour, finish
from ._table import Feature, Table

_MOST_ROWS = 300  # that the average is taken over
_MOST_INSIDE = 4  # classes whose names have room beside the curves


def dependence(model: Model, X: Any, feature: Any, *, n_points: int = 40, ax: Any = None) -> Axes:
    """Draw the prediction along a feature, averaged over the other features of the rows (partial dependence).

    Of a forest, the band holds nine in ten of its trees: where it is wide, the data leave open what the feature does.

    Parameters
    ----------
    model
        A fitted tree, tree space or forest.
    X
        Rows: every one of them, up to 300 evenly chosen, gets every value of the feature in turn.
    feature
        Name or position of the feature.
    n_points
        Values of the feature, evenly spread between the 2 % and the 98 % quantile; of categories all.
    ax
        Axes to draw on; None: a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import BayesianTreeClassifier, plot
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X[::2], y[::2])
    >>> ax = plot.dependence(model, X, "worst radius", n_points=10)
    >>> ax.get_xlabel()
    'worst radius'
    """
    fitted = fitted_of(model)
    rows = read_rows(model, X).dense()
    table = Table(fitted.schema, Rows(rows))
    column = table.feature("feature", feature)
    places = feature_grid(column, check_integer("n_points", n_points, low=2))
    some = rows[:: -(-len(rows) // _MOST_ROWS)]
    ax = axes_of(ax)
    shown = drawn_values(fitted)
    averages = [average_predictions(fitted, some, column.position, value) for value in places]
    line, of_trees = np.stack([line for line, _ in averages]), np.stack([of_trees for _, of_trees in averages])
    draw = _draw_curve if column.names is None else _draw_dots
    for number, (k, name) in enumerate(shown):
        aside = 0.6 * ((number + 0.5) / len(shown) - 0.5)
        draw(ax, places, line[:, k], of_trees[:, :, k], BLUE if len(shown) == 1 else class_colour(k), name, aside)
    if len(shown) > _MOST_INSIDE:
        ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), **CLEAR)
    elif len(shown) > 1:
        ax.legend(**OVER_DATA)
    ax.set_ylabel(shown[0][1] if len(shown) == 1 else "probability")
    column.label(ax.xaxis)
    band = "band" if column.names is None else "bars"
    return finish(ax, "Average prediction" + (f"; {band}: nine in ten trees" if of_trees.shape[1] else ""))


def _draw_curve(
    ax: Axes, places: FloatArray, line: FloatArray, of_trees: FloatArray, colour: Any, name: str, _aside: float
) -> None:
    """Along numbers: a curve, and a band where there are trees."""
    if of_trees.shape[1]:
        low, high = np.quantile(of_trees, [0.05, 0.95], axis=1)
        ax.fill_between(places, low, high, color=colour, alpha=0.2, lw=0)
    ax.plot(places, line, color=colour, lw=1.8, label=name)


def _draw_dots(
    ax: Axes, places: FloatArray, line: FloatArray, of_trees: FloatArray, colour: Any, name: str, aside: float
) -> None:
    """Along categories: dots without lines, and bars where there are trees; classes stand side by side."""
    if of_trees.shape[1]:
        low, high = np.quantile(of_trees, [0.05, 0.95], axis=1)
        ax.vlines(places + aside, low, high, color=colour, alpha=0.5, lw=2.5)
    ax.plot(places + aside, line, "o", color=colour, ms=5, label=name)


def drawn_values(fitted: Fitted) -> list[tuple[int, str]]:
    """Which of the predicted numbers are drawn, and their names."""
    names = fitted.class_names
    if not names:
        return [(0, "predicted mean")]
    positive = fitted.decision.positive
    return [(positive, f"probability of {names[positive]}")] if len(names) == 2 else list(enumerate(names))


def feature_grid(column: Feature, n_points: int) -> FloatArray:
    """The values of the feature that rows get."""
    present = column.present
    if column.names is not None:
        return np.unique(present)
    low, high = np.quantile(present, [0.02, 0.98]) if len(present) else (0.0, 1.0)
    return np.linspace(low, high, n_points)


def average_predictions(fitted: Fitted, rows: FloatArray, position: int, value: float) -> tuple[FloatArray, FloatArray]:
    """The average prediction if all rows had a value, (n_values,), and that of each tree of a forest.

    The averages of trees are calibrated as those of the forest are.
    """
    changed = rows.copy()
    changed[:, position] = value
    mean = fitted.mean(Rows(changed)).mean(axis=0)
    if fitted.kind is not ModelKind.FOREST:
        return mean, np.zeros((0, len(mean)))
    return mean, fitted.outcome.of_average(fitted.tree_means(Rows(changed)).mean(axis=0))
