"""A fitted tree as parallel arrays."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from . import _core
from ._typing import BoolArray, FloatArray, IntArray
from .cuts import RAGGED, CutArrays, NodeArrays, take_ragged

_DENSE_CELLS = 2**22  # of a sparse matrix, at a time
LEAF = -1
UNDEFINED = -2  # feature and threshold of a leaf, as in scikit-learn


@dataclass(frozen=True, eq=False)
class Tree(NodeArrays, CutArrays):
    """Nodes in depth-first order, one entry per node in each array; node 0 is the root.

    Attributes
    ----------
    children_left, children_right
        Nodes that rows with ``x <= threshold`` and ``x > threshold`` go to; -1 in leaves.
    feature, threshold
        The cut of a sprout; -2 in leaves. The threshold is inf where the present go left and the missing right, and
        NaN where the feature is categorical.
    missing_go_to_left
        Where a missing value goes: where the cut sends the gaps of the node's rows; where those have none, to the
        child with more rows.
    has_missing
        Whether the node's training rows have gaps in the feature of the cut.
    unseen_go_to_left
        Where a level goes that the node's training rows do not have: to the child with more rows.
    level_start, level, level_goes_left
        The levels of a categorical feature that the node's training rows have, as positions in ``categories_``, and
        where they go: those of node i are ``level[level_start[i]:level_start[i + 1]]``. A missing level is not
        listed, see ``missing_go_to_left``.
    oblique_start, oblique_feature, oblique_coefficient, oblique_gap_value
        Cuts along hyperplanes: those of node i are entries ``oblique_start[i]`` to ``oblique_start[i + 1]``; rows whose
        sum of coefficients times values is at most the threshold go left, and a gap has the value given. ``feature`` is
        the first of the features.
    value
        Expected outcome, shape (n_nodes, 1, n_values): class probabilities.
    n_node_samples, weighted_n_node_samples
        Training rows in the node, and the sum of their weights.
    depth
        Number of cuts above the node.
    prior, posterior
        Parameters of the outcome's distribution in the node before and after its rows.
    log_likelihood
        Log marginal likelihood of the node's rows in one set.
    log_likelihood_split
        The same of the two sets that the cut makes; -inf in leaves.
    log_prior_leaf, log_prior_split
        Log prior of the trivial partition, and of the cut that was taken (-inf in leaves).
    log_odds_split
        Log posterior odds of the node's best cut against no cut: positive in sprouts. With look-ahead, of the best
        tree that it found below; in trees of a tree space, of the node's own cut with all that is below it.
    feature_posterior
        Probability that the node is cut along each feature and, last, that it is not cut;
        shape (n_nodes, n_features + 1), rows sum to one.
    """

    log_odds_split: FloatArray
    feature_posterior: FloatArray

    @property
    def n_features(self) -> int:
        """Number of features of the table the tree was grown on."""
        return self.feature_posterior.shape[1] - 1

    @property
    def is_leaf(self) -> BoolArray:
        """Whether each node is a leaf."""
        return self.children_left == LEAF

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.depth.max())

    def apply(self, X: Any, n_threads: int = 1) -> tuple[IntArray, bool]:
        """Return the leaf that each row of a float64 matrix falls into, and whether no value is infinite.

        Of a sparse matrix some rows at a time are made dense.
        """
        if not sparse.issparse(X):
            return self._apply(X, n_threads)
        step = max(1, _DENSE_CELLS // max(X.shape[1], 1))
        parts = [self._apply(X[i : i + step].toarray(), n_threads) for i in range(0, X.shape[0], step)]
        return np.concatenate([leaves for leaves, _ in parts]), all(finite for _, finite in parts)

    def _apply(self, X: FloatArray, n_threads: int) -> tuple[IntArray, bool]:
        leaves, no_infinity = self._router.route(X, None, n_threads)
        return leaves, no_infinity

    @cached_property
    def _router(self) -> _core.Router:
        return _core.Router(**self.routing(), n_features=self.n_features)

    @cached_property
    def parents(self) -> IntArray:
        """The parent of every node, -1 for the root."""
        result = np.full(self.node_count, -1, dtype=np.int64)
        sprouts = np.flatnonzero(~self.is_leaf)
        result[self.children_left[sprouts]] = sprouts
        result[self.children_right[sprouts]] = sprouts
        return result

    def path(self, node: int) -> list[int]:
        """The nodes from the root to a node, both included."""
        nodes = [int(node)]
        while nodes[-1] != 0:
            nodes.append(int(self.parents[nodes[-1]]))
        return nodes[::-1]

    def gain(self) -> FloatArray:
        """Gain in log marginal likelihood of each sprout's cut; 0 in leaves."""
        gain = np.zeros(self.node_count)
        sprouts = ~self.is_leaf
        gain[sprouts] = self.log_likelihood_split[sprouts] - self.log_likelihood[sprouts]
        return gain

    def log_posterior(self, *, include_sprouts: bool = True) -> float:
        """Log of prior times likelihood of this tree, not normalised over trees.

        The sum over leaves of the log prior of not splitting and the log marginal likelihood, plus the sum
        over sprouts of the log prior of their cut; without the latter, the figure of the paper's
        Algorithm 3.
        """
        leaves = self.is_leaf
        total = float(np.sum(self.log_prior_leaf[leaves] + self.log_likelihood[leaves]))
        return total + float(np.sum(self.log_prior_split[~leaves])) if include_sprouts else total

    def log_evidence(self) -> float:
        """Log probability of the outcomes, summed over this tree and all of its prunings.

        ``Z = p_leaf L + p_split Z(left) Z(right)`` from the leaves up; so
        ``exp(log_posterior() - log_evidence())`` is the share of this tree among its prunings.
        """
        evidence = self.log_prior_leaf + self.log_likelihood
        for depth in range(self.max_depth - 1, -1, -1):
            at = np.flatnonzero((self.depth == depth) & ~self.is_leaf)
            grown = self.log_prior_split[at] + evidence[self.children_left[at]] + evidence[self.children_right[at]]
            evidence[at] = np.logaddexp(evidence[at], grown)
        return float(evidence[0])

    def limited_to(self, max_leaf_nodes: int) -> Tree:
        """Return the tree of at most that many leaves, cut where the log posterior gains most, best first.

        A node's modal partition does not depend on the order of growth, so growing best-first is
        choosing, in the full tree, which sprouts to keep.
        """
        if self.n_leaves <= max_leaf_nodes:
            return self
        leaf_score = self.log_prior_leaf + self.log_likelihood

        def gain(node: int) -> float:
            children = leaf_score[self.children_left[node]] + leaf_score[self.children_right[node]]
            return float(self.log_prior_split[node] + children - leaf_score[node])

        kept = np.zeros(self.node_count, dtype=bool)
        frontier = [(-gain(0), 0)]
        for _ in range(max_leaf_nodes - 1):
            node = _pop_best(frontier)
            kept[node] = True
            for child in (self.children_left[node], self.children_right[node]):
                if self.children_left[child] != LEAF:
                    heapq.heappush(frontier, (-gain(child), int(child)))
        return self._pruned_to(kept)

    def _pruned_to(self, sprouts: BoolArray) -> Tree:
        """Keep only these sprouts, which are connected to the root; other nodes become leaves or go."""
        parents = self.parents
        stays = np.ones(self.node_count, dtype=bool)
        for node in range(1, self.node_count):  # parents come before their children
            stays[node] = sprouts[parents[node]]
        place = np.cumsum(stays) - 1
        ragged = {name for group in RAGGED.items() for name in (group[0], *group[1])}
        arrays = {name: array[stays] for name, array in self.arrays().items() if name not in ragged}
        leaf = ~sprouts[stays]
        arrays |= take_ragged(self, np.where(leaf, -1, np.flatnonzero(stays)))
        for name in ("children_left", "children_right"):
            arrays[name] = np.where(leaf, LEAF, place[arrays[name]])
        arrays["feature"] = np.where(leaf, UNDEFINED, arrays["feature"])
        arrays["threshold"] = np.where(leaf, float(UNDEFINED), arrays["threshold"])
        for name in ("missing_go_to_left", "has_missing", "unseen_go_to_left"):
            arrays[name] = arrays[name] & ~leaf
        for name in ("log_prior_split", "log_likelihood_split"):
            arrays[name] = np.where(leaf, -np.inf, arrays[name])
        return replace(self, **arrays)


def _pop_best(frontier: list[tuple[float, int]]) -> int:
    """Take the node of highest gain; gains equal but for rounding go to the first node."""
    best = heapq.heappop(frontier)
    equal = [best]
    while frontier and frontier[0][0] <= best[0] + 1e-9 * (1 + abs(best[0])):
        equal.append(heapq.heappop(frontier))
    chosen = min(equal, key=lambda entry: entry[1])
    for entry in equal:
        if entry is not chosen:
            heapq.heappush(frontier, entry)
    return chosen[1]
