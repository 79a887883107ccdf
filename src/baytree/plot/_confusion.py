"""The confusion matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._typing import FloatArray
from .._validation import check_integer
from .._words import amount_text
from ..estimators import Model, fitted_of, read_rows
from ..figures import share
from ._axes import TEXT_SIZE, axes_of, finish
from ._table import labels_of, weights_of
from ._words import wrap_text

_FEW = 4  # classes, whose shares and intervals have room


def confusion(
    model: Model, X: Any, y: Any, *, sample_weight: Any = None, max_classes: int = 12, ax: Any = None
) -> Axes:
    """Draw what is decided for the rows of each class: counts, shares of the class and their 90 % intervals.

    Use rows that the model has not seen. The intervals are of Beta posteriors (Jeffreys' prior).

    Parameters
    ----------
    model
        A fitted classifier.
    X, y
        Rows and their classes.
    sample_weight
        How often each row counts.
    max_classes
        Most classes to draw: those with most rows; all others are one.
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
    >>> ax = plot.confusion(model, X[1::2], y[1::2])
    >>> ax.get_xlabel()
    'decided'
    """
    fitted = fitted_of(model)
    outcomes, classes = labels_of("confusion", fitted, X, y)
    weight, most = weights_of(sample_weight, len(outcomes)), check_integer("max_classes", max_classes, low=2)
    true, decided = np.searchsorted(classes, outcomes), fitted.class_codes(read_rows(model, X))
    counts = np.zeros((len(classes), len(classes)))
    np.add.at(counts, (true, decided), weight)
    right, names = float(np.diag(counts).sum()), list(fitted.class_names)
    if len(names) > most:
        order = np.argsort(-counts.sum(axis=1), kind="stable")
        kept, rest = np.sort(order[: most - 1]), np.sort(order[most - 1 :])
        parts = [[int(i)] for i in kept] + [rest.tolist()]
        counts = np.array([[counts[np.ix_(rows, columns)].sum() for columns in parts] for rows in parts])
        names = [names[i] for i in kept] + [f"{len(rest)} others"]
    ax = axes_of(ax, size=(max(5.2, 2.2 + 0.7 * len(names)), max(3.4, 1.6 + 0.5 * len(names))))
    _draw(ax, counts, names)
    right_share = share(right, float(weight.sum()) - right)
    finish(ax, f"What is decided? {right_share.text()} rightly ({right_share.interval()})", left=False)
    ax.spines["bottom"].set_visible(False)
    return ax


def _draw(ax: Axes, counts: FloatArray, names: list[str]) -> None:
    totals = counts.sum(axis=1)
    shares = counts / np.maximum(totals[:, None], np.finfo(float).tiny)
    ax.imshow(shares, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
    small = len(names) > _FEW
    for i, j in np.ndindex(*counts.shape):
        part = share(float(counts[i, j]), float(totals[i] - counts[i, j]))
        text = amount_text(float(counts[i, j]))
        if not small and part.is_known:
            text += f"\n{part.text()}\n({part.interval()})"
        colour = "white" if shares[i, j] > 0.75 else "black"
        ax.text(j, i, text, ha="center", va="center", fontsize=7 if small else 9, color=colour)
    written = [wrap_text(name, 1.1, TEXT_SIZE, 2) for name in names]
    slant: dict[str, Any] = {"rotation": 45, "ha": "right"} if small else {}
    ax.set_xticks(np.arange(len(names)), written, fontsize=TEXT_SIZE, **slant)
    ax.set_yticks(np.arange(len(names)), written, fontsize=TEXT_SIZE)
    ax.set(xlabel="decided", ylabel="true class")
    ax.tick_params(length=0)
