"""Mixtures of distributions, one for each row: what a tree space predicts."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from ._threads import map_on_threads
from ._typing import BoolArray, FloatArray, IntArray

_ENTRIES = 2**17  # rows times components that are evaluated at a time: Ctrl-C is heard in between
_FEW_ENTRIES = 2**13  # the same of a thread, at least
_NEGLIGIBLE = 1e-8  # what quantiles and variances do without, relative to the probability that they are about
_NEAR = 1e-13  # precision of a quantile, as a share of its probability or of one minus that
_MOST_STEPS = 200


class Mixture:
    """Distributions of rows, each a mixture of the same components with weights of its own.

    It has the methods of a frozen scipy.stats distribution. Values are one for all rows or one for each row; in
    an array of more dimensions the last axis is that of the rows.

    Parameters
    ----------
    weights
        Weight of each component for each row, sparse, shape (n_rows, n_components); rows sum to one.
    distribution
        Makes the frozen distribution of some components, given their numbers.
    spread
        Factor by which each mixture is wider about its mean than its components make it; for numbers with a density.
    n_threads
        Threads that look for quantiles, each for those of some rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from baytree import TreeSpaceRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> mixture = TreeSpaceRegressor(max_nodes=50).fit(X, y).predict_dist(X[:2])
    >>> mixture.mean().shape, mixture.cdf(150.0).shape
    ((2,), (2,))
    """

    def __init__(
        self,
        weights: sparse.csr_matrix,
        distribution: Callable[[IntArray], Any],
        spread: float = 1.0,
        n_threads: int = 1,
    ) -> None:
        self.weights = weights
        self.n_threads = n_threads
        self.distribution = distribution
        self.spread = spread
        self._all = distribution(np.arange(weights.shape[1]))
        self._has_density = not hasattr(getattr(self._all, "dist", self._all), "pmf")

    def __repr__(self) -> str:
        return f"Mixture of {self.weights.shape[1]} components for {len(self)} rows"

    def __len__(self) -> int:
        return int(self.weights.shape[0])

    def _map_rows(self, evaluate: Callable[[FloatArray], FloatArray], x: Any) -> FloatArray:
        """Evaluate a function of one value a row at values of any shape that ends in the rows."""
        x = np.asarray(x, dtype=np.float64)
        at = np.broadcast_to(x, np.broadcast_shapes(x.shape, (len(self),)))
        return np.stack([evaluate(row) for row in at.reshape(-1, len(self))]).reshape(at.shape)

    def _scale_about_mean(self, x: FloatArray, factor: float) -> FloatArray:
        """Move values, one a row, so many times as far from the means as they are."""
        if factor == 1.0:
            return x
        mean = self.mean()
        return mean + factor * (x - mean)

    def _average(self, function: str, x: Any) -> FloatArray:
        """Average a function over the components of each row."""

        def evaluate(at: FloatArray) -> FloatArray:
            at = self._scale_about_mean(at, 1 / self.spread)
            return _weighted_row_sums(
                self.weights, at, lambda node, values: getattr(self.distribution(node), function)(values)
            )

        return self._map_rows(evaluate, x)

    def cdf(self, x: Any) -> FloatArray:
        """Probability of a value up to x."""
        return self._average("cdf", x)

    def sf(self, x: Any) -> FloatArray:
        """Probability of a value above x."""
        return self._average("sf", x)

    def logcdf(self, x: Any) -> FloatArray:
        """Log of `cdf`."""
        return self._log_average("logcdf", x)

    def logsf(self, x: Any) -> FloatArray:
        """Log of `sf`."""
        return self._log_average("logsf", x)

    def pdf(self, x: Any) -> FloatArray:
        """Density at x."""
        return self._average("pdf", x) / self.spread

    def pmf(self, x: Any) -> FloatArray:
        """Probability of x, of counts."""
        return self._average("pmf", x)

    def logpdf(self, x: Any) -> FloatArray:
        """Log density at x."""
        return self._log_average("logpdf", x) - np.log(self.spread)

    def logpmf(self, x: Any) -> FloatArray:
        """Log probability of x, of counts."""
        return self._log_average("logpmf", x)

    def _log_average(self, function: str, x: Any) -> FloatArray:
        return self._map_rows(lambda at: self._log_average_at(function, at), x)

    def _log_average_at(self, function: str, at: FloatArray) -> FloatArray:
        result, at = np.empty(len(self)), self._scale_about_mean(at, 1 / self.spread)
        for rows, part in _parts(self.weights):
            n_components = np.diff(part.indptr)
            logs = getattr(self.distribution(part.indices), function)(np.repeat(at[rows], n_components))
            top = np.maximum.reduceat(logs, part.indptr[:-1])
            top = np.where(np.isfinite(top), top, 0.0)
            total = np.add.reduceat(part.data * np.exp(logs - np.repeat(top, n_components)), part.indptr[:-1])
            with np.errstate(divide="ignore"):
                result[rows] = top + np.log(total)
        return result

    def mean(self) -> FloatArray:
        """Expected value."""
        return np.asarray(self.weights @ self._all.mean())

    def var(self) -> FloatArray:
        """Variance: within the components, and between them.

        A component without a finite variance is left out where it has next to no weight: it would be all that one sees.
        """
        means, variances = np.asarray(self._all.mean()), np.asarray(self._all.var())
        finite = np.isfinite(means + variances)
        weights = self.weights if finite.all() else _without_negligible(self.weights, np.ones(len(self)), ~finite)
        shift = means[finite].mean() if finite.any() else 0.0  # for precision
        means, variances = np.where(finite, means - shift, 0.0), np.where(finite, variances, 0.0)
        result = np.maximum(weights @ (variances + means**2) - (weights @ means) ** 2, 0.0)
        return np.where(weights @ (~finite).astype(float) > 0, np.inf, self.spread**2 * result)

    def std(self) -> FloatArray:
        """Standard deviation."""
        return np.sqrt(self.var())

    def median(self) -> FloatArray:
        """The value with half of the probability on either side."""
        return self.ppf(0.5)

    def interval(self, confidence: float) -> tuple[FloatArray, FloatArray]:
        """Ends of the central interval that holds a value with this probability."""
        low = self.ppf(0.5 - confidence / 2)
        return low, np.maximum(low, self.ppf(0.5 + confidence / 2))

    def isf(self, q: Any) -> FloatArray:
        """The value above which the probability is q."""
        return self.ppf(1 - np.asarray(q, dtype=np.float64))

    def ppf(self, q: Any) -> FloatArray:
        """The value up to which the probability is q, to about eight digits of q or 1 - q."""
        return self._map_rows(self._ppf, q)

    def _ppf(self, q: FloatArray) -> FloatArray:
        weights = _without_negligible(self.weights, np.minimum(q, 1 - q))
        derivative = "pdf" if self._has_density else None
        parts, stop = list(_parts(weights, self.n_threads)), Event()

        def of_part(part: tuple[slice, sparse.csr_matrix]) -> FloatArray:
            return _quantiles(part[1], self.distribution, q[part[0]], derivative, stop)

        quantiles = map_on_threads(of_part, parts, self.n_threads, stop)
        return self._scale_about_mean(np.concatenate(quantiles), self.spread)

    def rvs(self, size: Any = None, random_state: Any = None) -> FloatArray:
        """Draw values: of shape (n_rows,), or `size`, which ends in n_rows."""
        random = check_random_state(random_state)
        shape = (len(self),) if size is None else tuple(np.atleast_1d(size))
        if shape[-1] != len(self):
            raise ValueError(f"size must end in the number of rows, {len(self)}; got {size!r}.")
        ends = np.cumsum(self.weights.data)
        before = np.append(0.0, ends)[self.weights.indptr]
        drawn = before[:-1] + random.random_sample(shape) * np.diff(before)
        entry = np.searchsorted(ends, drawn, side="right")
        entry = np.clip(entry, self.weights.indptr[:-1], self.weights.indptr[1:] - 1)
        drawn = self.distribution(self.weights.indices[entry].ravel()).rvs(random_state=random)
        return self._scale_about_mean(np.asarray(drawn).reshape(shape), self.spread)


def _parts(weights: sparse.csr_matrix, n_threads: int = 1) -> Any:
    """Some rows at a time, so that what is evaluated fits into memory, and all threads have some."""
    n_rows = weights.shape[0]
    mean = max(1, weights.nnz // max(n_rows, 1))
    step = max(1, min(_ENTRIES // mean, max(_FEW_ENTRIES // mean, -(-n_rows // n_threads))))
    for first in range(0, n_rows, step):
        rows = slice(first, min(first + step, n_rows))
        yield rows, weights[rows]


def _weighted_row_sums(
    weights: sparse.csr_matrix, at: FloatArray, function: Callable[[IntArray, FloatArray], FloatArray]
) -> FloatArray:
    """Weighted sums of function(component, value) by row."""
    result = np.empty(weights.shape[0])
    for rows, part in _parts(weights):
        terms = part.data * function(part.indices, np.repeat(at[rows], np.diff(part.indptr)))
        result[rows] = np.add.reduceat(terms, part.indptr[:-1])
    return result


def _without_negligible(
    weights: sparse.csr_matrix, probability: FloatArray, among: BoolArray | None = None
) -> sparse.csr_matrix:
    """Drop the components, or some `among` them, whose weights are next to nothing beside a probability of each row."""
    n_components = np.diff(weights.indptr)
    keep = weights.data > np.repeat(_NEGLIGIBLE * probability / n_components, n_components)
    if among is not None:
        keep |= ~among[weights.indices]
    start = np.append(0, np.cumsum(keep))[weights.indptr]
    kept = sparse.csr_matrix((weights.data[keep], weights.indices[keep], start), shape=weights.shape)
    kept.data /= np.repeat(np.asarray(kept.sum(axis=1)).ravel(), np.diff(kept.indptr))
    return kept


def _quantiles(
    weights: sparse.csr_matrix,
    distribution: Callable[[IntArray], Any],
    q: FloatArray,
    derivative: str | None,
    stop: Event,
) -> FloatArray:
    """Quantiles of mixtures, one a row; `derivative` names that of the cdf, None where values are whole numbers.

    Once `stop` is set, the search ends early, and its result is of no use.

    A quantile of a mixture lies between those of its components, and near their mean. From there Newton's steps are
    taken, on the log odds, which are straighter than the probability, as long as they stay between the ends that are
    known; every fourth time, and otherwise, half of the floats that are left is ruled out.
    """
    n_components = np.diff(weights.indptr)
    components, of_row = np.unique(weights.indices, return_inverse=True)
    distinct, place = np.unique(q, return_inverse=True)
    frozen = distribution(components)
    quantiles = np.stack([np.asarray(frozen.ppf(level)) for level in distinct])
    ends = quantiles[np.repeat(place, n_components), of_row]
    low = np.minimum.reduceat(ends, weights.indptr[:-1])
    high = np.maximum.reduceat(ends, weights.indptr[:-1])
    middle = np.clip(np.add.reduceat(weights.data * ends, weights.indptr[:-1]), low, high)
    x = np.where(np.isfinite(middle), middle, np.where(np.isfinite(low), low, high))
    active = np.flatnonzero(low < high)
    for turn in range(_MOST_STEPS):
        if len(active) == 0 or stop.is_set():
            break
        if derivative is None:
            x[active] = np.floor(0.5 * low[active] + 0.5 * high[active])
        part = weights[active]
        at = np.repeat(x[active], np.diff(part.indptr))
        frozen = distribution(part.indices)
        excess = np.add.reduceat(part.data * frozen.cdf(at), part.indptr[:-1]) - q[active]
        above = excess >= -1e-13 * q[active]
        high[active] = np.where(above, x[active], high[active])
        if derivative is None:
            low[active] = np.where(above, low[active], x[active] + 1)
            x[active] = high[active]
            active = active[low[active] < high[active]]
            continue
        low[active] = np.where(above, low[active], x[active])
        slope = np.add.reduceat(part.data * getattr(frozen, derivative)(at), part.indptr[:-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(np.isfinite(slope), x[active] - _log_odds_excess(q[active], excess) / slope, np.nan)
        converged = np.abs(excess) <= _NEAR * np.minimum(q[active], 1 - q[active])
        converged |= np.abs(step - x[active]) <= 1e-12 * np.abs(x[active])
        closed = np.nextafter(low[active], high[active]) >= high[active]
        inside = (step > low[active]) & (step < high[active]) & (turn % 4 < 3)
        onwards = np.where(inside, step, _between(low[active], high[active]))
        x[active] = np.where(converged, x[active], np.where(closed, high[active], onwards))
        active = active[~(converged | closed)]
    return x


def _log_odds_excess(q: FloatArray, excess: FloatArray) -> FloatArray:
    """How far the log odds of q + excess are from those of q, in units in which both have the same slope."""
    p = np.clip(q + excess, 0.0, 1.0)
    return np.asarray((np.log1p(excess / q) - np.log1p(-excess / (1 - q))) * p * (1 - p))


def _ordinal(x: FloatArray) -> IntArray:
    """Floats as whole numbers in the same order, without holes."""
    bits = np.ascontiguousarray(x + 0.0).view(np.int64)
    return np.where(bits >= 0, bits, -(bits & np.int64(2**63 - 1)))


def _between(low: FloatArray, high: FloatArray) -> FloatArray:
    """The float with as many floats below it, down to `low`, as above it, up to `high`."""
    ordinal = _ordinal(low) // 2 + _ordinal(high) // 2 + (_ordinal(low) % 2 + _ordinal(high) % 2) // 2
    bits = np.where(ordinal >= 0, ordinal, -ordinal | np.int64(-(2**63)))
    return np.ascontiguousarray(bits).view(np.float64)
