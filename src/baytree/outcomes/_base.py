"""The base classes of outcomes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from .._validation import short_repr
from ..decision import Decision
from ._grids import Grids, SampleSize, integer_weight, sum_of_products
from ._target import Extra, Target


class PriorSearch(Protocol):
    """A search for the prior with the highest evidence, by growing trees."""

    def log_evidence(self, outcome: Outcome) -> float:
        """Log probability of the rows, over the tree that they grow and its prunings."""

    def log_evidence_by_halves(self, outcome: Outcome) -> float:
        """Log probability of each half of the rows given the tree of the other: noise cannot hide in it."""

    def leaves(self, outcome: Outcome) -> tuple[FloatArray, FloatArray]:
        """Prior and posterior of the leaves of the tree that the rows grow."""


class Outcome(ABC):
    """A likelihood with its conjugate prior: statistics in, posteriors and predictions out.

    Statistics of a set of rows are the (weighted) sums of the rows' statistics. Parameters of priors and
    posteriors come one set a row; `prior` holds those of the root.

    What an outcome takes is declared here, and read by estimators, command line, report and tests alike.
    """

    name: ClassVar[str]
    parameter_names: ClassVar[tuple[str, ...]] = ()  # of its prior and posterior
    any_sign: ClassVar[tuple[str, ...]] = ()  # those of them that need not be positive
    extras: ClassVar[tuple[Extra, ...]] = ()  # what it takes of every row beside y
    options: ClassVar[type | None] = None  # a class of parameters of its own, which `outcome=` may be one of
    positive_only: ClassVar[bool] = False  # y
    counts: ClassVar[bool] = False  # y is a count
    from_zero: ClassVar[bool] = True  # y has a natural zero
    has_factor: ClassVar[bool] = False  # the likelihood has a factor that no partition changes
    forest_factor: ClassVar[float] = 2.0  # on the weights of rows while a tree of a forest grows: docs/forest.md
    prior: FloatArray
    classes: AnyArray | None = None  # labels, where a class is predicted
    estimate_names: tuple[str, ...] = ("mean", "outcome")  # of what `intervals` are of

    @property
    def family(self) -> str:
        """The name of the posterior's distribution."""
        return "posterior"

    @property
    def predicts_classes(self) -> bool:
        """Whether a class is predicted, not a number."""
        return self.classes is not None

    @property
    def labels(self) -> AnyArray:
        """The class labels; none where numbers are predicted."""
        return np.zeros(0) if self.classes is None else self.classes

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes as text; none where numbers are predicted."""
        return tuple(str(label) for label in self.labels)

    @property
    def posterior_names(self) -> tuple[str, ...]:
        """Names of the posterior's parameters."""
        return self.parameter_names or tuple(f"p{i}" for i in range(len(self.prior)))

    def value_names(self, n_values: int) -> list[str]:
        """Names of the expected outcomes: ``mean``, or numbered where an outcome of the user's own has several."""
        return ["mean"] if n_values == 1 else [f"mean_{i}" for i in range(n_values)]

    def predict(self, mean: FloatArray, decision: Decision) -> AnyArray:  # noqa: ARG002
        """The prediction, given expected outcomes: the number, or the class that the decision rule chooses."""
        return mean[:, 0] if mean.shape[1] == 1 else mean

    def of_average(self, mean: FloatArray) -> FloatArray:
        """The prediction of a model whose trees have this weighted average of expected outcomes, shape (n, n_values).

        Probabilities lose what rounding did to their sum, and those of a forest are calibrated.
        """
        return mean

    def intervals(self, posterior: FloatArray, quantiles: FloatArray) -> FloatArray:
        """Quantiles of what `estimate_names` are of, (n, n_names, n_quantiles); NaN where there is no distribution."""
        return np.full((len(posterior), len(self.estimate_names), len(quantiles)), np.nan)

    def estimates(self, mean: FloatArray) -> FloatArray:
        """Expected outcomes by `estimate_names`."""
        return np.repeat(mean[:, :1], len(self.estimate_names), axis=1)

    @classmethod
    @abstractmethod
    def of(cls, target: Target, prior: Any, options: Any = None) -> Self:
        """Check a target and the `prior` parameter, and set the prior from the target where it is None."""

    @abstractmethod
    def most_probable(self, target: Target, search: PriorSearch) -> Self:
        """Return the outcome with the prior of highest evidence."""

    @classmethod
    def settle(cls, target: Target, prior: Any, options: Any, search: PriorSearch) -> Self:
        """The outcome whose prior was given, was set from the target, or has the highest evidence."""
        if asks_for_evidence(prior):
            return cls.of(target, None, options).most_probable(target, search)
        return cls.of(target, prior, options)

    @abstractmethod
    def to_core(self, target: Target) -> Any:
        """The rows in the compiled core's form."""

    @abstractmethod
    def statistics(self, target: Target) -> FloatArray:
        """Statistics of each row, without its weight; the first is 1 (class labels: one column a class)."""

    @abstractmethod
    def update(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Posterior of sets of rows with these statistics."""

    def calibrated(self, posterior: FloatArray) -> FloatArray:
        """The parameters that predictions use, given those of the conjugate posterior."""
        return posterior

    def of_single_tree(self) -> Self:
        """The outcome of a tree that is not part of a forest: without the calibration of averages over trees."""
        return self

    @abstractmethod
    def log_marginal(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Log marginal likelihood of sets of rows with these statistics."""

    def log_ceiling(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:  # noqa: ARG002
        """The most that the log likelihood of sets of rows can reach in any tree; inf where no bound is known."""
        return np.full(len(statistics), np.inf)

    @abstractmethod
    def mean(self, posterior: FloatArray) -> FloatArray:
        """Expected outcome, shape (n, n_values)."""

    def core_prior(self) -> FloatArray:
        """The root's prior in the units of `to_core`."""
        return self.prior

    def prior_from_core(self, prior: FloatArray) -> FloatArray:
        """Priors in the units of the target, from those of `to_core`."""
        return prior

    def log_likelihood_from_core(self, log_likelihood: FloatArray, statistics: FloatArray) -> FloatArray:  # noqa: ARG002
        """Log likelihoods of sets of rows in the units of the target, from those of `to_core`."""
        return log_likelihood

    def weights(self, statistics: FloatArray) -> FloatArray:
        """Total weight of sets of rows with these statistics."""
        return statistics[:, 0]

    def sum_statistics(self, target: Target, group: IntArray, n_groups: int) -> FloatArray:
        """Sum the rows' statistics by group."""
        rows = self.statistics(target)
        if target.weight is not None:
            rows = rows * target.weight[:, None]
        result = np.zeros((n_groups, rows.shape[1]))
        np.add.at(result, group, rows)
        return result

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """The arguments with which ``type(outcome)(**state)`` restores the outcome from a model file."""


class RealOutcome(Outcome):
    """An outcome that is a number, with a predictive distribution."""

    has_spread: ClassVar[bool] = False  # the width of its predictive distribution is free
    spread: float = 1.0  # times which the predictive distribution is as wide as the leaves alone make it

    def intervals(self, posterior: FloatArray, quantiles: FloatArray) -> FloatArray:
        """Quantiles of the mean and of the outcome."""
        result = np.full((len(posterior), 2, len(quantiles)), np.nan)
        for k, name in enumerate(("mean_distribution", "distribution")):
            if self.has(name):
                frozen = getattr(self, name)(posterior)
                result[:, k] = np.stack([frozen.ppf(q) for q in quantiles], axis=-1)
        return result

    @abstractmethod
    def distribution(self, posterior: FloatArray) -> Any:
        """Predictive distribution of the outcome: a frozen scipy.stats distribution."""

    def cdf(self, posterior: FloatArray, y: FloatArray) -> FloatArray:
        """The predictive distribution function at y."""
        return np.asarray(self.distribution(posterior).cdf(y))

    @abstractmethod
    def mean_distribution(self, posterior: FloatArray) -> Any:
        """Posterior distribution of the outcome's mean."""

    def with_spread(self, spread: float) -> Self:  # noqa: ARG002
        """Widen the predictive distribution by a factor; returns itself where the width is not free."""
        return self

    def least_spread(self, target: Target, level: float) -> float:  # noqa: ARG002
        """The least factor with which intervals of `level` hold for rows as few as these, if all are alike."""
        return 1.0

    def has(self, distribution: str) -> bool:  # noqa: ARG002
        """Whether the outcome has `distribution` or `mean_distribution`, given by name."""
        return True

    def std(self, posterior: FloatArray) -> FloatArray:
        """Standard deviation of the predictive distribution."""
        return np.asarray(self.distribution(posterior).std())


class FixedPointOutcome(Outcome):
    """An outcome whose statistics are sums of whole numbers, so that they are the same wherever the rows are."""

    @property
    @abstractmethod
    def n_statistics(self) -> int:
        """Number of statistics of a set of rows."""

    @classmethod
    @abstractmethod
    def fixed_point_rows(cls, target: Target) -> list[IntArray]:
        """The whole numbers from which the statistics of each row follow, for a target on grids."""

    def fixed_point_factor(self, target: Target) -> IntArray | None:  # noqa: ARG002
        """The log of the factor that no partition changes, in whole numbers; None: there is none."""
        return None

    def factor_unit(self, grids: Grids) -> float:
        """The unit of `fixed_point_factor`."""
        return grids.factor_unit()

    @abstractmethod
    def fixed_point_core(
        self, numbers: list[IntArray], weight: IntArray | None, grids: Grids, sample_size: SampleSize
    ) -> Any:
        """The compiled core's form of rows with these whole numbers, the factor behind the others.

        Rows outside memory are empty arrays here; `sample_size` is that of all rows.
        """

    @abstractmethod
    def statistics_of_sums(self, sums: AnyArray, grids: Grids) -> FloatArray:
        """Statistics of sets of rows from the sums of their whole numbers, as the compiled core converts them."""

    @classmethod
    @abstractmethod
    def summary(cls, totals: list[int], grids: Grids) -> Target:
        """A few rows from which `of` sets the prior that all rows have, by `totals_of` them."""

    @classmethod
    def totals_of(cls, target: Target) -> list[int]:
        """Sums over the rows of their weights and weighted whole numbers; of a single number also of its square."""
        return cls.totals(cls.fixed_point_rows(target), integer_weight(target))

    @staticmethod
    def totals(rows: list[IntArray], weight: IntArray) -> list[int]:
        """Sum whole numbers of rows and their weights, as `totals_of` does for a target."""
        sums = [sum_of_products(weight), *(sum_of_products(weight, column) for column in rows)]
        return [*sums, sum_of_products(weight, rows[0], rows[0])] if len(rows) == 1 else sums

    def _from_grids(self, target: Target, grids: Grids) -> Any:
        """The compiled core's form of a target on grids."""
        factor = self.fixed_point_factor(target)
        numbers = [*self.fixed_point_rows(target), *([] if factor is None else [factor])]
        weight = None if target.weight is None else integer_weight(target)
        return self.fixed_point_core(numbers, weight, grids, SampleSize(len(target.y), target.total_weight()))


def fixed_point_outcome(outcome: Outcome) -> FixedPointOutcome:
    """Return the outcome as one with whole-number statistics; refuse a user-defined outcome, which has none."""
    if not isinstance(outcome, FixedPointOutcome):
        raise TypeError(f"The outcome {outcome.name!r} is no sum of whole numbers.")
    return outcome


def asks_for_evidence(prior: Any) -> bool:
    """Whether the `prior` parameter leaves the choice to the evidence."""
    return isinstance(prior, str) and prior == "evidence"


def read_parameters(prior: Any, outcome: type[Outcome]) -> FloatArray:
    """Read a prior given as its parameters."""
    names, any_sign = outcome.parameter_names, outcome.any_sign
    wanted = f"parameter ({', '.join(names)})"
    if isinstance(prior, str):
        raise ValueError(f"prior must be None, 'evidence' or one number per {wanted}; got {short_repr(prior)}.")
    try:
        values = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(
            f"prior must be None, 'evidence' or one number per {wanted}; got {short_repr(prior)}."
        ) from None
    free = np.array([name in any_sign for name in names])
    if values.shape == (len(names),) and not np.all(np.isfinite(values[free])):
        raise ValueError(f"prior must be finite throughout; got {short_repr(prior)}.")
    if values.shape != (len(names),):
        raise ValueError(f"prior must hold one number per {wanted}; got shape {values.shape}.")
    with np.errstate(over="ignore"):
        if not np.all(values[~free] > 0) or not np.isfinite(values[~free].sum()):
            raise ValueError(
                f"prior must be positive and finite in {_names_without(names, any_sign)}; got {short_repr(prior)}."
            )
    return values


def _names_without(names: tuple[str, ...], left_out: tuple[str, ...]) -> str:
    return ", ".join(name for name in names if name not in left_out)
