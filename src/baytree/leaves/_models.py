"""Models of few terms in leaves: what linear and logistic ones have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from .._typing import FloatArray, IntArray
from ..outcomes import Outcome
from ..table import Rows
from ._terms import LeafTerms, rows_by_node, take_ragged


@dataclass(frozen=True, eq=False)
class ModelLeaves(ABC):
    """The model of every node; subclasses say what its coefficients mean.

    Attributes
    ----------
    outcome
        What the leaves predict.
    prior, statistics
        Parameters of the prior of each node, and sums over its rows, as in constant leaves.
    terms
        The columns that the nodes use.
    posterior
        Parameters in each node: of numbers, where every term is at its centre; of classes, without the terms.
    coefficient, covariance
        The coefficients of each node, one behind the other, and their covariance: a square for each node, row by row.
    log_likelihood
        Log marginal likelihood of the rows of each node, with the prior probability of the choice of its terms.
    extrapolate
        Whether predictions may leave the ranges of the training rows of a leaf.
    monotonic
        Whether predictions must rise or fall with some columns, so that they are those of the linear form alone.
    """

    outcome: Outcome
    prior: FloatArray
    statistics: FloatArray
    terms: LeafTerms
    posterior: FloatArray
    coefficient: FloatArray
    covariance: FloatArray
    log_likelihood: FloatArray
    extrapolate: bool = False
    monotonic: bool = False

    by_node: ClassVar[tuple[str, ...]] = ("prior", "statistics", "posterior", "log_likelihood")  # a row for each node

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                value.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # without cached properties

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    @property
    @abstractmethod
    def n_coefficients(self) -> IntArray:
        """The number of coefficients of each node."""

    @abstractmethod
    def parameters(self, node: IntArray, rows: Rows, row: IntArray | None = None) -> FloatArray:
        """Posterior parameters of row[i] in node[i]."""

    def means(self, node: IntArray, rows: Rows, row: IntArray | None = None) -> FloatArray:
        """Expected outcome of row[i] in node[i]."""
        return self.outcome.mean(self.parameters(node, rows, row))

    @abstractmethod
    def means_at(self, node: int, z: FloatArray) -> FloatArray:
        """Expected outcome of rows with these scaled terms in a node."""

    def contributions(self, node: IntArray, rows: Rows, n_features: int) -> FloatArray:
        """How much each feature moves row i from the value of node[i] to its own, shape (n, n_features, n_values).

        Terms are moved from their centre one after the other, in their order and in the reverse order, and the two
        effects of a term are averaged: those of a linear model are coefficient times term. What the value of a node
        differs from that of its centre by is divided evenly among the terms.
        """
        result = np.zeros((len(node), n_features, self.value.shape[1]))
        for leaf, at in rows_by_node(node):
            terms = self.terms.of(leaf)
            if len(terms) == 0:
                continue
            features = self.terms.feature[terms.start : terms.stop]
            z = self.terms.scaled(leaf, rows, at, clip=not self.extrapolate)
            centre = self.means_at(leaf, np.zeros_like(z))
            share = (centre - self.value[leaf]) / len(terms)
            for order in (range(len(terms)), range(len(terms) - 1, -1, -1)):
                moved, before = np.zeros_like(z), centre
                for k in order:
                    moved[:, k] = z[:, k]
                    after = self.means_at(leaf, moved)
                    result[at, features[k]] += (after - before + share) / 2
                    before = after
        return result

    @property
    def is_constant(self) -> bool:
        """Whether no node has a term."""
        return len(self.terms) == 0

    @property
    def used_features(self) -> IntArray:
        """The features of all terms."""
        return self.terms.used_features

    @property
    def n_terms(self) -> IntArray:
        """The number of terms of each node."""
        return self.terms.counts

    @property
    def calibrated(self) -> FloatArray:
        """The posterior: the coefficients are not calibrated, and numbers are by the spread of their distribution."""
        return self.posterior

    def with_outcome(self, outcome: Outcome) -> Self:
        """Return a copy with another calibration of the outcome."""
        return replace(self, outcome=outcome)

    @cached_property
    def value(self) -> FloatArray:
        """Expected outcome of `posterior`, shape (n_nodes, n_values)."""
        value = self.outcome.mean(self.posterior)
        value.flags.writeable = False
        return value

    @cached_property
    def weight(self) -> FloatArray:
        """Total weight of the rows of each node."""
        return self.outcome.weights(self.statistics)

    @property
    def log_ceiling(self) -> FloatArray:
        """No bound is known."""
        return np.full(len(self.posterior), np.inf)

    @cached_property
    def _coefficient_start(self) -> IntArray:
        return np.append(0, np.cumsum(self.n_coefficients))

    @cached_property
    def _covariance_start(self) -> IntArray:
        return np.append(0, np.cumsum(self.n_coefficients**2))

    def coefficients_of(self, node: int) -> FloatArray:
        """The coefficients of a node."""
        return self.coefficient[self._coefficient_start[node] : self._coefficient_start[node + 1]]

    def covariance_of(self, node: int) -> FloatArray:
        """The covariance of the coefficients of a node."""
        n = int(self.n_coefficients[node])
        return self.covariance[self._covariance_start[node] : self._covariance_start[node + 1]].reshape(n, n)

    def take(self, nodes: IntArray) -> Self:
        """The models of some nodes, in a new order."""
        place, _ = take_ragged(self._coefficient_start, nodes)
        square, _ = take_ragged(self._covariance_start, nodes)
        arrays: dict[str, Any] = {name: getattr(self, name)[nodes] for name in self.by_node}
        arrays |= {"coefficient": self.coefficient[place], "covariance": self.covariance[square]}
        return replace(self, terms=self.terms.take(nodes), **arrays)

    def concatenate(self, others: Sequence[Self]) -> Self:
        """These models and, behind them, those of others."""
        names, parts = (*self.by_node, "coefficient", "covariance"), [self, *others]
        arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return replace(self, terms=self.terms.concatenate([part.terms for part in others]), **arrays)
