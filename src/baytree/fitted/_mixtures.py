"""Distributions of outcomes, and mixtures of them: one a row, over the nodes that a row may end in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from .._typing import FloatArray, IntArray
from ..mixtures import Mixture
from ..outcomes import CategoricalOutcome, Outcome, RealOutcome

_METHOD = {"outcome": "distribution", "mean": "mean_distribution"}


def class_outcome(outcome: Outcome) -> CategoricalOutcome:
    """The outcome of a classifier."""
    if not isinstance(outcome, CategoricalOutcome):
        raise TypeError(f"The outcome {outcome.name!r} has no classes.")
    return outcome


def real_outcome(outcome: Outcome) -> RealOutcome:
    """The outcome of a regressor."""
    if not isinstance(outcome, RealOutcome):
        raise TypeError(f"The outcome {outcome.name!r} is not a number.")
    return outcome


def has_distribution(outcome: Outcome, kind: str) -> bool:
    """Whether an outcome, or its mean, has a distribution: classes have none, one of the user's own need not."""
    return isinstance(outcome, RealOutcome) and outcome.has(_METHOD[kind])


def distribution_of(outcome: Outcome, kind: str) -> Callable[[FloatArray], Any]:
    """The function that makes the distribution of the outcome, or of its mean, from posteriors."""
    real = real_outcome(outcome)
    return real.distribution if kind == "outcome" else real.mean_distribution


def cdf_of_mixture(
    weights: sparse.csr_matrix, parameters: FloatArray
) -> Callable[[RealOutcome, FloatArray], FloatArray]:
    """The distribution functions of mixtures, one a row, of an outcome and at values that are given later."""
    entries = weights.tocoo()
    parameters = parameters[entries.col]

    def cdf(outcome: RealOutcome, y: FloatArray) -> FloatArray:
        values = entries.data * outcome.cdf(parameters, y[entries.row])
        return np.bincount(entries.row, weights=values, minlength=len(y)).astype(np.float64)

    return cdf


def class_quantiles(
    outcome: CategoricalOutcome,
    weights: sparse.csr_matrix,
    parameters: FloatArray,
    quantiles: FloatArray,
    n_threads: int = 1,
) -> FloatArray:
    """Quantiles of class probabilities, each a mixture over components; (n_rows, n_classes, n_quantiles)."""
    n_classes = parameters.shape[1]
    result = np.ones((weights.shape[0], n_classes, len(quantiles)))
    for c in range(n_classes) if n_classes > 1 else ():
        components = partial(component_distribution, partial(outcome.class_distribution, c), parameters)
        of_class = Mixture(weights, components, n_threads=n_threads)
        for k, q in enumerate(quantiles):
            result[:, c, k] = of_class.ppf(q)
    return sort_quantiles(result, quantiles)


def component_distribution(make: Callable[[FloatArray], Any], parameters: FloatArray, components: IntArray) -> Any:
    """The distribution of some components."""
    return make(parameters[components])


def sort_quantiles(values: FloatArray, quantiles: FloatArray) -> FloatArray:
    """Take out of quantiles, which lie in the last axis, what rounding may have put in the wrong order."""
    order = np.argsort(quantiles, kind="stable")
    result = np.empty_like(values)
    result[..., order] = np.maximum.accumulate(values[..., order], axis=-1)
    return result
