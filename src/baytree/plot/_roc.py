"""The ROC curve of two classes, with the decisions of every threshold."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from sklearn.metrics import roc_auc_score, roc_curve

from .._words import percent_text
from ..estimators import Model, fitted_of, read_rows, with_positive
from ..figures import share_of
from ._axes import BLUE, CLEAR, GREY, VERMILION, axes_of, error_bars_of, finish, write_percent
from ._table import labels_of, weights_of
from ._words import wrap_text


def roc(model: Model, X: Any, y: Any, *, positive: Any = None, sample_weight: Any = None, ax: Any = None) -> Axes:
    """Draw the ROC curve of a model for two classes, with its own threshold and 90 % intervals there.

    Use rows that the model has not seen. The intervals are of Beta posteriors (Jeffreys' prior).

    Parameters
    ----------
    model
        A fitted classifier for two classes.
    X, y
        Rows and their classes.
    positive
        Label of the positive class. None: that of the model's decision, by default the second class.
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
    >>> ax = plot.roc(model, X[1::2], y[1::2])
    >>> ax.get_xlabel()
    '0 taken for 1'
    """
    fitted = with_positive(fitted_of(model), positive)
    outcomes, classes = labels_of("roc", fitted, X, y)
    if len(classes) != 2:
        raise ValueError(f"roc needs two classes, the model has {len(classes)}: use plot.confusion.")
    weight = weights_of(sample_weight, len(outcomes))
    place = fitted.decision.positive
    is_positive = outcomes == classes[place]
    if is_positive.all() or not is_positive.any():
        raise ValueError("roc needs rows of both classes in y.")
    rows = read_rows(model, X)
    probability = fitted.mean(rows)
    decided = fitted.class_codes(rows, mean=probability) == place
    false, true, _ = roc_curve(is_positive, probability[:, place], sample_weight=weight)
    area = roc_auc_score(is_positive, probability[:, place], sample_weight=weight)
    ax = axes_of(ax, size=(5.0, 5.0))
    ax.plot([0, 1], [0, 1], color=GREY, lw=1, ls="--")
    ax.plot(false, true, color=BLUE, lw=1.8, label=f"area under the curve: {area:.3f}")
    hits, mistaken = (share_of(decided[rows], weight[rows]) for rows in (is_positive, ~is_positive))
    threshold = fitted.decision.threshold_of_positive(2)
    label = "its decision" if threshold is None else f"its decision, from {percent_text(threshold)} on"
    mark: dict[str, Any] = {"fmt": "o", "color": VERMILION, "ms": 6, "capsize": 3, "label": label}
    ax.errorbar(mistaken.estimate, hits.estimate, error_bars_of(hits), error_bars_of(mistaken), **mark)
    other, name = (wrap_text(fitted.class_names[i], 2.0, 10) for i in (1 - place, place))
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_xlabel(f"{other} taken for {name}")
    ax.set_ylabel(f"{name} that is found")
    write_percent(ax.xaxis, ax.yaxis)
    ax.legend(loc="lower right", **CLEAR)
    return finish(ax, "How well are the classes told apart?")
