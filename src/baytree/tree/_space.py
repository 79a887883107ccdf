"""A tree space as parallel arrays: a graph of nodes and of the splits that divide them, for many trees at once.

Everything about it follows from one recursion, from the leaves up,

    Z(node) = p_leaf L + sum over the node's choices of p_choice Z(left) Z(right),

the evidence of all trees below a node. What a term adds to Z is its posterior share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from .. import _core
from .._typing import BoolArray, FloatArray, IntArray
from ..table import Rows
from ._arrays import NodeArrays, SplitArrays

_ROWS_AT_ONCE = 4096  # whose weights on all nodes are in memory together


@dataclass(frozen=True, eq=False)
class Space(NodeArrays, SplitArrays):
    """Nodes in order of depth, node 0 is the root; the choices of a node are ways to split it.

    Attributes
    ----------
    choice_start
        The choices of node i are those from ``choice_start[i]`` to ``choice_start[i + 1]``.
    children_left, children_right, kind, feature, threshold, missing_go_to_left, has_missing, unseen_go_to_left
        One entry per choice, as in `Tree` per node.
    category_start, category, category_goes_left, log_prior_split, log_likelihood_split
        One entry per choice, as in `Tree` per node.
    hyperplane_start, hyperplane_feature, hyperplane_coefficient, hyperplane_missing_value
        One entry per choice, as in `Tree` per node.
    value, n_node_samples, weighted_n_node_samples, depth, prior, posterior, log_likelihood, log_prior_leaf
        One entry per node, as in `Tree`.
    complete
        Whether every split of a node is among its choices.
    log_ceiling
        The most that the log likelihood of a node's rows can reach in any tree; inf where no bound is known.
    n_features
        Number of features of the table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import TreeSpaceClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
    >>> model.space_.node_count > 200, model.space_.is_complete
    (True, False)
    """

    choice_start: IntArray
    complete: BoolArray
    log_ceiling: FloatArray
    n_features: int

    @property
    def n_choices(self) -> int:
        """Number of choices of all nodes."""
        return len(self.feature)

    @property
    def is_complete(self) -> bool:
        """Whether the space holds every possible tree."""
        return bool(self.complete.all())

    def choices_of(self, node: int) -> range:
        """The choices of a node."""
        return range(int(self.choice_start[node]), int(self.choice_start[node + 1]))

    @cached_property
    def owner(self) -> IntArray:
        """The node of every choice."""
        return np.repeat(np.arange(self.node_count), np.diff(self.choice_start))

    @cached_property
    def log_leaf(self) -> FloatArray:
        """Log of prior times likelihood of every node as a leaf."""
        return self.log_prior_leaf + self.log_likelihood

    def _levels(self) -> Iterator[tuple[slice, slice]]:
        """Nodes and choices of each depth, from the deepest up."""
        first = np.searchsorted(self.depth, np.arange(self.depth[-1] + 2))
        for begin, end in zip(first[-2::-1], first[:0:-1], strict=True):
            yield slice(begin, end), slice(self.choice_start[begin], self.choice_start[end])

    def from_leaves(self, leaf: FloatArray, log_prior: FloatArray, combine: np.ufunc) -> FloatArray:
        """The recursion from the leaves up: `combine` a node's own value with those of its choices."""
        result = leaf.copy()
        for _, choices in self._levels():
            if choices.start == choices.stop:
                continue
            below = log_prior[choices] + result[self.children_left[choices]] + result[self.children_right[choices]]
            owner, first = np.unique(self.owner[choices], return_index=True)
            result[owner] = combine(result[owner], combine.reduceat(below, first))
        return result

    @cached_property
    def log_evidence(self) -> FloatArray:
        """Log Z of every node."""
        return self.from_leaves(self.log_leaf, self.log_prior_split, np.logaddexp)

    @cached_property
    def log_best(self) -> FloatArray:
        """Log of prior times likelihood of the most probable tree below every node."""
        return self.from_leaves(self.log_leaf, self.log_prior_split, np.maximum)

    @cached_property
    def log_evidence_bound(self) -> float:
        """The most that `log_evidence` of the root could reach if all were explored; inf where no bound is known."""
        opened = np.exp(self.log_prior_leaf)
        np.add.at(opened, self.owner, np.exp(self.log_prior_split))
        beyond = np.full(self.node_count, -np.inf)
        rest = np.maximum(1 - opened[~self.complete], np.finfo(float).tiny)
        beyond[~self.complete] = np.log(rest) + self.log_ceiling[~self.complete]
        return float(self.from_leaves(np.logaddexp(self.log_leaf, beyond), self.log_prior_split, np.logaddexp)[0])

    @cached_property
    def leaf_share(self) -> FloatArray:
        """Posterior probability that a node is a leaf, given that a tree has it."""
        return np.exp(self.log_leaf - self.log_evidence)

    @cached_property
    def log_choice(self) -> FloatArray:
        """Log of what every choice, with all that may be below it, adds to the evidence of its node."""
        return self.log_prior_split + self.log_evidence[self.children_left] + self.log_evidence[self.children_right]

    @cached_property
    def choice_share(self) -> FloatArray:
        """Posterior probability of every choice, given that a tree has its node."""
        return np.exp(self.log_choice - self.log_evidence[self.owner])

    @cached_property
    def reach(self) -> FloatArray:
        """Posterior probability that a tree has a node."""
        result = np.zeros(self.node_count)
        result[0] = 1.0
        for _, choices in reversed(list(self._levels())):
            share = result[self.owner[choices]] * self.choice_share[choices]
            np.add.at(result, self.children_left[choices], share)
            np.add.at(result, self.children_right[choices], share)
        return result

    def feature_posterior(self, nodes: IntArray) -> FloatArray:
        """Posterior probability that each of some nodes is split along each feature and, last, that it is a leaf."""
        result = np.zeros((len(nodes), self.n_features + 1))
        for row, node in enumerate(nodes):
            own = self.choices_of(int(node))
            np.add.at(result[row], self.feature[own], self.choice_share[own])
        result[:, -1] = self.leaf_share[nodes]
        return result / result.sum(axis=1, keepdims=True)

    def feature_inclusion(self) -> FloatArray:
        """Posterior probability that a tree has a split along each feature."""
        result = np.zeros(self.n_features)
        for feature in np.unique(self.feature):
            without = np.where(self.feature == feature, -np.inf, self.log_prior_split)
            result[feature] = -np.expm1(
                self.from_leaves(self.log_leaf, without, np.logaddexp)[0] - self.log_evidence[0]
            )
        return np.clip(result, 0, 1)

    def expected_gain(self) -> FloatArray:
        """Gain in log likelihood of the splits along each feature, on average over the trees."""
        gain = np.maximum(self.log_likelihood_split - self.log_likelihood[self.owner], 0)
        weight = self.reach[self.owner] * self.choice_share * gain
        return np.bincount(self.feature, weights=weight, minlength=self.n_features).astype(np.float64)

    @cached_property
    def router(self) -> _core.SpaceRouter:
        """The space in the form in which the compiled core sends rows down, checked once."""
        return _core.SpaceRouter(
            **self.routing(),
            choice_start=self.choice_start,
            leaf_share=self.leaf_share,
            choice_share=self.choice_share,
            n_features=self.n_features,
        )

    def leaf_weights(self, rows: Rows, n_threads: int = 1) -> Iterator[sparse.csr_matrix]:
        """Posterior probability that each row ends in each node, (n_rows, n_nodes), some rows at a time."""
        for first in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows.take(first, first + _ROWS_AT_ONCE).dense()
            start, node, weight = self.router.weigh(part, rows.column_of, n_threads)
            yield sparse.csr_matrix((weight, node, start), shape=(len(part), self.node_count))
