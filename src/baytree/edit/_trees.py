"""The trees of edits: scored on the rows, or grown where an outline asks for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .._typing import BoolArray
from ..growth import TrainingData, enforce_monotonic
from ..outcomes import Outcome
from ..tree import ANYTHING, Outline, TreeStore, is_split_better, outline_of, paths_of, prune_to

Forbidden = dict[str, tuple[int, ...]]  # features that nothing uses from a node on down, by the way to the node


@dataclass(frozen=True)
class TreeScorer:
    """Makes trees of outlines, with the settings of a model."""

    data: TrainingData
    outcome: Outcome
    prune: bool

    def scored(self, outline: Outline, node: int | None = None) -> TreeStore:
        """The tree of given splits, of which that of one node is new."""
        return self._checked(self.data.grow_below(outline, self.outcome), node)

    def grown(self, outline: Outline, node: int, forbidden: Forbidden, levels: int | None = None) -> TreeStore:
        """The tree of an outline that grows in places; what grows is pruned if the model prunes."""
        max_depth = None if levels is None else len(paths_of(outline)[node]) + levels
        tree = self.as_grown(outline, forbidden, max_depth)
        if self.prune:
            tree = prune_to(tree, ~tree.is_leaf & (_is_given(tree, outline) | is_split_better(tree)))
        has_settings_of_model = max_depth is None and not forbidden
        return self._checked(tree, node) if has_settings_of_model else self.scored(outline_of(tree), node)

    def as_grown(self, outline: Outline, forbidden: Forbidden, max_depth: int | None = None) -> TreeStore:
        """The tree that grows where an outline asks for it, without the columns that are forbidden."""
        growth = self.data.growth
        if max_depth is not None:
            of_model = max_depth if growth.max_depth is None else growth.max_depth
            growth = replace(growth, max_depth=min(max_depth, of_model))
        if forbidden:
            nodes = zip(outline, paths_of(outline), strict=True)
            outline = tuple(replace(node, forbidden=forbidden.get(path, ())) for node, path in nodes)
            every = tuple(range(len(growth.feature_weight)))
            growth = replace(growth, interactions=growth.interactions or (every,))
        data = self.data if growth is self.data.growth else self.data.with_growth(growth)
        return data.grow_below(outline, self.outcome)

    def _checked(self, tree: TreeStore, node: int | None) -> TreeStore:
        """Refuse an impossible split of an edited node; below it, splits that are no partition become leaves."""
        impossible = ~tree.is_leaf & ~np.isfinite(tree.log_prior_split)
        if node is not None and impossible[node]:
            raise ValueError(
                f"Node {node} cannot be split so: one side has no row, all rows have one outcome, or limits or rules "
                "of the model (max_depth, min_samples_leaf, interaction_cst, monotonic_cst and others) forbid it."
            )
        if node is not None and impossible.any():
            return self.scored(outline_of(prune_to(tree, ~tree.is_leaf & ~impossible)), node)
        try:
            return enforce_monotonic(tree, self.data.growth.monotonic)
        except ValueError:
            raise ValueError("Predictions would break monotonic_cst after this edit.") from None


def _is_given(tree: TreeStore, outline: Outline) -> BoolArray:
    """Which nodes of a grown tree its outline gave."""
    result, stack, entries = np.zeros(tree.node_count, dtype=bool), [(0, True)], iter(outline)
    while stack:
        node, in_outline = stack.pop()
        is_given = in_outline and next(entries).grow != ANYTHING
        result[node] = is_given
        if not tree.is_leaf[node]:
            stack += [(int(tree.children_right[node]), is_given), (int(tree.children_left[node]), is_given)]
    return result
