"""An outcome that a user wrote: any object with a prior and four NumPy functions (docs/your_outcome.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from .. import _core
from .._typing import FloatArray
from ._base import PriorSearch, RealOutcome
from ._target import Target, read_numbers

REQUIRED = ("prior", "statistics", "log_marginal", "update", "mean")


@dataclass(frozen=True)
class CustomOutcome(RealOutcome):
    """Calls the user's object, and checks what it answers."""

    prior: FloatArray
    definition: Any

    name = "custom"

    @classmethod
    def of(cls, target: Target, prior: Any, options: Any = None) -> Self:
        """Check the user's object, which the options are, on the target."""
        definition = options
        parameters = np.atleast_1d(np.asarray(definition.prior if prior is None else prior, dtype=np.float64))
        if parameters.ndim != 1 or not np.all(np.isfinite(parameters)):
            raise ValueError(f"The prior of the outcome must be a vector of finite numbers; got {parameters!r}.")
        outcome = cls(parameters, definition)
        outcome._row_statistics(target)
        return outcome

    @staticmethod
    def lacks(definition: Any) -> list[str]:
        """The methods that an object lacks to be an outcome."""
        return [name for name in REQUIRED if not hasattr(definition, name)]

    def _row_statistics(self, target: Target) -> FloatArray:
        rows = np.asarray(self.definition.statistics(target.y), dtype=np.float64)
        rows = rows[:, None] if rows.ndim == 1 else rows
        if rows.ndim != 2 or len(rows) != len(target.y) or rows.shape[1] == 0:
            raise ValueError(
                f"statistics(y) of the outcome must return {len(target.y)} rows, each of one number or more; got shape "
                f"{rows.shape}."
            )
        read_numbers("statistics(y) of the outcome", rows.ravel(), rows.size)
        return rows

    def most_probable(self, target: Target, search: PriorSearch) -> Self:
        """Choose the best of the priors that the user's object lists."""
        if not hasattr(self.definition, "candidates"):
            raise ValueError("prior='evidence' needs an outcome with a method candidates() that lists priors.")
        candidates = [type(self).of(target, prior, self.definition) for prior in self.definition.candidates()]
        if not candidates:
            raise ValueError("prior='evidence' has no prior to choose from: candidates() of the outcome is empty.")
        return max(candidates, key=search.log_evidence)

    def to_core(self, target: Target) -> _core.Custom:
        """The rows' statistics, with functions for the rest."""
        weight = np.ones(len(target.y)) if target.weight is None else target.weight
        rows = np.ascontiguousarray(self._row_statistics(target) * weight[:, None])
        return _core.Custom(rows, weight, self._log_marginal, self._update, self._mean)

    def _log_marginal(self, statistics: FloatArray, prior: FloatArray) -> FloatArray:
        result = np.asarray(self.definition.log_marginal(statistics, prior), dtype=np.float64)
        if result.shape != (len(statistics),) or np.any(np.isnan(result)):
            raise ValueError(
                "log_marginal(statistics, prior) of the outcome must return one number per row of statistics "
                f"({len(statistics)}), none of them NaN; got shape {result.shape}."
            )
        return np.ascontiguousarray(result)

    def _update(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        result = np.asarray(self.definition.update(prior[None, :], statistics[None, :]), dtype=np.float64)
        return np.ascontiguousarray(np.broadcast_to(result, (1, len(prior)))[0])

    def _mean(self, posterior: FloatArray) -> float:
        mean = self.mean(posterior[None, :])
        if mean.size != 1:
            raise ValueError("monotonic_cst needs an outcome whose mean(posterior) is one number.")
        return float(mean[0, 0])

    def statistics(self, target: Target) -> FloatArray:
        """Put a column of ones before the statistics of the user's object."""
        rows = self._row_statistics(target)
        return np.column_stack([np.ones(len(rows)), rows])

    def update(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Call the user's object."""
        return np.asarray(self.definition.update(prior, statistics[:, 1:]), dtype=np.float64)

    def log_marginal(self, prior: FloatArray, statistics: FloatArray) -> FloatArray:
        """Call the user's object node by node, since nodes may differ in their prior."""
        sets = zip(prior, statistics[:, 1:], strict=True)
        return np.array([self._log_marginal(row[None, :], parameters)[0] for parameters, row in sets])

    def mean(self, posterior: FloatArray) -> FloatArray:
        """Call the user's object."""
        return np.asarray(self.definition.mean(posterior), dtype=np.float64).reshape(len(posterior), -1)

    def distribution(self, posterior: FloatArray) -> Any:
        """Call the user's object."""
        return self._optional("distribution")(posterior)

    def mean_distribution(self, posterior: FloatArray) -> Any:
        """Call the user's object."""
        return self._optional("mean_distribution")(posterior)

    def has(self, distribution: str) -> bool:
        """Whether the user's object has a method of this name."""
        return hasattr(self.definition, distribution)

    def _optional(self, name: str) -> Any:
        if not hasattr(self.definition, name):
            raise TypeError(
                f"The outcome {type(self.definition).__name__} has no method {name}(posterior): "
                "add one that returns a frozen scipy.stats distribution."
            )
        return getattr(self.definition, name)

    def state(self) -> dict[str, Any]:
        """Not data: the object is code."""
        raise TypeError("A model with an outcome of your own cannot be saved as data: keep it with pickle instead.")
