"""Predictions and observations by subgroup."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._typing import BoolArray
from .._validation import short_repr
from ..estimators import Model, fitted_of, read_rows, with_positive
from ..figures import Figure, mean, share_of
from ..fitted import Fitted
from ..outcomes import read_numbers
from ..table import subgroup_masks
from ._axes import BLUE, CLEAR, TEXT_SIZE, VERMILION, axes_of, error_bars_of, finish, write_percent
from ._table import labels_of, single_mean, weights_of
from ._words import wrap_text


def subgroups(
    model: Model, X: Any, y: Any, groups: Any, *, positive: Any = None, sample_weight: Any = None, ax: Any = None
) -> Axes:
    """Draw what is predicted and what is observed in each subgroup, with 90 % intervals.

    For two classes, the share that is decided to be the positive one and the share that is. For more, how often the
    decision is right and how sure the model is. For numbers, the means. Use rows that the model has not seen.

    Parameters
    ----------
    model
        A fitted tree or tree space.
    X, y
        Rows and their outcomes.
    groups
        The subgroup of each row: a column, which need not be in the model. Many numbers are put into quarters.
    positive
        Of two classes, the label of the positive one. None: that of the model's decision.
    sample_weight
        How often each row counts.
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
    >>> ax = plot.subgroups(model, X[1::2], y[1::2], X["mean radius"][1::2])
    >>> len(ax.get_yticklabels())
    4
    """
    fitted = with_positive(fitted_of(model), positive)
    column = np.asarray(groups, dtype=object)
    n_rows = len(np.asarray(y))
    if column.shape != (n_rows,):
        raise ValueError(f"groups must hold one value per row of X ({n_rows} of them); got {short_repr(groups)}.")
    weight = weights_of(sample_weight, n_rows)
    figures = (
        _class_figures(fitted, model, X, y) if fitted.outcome.predicts_classes else _number_figures(fitted, model, X, y)
    )
    parts = [(name, rows) for name, rows in subgroup_masks(column) if weight[rows].sum() > 0]
    ax = axes_of(ax, size=(6.0, 1.3 + 0.42 * len(parts)))
    for (title, values, is_share), colour, shift in zip(figures, (BLUE, VERMILION), (-0.13, 0.13), strict=True):
        for place, (_, rows) in enumerate(parts):
            figure = _figure(values, rows, weight, is_share=is_share)
            label = title if place == 0 else None
            mark: dict[str, Any] = {"fmt": "o", "color": colour, "ms": 5, "capsize": 3, "label": label}
            ax.errorbar(figure.estimate, place + shift, xerr=error_bars_of(figure), **mark)
    names = [wrap_text(f"{name}, n = {weight[rows].sum():,.0f}", 2.4, TEXT_SIZE, 2) for name, rows in parts]
    ax.set_yticks(np.arange(len(parts)), names, fontsize=TEXT_SIZE)
    ax.set_ylim(len(parts) - 0.5, -0.5)
    if figures[0][2]:
        write_percent(ax.xaxis, decimals=None)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1 - 0.25 / len(parts)), ncols=2, **CLEAR)
    return finish(ax, "Who is treated how?", left=False)


def _figure(values: Any, rows: BoolArray, weight: Any, *, is_share: bool) -> Figure:
    if is_share and values.dtype == np.bool_:
        return share_of(values[rows], weight[rows])
    return mean(np.asarray(values[rows], dtype=np.float64), weight[rows])


def _class_figures(fitted: Fitted, model: Model, X: Any, y: Any) -> list[tuple[str, Any, bool]]:
    outcomes, classes = labels_of("subgroups", fitted, X, y)
    rows = read_rows(model, X)
    probability = fitted.mean(rows)
    codes = fitted.class_codes(rows, mean=probability)
    if len(classes) == 2:
        place = fitted.decision.positive
        name = wrap_text(fitted.class_names[place], 2.0, TEXT_SIZE)
        return [(f"decided to be {name}", codes == place, True), (f"observed {name}", outcomes == classes[place], True)]
    certain = probability[np.arange(len(codes)), codes]
    return [("how sure it is", certain, True), ("decided rightly", classes[codes] == outcomes, True)]


def _number_figures(fitted: Fitted, model: Model, X: Any, y: Any) -> list[tuple[str, Any, bool]]:
    predicted = single_mean("subgroups", fitted.mean(read_rows(model, X)))
    return [("predicted", predicted, False), ("observed", read_numbers("y", y, len(predicted)), False)]
