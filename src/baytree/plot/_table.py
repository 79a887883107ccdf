"""The table of a plot: its columns as the model reads them, and checked outcomes and weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axis import Axis, XAxis
from matplotlib.ticker import MaxNLocator
from scipy import sparse
from sklearn.utils.validation import check_consistent_length

from .._typing import AnyArray, FloatArray
from .._validation import check_sample_weight, short_repr
from ..fitted import Fitted
from ..table import Column, Rows, Schema
from ._words import wrap_text

_TICK_SIZE = 9.0
_MARGIN = 0.03  # on either side of the data, as a share of their range


@dataclass(frozen=True)
class Feature:
    """One column, with all that an axis of a plot needs."""

    position: int
    name: str
    values: FloatArray  # numbers or positions of categories, NaN where missing
    column: Column

    @property
    def names(self) -> list[str] | None:
        """Tick labels of an axis without numbers: categories or truth values."""
        return [self.column.text(float(i)) for i in range(self._n_positions)] if self._n_positions else None

    @property
    def _n_positions(self) -> int:
        return 2 if self.column.is_whole and self.column.categories is None else len(self.column.category_texts())

    @property
    def present(self) -> FloatArray:
        """The values that are not missing and that training knew."""
        known = ~np.isnan(self.values)
        if self.names is not None:
            known &= (self.values >= 0) & (self.values < len(self.names))
        return self.values[known]

    @property
    def typical(self) -> float:
        """The median, or the most common category; NaN where every value is missing."""
        present = self.present
        if len(present) == 0:
            return np.nan
        if self.names is None:
            return float(np.median(present))
        return float(np.argmax(np.bincount(present.astype(np.int64))))

    def edges(self, n: int) -> FloatArray:
        """The borders of n stretches along the axis; of categories, one stretch for each."""
        if self.names is not None:
            return np.arange(-0.5, max(len(self.names), 1))
        present = self.present if len(self.present) else np.array([0.0, 1.0])
        low, high = float(present.min()), float(present.max())
        margin = _MARGIN * (high - low) or 0.5
        return np.linspace(low - margin, high + margin, n + 1)

    def jittered(self, random: np.random.Generator) -> FloatArray:
        """The values to draw: categories are jittered, so that rows do not hide each other."""
        return self.values if self.names is None else self.values + random.uniform(-0.3, 0.3, len(self.values))

    def label(self, axis: Axis) -> None:
        """Write the name on an axis, and the categories where there are any."""
        n_missing = int(np.isnan(self.values).sum())
        name = wrap_text(self.name, 4.0, _TICK_SIZE, 2)
        axis.set_label_text(f"{name} ({n_missing} missing values not drawn)" if n_missing else name)
        if self.names is None:
            axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
            return
        flat = isinstance(axis, XAxis)
        names = [wrap_text(name, 1.2, _TICK_SIZE, 2) for name in self.names]
        slant: dict[str, Any] = {"rotation": 45, "ha": "right"} if flat and len(names) > 4 else {}
        axis.set_ticks(np.arange(len(names)), names, **slant)


@dataclass(frozen=True)
class Table:
    """Rows that were read, and the schema they were read by."""

    schema: Schema
    rows: Rows

    def feature(self, parameter: str, feature: Any) -> Feature:
        """A column by its name or position."""
        return self._feature_at(self.schema.position(parameter, feature))

    def _feature_at(self, position: int) -> Feature:
        column = self.rows.matrix[:, [position]]
        values = (column.toarray() if sparse.issparse(column) else column).ravel()
        return Feature(position, self.schema.name(position), values, self.schema.columns[position])

    def typical_rows(self, varied: dict[int, FloatArray]) -> Rows:
        """Rows with some columns given and every other at its median or most common category."""
        n_rows = len(next(iter(varied.values())))
        rows = np.empty((n_rows, self.schema.n_features))
        for position in range(rows.shape[1]):
            rows[:, position] = varied[position] if position in varied else self._feature_at(position).typical
        return Rows(rows)


def held_features_title(title: str, table: Table, n_drawn: int) -> str:
    """A title that says that features which are not drawn are held."""
    others = table.schema.n_features > n_drawn
    return f"{title}\n(other features at their median or most common category)" if others else title


def labels_of(what: str, fitted: Fitted, X: Any, y: Any) -> tuple[AnyArray, AnyArray]:
    """The labels of rows and the model's classes; refuses regressors and labels that the model does not know."""
    if not fitted.outcome.predicts_classes:
        raise TypeError(f"{what} needs a classifier; this model predicts numbers.")
    outcomes = np.asarray(y)
    check_consistent_length(X, outcomes)
    unknown = outcomes[~np.isin(outcomes, fitted.outcome.labels)]
    if len(unknown) > 0:
        raise ValueError(f"y holds the label {short_repr(unknown.tolist()[0])}, which is none of the model's classes.")
    return outcomes, fitted.outcome.labels


def weights_of(sample_weight: Any, n_rows: int) -> FloatArray:
    """The weight of each row."""
    weight = check_sample_weight(sample_weight, n_rows)
    return np.ones(n_rows) if weight is None else weight


def check_regressor(what: str, fitted: Fitted) -> None:
    """Refuse classifiers."""
    if fitted.outcome.predicts_classes:
        raise TypeError(f"{what} needs a regressor; this model predicts classes.")


def single_mean(what: str, mean: FloatArray) -> FloatArray:
    """The predicted number of every row; refuses outcomes whose mean is several numbers."""
    if mean.shape[1] > 1:
        raise ValueError(f"{what} needs an outcome whose mean is one number; that of this model is several.")
    return mean[:, 0]
