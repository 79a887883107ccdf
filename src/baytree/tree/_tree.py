"""A fitted tree as parallel arrays."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .. import _core
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..table import Rows
from ._arrays import NO_SPLIT, NodeArrays, SplitArrays, take_splits
from ._heaps import pop_best
from ._splits import SplitKind

LEAF = -1
TOLERANCE = 1e-9  # log posteriors that differ by less, relative to their size, are equal
UNDEFINED = NO_SPLIT["feature"]  # feature and threshold of a leaf, as in scikit-learn


@dataclass(frozen=True, eq=False)
class Tree(NodeArrays, SplitArrays):
    """Nodes in depth-first order, one entry per node in each array; node 0 is the root.

    Attributes
    ----------
    children_left, children_right
        Nodes that rows on the left and on the right of the split go to; -1 in leaves.
    kind
        Kind of the split: 0 none (a leaf), 1 threshold (``x <= threshold`` goes left), 2 present (left) or missing
        (right), 3 a set of categories, 4 a hyperplane. ``split(node)`` gives the split as an object.
    feature, threshold
        Of the split; -2 in leaves. A hyperplane has the first of its features here. The threshold is inf where the
        split is between present and missing, and NaN where it is between categories.
    missing_go_to_left
        Where a missing value goes: where the split sends those of the node's rows; where these have none, to the child
        with more weight.
    has_missing
        Whether the node's training rows have missing values in the feature of the split.
    unseen_go_to_left
        Where a category goes that the node's training rows do not have: to the child with more weight.
    category_start, category, category_goes_left
        The categories that the node's training rows have, as positions in ``categories_``, and where they go: those of
        node i are ``category[category_start[i]:category_start[i + 1]]``. Missing is not listed, see
        ``missing_go_to_left``.
    hyperplane_start, hyperplane_feature, hyperplane_coefficient, hyperplane_missing_value
        The terms of hyperplanes: those of node i are entries ``hyperplane_start[i]`` to ``hyperplane_start[i + 1]``.
        Rows whose sum of coefficients times values is at most the threshold go left; a missing value counts as the
        value given.
    value
        Expected outcome, shape (n_nodes, 1, n_values): class probabilities.
    n_node_samples, weighted_n_node_samples
        Training rows in the node, and the sum of their weights.
    depth
        Number of splits above the node.
    prior, posterior
        Parameters of the outcome's distribution in the node before and after its rows.
    log_likelihood
        Log marginal likelihood of the node's rows in one set.
    log_likelihood_split
        The same of the two sets that the split makes; -inf in leaves.
    log_prior_leaf, log_prior_split
        Log prior of no split, and of the split that was taken (-inf in leaves).
    log_odds_split
        Log posterior odds of the node's best split against no split: positive in internal nodes. With look-ahead, of
        the best tree below the node that was found against a leaf; so too in nodes that pruning made leaves.
    feature_posterior
        Posterior probability of a split along each feature and, last, of no split; shape (n_nodes, n_features + 1).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> tree = model.tree_
    >>> tree.n_leaves, tree.max_depth, tree.children_left.tolist()
    (5, 4, [1, -1, 3, 4, 5, -1, -1, -1, -1])
    >>> tree.split(0)
    Threshold(feature=3, threshold=0.8, missing_left=False, has_missing=False)
    """

    log_odds_split: FloatArray
    feature_posterior: FloatArray

    @property
    def n_features(self) -> int:
        """Number of features of the table."""
        return self.feature_posterior.shape[1] - 1

    @property
    def is_leaf(self) -> BoolArray:
        """Whether each node is a leaf."""
        return self.is_of(SplitKind.NONE)

    @property
    def internal_nodes(self) -> IntArray:
        """The nodes that are split."""
        return np.flatnonzero(~self.is_leaf)

    @cached_property
    def internal_by_depth(self) -> list[IntArray]:
        """The nodes that are split, the root first, then those of depth one, and so on."""
        internal = self.internal_nodes
        depth = self.depth[internal]
        return np.split(internal[np.argsort(depth, kind="stable")], np.cumsum(np.bincount(depth))[:-1])

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(self.is_leaf.sum())

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf."""
        return int(self.depth.max())

    @cached_property
    def router(self) -> _core.Router:
        """The tree in the form in which the compiled core sends rows down, checked once."""
        return _core.Router(**self.routing(), n_features=self.n_features)

    def apply(self, X: FloatArray, n_threads: int = 1) -> IntArray:
        """Return the leaf that each row of a dense float64 matrix falls into."""
        return self.router.route(X, None, n_threads)[0]

    def route(self, rows: Rows, n_threads: int = 1) -> tuple[IntArray, bool]:
        """Return the leaf that each row falls into, and whether no value is infinite."""
        parts = [self.router.route(part, rows.column_of, n_threads) for part in rows.dense_parts()]
        if len(parts) == 1:
            return parts[0]
        return np.concatenate([leaves for leaves, _ in parts]), all(finite for _, finite in parts)

    @cached_property
    def parents(self) -> IntArray:
        """The parent of every node, -1 for the root."""
        result = np.full(self.node_count, -1, dtype=np.int64)
        internal = self.internal_nodes
        result[self.children_left[internal]] = internal
        result[self.children_right[internal]] = internal
        return result

    def path(self, node: int) -> list[int]:
        """The nodes from the root to a node, both included."""
        nodes = [int(node)]
        while nodes[-1] != 0:
            nodes.append(int(self.parents[nodes[-1]]))
        return nodes[::-1]

    def gain(self) -> FloatArray:
        """Gain in log marginal likelihood of each node's split; 0 in leaves."""
        gain = np.zeros(self.node_count)
        internal = self.internal_nodes
        gain[internal] = self.log_likelihood_split[internal] - self.log_likelihood[internal]
        return gain

    def log_posterior(self, *, include_internal: bool = True) -> float:
        """Log of prior times likelihood of this tree, not normalised over trees.

        The sum over leaves of the log prior of not splitting and the log marginal likelihood, plus the sum
        over internal nodes of the log prior of their split; without the latter, the figure of the paper's
        Algorithm 3.
        """
        leaves = self.is_leaf
        total = float(np.sum(self.log_prior_leaf[leaves] + self.log_likelihood[leaves]))
        return total + float(np.sum(self.log_prior_split[~leaves])) if include_internal else total

    def log_evidence(self) -> float:
        """Log probability of the outcomes, summed over this tree and all of its prunings.

        ``Z = p_leaf L + p_split Z(left) Z(right)`` from the leaves up; so
        ``exp(log_posterior() - log_evidence())`` is the share of this tree among its prunings.
        """
        evidence = self.log_prior_leaf + self.log_likelihood
        for at in reversed(self.internal_by_depth):
            grown = self.log_prior_split[at] + evidence[self.children_left[at]] + evidence[self.children_right[at]]
            evidence[at] = np.logaddexp(evidence[at], grown)
        return float(evidence[0])

    def most_probable_pruning(self) -> Tree:
        """Return this tree or the pruning of it with the highest log posterior; of equals the smallest.

        The recursion of `log_evidence` with max in place of the sum, from the leaves up. Where a node becomes a leaf,
        `log_odds_split` is that of the best tree below it against the leaf.
        """
        as_leaf = self.log_prior_leaf + self.log_likelihood
        best, as_tree = as_leaf.copy(), np.full(self.node_count, -np.inf)
        for at in reversed(self.internal_by_depth):
            as_tree[at] = self.log_prior_split[at] + best[self.children_left[at]] + best[self.children_right[at]]
            best[at] = np.maximum(best[at], as_tree[at])
        kept = as_tree > as_leaf + TOLERANCE * (1 + np.abs(as_leaf))  # rounding does not decide
        if np.array_equal(kept, ~self.is_leaf):
            return self
        pruned = ~kept & ~self.is_leaf
        odds = np.where(pruned, as_tree - as_leaf, self.log_odds_split)
        return self._pruned_to(kept, log_odds_split=odds)

    def limited_to(self, max_leaf_nodes: int) -> Tree:
        """Return the tree of at most that many leaves, split where the log posterior gains most, best first.

        A node's modal partition does not depend on the order of growth, so growing best-first is
        choosing, in the full tree, which internal nodes to keep.
        """
        if self.n_leaves <= max_leaf_nodes:
            return self
        leaf_score = self.log_prior_leaf + self.log_likelihood

        def gain(node: int) -> float:
            children = leaf_score[self.children_left[node]] + leaf_score[self.children_right[node]]
            return float(self.log_prior_split[node] + children - leaf_score[node])

        kept = np.zeros(self.node_count, dtype=bool)
        frontier: list[tuple[Any, ...]] = [(-gain(0), 0)]
        for _ in range(max_leaf_nodes - 1):
            _, node = pop_best(frontier)
            kept[node] = True
            for child in (self.children_left[node], self.children_right[node]):
                if self.children_left[child] != LEAF:
                    heapq.heappush(frontier, (-gain(child), int(child)))
        return self._pruned_to(kept)

    def _pruned_to(self, internal: BoolArray, **changed: AnyArray) -> Tree:
        """Keep of these internal nodes those that are connected to the root; other nodes become leaves or go.

        Arrays of nodes may be changed on the way.
        """
        stays = np.ones(self.node_count, dtype=bool)
        for at in self.internal_by_depth:
            stays[self.children_left[at]] = stays[self.children_right[at]] = stays[at] & internal[at]
        place, kept = np.cumsum(stays) - 1, np.flatnonzero(stays)
        leaf = ~internal[kept]
        arrays = take_splits(self, np.where(leaf, -1, kept))
        others = {name: array for name, array in {**self.arrays(), **changed}.items() if name not in arrays}
        arrays |= {name: array.take(kept, axis=0) for name, array in others.items()}
        for name in ("children_left", "children_right"):
            arrays[name] = np.where(leaf, LEAF, place[arrays[name]])
        return replace(self, **arrays)
