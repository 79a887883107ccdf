"""Whether predicted probabilities are what is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy import stats

from .._typing import BoolArray, FloatArray, IntArray
from .._validation import check_integer, short_repr
from ..estimators import Model, fitted_of, read_rows
from ._axes import CLEAR, GREY, TEXT_SIZE, axes_of, class_colour, finish
from ._table import labels_of
from ._words import wrap_text

_MOST_INSIDE = 3  # names in a legend that hides nothing
_MOST_CURVES = 6
_STRIP = 0.2  # below zero, for the histogram of the predictions


def calibration(model: Model, X: Any, y: Any, *, bins: int = 10, label: Any = None, ax: Any = None) -> Axes:
    """Draw observed frequencies against predicted probabilities. Use rows that the model has not seen.

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
        Class whose probability is drawn. None: the positive one of two, or each of more. Of many classes those with
        most rows are drawn, and all others together.
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
    >>> ax = plot.calibration(model, X[1::2], y[1::2], bins=5)
    >>> ax.get_ylabel()
    'observed frequency, with 90 % intervals'
    """
    fitted = fitted_of(model)
    outcomes, classes = labels_of("calibration", fitted, X, y)
    bins = check_integer("bins", bins, low=1)
    chosen = _class_positions(classes.tolist(), label, fitted.decision.positive)
    probability = fitted.mean(read_rows(model, X))
    ax = axes_of(ax, size=(5.0, 5.6 if len(chosen) > _MOST_INSIDE else 5.0))
    ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--")
    happened = outcomes[:, None] == classes[None, :]
    rest: list[int] = []
    if len(chosen) > _MOST_CURVES:
        common = sorted(chosen, key=lambda position: -int(happened[:, position].sum()))
        chosen, rest = sorted(common[: _MOST_CURVES - 1]), common[_MOST_CURVES - 1 :]
    parts = [([position], class_colour(i), fitted.class_names[position]) for i, position in enumerate(chosen)]
    if len(classes) <= _MOST_CURVES:
        parts = [([position], class_colour(position), fitted.class_names[position]) for position in chosen]
    parts += [(rest, GREY, f"each of {len(rest)} others")] if rest else []
    lines = []
    for i, (positions, colour, _) in enumerate(parts):
        shift = (i - (len(parts) - 1) / 2) * 0.006  # so that the bars of several classes do not hide each other
        predicted, observed = probability[:, positions].ravel(), happened[:, positions].ravel()
        lines.append(_draw_class(ax, predicted, observed, bins, colour, shift))
    names = [wrap_text(f"probability of {name}", 2.6, TEXT_SIZE, 2) for *_, name in parts]
    place = (
        {"loc": "upper left"} if len(names) <= _MOST_INSIDE else {"loc": "upper center", "bbox_to_anchor": (0.5, -0.14)}
    )
    ax.legend(lines, names, ncols=1 if len(names) <= _MOST_INSIDE else 2, **CLEAR, **place)
    ax.set(xlim=(-0.02, 1.02), ylim=(-_STRIP - 0.04, 1.02), xlabel="predicted probability")
    ax.set_ylabel("observed frequency, with 90 % intervals")
    ax.set_yticks(np.linspace(0, 1, 6))
    return finish(ax, "Does it happen as often as predicted?")


def _class_positions(classes: list[Any], label: Any, positive: int) -> list[int]:
    """Positions of the classes to draw."""
    if label is None:
        return [positive] if len(classes) == 2 else list(range(len(classes)))
    if label not in classes:
        raise ValueError(f"label must be one of the classes {short_repr(classes)}; got {short_repr(label)}.")
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
    errors = np.maximum([observed - frequency.ppf(0.05), frequency.ppf(0.95) - observed], 0)
    line = ax.errorbar(
        predicted + shift, observed, errors, fmt="o-", color=colour, ms=4, lw=1.2, elinewidth=1, capsize=2
    )
    heights = 0.9 * _STRIP * n_rows / n_rows.max()
    ax.stairs(heights - _STRIP - 0.02, edges, baseline=-_STRIP - 0.02, color=colour, fill=True, alpha=0.15)
    ax.stairs(heights - _STRIP - 0.02, edges, baseline=-_STRIP - 0.02, color=colour, lw=0.8)
    return line
