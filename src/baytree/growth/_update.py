"""More rows for a tree that is grown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .._typing import IntArray
from ..outcomes import Outcome, Target
from ..tree import Tree


def update_tree(tree: Tree, leaves: IntArray, target: Target, outcome: Outcome) -> Tree:
    """Add rows to the posteriors of the nodes they pass; what led to the structure stays as it was."""
    n_rows = np.bincount(leaves, minlength=tree.node_count)
    with np.errstate(over="ignore", invalid="ignore"):  # what does not fit is refused below
        statistics = outcome.sum_statistics(target, leaves, tree.node_count)
        for at in reversed(tree.internal_by_depth):
            left, right = tree.children_left[at], tree.children_right[at]
            statistics[at] = statistics[left] + statistics[right]
            n_rows[at] = n_rows[left] + n_rows[right]
        posterior = outcome.update(tree.posterior, statistics)
    if not np.all(np.isfinite(posterior)):
        raise ValueError("These rows are too large to be added to the posteriors: give y and weights in other units.")
    return replace(
        tree,
        posterior=posterior,
        value=outcome.mean(posterior)[:, None, :],
        n_node_samples=tree.n_node_samples + n_rows,
        weighted_n_node_samples=tree.weighted_n_node_samples + outcome.weights(statistics),
    )
