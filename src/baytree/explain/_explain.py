"""Explaining the rows of a table by a fitted result."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._words import estimate_text
from ..fitted import Fitted, ModelKind, Summary
from ..table import Rows
from ..tree import Hyperplane, Split, Threshold
from ._boxes import Box, boxes_of
from ._conditions import condition_text
from ._counterfactual import AllowedChanges, Counterfactuals
from ._explanation import Explanation, PrunedSplit, Step
from ._forest import forest_notes

_BOTH_WAYS = "(a value that was never seen goes both ways: the answer is an average, the path its largest part)"


def explain(fitted: Fitted, rows: Rows, allowed: AllowedChanges, n_threads: int = 1) -> list[Explanation]:
    """Explain each row of a table that was read whole: by the tree to read, with a note of what all trees predict."""
    explanations = _explain_by_tree(fitted.readable, rows, allowed, n_threads)
    if fitted.readable is fitted:
        return explanations
    predictions = _predictions(fitted, rows, n_threads)
    if fitted.kind is ModelKind.FOREST:
        notes = forest_notes(fitted, rows, predictions, n_threads)
    else:
        notes = [f"(the most probable tree says so; all trees together say {prediction})" for prediction in predictions]
    pairs = zip(explanations, notes, strict=True)
    return [replace(explanation, note=" ".join(filter(None, (note, explanation.note)))) for explanation, note in pairs]


def _predictions(fitted: Fitted, rows: Rows, n_threads: int) -> list[str]:
    """The prediction for each row, as text."""
    mean = fitted.mean(rows, n_threads)
    if not fitted.outcome.predicts_classes:
        return [estimate_text(float(estimates[0])) for estimates in mean]
    codes = fitted.decision.codes(mean)
    return [
        f"{fitted.class_names[code]}: {estimate_text(float(estimates[code]))}"
        for estimates, code in zip(mean, codes, strict=True)
    ]


def _explain_by_tree(fitted: Fitted, rows: Rows, allowed: AllowedChanges, n_threads: int) -> list[Explanation]:
    tree = fitted.trees
    leaves = fitted.leaves(rows, n_threads)
    counterfactuals, decisions = Counterfactuals(fitted, allowed), fitted.decisions()
    boxes = {box.leaf: box for box in boxes_of(tree, fitted.schema)}
    reached = np.unique(leaves)
    leaf_part = {
        leaf: _leaf_part(fitted, boxes[leaf], summary, decisions.name(leaf))
        for leaf, summary in zip(reached.tolist(), fitted.summaries(reached), strict=True)
    }
    splits = {node: tree.split(node) for leaf in reached for node in tree.path(leaf)[:-1]}
    rule = "" if fitted.decision.is_most_probable else f"(decided: {fitted.decision.text(fitted.class_names)})"
    explanations = []
    values = (row for part in rows.dense_parts() for row in part)
    for row, leaf in zip(values, leaves.tolist(), strict=True):
        steps = tuple(_step(fitted, splits[node], node, child, row) for node, child in pairwise(tree.path(leaf)))
        changes = counterfactuals.of(row, leaf)
        explanations.append(Explanation(steps=steps, changes=changes, note=rule, **leaf_part[leaf]))
    return _average_unseen(fitted, rows, explanations, n_threads)


def _average_unseen(fitted: Fitted, rows: Rows, explanations: list[Explanation], n_threads: int) -> list[Explanation]:
    """Replace the estimates of rows whose unseen values went both ways by averages over leaves."""
    unsure = [i for i, explanation in enumerate(explanations) if any(step.both_ways for step in explanation.steps)]
    if not unsure:
        return explanations
    part = rows.select(np.array(unsure))
    mean, ends = fitted.mean(part, n_threads), np.array([0.05, 0.95])
    names, intervals = fitted.outcome.estimate_names, _intervals(fitted, part, ends, n_threads)
    decisions, estimates = _decisions(fitted, mean), fitted.outcome.estimates(mean)
    for k, i in enumerate(unsure):
        explanations[i] = replace(
            explanations[i],
            decision=decisions[k],
            changes=explanations[i].changes if decisions[k] == explanations[i].decision else (),
            estimate=dict(zip(names, estimates[k].tolist(), strict=True)),
            interval={name: (low, high) for name, (low, high) in zip(names, intervals[k].tolist(), strict=True)},
            note=" ".join(filter(None, (explanations[i].note, _BOTH_WAYS))),
        )
    return explanations


def _intervals(fitted: Fitted, rows: Rows, ends: FloatArray, n_threads: int) -> FloatArray:
    """Ends of intervals of what `estimate_names` are of; NaN where there is no distribution."""
    if fitted.outcome.predicts_classes:
        return fitted.class_quantiles(rows, ends, n_threads)
    unknown = np.full((len(rows), len(ends)), np.nan)
    return np.stack(
        [
            fitted.quantiles(rows, ends, kind, n_threads) if fitted.has_distribution(kind) else unknown
            for kind in fitted.outcome.estimate_names
        ],
        axis=1,
    )


def _decisions(fitted: Fitted, mean: FloatArray) -> list[str]:
    """The decision on rows with these expected outcomes, in the words of a tree's leaves."""
    if fitted.outcome.predicts_classes:
        return [fitted.class_names[code] for code in fitted.decision.codes(mean)]
    overall, names = float(fitted.trees.leaves.value[0, 0]), fitted.decisions().names
    return [names[int(estimate > overall)] for estimate in mean[:, 0]]


def _leaf_part(fitted: Fitted, box: Box, summary: Summary, decision: str) -> dict[str, Any]:
    """The part of an explanation that all rows of a leaf share."""
    tree, schema, leaf = fitted.trees, fitted.schema, box.leaf
    used = {feature for node in tree.path(leaf)[:-1] for feature in tree.split(node).features}
    return {
        "leaf": leaf,
        "n_rows": int(tree.n_node_samples[leaf]),
        "decision": decision,
        "estimate": {name: estimate for name, (estimate, _, _) in summary.items()},
        "interval": {name: (low, high) for name, (_, low, high) in summary.items()},
        "family": fitted.outcome.family,
        "posterior": dict(zip(fitted.outcome.posterior_names, tree.calibrated[leaf].tolist(), strict=True)),
        "pruned": _pruned_split(fitted, leaf),
        "conditions": {
            schema.name(feature): condition_text(condition, schema.columns[feature])
            for feature, condition in box.conditions.items()
        },
        "unused": tuple(schema.name(i) for i in range(schema.n_features) if i not in used),
    }


def _pruned_split(fitted: Fitted, leaf: int) -> PrunedSplit | None:
    grown, node = fitted.grown, fitted.grown_node(leaf)
    if grown.is_leaf[node]:
        return None
    return PrunedSplit(grown.split(node).subject(fitted.schema), float(fitted.trees.log_odds_split[leaf]))


def _step(fitted: Fitted, split: Split, node: int, child: int, row: FloatArray) -> Step:
    tree, schema = fitted.trees, fitted.schema
    shares = tree.feature_posterior[node, :-1].copy()
    shares[tree.feature[node]] = -1.0
    second = int(np.argmax(shares))
    alone, seen = len(shares) == 1, split.has_seen(row)
    return Step(
        feature=split.subject(schema),
        value=_value(fitted, split, row),
        condition=split.condition(schema, left=bool(child == tree.children_left[node])),
        threshold=split.threshold if isinstance(split, (Threshold, Hyperplane)) else None,
        seen=seen,
        log_odds=float(tree.log_odds_split[node]),
        runner_up=None if alone else schema.name(second),
        runner_up_share=0.0 if alone else float(shares[second]),
        filled=_imputed_values(fitted, split, row),
        both_ways=not seen and fitted.unseen == "average",
    )


def _value(fitted: Fitted, split: Split, row: FloatArray) -> float | bool | str | None:
    """The value of a row that a split tests; of a hyperplane the weighted sum."""
    if isinstance(split, Hyperplane):
        return split.sum(row)
    column, number = fitted.schema.columns[split.feature], float(row[split.feature])
    value = column.value(number)
    return column.text(number) if column.categories is not None and value is not None else value


def _imputed_values(fitted: Fitted, split: Split, row: FloatArray) -> tuple[tuple[str, float], ...]:
    """The features of a hyperplane that the row does not have, with the values they count as."""
    if not isinstance(split, Hyperplane):
        return ()
    pairs = zip(split.features, split.missing_values, strict=True)
    return tuple((fitted.schema.name(feature), mean) for feature, mean in pairs if np.isnan(row[feature]))
