"""What becomes of the splits of a tree when the rows are drawn anew."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._validation import check_integer
from .._words import amount_text, percent_text
from ..estimators import FittedEstimator, stability_of_model
from ..fitted import SplitStability, Stability
from ._axes import BESIDE, BLUE, GREY, TEXT_SIZE, VERMILION, axes_of, finish, write_percent
from ._words import wrap_text

_FATES = (
    ("kept", BLUE),
    ("same column, another threshold", "#80b8d8"),
    ("another column", VERMILION),
    ("no split", GREY),
    ("no such rows", "#dddddd"),
)


def stability(
    model: FittedEstimator | Stability,
    X: Any = None,
    y: Any = None,
    *,
    max_splits: int = 20,
    ax: Any = None,
    **options: Any,
) -> Axes:
    """Draw how often each split of a tree is kept in refits, and what the other refits have in its place.

    Parameters
    ----------
    model
        The result of a model's ``stability``, or a fitted model whose ``stability(X, y)`` is drawn.
    X, y
        Of a model: the rows of the fit.
    max_splits
        Most splits that are drawn: those nearest to the root.
    ax
        Axes to draw on; None: a new figure.
    **options
        Of a model: options of its ``stability``, such as ``n_refits``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier, plot
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> ax = plot.stability(model, X, y, n_refits=10)
    >>> ax.get_xlabel()
    'share of 10 refits'
    """
    max_splits = check_integer("max_splits", max_splits, low=1)
    if isinstance(model, Stability):
        if X is not None or y is not None or options:
            raise TypeError("X, y and options belong to a model: the result of stability has its refits already.")
        result = model
    else:
        if X is None or y is None:
            raise TypeError(
                "stability refits a model on its rows: give X and y, or the result of model.stability(X, y)."
            )
        result = stability_of_model(model, X, y, **options)
    return _draw(result, max_splits, ax)


def _draw(result: Stability, max_splits: int, ax: Any) -> Axes:
    nearest = sorted(result.splits, key=lambda split: split.depth)[:max_splits]
    splits = [split for split in result.splits if split in nearest]
    ax = axes_of(ax, size=(8.5, 1.5 + 0.42 * max(len(splits), 1)))
    shares, left = _shares(splits), np.zeros(len(splits))
    for (name, colour), lengths in zip(_FATES, shares.T, strict=True):
        ax.barh(np.arange(len(splits)), lengths, left=left, color=colour, label=name)
        left = left + lengths
    for place, split in enumerate(splits):
        ax.text(1.01, place, percent_text(split.kept), ha="left", va="center", fontsize=TEXT_SIZE)
    ax.set_yticks(np.arange(len(splits)), [_label(split) for split in splits], fontsize=TEXT_SIZE)
    ax.set(xlim=(0, 1), ylim=(len(splits) - 0.4, -0.6), xlabel=f"share of {result.n_refits} refits")
    write_percent(ax.xaxis)
    ax.legend(**BESIDE | {"bbox_to_anchor": (1.14, 1.0)})
    return finish(ax, f"How stable is each split?\n{result.summary()}", left=False)


def _shares(splits: list[SplitStability]) -> Any:
    """The share of each fate, shape (n_splits, 5)."""
    rows = [
        (
            split.kept,
            split.other_threshold,
            sum(share for _, share in split.other_columns),
            split.not_split,
            split.no_such_rows,
        )
        for split in splits
    ]
    return np.array(rows, dtype=np.float64).reshape(len(splits), len(_FATES))


def _label(split: SplitStability) -> str:
    return f"{wrap_text(split.split, 2.4, TEXT_SIZE)}\nn = {amount_text(split.n_rows)}"
