"""A tree as the list of its splits: to be changed, and to be grown on or scored on rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import _core
from .._typing import AnyArray
from ..leaves import ConstantLeaves
from ..outcomes import Outcome
from ._choices import NO_CHILD, NO_SPLIT, RAGGED
from ._node_arrays import depth_of
from ._routing import core_structure
from ._splits import CategorySet, Hyperplane, PresentMissing, Split, SplitKind, Threshold
from ._store import TreeStore

NOTHING, ANYTHING = -2, -1  # what grows below a leaf; the number of a feature: one split, the best by that feature
_KIND = {
    Threshold: SplitKind.THRESHOLD,
    PresentMissing: SplitKind.PRESENT_MISSING,
    CategorySet: SplitKind.CATEGORY_SET,
    Hyperplane: SplitKind.HYPERPLANE,
}


@dataclass(frozen=True)
class OutlineNode:
    """A node: its split, and what the rows decide.

    Attributes
    ----------
    split
        None: a leaf.
    grow
        What grows below a leaf: nothing, anything, or one split by the feature of this number.
    forbidden
        Features that nothing uses from this node on down.
    """

    split: Split | None = None
    grow: int = NOTHING
    forbidden: tuple[int, ...] = ()


Outline = tuple[OutlineNode, ...]  # in depth-first order, the left child right behind its parent
LEAF = OutlineNode()


def outline_of(tree: TreeStore) -> Outline:
    """The splits of a plain tree whose nodes are in depth-first order."""
    return tuple(LEAF if leaf else OutlineNode(tree.split(node)) for node, leaf in enumerate(tree.is_leaf))


def end_of_subtree(outline: Sequence[OutlineNode], node: int) -> int:
    """The number behind the last node of the subtree of a node."""
    n_open, at = 1, node
    while n_open:
        n_open += -1 if outline[at].split is None else 1
        at += 1
    return at


def paths_of(outline: Iterable[OutlineNode]) -> list[str]:
    """The way to each node: L for each step to the left, R to the right. Edits elsewhere do not change it."""
    result, stack = [], [""]
    for node in outline:
        path = stack.pop()
        result.append(path)
        if node.split is not None:
            stack += [path + "R", path + "L"]
    return result


def topmost_with(outline: Outline, node: int, feature: int) -> list[int]:
    """The topmost nodes that are split on a feature, at a node and below it."""
    result, at, end = [], node, end_of_subtree(outline, node)
    while at < end:
        split = outline[at].split
        if split is not None and feature in split.features:
            result.append(at)
            at = end_of_subtree(outline, at)
        else:
            at += 1
    return result


def replace_subtree(outline: Outline, node: int, below: Iterable[OutlineNode]) -> Outline:
    """Put other nodes in the place of the subtree of a node."""
    return (*outline[:node], *below, *outline[end_of_subtree(outline, node) :])


def replace_split(outline: Outline, node: int, split: Split) -> Outline:
    """Change the split of a node, and keep what is below it."""
    return (*outline[:node], replace(outline[node], split=split), *outline[node + 1 :])


def structure_of(outline: Outline, n_features: int, outcome: Outcome) -> _core.TreeStructure:
    """Convert an outline for the compiled core, which makes a tree of it and of rows."""
    grow = np.array([node.grow for node in outline], dtype=np.int64)
    return core_structure(store_of(outline, n_features, outcome), grow, [node.forbidden for node in outline])


def store_of(outline: Outline, n_features: int, outcome: Outcome) -> TreeStore:
    """The structure of a tree, without rows."""
    n = len(outline)
    left, right = _children(outline)
    roots = np.zeros(1, dtype=np.int64)
    return TreeStore(
        leaves=ConstantLeaves.with_root_prior(outcome, np.zeros((n, 0))),
        n_features=n_features,
        roots=roots,
        choice_start=np.arange(n + 1),
        children_left=left,
        children_right=right,
        depth=depth_of(left, right, roots, n),
        n_node_samples=np.zeros(n, dtype=np.int64),
        log_prior_leaf=np.zeros(n),
        **_split_arrays([node.split for node in outline]),
    )


def _children(outline: Outline) -> tuple[AnyArray, AnyArray]:
    left, right = np.full(len(outline), NO_CHILD, dtype=np.int64), np.full(len(outline), NO_CHILD, dtype=np.int64)
    waiting: list[int] = []  # nodes whose right child is still to come
    for node, entry in enumerate(outline):
        if node and left[node - 1] == NO_CHILD:
            right[waiting.pop()] = node
        if entry.split is not None:
            left[node] = node + 1
            waiting.append(node)
    return left, right


def _split_arrays(splits: Sequence[Split | None]) -> dict[str, Any]:
    """The arrays of choices of some splits, one for each node."""
    entries = [dict(NO_SPLIT) if split is None else NO_SPLIT | _entry(split) for split in splits]
    arrays: dict[str, Any] = {name: np.array([entry[name] for entry in entries]) for name in NO_SPLIT}
    categories = [_categories(split) if isinstance(split, CategorySet) else [] for split in splits]
    terms = [_terms(split) if isinstance(split, Hyperplane) else [] for split in splits]
    arrays |= _ragged("category_start", categories, (np.int64, np.bool_))
    arrays |= _ragged("hyperplane_start", terms, (np.int64, np.float64, np.float64))
    return arrays | {"kind": arrays["kind"].astype(np.uint8), "feature": arrays["feature"].astype(np.int64)}


def _categories(split: CategorySet) -> list[tuple[Any, ...]]:
    return sorted([*((category, True) for category in split.left), *((category, False) for category in split.right)])


def _terms(split: Hyperplane) -> list[tuple[Any, ...]]:
    return list(zip(split.features, split.coefficients, split.missing_values, strict=True))


def _ragged(start: str, entries: list[list[tuple[Any, ...]]], dtypes: tuple[type, ...]) -> dict[str, Any]:
    """The arrays that have several entries for a choice, and where those of each choice begin."""
    together = [entry for of_choice in entries for entry in of_choice]
    columns = zip(RAGGED[start], dtypes, strict=True)
    arrays: dict[str, Any] = {
        name: np.array([entry[i] for entry in together], dtype=dtype) for i, (name, dtype) in enumerate(columns)
    }
    return arrays | {start: np.cumsum([0, *map(len, entries)]).astype(np.int64)}


def _entry(split: Split) -> dict[str, Any]:
    """What the arrays of choices that have one entry for each hold of a split."""
    result: dict[str, Any] = {"kind": _KIND[type(split)], "feature": split.features[0], "log_prior_split": 0.0}
    match split:
        case Threshold():
            result |= {"threshold": split.threshold}
        case PresentMissing():
            result |= {"threshold": np.inf}
        case CategorySet():
            result |= {"threshold": np.nan, "unseen_go_to_left": split.unseen_left}
        case Hyperplane():
            result |= {"threshold": split.threshold}
    return result | {"missing_go_to_left": split.missing_left, "has_missing": split.has_missing}
