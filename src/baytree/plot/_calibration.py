"""Whether predicted probabilities are what is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy import stats
from sklearn.utils.validation import check_consistent_length

from .._typing import BoolArray, FloatArray, IntArray
from .._validation import check_integer, shown
from ..estimators import Model, fitted_of, read_rows
from ._canvas import GREY, axes_of, class_colour, open_frame
from ._words import wrapped

_MOST_INSIDE = 3  # names in a legend that hides nothing
_STRIP = 0.2  # below zero, for the histogram of the predictions


def calibration(model: Model, X: Any, y: Any, *, bins: int = 10, label: Any = None, ax: Any = None) -> Axes:
    """Draw observed frequencies against predicted probabilities, best of rows that the model has not seen.

    The bars are 90 % intervals of each frequency (Jeffreys prior); the distribution of the predictions is below.

    Parameters
    ----------
    model
        A fitted classifier.
    X, y
        Rows and their classes.
    bins
        Number of bins of equal width.
    label
        Class whose probability is drawn; None: the second of two, or each of more.
    ax
        Axes to draw on; None: a new figure.

    Returns
    -------
    matplotlib Axes
    """
    fitted = fitted_of(model)
    if fitted.classes is None:
        raise TypeError(f"calibration needs a classifier: {type(model).__name__} predicts no probabilities.")
    bins = check_integer("bins", bins, low=1)
    outcomes = np.asarray(y)
    check_consistent_length(X, outcomes)
    unknown = outcomes[~np.isin(outcomes, fitted.classes)]
    if len(unknown) > 0:
        raise ValueError(f"y holds the label {shown(unknown.tolist()[0])}, which is none of the model's classes.")
    chosen = _chosen(fitted.classes.tolist(), label)
    probability = fitted.mean(read_rows(model, X))
    ax = axes_of(ax, size=(5.0, 5.0))
    ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--")
    lines = []
    for i, position in enumerate(chosen):
        happened = np.asarray(outcomes == fitted.classes[position])
        shift = (i - (len(chosen) - 1) / 2) * 0.006  # so that the bars of several classes do not hide each other
        lines.append(_draw_class(ax, probability[:, position], happened, bins, class_colour(position), shift))
    names = [wrapped(f"probability of {fitted.class_names[position]}", 2.6, 9, 2) for position in chosen]
    beside = {"bbox_to_anchor": (1.0, 1.0)} if len(names) > _MOST_INSIDE else {}
    ax.legend(lines, names, frameon=False, fontsize=9, loc="upper left", **beside)
    ax.set(xlim=(-0.02, 1.02), ylim=(-_STRIP - 0.04, 1.02), xlabel="predicted probability")
    ax.set_ylabel("observed frequency, with 90 % intervals")
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.set_title("Does it happen as often as predicted?", fontsize=10)
    open_frame(ax)
    return ax


def _chosen(classes: list[Any], label: Any) -> list[int]:
    """Positions of the classes to draw."""
    if label is None:
        return [1] if len(classes) == 2 else list(range(len(classes)))
    if label not in classes:
        raise ValueError(f"label must be one of the classes {shown(classes)}; got {shown(label)}.")
    return [classes.index(label)]


def _draw_class(ax: Axes, probability: FloatArray, happened: BoolArray, bins: int, colour: str, shift: float) -> Any:
    edges = np.linspace(0, 1, bins + 1)
    bin_of: IntArray = np.minimum((probability * bins).astype(np.int64), bins - 1)
    n_rows = np.bincount(bin_of, minlength=bins)
    used = n_rows > 0
    predicted = np.bincount(bin_of, weights=probability, minlength=bins)[used] / n_rows[used]
    n_happened = np.bincount(bin_of, weights=happened, minlength=bins)[used]
    observed = n_happened / n_rows[used]
    frequency = stats.beta(n_happened + 0.5, n_rows[used] - n_happened + 0.5)
    # The interval need not hold a frequency of 0 or 1.
    reach = np.maximum([observed - frequency.ppf(0.05), frequency.ppf(0.95) - observed], 0)
    line = ax.errorbar(
        predicted + shift, observed, reach, fmt="o-", color=colour, ms=4, lw=1.2, elinewidth=1, capsize=2
    )
    heights = 0.9 * _STRIP * n_rows / n_rows.max()
    ax.stairs(heights - _STRIP - 0.02, edges, baseline=-_STRIP - 0.02, color=colour, fill=True, alpha=0.15)
    ax.stairs(heights - _STRIP - 0.02, edges, baseline=-_STRIP - 0.02, color=colour, lw=0.8)
    return line
