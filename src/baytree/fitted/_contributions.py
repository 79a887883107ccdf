"""What each feature of a row adds to its prediction: path-dependent Shapley values of the average over all trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .._typing import FloatArray
from ..leaves import ModelLeaves
from ..table import Rows

if TYPE_CHECKING:
    from ._fitted import Fitted

_MOST_SETS = 2**24  # sets of features of a row, in all trees, before orders of features are drawn
_PAIRS = 16  # of orders, for each tree that needs more sets than its part of them
_ROWS_AT_ONCE = 256  # whose leaves predict from the values of the row


@dataclass(frozen=True)
class Contributions:
    """The contribution of each feature to each prediction, which is ``base + values.sum(axis=1)``.

    Attributes
    ----------
    values
        Shape (n_rows, n_features, n_values).
    error
        Standard errors of the values: 0 where they are exact.
    base
        The prediction where no feature is known, shape (n_rows, n_values).
    """

    values: FloatArray
    error: FloatArray
    base: FloatArray


def contributions(fitted: Fitted, rows: Rows, n_threads: int = 1) -> Contributions:
    """Compute the contributions for rows of all columns.

    Where a feature is not known, both sides of a split along it are averaged by the weight of their training rows; a
    hyperplane is known where all of its features are. A tree that has too many sets of features on its paths draws
    orders of the features instead, the same ones for every row; the sum stays the prediction. To the values of the
    splits, between leaves with every term at its centre, the terms of the row's leaf are added.
    """
    trees, X = fitted.routed.trees, rows.dense()
    shape = (*X.shape, trees.leaves.value.shape[1])
    values, variance, base = np.zeros(shape), np.zeros(shape), np.zeros((shape[0], shape[2]))
    by_node = _has_values_of_nodes(fitted)
    step = max(len(X), 1) if by_node else _ROWS_AT_ONCE
    for first in range(0, len(X), step):
        part = slice(first, first + step)
        of_nodes = _node_values(fitted, rows.take(first, first + step))
        for t, (nodes, graph) in enumerate(trees.routing.shapley):
            of_trees = graph.contributions(
                X[part],
                np.ascontiguousarray(of_nodes[:, nodes]),
                max_sets=_MOST_SETS // trees.n_trees,
                n_pairs=_PAIRS,
                stream=t,
                n_threads=n_threads,
            )
            for total, of_tree in zip((values, variance, base), of_trees, strict=True):
                total[part] += of_tree
    if isinstance(trees.leaves, ModelLeaves) and by_node:
        values += trees.leaves.contributions(fitted.routed.leaves(rows, n_threads), rows, X.shape[1])
    result = Contributions(values / trees.n_trees, np.sqrt(variance) / trees.n_trees, base / trees.n_trees)
    return calibrated_contributions(fitted, result)


def calibrated_contributions(fitted: Fitted, of_average: Contributions) -> Contributions:
    """The contributions to what a forest predicts, given those to the average over its trees.

    Standard errors are taken together as if they were all wrong in the same direction.
    """
    calibration = fitted.forest_calibration
    if calibration is None:
        return of_average
    values, error, base = of_average.values, of_average.error, of_average.base
    return Contributions(
        calibration.contributions(values, base),
        calibration.errors(error, values, base) if error.any() else error,
        calibration.probabilities(base),
    )


def _has_values_of_nodes(fitted: Fitted) -> bool:
    """Whether nodes have values of their own, from which a row differs at most by the terms of its leaf."""
    leaves = fitted.routed.trees.leaves
    return leaves.is_constant or (isinstance(leaves, ModelLeaves) and fitted.has_one_leaf)


def _node_values(fitted: Fitted, rows: Rows) -> FloatArray:
    """The prediction of every node, shape (1, n_nodes, n_values); by row where leaves predict from its values."""
    leaves, n_nodes = fitted.routed.trees.leaves, fitted.routed.trees.node_count
    if _has_values_of_nodes(fitted):
        return leaves.value[None]
    node, row = np.tile(np.arange(n_nodes), len(rows)), np.repeat(np.arange(len(rows)), n_nodes)
    return leaves.means(node, rows, row).reshape(len(rows), n_nodes, -1)
