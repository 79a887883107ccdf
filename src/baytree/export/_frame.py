"""A tree as a data frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators import Model, readable_tree_of
from ..fitted import Fitted
from ..tree import SplitKind


def to_frame(model: Model) -> Any:
    """Return a fitted tree as a pandas data frame with one line per node.

    Parameters
    ----------
    model
        A fitted tree, or a tree space or forest, whose readable tree is used.

    Returns
    -------
    pandas.DataFrame
        Columns ``node``, ``parent`` (-1 of the root), ``depth``, ``is_leaf``, ``rule`` (that leads here from the
        parent), ``feature`` and ``threshold`` (of the node's own split; a hyperplane has the sum as its feature),
        ``n``, ``log_odds_split`` (of the best split against none); then, for each class, or for the mean and the
        outcome, ``estimate_…``, ``low_…`` and ``high_…`` (a 90 % interval); and ``posterior_…``, the parameters
        of the calibrated posterior that these come from.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from baytree import BayesianTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesianTreeClassifier().fit(X, y)
    >>> from baytree.export import to_frame
    >>> to_frame(model)["n"].tolist()
    [150, 50, 100, 54, 46]
    """
    try:
        import pandas as pd  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise ImportError("to_frame needs pandas: pip install pandas, or use to_dict or to_rules.") from None
    fitted = readable_tree_of(model)
    tree = fitted.trees
    has_threshold = tree.is_of(SplitKind.THRESHOLD) | tree.is_of(SplitKind.HYPERPLANE)
    nodes = range(tree.node_count)
    columns: dict[str, Any] = {
        "node": np.arange(tree.node_count),
        "parent": tree.parents,
        "depth": tree.depth,
        "is_leaf": tree.is_leaf,
        "rule": [rule_of(fitted, node) for node in nodes],
        "feature": [None if tree.is_leaf[node] else tree.split(node).subject(fitted.schema) for node in nodes],
        "threshold": np.where(has_threshold, tree.threshold, np.nan),
        "n": tree.n_node_samples,
        "log_odds_split": tree.log_odds_split,
    }
    return pd.DataFrame(columns | _numbers(fitted))


def rule_of(fitted: Fitted, node: int) -> str:
    """The condition under which a row comes here from the parent."""
    tree = fitted.trees
    parent = int(tree.parents[node])
    if parent < 0:
        return ""
    split, left = tree.split(parent), bool(tree.children_left[parent] == node)
    return f"{split.subject(fitted.schema)} {split.condition(fitted.schema, left=left)}"


def _numbers(fitted: Fitted) -> dict[str, Any]:
    """Estimates, intervals and posteriors by the name of their column."""
    summaries = fitted.summaries(np.arange(fitted.trees.node_count))
    columns: dict[str, Any] = {}
    for name in summaries[0]:
        for i, what in enumerate(("estimate", "low", "high")):
            columns[f"{what}_{name}"] = [summary[name][i] for summary in summaries]
    for name, values in zip(fitted.outcome.posterior_names, fitted.trees.calibrated.T, strict=True):
        columns[f"posterior_{name}"] = values
    return columns
