"""The trees of a forest as shared arrays, one tree behind the other."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ._arrays import NO_SPLIT
from ._splits import SplitKind
from ._tree import LEAF, TOLERANCE

_ENTRIES = {
    "category_start": ("category", "category_goes_left"),
    "hyperplane_start": ("hyperplane_feature", "hyperplane_coefficient", "hyperplane_missing_value"),
}
_RAGGED = {name for start, others in _ENTRIES.items() for name in (start, *others)}


@dataclass(frozen=True, eq=False)
class Forest:
    """Nodes of all trees in depth-first order, one entry per node in each array, in small types.

    Attributes
    ----------
    tree_start
        The nodes of tree t are those from ``tree_start[t]`` to ``tree_start[t + 1]``; the first is its root.
    children_right
        The node, numbered within its tree, that rows on the right of the split go to; -1 in leaves. Rows on the left go
        to the next node.
    kind, feature, threshold, missing_go_to_left, has_missing, unseen_go_to_left, n_node_samples
        As in `Tree`.
    category_start, category, category_goes_left
        As in `Tree`.
    hyperplane_start, hyperplane_feature, hyperplane_coefficient, hyperplane_missing_value
        As in `Tree`.
    log_prior_leaf, log_prior_split
        As in `Tree`.
    log_odds_split
        Log posterior odds of the node's best split against no split, as the tree saw them while it grew: with weights
        times a factor.
    leaf_statistics
        What the outcomes of the rows of each leaf add up to, each as often as it counts in the tree, without the
        factor; one entry per leaf.
    n_features
        Number of features of the table.
    """

    tree_start: IntArray
    children_right: AnyArray
    kind: AnyArray
    feature: AnyArray
    threshold: FloatArray
    missing_go_to_left: BoolArray
    has_missing: BoolArray
    unseen_go_to_left: BoolArray
    category_start: AnyArray
    category: AnyArray
    category_goes_left: BoolArray
    hyperplane_start: AnyArray
    hyperplane_feature: AnyArray
    hyperplane_coefficient: FloatArray
    hyperplane_missing_value: FloatArray
    n_node_samples: AnyArray
    log_prior_leaf: AnyArray
    log_prior_split: AnyArray
    log_odds_split: AnyArray
    leaf_statistics: FloatArray
    n_features: int

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # and nothing that was worked out

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def arrays(self) -> dict[str, Any]:
        """Every array by its name."""
        return {name: value for name, value in self.__getstate__().items() if name != "n_features"}

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_start) - 1

    @property
    def node_count(self) -> int:
        """Number of nodes of all trees."""
        return len(self.kind)

    @property
    def is_leaf(self) -> BoolArray:
        """Whether each node is a leaf."""
        return np.asarray(self.kind == SplitKind.NONE)

    @property
    def roots(self) -> IntArray:
        """The root of each tree."""
        return self.tree_start[:-1]

    @property
    def tree_of_node(self) -> IntArray:
        """The tree that each node is in."""
        return np.repeat(np.arange(self.n_trees), np.diff(self.tree_start))

    def children(self) -> tuple[IntArray, IntArray]:
        """Left and right child of each node, numbered throughout the forest; -1 in leaves."""
        left = np.where(self.is_leaf, LEAF, np.arange(1, self.node_count + 1))
        first = np.repeat(self.roots, np.diff(self.tree_start))
        return left, np.where(self.is_leaf, LEAF, self.children_right + first)

    def internal_by_depth(self) -> list[IntArray]:
        """The internal nodes of each depth, from the roots down."""
        left, right = self.children()
        levels, level = [], self.roots[left[self.roots] != LEAF]
        while len(level):
            levels.append(level)
            below = np.concatenate([left[level], right[level]])
            level = np.sort(below[left[below] != LEAF])
        return levels

    @cached_property
    def depth(self) -> IntArray:
        """Number of splits above each node."""
        left, right = self.children()
        result = np.zeros(self.node_count, dtype=np.int64)
        for level, at in enumerate(self.internal_by_depth()):
            result[left[at]] = result[right[at]] = level + 1
        return result

    @cached_property
    def statistics(self) -> FloatArray:
        """What the outcomes of the rows of each node add up to: leaf by leaf, and from the leaves up."""
        left, right = self.children()
        result = np.zeros((self.node_count, self.leaf_statistics.shape[1]))
        result[self.is_leaf] = self.leaf_statistics
        for at in reversed(self.internal_by_depth()):
            result[at] = result[left[at]] + result[right[at]]
        return result

    @cached_property
    def used_features(self) -> IntArray:
        """The features that some split uses, in ascending order."""
        return np.union1d(self.feature[~self.is_leaf], self.hyperplane_feature).astype(np.int64)

    def feature_uses(self) -> BoolArray:
        """Whether each tree uses each feature, shape (n_trees, n_features)."""
        result = np.zeros((self.n_trees, self.n_features), dtype=bool)
        internal = np.flatnonzero(~self.is_leaf)
        result[self.tree_of_node[internal], self.feature[internal]] = True
        owner = np.repeat(np.arange(self.node_count), np.diff(self.hyperplane_start))
        result[self.tree_of_node[owner], self.hyperplane_feature] = True
        return result

    def routing(self) -> dict[str, Any]:
        """What the compiled core needs to send rows down."""
        left, right = self.children()
        whole = ("feature", "category_start", "category", "hyperplane_start", "hyperplane_feature")
        as_they_are = (
            "kind",
            "threshold",
            "missing_go_to_left",
            "unseen_go_to_left",
            "category_goes_left",
            "hyperplane_coefficient",
            "hyperplane_missing_value",
            "tree_start",
        )
        return (
            {"children_left": left, "children_right": right}
            | {name: getattr(self, name).astype(np.int64) for name in whole}
            | {name: getattr(self, name) for name in as_they_are}
        )

    def tree_splits(self, t: int) -> dict[str, Any]:
        """The splits of one tree, as the arrays of a `Tree`."""
        part = slice(int(self.tree_start[t]), int(self.tree_start[t + 1]))
        kind = self.kind[part]
        right = self.children_right[part].astype(np.int64)
        result: dict[str, Any] = {
            name: getattr(self, name)[part].astype(np.int64) if name == "feature" else getattr(self, name)[part]
            for name in ("kind", "feature", "threshold", "missing_go_to_left", "has_missing", "unseen_go_to_left")
        }
        result["children_left"] = np.where(kind == SplitKind.NONE, LEAF, np.arange(1, len(kind) + 1))
        result["children_right"] = right
        for name, others in _ENTRIES.items():
            start = getattr(self, name)[part.start : part.stop + 1]
            own = slice(int(start[0]), int(start[-1]))
            result[name] = (start - start[0]).astype(np.int64)
            for other in others:
                array = getattr(self, other)[own]
                result[other] = array.astype(np.int64) if array.dtype.kind == "i" else array
        return {name: np.array(array) for name, array in result.items()}

    def pruned_to(self, internal: BoolArray, log_odds_split: AnyArray) -> Self:
        """Keep of these internal nodes those that are connected to a root; other nodes become leaves or go."""
        left, right = self.children()
        stays = np.ones(self.node_count, dtype=bool)
        for at in self.internal_by_depth():
            stays[left[at]] = stays[right[at]] = stays[at] & internal[at]
        leaf = ~internal[stays]
        place = np.append(0, np.cumsum(stays))
        tree_start = place[self.tree_start]
        first = np.repeat(self.roots, np.diff(self.tree_start))[stays]
        by_node = self.arrays().keys() - _RAGGED - {"tree_start", "leaf_statistics"}
        arrays = {name: getattr(self, name) for name in by_node}
        arrays |= {"log_odds_split": log_odds_split.astype(np.float32)}
        kept = {name: array[stays] for name, array in arrays.items()}
        kept["children_right"] = np.where(leaf, LEAF, place[right[stays]] - place[first]).astype(np.int32)
        for name, filler in NO_SPLIT.items():
            if name in kept:
                kept[name] = np.where(leaf, np.asarray(filler, dtype=kept[name].dtype), kept[name])
        for name, others in _ENTRIES.items():
            n_entries = np.diff(getattr(self, name))
            has = np.repeat(stays & internal, n_entries)
            kept[name] = np.append(0, np.cumsum(n_entries[stays] * ~leaf)).astype(np.int32)
            kept |= {other: getattr(self, other)[has] for other in others}
        return replace(self, tree_start=tree_start, leaf_statistics=self.statistics[stays][leaf], **kept)

    def best_splits(self, n_splits: int, leaf_score: FloatArray) -> BoolArray:
        """Which nodes are, in their tree, the first so many that are split where the log posterior gains most."""
        left, right = self.children()
        gain = np.where(self.is_leaf, -np.inf, self.log_prior_split - leaf_score)
        gain[~self.is_leaf] += leaf_score[left[~self.is_leaf]] + leaf_score[right[~self.is_leaf]]
        kept = np.zeros(self.node_count, dtype=bool)
        for root in self.roots.tolist():
            frontier: list[tuple[float, int]] = [] if self.is_leaf[root] else [(-gain[root], root)]
            for _ in range(n_splits):
                if not frontier:
                    break
                _, node = heapq.heappop(frontier)
                kept[node] = True
                for child in (int(left[node]), int(right[node])):
                    if not self.is_leaf[child]:
                        heapq.heappush(frontier, (-gain[child], child))
        return kept

    def most_probable_pruning(self, log_likelihood: FloatArray) -> Self:
        """Every tree, or the pruning of it with the highest log posterior; of equals the smallest."""
        left, right = self.children()
        as_leaf = self.log_prior_leaf + log_likelihood
        best, as_tree = as_leaf.copy(), np.full(self.node_count, -np.inf)
        for at in reversed(self.internal_by_depth()):
            as_tree[at] = self.log_prior_split[at] + best[left[at]] + best[right[at]]
            best[at] = np.maximum(best[at], as_tree[at])
        kept = as_tree > as_leaf + TOLERANCE * (1 + np.abs(as_leaf))  # rounding does not decide
        pruned = ~kept & ~self.is_leaf
        return self.pruned_to(kept, np.where(pruned, as_tree - as_leaf, self.log_odds_split))

    def parts(self, most_nodes: int) -> Iterator[Self]:
        """The trees in groups of at most so many nodes, or of one tree."""
        first = 0
        while first < self.n_trees:
            stop = int(np.searchsorted(self.tree_start, self.tree_start[first] + most_nodes, side="right")) - 1
            stop = max(stop, first + 1)
            yield self.trees_between(first, stop)
            first = stop

    def trees_between(self, first: int, stop: int) -> Self:
        """The trees of the numbers first, first + 1, ..., stop - 1."""
        nodes = slice(int(self.tree_start[first]), int(self.tree_start[stop]))
        leaves = slice(*(int(np.count_nonzero(self.is_leaf[:end])) for end in (nodes.start, nodes.stop)))
        part = {name: array[nodes] for name, array in self.arrays().items()}
        part["tree_start"] = self.tree_start[first : stop + 1] - nodes.start
        part["leaf_statistics"] = self.leaf_statistics[leaves]
        for name, others in _ENTRIES.items():
            start = getattr(self, name)[nodes.start : nodes.stop + 1]
            part[name] = start - start[0]
            part |= {other: getattr(self, other)[start[0] : start[-1]] for other in others}
        return replace(self, **part)

    def with_trees(self, other: Forest) -> Self:
        """The trees of this forest and, behind them, those of another."""
        joined: dict[str, Any] = {}
        for name, array in self.arrays().items():
            more = getattr(other, name)
            if name in ("tree_start", *_ENTRIES):
                joined[name] = np.concatenate([array, more[1:] + array[-1]]).astype(array.dtype)
            else:
                joined[name] = np.concatenate([array, more])
        return replace(self, **joined)
