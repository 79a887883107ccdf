"""Counts: Poisson with a Gamma prior on the rate per unit of exposure.

The predictive distribution of a count over one unit of exposure is negative binomial.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

from .._typing import FloatArray
from ._counts import negative_binomial
from ._gamma_rate import GammaRateOutcome
from ._target import EXPOSURE, Target, read_numbers

_MOST = 1e100  # whose square is a float64


@dataclass(frozen=True)
class PoissonOutcome(GammaRateOutcome):
    """Counts, with an optional exposure."""

    name = "poisson"
    extras = (EXPOSURE,)
    counts = True
    has_factor = True

    @staticmethod
    def check(target: Target) -> None:
        """Counts are whole and not negative."""
        check_counts(target, "poisson")

    @staticmethod
    def events_and_exposure(target: Target) -> tuple[FloatArray, FloatArray, FloatArray]:
        """exp(-rate e) (rate e)^y / y!."""
        y = np.asarray(target.y, dtype=np.float64)
        exposure = target.extra_values("exposure")
        return y, exposure, np.asarray(y * np.log(exposure) - special.gammaln(y + 1))

    def mean(self, posterior: FloatArray) -> FloatArray:
        """Expected count per unit of exposure."""
        return posterior[:, :1] / posterior[:, 1:]

    def distribution(self, posterior: FloatArray) -> Any:
        """Negative binomial."""
        shape, rate = posterior.T
        return negative_binomial(shape, rate)

    def mean_distribution(self, posterior: FloatArray) -> Any:
        """Gamma."""
        shape, rate = posterior.T
        return stats.gamma(shape, scale=1 / rate)


def check_counts(target: Target, name: str) -> None:
    """Refuse what is not a whole number of at least zero."""
    y = read_numbers("y", target.y, len(target.y))
    for wrong, what in ((y < 0, "negative"), (y != np.rint(y), "not a whole number")):
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(f"y is {what} in row {row} ({y[row]:g}): outcome={name!r} needs counts.")
    if np.any(y > _MOST):
        row = int(np.argmax(y > _MOST))
        raise ValueError(f"y is {y[row]:g} in row {row}, which is too large for a count: give it in a larger unit.")
