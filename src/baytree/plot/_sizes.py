"""How probable, and how good on new rows, a tree of each size is."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from .._words import exact_odds_text
from ..estimators import FittedEstimator, sizes_of_model
from ._axes import BLUE, GREY, OVER_DATA, TEXT_SIZE, VERMILION, axes_of, finish

_MOST_ODDS = 16  # sizes that have their odds written beside them


def sizes(model: FittedEstimator, X: Any = None, y: Any = None, *, ax: Any = None, **options: Any) -> Axes:
    """Draw the loss on held-out rows, or the odds, of the most probable pruning with each number of leaves.

    Parameters
    ----------
    model
        A fitted single tree, or a pipeline that ends in one.
    X, y
        Rows for the loss, as ``model.sizes`` takes them. None: the odds against the best size are drawn.
    ax
        Axes to draw on; None: a new figure.
    **options
        Options of ``model.sizes``, such as ``n_folds`` and ``max_leaves``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier, plot
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> ax = plot.sizes(model, X, y)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('leaves', 'loss on held-out rows')
    """
    frame, n_leaves = sizes_of_model(model, X, y, **options)
    size, log_odds = frame["n_leaves"].to_numpy(), frame["log_posterior"].to_numpy()
    log_odds = log_odds.max() - log_odds  # of the best size
    ax = axes_of(ax, size=(7.0, 4.0))
    height = _draw_losses(ax, frame) if "loss" in frame else _draw_odds(ax, size, log_odds)
    best = int(np.argmin(log_odds))
    ax.plot(size[best], height[best], "o", color=VERMILION, label=f"most probable: {size[best]}", zorder=3)
    if n_leaves in size:
        here = int(n_leaves) - 1
        ring = {"markersize": 12, "markerfacecolor": "none", "markeredgecolor": VERMILION}
        ax.plot(size[here], height[here], "o", label=f"this model: {n_leaves}", **ring)
    if len(size) <= _MOST_ODDS:
        for x, top, odds in zip(size, height, log_odds, strict=True):
            place = {"textcoords": "offset points", "xytext": (4, 6), "ha": "left", "fontsize": TEXT_SIZE}
            ax.annotate(exact_odds_text(odds), (x, top), **place)
        ax.margins(x=0.08, y=0.15)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("leaves")
    ax.legend(**OVER_DATA)
    return finish(ax, "How many leaves?\nNumbers are the odds of the most probable size against each other one")


def _draw_losses(ax: Axes, frame: Any) -> Any:
    """The loss by size, with one standard error to either side."""
    size, loss, error = (frame[name].to_numpy() for name in ("n_leaves", "loss", "loss_error"))
    ax.fill_between(size, loss - error, loss + error, color=BLUE, alpha=0.15, linewidth=0, label="± 1 standard error")
    ax.plot(size, loss, "o-", color=BLUE, markersize=4)
    ax.set_ylabel("loss on held-out rows")
    return loss


def _draw_odds(ax: Axes, size: Any, log_odds: Any) -> Any:
    """The odds of the best size against each size, on a logarithmic axis that has the best one at the top."""
    ax.plot(size, log_odds, "o-", color=GREY, markersize=4)
    ax.invert_yaxis()
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: exact_odds_text(value) if value >= 0 else ""))
    ax.set_ylabel("odds of the best size")
    return log_odds
