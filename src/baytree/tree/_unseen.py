"""Values that did not occur in training at a split go both ways, weighted by the training weight of each side.

A tree store holds the two ways as two choices: the split once with unseen values on the left, once on the right, each
weighted by the share of the node's training weight on that side. A row with a seen value goes the same way by either
choice. So routing through the store gives the average.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ._choices import take_splits
from ._splits import SplitKind
from ._store import TreeStore


def both_ways(store: TreeStore) -> TreeStore:
    """Send values that a split has not seen both ways: two weighted choices of each such split."""
    unsure = (store.is_of(SplitKind.THRESHOLD) & ~store.has_missing) | store.is_of(SplitKind.CATEGORY_SET)
    chosen = np.repeat(np.arange(store.n_choices), 1 + unsure)
    is_second = np.append(False, chosen[1:] == chosen[:-1])
    splits = take_splits(store, chosen)
    left = np.where(unsure[chosen], ~is_second, splits["unseen_go_to_left"])
    splits["unseen_go_to_left"] = left
    splits["missing_go_to_left"] = np.where(
        unsure[chosen] & ~store.has_missing[chosen], left, splits["missing_go_to_left"]
    )
    weight = store.weighted_n_node_samples
    on_left, on_right = weight[store.children_left[chosen]], weight[store.children_right[chosen]]
    share = np.where(unsure[chosen], np.where(left, on_left, on_right) / (on_left + on_right), 1.0)
    return replace(
        store,
        **splits,
        children_left=store.children_left[chosen],
        children_right=store.children_right[chosen],
        choice_start=np.append(0, np.cumsum(1 + unsure))[store.choice_start],
        choice_weight=store.evidence.choice_share[chosen] * share,
    )
