"""A tree as one of scikit-learn's, for tools that know those: plot_tree, export_text, dtreeviz."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import NODE_DTYPE
from sklearn.tree._tree import Tree as SklearnTree

from .._typing import FloatArray
from ..estimators import Model, readable_tree_of
from ..fitted import Fitted, real_outcome
from ..tree import NO_CHILD, SplitKind


def to_sklearn(model: Model) -> Any:
    """Return a fitted tree as scikit-learn's `DecisionTreeClassifier` or `DecisionTreeRegressor`.

    Its nodes hold our posterior means, so that it predicts what the model predicts, and tools such as
    ``sklearn.tree.plot_tree``, ``export_text`` and dtreeviz can show it. The posteriors stay behind. scikit-learn reads
    tables as float32: a value nearer to a threshold than that may go the other way.

    Parameters
    ----------
    model
        A fitted tree, or a tree space or forest, whose readable tree is used. All splits must be of the form
        ``x <= t``: scikit-learn has no splits between categories, between present and missing, or along hyperplanes.

    Returns
    -------
    DecisionTreeClassifier or DecisionTreeRegressor

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import export_text
    >>> from baytree import BayesianTreeClassifier
    >>> from baytree.export import to_sklearn
    >>> X, y = load_iris(return_X_y=True)
    >>> print(export_text(to_sklearn(BayesianTreeClassifier(max_depth=1).fit(X, y)), decimals=1))
    |--- feature_3 <= 0.8
    |   |--- class: 0
    |--- feature_3 >  0.8
    |   |--- class: 1
    <BLANKLINE>
    """
    fitted = readable_tree_of(model)
    tree, schema = fitted.trees, fitted.schema
    fitted.check_constant("scikit-learn's tree")
    fitted.check_no_set_decisions("scikit-learn's tree")
    _refuse_other_splits(fitted)
    if fitted.outcome.predicts_classes:
        result = DecisionTreeClassifier(max_depth=max(1, tree.max_depth))
        result.classes_, result.n_classes_ = fitted.outcome.labels, len(fitted.outcome.labels)
    else:
        result = DecisionTreeRegressor(max_depth=max(1, tree.max_depth))
    result.n_features_in_, result.n_outputs_ = schema.n_features, 1
    result.max_features_ = schema.n_features
    if schema.names is not None:
        result.feature_names_in_ = np.array(schema.names, dtype=object)
    grown = SklearnTree(schema.n_features, np.array([tree.value.shape[2]], dtype=np.intp), 1)
    grown.__setstate__(
        {
            "max_depth": tree.max_depth,
            "node_count": tree.node_count,
            "nodes": _nodes(fitted),
            "values": np.ascontiguousarray(tree.value),
        }
    )
    result.tree_ = grown
    return result


def _refuse_other_splits(fitted: Fitted) -> None:
    """Say which split has no counterpart."""
    tree = fitted.trees
    for node in np.flatnonzero(~tree.is_leaf & ~tree.is_of(SplitKind.THRESHOLD))[:1]:
        split = tree.split(int(node))
        raise ValueError(
            f"scikit-learn's trees cannot hold the split {split.subject(fitted.schema)} "
            f"{split.condition(fitted.schema)}: they have splits of the form x <= t alone. Use to_dict, to_rules or "
            "to_frame."
        )


def _nodes(fitted: Fitted) -> Any:
    tree = fitted.trees
    nodes = np.zeros(tree.node_count, dtype=NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = tree.children_left, tree.children_right
    nodes["feature"], nodes["threshold"] = tree.feature, tree.threshold
    nodes["impurity"] = _impurity(fitted)
    nodes["n_node_samples"] = tree.n_node_samples
    nodes["weighted_n_node_samples"] = tree.weighted_n_node_samples
    nodes["missing_go_to_left"] = tree.missing_go_to_left & (tree.children_left != NO_CHILD)
    return nodes


def _impurity(fitted: Fitted) -> FloatArray:
    """Gini impurity of the class probabilities; of numbers the variance that is predicted, 0 if unknown."""
    tree = fitted.trees
    if fitted.outcome.predicts_classes:
        return np.asarray(1 - np.sum(tree.value[:, 0] ** 2, axis=1))
    if not fitted.has_distribution():
        return np.zeros(tree.node_count)
    return np.nan_to_num(real_outcome(fitted.outcome).std(tree.calibrated) ** 2, posinf=0.0)
