"""Predictions over two features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.image import AxesImage

from .._typing import AnyArray, FloatArray
from .._validation import short_repr
from ..estimators import Model, fitted_of, read_rows
from ..fitted import Fitted, ModelKind
from ..table import Rows
from ._axes import BESIDE, BLUE_TO_VERMILION, GREY, TEXT_SIZE, TITLE_SIZE, check_axes, class_colour
from ._table import Feature, Table, held_features_title, single_mean
from ._words import wrap_text

_SIDE = 300  # squares along an axis
_SIDE_OF_SPACE = 50  # of a tree space, whose intervals take long
_MOST_COLOURS = 8


@dataclass(frozen=True)
class _Surface:
    """The values to draw, one entry for each square of the grid."""

    quantity: str  # "probability of malignant"
    value: FloatArray
    width: FloatArray | None  # of the 90 % interval; None where it is not known
    limits: tuple[float, float]
    best: AnyArray | None  # the most probable of more than two classes


def surface(
    model: Model, X: Any, y: Any = None, *, features: tuple[Any, Any] = (0, 1), ax: Any = None
) -> tuple[Axes, Axes]:
    """Draw predictions over two features, and beside them how wide their 90 % intervals are.

    Every other feature is held at its median or its most common category. With more than two classes, the colour is
    that of the most probable class, and the paler the less probable it is.

    Parameters
    ----------
    model
        A fitted tree or tree space.
    X
        Rows: they set the range of the axes, and are drawn as points.
    y
        Outcomes of the rows, which colour the points; None: no points.
    features
        Names or positions of the two features.
    ax
        Two Axes to draw on; None: a new figure.

    Returns
    -------
    tuple of two matplotlib Axes
        Prediction and width.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from baytree import BayesianTreeClassifier, plot
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> two = X[["worst area", "worst smoothness"]]
    >>> model = BayesianTreeClassifier().fit(two, y)
    >>> left, right = plot.surface(model, two, y)
    >>> left.get_xlabel(), left.get_ylabel()
    ('worst area', 'worst smoothness')
    """
    fitted = fitted_of(model)
    if isinstance(features, str) or not hasattr(features, "__len__") or len(features) != 2:
        raise ValueError(f"features must be two features, by name or position; got {short_repr(features)}.")
    table = Table(fitted.schema, read_rows(model, X))
    across, up = (table.feature("features", feature) for feature in features)
    if across.position == up.position:
        raise ValueError(f"features must be two different features; got {across.name!r} twice.")
    outcomes = None if y is None else np.asarray(y)
    if outcomes is not None and outcomes.shape != across.values.shape:
        raise ValueError(f"y must hold one outcome per row of X ({len(across.values)}); got shape {outcomes.shape}.")
    side = _SIDE if fitted.kind is ModelKind.TREE else _SIDE_OF_SPACE
    edges = across.edges(side), up.edges(side)
    predicted = _predict_grid(fitted, table, across, up, edges)
    left, right = _two_axes(ax)
    _draw_values(left, predicted, edges, fitted)
    _draw_widths(right, predicted, edges)
    if outcomes is not None:
        _draw_rows(left, across, up, outcomes, predicted, fitted)
    for one in (left, right):
        across.label(one.xaxis)
        up.label(one.yaxis)
    left.set_title(held_features_title("Prediction", table, 2), fontsize=TITLE_SIZE)
    right.set_title("How unsure is it?", fontsize=TITLE_SIZE)
    return left, right


def _two_axes(ax: Any) -> tuple[Axes, Axes]:
    if ax is None:
        left, right = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")[1]
        return left, right
    if isinstance(ax, Axes) or not hasattr(ax, "__len__") or len(ax) != 2:
        raise TypeError(f"surface draws two panels: ax must be None or two Axes; got {short_repr(ax)}.")
    return check_axes(ax[0]), check_axes(ax[1])


def _predict_grid(
    fitted: Fitted, table: Table, across: Feature, up: Feature, edges: tuple[FloatArray, FloatArray]
) -> _Surface:
    """Predict in the middle of every square of the grid."""
    middles = [(edge[1:] + edge[:-1]) / 2 for edge in edges]
    x, y = (side.ravel() for side in np.meshgrid(*middles))
    rows = table.typical_rows({across.position: x, up.position: y})
    return _number_surface(fitted, rows) if not fitted.outcome.predicts_classes else _class_surface(fitted, rows)


def _class_surface(fitted: Fitted, rows: Rows) -> _Surface:
    probability, interval = fitted.mean(rows), fitted.class_quantiles(rows, np.array([0.05, 0.95]))
    two = probability.shape[1] == 2
    best = np.full(len(rows), fitted.decision.positive) if two else np.argmax(probability, axis=1)
    every = np.arange(len(rows))
    width = interval[every, best, 1] - interval[every, best, 0]
    quantity = (
        f"probability of {fitted.class_names[fitted.decision.positive]}"
        if two
        else "probability of the most probable class"
    )
    return _Surface(quantity, probability[every, best], width, (0.0, 1.0), None if two else best)


def _number_surface(fitted: Fitted, rows: Rows) -> _Surface:
    value = single_mean("surface", fitted.mean(rows))
    finite = value[np.isfinite(value)] if np.isfinite(value).any() else np.array([0.0, 1.0])
    low, high = float(finite.min()), float(finite.max())
    margin = 0.0 if high > low else abs(low) / 10 or 1.0
    width = None
    if fitted.has_distribution("mean"):
        width = np.diff(fitted.quantiles(rows, np.array([0.05, 0.95]), "mean"), axis=1)[:, 0]
    return _Surface("mean outcome", value, width, (low - margin, high + margin), None)


def _draw_values(ax: Axes, predicted: _Surface, edges: tuple[FloatArray, FloatArray], fitted: Fitted) -> None:
    if predicted.best is not None:
        coloured = _coloured_classes(predicted, len(fitted.class_names))
        _draw_image(ax, _class_colours(predicted, coloured, len(fitted.class_names)), edges)
        _write_classes(ax, fitted.class_names, coloured)
        return
    low, high = predicted.limits
    colours = "cividis" if not fitted.outcome.predicts_classes else BLUE_TO_VERMILION
    image = _draw_image(ax, predicted.value, edges, cmap=colours, vmin=low, vmax=high)
    ax.figure.colorbar(image, ax=ax, label=wrap_text(predicted.quantity, 3.0, 10, 2))


def _draw_image(ax: Axes, colour: FloatArray, edges: tuple[FloatArray, FloatArray], **colours: Any) -> AxesImage:
    """One value or colour for each square of the grid."""
    shape = len(edges[1]) - 1, len(edges[0]) - 1, *colour.shape[1:]
    extent = (edges[0][0], edges[0][-1], edges[1][0], edges[1][-1])
    return ax.imshow(
        colour.reshape(shape), extent=extent, origin="lower", aspect="auto", interpolation="nearest", **colours
    )


def _coloured_classes(predicted: _Surface, n_classes: int) -> dict[int, str]:
    """The classes that have a colour of their own: all of a few, of many those that cover most."""
    if n_classes <= _MOST_COLOURS:
        return {i: class_colour(i) for i in range(n_classes)}
    covered = np.bincount(
        np.zeros(0, dtype=np.int64) if predicted.best is None else predicted.best, minlength=n_classes
    )
    most = [int(i) for i in np.argsort(-covered, kind="stable")[: _MOST_COLOURS - 1] if covered[i]]
    return {position: class_colour(i) for i, position in enumerate(sorted(most))}


def _class_colours(predicted: _Surface, coloured: dict[int, str], n_classes: int) -> FloatArray:
    """The class's colour where it is certain, white where it is no more probable than any other."""
    colours = np.array([to_rgb(coloured.get(i, GREY)) for i in range(n_classes)])
    chance = 1 / n_classes if n_classes > 1 else 0.0
    strength = np.clip((predicted.value - chance) / (1 - chance), 0, 1)[:, None] * 0.85
    return np.asarray(1 - strength * (1 - colours[predicted.best]))


def _write_classes(ax: Axes, class_names: tuple[str, ...], coloured: dict[int, str]) -> None:
    pairs = [(colour, wrap_text(class_names[i], 1.5, TEXT_SIZE, 2)) for i, colour in coloured.items()]
    if len(coloured) < len(class_names):
        pairs.append((GREY, f"{len(class_names) - len(coloured)} others"))
    handles = [ax.plot([], [], "s", color=colour, markersize=6)[0] for colour, _ in pairs]
    names = [name for _, name in pairs]
    ax.legend(handles, names, **BESIDE)


def _draw_widths(ax: Axes, predicted: _Surface, edges: tuple[FloatArray, FloatArray]) -> None:
    if predicted.width is None:
        ax.set(xlim=edges[0][[0, -1]], ylim=edges[1][[0, -1]])
        ax.text(0.5, 0.5, "This outcome has no mean_distribution.", ha="center", transform=ax.transAxes)
        return
    width = np.where(np.isfinite(predicted.width), predicted.width, np.nan)
    # Dark is wide as predictions go, not merely the widest here.
    darkest = max(0.5 * (predicted.limits[1] - predicted.limits[0]), np.nanmax(width, initial=0.0)) or 1.0
    image = _draw_image(ax, width, edges, cmap="Greys", vmin=0, vmax=darkest)
    ax.figure.colorbar(
        image, ax=ax, label=wrap_text(f"width of the 90 % interval of the {predicted.quantity}", 3.2, 10, 2)
    )


def _draw_rows(ax: Axes, across: Feature, up: Feature, y: AnyArray, predicted: _Surface, fitted: Fitted) -> None:
    random = np.random.default_rng(0)
    x_place, y_place = across.jittered(random), up.jittered(random)
    edge: dict[str, Any] = {"edgecolors": "black", "linewidths": 0.4, "s": 9}
    if fitted.outcome.predicts_classes:
        coloured = _coloured_classes(predicted, len(fitted.outcome.labels))
        if len(fitted.class_names) == 2:  # the positive class in the colour of its high probabilities
            coloured = {i: class_colour(int(i == fitted.decision.positive)) for i in range(2)}
        for i, label in enumerate(fitted.outcome.labels):
            rows = y == label
            ax.scatter(x_place[rows], y_place[rows], color=coloured.get(i, GREY), **edge)
    else:
        low, high = predicted.limits
        ax.scatter(x_place, y_place, c=y, cmap="cividis", vmin=low, vmax=high, **edge)
