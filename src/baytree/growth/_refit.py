"""Refitting: the structure of a given tree is kept, and its leaves get the statistics of other rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..leaves import ConstantLeaves
from ..outcomes import Outcome
from ..tree import NO_CHILD, TreeStore, summed_from_leaves
from ._training_data import LeafSums, TrainingData

Structure = tuple[AnyArray, AnyArray, AnyArray]  # left and right children, and depths


def refit(tree: TreeStore, data: TrainingData, outcome: Outcome) -> TreeStore:
    """Keep the structure of a tree and compute its posteriors from these rows."""
    constant_leaves(tree)
    sums = data.leaf_sums(tree, outcome)
    leaves = leaves_of_sums(sums.statistics, _structure(tree), outcome, data.growth.smoothing)
    return _with_leaves(tree, leaves, _n_rows(tree, sums))


def leaves_of_sums(
    leaf_statistics: FloatArray, structure: Structure, outcome: Outcome, smoothing: float
) -> ConstantLeaves:
    """The leaf models of all nodes of plain trees, from the sums of statistics in the leaves."""
    left, right, depth = structure
    leaves = ConstantLeaves.with_root_prior(outcome, summed_from_leaves(leaf_statistics, *structure))
    if smoothing == 0:
        return leaves
    prior = np.tile(outcome.prior, (len(depth), 1))
    for level in range(int(depth.max())):
        at = np.flatnonzero((depth == level) & (left != NO_CHILD))
        for child in (left[at], right[at]):
            prior[child] = outcome.update(prior[at], smoothing * leaves.statistics[child])
    return replace(leaves, prior=prior)


def add_rows(tree: TreeStore, data: TrainingData, outcome: Outcome) -> TreeStore:
    """Keep the structure of a tree and add rows to the posteriors of the nodes on their paths."""
    leaves = constant_leaves(tree)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that do not fit raise an error below
        sums = data.leaf_sums(tree, outcome)
        statistics = leaves.statistics + summed_from_leaves(sums.statistics, *_structure(tree))
        both = replace(leaves, statistics=statistics, monotonic_mean=None)
        posterior = both.posterior
    if not np.all(np.isfinite(posterior)):
        raise ValueError("These rows are too large to be added to the posteriors: give y and weights in other units.")
    return _with_leaves(tree, both, tree.n_node_samples + _n_rows(tree, sums))


def held_out_log_likelihood(tree: TreeStore, sums: LeafSums, outcome: Outcome) -> float:
    """Log probability of rows that the tree was not fitted to, given those that it was."""
    posterior = constant_leaves(tree).posterior[tree.is_leaf]
    return float(outcome.log_marginal(posterior, sums.statistics).sum())


def constant_leaves(tree: TreeStore) -> ConstantLeaves:
    """The leaves of a tree, which must be constant."""
    if not isinstance(tree.leaves, ConstantLeaves):
        raise TypeError("This needs constant leaves.")
    return tree.leaves


def _structure(tree: TreeStore) -> Structure:
    return tree.children_left, tree.children_right, tree.depth


def _n_rows(tree: TreeStore, sums: LeafSums) -> IntArray:
    """How many rows are in each node."""
    n_rows = summed_from_leaves(sums.n_rows[:, None].astype(np.float64), *_structure(tree))
    return n_rows[:, 0].astype(np.int64)


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
