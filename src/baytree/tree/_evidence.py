"""The evidence of the trees in a store, by one recursion from the leaves up.

    Z(node) = p_leaf L + sum over the node's splits of p_split Z(left) Z(right)

is the evidence of all trees below a node. What a term adds to Z is its posterior share.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray, IntArray

if TYPE_CHECKING:
    from ._store import TreeStore


class Evidence:
    """The recursion over the trees that a store holds; with `prunings`, over those with a leaf at any node too.

    Parameters
    ----------
    store
        The trees.
    prunings
        Whether every node may be a leaf.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import TreeSpaceClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TreeSpaceClassifier(max_nodes=200).fit(X, y)
    >>> evidence = model.space_.evidence
    >>> bool(evidence.log_evidence[0] == model.log_evidence_), float(evidence.node_probability[0])
    (True, 1.0)
    """

    def __init__(self, store: TreeStore, *, prunings: bool = False) -> None:
        self.store = store
        self._may_be_leaf = np.ones(store.node_count, dtype=bool)
        if not prunings:
            self._may_be_leaf[:] = False
            self._may_be_leaf[store.owner[store.is_leaf]] = True

    def _combine_upwards(self, leaf: FloatArray, log_prior: FloatArray, combine: np.ufunc) -> FloatArray:
        """The recursion from the leaves up: `combine` a node's own value with those of its splits."""
        store, result = self.store, leaf.copy()
        for splits in reversed(store.splits_by_depth):
            below = log_prior[splits] + result[store.children_left[splits]] + result[store.children_right[splits]]
            owner = store.owner[splits]
            first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
            result[owner[first]] = combine(result[owner[first]], combine.reduceat(below, first))
        return result

    @cached_property
    def _leaf(self) -> FloatArray:
        return np.where(self._may_be_leaf, self.store.log_leaf, -np.inf)

    @cached_property
    def log_evidence(self) -> FloatArray:
        """Log Z of every node."""
        return self._combine_upwards(self._leaf, self.store.log_prior_split, np.logaddexp)

    @cached_property
    def log_best(self) -> FloatArray:
        """Log of prior times likelihood of the most probable tree below every node."""
        return self._combine_upwards(self._leaf, self.store.log_prior_split, np.maximum)

    @cached_property
    def log_evidence_bound(self) -> float:
        """The most that `log_evidence` of the root could reach if all were explored; inf where no bound is known."""
        store, complete = self.store, self.store.complete
        if complete is None:
            return float(self.log_evidence[0])
        if store.split_likelihood is not None and not complete.all():  # smoothing gives children other priors
            return np.inf
        ceiling = store.leaves.log_ceiling
        opened = np.exp(store.log_prior_leaf)
        splits = np.flatnonzero(~store.is_leaf)
        np.add.at(opened, store.owner[splits], np.exp(store.log_prior_split[splits]))
        beyond = np.full(store.node_count, -np.inf)
        rest = np.maximum(1 - opened[~complete], np.finfo(float).tiny)
        beyond[~complete] = np.log(rest) + ceiling[~complete]
        return float(self._combine_upwards(np.logaddexp(self._leaf, beyond), store.log_prior_split, np.logaddexp)[0])

    @cached_property
    def log_choice(self) -> FloatArray:
        """Log of what every choice, with all that may be below it, adds to the evidence of its node."""
        store = self.store
        evidence = np.append(self.log_evidence, 0.0)
        of_split = store.log_prior_split + evidence[store.children_left] + evidence[store.children_right]
        return np.where(store.is_leaf, store.log_leaf[store.owner], of_split)

    @cached_property
    def choice_share(self) -> FloatArray:
        """Posterior probability of every choice, given that a tree has its node."""
        if self.store.choice_weight is not None:
            return self.store.choice_weight
        if self.store.is_plain:
            return np.ones(self.store.n_choices)
        return np.exp(self.log_choice - self.log_evidence[self.store.owner])

    @cached_property
    def node_probability(self) -> FloatArray:
        """Posterior probability that a tree has a node."""
        store = self.store
        result = np.zeros(store.node_count)
        result[store.roots] = 1.0
        for splits in store.splits_by_depth:
            share = result[store.owner[splits]] * self.choice_share[splits]
            np.add.at(result, store.children_left[splits], share)
            np.add.at(result, store.children_right[splits], share)
        return result

    def feature_posterior(self, nodes: IntArray) -> FloatArray:
        """Posterior probability that each of some nodes is split along each feature and, last, that it is a leaf."""
        store = self.store
        column = np.where(store.is_leaf, store.n_features, store.feature)
        result = np.zeros((len(nodes), store.n_features + 1))
        for row, node in enumerate(nodes):
            choices = store.choices_of(int(node))
            np.add.at(result[row], column[choices], self.choice_share[choices])
        return result / result.sum(axis=1, keepdims=True)

    def feature_inclusion(self) -> FloatArray:
        """Posterior probability that a tree below the first root has a split along each feature."""
        store = self.store
        result = np.zeros(store.n_features)
        for feature in np.unique(store.feature[~store.is_leaf]):
            without = np.where(store.feature == feature, -np.inf, store.log_prior_split)
            result[feature] = -np.expm1(
                self._combine_upwards(self._leaf, without, np.logaddexp)[0] - self.log_evidence[0]
            )
        return np.clip(result, 0, 1)

    def expected_gain(self) -> FloatArray:
        """Gain in log likelihood of the splits along each feature, on average over the trees; (n_trees, n_features)."""
        store = self.store
        splits = np.flatnonzero(~store.is_leaf)
        owner = store.owner[splits]
        gain = np.maximum(store.gain()[splits], 0) * self.node_probability[owner] * self.choice_share[splits]
        place = store.tree_of_node[owner] * store.n_features + store.feature[splits]
        total = np.bincount(place, weights=gain, minlength=store.n_trees * store.n_features)
        return total.reshape(store.n_trees, store.n_features).astype(np.float64)
