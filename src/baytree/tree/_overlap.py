"""The nodes of two trees that hold nearly the same rows, and whether two splits divide rows alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from .._typing import BoolArray, FloatArray, IntArray
from ._choices import NO_CHILD
from ._splits import CategorySet, Hyperplane, PresentMissing, Split, Threshold

if TYPE_CHECKING:
    from ._store import TreeStore

Columns = Callable[[int], FloatArray]  # the values of a feature, by its position


class Correspondence(NamedTuple):
    """For each node of one tree the node of another tree whose rows overlap most, and the Jaccard index of the two."""

    node: IntArray
    overlap: FloatArray


def corresponding_nodes(
    one: TreeStore, other: TreeStore, leaf_of_one: IntArray, leaf_of_other: IntArray
) -> Correspondence:
    """Match the nodes of two single trees by the rows that they hold: ``|A and B| / |A or B|`` is largest.

    Of several such nodes the first is taken, which is the highest one of a path.
    """
    both = sparse.csr_matrix(
        (np.ones(len(leaf_of_one), dtype=np.int64), (leaf_of_one, leaf_of_other)),
        shape=(one.node_count, other.node_count),
    )
    shared = (_is_above(one) @ both @ _is_above(other).T).tocoo()
    n_one, n_other = (
        _is_above(tree) @ np.bincount(leaf, minlength=tree.node_count)
        for tree, leaf in ((one, leaf_of_one), (other, leaf_of_other))
    )
    overlap = shared.data / (n_one[shared.row] + n_other[shared.col] - shared.data)
    order = np.lexsort((shared.col, -overlap, shared.row))
    rows, first = np.unique(shared.row[order], return_index=True)
    best = order[first]
    node, jaccard = np.zeros(one.node_count, dtype=np.int64), np.zeros(one.node_count)
    node[rows], jaccard[rows] = shared.col[best], overlap[best]
    return Correspondence(node, jaccard)


def _is_above(tree: TreeStore) -> sparse.csr_matrix:
    """1 where the second node is the first or below it, shape (n_nodes, n_nodes); of leaves below, only those."""
    leaves = np.flatnonzero(tree.children_left == NO_CHILD)
    above, below, at = [leaves], [leaves], leaves
    while True:
        parent = tree.parents[at]
        leaves, at = leaves[parent >= 0], parent[parent >= 0]
        if not len(at):
            break
        above.append(at)
        below.append(leaves)
    entries = np.concatenate(above), np.concatenate(below)
    return sparse.csr_matrix((np.ones(len(entries[0]), dtype=np.int64), entries), shape=(tree.node_count,) * 2)


def goes_left(split: Split, values_of: Columns) -> BoolArray:
    """Whether each row goes left, as ``split.goes_left`` says for one row."""
    match split:
        case Hyperplane():
            total = np.zeros(len(values_of(split.features[0])))
            for feature, coefficient, missing in zip(
                split.features, split.coefficients, split.missing_values, strict=True
            ):
                values = values_of(feature)
                total += coefficient * np.where(np.isnan(values), missing, values)
            return total <= split.threshold
        case PresentMissing():
            return ~np.isnan(values_of(split.feature))
        case Threshold():
            values = values_of(split.feature)
            return np.where(np.isnan(values), split.missing_left, values <= split.threshold)
        case CategorySet():
            values = values_of(split.feature)
            known = np.isin(values, split.left) | (split.unseen_left & ~np.isin(values, split.right))
            return np.where(np.isnan(values), split.missing_left, known)


def divides_alike(one: Split, other: Split, values_of: Columns, share: float) -> bool:
    """Whether two splits divide rows into nearly the same two sets.

    At least a share of the rows is on the same side, and the rows that are not are at most half of the smaller side of
    the first split. The sides of sets of categories and of hyperplanes have no order: either naming counts.
    """
    left, other_left = goes_left(one, values_of), goes_left(other, values_of)
    n, n_left = len(left), int(np.count_nonzero(left))
    n_moved = int(np.count_nonzero(left != other_left))
    if isinstance(one, CategorySet | Hyperplane):
        n_moved = min(n_moved, n - n_moved)
    return n - n_moved >= share * n - 1e-9 * n and 2 * n_moved <= min(n_left, n - n_left)
