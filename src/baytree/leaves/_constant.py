"""Constant leaves: the outcome's conjugate posterior, the same for all rows of a leaf."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from .._typing import FloatArray, IntArray
from ..outcomes import Outcome
from ..table import Rows


@dataclass(frozen=True, eq=False)
class ConstantLeaves:
    """The conjugate posterior of every node, from its prior and the sums of its rows' statistics.

    Attributes
    ----------
    outcome
        What the leaves predict.
    prior
        Parameters of the prior of each node; a view of one row where all nodes have the same.
    statistics
        Sums over the rows of each node of what the outcome needs of them.
    monotonic_mean
        Expected outcomes that were put in order, where predictions must rise or fall with a feature; else None.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> model.tree_.leaves.statistics[1].tolist()
    [50.0, 0.0, 0.0]
    """

    outcome: Outcome
    prior: FloatArray
    statistics: FloatArray
    monotonic_mean: FloatArray | None = None

    is_constant = True

    def __post_init__(self) -> None:
        for array in (self.prior, self.statistics, self.monotonic_mean):
            if array is not None:
                array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        state = {field.name: getattr(self, field.name) for field in fields(self)}  # without cached properties
        return state | {"prior": self.prior[:1]} if _is_one_row(self.prior) else state

    def __setstate__(self, state: dict[str, Any]) -> None:
        prior = np.broadcast_to(state["prior"], (len(state["statistics"]), state["prior"].shape[1]))
        vars(self).update(state | {"prior": prior})
        self.__post_init__()

    @classmethod
    def with_root_prior(cls, outcome: Outcome, statistics: FloatArray) -> Self:
        """Leaves of nodes that all have the prior of the root."""
        return cls(outcome, np.broadcast_to(outcome.prior, (len(statistics), len(outcome.prior))), statistics)

    @cached_property
    def posterior(self) -> FloatArray:
        """Parameters of the posterior of each node."""
        return _read_only(self.outcome.update(self.prior, self.statistics))

    @cached_property
    def calibrated(self) -> FloatArray:
        """Parameters that predictions use: those of the posterior, as the outcome calibrates them."""
        return _read_only(self.outcome.calibrated(self.posterior))

    @cached_property
    def value(self) -> FloatArray:
        """Expected outcome of each node, shape (n_nodes, n_values)."""
        if self.monotonic_mean is not None:
            return self.monotonic_mean
        return _read_only(self.outcome.mean(self.calibrated))

    @cached_property
    def weight(self) -> FloatArray:
        """Total weight of the rows of each node."""
        return _read_only(self.outcome.weights(self.statistics))

    @cached_property
    def log_likelihood(self) -> FloatArray:
        """Log marginal likelihood of the rows of each node in one set."""
        return _read_only(self.outcome.log_marginal(self.prior, self.statistics))

    @property
    def used_features(self) -> IntArray:
        """None: all rows of a leaf have the same prediction."""
        return np.zeros(0, dtype=np.int64)

    @property
    def n_terms(self) -> IntArray:
        """None in any node."""
        return np.zeros(len(self.statistics), dtype=np.int64)

    @property
    def log_ceiling(self) -> FloatArray:
        """The most that the log likelihood of a node's rows can reach in leaves of its prior; inf where unknown."""
        return self.outcome.log_ceiling(self.prior, self.statistics)

    def parameters(self, node: IntArray, rows: Rows, row: IntArray | None = None) -> FloatArray:  # noqa: ARG002
        """Posterior parameters in node[i]: all rows have the same."""
        return self.posterior.take(node, axis=0)

    def means(self, node: IntArray, rows: Rows, row: IntArray | None = None) -> FloatArray:  # noqa: ARG002
        """Expected outcome in node[i]."""
        return self.value.take(node, axis=0)

    def with_outcome(self, outcome: Outcome) -> Self:
        """Return a copy with another calibration."""
        return replace(self, outcome=outcome)

    def take(self, nodes: IntArray) -> Self:
        """The leaves of some nodes, in a new order."""
        prior = self.prior[: len(nodes)] if _is_one_row(self.prior) and len(nodes) <= len(self.prior) else None
        in_order = None if self.monotonic_mean is None else self.monotonic_mean[nodes]
        return replace(
            self,
            prior=self.prior[nodes] if prior is None else prior,
            statistics=self.statistics[nodes],
            monotonic_mean=in_order,
        )

    def concatenate(self, others: list[Self]) -> Self:
        """Append the leaves of others with the same outcome."""
        parts = [self, *others]
        statistics = np.concatenate([part.statistics for part in parts])
        if all(_is_one_row(part.prior) and np.array_equal(part.prior[:1], self.prior[:1]) for part in parts):
            prior = np.broadcast_to(self.prior[0], (len(statistics), self.prior.shape[1]))
        else:
            prior = np.concatenate([part.prior for part in parts])
        means = [part.monotonic_mean for part in parts if part.monotonic_mean is not None]
        return replace(
            self, prior=prior, statistics=statistics, monotonic_mean=np.concatenate(means) if means else None
        )


def _is_one_row(array: FloatArray) -> bool:
    """Whether all rows of an array are the same memory."""
    return array.strides[0] == 0


def _read_only(array: FloatArray) -> FloatArray:
    array = np.asarray(array)
    array.flags.writeable = False
    return array
