"""Overdispersed counts: negative binomial with a Beta prior.

A count over one unit of exposure has mean m and variance m + dispersion m^2. With size = 1 / dispersion it is the
number of failures before `size` successes of probability p, where m = size (1 - p) / p; over an exposure of e units the
sizes add up. With p ~ Beta(a, b), after rows with exposures e and counts y::

    a' = a + size sum(e)        b' = b + sum(y)

The mean per unit has expectation size b / (a - 1), and the predictive distribution is a beta negative binomial. As the
dispersion goes to zero everything becomes the Poisson outcome.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from scipy import special, stats

from .. import _core
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_real
from ._base import FixedPointOutcome, PriorSearch, RealOutcome, asks_for_evidence, read_parameters
from ._counts import beta_negative_binomial
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
from ._poisson import check_counts
from ._search import most_probable
from ._target import EXPOSURE, Target

DEFAULT_STRENGTH = 2.0  # as the shape of the Poisson outcome's prior
_DISPERSIONS = (0.005, 5.0)  # the least and the largest that is tried


@dataclass(frozen=True)
class NegativeBinomial:
    """Parameters of ``outcome="negative_binomial"``.

    Parameters
    ----------
    dispersion
        The variance of a count is its mean plus `dispersion` times the mean squared. None: of nine that are
        tried between 0.005 and 5, the one under which each half of the rows is most probable, given the other.

    Examples
    --------
    >>> import numpy as np
    >>> from baytree import BayesianTreeRegressor
    >>> from baytree.outcomes import NegativeBinomial
    >>> X = np.arange(200.0).reshape(-1, 1)
    >>> counts = np.random.default_rng(0).negative_binomial(2, np.where(X[:, 0] < 100, 0.5, 0.1))
    >>> model = BayesianTreeRegressor(outcome=NegativeBinomial(dispersion=0.5)).fit(X, counts)
    >>> model.predict([[0.0], [150.0]]).round(1)
    array([ 2.1, 16.6])
    """

    dispersion: float | None = None


@dataclass(frozen=True)
class NegativeBinomialOutcome(RealOutcome, FixedPointOutcome):
    """The prior at the root, and the size that all leaves share."""

    prior: FloatArray
    size: float

    name = "negative_binomial"
    parameter_names = ("a", "b")
    extras = (EXPOSURE,)
    options = NegativeBinomial
    counts = True
    has_factor = True
    forest_factor = 1.0  # as of other rates

    n_statistics = 4

    @property
    def family(self) -> str:
        """Beta, of the probability p."""
        return "Beta"

    @classmethod
    def of(cls, target: Target, prior: Any, options: NegativeBinomial | None = None) -> Self:
        """Set the prior from the overall mean where it is None; the dispersion must be given."""
        check_counts(target, cls.name)
        dispersion = (options or NegativeBinomial()).dispersion
        size = 1 / check_real("dispersion", _DISPERSIONS[0] if dispersion is None else dispersion, low=0)
        if prior is None:
            return cls(_around_overall_mean(target, size, DEFAULT_STRENGTH), size)
        return cls(read_parameters(prior, cls), size)

    def most_probable(self, target: Target, search: PriorSearch) -> Self:
        """The overall mean as its mean, and a strength between 0.2 and 200."""
        return most_probable(
            0.2,
            200.0,
            lambda strength: replace(self, prior=_around_overall_mean(target, self.size, strength)),
            search.log_evidence,
        )

    @classmethod
    def settle(cls, target: Target, prior: Any, options: NegativeBinomial | None, search: PriorSearch) -> Self:
        """The dispersion first, where none is given, then the prior."""
        if options is None or options.dispersion is None:
            explicit_prior = None if asks_for_evidence(prior) else prior
            options = most_probable(
                *_DISPERSIONS,
                NegativeBinomial,
                lambda candidate: search.log_evidence_by_halves(cls.of(target, explicit_prior, candidate)),
            )
        return super().settle(target, prior, options, search)

    def _rows(self, target: Target) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Counts, sizes and the log of the factor without p, for each row."""
        y = np.asarray(target.y, dtype=np.float64)
        size = self.size * target.extra_values("exposure")
        return y, size, np.asarray(special.gammaln(y + size) - special.gammaln(size) - special.gammaln(y + 1))

    def core_prior(self) -> FloatArray:
        """In the order of counts and sizes."""
        return self.prior[::-1]

    def prior_from_core(self, prior: FloatArray) -> FloatArray:
        """In the order of a and b."""
        return prior[..., ::-1]

    def to_core(self, target: Target) -> _core.BetaRate | _core.FixedPointBetaRate:
        """Counts and sizes of each row."""
        if target.grids is not None:
            return self._from_grids(target, target.grids)
        return _core.BetaRate(*self._rows(target), target.weight)

    @classmethod
    def fixed_point_rows(cls, target: Target) -> list[IntArray]:
        """Counts and exposure."""
        return counts_and_exposure(target)

    def factor_unit(self, grids: Grids) -> float:
        """One that no factor of these sizes exceeds."""
        return grids.factor_unit(self.size)

    def fixed_point_factor(self, target: Target) -> IntArray:
        """In units that no factor of these counts and sizes exceeds."""
        return to_units(self._rows(target)[2], self.factor_unit(grids_of(target)))

    def fixed_point_core(
        self,
        numbers: list[IntArray],
        weight: IntArray | None,
        grids: Grids,
        sample_size: SampleSize,  # noqa: ARG002
    ) -> _core.FixedPointBetaRate:
        """Counts and sizes of each row."""
        events, exposure, factor = numbers
        return _core.FixedPointBetaRate(events, exposure, factor, weight, grids.weight_unit, self._scales(grids))

    def statistics_of_sums(self, sums: AnyArray, grids: Grids) -> FloatArray:
        """Weight, count, size and log factor."""
        return np.asarray(sums.astype(np.float64) * self._scales(grids))

    def _scales(self, grids: Grids) -> list[float]:
        """Convert sums of whole numbers to statistics."""
        one, unit = grids.weight_unit, grids.extras.get("exposure", ONE).unit
        return [one, one * grid_of_y(grids).unit, one * self.size * unit, one * self.factor_unit(grids)]

    @classmethod
    def summary(cls, totals: list[int], grids: Grids) -> Target:
        """Rows with the mean of all."""
        units = grid_of_y(grids).unit, grids.extras.get("exposure", ONE).unit
        return count_rows(*sums_in_units(totals, units, grids))

    def statistics(self, target: Target) -> FloatArray:
        """One, count, size and log factor."""
        return np.stack([np.ones(len(target.y)), *self._rows(target)], axis=-1)

    def log_likelihood_from_core(self, log_likelihood: FloatArray, statistics: FloatArray) -> FloatArray:
        """The core leaves out the factor that no partition changes."""
        return log_likelihood + statistics[:, 3]

    def update(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Add sizes to a, counts to b."""
        return prior + statistics[..., 2:0:-1]

    def log_marginal(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Ratio of the normalising constants, with the factor."""
        a, b = np.moveaxis(prior, -1, 0)
        a_n, b_n = np.moveaxis(self.update(prior, statistics), -1, 0)
        return np.asarray(special.betaln(a_n, b_n) - special.betaln(a, b) + statistics[..., 3])

    def mean(self, posterior: FloatArray) -> FloatArray:
        """Expected count per unit of exposure; infinite where a is at most 1."""
        a, b = posterior[:, :1], posterior[:, 1:]
        return np.where(a > 1, self.size * b / np.where(a > 1, a - 1, 1.0), np.inf)

    def distribution(self, posterior: FloatArray) -> Any:
        """Beta negative binomial."""
        a, b = posterior.T
        return beta_negative_binomial(self.size, a, b)

    def mean_distribution(self, posterior: FloatArray) -> Any:
        """Beta prime, times the size."""
        a, b = posterior.T
        return stats.betaprime(b, a, scale=self.size)

    def state(self) -> dict[str, Any]:
        """The prior and the size."""
        return {"prior": self.prior, "size": self.size}


def _around_overall_mean(target: Target, size: float, strength: float) -> FloatArray:
    """The prior whose mean is the overall one, with a relative variance of 1 / strength."""
    weight = np.ones(len(target.y)) if target.weight is None else target.weight
    # Half an event keeps the mean of a table without events positive.
    events = max(float(weight @ np.asarray(target.y, dtype=np.float64)), 0.5)
    ratio = events / float(weight @ target.extra_values("exposure")) / size  # of failures to successes
    return np.array([2 + strength * (1 + ratio) / ratio, ratio + strength * (1 + ratio)])
