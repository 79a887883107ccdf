"""Given trees on other rows: scored anew on them, or with these rows added to their posteriors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import FloatArray
from ..leaves import ConstantLeaves
from ..outcomes import Outcome
from ..tree import TreeStore, summed_from_leaves
from ._training_data import LeafSums, TrainingData


def refit(tree: TreeStore, data: TrainingData, outcome: Outcome) -> TreeStore:
    """The splits of a tree with the posteriors, priors and odds that these rows give its nodes.

    On the rows of its training the result is the tree itself. With bins, a row goes where the middle of its bin goes.
    """
    constant_leaves(tree)
    return data.score(tree, outcome)


def add_rows(tree: TreeStore, data: TrainingData, outcome: Outcome) -> TreeStore:
    """The structure of a tree with rows added to the posteriors of the nodes they pass."""
    leaves, structure = constant_leaves(tree), (tree.children_left, tree.children_right, tree.depth)
    with np.errstate(over="ignore", invalid="ignore"):  # what does not fit is refused below
        sums = data.leaf_sums(tree, outcome)
        statistics = leaves.statistics + summed_from_leaves(sums.statistics, *structure)
        both = replace(leaves, statistics=statistics, mean_in_order=None)
        posterior = both.posterior
    if not np.all(np.isfinite(posterior)):
        raise ValueError("These rows are too large to be added to the posteriors: give y and weights in other units.")
    n_rows = summed_from_leaves(sums.n_rows[:, None].astype(np.float64), *structure)[:, 0].astype(np.int64)
    apart = None if tree.split_likelihood is None else _apart(tree, both)
    return replace(tree, leaves=both, n_node_samples=tree.n_node_samples + n_rows, split_likelihood=apart)


def held_out_log_likelihood(tree: TreeStore, sums: LeafSums, outcome: Outcome) -> float:
    """Log probability of rows that the tree has not seen, given those that it has."""
    posterior = constant_leaves(tree).posterior[tree.is_leaf]
    return float(outcome.log_marginal(posterior, sums.statistics).sum())


def constant_leaves(tree: TreeStore) -> ConstantLeaves:
    """The leaves of a tree, which must be constant."""
    if not isinstance(tree.leaves, ConstantLeaves):
        raise TypeError("This needs constant leaves.")
    return tree.leaves


def _apart(tree: TreeStore, leaves: ConstantLeaves) -> FloatArray:
    """Log likelihood of the two sides of each split under the prior of their parent."""
    at, likelihood = tree.internal_nodes, np.full(tree.node_count, -np.inf)
    sides = [tree.children_left[at], tree.children_right[at]]
    likelihood[at] = sum(leaves.outcome.log_marginal(leaves.prior[at], leaves.statistics[side]) for side in sides)
    return likelihood
