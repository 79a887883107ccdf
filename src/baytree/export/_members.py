"""What a fitted result consists of, for exports: trees or tree spaces whose predictions are averaged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..fitted import Fitted, FittedSpace, FittedTree
from ..tree import Space, Tree

_MOST_TREES = 200  # of a tree space, where a target holds single trees alone


@dataclass(frozen=True)
class Member:
    """One tree, or one tree space, and its share in the prediction; shares sum to one."""

    share: float
    grown: Tree | Space


def members_of(fitted: Fitted) -> list[Member]:
    """The members as they are."""
    return [Member(1.0, fitted.tree if isinstance(fitted, FittedTree) else fitted.space)]


def trees_of(fitted: Fitted, target: str) -> list[tuple[float, Tree]]:
    """The members as single trees, for a target that holds nothing else; a tree space must have few."""
    if not isinstance(fitted, FittedSpace):
        return [(member.share, member.grown) for member in members_of(fitted) if isinstance(member.grown, Tree)]
    trees = fitted.best_trees(_MOST_TREES + 1)
    values = np.concatenate([own.tree.value[own.tree.is_leaf, 0] for own in trees])
    in_space = {tuple(value) for value in fitted.space.value[:, 0].tolist()}
    if len(trees) > _MOST_TREES or not {tuple(value) for value in values.tolist()} <= in_space:
        raise ValueError(
            f"{target} cannot hold a tree space that is more than {_MOST_TREES} trees: export modal_tree_, or explore "
            "less (max_nodes)."
        )
    weights = fitted.tree_weights(_MOST_TREES + 1).tolist()
    return [(weight, own.tree) for weight, own in zip(weights, trees, strict=True)]
