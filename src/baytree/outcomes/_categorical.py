"""Class labels with a Dirichlet prior.

A leaf with prior alpha and (weighted) class counts n has the posterior Dirichlet(alpha + n). The
probability of class c has mean (alpha_c + n_c) / sum(alpha + n) and marginal distribution
Beta(alpha_c + n_c, rest).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import special

from .. import _core
from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_positive_array, check_real, short_repr
from ..decision import Decision
from ._base import FixedPointOutcome, PriorSearch
from ._calibration import Calibration, average_dirichlet
from ._forest_calibration import ForestCalibration
from ._grids import Grids, SampleSize
from ._search import most_probable
from ._target import Target

PAPER_PSEUDO_OBSERVATIONS = 20.0
DEFAULT_PSEUDO_OBSERVATIONS = 2.0
_MOST_CLASSES = 2**16
_STRONGEST = 1e9  # pseudo-observations; the log-gamma of more has no digits left for single rows


@dataclass(frozen=True)
class ClassOptions:
    """The number of classes, and their labels."""

    n_classes: int
    classes: AnyArray | None = None  # their labels, for a prior that is given by label


@dataclass(frozen=True)
class CategoricalOutcome(FixedPointOutcome):
    """The number of classes and their prior at the root; the target holds class codes.

    With `rates`, the leaves are calibrated: `points` holds a discount, a strength and its share in each row. With
    `intercepts`, the averages of a forest are calibrated.
    """

    prior: FloatArray
    classes: AnyArray | None = None
    rates: FloatArray | None = None
    points: FloatArray | None = None
    exponent: float = 1.0
    intercepts: FloatArray | None = None

    name = "categorical"
    forest_factor = 4.0  # calibration takes back what deeper trees are too sure or too cautious of

    @property
    def family(self) -> str:
        """Beta of two classes, Dirichlet of others."""
        return "Beta" if len(self.prior) == 2 else "Dirichlet"

    @property
    def n_statistics(self) -> int:
        """A weight a class."""
        return len(self.prior)

    @property
    def predicts_classes(self) -> bool:
        """Always."""
        return True

    @property
    def posterior_names(self) -> tuple[str, ...]:
        """A parameter a class."""
        return self.class_names

    @property
    def estimate_names(self) -> tuple[str, ...]:  # type: ignore[override]
        """A probability a class."""
        return self.class_names

    def value_names(self, n_values: int) -> list[str]:  # noqa: ARG002
        """``probability_<label>``."""
        return [f"probability_{name}" for name in self.class_names]

    def predict(self, mean: FloatArray, decision: Decision) -> AnyArray:
        """The class that is decided on."""
        codes = decision.codes(mean)
        return codes if self.classes is None else self.classes[codes]

    def of_average(self, mean: FloatArray) -> FloatArray:
        """Probabilities that sum to one; those of a forest are calibrated."""
        if self.intercepts is None:
            return mean / mean.sum(axis=1, keepdims=True)
        return self.forest_calibration.probabilities(mean)

    def intervals(self, posterior: FloatArray, quantiles: FloatArray) -> FloatArray:
        """Quantiles of each class probability."""
        return self.quantiles(posterior, quantiles)

    def estimates(self, mean: FloatArray) -> FloatArray:
        """The class probabilities."""
        return mean

    @classmethod
    def of(cls, target: Target, prior: Any, options: ClassOptions | None = None) -> Self:
        """Read the `prior` parameter: None for so many in all, one alpha for every class, or an alpha per class."""
        options = options or ClassOptions(int(target.y.max()) + 1)
        n = options.n_classes
        if n > _MOST_CLASSES:
            raise ValueError(f"y has {n} classes, at most {_MOST_CLASSES} are possible: is it a regression target?")
        if prior is None:
            return cls(np.full(n, DEFAULT_PSEUDO_OBSERVATIONS / n), options.classes)
        if isinstance(prior, str) and prior == "paper":
            return cls(np.full(n, PAPER_PSEUDO_OBSERVATIONS / n), options.classes)
        if isinstance(prior, str):
            raise ValueError(
                f"prior must be None, a number, one number per class, 'paper' or 'evidence'; got {short_repr(prior)}."
            )
        if isinstance(prior, dict):
            prior = _prior_by_label(prior, options.classes)
        if isinstance(prior, Real) and not isinstance(prior, bool):
            alphas = np.full(n, check_real("prior", prior, low=0))
        else:
            alphas = check_positive_array("prior", prior, length=n, one_per=f"class in y ({n} of them)")
        with np.errstate(over="ignore"):
            strength = float(alphas.sum())
        if strength > _STRONGEST:
            raise ValueError(
                f"prior counts as {strength:g} rows, beside which float64 cannot see those of X: make it at most "
                f"{_STRONGEST:g} in all."
            )
        return cls(alphas, options.classes)

    def most_probable(self, target: Target, search: PriorSearch) -> Self:  # noqa: ARG002
        """Evenly spread pseudo-observations, from a fifth of one to two hundred in all."""
        return most_probable(0.2, 200.0, self._with_pseudo_observations, search.log_evidence)

    def _with_pseudo_observations(self, total: float) -> Self:
        return replace(self, prior=np.full(len(self.prior), total / len(self.prior)))

    def to_core(self, target: Target) -> _core.CategoricalCounts | _core.CategoricalWeights:
        """The rows' classes; whole weights stay whole numbers."""
        weight = target.weight
        whole = weight is None or np.array_equal(weight, np.rint(weight))
        return self._classes(
            target.y, weight, counts=whole and SampleSize(len(target.y), target.total_weight()).is_small
        )

    def _classes(
        self, y: AnyArray, weight: FloatArray | None, *, counts: bool
    ) -> _core.CategoricalCounts | _core.CategoricalWeights:
        """Tables of log-gamma grow with the sum of the weights; beyond some size real arithmetic is cheaper."""
        n_classes = len(self.prior)
        if counts:
            whole = None if weight is None else weight.astype(np.uint32)
            return _core.CategoricalCounts(y.astype(np.uint16), whole, n_classes)
        return _core.CategoricalWeights(y.astype(np.uint16), weight, n_classes)

    @classmethod
    def fixed_point_rows(cls, target: Target) -> list[IntArray]:
        """Classes."""
        return [target.y.astype(np.int64)]

    def fixed_point_core(
        self, numbers: list[IntArray], weight: IntArray | None, grids: Grids, sample_size: SampleSize
    ) -> _core.CategoricalCounts | _core.CategoricalWeights:
        """The rows' classes."""
        weights = None if weight is None or grids.weight is None else grids.weight.value(weight)
        return self._classes(numbers[0], weights, counts=grids.whole_weights and sample_size.is_small)

    def statistics_of_sums(self, sums: AnyArray, grids: Grids) -> FloatArray:
        """The weight of each class."""
        return np.asarray(sums.astype(np.float64) * grids.weight_unit)

    @classmethod
    def summary(cls, totals: list[int], grids: Grids) -> Target:  # noqa: ARG003
        """The prior does not depend on the rows."""
        return Target(np.zeros(1, dtype=np.int64), grids=grids)

    def statistics(self, target: Target) -> FloatArray:
        """One column a class."""
        return np.eye(len(self.prior))[target.y]

    def weights(self, statistics: FloatArray) -> FloatArray:
        """The classes' weights together."""
        return np.asarray(statistics.sum(axis=1))

    def update(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Add the counts."""
        return prior + statistics

    def calibrated(self, posterior: FloatArray) -> FloatArray:
        """Discount the counts, and draw them to the overall rates."""
        if self.rates is None or self.points is None:
            return posterior
        return average_dirichlet(self.points, self.rates, posterior - self.prior)

    @property
    def calibration(self) -> Calibration:
        """The discount, the strength and the rates; without calibration those of the prior."""
        if self.rates is not None and self.points is not None:
            discount, strength, share = self.points.T
            return Calibration(float(share @ discount), float(np.exp(share @ np.log(strength))), self.rates)
        strength = float(self.prior.sum())
        return Calibration(1.0, strength, self.prior / strength)

    @property
    def forest_calibration(self) -> ForestCalibration:
        """The exponent and the intercepts of averages over the trees of a forest."""
        intercepts = np.zeros(len(self.prior)) if self.intercepts is None else self.intercepts
        return ForestCalibration(self.exponent, intercepts)

    def of_single_tree(self) -> Self:
        """The outcome without the exponent and the intercepts of a forest."""
        return replace(self, exponent=1.0, intercepts=None)

    def expected_entropy(self, posterior: FloatArray) -> FloatArray:
        """The entropy of class probabilities drawn from the posterior, on average, in nats."""
        total = posterior.sum(axis=1)
        terms = posterior / total[:, None] * special.digamma(posterior + 1)
        return np.asarray(special.digamma(total + 1) - terms.sum(axis=1))

    def log_marginal(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Dirichlet-multinomial likelihood of the labels in their order."""
        by_class = special.gammaln(prior + statistics) - special.gammaln(prior)
        total = special.gammaln(prior.sum(axis=-1) + statistics.sum(axis=-1)) - special.gammaln(prior.sum(axis=-1))
        return np.asarray(by_class.sum(axis=-1) - total)

    def log_ceiling(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """The log likelihood of one leaf for each class: equal labels are more probable together than apart."""
        strength = prior.sum(axis=-1, keepdims=True)
        of_class = special.gammaln(prior + statistics) - special.gammaln(prior)
        of_leaf = special.gammaln(strength + statistics) - special.gammaln(strength)
        return np.asarray((of_class - of_leaf).sum(axis=-1))

    def mean(self, posterior: FloatArray) -> FloatArray:
        """Expected class probabilities."""
        return np.asarray(posterior / posterior.sum(axis=1, keepdims=True))

    def quantiles(self, posterior: FloatArray, quantiles: AnyArray) -> FloatArray:
        """Quantiles of each class probability, shape (n, n_classes, n_quantiles)."""
        if posterior.shape[1] == 1:
            return np.ones((len(posterior), 1, len(quantiles)))
        rest = posterior.sum(axis=1, keepdims=True) - posterior
        values = special.betaincinv(posterior[..., None], rest[..., None], quantiles)
        # Where float64 cannot tell a probability from 0 or 1 there is no inverse; its mean is that 0 or 1.
        return np.where(np.isnan(values), self.mean(posterior)[..., None], values)

    @staticmethod
    def class_distribution(position: int, posterior: FloatArray) -> Betas:
        """The distribution of the probability of one class under each of some posteriors."""
        return Betas(posterior[:, position], posterior.sum(axis=1) - posterior[:, position])

    def state(self) -> dict[str, Any]:
        """The prior, the labels and the calibration."""
        names = ("prior", "classes", "rates", "points", "exponent", "intercepts")
        return {name: getattr(self, name) for name in names}


def _prior_by_label(prior: dict[Any, Any], classes: AnyArray | None) -> list[Any]:
    """A prior that is given by class label, in the order of the classes."""
    labels = [] if classes is None else classes.tolist()
    for label in prior:
        if label not in labels:
            raise ValueError(
                f"prior names the class {short_repr(label)}, which is not one of the classes {short_repr(labels)}."
            )
    for label in labels:
        if label not in prior:
            raise ValueError(
                f"prior lacks the class {short_repr(label)}: give a number for each of {short_repr(labels)}."
            )
    return [prior[label] for label in labels]


class Betas:
    """Beta distributions; scipy.stats' own take several times as long."""

    def __init__(self, a: FloatArray, b: FloatArray) -> None:
        self.a, self.b = a, b

    def cdf(self, x: FloatArray) -> FloatArray:
        """Probability up to x."""
        return np.asarray(special.betainc(self.a, self.b, x))

    def pdf(self, x: FloatArray) -> FloatArray:
        """Density."""
        logs = special.xlogy(self.a - 1, x) + special.xlog1py(self.b - 1, -x) - special.betaln(self.a, self.b)
        return np.exp(logs)

    def ppf(self, q: float) -> FloatArray:
        """Quantile; where float64 cannot tell it from 0 or 1, the mean is that 0 or 1."""
        values = special.betaincinv(self.a, self.b, q)
        return np.where(np.isnan(values), self.a / (self.a + self.b), values)
