"""A tree as a data frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..rules import Wording
from ..tree import Tree
from ._single import single_tree


def to_frame(model: Any) -> Any:
    """Return a fitted tree as a pandas data frame with one line per node.

    Parameters
    ----------
    model
        A fitted tree; of a tree space its modal tree is used.

    Returns
    -------
    pandas.DataFrame
        Columns ``node``, ``parent`` (-1 of the root), ``depth``, ``is_leaf``, ``rule`` (that leads here from the
        parent), ``feature`` and ``threshold`` (of the node's own cut; a hyperplane has the sum as its feature), ``n``,
        ``log_odds_split`` (of the best cut against none); then, for each class, or for the mean and the outcome,
        ``estimate_…``, ``low_…`` and ``high_…`` (a 90 % interval); and ``posterior_…``, the posterior's parameters.
    """
    try:
        import pandas as pd  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise ImportError("to_frame needs pandas: pip install pandas, or use to_dict or to_rules.") from None
    model = single_tree(model)
    tree: Tree = model.tree_
    wording, is_leaf = Wording(model, tree), tree.is_leaf
    threshold = np.where(is_leaf | ~np.isfinite(tree.threshold), np.nan, tree.threshold)
    columns: dict[str, Any] = {
        "node": np.arange(tree.node_count),
        "parent": tree.parents,
        "depth": tree.depth,
        "is_leaf": is_leaf,
        "rule": [_rule(wording, tree, node) for node in range(tree.node_count)],
        "feature": [None if is_leaf[node] else wording.feature(node) for node in range(tree.node_count)],
        "threshold": threshold,
        "n": tree.n_node_samples,
        "log_odds_split": tree.log_odds_split,
    }
    return pd.DataFrame(columns | _numbers(model, tree))


def _rule(wording: Wording, tree: Tree, node: int) -> str:
    """The condition under which a row comes here from the parent."""
    parent = int(tree.parents[node])
    if parent < 0:
        return ""
    left = bool(tree.children_left[parent] == node)
    return f"{wording.feature(parent)} {wording.condition(parent, left=left)}"


def _numbers(model: Any, tree: Tree) -> dict[str, Any]:
    """Estimates, intervals and posteriors by the name of their column."""
    summaries = model._summaries(np.arange(tree.node_count))
    columns: dict[str, Any] = {}
    for name in summaries[0]:
        for i, what in enumerate(("estimate", "low", "high")):
            columns[f"{what}_{name}"] = [summary[name][i] for summary in summaries]
    for name, values in zip(model._posterior_names, tree.posterior.T, strict=True):
        columns[f"posterior_{name}"] = values
    return columns
