"""Whether outcomes lie in their intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from .._validation import check_integer, check_real
from .._words import number_text
from ..estimators import Model, fitted_of, read_rows
from ..figures import share_of
from ..outcomes import read_numbers
from ._axes import BLUE, CLEAR, GREY, VERMILION, axes_of, finish
from ._table import check_regressor


def intervals(model: Model, X: Any, y: Any, *, level: float = 0.9, max_rows: int = 300, ax: Any = None) -> Axes:
    """Draw the prediction interval of every row, in the order of the predictions, and the outcomes.

    Use rows that the model has not seen. The title says how many outcomes lie inside, of all rows.

    Parameters
    ----------
    model
        A fitted regressor.
    X, y
        Rows and their outcomes.
    level
        Probability that an interval should hold, in (0, 1).
    max_rows
        Most rows to draw, evenly spread over the predictions.
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
    >>> ax = plot.intervals(model, X[1::2], y[1::2])
    >>> ax.get_title()
    '93.2 % of the outcomes lie in their 90 % interval (90 to 95.6 %)'
    """
    fitted = fitted_of(model)
    check_regressor("intervals", fitted)
    if not fitted.has_distribution():
        raise ValueError("intervals needs an outcome with a distribution; that of this model has none.")
    level, max_rows = check_real("level", level, low=0, high=1), check_integer("max_rows", max_rows, low=1)
    rows = read_rows(model, X)
    predicted = fitted.mean(rows)[:, 0]
    outcomes = read_numbers("y", y, len(predicted))
    low, high = fitted.quantiles(rows, np.array([0.5 - level / 2, 0.5 + level / 2])).T
    inside = (low <= outcomes) & (outcomes <= high)
    order = np.argsort(predicted, kind="stable")
    order = order[np.unique(np.linspace(0, len(order) - 1, min(max_rows, len(order))).astype(np.int64))]
    place = np.arange(len(order))
    ax = axes_of(ax, size=(7.0, 4.0))
    name = f"{100 * level:g} % interval"
    ax.fill_between(place, low[order], high[order], step="mid", color=BLUE, alpha=0.2, lw=0, label=name)
    ax.step(place, predicted[order], where="mid", color=BLUE, lw=1.3, label="prediction")
    for rows_there, mark, colour, label in ((inside, ".", GREY, "inside"), (~inside, "x", VERMILION, "outside")):
        chosen = rows_there[order]
        ax.plot(place[chosen], outcomes[order][chosen], mark, color=colour, markersize=5, label=f"outcome {label}")
    ax.set(xlabel="rows, by prediction", ylabel="outcome")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: number_text(value)))
    ax.legend(**CLEAR)
    coverage = share_of(inside, np.ones(len(inside)))
    return finish(ax, f"{coverage.text()} of the outcomes lie in their {name} ({coverage.interval()})")
