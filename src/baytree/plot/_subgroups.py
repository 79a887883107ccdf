"""Who is treated how."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from .._typing import BoolArray
from .._validation import shown
from ..estimators import Model, fitted_of, read_rows
from ..figures import Figure, mean, share_of
from ..fitted import Fitted
from ..outcomes import read_numbers
from ..table import divided
from ._canvas import BLUE, VERMILION, axes_of, open_frame
from ._rows import labels_of, weights_of
from ._words import wrapped

_SIZE = 9.0


def subgroups(model: Model, X: Any, y: Any, groups: Any, *, sample_weight: Any = None, ax: Any = None) -> Axes:
    """Draw what is predicted and what is observed in each subgroup, with 90 % intervals.

    For two classes, the share that is decided to be the second and the share that is. For more, how often the decision
    is right and how sure the model is. For numbers, the means. Use rows that the model has not seen.

    Parameters
    ----------
    model
        A fitted tree or tree space.
    X, y
        Rows and their outcomes.
    groups
        The subgroup of each row: a column, which need not be in the model. Many numbers are put into quarters.
    sample_weight
        How often each row counts.
    ax
        Axes to draw on; None: a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib import pyplot as plt
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import BayesianTreeClassifier, plot
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X[::2], y[::2])
    >>> ax = plot.subgroups(model, X[1::2], y[1::2], X["mean radius"][1::2])
    >>> len(ax.get_yticklabels())
    4
    >>> plt.close()
    """
    fitted = fitted_of(model)
    column = np.asarray(groups, dtype=object)
    n_rows = len(np.asarray(y))
    if column.shape != (n_rows,):
        raise ValueError(f"groups must hold one value per row of X ({n_rows} of them); got {shown(groups)}.")
    weight = weights_of(sample_weight, n_rows)
    figures = _of_classes(fitted, model, X, y) if fitted.classes is not None else _of_numbers(fitted, model, X, y)
    parts = [(name, rows) for name, rows in divided(column) if weight[rows].sum() > 0]
    ax = axes_of(ax, size=(6.0, 1.3 + 0.42 * len(parts)))
    for (title, values, is_share), colour, shift in zip(figures, (BLUE, VERMILION), (-0.13, 0.13), strict=True):
        for place, (_, rows) in enumerate(parts):
            found = _figure(values, rows, weight, is_share=is_share)
            label = title if place == 0 else None
            reach = np.maximum([[found.estimate - found.low], [found.high - found.estimate]], 0)
            at = {"fmt": "o", "color": colour, "ms": 5, "capsize": 3, "label": label}
            ax.errorbar(found.estimate, place + shift, xerr=reach, **at)
    names = [wrapped(f"{name}, n = {weight[rows].sum():,.0f}", 2.4, _SIZE, 2) for name, rows in parts]
    ax.set_yticks(np.arange(len(parts)), names, fontsize=_SIZE)
    ax.set_ylim(len(parts) - 0.5, -0.5)
    if figures[0][2]:
        ax.xaxis.set_major_formatter(PercentFormatter(1.0, None, " %"))
    ax.set_title("Who is treated how?", fontsize=10)
    ax.legend(
        frameon=False, fontsize=_SIZE, loc="upper center", bbox_to_anchor=(0.5, -0.1 - 0.25 / len(parts)), ncols=2
    )
    open_frame(ax, left=False)
    return ax


def _figure(values: Any, rows: BoolArray, weight: Any, *, is_share: bool) -> Figure:
    if is_share and values.dtype == np.bool_:
        return share_of(values[rows], weight[rows])
    return mean(np.asarray(values[rows], dtype=np.float64), weight[rows])


def _of_classes(fitted: Fitted, model: Model, X: Any, y: Any) -> list[tuple[str, Any, bool]]:
    outcomes, classes = labels_of("subgroups", fitted, X, y)
    probability = fitted.mean(read_rows(model, X))
    codes = fitted.decision.codes(probability)
    if len(classes) == 2:
        name = wrapped(fitted.class_names[1], 2.0, _SIZE)
        return [(f"decided to be {name}", codes == 1, True), (f"observed {name}", outcomes == classes[1], True)]
    certain = probability[np.arange(len(codes)), codes]
    return [("how sure it is", certain, True), ("decided rightly", classes[codes] == outcomes, True)]


def _of_numbers(fitted: Fitted, model: Model, X: Any, y: Any) -> list[tuple[str, Any, bool]]:
    predicted = fitted.mean(read_rows(model, X))
    if predicted.shape[1] > 1:
        raise ValueError("subgroups needs an outcome whose mean is one number; that of this model is several.")
    return [("predicted", predicted[:, 0], False), ("observed", read_numbers("y", y, len(predicted)), False)]
