"""Arrays of nodes that follow from the structure: depths from the roots down, sums from the leaves up."""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ._choices import NO_CHILD


def depth_of(children_left: AnyArray, children_right: AnyArray, roots: IntArray, n_nodes: int) -> AnyArray:
    """The number of splits above each node of plain trees."""
    result = np.zeros(n_nodes, dtype=np.int32)
    level, depth = roots[children_left[roots] != NO_CHILD], 0
    while len(level):
        depth += 1
        below = np.concatenate([children_left[level], children_right[level]])
        result[below] = depth
        level = below[children_left[below] != NO_CHILD]
    return result


def depth_of_graph(choice_start: AnyArray, children_left: AnyArray, children_right: AnyArray) -> IntArray:
    """The number of splits above each node of a tree space; refuses nodes that lie at several depths."""
    n_nodes = len(choice_start) - 1
    owner = np.repeat(np.arange(n_nodes), np.diff(choice_start))
    splits = np.flatnonzero(children_left != NO_CHILD)
    result, level, depth = np.zeros(n_nodes, dtype=np.int64), np.zeros(1, dtype=np.int64), 0
    while len(level):
        is_open = np.zeros(n_nodes, dtype=bool)
        is_open[level] = True
        below = splits[is_open[owner[splits]]]
        level, depth = np.unique(np.concatenate([children_left[below], children_right[below]])), depth + 1
        result[level] = depth
    for children in (children_left, children_right):
        if np.any(result[children[splits]] != result[owner[splits]] + 1):
            raise ValueError("the depth of a node is wrong")
    return result


def sum_from_leaves(
    leaf_statistics: FloatArray, children_left: AnyArray, children_right: AnyArray, depth: IntArray
) -> FloatArray:
    """Statistics of every node of plain trees, given those of the leaves: what the two children add up to."""
    is_leaf = children_left == NO_CHILD
    result = np.zeros((len(depth), leaf_statistics.shape[1]))
    result[is_leaf] = leaf_statistics
    internal = np.flatnonzero(~is_leaf)
    order = internal[np.argsort(depth[internal], kind="stable")]
    for at in reversed(np.split(order, np.cumsum(np.bincount(depth[internal]))[:-1])) if len(order) else ():
        result[at] = result[children_left[at]] + result[children_right[at]]
    return result
