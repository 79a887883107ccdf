"""The data of the page's script: features, nodes and splits of a model, as plain data.

A tree is written as a tree space with one choice a node, so that the page routes and averages by one recursion.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from .._typing import FloatArray
from .._words import exact_odds_text, number_text, odds_text
from ..evaluation import Subgroup, Thresholds
from ..explain import AllowedChanges, Box, Condition, boxes_of, condition_text, scales_of
from ..fitted import Fitted, ModelKind, Summary, column_choice, distribution_of, missing_values
from ..leaves import ModelLeaves, leaf_lines
from ..outcomes import CategoricalOutcome, GammaRateOutcome, NegativeBinomialOutcome, NormalOutcome, Outcome
from ..table import Column, Kind
from ..tree import CategorySet, Hyperplane, NumberText, Split, SplitKind, Threshold, TreeStore, threshold_text
from ._about import About
from ._leaf_models import leaf_constants, leaf_models

_CURVE_POINTS = 33
_MOST_NODES = 20_000  # of a forest that is part of the page


def contents_of(
    fitted: Fitted,
    about: About,
    allowed: AllowedChanges,
    thresholds: Thresholds | None,
    subgroups: list[Subgroup],
) -> dict[str, Any]:
    """Everything the script needs."""
    columns, whole = enumerate(fitted.schema.columns), _averaged_trees(fitted)
    return {
        "target": about.target,
        "actions": about.actions,
        "features": [{"name": fitted.schema.name(i), **_feature(column)} for i, column in columns],
        "classes": list(fitted.class_names) or None,
        "outcome": _outcome(fitted.outcome),
        "leaves": leaf_constants(fitted.trees.leaves),
        "widening": fitted.widening,
        "calibration": _calibration(fitted),
        "unseen": fitted.unseen,
        "isWhole": fitted.kind is ModelKind.TREE or whole is not None,  # else the page knows the tree to read alone
        "treeName": "the readable tree" if fitted.kind is ModelKind.FOREST else "the most probable tree",
        "decision": _decision(fitted),
        "thresholds": None if thresholds is None else _thresholds(thresholds),
        "subgroups": [
            None if group.thresholds is None else {**_thresholds(group.thresholds), "column": group.column}
            for group in subgroups
        ],
        "allowed": {
            "immutable": sorted(allowed.immutable),
            "directions": {str(feature): direction for feature, direction in allowed.directions},
            "missing": allowed.missing,
            "maxFeatures": allowed.max_features,
            "nChanges": allowed.n_changes,
        },
        "scale": scales_of(fitted.readable),
        "range": _range(fitted.readable),
        "tree": _tree(fitted.readable),
        "space": None if whole is None else _space(fitted, whole),
    }


def _feature(column: Column) -> dict[str, Any]:
    if column.kind is Kind.TRUTH:
        return {"kind": column.kind.value, "names": ["false", "true"], "written": ["False", "True"]}
    names = None if column.categories is None else column.category_texts()
    written = None if column.categories is None else [str(category) for category in column.categories]
    numbers = {"low": column.low, "high": column.high, "isInteger": column.is_integer}
    return {"kind": column.kind.value, "names": names, "written": written} | (numbers if names is None else {})


def _outcome(outcome: Outcome) -> dict[str, Any]:
    size = outcome.size if isinstance(outcome, NegativeBinomialOutcome) else None
    spread = outcome.spread if isinstance(outcome, NormalOutcome) else None
    return {"name": outcome.name, "size": size, "spread": spread}


def _calibration(fitted: Fitted) -> dict[str, Any] | None:
    """What makes probabilities of the averages of a forest."""
    calibration = fitted.forest_calibration
    if calibration is None:
        return None
    return {"exponent": calibration.exponent, "factors": np.exp(calibration.intercepts).tolist()}


def _decision(fitted: Fitted) -> dict[str, Any]:
    decision = fitted.decision
    n_classes = len(fitted.class_names)
    return {
        "positive": decision.positive,
        "threshold": decision.threshold_of_positive(n_classes),
        "costs": None if decision.costs is None else decision.costs.tolist(),
    }


def _thresholds(thresholds: Thresholds) -> dict[str, Any]:
    return {
        "at": thresholds.values.tolist(),
        "own": thresholds.of_model,
        "positives": thresholds.positives,
        "negatives": thresholds.negatives,
        "truePositives": [_short(n) for n in thresholds.true_positives.tolist()],
        "falsePositives": [_short(n) for n in thresholds.false_positives.tolist()],
    }


def _short(number: float) -> float:
    """Seven digits: more than anybody reads."""
    return float(f"{number:.7g}") if math.isfinite(number) else number


def _tree(fitted: Fitted) -> dict[str, Any]:
    tree, summaries = fitted.trees, fitted.summaries(np.arange(fitted.trees.node_count))
    splits = [None if leaf else _split(tree, node) for node, leaf in enumerate(tree.is_leaf)]
    boxes = {box.leaf: box for box in boxes_of(tree, fitted.schema)}
    curves, number, means = _curves(fitted), threshold_text(tree), fitted.node_means.tolist()
    return {
        "value": [mean if leaf else None for mean, leaf in zip(means, tree.is_leaf, strict=True)],
        "decided": None if fitted.set_decisions is None else fitted.set_decisions.tolist(),
        "posterior": _posteriors(fitted, tree.calibrated),
        "models": leaf_models(tree, fitted.schema),
        "weight": [_short(weight) for weight in tree.weighted_n_node_samples.tolist()],
        "choices": [[] if split is None else [{**split, "share": 1.0}] for split in splits],
        "leafShare": tree.is_leaf.astype(float).tolist(),
        "roots": [0],
        "nodes": [
            _leaf(fitted, node, summary, boxes[node], curves[node], number)
            if node in boxes
            else _inner_node(fitted, node, summary, number)
            for node, summary in enumerate(summaries)
        ],
    }


def _averaged_trees(fitted: Fitted) -> TreeStore | None:
    """The trees that predictions average over; None for a single tree, or where there are too many."""
    if fitted.kind is ModelKind.TREE or (fitted.kind is ModelKind.FOREST and fitted.trees.node_count > _MOST_NODES):
        return None
    return fitted.trees


def _space(fitted: Fitted, space: TreeStore) -> dict[str, Any]:
    is_end = (space.leaf_share > 0).tolist()
    posterior = _posteriors(fitted, space.calibrated)
    if posterior is not None:
        posterior = [numbers if end else [] for numbers, end in zip(posterior, is_end, strict=True)]
    return {
        "value": [value if end else None for value, end in zip(space.leaves.value.tolist(), is_end, strict=True)],
        "posterior": posterior,
        "weight": [_short(weight) for weight in space.weighted_n_node_samples.tolist()],
        "choices": [
            [{**_split(space, choice), "share": float(space.choice_share[choice])} for choice in space.splits_of(node)]
            for node in range(space.node_count)
        ],
        "leafShare": space.leaf_share.tolist(),
        "roots": space.roots.tolist(),
    }


def _posteriors(fitted: Fitted, posterior: FloatArray) -> list[list[float]] | None:
    """The parameters; of real values degrees of freedom, place, and the spreads of mean and outcome."""
    if isinstance(fitted.outcome, CategoricalOutcome | GammaRateOutcome | NegativeBinomialOutcome):
        return [[_short(number) for number in numbers] for numbers in posterior.tolist()]
    if not isinstance(fitted.outcome, NormalOutcome):
        return None
    freedom = 2 * posterior[:, 2]
    columns = [freedom, posterior[:, 0]]
    for kind in ("mean", "outcome"):
        frozen = distribution_of(fitted.leaf_outcome, kind)(posterior)
        columns.append((frozen.ppf(0.95) - frozen.ppf(0.5)) / stats.t.ppf(0.95, freedom))
    return [[_short(number) for number in row] for row in np.stack(columns, axis=1).tolist()]


def _split(splits: TreeStore, i: int) -> dict[str, Any]:
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


def _node(fitted: Fitted, node: int, summary: Summary) -> dict[str, Any]:
    """What the drawing shows of any node."""
    tree = fitted.trees
    result: dict[str, Any] = {"n": int(tree.n_node_samples[node]), "depth": int(tree.depth[node])}
    if not fitted.outcome.predicts_classes:
        numbers = summary.items()
        result["estimates"] = [
            [name, *(_short(n) if math.isfinite(n) else None for n in ends)] for name, ends in numbers
        ]
    return result


def _leaf(
    fitted: Fitted, node: int, summary: Summary, box: Box, curve: list[float] | None, number: NumberText
) -> dict[str, Any]:
    conditions, columns, leaves = box.conditions.items(), fitted.schema.columns, fitted.trees.leaves
    terms = leaf_lines(leaves, node, fitted.schema, fitted.class_names) if isinstance(leaves, ModelLeaves) else []
    return (
        _node(fitted, node, summary)
        | ({"curve": curve} if curve else {})
        | ({"terms": terms} if terms else {})
        | {
            "conditions": [
                [feature, condition_text(condition, columns[feature], number)] for feature, condition in conditions
            ],
            "demands": [_condition(feature, condition) for feature, condition in conditions],
            "planes": [[plane, left] for plane, left in box.hyperplanes],
        }
    )


def _inner_node(fitted: Fitted, node: int, summary: Summary, number: NumberText) -> dict[str, Any]:
    tree, schema = fitted.trees, fitted.schema
    split = tree.split(node)
    question, yes_left = split.question(schema, number)
    choice, missing = column_choice(fitted, node), missing_values(fitted, node)
    return _node(fitted, node, summary) | {
        "feature": split.subject(schema),
        "features": [schema.name(feature) for feature in split.features],
        "left": split.condition(schema, left=True, number=number),
        "right": split.condition(schema, left=False, number=number),
        "question": question,
        "yesLeft": yes_left,
        "odds": odds_text(float(tree.log_odds_split[node])),
        "exactOdds": exact_odds_text(float(tree.log_odds_split[node])),
        "column": None if choice is None else _short(choice.share),
        "others": [] if choice is None else [(name, _short(share)) for name, share in choice.others],
        "missing": None if missing is None else [missing.n, missing.left],
    }


def _condition(feature: int, condition: Condition) -> dict[str, Any]:
    """A condition as data: numbers above `low` up to `high`, or categories that are known to lead to the leaf."""
    result: dict[str, Any] = {"feature": feature, "low": condition.low, "high": condition.high}
    if condition.categories is not None:
        categories = condition.categories
        result |= {
            "here": np.flatnonzero(categories.leads_here).tolist(),
            "known": np.flatnonzero(categories.leads_here & categories.known).tolist(),
            "others": categories.others,
        }
    return result | {"missing": condition.missing, "missingKnown": condition.missing_known}


def _curves(fitted: Fitted) -> list[list[float] | None]:
    """Posterior densities of the means of leaves, from 0 to 1 of their heights; of classes the script draws them."""
    tree = fitted.trees
    curves: list[list[float] | None] = [None] * tree.node_count
    if not fitted.has_distribution("mean"):
        return curves
    grid = np.linspace(*_range(fitted), _CURVE_POINTS)
    make = distribution_of(fitted.outcome, "mean")
    for node in np.flatnonzero(tree.is_leaf).tolist():
        density = np.asarray(make(tree.calibrated[[node]]).pdf(grid), dtype=np.float64)
        if np.all(np.isfinite(density)) and density.max() > 0:
            curves[node] = [round(float(height), 3) for height in density / density.max()]
    return curves


def curve_text(fitted: Fitted) -> str:
    """A sentence that explains the curves in the leaves."""
    if fitted.outcome.predicts_classes:
        if len(fitted.class_names) != 2:
            return "The length of the bar in a leaf shows the probability of its class."
        name = fitted.class_names[fitted.decision.positive]
        return f"Each leaf shows the probability of {name} and its posterior density from 0 to 100 %."
    low, high = map(number_text, _range(fitted))
    return f"The curve in a leaf is the posterior density of its mean, from {low} to {high}."


def _range(fitted: Fitted) -> tuple[float, float]:
    """The range of all leaves' numbers."""
    if fitted.outcome.predicts_classes:
        return 0.0, 1.0
    values = fitted.node_means[:, 0]
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return 0.0, 1.0
    margin = 0.15 * (np.ptp(values) or abs(values[0]) or 1.0)
    low, high = float(values.min() - margin), float(values.max() + margin)
    step = 10.0 ** (math.floor(math.log10(high - low)) - 1)
    return math.floor(low / step) * step, math.ceil(high / step) * step
