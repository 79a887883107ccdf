"""Reading the arguments of edits: nodes and thresholds between bins."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._validation import short_repr
from .._words import number_text, within_sentence
from ..growth import TrainingData
from ..outcomes import Outcome
from ..tree import LEAF, Outline, OutlineNode, Split, Threshold, TreeStore, replace_subtree, store_of


def read_node(tree: TreeStore, node: Any) -> int:
    """The number of a node of a tree."""
    if isinstance(node, bool) or not isinstance(node, (int, np.integer)):
        raise TypeError(f"node must be the number of a node; got {short_repr(node)}.")
    if not 0 <= node < tree.node_count:
        raise ValueError(f"node is {node}, but the nodes of the tree are 0 to {tree.node_count - 1}.")
    return int(node)


def read_split_node(tree: TreeStore, node: Any) -> int:
    """The number of a node that is split."""
    node = read_node(tree, node)
    if tree.is_leaf[node]:
        raise ValueError(f"Node {node} is a leaf: give the number of a node that is split.")
    return node


def read_leaf(tree: TreeStore, leaf: Any) -> int:
    """The number of a leaf."""
    leaf = read_node(tree, leaf)
    if not tree.is_leaf[leaf]:
        raise ValueError(f"Node {leaf} is split: give the number of a leaf, or remove its split first.")
    return leaf


def bin_around(data: TrainingData, split: Threshold) -> tuple[float, float] | None:
    """The lowest and the highest value of the quantile bin that a threshold divides; None if it divides none."""
    if data.growth.max_bins is None:
        return None
    bins = data.bins[split.feature]
    inside = np.flatnonzero((bins.lows <= split.threshold) & (split.threshold < bins.highs))
    return (float(bins.lows[inside[0]]), float(bins.highs[inside[0]])) if len(inside) else None


def check_between_bins(data: TrainingData, outline: Outline, node: int, split: Split, outcome: Outcome) -> None:
    """Refuse a threshold within a quantile bin that has rows in the node: the rows of a bin are counted together."""
    ends = bin_around(data, split) if isinstance(split, Threshold) else None
    if not isinstance(split, Threshold) or ends is None:
        return
    below, upto = (replace(split, threshold=end) for end in (np.nextafter(ends[0], -np.inf), ends[1]))
    divided = replace_subtree(outline, node, [OutlineNode(below), LEAF, OutlineNode(upto), LEAF, LEAF])
    store = store_of(divided, data.schema.n_features, outcome)
    inside = np.flatnonzero(np.flatnonzero(store.is_leaf) == node + 3)[0]
    if data.leaf_sums(store, outcome).n_rows[inside] > 0:
        name = within_sentence(data.schema.describe(split.feature))
        raise ValueError(
            f"The threshold {number_text(split.threshold)} of {name} lies within a bin, whose rows are counted "
            f"together: give a number below {number_text(ends[0])} or from {number_text(ends[1])} on, or fit with a "
            "larger max_bins."
        )
