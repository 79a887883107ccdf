"""Class labels with a Dirichlet prior.

A leaf with prior alpha and (weighted) class counts n has the posterior Dirichlet(alpha + n). The
probability of class c has mean (alpha_c + n_c) / sum(alpha + n) and marginal distribution
Beta(alpha_c + n_c, rest).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import special

from .. import _core
from .._typing import AnyArray, FloatArray
from .._validation import check_positive_array, check_real, shown
from ._base import Outcome, Target

DEFAULT_PSEUDO_OBSERVATIONS = 20.0
_CANDIDATE_PSEUDO_OBSERVATIONS = (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
_MOST_CLASSES = 2**16


@dataclass(frozen=True)
class CategoricalOutcome(Outcome):
    """The number of classes and their prior at the root; the target holds class codes."""

    prior: FloatArray

    name = "categorical"

    @property
    def family(self) -> str:
        """Beta of two classes, Dirichlet of others."""
        return "Beta" if len(self.prior) == 2 else "Dirichlet"

    @classmethod
    def of(
        cls,
        target: Target,
        prior: Any,
        n_classes: int | None = None,
        pseudo_observations: float = DEFAULT_PSEUDO_OBSERVATIONS,
    ) -> Self:
        """Read the `prior` parameter: None for so many in all, one alpha for every class, or an alpha per class."""
        n = int(target.y.max()) + 1 if n_classes is None else n_classes
        if n > _MOST_CLASSES:
            raise ValueError(f"y has {n} classes, at most {_MOST_CLASSES} are possible: is it a regression target?")
        if prior is None:
            return cls(np.full(n, pseudo_observations / n))
        if isinstance(prior, Real) and not isinstance(prior, bool):
            each = np.full(n, check_real("prior", prior, low=0))
            return cls(check_positive_array("prior", each, length=n, one_per="class"))
        if isinstance(prior, str):
            raise ValueError(f"prior must be None, a number, one number per class or 'evidence'; got {shown(prior)}.")
        return cls(check_positive_array("prior", prior, length=n, one_per=f"class in y ({n} of them)"))

    def candidates(self, target: Target) -> Iterator[Self]:  # noqa: ARG002
        """Evenly spread pseudo-observations, from half of one to a hundred in all."""
        n = len(self.prior)
        for total in _CANDIDATE_PSEUDO_OBSERVATIONS:
            yield replace(self, prior=np.full(n, total / n))

    def to_core(self, target: Target) -> _core.CategoricalCounts | _core.CategoricalWeights:
        """The rows' classes; whole weights stay whole numbers."""
        y, weight = target.y.astype(np.uint16), target.weight
        n_classes = len(self.prior)
        if weight is None:
            return _core.CategoricalCounts(y, None, n_classes)
        # Tables of log-gamma grow with the sum of the weights; beyond this real arithmetic is cheaper.
        if weight.sum() <= max(2**20, 8 * len(weight)) and np.array_equal(weight, np.rint(weight)):
            return _core.CategoricalCounts(y, weight.astype(np.uint32), n_classes)
        return _core.CategoricalWeights(y, weight, n_classes)

    def statistics(self, target: Target) -> FloatArray:
        """One column a class."""
        return np.eye(len(self.prior))[target.y]

    def weights(self, statistics: FloatArray) -> FloatArray:
        """The classes' weights together."""
        return np.asarray(statistics.sum(axis=1))

    def update(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Add the counts."""
        return prior + statistics

    def log_marginal(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Dirichlet-multinomial likelihood of the labels in their order."""
        by_class = special.gammaln(prior + statistics) - special.gammaln(prior)
        total = special.gammaln(prior.sum(axis=-1) + statistics.sum(axis=-1)) - special.gammaln(prior.sum(axis=-1))
        return np.asarray(by_class.sum(axis=-1) - total)

    def log_ceiling(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """That of one leaf for each class: labels that are alike say more together than apart."""
        n_classes = statistics.shape[1]
        return np.sum([self.log_marginal(prior, statistics * np.eye(n_classes)[c]) for c in range(n_classes)], axis=0)

    def mean(self, posterior: FloatArray) -> FloatArray:
        """Expected class probabilities."""
        return np.asarray(posterior / posterior.sum(axis=1, keepdims=True))

    def quantiles(self, posterior: FloatArray, quantiles: AnyArray) -> FloatArray:
        """Quantiles of each class probability, shape (n, n_classes, n_quantiles)."""
        if posterior.shape[1] == 1:
            return np.ones((len(posterior), 1, len(quantiles)))
        rest = posterior.sum(axis=1, keepdims=True) - posterior
        found = special.betaincinv(posterior[..., None], rest[..., None], quantiles)
        # Where float64 cannot tell a probability from 0 or 1 there is no inverse; its mean is that 0 or 1.
        return np.where(np.isnan(found), self.mean(posterior)[..., None], found)

    def state(self) -> dict[str, Any]:
        """The prior."""
        return {"prior": self.prior}
