"""Every split along a feature."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from .._typing import AnyArray
from .._validation import short_repr
from .._words import category_text
from ..estimators import fitted_of, partition_space, read_rows
from ..table import Schema, as_table, is_frame
from ..tree import SplitKind
from ._axes import BLUE, CLEAR, GREY, TEXT_SIZE, VERMILION, axes_of, draw_bars, finish
from ._table import Feature, Table
from ._words import wrap_text

_DECADES = 15  # below the most probable split, on a log scale
_STRIP = 0.16  # of the height, for the distribution of the data
_MOST_SETS = 15
_LOG_10 = float(np.log(10))


def partition_posterior(X: Any, y: Any, feature: Any, *, scale: str = "log", ax: Any = None, **options: Any) -> Axes:
    """Draw the posterior probability of every split of a table along a feature, with the data's distribution below.

    Parameters
    ----------
    X, y
        Table and outcomes.
    feature
        Name or position of the feature. Of one with categories the most probable sets are drawn.
    scale
        ``"log"`` or ``"linear"``.
    ax
        Axes to draw on; None: a new figure.
    **options
        As in `baytree.partition_space`: ``model``, a fitted model whose settings count, or ``outcome``, ``prior``,
        ``partition_prior`` and so on.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import plot
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> ax = plot.partition_posterior(X, y, "worst radius")
    >>> ax.get_ylabel()
    'posterior probability'
    """
    if scale not in ("log", "linear"):
        raise ValueError(f"scale must be 'log' or 'linear'; got {short_repr(scale)}.")
    column = _read_feature(X, feature, options)
    space = partition_space(X, y, **options)
    splits, no_split = space[space["feature"] == column.position], float(space["log_posterior"][0])
    if not column.column.is_nominal:
        ax = axes_of(ax)
        _draw_thresholds(ax, column, splits, no_split, scale)
    else:
        best = _best_sets(splits, scale)
        ax = axes_of(ax, size=(6.0, max(1.2 + 0.3 * len(best), 2.4)))
        _draw_sets(ax, column, best, scale)
    title = f"How probable is each first split?\n(no split of any feature: {probability_text(no_split)})"
    return finish(ax, title, left=not column.column.is_nominal)


def _read_feature(X: Any, feature: Any, options: dict[str, Any]) -> Feature:
    """The column as a model would read it."""
    if options.get("model") is not None:
        model = options["model"]
        return Table(fitted_of(model).schema, read_rows(model, X)).feature("feature", feature)
    table = as_table(X)
    if getattr(table, "ndim", 2) != 2:
        raise ValueError(
            f"X must be a table of rows and columns; got {short_repr(X)}. A fitted model is given as model=."
        )
    names = [str(name) for name in table.columns] if is_frame(table) and hasattr(table, "columns") else None
    rows, schema = Schema.learn(table, options.get("categorical_features", "from_dtype"), names)
    return Table(schema, rows).feature("feature", feature)


def _draw_thresholds(ax: Axes, column: Feature, splits: AnyArray, no_split: float, scale: str) -> None:
    """Points for all splits, lines for present against missing and for no split, the distribution below."""
    has_missing = bool(np.isnan(column.values).any())
    height = _HeightScale(ax, splits["log_posterior"], no_split, scale)
    by_threshold = splits[splits["kind"] == SplitKind.THRESHOLD]
    by_threshold = by_threshold[height.is_seen(by_threshold["log_posterior"])]
    for left, colour in ((False, BLUE), (True, VERMILION)):
        drawn = by_threshold[by_threshold["missing_go_to_left"] == left] if has_missing else by_threshold
        name = f"missing values go {'left' if left else 'right'}" if has_missing else None
        if has_missing or not left:
            ax.plot(drawn["threshold"], height.of(drawn["log_posterior"]), ".", color=colour, markersize=4, label=name)
    for apart in splits[splits["kind"] == SplitKind.PRESENT_MISSING]:
        share = float(apart["log_posterior"])
        label = f"present or missing ({probability_text(share)})"
        ax.axhline(height.of(share), color=VERMILION, lw=1, ls=":", label=label)
    if height.is_seen(no_split):
        ax.axhline(height.of(no_split), color=GREY, lw=1, ls="--", label="no split of any feature")
    _draw_distribution(ax, column)
    ax.set(xlim=tuple(column.edges(1)[[0, -1]]), ylabel="posterior probability")
    column.label(ax.xaxis)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(**CLEAR)


class _HeightScale:
    """Maps log probabilities to heights, above a strip at the bottom.

    Float64 ends at 10^-308 and the probabilities of poor features do not, so a log scale is a linear one of exponents.
    """

    def __init__(self, ax: Axes, log_posterior: AnyArray, no_split: float, scale: str) -> None:
        exponents = log_posterior / _LOG_10
        self.top = float(exponents.max(initial=no_split / _LOG_10 if len(exponents) == 0 else -np.inf))
        self.lowest = max(float(exponents.min(initial=self.top)), self.top - _DECADES)
        self.linear = scale == "linear"
        if self.linear:
            ax.set_ylim(-_STRIP / (1 - _STRIP) * 1.05, 1.05)
            ticks = np.linspace(0, 1, 6)
            ax.set_yticks(ticks, [probability_text(np.log(t) + self.top * _LOG_10) if t else "0" for t in ticks])
            return
        decades = max(self.top - self.lowest, 1.0)
        ax.set_ylim(self.lowest - 0.1 - decades * _STRIP / (1 - _STRIP), self.top + 0.05 * decades)
        ticks = np.arange(np.ceil(self.lowest), self.top + 0.1, max(np.ceil(decades / 8), 1.0))
        ax.set_yticks(ticks, [probability_text(exponent * _LOG_10) for exponent in ticks])

    def of(self, log_posterior: Any) -> Any:
        """The height of a log probability; on a linear scale relative to the best."""
        exponent = np.asarray(log_posterior) / _LOG_10
        return 10.0 ** (exponent - self.top) if self.linear else exponent

    def is_seen(self, log_posterior: Any) -> Any:
        """Whether it is high enough to be drawn."""
        exponent = np.asarray(log_posterior) / _LOG_10
        return (exponent >= self.lowest) & (exponent <= self.top)


def _draw_distribution(ax: Axes, column: Feature) -> None:
    """A histogram in the strip."""
    counts, edges = np.histogram(column.present, bins=column.edges(60))
    heights = 0.85 * _STRIP * counts / max(counts.max(), 1)
    ax.bar(edges[:-1], heights, np.diff(edges), align="edge", color=GREY, alpha=0.6, transform=ax.get_xaxis_transform())


def _best_sets(splits: AnyArray, scale: str) -> AnyArray:
    """The most probable sets, the best first, except those whose bars would be too short to see."""
    if len(splits) == 0:
        return splits
    ordered = splits[np.argsort(-splits["log_posterior"], kind="stable")[:_MOST_SETS]]
    decades = _DECADES if scale == "log" else 3
    return ordered[ordered["log_posterior"] >= ordered["log_posterior"][0] - decades * _LOG_10]


def _draw_sets(ax: Axes, column: Feature, splits: AnyArray, scale: str) -> None:
    exponents = splits["log_posterior"] / _LOG_10
    top = exponents.max(initial=-np.inf)
    start = np.floor(exponents.min(initial=top) - 1.0) if scale == "log" and len(exponents) else 0.0
    lengths = exponents - start if scale == "log" else 10.0 ** (exponents - top)
    names = [_set_name(categories) for categories in splits["categories"]]
    texts = [probability_text(log_probability) for log_probability in splits["log_posterior"]]
    draw_bars(ax, names, lengths, texts, BLUE, start)
    ax.set_xticks([])
    ax.margins(x=0.15)
    ax.set_xlabel(f"posterior probability ({scale} scale)")
    ax.set_ylabel(f"{wrap_text(column.name, 2.5, 10, 2)}, set apart")


def _set_name(categories: Any) -> str:
    names = ["missing" if category is None else category_text(category) for category in categories]
    return wrap_text("{" + ", ".join(names) + "}", 2.4, TEXT_SIZE, 2)


def probability_text(log_probability: float) -> str:
    """A probability of any size: 0.12, 0.0031, 10^-350."""
    exponent = float(log_probability) / _LOG_10
    if exponent > -4:
        return f"{10.0**exponent:.2g}"
    whole = math.floor(exponent + 0.02)
    digits = f"{10.0 ** (exponent - whole):.1f}"
    return f"$10^{{{whole}}}$" if digits == "1.0" else f"${digits} \\times 10^{{{whole}}}$"
