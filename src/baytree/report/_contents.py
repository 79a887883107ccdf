"""What the page's script knows of a model: features, nodes and cuts, as plain data.

A tree is written as a tree space with one choice a node, so that the page routes and averages by one recursion.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from ..cuts import CutArrays
from ..estimators._space import TreeSpace
from ..explanation import Summary
from ..rules import Wording, feature_name, format_odds, level_name, number_text
from ..tree import Tree

_MOST_CURVE_POINTS = 41


def contents_of(model: Any, tree_model: Any, target: str | None) -> dict[str, Any]:
    """Everything the script needs; `tree_model` is the single tree that is drawn, `target` the column it predicts."""
    space = model.space_ if isinstance(model, TreeSpace) else None
    return {
        "target": target,
        "features": [_feature(model, i) for i in range(model.n_features_in_)],
        "classes": [str(label) for label in model.classes_] if hasattr(model, "classes_") else None,
        "tree": _tree(tree_model),
        "space": None if space is None else _space(space),
    }


def _feature(model: Any, index: int) -> dict[str, Any]:
    levels = model.categories_[index]
    names = getattr(model, "feature_names_in_", None)
    return {
        "name": feature_name(index, names),
        "levels": None if levels is None else [level_name(level) for level in levels],
        "cells": None if levels is None else [str(level) for level in levels],  # as they stand in a table
    }


def _tree(model: Any) -> dict[str, Any]:
    tree: Tree = model.tree_
    wording, summaries = Wording(model, tree), model._summaries(np.arange(tree.node_count))
    cuts = [None if leaf else _cut(tree, node) for node, leaf in enumerate(tree.is_leaf)]
    return {
        "value": tree.value[:, 0].tolist(),
        "choices": [[] if cut is None else [{**cut, "share": 1.0}] for cut in cuts],
        "leafShare": tree.is_leaf.astype(float).tolist(),
        "nodes": [_node(model, wording, node, summary) for node, summary in enumerate(summaries)],
    }


def _space(space: Any) -> dict[str, Any]:
    return {
        "value": space.value[:, 0].tolist(),
        "choices": [
            [{**_cut(space, choice), "share": float(space.choice_share[choice])} for choice in space.choices_of(node)]
            for node in range(space.node_count)
        ],
        "leafShare": space.leaf_share.tolist(),
    }


def _cut(cuts: CutArrays, cut: int) -> dict[str, Any]:
    """A cut as the script routes by it."""
    terms = cuts.terms_of(cut)
    result: dict[str, Any] = {
        "left": int(cuts.children_left[cut]),
        "right": int(cuts.children_right[cut]),
        "feature": int(cuts.feature[cut]),
        "gapsLeft": bool(cuts.missing_go_to_left[cut]),
        "sawGaps": bool(cuts.has_missing[cut]),
    }
    if terms.start < terms.stop:
        result["terms"] = [
            [int(feature), float(coefficient), float(gap)]
            for feature, coefficient, gap in zip(
                cuts.oblique_feature[terms],
                cuts.oblique_coefficient[terms],
                cuts.oblique_gap_value[terms],
                strict=True,
            )
        ]
    if cuts.divides_levels[cut]:
        result["levelsLeft"] = [int(level) for level in cuts.levels_of(cut, left=True)]
        result["levelsRight"] = [int(level) for level in cuts.levels_of(cut, left=False)]
        result["unseenLeft"] = bool(cuts.unseen_go_to_left[cut])
    else:
        threshold = float(cuts.threshold[cut])
        result["threshold"] = threshold if math.isfinite(threshold) else None  # None: the present go left
    return result


def _node(model: Any, wording: Wording, node: int, summary: Summary) -> dict[str, Any]:
    """A node as the drawing shows it."""
    tree: Tree = model.tree_
    result: dict[str, Any] = {
        "n": int(tree.n_node_samples[node]),
        "depth": int(tree.depth[node]),
        "estimates": [[name, *(_finite(number) for number in numbers)] for name, numbers in summary.items()],
        "posterior": f"{model.outcome_.family}({', '.join(map(number_text, tree.posterior[node].tolist()))})",
        "curve": density_curve(model, node),
    }
    if not tree.is_leaf[node]:
        result |= {
            "feature": wording.feature(node),
            "features": _names_in_cut(tree, wording, node),
            "yes": wording.condition(node, left=True),
            "no": wording.condition(node, left=False),
            "odds": format_odds(float(tree.log_odds_split[node])),
            "others": other_features(model, node),
        }
    return result


def _names_in_cut(tree: Tree, wording: Wording, node: int) -> list[str]:
    return [feature_name(int(feature), wording.names) for feature in tree.features_of(node)]


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def other_features(model: Any, node: int, most: int = 3) -> list[tuple[str, float]]:
    """The features that the node could have been cut along instead, with their posterior shares, and no cut."""
    tree: Tree = model.tree_
    names = getattr(model, "feature_names_in_", None)
    shares = tree.feature_posterior[node].copy()
    shares[tree.feature[node]] = 0.0
    order = [int(i) for i in np.argsort(-shares, kind="stable")[:most] if shares[i] >= 0.0005]
    return [("no cut" if i == tree.n_features else feature_name(i, names), float(shares[i])) for i in order]


def density_curve(model: Any, node: int) -> list[float] | None:
    """Posterior density of what the leaf estimates, from 0 to 1 of its height, over the range of all nodes.

    For two classes the probability of the second, for one number the mean; several classes have none.
    """
    low, high = _range(model)
    grid = np.linspace(low, high, _MOST_CURVE_POINTS)
    density = _density(model, node, grid)
    if density is None or not np.all(np.isfinite(density)) or density.max() <= 0:
        return None
    return [round(float(height), 4) for height in density / density.max()]


def curve_text(model: Any) -> str:
    """What the curves in the leaves are."""
    if not any(density_curve(model, int(leaf)) for leaf in np.flatnonzero(model.tree_.is_leaf)):
        return ""
    low, high = _range(model)
    if hasattr(model, "classes_"):
        return f"The curve in a leaf is the posterior density of the probability of {model.classes_[1]}, from 0 to 1."
    return f"The curve in a leaf is the posterior density of its mean, from {number_text(low)} to {number_text(high)}."


def _range(model: Any) -> tuple[float, float]:
    if hasattr(model, "classes_"):
        return 1e-3, 1 - 1e-3
    values = model.tree_.value[np.isfinite(model.tree_.value[:, 0, 0]), 0, 0]
    if len(values) == 0:
        return 0.0, 1.0
    margin = 0.15 * (np.ptp(values) or abs(values[0]) or 1.0)
    return float(values.min() - margin), float(values.max() + margin)


def _density(model: Any, node: int, grid: Any) -> Any:
    posterior = model.tree_.posterior[[node]]
    if hasattr(model, "classes_"):
        return stats.beta(*posterior[0, ::-1]).pdf(grid) if len(model.classes_) == 2 else None
    if not model.outcome_.has("mean_distribution"):
        return None
    return model.outcome_.mean_distribution(posterior).pdf(grid)
