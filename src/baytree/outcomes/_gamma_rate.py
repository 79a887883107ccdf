"""The base of counts and durations: a rate with a Gamma(shape, rate) prior.

After `events` events in an exposure of `exposure` the posterior is Gamma(shape + events, rate + exposure).
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import special

from .. import _core
from .._typing import AnyArray, FloatArray, IntArray
from ._base import FixedPointOutcome, PriorSearch, RealOutcome, read_parameters
from ._grids import (
    ONE,
    Grids,
    SampleSize,
    count_rows,
    counts_and_exposure,
    grid_of_y,
    grids_of,
    sums_in_units,
    to_units,
)
from ._search import most_probable
from ._target import Target

DEFAULT_SHAPE = 2.0


@dataclass(frozen=True)
class GammaRateOutcome(RealOutcome, FixedPointOutcome):
    """The prior at the root."""

    prior: FloatArray

    parameter_names = ("shape", "rate")
    forest_factor = 1.0  # rates are noisy, and leaves of few events have extreme ones
    predicts_duration: ClassVar[bool] = False  # the mean is a time, not a rate

    @staticmethod
    @abstractmethod
    def check(target: Target) -> None:
        """Refuse targets that cannot be."""

    @staticmethod
    @abstractmethod
    def events_and_exposure(target: Target) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Events, exposure and the log of the factor that the rate is not in, for each row."""

    n_statistics = 4

    @property
    def family(self) -> str:
        """Gamma."""
        return "Gamma"

    @classmethod
    def of(cls, target: Target, prior: Any, options: Any = None) -> Self:  # noqa: ARG003
        """Set the prior from the overall rate where it is None."""
        cls.check(target)
        if prior is None:
            return cls(cls._around_overall_rate(target, DEFAULT_SHAPE))
        return cls(read_parameters(prior, cls))

    @classmethod
    def _around_overall_rate(cls, target: Target, shape: float) -> FloatArray:
        events, exposure, _ = cls.events_and_exposure(target)
        weight = np.ones(len(events)) if target.weight is None else target.weight
        # Half an event keeps the rate of a table without events positive.
        overall = max(float(weight @ events), 0.5) / float(weight @ exposure)
        # The mean of what is predicted is the overall one: shape / rate of counts, rate / (shape - 1) of durations.
        return np.array([shape + cls.predicts_duration, shape / overall])

    def most_probable(self, target: Target, search: PriorSearch) -> Self:
        """The overall rate as its mean, and a shape between 0.2 and 200."""
        return most_probable(
            0.2,
            200.0,
            lambda shape: replace(self, prior=self._around_overall_rate(target, shape)),
            search.log_evidence,
        )

    def to_core(self, target: Target) -> _core.GammaRate | _core.FixedPointGammaRate:
        """Events and exposure of each row."""
        if target.grids is not None:
            return self._from_grids(target, target.grids)
        return _core.GammaRate(*self.events_and_exposure(target), target.weight, self.predicts_duration)

    @classmethod
    def whole_units(cls, grids: Grids) -> tuple[float, float]:
        """The units of events and exposure."""
        return grid_of_y(grids).unit, grids.extras.get("exposure", ONE).unit

    @classmethod
    def fixed_point_rows(cls, target: Target) -> list[IntArray]:
        """Events and exposure."""
        return counts_and_exposure(target)

    def fixed_point_factor(self, target: Target) -> IntArray:
        """In units that no factor of these counts and exposures exceeds."""
        return to_units(self.events_and_exposure(target)[2], self.factor_unit(grids_of(target)))

    def fixed_point_core(
        self,
        numbers: list[IntArray],
        weight: IntArray | None,
        grids: Grids,
        sample_size: SampleSize,  # noqa: ARG002
    ) -> _core.FixedPointGammaRate:
        """Events and exposure of each row."""
        events, exposure, factor = numbers
        return _core.FixedPointGammaRate(
            events, exposure, factor, weight, grids.weight_unit, self._scales(grids), self.predicts_duration
        )

    def _scales(self, grids: Grids) -> list[float]:
        """Convert sums of whole numbers to statistics."""
        one = grids.weight_unit
        return [one, *(one * unit for unit in self.whole_units(grids)), one * self.factor_unit(grids)]

    def statistics_of_sums(self, sums: AnyArray, grids: Grids) -> FloatArray:
        """Weight, events, exposure and log factor."""
        return np.asarray(sums.astype(np.float64) * self._scales(grids))

    @classmethod
    def summary(cls, totals: list[int], grids: Grids) -> Target:
        """Rows with the rate of all."""
        events, exposure = sums_in_units(totals, cls.whole_units(grids), grids)
        return cls.few_rows(events, exposure)

    @classmethod
    def few_rows(cls, events: float, exposure: float) -> Target:
        """Rows with so many events in so much exposure."""
        return count_rows(events, exposure)

    def statistics(self, target: Target) -> FloatArray:
        """One, events, exposure and log factor."""
        events, exposure, log_factor = self.events_and_exposure(target)
        return np.stack([np.ones(len(events)), events, exposure, log_factor], axis=-1)

    def log_likelihood_from_core(self, log_likelihood: FloatArray, statistics: FloatArray) -> FloatArray:
        """The core leaves out the factor that no partition changes."""
        return log_likelihood + statistics[:, 3]

    def update(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Add events to the shape, exposure to the rate."""
        return prior + statistics[..., 1:3]

    def log_marginal(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Ratio of the normalising constants, with the factor."""
        shape, rate = np.moveaxis(prior, -1, 0)
        shape_n, rate_n = np.moveaxis(self.update(prior, statistics), -1, 0)
        gammas = special.gammaln(shape_n) - special.gammaln(shape)
        return np.asarray(gammas + shape * np.log(rate) - shape_n * np.log(rate_n) + statistics[..., 3])

    def state(self) -> dict[str, Any]:
        """The prior."""
        return {"prior": self.prior}
