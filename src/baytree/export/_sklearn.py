"""A tree as one of scikit-learn's, for tools that know those: plot_tree, export_text, dtreeviz."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import NODE_DTYPE
from sklearn.tree._tree import Tree as SklearnTree

from .._typing import FloatArray
from ..rules import Wording
from ..tree import LEAF, Tree
from ._single import single_tree


def to_sklearn(model: Any) -> Any:
    """Return a fitted tree as scikit-learn's `DecisionTreeClassifier` or `DecisionTreeRegressor`.

    Its nodes hold our posterior means, so that it predicts what the model predicts, and tools such as
    ``sklearn.tree.plot_tree``, ``export_text`` and dtreeviz can show it. The posteriors stay behind. scikit-learn reads
    tables as float32: a cell nearer to a threshold than that may go the other way.

    Parameters
    ----------
    model
        A fitted tree; of a tree space its modal tree is used. All cuts must be of the form ``x <= t``: scikit-learn
        has no cuts between levels, between present and missing, or along hyperplanes.

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
    model = single_tree(model)
    tree: Tree = model.tree_
    _refuse_other_cuts(model, tree)
    is_classifier = hasattr(model, "classes_")
    if is_classifier:
        result = DecisionTreeClassifier(max_depth=max(1, tree.max_depth))
        result.classes_, result.n_classes_ = model.classes_, len(model.classes_)
    else:
        result = DecisionTreeRegressor(max_depth=max(1, tree.max_depth))
    result.n_features_in_, result.n_outputs_ = model.n_features_in_, 1
    result.max_features_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        result.feature_names_in_ = model.feature_names_in_
    n_values = tree.value.shape[2]
    grown = SklearnTree(model.n_features_in_, np.array([n_values], dtype=np.intp), 1)
    grown.__setstate__(
        {
            "max_depth": tree.max_depth,
            "node_count": tree.node_count,
            "nodes": _nodes(model, tree),
            "values": np.ascontiguousarray(tree.value),
        }
    )
    result.tree_ = grown
    return result


def _refuse_other_cuts(model: Any, tree: Tree) -> None:
    """Say which cut has no counterpart."""
    other = tree.divides_levels | tree.is_oblique | np.isinf(tree.threshold)
    for node in np.flatnonzero(other & ~tree.is_leaf)[:1]:
        wording = Wording(model, tree)
        raise ValueError(
            f"scikit-learn's trees cannot hold the cut {wording.feature(int(node))} {wording.condition(int(node))}: "
            "they have cuts of the form x <= t alone. Use to_dict, to_rules or to_frame."
        )


def _nodes(model: Any, tree: Tree) -> Any:
    nodes = np.zeros(tree.node_count, dtype=NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = tree.children_left, tree.children_right
    nodes["feature"], nodes["threshold"] = tree.feature, tree.threshold
    nodes["impurity"] = _impurity(model, tree)
    nodes["n_node_samples"] = tree.n_node_samples
    nodes["weighted_n_node_samples"] = tree.weighted_n_node_samples
    nodes["missing_go_to_left"] = tree.missing_go_to_left & (tree.children_left != LEAF)
    return nodes


def _impurity(model: Any, tree: Tree) -> FloatArray:
    """Gini impurity of the class probabilities; of numbers the variance that is predicted, 0 if unknown."""
    if hasattr(model, "classes_"):
        return np.asarray(1 - np.sum(tree.value[:, 0] ** 2, axis=1))
    if not model.outcome_.has("distribution"):
        return np.zeros(tree.node_count)
    return np.nan_to_num(model.outcome_.std(tree.posterior) ** 2, posinf=0.0)
