"""What the page's script knows of a model: features, nodes and splits, as plain data.

A tree is written as a tree space with one choice a node, so that the page routes and averages by one recursion.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from .._words import number_text, odds_text
from ..fitted import Fitted, FittedSpace, FittedTree, Summary, distribution_of
from ..table import Column, Kind
from ..tree import CategorySet, Hyperplane, Space, Split, SplitArrays, SplitKind, Threshold

_MOST_CURVE_POINTS = 41


def contents_of(fitted: Fitted, target: str | None) -> dict[str, Any]:
    """Everything the script needs; `target` is the name of the column that is predicted."""
    columns = enumerate(fitted.schema.columns)
    return {
        "target": target,
        "features": [{"name": fitted.schema.name(i), **_feature(column)} for i, column in columns],
        "classes": None if fitted.classes is None else list(fitted.class_names),
        "tree": _tree(fitted.modal),
        "space": _space(fitted.space) if isinstance(fitted, FittedSpace) else None,
    }


def _feature(column: Column) -> dict[str, Any]:
    if column.kind is Kind.TRUTH:
        return {"kind": column.kind.value, "names": ["false", "true"], "written": ["False", "True"]}
    names = None if column.categories is None else column.category_texts()
    written = None if column.categories is None else [str(category) for category in column.categories]
    return {"kind": column.kind.value, "names": names, "written": written}


def _tree(fitted: FittedTree) -> dict[str, Any]:
    tree, summaries = fitted.tree, fitted.summaries(np.arange(fitted.tree.node_count))
    splits = [None if leaf else _split(tree, node) for node, leaf in enumerate(tree.is_leaf)]
    return {
        "value": tree.value[:, 0].tolist(),
        "choices": [[] if split is None else [{**split, "share": 1.0}] for split in splits],
        "leafShare": tree.is_leaf.astype(float).tolist(),
        "nodes": [_node(fitted, node, summary) for node, summary in enumerate(summaries)],
    }


def _space(space: Space) -> dict[str, Any]:
    return {
        "value": space.value[:, 0].tolist(),
        "choices": [
            [{**_split(space, choice), "share": float(space.choice_share[choice])} for choice in space.choices_of(node)]
            for node in range(space.node_count)
        ],
        "leafShare": space.leaf_share.tolist(),
    }


def _split(splits: SplitArrays, i: int) -> dict[str, Any]:
    """A split as the script routes by it."""
    split: Split = splits.split(i)
    result: dict[str, Any] = {
        "kind": SplitKind(int(splits.kind[i])).name.lower(),
        "left": int(splits.children_left[i]),
        "right": int(splits.children_right[i]),
        "feature": split.features[0],
        "missingLeft": bool(splits.missing_go_to_left[i]),
        "sawMissing": split.has_missing,
    }
    match split:
        case Hyperplane():
            terms = zip(split.features, split.coefficients, split.missing_values, strict=True)
            result |= {"threshold": split.threshold, "terms": [list(term) for term in terms]}
        case Threshold():
            result["threshold"] = split.threshold
        case CategorySet():
            result |= {"leftCategories": list(split.left), "rightCategories": list(split.right)}
            result["unseenLeft"] = split.unseen_left
    return result


def _node(fitted: FittedTree, node: int, summary: Summary) -> dict[str, Any]:
    """A node as the drawing shows it."""
    tree, schema = fitted.tree, fitted.schema
    result: dict[str, Any] = {
        "n": int(tree.n_node_samples[node]),
        "depth": int(tree.depth[node]),
        "estimates": [[name, *(_finite(number) for number in numbers)] for name, numbers in summary.items()],
        "posterior": f"{fitted.outcome.family}({', '.join(map(number_text, tree.posterior[node].tolist()))})",
        "curve": density_curve(fitted, node),
    }
    if not tree.is_leaf[node]:
        split = tree.split(node)
        result |= {
            "feature": split.subject(schema),
            "features": [schema.name(feature) for feature in split.features],
            "yes": split.condition(schema, left=True),
            "no": split.condition(schema, left=False),
            "odds": odds_text(float(tree.log_odds_split[node])),
            "others": other_features(fitted, node),
        }
    return result


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None


def other_features(fitted: FittedTree, node: int, most: int = 3) -> list[tuple[str, float]]:
    """The features that the node could have been split along instead, with their posterior shares, and no split."""
    tree = fitted.tree
    shares = tree.feature_posterior[node].copy()
    shares[tree.feature[node]] = 0.0
    order = [int(i) for i in np.argsort(-shares, kind="stable")[:most] if shares[i] >= 0.0005]
    return [("no split" if i == tree.n_features else fitted.schema.name(i), float(shares[i])) for i in order]


def density_curve(fitted: FittedTree, node: int) -> list[float] | None:
    """Posterior density of what the leaf estimates, from 0 to 1 of its height, over the range of all nodes.

    For two classes the probability of the second, for one number the mean; several classes have none.
    """
    low, high = _range(fitted)
    grid = np.linspace(low, high, _MOST_CURVE_POINTS)
    density = _density(fitted, node, grid)
    if density is None or not np.all(np.isfinite(density)) or density.max() <= 0:
        return None
    return [round(float(height), 4) for height in density / density.max()]


def curve_text(fitted: FittedTree) -> str:
    """What the curves in the leaves are."""
    if not any(density_curve(fitted, int(leaf)) for leaf in np.flatnonzero(fitted.tree.is_leaf)):
        return ""
    low, high = _range(fitted)
    if fitted.classes is not None:
        return (
            f"The curve in a leaf is the posterior density of the probability of {fitted.class_names[1]}, from 0 to 1."
        )
    return f"The curve in a leaf is the posterior density of its mean, from {number_text(low)} to {number_text(high)}."


def _range(fitted: FittedTree) -> tuple[float, float]:
    if fitted.classes is not None:
        return 1e-3, 1 - 1e-3
    values = fitted.tree.value[np.isfinite(fitted.tree.value[:, 0, 0]), 0, 0]
    if len(values) == 0:
        return 0.0, 1.0
    margin = 0.15 * (np.ptp(values) or abs(values[0]) or 1.0)
    return float(values.min() - margin), float(values.max() + margin)


def _density(fitted: FittedTree, node: int, grid: Any) -> Any:
    posterior = fitted.tree.posterior[[node]]
    if fitted.classes is not None:
        return stats.beta(*posterior[0, ::-1]).pdf(grid) if len(fitted.classes) == 2 else None
    if not fitted.has_distribution("mean"):
        return None
    return distribution_of(fitted.outcome, "mean")(posterior).pdf(grid)
