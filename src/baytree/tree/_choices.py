"""The arrays of choices: what they hold where there is no split, and how some of them are taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import AnyArray, IntArray
from ._splits import SplitKind

if TYPE_CHECKING:
    from ._store import TreeStore

NO_CHILD = -1
UNDEFINED = -2  # feature and threshold where there is no split, as in scikit-learn
# What the arrays of choices hold where the choice is no split.
NO_SPLIT: dict[str, Any] = {
    "kind": SplitKind.NONE,
    "feature": UNDEFINED,
    "threshold": float(UNDEFINED),
    "missing_go_to_left": False,
    "has_missing": False,
    "unseen_go_to_left": False,
    "log_prior_split": -np.inf,
}
# Arrays that have several entries for a choice: where those of a choice begin, and what they are.
RAGGED = {
    "category_start": ("category", "category_goes_left"),
    "hyperplane_start": ("hyperplane_feature", "hyperplane_coefficient", "hyperplane_missing_value"),
}


def take_splits(store: TreeStore, chosen: IntArray) -> dict[str, Any]:
    """The arrays of some choices in a new order, without their children; -1 stands for no split."""
    none = chosen < 0
    result: dict[str, Any] = {}
    for name, filler in NO_SPLIT.items():
        result[name] = _taken(getattr(store, name), chosen, filler)
    for name, others in RAGGED.items():
        all_start = getattr(store, name)
        first, end = all_start[chosen], all_start[chosen + 1]
        n_entries = np.where(none, 0, end - first)
        start = np.append(0, np.cumsum(n_entries)).astype(all_start.dtype)
        place = np.repeat(first - start[:-1], n_entries) + np.arange(start[-1])
        result |= {name: start} | {other: getattr(store, other)[place] for other in others}
    if store.n_missing is not None:
        result["n_missing"] = _taken(store.n_missing, chosen, 0)
    if store.split_likelihood is not None:
        result["split_likelihood"] = _taken(store.split_likelihood, chosen, -np.inf)
    return result


def _taken(array: AnyArray, chosen: IntArray, filler: Any) -> AnyArray:
    """Entries of an array, which may be empty where none is chosen; the filler stands for -1."""
    taken = array[chosen] if len(array) else np.zeros(len(chosen), dtype=array.dtype)
    return np.where(chosen < 0, np.asarray(filler, dtype=array.dtype), taken)
