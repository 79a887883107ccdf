"""Rows of a table as a model sees them: a matrix of numbers and codes of levels."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis, XAxis
from matplotlib.ticker import MaxNLocator
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._typing import AnyArray, FloatArray
from .._validation import check_no_infinity
from ..rules import feature_name, level_name
from ..table import column_position
from ._words import wrapped

_TICK_SIZE = 9.0
_MARGIN = 0.03  # on either side of the data, as a share of their range


@dataclass(frozen=True)
class Feature:
    """One column, with all that an axis of a plot needs."""

    position: int
    name: str
    cells: FloatArray  # numbers or codes, NaN where missing
    levels: AnyArray | None

    @property
    def present(self) -> FloatArray:
        """The cells that are not missing and that training knew."""
        known = ~np.isnan(self.cells)
        if self.levels is not None:
            known &= (self.cells >= 0) & (self.cells < len(self.levels))
        return self.cells[known]

    @property
    def typical(self) -> float:
        """The median, or the most common level; NaN where every cell is missing."""
        present = self.present
        if len(present) == 0:
            return np.nan
        if self.levels is None:
            return float(np.median(present))
        return float(np.argmax(np.bincount(present.astype(np.int64))))

    def edges(self, n: int) -> FloatArray:
        """The borders of n cells along the axis; of levels, one cell for each."""
        if self.levels is not None:
            return np.arange(-0.5, max(len(self.levels), 1))
        present = self.present if len(self.present) else np.array([0.0, 1.0])
        low, high = float(present.min()), float(present.max())
        margin = _MARGIN * (high - low) or 0.5
        return np.linspace(low - margin, high + margin, n + 1)

    def scattered(self, random: np.random.Generator) -> FloatArray:
        """Where to draw the rows: levels are strewn about their place, so that rows do not hide each other."""
        return self.cells if self.levels is None else self.cells + random.uniform(-0.3, 0.3, len(self.cells))

    def label(self, axis: Axis) -> None:
        """Write the name on an axis, and the levels where there are any."""
        n_gaps = int(np.isnan(self.cells).sum())
        name = wrapped(self.name, 4.0, _TICK_SIZE, 2)
        axis.set_label_text(f"{name} ({n_gaps} gaps not drawn)" if n_gaps else name)
        if self.levels is None:
            axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
            return
        flat = isinstance(axis, XAxis)
        names = [wrapped(level_name(level), 1.2, _TICK_SIZE, 2) for level in self.levels]
        slant: dict[str, Any] = {"rotation": 45, "ha": "right"} if flat and len(names) > 4 else {}
        axis.set_ticks(np.arange(len(names)), names, **slant)


class Table:
    """Rows that a fitted model has read, and a way to ask it about rows of our own making."""

    def __init__(self, model: Any, X: Any) -> None:
        check_is_fitted(model)
        self.names = getattr(model, "feature_names_in_", None)
        self.categories = model.categories_
        self.matrix = model._read_table(X, reset=False)
        check_no_infinity(self.matrix, self.names)
        # Our rows are numbers and codes already, without names.
        self.model = copy(model)
        self.model.categories_ = (None,) * len(self.categories)
        vars(self.model).pop("feature_names_in_", None)

    def feature(self, parameter: str, feature: Any) -> Feature:
        """A column by its name or position."""
        return self._at(column_position(parameter, feature, len(self.categories), self.names) % len(self.categories))

    def _at(self, position: int) -> Feature:
        column = self.matrix[:, [position]]
        cells = (column.toarray() if sparse.issparse(column) else column).ravel()
        return Feature(position, feature_name(position, self.names), cells, self.categories[position])

    def typical_rows(self, varied: dict[int, FloatArray]) -> FloatArray:
        """Rows with some columns given and every other at its median or most common level."""
        n_rows = len(next(iter(varied.values())))
        rows = np.empty((n_rows, len(self.categories)))
        for position in range(rows.shape[1]):
            rows[:, position] = varied[position] if position in varied else self._at(position).typical
        return rows


def note_on_others(ax: Axes, table: Table, n_drawn: int, title: str) -> None:
    """Write a title, and that features that are not drawn are held."""
    others = len(table.categories) > n_drawn
    ax.set_title(f"{title}\n(other features at their median or most common level)" if others else title, fontsize=10)
