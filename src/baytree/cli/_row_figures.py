"""Figures of two models on rows with a known target: Gini, KS, cost and others, with paired intervals."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray
from ..evaluation import Comparison, compare_numbers, compare_predictions
from ._columns import same_value

_METHOD = "which a model may have been fitted to"


class RowFigures:
    """Collects what both models predict where the target is known."""

    def __init__(self, before: Any, after: Any, positive: str | None, actions: dict[str, str] | None) -> None:
        self._models, self._positive, self._actions = (before, after), positive, actions
        first, second = before.fitted_.classes, after.fitted_.classes
        self._classes: AnyArray | None = first
        self.is_comparable = (first is None) == (second is None)
        if first is not None and second is not None:
            self.is_comparable = first.tolist() == second.tolist()
        self._predicted: tuple[list[FloatArray], list[FloatArray]] = ([], [])
        self._known: list[FloatArray] = []

    def add(self, tables: tuple[Any, Any], y: list[Any]) -> None:
        """Predict some rows; those whose target is missing, or a class that no model knows, do not count."""
        if not self.is_comparable:
            return
        target = self._target(y)
        known = np.isfinite(target)
        self._known.append(target[known])
        for model, X, parts in zip(self._models, tables, self._predicted, strict=True):
            predicted = model.predict(X) if self._classes is None else model.predict_proba(X)
            parts.append(np.asarray(predicted, dtype=np.float64)[known])

    def _target(self, y: list[Any]) -> FloatArray:
        """Numbers, or positions of classes; NaN where there is none."""
        if self._classes is None:
            return np.array([np.nan if value is None else float(value) for value in y], dtype=np.float64)
        labels = self._classes.tolist()
        places = {
            value: next((i for i, label in enumerate(labels) if same_value(label, value)), np.nan)
            for value in set(y) - {None}
        }
        return np.array([places.get(value, np.nan) for value in y], dtype=np.float64)

    def comparison(self) -> Comparison | None:
        """The figures of all rows so far; None where no target is known."""
        if not self._known or sum(map(len, self._known)) == 0:
            return None
        target, weight = np.concatenate(self._known), np.ones(sum(map(len, self._known)))
        first, second = (np.concatenate(parts) for parts in self._predicted)
        if self._classes is None:
            return compare_numbers(target, (first, second), weight, ("before", "after"), _METHOD)
        return compare_predictions(
            self._classes[target.astype(np.int64)],
            self._classes,
            (first, second),
            [model.fitted_.decision for model in self._models],
            weight,
            ("before", "after"),
            _METHOD,
            positive=self._positive,
            actions=self._actions,
        )
