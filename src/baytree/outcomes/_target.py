"""Targets: the outcomes of some rows, with their weights and extras."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import AnyArray, FloatArray
from .._validation import as_numbers, refuse_masked

if TYPE_CHECKING:
    from ._grids import Grids


@dataclass(frozen=True)
class Extra:
    """A column that an outcome needs besides y: an exposure, or whether an event occurred."""

    name: str  # the argument of `fit`
    read: Callable[[str, Any, int], FloatArray]  # (name, argument, number of rows)
    meaning: str


@dataclass(frozen=True)
class Target:
    """Outcomes, weights (None: every row counts once) and extras by name; in whole numbers where they have grids."""

    y: AnyArray
    weight: FloatArray | None = None
    extras: dict[str, FloatArray] = field(default_factory=dict)
    grids: Grids | None = None

    def take(self, rows: AnyArray) -> Target:
        """Select the targets of some rows."""
        weight = None if self.weight is None else self.weight[rows]
        return Target(self.y[rows], weight, {name: values[rows] for name, values in self.extras.items()}, self.grids)

    def extra_values(self, name: str) -> FloatArray:
        """An extra of each row; 1 where it was not given."""
        return self.extras.get(name, np.ones(len(self.y)))

    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(len(self.y) if self.weight is None else self.weight.sum())


def read_numbers(name: str, value: Any, n_rows: int) -> FloatArray:
    """Read one finite number per row."""
    array = as_numbers(name, value)
    if array.shape != (n_rows,):
        raise ValueError(f"{name} must hold one number per row of X ({n_rows} of them); got shape {array.shape}.")
    if not np.all(np.isfinite(array)):
        row = int(np.argmin(np.isfinite(array)))
        raise ValueError(f"{name} holds NaN or an infinite value in row {row}: it must be finite.")
    return array


def _read_exposure(name: str, value: Any, n_rows: int) -> FloatArray:
    exposure = read_numbers(name, value, n_rows)
    if np.any(exposure <= 0):
        row = int(np.argmax(exposure <= 0))
        raise ValueError(f"{name} must be positive; it is {exposure[row]:g} in row {row}.")
    with np.errstate(over="ignore"):
        if not np.isfinite(exposure.sum()):
            raise ValueError(f"{name} is too large to be summed: give it in a larger unit.")
    return exposure


def _read_event(name: str, value: Any, n_rows: int) -> FloatArray:
    """One True or False per row, as 1.0 and 0.0."""
    refuse_masked(name, value)
    array = np.asarray(value)
    if array.shape != (n_rows,):
        raise ValueError(
            f"{name} must hold one True or False per row of X ({n_rows} of them); got shape {array.shape}."
        )
    if array.dtype.kind not in "biuf" or not np.all((array == 0) | (array == 1)):
        raise ValueError(
            f"{name} must be True or False (or 1 or 0) in every row: whether the duration ended in an event."
        )
    return array.astype(np.float64)


EXPOSURE = Extra("exposure", _read_exposure, "time or size over which a row was counted")
EVENT = Extra("event", _read_event, "whether a duration ended in an event")
EXTRAS = {extra.name: extra for extra in (EXPOSURE, EVENT)}
