"""Linear leaves: an intercept and a few terms, with the posterior of their coefficients.

In a leaf ``y = a + sum of b_j z_j + noise``, with z_j centred and scaled. Given the noise, the posterior of a and b is
normal; so that of the mean at a row is Student's t, as in a constant leaf, with another centre and another kappa::

    mu(x) = mu + b' z          1 / kappa(x) = 1 / kappa + z' C z

where C is the covariance of the coefficients in units of the noise. Alpha and beta are those of the leaf.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from .._typing import FloatArray, IntArray
from ..table import Rows
from ._models import ModelLeaves
from ._terms import rows_by_node

_BEYOND = 0.1  # of the range of y in a leaf: how far a prediction may leave it on either side


@dataclass(frozen=True, eq=False)
class LinearLeaves(ModelLeaves):
    """The linear model of every node: one coefficient for each term, in units of y per scaled term.

    Covariances are in units of the noise variance; `y_range` holds the lowest and the highest y of each node.

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

    y_range: FloatArray = field(kw_only=True)

    by_node = (*ModelLeaves.by_node, "y_range")

    @property
    def n_coefficients(self) -> IntArray:
        """One for each term."""
        return self.terms.counts

    @cached_property
    def limits(self) -> FloatArray:
        """The range that predictions of each node stay in, shape (n_nodes, 2); the centre of the node is in it.

        Monotonic predictions have none: the ranges of leaves need not be in order.
        """
        low, high, centre = *self.y_range.T, self.value[:, 0]
        beyond = np.inf if self.extrapolate or self.monotonic else _BEYOND * (high - low)
        return np.stack([np.minimum(low - beyond, centre), np.maximum(high + beyond, centre)], axis=1)

    def means_at(self, node: int, z: FloatArray) -> FloatArray:
        """Expected outcome of rows with these scaled terms in a node."""
        mean = self.posterior[node, 0] + z @ self.coefficients_of(node)
        return np.clip(mean, *self.limits[node])[:, None]

    def parameters(self, node: IntArray, rows: Rows, row: IntArray | None = None) -> FloatArray:
        """Posterior parameters of row[i] in node[i]: mu and kappa depend on the row."""
        result = self.posterior.take(node, axis=0)
        row = np.arange(len(node)) if row is None else row
        for leaf, at in rows_by_node(node):
            terms = self.terms.of(leaf)
            if len(terms) == 0:
                continue
            z = self.terms.scaled(leaf, rows, row[at], clip=not self.extrapolate)
            result[at, 0] = self.means_at(leaf, z)[:, 0]
            result[at, 1] = 1 / (1 / result[at, 1] + np.einsum("ij,jk,ik->i", z, self.covariance_of(leaf), z))
        return result
