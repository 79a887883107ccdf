"""The interface of leaf models. Nothing outside of them depends on how a leaf predicts.

A leaf model turns (node, row) into parameters of the outcome's posterior, as the outcome calibrates them. The outcome
makes everything else of them: means, distributions, quantiles, decisions. Growth, prunings and odds use the posterior
before it is calibrated. A constant leaf has the same parameters for all of its rows; a leaf with a
model of its own looks at the row.
"""

from __future__ import annotations

from typing import Protocol, Self

from .._typing import FloatArray, IntArray
from ..outcomes import Outcome
from ..table import Rows


class LeafModel(Protocol):
    """The models of all nodes of a tree store: any node may become a leaf."""

    @property
    def outcome(self) -> Outcome:
        """The outcome that the leaves predict."""

    @property
    def is_constant(self) -> bool:
        """Whether all rows of a node have the same parameters, those of `calibrated`."""

    @property
    def used_features(self) -> IntArray:
        """The features that the models look at, in ascending order."""

    @property
    def n_terms(self) -> IntArray:
        """The number of terms in the model of each node; 0 of constant leaves."""

    @property
    def prior(self) -> FloatArray:
        """Parameters before the rows of a node were seen, one set a node."""

    @property
    def posterior(self) -> FloatArray:
        """Parameters after them, one set a node; where rows differ, those at the node's centre."""

    @property
    def calibrated(self) -> FloatArray:
        """The parameters that predictions use: those of `posterior`, as the outcome calibrates them."""

    @property
    def statistics(self) -> FloatArray:
        """Sums over the rows of each node of what the outcome needs of them."""

    @property
    def value(self) -> FloatArray:
        """Expected outcome of `calibrated`, shape (n_nodes, n_values)."""

    @property
    def weight(self) -> FloatArray:
        """Total weight of the rows of each node."""

    @property
    def log_likelihood(self) -> FloatArray:
        """Log marginal likelihood of the rows of each node in one set."""

    @property
    def log_ceiling(self) -> FloatArray:
        """The most that the log likelihood of a node's rows can reach in leaves of its prior; inf where unknown."""

    def parameters(self, node: IntArray, rows: Rows, row: IntArray | None = None) -> FloatArray:
        """Posterior parameters of row[i] in node[i]; `row` is None where row i is in node[i]."""

    def means(self, node: IntArray, rows: Rows, row: IntArray | None = None) -> FloatArray:
        """Expected outcome of the same, shape (n, n_values)."""

    def with_outcome(self, outcome: Outcome) -> Self:
        """These models with another calibration of the same outcome."""

    def take(self, nodes: IntArray) -> Self:
        """The models of some nodes, in a new order."""

    def concatenate(self, others: list[Self]) -> Self:
        """These models and, behind them, those of others."""
