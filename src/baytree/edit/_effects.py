"""What an edit changes: the loss on held-out rows, and decisions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from .._typing import FloatArray, IntArray
from ..explain import Box, box_of_node, conditions_of, no_condition
from ..fitted import DecisionChange, Fitted
from ..growth import TableData, TrainingData, assign_folds, held_out_loss
from ..leaves import ConstantLeaves
from ..outcomes import Outcome
from ..table import Schema
from ..tree import (
    Hyperplane,
    Outline,
    OutlineNode,
    Split,
    TreeStore,
    outline_of,
    replace_subtree,
    store_of,
    threshold_text,
)

_FOLDS = 5
_MOST_LISTED = 10  # groups of rows with another decision


class HeldOutLoss:
    """The cross-validated loss of trees of given splits: leaves predict the rows of a fold from those of the others.

    Rows in memory are in five folds, those of a source in two halves. The sums of each fold in the leaves of a tree are
    all that it takes.
    """

    def __init__(self, data: TrainingData, outcome: Outcome) -> None:
        self._outcome, self._weight = outcome, data.total_weight()
        self._parts: Sequence[TrainingData]
        if isinstance(data, TableData):
            fold = assign_folds(data.rows, data.target, _FOLDS)
            self._parts = [data.take(fold == k) for k in range(_FOLDS) if np.any(fold == k)]
        else:
            self._parts = data.halves(outcome)

    def of(self, tree: TreeStore) -> float:
        """The mean loss of a tree."""
        prior = tree.prior[tree.is_leaf]
        return self._mean(prior, [part.leaf_sums(tree, self._outcome).statistics for part in self._parts])

    def _mean(self, prior: FloatArray, parts: list[FloatArray]) -> float:
        total = np.sum(parts, axis=0)
        loss = sum(held_out_loss(ConstantLeaves(self._outcome, prior, total - part), part) for part in parts)
        return float(loss) / self._weight


def decision_changes(
    before: Fitted, after: Fitted, node: int, data: TrainingData
) -> tuple[int, tuple[DecisionChange, ...]]:
    """The number of rows for which two trees decide otherwise, and the largest groups of them.

    The trees differ below one node, which has one number in both. Below every leaf of the new tree the splits of the
    old one are put that divide its rows: what falls into a leaf of these has one decision before and one after.
    """
    if not after.outcome.predicts_classes:
        return 0, ()
    outline, old, new = _overlay(before, after, node)
    if not np.any(old != new):
        return 0, ()
    above = outline_of(after.trees)
    store = store_of(replace_subtree(above, node, outline), after.trees.n_features, after.outcome)
    n_rows = np.zeros(store.node_count, dtype=np.int64)
    n_rows[store.is_leaf] = data.leaf_sums(store, after.outcome).n_rows
    cells = node + np.flatnonzero((old != new) & (n_rows[node : node + len(outline)] > 0))
    names, number = after.class_names, threshold_text(store)
    listed = cells[np.argsort(-n_rows[cells], kind="stable")][:_MOST_LISTED].tolist()
    groups = [
        DecisionChange(
            int(n_rows[cell]),
            names[old[cell - node]],
            names[new[cell - node]],
            tuple(conditions_of(store, after.schema, box_of_node(store, after.schema, cell), number)),
        )
        for cell in listed
    ]
    return int(n_rows[cells].sum()), tuple(groups)


def _decisions(fitted: Fitted) -> IntArray:
    """The decision of all rows of each node of a tree; -1 where they differ."""
    tree, code = fitted.trees, np.where(fitted.trees.is_leaf, fitted.node_codes, -1)
    for at in reversed(tree.splits_by_depth):
        left, right = code[tree.children_left[at]], code[tree.children_right[at]]
        code[at] = np.where(left == right, left, -1)
    return code


def _overlay(before: Fitted, after: Fitted, node: int) -> tuple[Outline, IntArray, IntArray]:
    """The new tree below a node with the old one below its leaves, as far as decisions differ.

    With the decisions of both in each node, -1 where it is split.
    """
    outline: list[OutlineNode] = []
    old: list[int] = []
    new: list[int] = []
    codes, old_codes, schema = _decisions(after), _decisions(before), after.schema
    stack = [node]
    while stack:
        at = stack.pop()
        if codes[at] < 0:
            outline.append(OutlineNode(after.trees.split(at)))
            old.append(-1)
            new.append(-1)
            stack += [int(after.trees.children_right[at]), int(after.trees.children_left[at])]
            continue
        box = box_of_node(after.trees, schema, at)
        for split, code in _splits_within(before.trees, old_codes, node, box, schema):
            outline.append(OutlineNode(split))
            old.append(code)
            new.append(int(codes[at]) if split is None else -1)
    return tuple(outline), np.array(old), np.array(new)


def _splits_within(
    tree: TreeStore, codes: IntArray, node: int, box: Box, schema: Schema
) -> Iterator[tuple[Split | None, int]]:
    """The splits below a node that divide a box, in depth-first order, and the decisions in the leaves (None)."""
    stack = [(node, box.conditions)]
    while stack:
        at, conditions = stack.pop()
        if codes[at] >= 0:
            yield None, int(codes[at])
            continue
        split, sides = tree.split(at), []
        for child, left in ((int(tree.children_right[at]), False), (int(tree.children_left[at]), True)):
            if isinstance(split, Hyperplane):
                sides.append((child, conditions))
                continue
            condition = conditions.get(split.feature) or no_condition(schema.columns[split.feature])
            condition = condition.after_split(split, left=left)
            if condition.can_hold:
                sides.append((child, conditions | {split.feature: condition}))
        if len(sides) == 2:
            yield split, -1
        stack += sides
