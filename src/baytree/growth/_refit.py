"""Refitting: a given tree is scored on other rows, or these rows are added to its posteriors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import FloatArray
from ..leaves import ConstantLeaves
from ..outcomes import Outcome
from ..tree import TreeStore, sum_from_leaves
from ._training_data import LeafSums, TrainingData


def refit(tree: TreeStore, data: TrainingData, outcome: Outcome) -> TreeStore:
    """Keep the splits of a tree and compute the posteriors, priors and odds of its nodes from these rows.

    On its training rows the result is the tree itself. With bins, a row goes where the midpoint of its bin goes.
    """
    constant_leaves(tree, "A given tree")
    return data.score(tree, outcome)


def add_rows(tree: TreeStore, data: TrainingData, outcome: Outcome) -> TreeStore:
    """Keep the structure of a tree and add rows to the posteriors of the nodes on their paths."""
    leaves, structure = constant_leaves(tree, "partial_fit"), (tree.children_left, tree.children_right, tree.depth)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers that do not fit raise an error below
        sums = data.leaf_sums(tree, outcome)
        statistics = leaves.statistics + sum_from_leaves(sums.statistics, *structure)
        both = replace(leaves, statistics=statistics, monotonic_mean=None)
        posterior = both.posterior
    if not np.all(np.isfinite(posterior)):
        raise ValueError("These rows are too large to be added to the posteriors: give y and weights in other units.")
    n_rows = sum_from_leaves(sums.n_rows[:, None].astype(np.float64), *structure)[:, 0].astype(np.int64)
    likelihood = None if tree.split_likelihood is None else _split_likelihood(tree, both)
    added = data.count_missing(tree).n_missing
    return replace(
        tree,
        leaves=both,
        n_node_samples=tree.n_node_samples + n_rows,
        n_missing=None if tree.n_missing is None or added is None else tree.n_missing + added,
        split_likelihood=likelihood,
    )


def held_out_log_likelihood(tree: TreeStore, sums: LeafSums, outcome: Outcome) -> float:
    """Log probability of rows that the tree was not fitted to, given those that it was."""
    posterior = constant_leaves(tree, "This prior").posterior[tree.is_leaf]
    return float(outcome.log_marginal(posterior, sums.statistics).sum())


def held_out_loss(leaves: ConstantLeaves, statistics: FloatArray) -> float:
    """Loss of rows with these sums in each leaf: minus the log probability of their classes, or of all outcomes."""
    if leaves.outcome.predicts_classes:
        return -float(np.sum(statistics * np.log(np.maximum(leaves.value, np.finfo(float).eps))))
    return -float(np.sum(leaves.outcome.log_marginal(leaves.posterior, statistics)))


def constant_leaves(tree: TreeStore, what: str) -> ConstantLeaves:
    """The leaves of a tree, which must be constant."""
    if not isinstance(tree.leaves, ConstantLeaves):
        raise ValueError(f"{what} needs constant leaves: fit a model with leaf='constant'.")
    return tree.leaves


def _split_likelihood(tree: TreeStore, leaves: ConstantLeaves) -> FloatArray:
    """Log likelihood of the two sides of each split under the prior of their parent."""
    at, likelihood = tree.internal_nodes, np.full(tree.node_count, -np.inf)
    sides = [tree.children_left[at], tree.children_right[at]]
    likelihood[at] = sum(leaves.outcome.log_marginal(leaves.prior[at], leaves.statistics[side]) for side in sides)
    return likelihood
