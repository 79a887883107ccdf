"""Values that training never saw at a split go both ways, by the training weight of either side.

Both ways are choices of a tree space: the same split twice, once with what was not seen on the left, once on the
right, weighted by the share of the node's training weight on that side. A row that a split knows goes the same way by
either choice. So the tree space's own recursion gives the average.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ._arrays import NodeArrays, take_splits
from ._space import Space
from ._splits import SplitKind
from ._tree import Tree


def as_space(tree: Tree) -> Space:
    """A tree as a space that holds no other; its nodes are in the order of `nodes_by_depth`."""
    order = nodes_by_depth(tree)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    internal = order[~tree.is_leaf[order]]
    nodes: dict[str, Any] = {name: getattr(tree, name)[order] for name in NodeArrays.__annotations__}
    nodes["log_likelihood"] = np.zeros(len(order))
    nodes["log_prior_leaf"] = np.where(tree.is_leaf[order], 0.0, -np.inf)
    return Space(
        **nodes,
        **take_splits(tree, internal) | {"log_prior_split": np.zeros(len(internal))},
        children_left=place[tree.children_left[internal]],
        children_right=place[tree.children_right[internal]],
        choice_start=np.append(0, np.cumsum(~tree.is_leaf[order])),
        complete=np.ones(len(order), dtype=bool),
        log_ceiling=np.zeros(len(order)),
        n_features=tree.n_features,
    )


def nodes_by_depth(tree: Tree) -> np.ndarray[Any, np.dtype[np.int64]]:
    """The nodes of a tree in the order in which a space has them."""
    return np.argsort(tree.depth, kind="stable")


def both_ways(space: Space) -> Space:
    """The same space, in which what a split has not seen goes both ways."""
    unsure = (space.is_of(SplitKind.THRESHOLD) & ~space.has_missing) | space.is_of(SplitKind.CATEGORY_SET)
    chosen = np.repeat(np.arange(space.n_choices), 1 + unsure)
    is_second = np.append(False, chosen[1:] == chosen[:-1]) if len(chosen) else np.zeros(0, dtype=bool)
    splits = take_splits(space, chosen)
    left = np.where(unsure[chosen], ~is_second, splits["unseen_go_to_left"])
    splits["unseen_go_to_left"] = left
    splits["missing_go_to_left"] = np.where(
        unsure[chosen] & ~space.has_missing[chosen], left, splits["missing_go_to_left"]
    )
    weight = space.weighted_n_node_samples
    on_left, on_right = weight[space.children_left[chosen]], weight[space.children_right[chosen]]
    share = np.where(left, on_left, on_right) / (on_left + on_right)
    splits["log_prior_split"] = splits["log_prior_split"] + np.where(unsure[chosen], np.log(share), 0.0)
    return replace(
        space,
        **splits,
        children_left=space.children_left[chosen],
        children_right=space.children_right[chosen],
        choice_start=np.append(0, np.cumsum(1 + unsure))[space.choice_start],
    )
