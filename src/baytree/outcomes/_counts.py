"""Distributions of counts, as scipy.stats would have them but for counts of any size.

scipy's own negative binomial aborts the process where counts exceed what its quantiles can take, and its beta negative
binomial knows whole sizes only. Beyond `_EXACT` a count is as good as a real number, and a Gamma distribution (a normal
one where even that is too narrow) with the same mean and variance stands in.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import special, stats

from .._typing import AnyArray, FloatArray

_EXACT = 2.0**40  # means up to this are counted
_NORMAL = 2.0**30  # Gamma distributions of a higher shape are normal but for rounding
_TABLE = 2**16  # counts whose probabilities are summed one by one
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(128)


class NegativeBinomial(stats.rv_discrete):
    """Counts of a Poisson distribution whose rate is Gamma(shape, rate) distributed."""

    def _argcheck(self, shape: AnyArray, rate: AnyArray) -> AnyArray:
        return (shape > 0) & (rate > 0)

    def _logpmf(self, k: AnyArray, shape: AnyArray, rate: AnyArray) -> AnyArray:
        ways = special.gammaln(shape + k) - special.gammaln(shape) - special.gammaln(k + 1)
        return ways - shape * np.log1p(1 / rate) - k * np.log1p(rate)

    def _pmf(self, k: AnyArray, shape: AnyArray, rate: AnyArray) -> AnyArray:
        return np.exp(self._logpmf(k, shape, rate))

    def _cdf(self, k: AnyArray, shape: AnyArray, rate: AnyArray) -> AnyArray:
        k = np.floor(k)

        def exact(k: AnyArray, shape: AnyArray, rate: AnyArray) -> AnyArray:
            return special.betainc(shape, k + 1, rate / (rate + 1))

        return _exact_or_smooth(exact, _smooth_cdf, k, self._moments(shape, rate), shape, rate)

    def _ppf(self, q: AnyArray, shape: AnyArray, rate: AnyArray) -> AnyArray:
        def exact(q: AnyArray, shape: AnyArray, rate: AnyArray) -> AnyArray:
            return _bisect(lambda k: special.betainc(shape, k + 1, rate / (rate + 1)), q, shape / rate)

        return _exact_or_smooth(exact, _smooth_ppf, q, self._moments(shape, rate), shape, rate)

    @staticmethod
    def _moments(shape: AnyArray, rate: AnyArray) -> tuple[AnyArray, AnyArray]:
        with np.errstate(over="ignore"):
            mean = shape / rate
            return mean, mean * (1 + 1 / rate)

    def _stats(self, shape: AnyArray, rate: AnyArray) -> Any:
        return *self._moments(shape, rate), None, None

    def _rvs(self, shape: AnyArray, rate: AnyArray, size: Any = None, random_state: Any = None) -> Any:
        return _poisson(random_state.gamma(shape, 1 / rate, size), random_state)


class BetaNegativeBinomial(stats.rv_discrete):
    """Counts of a negative binomial distribution of size n, whose probability is Beta(a, b) distributed."""

    def _argcheck(self, n: AnyArray, a: AnyArray, b: AnyArray) -> AnyArray:
        return (n > 0) & (a > 0) & (b > 0)

    def _logpmf(self, k: AnyArray, n: AnyArray, a: AnyArray, b: AnyArray) -> AnyArray:
        ways = special.gammaln(n + k) - special.gammaln(n) - special.gammaln(k + 1)
        return ways + special.betaln(a + n, b + k) - special.betaln(a, b)

    def _pmf(self, k: AnyArray, n: AnyArray, a: AnyArray, b: AnyArray) -> AnyArray:
        return np.exp(self._logpmf(k, n, a, b))

    def _cdf(self, k: AnyArray, n: AnyArray, a: AnyArray, b: AnyArray) -> AnyArray:
        return _exact_or_smooth(self._exact_cdf, _smooth_cdf, np.floor(k), self._moments(n, a, b), n, a, b)

    def _exact_cdf(self, k: AnyArray, n: AnyArray, a: AnyArray, b: AnyArray) -> AnyArray:
        result = np.empty(len(k))
        for rows, parameters in _distinct(n, a, b):
            top = k[rows].max()
            if top < _TABLE:
                sums = np.cumsum(self._pmf(np.arange(top + 1), *parameters))
                result[rows] = np.minimum(sums, 1.0)[k[rows].astype(np.int64)]
            else:
                result[rows] = _integrate_cdf(k[rows], *parameters)
        return result

    def _ppf(self, q: AnyArray, n: AnyArray, a: AnyArray, b: AnyArray) -> AnyArray:
        return _exact_or_smooth(self._exact_ppf, _smooth_ppf, q, self._moments(n, a, b), n, a, b)

    def _exact_ppf(self, q: AnyArray, n: AnyArray, a: AnyArray, b: AnyArray) -> AnyArray:
        result = np.empty(len(q))
        for rows, parameters in _distinct(n, a, b):
            wanted, length = q[rows], 64
            sums = np.zeros(0)
            while length <= _TABLE and (len(sums) == 0 or sums[-1] < wanted.max()):
                length *= 4
                sums = np.cumsum(self._pmf(np.arange(length), *parameters))
            result[rows] = np.searchsorted(sums, wanted * (1 - 1e-13))
            far = sums[-1] < wanted
            if far.any():
                mean = np.full(int(far.sum()), float(self._moments(*parameters)[0]))
                counts = _bisect(
                    partial(_integrate_cdf, n=parameters[0], a=parameters[1], b=parameters[2]), wanted[far], mean
                )
                result[rows[far]] = counts
        return result

    @staticmethod
    def _moments(n: AnyArray, a: AnyArray, b: AnyArray) -> tuple[AnyArray, AnyArray]:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            mean = np.where(a > 1, n * b / (a - 1), np.inf)
            variance = np.where(a > 2, mean * (n + a - 1) * (a + b - 1) / ((a - 2) * (a - 1)), np.inf)
        return mean, variance

    def _stats(self, n: AnyArray, a: AnyArray, b: AnyArray) -> Any:
        return *self._moments(n, a, b), None, None

    def _rvs(self, n: AnyArray, a: AnyArray, b: AnyArray, **how: Any) -> Any:
        random, shape = how["random_state"], how["size"]
        p = random.beta(a, b, shape)
        return _poisson(random.gamma(n, (1 - p) / p, shape), random)


negative_binomial = NegativeBinomial(name="negative_binomial", a=0)
beta_negative_binomial = BetaNegativeBinomial(name="beta_negative_binomial", a=0)


def _exact_or_smooth(
    exact: Callable[..., AnyArray],
    smooth: Callable[[AnyArray, AnyArray, AnyArray], AnyArray],
    x: AnyArray,
    moments: tuple[AnyArray, AnyArray],
    *parameters: AnyArray,
) -> AnyArray:
    """Count where the mean is not too large, and take the smooth stand-in where it is."""
    x, mean, variance, *flat = (np.ravel(part) for part in np.broadcast_arrays(x, *moments, *parameters))
    large = np.isfinite(mean + variance) & (mean > _EXACT)
    result = np.empty(len(x))
    if large.any():
        result[large] = smooth(x[large], mean[large], variance[large])
    if not large.all():
        result[~large] = exact(x[~large], *(part[~large] for part in flat))
    return result


def _smooth_cdf(x: AnyArray, mean: AnyArray, variance: AnyArray) -> AnyArray:
    shape = mean * (mean / variance)
    below = special.ndtr((x - mean) / np.sqrt(variance))
    of_gamma = special.gammainc(np.minimum(shape, _NORMAL), np.maximum(x, 0) / (variance / mean))
    return np.where(shape > _NORMAL, below, of_gamma)


def _smooth_ppf(q: AnyArray, mean: AnyArray, variance: AnyArray) -> AnyArray:
    shape = mean * (mean / variance)
    normal = mean + np.sqrt(variance) * special.ndtri(q)
    of_gamma = special.gammaincinv(np.minimum(shape, _NORMAL), q) * (variance / mean)
    return np.rint(np.where(shape > _NORMAL, normal, of_gamma))


def _bisect(cdf: Callable[[AnyArray], AnyArray], q: AnyArray, guess: AnyArray) -> AnyArray:
    """The smallest count whose probability up to there is at least q."""
    low = np.full(len(q), -1.0)
    high = np.maximum(np.ceil(np.where(np.isfinite(guess), guess, 1.0)), 1.0)
    wanted = q * (1 - 1e-13)  # so that rounding does not decide
    for _ in range(1100):  # to the end of float64
        short = (cdf(high) < wanted) & np.isfinite(high)
        if not short.any():
            break
        low, high = np.where(short, high, low), np.where(short, 2 * high, high)
    while np.any(active := np.isfinite(high) & (high - low > np.maximum(1.0, 2.0**-50 * high))):
        middle = np.where(active, np.floor(low + (high - low) / 2), high)
        reaches = cdf(middle) >= wanted
        high, low = np.where(active & reaches, middle, high), np.where(active & ~reaches, middle, low)
    return high


def _distinct(*parameters: AnyArray) -> list[tuple[AnyArray, tuple[Any, ...]]]:
    """The positions of every distinct set of parameters; there are few, one for each leaf."""
    distinct, inverse = np.unique(np.stack(parameters, axis=1), axis=0, return_inverse=True)
    order = np.argsort(np.ravel(inverse), kind="stable")
    places = np.split(order, np.cumsum(np.bincount(np.ravel(inverse)))[:-1])
    return [(rows, tuple(row)) for rows, row in zip(places, distinct.tolist(), strict=True)]


def _integrate_cdf(k: AnyArray, n: float, a: float, b: float) -> AnyArray:
    """Probability up to k: that of a negative binomial, averaged over its probability."""
    p = special.betaincinv(a, b, (_NODES + 1) / 2)
    return special.betainc(n, k[:, None] + 1, p) @ (_NODE_WEIGHTS / 2)


def _poisson(rate: FloatArray, random: Any) -> FloatArray:
    """Poisson draws; of rates beyond what NumPy takes, normal ones."""
    many = np.rint(rate + np.sqrt(rate) * random.normal(size=np.shape(rate)))
    return np.where(rate < 2.0**60, random.poisson(np.minimum(rate, 2.0**60)), many)
