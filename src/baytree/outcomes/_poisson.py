"""Counts: Poisson with a Gamma prior on the rate per unit of exposure.

The predictive distribution of a count over one unit of exposure is negative binomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from .._typing import FloatArray
from ._base import Target, check_numbers
from ._gamma_rate import GammaRateOutcome


@dataclass(frozen=True)
class PoissonOutcome(GammaRateOutcome):
    """Counts, with an optional exposure."""

    name = "poisson"

    @staticmethod
    def check(target: Target) -> None:
        """Counts are whole and not negative, exposures positive."""
        y = check_numbers("y", target.y, len(target.y))
        for wrong, what in ((y < 0, "negative"), (y != np.rint(y), "not a whole number")):
            if wrong.any():
                row = int(np.argmax(wrong))
                raise ValueError(f"y is {what} in row {row} ({y[row]:g}): outcome='poisson' needs counts.")
        if target.exposure is not None and np.any(target.exposure <= 0):
            row = int(np.argmax(target.exposure <= 0))
            raise ValueError(f"exposure must be positive; it is {target.exposure[row]:g} in row {row}.")

    @staticmethod
    def events_and_exposure(target: Target) -> tuple[FloatArray, FloatArray, FloatArray]:
        """exp(-rate e) (rate e)^y / y!."""
        y = np.asarray(target.y, dtype=np.float64)
        exposure = np.ones(len(y)) if target.exposure is None else target.exposure
        return y, exposure, np.asarray(y * np.log(exposure) - special.gammaln(y + 1))

    def mean(self, posterior: FloatArray) -> FloatArray:
        """Expected count per unit of exposure."""
        return posterior[:, :1] / posterior[:, 1:]

    def distribution(self, posterior: FloatArray) -> Any:
        """Negative binomial."""
        shape, rate = posterior.T
        return stats.nbinom(shape, rate / (rate + 1))

    def mean_distribution(self, posterior: FloatArray) -> Any:
        """Gamma."""
        shape, rate = posterior.T
        return stats.gamma(shape, scale=1 / rate)
