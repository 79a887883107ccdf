"""Durations: exponential with a Gamma prior on the rate; durations without an event were right-censored.

The predictive distribution of a duration is a Lomax (Pareto type II).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from .._typing import FloatArray, IntArray
from ._gamma_rate import GammaRateOutcome
from ._grids import Grids, grid_of_y, rate_rows
from ._target import EVENT, Target, read_numbers


@dataclass(frozen=True)
class ExponentialOutcome(GammaRateOutcome):
    """Durations, with an optional event indicator."""

    name = "exponential"
    extras = (EVENT,)
    positive_only = True
    predicts_duration = True

    @staticmethod
    def check(target: Target) -> None:
        """Durations are positive."""
        y = read_numbers("y", target.y, len(target.y))
        if np.any(y <= 0):
            row = int(np.argmax(y <= 0))
            raise ValueError(f"y is not positive in row {row} ({y[row]:g}): outcome='exponential' needs durations.")

    @staticmethod
    def events_and_exposure(target: Target) -> tuple[FloatArray, FloatArray, FloatArray]:
        """rate^event exp(-rate y)."""
        y = np.asarray(target.y, dtype=np.float64)
        return target.extra_values("event"), y, np.zeros(len(y))

    @classmethod
    def whole_units(cls, grids: Grids) -> tuple[float, float]:
        """Events are 1 or 0."""
        return 1.0, grid_of_y(grids).unit

    @classmethod
    def fixed_point_rows(cls, target: Target) -> list[IntArray]:
        """Events and durations."""
        return [target.extra_values("event").astype(np.int64), grid_of_y(target.grids).whole(target.y)]

    def fixed_point_factor(self, target: Target) -> IntArray:
        """There is none."""
        return np.zeros(len(target.y), dtype=np.int64)

    @classmethod
    def few_rows(cls, events: float, exposure: float) -> Target:
        """Durations that ended in events so many times."""
        ended, durations, weight = rate_rows(events, exposure)
        return Target(durations, weight, {"event": ended})

    def mean(self, posterior: FloatArray) -> FloatArray:
        """Expected duration; infinite where the shape is at most 1."""
        shape, rate = posterior[:, :1], posterior[:, 1:]
        return np.where(shape > 1, rate / np.where(shape > 1, shape - 1, 1.0), np.inf)

    def distribution(self, posterior: FloatArray) -> Any:
        """Lomax."""
        shape, rate = posterior.T
        return stats.lomax(shape, scale=rate)

    def mean_distribution(self, posterior: FloatArray) -> Any:
        """Inverse gamma: the mean is one over the rate."""
        shape, rate = posterior.T
        return stats.invgamma(shape, scale=rate)
