"""Linear leaves: an intercept and a few terms, with the posterior of their coefficients.

In a leaf ``y = a + sum of b_j z_j + noise``, with z_j centred and scaled. Given the noise, the posterior of a and b is
normal; so that of the mean at a row is Student's t, as in a constant leaf, with another centre and another kappa::

    mu(x) = mu + b' z          1 / kappa(x) = 1 / kappa + z' C z

where C is the covariance of the coefficients in units of the noise. Alpha and beta are those of the leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from .._typing import FloatArray, IntArray
from ..outcomes import Outcome
from ..table import Rows
from ._terms import LeafTerms, rows_by_node, take_ragged

_BEYOND = 0.1  # of the range of y in a leaf: how far a prediction may leave it on either side


@dataclass(frozen=True, eq=False)
class LinearLeaves:
    """The linear model of every node.

    Attributes
    ----------
    outcome
        What the leaves predict: normal numbers.
    prior, statistics
        Parameters of the prior of each node, and sums over its rows, as in constant leaves.
    terms
        The columns that the nodes use.
    posterior
        Parameters in each node where every term is at its centre.
    coefficient
        Posterior mean of each coefficient, in units of y per scaled term.
    covariance
        Covariance of the coefficients of each node in units of the noise variance: a square for each node, row by row.
    log_likelihood
        Log marginal likelihood of the rows of each node, with the prior probability of the choice of its terms.
    y_range
        Lowest and highest y of each node, shape (n_nodes, 2).
    extrapolate
        Whether predictions may leave the ranges of the training rows of a leaf.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from baytree import BayesianTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BayesianTreeRegressor(leaf="linear").fit(X, y)
    >>> leaves = model.tree_.leaves
    >>> leaves.terms.feature[leaves.terms.of(0)].tolist()
    [2, 8, 3, 4, 5, 1]
    """

    outcome: Outcome
    prior: FloatArray
    statistics: FloatArray
    terms: LeafTerms
    posterior: FloatArray
    coefficient: FloatArray
    covariance: FloatArray
    log_likelihood: FloatArray
    y_range: FloatArray
    extrapolate: bool = False

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
    def is_constant(self) -> bool:
        """Whether no node has a term."""
        return len(self.terms) == 0

    @property
    def used_features(self) -> IntArray:
        """The features of all terms."""
        return self.terms.used_features

    @property
    def calibrated(self) -> FloatArray:
        """The posterior: numbers are calibrated by the spread of their distribution."""
        return self.outcome.calibrated(self.posterior)

    def with_outcome(self, outcome: Outcome) -> Self:
        """The same models with another calibration of the outcome."""
        return replace(self, outcome=outcome)

    @cached_property
    def value(self) -> FloatArray:
        """Expected outcome of each node where every term is at its centre, shape (n_nodes, 1)."""
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
    def limits(self) -> FloatArray:
        """The range that predictions of each node stay in, shape (n_nodes, 2); the centre of the node is in it."""
        low, high, centre = *self.y_range.T, self.value[:, 0]
        beyond = np.inf if self.extrapolate else _BEYOND * (high - low)
        return np.stack([np.minimum(low - beyond, centre), np.maximum(high + beyond, centre)], axis=1)

    @cached_property
    def _covariance_start(self) -> IntArray:
        return np.append(0, np.cumsum(self.terms.counts**2))

    def covariance_of(self, node: int) -> FloatArray:
        """The covariance of the coefficients of a node, in units of the noise variance."""
        n_terms = len(self.terms.of(node))
        first = int(self._covariance_start[node])
        return self.covariance[first : first + n_terms**2].reshape(n_terms, n_terms)

    def parameters(self, node: IntArray, rows: Rows, row: IntArray | None = None) -> FloatArray:
        """Posterior parameters of row[i] in node[i]: mu and kappa depend on the row."""
        result = self.posterior.take(node, axis=0)
        row = np.arange(len(node)) if row is None else row
        for leaf, at in rows_by_node(node):
            terms = self.terms.of(leaf)
            if len(terms) == 0:
                continue
            z = self.terms.scaled(leaf, rows, row[at], clip=not self.extrapolate)
            result[at, 0] += z @ self.coefficient[terms.start : terms.stop]
            result[at, 1] = 1 / (1 / result[at, 1] + np.einsum("ij,jk,ik->i", z, self.covariance_of(leaf), z))
            result[at, 0] = np.clip(result[at, 0], *self.limits[leaf])
        return result

    def means(self, node: IntArray, rows: Rows, row: IntArray | None = None) -> FloatArray:
        """Expected outcome of row[i] in node[i]."""
        return self.outcome.mean(self.parameters(node, rows, row))

    def take(self, nodes: IntArray) -> Self:
        """The models of some nodes, in a new order."""
        place, _ = take_ragged(self.terms.start, nodes)
        square, _ = take_ragged(self._covariance_start, nodes)
        by_node: dict[str, Any] = {name: getattr(self, name)[nodes] for name in _BY_NODE}
        return replace(
            self,
            terms=self.terms.take(nodes),
            coefficient=self.coefficient[place],
            covariance=self.covariance[square],
            **by_node,
        )

    def concatenate(self, others: Sequence[Self]) -> Self:
        """These models and, behind them, those of others."""
        parts = [self, *others]
        names = (*_BY_NODE, "coefficient", "covariance")
        arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return replace(self, terms=self.terms.concatenate([part.terms for part in others]), **arrays)


_BY_NODE = ("prior", "statistics", "posterior", "log_likelihood", "y_range")
