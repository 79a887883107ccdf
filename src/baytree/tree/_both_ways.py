"""Values that training never saw at a split go both ways, by the training weight of either side.

Both ways are choices of a tree space: the same split twice, once with what was not seen on the left, once on the
right, weighted by the share of the node's training weight on that side. A row that a split knows goes the same way by
either choice. So the tree space's own recursion gives the average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .._typing import IntArray
from ._arrays import NodeArrays, joined, take_splits
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


def nodes_by_depth(tree: Tree) -> IntArray:
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


def side_by_side(spaces: Sequence[Space]) -> Space:
    """Spaces whose nodes have an evidence of one, as a single space in which each has the same share.

    The root is new. It has a choice for each of them, with that space on both sides, so that its split decides nothing.
    """
    n_spaces = len(spaces)
    first = np.cumsum([1, *(space.node_count for space in spaces)])[:-1]
    depth = np.concatenate([[0], *(1 + space.depth for space in spaces)])
    order = np.argsort(depth, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))

    def places(name: str) -> IntArray:
        return np.concatenate([place[begin + getattr(space, name)] for begin, space in zip(first, spaces, strict=True)])

    owner = places("owner")
    below = np.argsort(owner, kind="stable")
    splits = take_splits(joined(spaces), np.append(np.full(n_spaces, -1), below))
    splits["kind"][:n_spaces] = SplitKind.PRESENT_MISSING
    splits["feature"][:n_spaces] = next((space.feature[0] for space in spaces if space.n_choices), 0)
    splits["log_prior_split"][:n_spaces] = -np.log(n_spaces)
    nodes: dict[str, Any] = {
        name: np.concatenate([getattr(spaces[0], name)[:1], *(getattr(space, name) for space in spaces)])[order]
        for name in NodeArrays.__annotations__
    }
    nodes["depth"], nodes["log_prior_leaf"][0] = depth[order], -np.inf
    n_choices = np.bincount(owner, minlength=len(order))
    n_choices[0] = n_spaces
    return Space(
        **nodes,
        **splits,
        children_left=np.append(place[first], places("children_left")[below]),
        children_right=np.append(place[first], places("children_right")[below]),
        choice_start=np.append(0, np.cumsum(n_choices)),
        complete=np.ones(len(order), dtype=bool),
        log_ceiling=np.zeros(len(order)),
        n_features=spaces[0].n_features,
    )
