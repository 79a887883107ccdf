"""Every cut along a feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator

from .._typing import AnyArray
from .._validation import shown
from ..estimators import BayesianTreeClassifier
from ..partitions import partition_space
from ..rules import level_name
from ._canvas import BLUE, GREY, VERMILION, axes_of, open_frame
from ._table import Feature, Table
from ._words import wrapped

_DECADES = 15  # below the most probable cut, on a log scale
_STRIP = 0.16  # of the height, for the distribution of the data
_MOST_SETS = 15
_SIZE = 9.0


def partition_posterior(X: Any, y: Any, feature: Any, *, scale: str = "log", ax: Any = None, **options: Any) -> Axes:
    """Draw the posterior probability of every cut of a table along a feature, with the data's distribution below.

    Parameters
    ----------
    X, y
        Table and outcomes.
    feature
        Name or position of the feature. Of one with levels the most probable sets are drawn.
    scale
        ``"log"`` or ``"linear"``.
    ax
        Axes to draw on; None: a new figure.
    **options
        As in `baytree.partition_space`: ``outcome``, ``prior``, ``partition_prior`` and so on.

    Returns
    -------
    matplotlib Axes
    """
    if scale not in ("log", "linear"):
        raise ValueError(f"scale must be 'log' or 'linear'; got {shown(scale)}.")
    column = _read_feature(X, feature, options)
    space = partition_space(X, y, **options)
    cuts, no_cut = space[space["feature"] == column.position], float(np.exp(space["log_posterior"][0]))
    if column.levels is None:
        ax = axes_of(ax)
        _draw_thresholds(ax, column, cuts, no_cut, scale)
    else:
        best = _best_sets(cuts, scale)
        ax = axes_of(ax, size=(6.0, max(1.2 + 0.3 * len(best), 2.4)))
        _draw_sets(ax, column, best, scale)
    ax.set_title(f"How probable is each first cut?\n(no cut of any feature: {no_cut:.2g})", fontsize=10)
    return ax


def _read_feature(X: Any, feature: Any, options: dict[str, Any]) -> Feature:
    """The column as a model would read it."""
    reader = BayesianTreeClassifier(categorical_features=options.get("categorical_features", "from_dtype"))
    reader._read_table(X, reset=True)
    return Table(reader, X).feature("feature", feature)


def _draw_thresholds(ax: Axes, column: Feature, cuts: AnyArray, no_cut: float, scale: str) -> None:
    has_gaps = bool(np.isnan(column.cells).any())
    lowest = _set_limits(ax, np.append(np.exp(cuts["log_posterior"]), no_cut), scale)
    finite = np.isfinite(cuts["threshold"]) & (np.exp(cuts["log_posterior"]) >= lowest)
    for left, colour in ((False, BLUE), (True, VERMILION)):
        own = cuts[finite & (cuts["missing_go_to_left"] == left)] if has_gaps else cuts[finite]
        name = f"gaps go {'left' if left else 'right'}" if has_gaps else None
        if has_gaps or not left:
            ax.plot(own["threshold"], np.exp(own["log_posterior"]), ".", color=colour, markersize=4, label=name)
    for apart in cuts[np.isinf(cuts["threshold"])]:
        share = float(np.exp(apart["log_posterior"]))
        ax.axhline(share, color=VERMILION, lw=1, ls=":", label=f"gaps apart ({share:.2g})")
    if no_cut >= lowest:
        ax.axhline(no_cut, color=GREY, lw=1, ls="--", label="no cut of any feature")
    _draw_distribution(ax, column)
    ax.set(xlim=tuple(column.edges(1)[[0, -1]]), ylabel="posterior probability")
    column.label(ax.xaxis)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize=_SIZE)
    open_frame(ax)


def _set_limits(ax: Axes, shares: AnyArray, scale: str) -> float:
    """Leave a strip free below, and return what is drawn above it: on a log scale, so many decades below the best."""
    top = float(shares.max())
    if scale == "linear":
        ax.set_ylim(-_STRIP / (1 - _STRIP) * 1.05 * top, 1.05 * top)
        ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1.05 * top])
        return 0.0
    lowest = max(float(shares[shares > 0].min()), top * 10.0**-_DECADES)
    decades = max(np.log10(top / lowest), 1.0)
    ax.set_yscale("log")
    ax.set_ylim(lowest * 10 ** (-0.1 - decades * _STRIP / (1 - _STRIP)), top * 10 ** (0.05 * decades))
    exponents = np.arange(np.ceil(np.log10(lowest)), np.log10(top) + 0.1, np.ceil(decades / 8))
    ax.set_yticks(10.0**exponents)
    ax.minorticks_off()
    return lowest


def _draw_distribution(ax: Axes, column: Feature) -> None:
    """A histogram in the strip."""
    counts, edges = np.histogram(column.present, bins=column.edges(60))
    heights = 0.85 * _STRIP * counts / max(counts.max(), 1)
    ax.bar(edges[:-1], heights, np.diff(edges), align="edge", color=GREY, alpha=0.6, transform=ax.get_xaxis_transform())


def _best_sets(cuts: AnyArray, scale: str) -> AnyArray:
    """The most probable sets, the best first, but for those whose bars nobody could see."""
    if len(cuts) == 0:
        return cuts
    ordered = cuts[np.argsort(-cuts["log_posterior"], kind="stable")[:_MOST_SETS]]
    least = np.log(np.finfo(float).tiny) if scale == "log" else ordered["log_posterior"][0] - np.log(1000)
    return ordered[ordered["log_posterior"] >= least]


def _draw_sets(ax: Axes, column: Feature, cuts: AnyArray, scale: str) -> None:
    shares = np.exp(cuts["log_posterior"])
    places = np.arange(len(shares))
    ax.barh(places, shares, color=BLUE)
    ax.set_yticks(places, [_set_name(levels) for levels in cuts["levels"]], fontsize=_SIZE)
    ax.set_ylim(len(shares) - 0.4, -0.6)  # the first above
    if scale == "log" and len(shares) > 0:
        ax.set_xscale("log")
        ax.set_xlim(shares.min() / 10, shares.max() * 2)
        ax.xaxis.set_major_locator(LogLocator(numticks=6))
        ax.minorticks_off()
    ax.set_xlabel("posterior probability")
    ax.set_ylabel(f"{wrapped(column.name, 2.5, 10, 2)}, set apart")
    open_frame(ax, left=False)


def _set_name(levels: Any) -> str:
    names = ["missing" if level is None else level_name(level) for level in levels]
    return wrapped("{" + ", ".join(names) + "}", 2.4, _SIZE, 2)
