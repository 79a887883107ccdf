"""The uncertainty of a forest's predictions, divided into noise and a part that more data would reduce."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._validation import short_repr
from ..estimators import Model, fitted_of, read_rows
from ..fitted import ModelKind
from ._axes import BLUE, OVER_DATA, VERMILION, axes_of, finish


def uncertainty(model: Model, X: Any, *, ax: Any = None) -> Axes:
    """Draw, for every row, what is noise and what more data would settle; the most uncertain rows are on the right.

    Parameters
    ----------
    model
        A fitted forest.
    X
        Rows.
    ax
        Axes to draw on; None: a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianForestClassifier, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = BayesianForestClassifier(10, random_state=0).fit(X, y)
    >>> ax = plot.uncertainty(forest, X)
    >>> ax.get_ylabel()
    'nats'
    """
    fitted = fitted_of(model)
    if fitted.kind is not ModelKind.FOREST:
        raise TypeError(f"uncertainty needs a forest; got {short_repr(model)}.")
    parts = fitted.uncertainty(read_rows(model, X))
    order = np.argsort(parts.sum(axis=1), kind="stable")
    noise, rest = parts[order].T
    places = np.arange(len(order)) + 1
    ax = axes_of(ax)
    ax.fill_between(places, 0, noise, color=BLUE, alpha=0.75, lw=0, step="mid", label="noise: stays with more data")
    ax.fill_between(
        places, noise, noise + rest, color=VERMILION, alpha=0.75, lw=0, step="mid", label="would settle with more data"
    )
    ax.set(xlabel="rows, the most uncertain last", xlim=(1, max(len(order), 2)))
    ax.set_ylabel("variance" if not fitted.outcome.predicts_classes else "nats")
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper left", **OVER_DATA)
    return finish(ax, "")
