"""What every outcome has."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from .._validation import check_positive_array, shown


@dataclass(frozen=True)
class Target:
    """The outcomes of some rows, with whatever belongs to them."""

    y: AnyArray
    weight: FloatArray | None = None
    exposure: FloatArray | None = None
    event: FloatArray | None = None

    def take(self, rows: AnyArray) -> Target:
        """The same of some rows."""

        def of(part: FloatArray | None) -> FloatArray | None:
            return None if part is None else part[rows]

        return Target(self.y[rows], of(self.weight), of(self.exposure), of(self.event))

    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(len(self.y) if self.weight is None else self.weight.sum())


class Outcome(ABC):
    """A likelihood with its conjugate prior: statistics in, posteriors and predictions out.

    Statistics of a set of rows are the (weighted) sums of the rows' statistics. Parameters of priors and
    posteriors come one set a row; `prior` holds those of the root.
    """

    name: ClassVar[str]
    parameter_names: ClassVar[tuple[str, ...]] = ()
    prior: FloatArray

    @property
    def family(self) -> str:
        """The name of the posterior's distribution."""
        return "posterior"

    @classmethod
    @abstractmethod
    def of(cls, target: Target, prior: Any) -> Self:
        """Check a target and the `prior` parameter, and set the prior from the target where it is None."""

    @abstractmethod
    def candidates(self, target: Target) -> Iterator[Self]:
        """The same outcome with priors of other strengths, for the evidence to choose from."""

    @abstractmethod
    def to_core(self, target: Target) -> Any:
        """The rows in the compiled core's form."""

    @abstractmethod
    def statistics(self, target: Target) -> FloatArray:
        """Statistics of each row, without its weight; the first is 1 (class labels: one column a class)."""

    @abstractmethod
    def update(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Posterior of sets of rows with these statistics."""

    @abstractmethod
    def log_marginal(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Log marginal likelihood of sets of rows with these statistics."""

    def log_ceiling(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:  # noqa: ARG002
        """The most that the log likelihood of sets of rows can reach in any tree; inf where nobody knows."""
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

    def log_likelihood_from_core(self, log_likelihood: FloatArray, weight: FloatArray) -> FloatArray:  # noqa: ARG002
        """Log likelihoods in the units of the target, from those of `to_core`."""
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
        """What a model file must hold to bring the outcome back by ``type(outcome)(**state)``."""


class RealOutcome(Outcome):
    """An outcome that is a number, with a predictive distribution."""

    @abstractmethod
    def distribution(self, posterior: FloatArray) -> Any:
        """Predictive distribution of the outcome: a frozen scipy.stats distribution."""

    @abstractmethod
    def mean_distribution(self, posterior: FloatArray) -> Any:
        """Posterior distribution of the outcome's mean."""

    def has(self, distribution: str) -> bool:  # noqa: ARG002
        """Whether the outcome knows one of the two."""
        return True

    def std(self, posterior: FloatArray) -> FloatArray:
        """Standard deviation of the predictive distribution."""
        return np.asarray(self.distribution(posterior).std())


def check_parameters(prior: Any, names: tuple[str, ...], *, any_sign: tuple[str, ...] = ()) -> FloatArray:
    """Read a prior given as its parameters."""
    wanted = f"parameter ({', '.join(names)})"
    if isinstance(prior, str):
        raise ValueError(f"prior must be None, 'evidence' or one number per {wanted}; got {shown(prior)}.")
    try:
        values = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"prior must be None, 'evidence' or one number per {wanted}; got {shown(prior)}.") from None
    free = np.array([name in any_sign for name in names])
    if values.shape == (len(names),) and not np.all(np.isfinite(values[free])):
        raise ValueError(f"prior must be finite throughout; got {shown(prior)}.")
    positive = np.where(free, 1.0, values) if values.shape == (len(names),) else values
    check_positive_array("prior", positive, length=len(names), one_per=wanted)
    return values


def check_numbers(name: str, value: Any, n_rows: int) -> FloatArray:
    """Read one finite number per row."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must hold one number per row of X.") from None
    if array.shape != (n_rows,):
        raise ValueError(f"{name} must hold one number per row of X ({n_rows} of them); got shape {array.shape}.")
    if not np.all(np.isfinite(array)):
        row = int(np.argmin(np.isfinite(array)))
        raise ValueError(f"{name} holds NaN or an infinite value in row {row}: it must be finite.")
    return array
