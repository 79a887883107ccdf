"""Real outcomes: normal with unknown mean and precision, with a Normal-Gamma prior.

Parameters (mu, kappa, alpha, beta): the precision is Gamma(alpha, rate beta) distributed, the mean given the
precision is normal around mu with kappa times the precision. After n rows with mean m and sum of squared
deviations S::

    kappa' = kappa + n               mu' = (kappa mu + n m) / kappa'
    alpha' = alpha + n / 2           beta' = beta + S / 2 + kappa n (m - mu)^2 / (2 kappa')

The predictive distribution is Student's t with 2 alpha degrees of freedom around mu, of scale
sqrt(beta (kappa + 1) / (alpha kappa)).

Statistics are those of y shifted and scaled to mean 0 and variance 1 (those of the training rows), so that an
offset in y costs no precision and a change of its unit changes no tree. Outcomes that float64 cannot tell apart
in that form are equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
from scipy import special, stats

from .. import _core
from .._typing import AnyArray, FloatArray, IntArray
from ._base import FixedPointOutcome, PriorSearch, RealOutcome, read_parameters
from ._grids import Grids, SampleSize, average_in_any_order, grid_of_y
from ._search import most_probable
from ._target import Target, read_numbers

# docs/theory.md shows how they were chosen.
DEFAULT_ALPHA = 2.0
FIRST_NOISE = 0.2  # of the variance of y, for the first tree
MOST_PASSES = 6  # trees that tell how large the noise is
SETTLED = 1.25  # noise that changes by less than this factor is settled
PSEUDO_ROWS = 4.0  # that the noise of the pass before counts for
LEAST_NOISE = 1e-6  # of the variance of y; leaves may be pure


@dataclass(frozen=True)
class NormalOutcome(RealOutcome, FixedPointOutcome):
    """The prior at the root, and the shift and scale that make y standard."""

    prior: FloatArray
    shift: float
    scale: float
    spread: float = 1.0  # times which the predictive distribution is as wide as the leaves alone say
    slope: float = 1.0  # times which the means of leaves of a forest are as far from the overall mean as they say

    name = "normal"
    parameter_names = ("mu", "kappa", "alpha", "beta")
    any_sign = ("mu",)
    has_spread = True
    forest_factor = 4.0
    from_zero = False

    n_statistics = 3

    @property
    def family(self) -> str:
        """Normal-Gamma."""
        return "NormalGamma"

    @classmethod
    def of(cls, target: Target, prior: Any, options: Any = None) -> Self:  # noqa: ARG003
        """Set the prior from the mean and variance of y where it is None, with the noise of a first tree."""
        y = read_numbers("y", target.y, len(target.y))
        # Differences to one of the values are exact where it matters: when y has a large offset. No order of the rows
        # changes the lowest value, nor sums of whole numbers, so that equal tables have equal shifts and scales.
        offset = float(y.min())
        with np.errstate(over="ignore"):
            distance = y - offset
            reach = float(distance.max()) or 1.0
            if not np.isfinite(reach * reach):
                raise ValueError("y is too large to be squared: give it in a larger unit.")
            # In units of the reach, so that the squares of small numbers are not lost.
            mean = average_in_any_order(distance / reach, target.weight)
            variance = average_in_any_order((distance / reach - mean) ** 2, target.weight)
        scale = reach * float(np.sqrt(variance)) or 1.0
        mean *= reach
        if not 0 < scale**2 < np.inf:
            raise ValueError(f"y is too small to be squared (its spread is {scale:g}): give it in a smaller unit.")
        shift = offset + mean
        if target.grids is not None and target.grids.y is not None:
            shift = float(target.grids.y.nearest(shift))
        outcome = cls(np.empty(0), shift, scale)
        if prior is None:
            return outcome._with_noise(FIRST_NOISE)
        return replace(outcome, prior=read_parameters(prior, cls))

    def _with_noise(self, noise: float) -> Self:
        """The default prior with an expected noise of so many times the variance of y.

        Kappa is the noise too, so that the mean of a leaf varies beforehand as much as y does.
        """
        noise = max(noise, LEAST_NOISE)
        beta = DEFAULT_ALPHA * noise * self.scale**2
        return replace(self, prior=np.array([self.shift, noise, DEFAULT_ALPHA, beta]))

    @classmethod
    def settle(cls, target: Target, prior: Any, options: Any, search: PriorSearch) -> Self:
        """Without a prior, estimate the noise from the leaves of a first tree, then from those of the next."""
        outcome = super().settle(target, prior, options, search)
        if prior is not None:
            return outcome
        noise = FIRST_NOISE
        for _ in range(MOST_PASSES):
            outcome = outcome._with_noise(noise)
            within = max(outcome._noise_within(*search.leaves(outcome), noise), LEAST_NOISE)
            if noise / SETTLED <= within <= noise * SETTLED:
                return outcome
            noise = within
        return outcome._with_noise(noise)

    def _noise_within(self, prior: FloatArray, posterior: FloatArray, before: float) -> float:
        """The pooled variance of y within leaves, relative to that of all y, given the noise of the pass before.

        A leaf of one row tells nothing about the noise, so that each leaf takes one degree of freedom. The noise of the
        pass before counts as a few more: a handful of rows cannot make the noise vanish, and many rows decide alone.
        """
        mu, kappa, alpha, beta = self._to_standard(prior).T
        mu_n, kappa_n, alpha_n, beta_n = self._to_standard(posterior).T
        n = 2 * (alpha_n - alpha)
        squares = 2 * (beta_n - beta) - kappa * kappa_n * (mu_n - mu) ** 2 / n
        freedom = max(float(n.sum()) - len(n), 0.0)
        noise = (np.maximum(squares, 0.0).sum() + PSEUDO_ROWS * before) / (freedom + PSEUDO_ROWS)
        return float(f"{noise:.9g}")  # so that the order of sums, a shift or a scale of y changes nothing

    def most_probable(self, target: Target, search: PriorSearch) -> Self:  # noqa: ARG002
        """The default prior with the noise of highest evidence."""
        return most_probable(1e-4, 1.0, self._with_noise, search.log_evidence)

    def least_spread(self, target: Target, level: float) -> float:
        """Student's interval for a further row over that of a leaf of all rows, whose prior takes the scale as known.

        The mean takes a degree of freedom, and the search for a split another.
        """
        sums = self.sum_statistics(target, np.zeros(len(target.y), dtype=np.int64), 1)
        n, first, second = sums[0].tolist()
        if n <= 1:
            return 1.0
        deviation = self.scale * math.sqrt(max(second - first * first / n, 0.0) / (n - 1))
        needed = stats.t.ppf((1 + level) / 2, max(n - 2, 1)) * deviation * math.sqrt(1 + 1 / n)
        leaf = self.with_spread(1.0).distribution(self.update(self.prior[None], sums))
        given = float((leaf.ppf((1 + level) / 2) - leaf.mean())[0])
        return max(float(needed) / given, 1.0)

    def with_spread(self, spread: float) -> Self:
        """Wider or narrower around the same mean."""
        return replace(self, spread=spread)

    def to_core(self, target: Target) -> _core.Normal | _core.FixedPointNormal:
        """Standard y."""
        if target.grids is not None:
            return self._from_grids(target, target.grids)
        return _core.Normal(self.standard(target), target.weight)

    @classmethod
    def fixed_point_rows(cls, target: Target) -> list[IntArray]:
        """Y."""
        return [grid_of_y(target.grids).whole(target.y)]

    def fixed_point_core(
        self,
        numbers: list[IntArray],
        weight: IntArray | None,
        grids: Grids,
        sample_size: SampleSize,  # noqa: ARG002
    ) -> _core.FixedPointNormal:
        """Standard y."""
        centre = int(grid_of_y(grids).whole(self.shift))
        return _core.FixedPointNormal(numbers[0], weight, grids.weight_unit, self._scales(grids), centre)

    def _scales(self, grids: Grids) -> list[float]:
        """Convert sums of whole numbers to statistics."""
        one, relative = grids.weight_unit, grid_of_y(grids).unit / self.scale
        return [one, one * relative, one * relative * relative]

    def statistics_of_sums(self, sums: AnyArray, grids: Grids) -> FloatArray:
        """Sums of weights, of y and of its square, both taken from the centre."""
        n, first, second = sums.T
        c = int(grid_of_y(grids).whole(self.shift))
        centred = np.stack([n, first - c * n, second - 2 * c * first + c * c * n], axis=1)
        return np.asarray(centred.astype(np.float64) * self._scales(grids))

    @classmethod
    def summary(cls, totals: list[int], grids: Grids) -> Target:
        """Two rows with the mean and the variance of all."""
        grid = grid_of_y(grids)
        weight, first, second = (Fraction(total) for total in totals)
        mean, variance = first / weight, second / weight - (first / weight) ** 2
        middle, distance = float(grid.value(math.floor(mean + Fraction(1, 2)))), math.sqrt(variance) * grid.unit
        half = np.full(2, float(weight) * grids.weight_unit / 2)
        return Target(np.array([middle - distance, middle + distance]), half, grids=grids)

    def standard(self, target: Target) -> FloatArray:
        """Y, shifted and scaled to mean 0 and variance 1."""
        return (np.asarray(target.y, dtype=np.float64) - self.shift) / self.scale

    def core_prior(self) -> FloatArray:
        """The prior of standard y."""
        return self._to_standard(self.prior)

    def _to_standard(self, parameters: FloatArray) -> FloatArray:
        mu, kappa, alpha, beta = np.moveaxis(parameters, -1, 0)
        return np.stack([(mu - self.shift) / self.scale, kappa, alpha, beta / self.scale**2], axis=-1)

    def prior_from_core(self, prior: FloatArray) -> FloatArray:
        """The prior of y."""
        mu, kappa, alpha, beta = np.moveaxis(prior, -1, 0)
        return np.stack([mu * self.scale + self.shift, kappa, alpha, beta * self.scale**2], axis=-1)

    def log_likelihood_from_core(self, log_likelihood: FloatArray, statistics: FloatArray) -> FloatArray:
        """A density changes with the unit: once for every row."""
        return log_likelihood - statistics[:, 0] * np.log(self.scale)

    def statistics(self, target: Target) -> FloatArray:
        """One, standard y and its square."""
        z = self.standard(target)
        return np.stack([np.ones(len(z)), z, z * z], axis=-1)

    def update(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """The posterior, by way of standard y."""
        mu, kappa, alpha, beta = np.moveaxis(self._to_standard(prior), -1, 0)
        n, s, q = np.moveaxis(statistics, -1, 0)
        mean = s / np.where(n > 0, n, 1.0)
        squares = np.maximum(q - s * mean, 0.0)
        after = kappa + n
        spread = squares / 2 + kappa * n * (mean - mu) ** 2 / (2 * after)
        posterior = np.stack([(kappa * mu + s) / after, after, alpha + n / 2, beta + spread], axis=-1)
        return self.prior_from_core(posterior)

    def log_marginal(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Ratio of the normalising constants of posterior and prior."""
        _, kappa, alpha, beta = np.moveaxis(prior, -1, 0)
        _, kappa_n, alpha_n, beta_n = np.moveaxis(self.update(prior, statistics), -1, 0)
        n = statistics[..., 0]
        gammas = special.gammaln(alpha_n) - special.gammaln(alpha) + alpha * np.log(beta) - alpha_n * np.log(beta_n)
        return np.asarray(gammas + 0.5 * (np.log(kappa) - np.log(kappa_n)) - n / 2 * np.log(2 * np.pi))

    def calibrated(self, posterior: FloatArray) -> FloatArray:
        """The same distributions around other means."""
        if self.slope == 1:
            return posterior
        result = posterior.copy()
        result[:, 0] += (self.slope - 1) * (posterior[:, 0] - self.shift)
        return result

    def of_single_tree(self) -> Self:
        """The outcome without the slope of a forest."""
        return replace(self, slope=1.0)

    def mean(self, posterior: FloatArray) -> FloatArray:
        """Mu."""
        return posterior[:, :1]

    def distribution(self, posterior: FloatArray) -> Any:
        """Student's t."""
        mu, _, alpha, _ = posterior.T
        return stats.t(2 * alpha, loc=mu, scale=self._predictive_scale(posterior))

    def cdf(self, posterior: FloatArray, y: FloatArray) -> FloatArray:
        """Compute the predictive distribution function directly, which is faster than `distribution`."""
        return np.asarray(special.stdtr(2 * posterior[:, 2], (y - posterior[:, 0]) / self._predictive_scale(posterior)))

    def _predictive_scale(self, posterior: FloatArray) -> FloatArray:
        _, kappa, alpha, beta = posterior.T
        return np.asarray(self.spread * np.sqrt(beta * (kappa + 1) / (alpha * kappa)))

    def mean_distribution(self, posterior: FloatArray) -> Any:
        """Student's t, narrower."""
        mu, kappa, alpha, beta = posterior.T
        return stats.t(2 * alpha, loc=mu, scale=np.sqrt(beta / (alpha * kappa)))

    def state(self) -> dict[str, Any]:
        """The prior, shift, scale, spread and slope."""
        return {name: getattr(self, name) for name in ("prior", "shift", "scale", "spread", "slope")}
