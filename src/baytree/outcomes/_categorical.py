"""Class labels with a Dirichlet prior.

A leaf with prior alpha and (weighted) class counts n has the posterior Dirichlet(alpha + n). The
probability of class c has mean (alpha_c + n_c) / sum(alpha + n) and marginal distribution
Beta(alpha_c + n_c, rest).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import special

from .. import _core
from .._typing import AnyArray, FloatArray
from .._validation import check_positive_array, check_real

DEFAULT_PSEUDO_OBSERVATIONS = 20.0
_MOST_CLASSES = 2**16


@dataclass(frozen=True)
class CategoricalOutcome:
    """The classes of a table and their prior at the root."""

    classes: AnyArray
    prior: FloatArray

    @classmethod
    def of(cls, classes: AnyArray, prior: Any) -> CategoricalOutcome:
        """Read the `prior` parameter: None, one alpha for every class, or an alpha per class."""
        n = len(classes)
        if n > _MOST_CLASSES:
            raise ValueError(f"y has {n} classes, at most {_MOST_CLASSES} are possible: is it a regression target?")
        if prior is None:
            return cls(classes, np.full(n, DEFAULT_PSEUDO_OBSERVATIONS / n))
        if isinstance(prior, Real):
            return cls(classes, np.full(n, check_real("prior", prior, low=0)))
        if isinstance(prior, str):
            raise ValueError(f"prior must be None, a number or one number per class; got {prior!r}.")
        return cls(classes, check_positive_array("prior", prior, length=n, one_per=f"class in y ({n} of them)"))

    def to_core(self, codes: AnyArray, weight: FloatArray | None) -> _core.CategoricalCounts | _core.CategoricalWeights:
        """Return the rows' classes in the compiled core's form; whole weights stay whole numbers."""
        y = codes.astype(np.uint16)
        n_classes = len(self.classes)
        if weight is None:
            return _core.CategoricalCounts(y, None, n_classes)
        # Tables of log-gamma grow with the sum of the weights; beyond this real arithmetic is cheaper.
        if weight.sum() <= max(2**20, 8 * len(weight)) and np.array_equal(weight, np.rint(weight)):
            return _core.CategoricalCounts(y, weight.astype(np.uint32), n_classes)
        return _core.CategoricalWeights(y, weight, n_classes)

    @staticmethod
    def mean(posterior: FloatArray) -> FloatArray:
        """Expected class probabilities."""
        return posterior / posterior.sum(axis=1, keepdims=True)

    @staticmethod
    def quantiles(posterior: FloatArray, quantiles: FloatArray) -> FloatArray:
        """Quantiles of each class probability, shape (n, n_classes, n_quantiles)."""
        rest = posterior.sum(axis=1, keepdims=True) - posterior
        if posterior.shape[1] == 1:
            return np.ones((len(posterior), 1, len(quantiles)))
        return np.asarray(special.betaincinv(posterior[..., None], rest[..., None], quantiles))
