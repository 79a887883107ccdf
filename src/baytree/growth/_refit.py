"""Refitting: the structure of a given tree is kept, and its leaves get the statistics of other rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import FloatArray, IntArray
from ..leaves import ConstantLeaves
from ..outcomes import Outcome
from ..tree import TreeStore, summed_from_leaves
from ._training_data import LeafSums, TrainingData


def refit(tree: TreeStore, data: TrainingData, outcome: Outcome) -> TreeStore:
    """Keep the structure of a tree and compute its posteriors from these rows."""
    return _with_sums(tree, data.leaf_sums(tree, outcome), constant_leaves(tree).prior)


def add_rows(tree: TreeStore, data: TrainingData, outcome: Outcome) -> TreeStore:
    """Keep the structure of a tree and add rows to the posteriors of the nodes on their paths."""
    leaves = constant_leaves(tree)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that do not fit raise an error below
        more = _with_sums(tree, data.leaf_sums(tree, outcome), leaves.prior)
        statistics = leaves.statistics + constant_leaves(more).statistics
        both = replace(leaves, statistics=statistics, monotonic_mean=None)
        posterior = both.posterior
    if not np.all(np.isfinite(posterior)):
        raise ValueError("These rows are too large to be added to the posteriors: give y and weights in other units.")
    return _with_leaves(tree, both, tree.n_node_samples + more.n_node_samples)


def held_out_log_likelihood(tree: TreeStore, sums: LeafSums, outcome: Outcome) -> float:
    """Log probability of rows that the tree was not fitted to, given those that it was."""
    posterior = constant_leaves(tree).posterior[tree.is_leaf]
    return float(outcome.log_marginal(posterior, sums.statistics).sum())


def constant_leaves(tree: TreeStore) -> ConstantLeaves:
    """The leaves of a tree, which must be constant."""
    if not isinstance(tree.leaves, ConstantLeaves):
        raise TypeError("This needs constant leaves.")
    return tree.leaves


def _with_sums(tree: TreeStore, sums: LeafSums, prior: FloatArray) -> TreeStore:
    structure = tree.children_left, tree.children_right, tree.depth
    leaves = ConstantLeaves(constant_leaves(tree).outcome, prior, summed_from_leaves(sums.statistics, *structure))
    n_rows = summed_from_leaves(sums.n_rows[:, None].astype(np.float64), *structure)[:, 0].astype(np.int64)
    return _with_leaves(tree, leaves, n_rows)


def _with_leaves(tree: TreeStore, leaves: ConstantLeaves, n_node_samples: IntArray) -> TreeStore:
    """Replace the leaves of a tree, and the likelihood of its splits accordingly."""
    if tree.split_likelihood is None:
        return replace(tree, leaves=leaves, n_node_samples=n_node_samples)
    at, likelihood = tree.internal_nodes, np.full(tree.node_count, -np.inf)
    of_sides = [
        leaves.outcome.log_marginal(leaves.prior[at], leaves.statistics[children[at]])
        for children in (tree.children_left, tree.children_right)
    ]
    likelihood[at] = of_sides[0] + of_sides[1]
    return replace(tree, leaves=leaves, n_node_samples=n_node_samples, split_likelihood=likelihood)
