"""What the columns do in a forest: how many trees use each, and how far it moves the prediction."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from .._typing import FloatArray
from .._validation import check_integer
from .._words import count_text, percent_text
from ..estimators import Model, fitted_of, read_rows
from ..fitted import Fitted, ModelKind
from ..table import Rows
from ._axes import BLUE, GREY, TEXT_SIZE, axes_of, finish
from ._dependence import average_predictions, drawn_values, feature_grid
from ._table import Table
from ._words import wrap_text

_MOST_ROWS = 100  # over which predictions are averaged
_N_POINTS = 9  # values of a column of numbers


class _Effect(NamedTuple):
    """How far a column moves the average prediction, by the forest and by nine in ten of its trees."""

    name: str
    share: float  # of the trees use it
    size: float
    low: float
    high: float


def forest(model: Model, X: Any, *, max_columns: int = 12, ax: Any = None) -> Axes:
    """Draw the effect of each column of a forest, with an interval over its trees and the share of trees that use it.

    The effect of a column is the difference between the largest and the smallest average prediction (partial
    dependence) if all rows had the same value of it. The interval holds the differences that nine in ten trees make
    between these two values: where it includes zero, trees disagree about the direction. With more than two classes,
    the class is drawn whose probability a column moves most.

    Parameters
    ----------
    model
        A fitted forest.
    X
        Rows: up to 100 of them, evenly chosen, get values of each column in turn: all categories, or nine numbers
        between the 2 % and the 98 % quantile.
    max_columns
        Maximum number of columns: those with the largest effects.
    ax
        Axes to draw on; None: a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import BayesianForestClassifier, plot
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = BayesianForestClassifier(10, random_state=0).fit(X, y)
    >>> ax = plot.forest(model, X.iloc[:30], max_columns=4)
    >>> len(ax.get_yticks())
    4
    """
    fitted = fitted_of(model)
    if fitted.kind is not ModelKind.FOREST:
        raise TypeError("plot.forest draws the columns of a forest: for another model, use plot.dependence.")
    max_columns = check_integer("max_columns", max_columns, low=1)
    effects = _effects(fitted, read_rows(model, X).dense())[:max_columns]
    ax = axes_of(ax, size=(7.5, 1.4 + 0.34 * len(effects)))
    for place, effect in enumerate(effects):
        ax.hlines(place, effect.low, effect.high, color=BLUE, lw=2.5, alpha=0.45)
        ax.plot(effect.size, place, "o", color=BLUE, ms=6)
        _write_right(ax, place, percent_text(effect.share))
    ax.axvline(0, color=GREY, lw=0.8)
    ax.set_yticks(range(len(effects)), [wrap_text(effect.name, 2.2, TEXT_SIZE, 2) for effect in effects])
    _write_right(ax, -0.8, "trees")
    shown = drawn_values(fitted)
    what = shown[0][1] if len(shown) == 1 else "the probability of a class"
    ax.set(ylim=(len(effects) - 0.5, -1.2), xlabel=f"largest change of the average {what}")
    return finish(ax, _title(fitted))


def _write_right(ax: Axes, place: float, text: str) -> None:
    """Write a text right of the axes, in the height of a column."""
    ax.text(1.02, place, text, ha="left", va="center", fontsize=TEXT_SIZE, transform=ax.get_yaxis_transform())


def _title(fitted: Fitted) -> str:
    n_trees = count_text(fitted.trees.n_trees, "tree")
    if fitted.outcome.predicts_classes:
        return f"Effects in {n_trees}; the readable tree decides alike for {percent_text(fitted.agreement)} of the rows"
    return f"Effects in {n_trees}; the readable tree explains {percent_text(fitted.agreement)} of their variance"


def _effects(fitted: Fitted, rows: FloatArray) -> list[_Effect]:
    """The effects of the columns that trees use, the largest first."""
    table = Table(fitted.schema, Rows(rows))
    some = rows[:: -(-len(rows) // _MOST_ROWS)]
    values = [k for k, _ in drawn_values(fitted)]
    effects = []
    for position in fitted.trees.used_features.tolist():
        column = table.feature("feature", position)
        averages = [
            average_predictions(fitted, some, position, value) for value in feature_grid(column, _N_POINTS).tolist()
        ]
        if averages:
            line, of_trees = (np.stack([one[part] for one in averages]) for part in (0, 1))
            effects.append(_effect(column.name, float(fitted.feature_inclusion[position]), line, of_trees, values))
    return sorted(effects, key=lambda effect: -effect.size)


def _effect(name: str, share: float, line: FloatArray, of_trees: FloatArray, values: list[int]) -> _Effect:
    """The effect on the value that changes most; `line` has shape (n_places, n_values), `of_trees` trees between."""
    k = values[int(np.argmax(np.ptp(line[:, values], axis=0)))]
    highest, lowest = int(np.argmax(line[:, k])), int(np.argmin(line[:, k]))
    low, high = np.quantile(of_trees[highest, :, k] - of_trees[lowest, :, k], [0.05, 0.95])
    return _Effect(name, share, float(line[highest, k] - line[lowest, k]), float(low), float(high))
