"""Explaining the rows of a table by a fitted result."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._words import estimate_text
from ..fitted import Fitted, ModelKind, Summary, contributions
from ..leaves import ModelLeaves
from ..table import Rows, Schema
from ..tree import Hyperplane, Split, Threshold
from ._average_changes import AverageChanges
from ._boxes import Box, boxes_of
from ._conditions import condition_text
from ._contribution import Contribution, contributions_of, value_of
from ._counterfactual import AllowedChanges, Counterfactuals
from ._explanation import Explanation, PrunedSplit, Step
from ._row_decisions import RowDecisions

_BOTH_WAYS = "(a value that was never seen goes both ways: the answer is an average, the path its largest part)"
_ENDS = np.array([0.05, 0.95])


def explain(fitted: Fitted, rows: Rows, allowed: AllowedChanges, n_threads: int = 1) -> list[Explanation]:
    """Explain each row of a table that was read whole, by the model that predicts."""
    if fitted.readable is fitted:
        return _explain_by_tree(fitted, rows, allowed, n_threads)
    return _explain_average(fitted, rows, allowed, n_threads)


def _explain_average(fitted: Fitted, rows: Rows, allowed: AllowedChanges, n_threads: int) -> list[Explanation]:
    """Explain an average over trees by the contributions of columns; the readable tree is an illustration."""
    decided, changes = RowDecisions(fitted), AverageChanges(RowDecisions(fitted), allowed)
    mean = fitted.mean(rows, n_threads)
    codes, estimates = decided.codes(mean).tolist(), fitted.outcome.estimates(mean)
    names, intervals = fitted.outcome.estimate_names, _intervals(fitted, rows, _ENDS, n_threads)
    illustrations = _explain_by_tree(fitted.readable, rows, None, n_threads)
    by_row, base = _contributions(fitted, rows, codes, n_threads)
    notes = _average_notes(fitted, rows, codes, n_threads)
    X, explanations = rows.dense(), []
    for i, code in enumerate(codes):
        used = {contribution.column for contribution in by_row[i]} if by_row[i] else set(fitted.used_features.tolist())
        explanations.append(
            Explanation(
                steps=(),
                leaf=None,
                n_rows=None,
                decision=decided.names[code],
                estimate=dict(zip(names, estimates[i].tolist(), strict=True)),
                interval={name: (low, high) for name, (low, high) in zip(names, intervals[i].tolist(), strict=True)},
                family=fitted.outcome.family,
                posterior={},
                unused=tuple(fitted.schema.name(f) for f in range(fitted.schema.n_features) if f not in used),
                conditions={},
                changes=changes.of(X[i], code),
                note=" ".join(filter(None, (notes[i], _rule(fitted)))),
                contributions=by_row[i],
                base=base[i],
                direction=decided.direction(code),
                illustration=illustrations[i],
            )
        )
    return explanations


def _rule(fitted: Fitted) -> str:
    return "" if fitted.decision.is_most_probable else f"(decided: {fitted.decision.text(fitted.class_names)})"


def _contributions(
    fitted: Fitted, rows: Rows, codes: list[int], n_threads: int
) -> tuple[list[tuple[Contribution, ...]], list[float]]:
    """The contributions of columns to what speaks for the decision, and what is predicted without any column."""
    if not codes:
        return [], []
    if not fitted.has_finite_means():
        return [()] * len(codes), [np.nan] * len(codes)  # an infinite mean has no shares
    shapley, decided, X = contributions(fitted, rows, n_threads), RowDecisions(fitted), rows.dense()
    columns = [decided.column(code) for code in codes]
    by_row = [tuple(contributions_of(fitted.schema, shapley, i, column, X[i])) for i, column in enumerate(columns)]
    return by_row, [float(shapley.base[i, column]) for i, column in enumerate(columns)]


def _average_notes(fitted: Fitted, rows: Rows, codes: list[int], n_threads: int) -> list[str]:
    """What is averaged, and how far the trees of a forest agree."""
    if fitted.kind is not ModelKind.FOREST:
        return ["(the average over all trees of the space, each by its probability)"] * len(codes)
    means, n_trees = fitted.tree_means(rows, n_threads), fitted.trees.n_trees
    if not fitted.outcome.predicts_classes:
        ends = np.quantile(means[:, :, 0], _ENDS, axis=1).T
        texts = [f"{estimate_text(low)} and {estimate_text(high)}" for low, high in ends]
        return [f"(the average of {n_trees} trees, nine in ten of them between {text})" for text in texts]
    votes = fitted.decision.codes(means.reshape(-1, means.shape[2])).reshape(means.shape[:2])
    agree = (votes == np.array(codes)[:, None]).sum(axis=1).tolist()
    return [f"(the average of {n_trees} trees; {n} of them decide so by themselves)" for n in agree]


def _explain_by_tree(fitted: Fitted, rows: Rows, allowed: AllowedChanges | None, n_threads: int) -> list[Explanation]:
    """Explain a single tree by the paths of the rows; without allowed changes as an illustration, which needs less."""
    tree, decided = fitted.trees, RowDecisions(fitted)
    leaves = fitted.leaves(rows, n_threads)
    decisions = fitted.decisions()
    boxes = {box.leaf: box for box in boxes_of(tree, fitted.schema)}
    reached = np.unique(leaves)
    leaf_part = {
        leaf: _leaf_part(fitted, boxes[leaf], summary, decisions.name(leaf))
        for leaf, summary in zip(reached.tolist(), fitted.summaries(reached), strict=True)
    }
    splits = {node: tree.split(node) for leaf in reached for node in tree.path(leaf)[:-1]}
    codes = decisions.code[leaves].tolist()
    of_leaves = allowed is not None and tree.leaves.is_constant
    counterfactuals = Counterfactuals(fitted, allowed) if allowed is not None and of_leaves else None
    by_row, base = _contributions(fitted, rows, codes if allowed is not None else [], n_threads)
    explanations = []
    values = (row for part in rows.dense_parts() for row in part)
    for i, (row, leaf) in enumerate(zip(values, leaves.tolist(), strict=True)):
        path = tree.path(leaf)
        numbers = tree.leaves.means(np.array(path), rows, np.full(len(path), i))[:, decided.column(codes[i])]
        gains = np.diff(numbers).tolist()
        steps = tuple(
            _step(fitted, splits[node], node, child, row, gain)
            for (node, child), gain in zip(pairwise(path), gains, strict=True)
        )
        explanations.append(
            Explanation(
                steps=steps,
                changes=() if counterfactuals is None else counterfactuals.of(row, leaf),
                note=_rule(fitted),
                contributions=by_row[i] if by_row else (),
                base=base[i] if base else np.nan,
                direction=decided.direction(codes[i]),
                **leaf_part[leaf],
            )
        )
    return _predict_by_row(fitted, rows, explanations, allowed, n_threads)


def _predict_by_row(
    fitted: Fitted, rows: Rows, explanations: list[Explanation], allowed: AllowedChanges | None, n_threads: int
) -> list[Explanation]:
    """Replace decisions and estimates of leaves by those of rows: of unseen values that went both ways the average."""
    is_averaged = [any(step.both_ways for step in explanation.steps) for explanation in explanations]
    from_values = not fitted.trees.leaves.is_constant  # leaves that predict from the values of the row
    unsure = [i for i, averaged in enumerate(is_averaged) if averaged or from_values]
    if not unsure:
        return explanations
    part, decided = rows.select(np.array(unsure)), RowDecisions(fitted)
    mean = fitted.mean(part, n_threads)
    names, intervals = fitted.outcome.estimate_names, _intervals(fitted, part, _ENDS, n_threads)
    codes, estimates = decided.codes(mean).tolist(), fitted.outcome.estimates(mean)
    by_row, base = _contributions(fitted, part, codes, n_threads)
    X = part.dense()
    for k, i in enumerate(unsure):
        explanations[i] = replace(
            explanations[i],
            decision=decided.names[codes[k]],
            changes=() if allowed is None else AverageChanges(decided, allowed).of(X[k], codes[k]),
            estimate=dict(zip(names, estimates[k].tolist(), strict=True)),
            interval={name: (low, high) for name, (low, high) in zip(names, intervals[k].tolist(), strict=True)},
            note=" ".join(filter(None, (explanations[i].note, _BOTH_WAYS if is_averaged[i] else ""))),
            contributions=by_row[k],
            base=base[k],
            direction=decided.direction(codes[k]),
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


def _leaf_part(fitted: Fitted, box: Box, summary: Summary, decision: str) -> dict[str, Any]:
    """The part of an explanation that all rows of a leaf share."""
    tree, schema, leaf = fitted.trees, fitted.schema, box.leaf
    used, terms = {feature for node in tree.path(leaf)[:-1] for feature in tree.split(node).features}, None
    if isinstance(tree.leaves, ModelLeaves) and not tree.leaves.is_constant:
        terms = tree.leaves.terms.of(leaf)
        used |= set(tree.leaves.terms.feature[terms.start : terms.stop].tolist())
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
        "n_terms": None if terms is None else len(terms),
    }


def _pruned_split(fitted: Fitted, leaf: int) -> PrunedSplit | None:
    grown, node, log_odds = fitted.grown, fitted.grown_node(leaf), float(fitted.trees.log_odds_split[leaf])
    if grown.is_leaf[node] or log_odds > 0:  # a more probable split is not there because the tree was to be small
        return None
    return PrunedSplit(grown.split(node).subject(fitted.schema), log_odds)


def _as_seen_by(row: FloatArray, split: Split, schema: Schema) -> Schema:
    """The schema for a condition that a row meets: 29.2 is not <= 29, though the column held integers in training."""
    column, value = schema.columns[split.features[0]], float(row[split.features[0]])
    if not isinstance(split, Threshold) or not column.is_integer or value != value or value.is_integer():
        return schema
    columns = list(schema.columns)
    columns[split.feature] = replace(column, is_integer=False)
    return replace(schema, columns=tuple(columns))


def _step(fitted: Fitted, split: Split, node: int, child: int, row: FloatArray, change: float) -> Step:
    tree, schema = fitted.trees, fitted.schema
    shares, chosen = tree.feature_posterior[node, :-1].copy(), int(tree.feature[node])
    share, shares[chosen] = float(shares[chosen]), -1.0
    second = int(np.argmax(shares))
    alone, seen = len(shares) == 1, split.has_seen(row)
    return Step(
        feature=split.subject(schema),
        value=split.sum(row) if isinstance(split, Hyperplane) else value_of(schema, split.feature, row),
        condition=split.condition(_as_seen_by(row, split, schema), left=bool(child == tree.children_left[node])),
        threshold=split.threshold if isinstance(split, (Threshold, Hyperplane)) else None,
        seen=seen,
        log_odds=float(tree.log_odds_split[node]),
        runner_up=None if alone else schema.name(second),
        runner_up_share=0.0 if alone else float(shares[second]),
        filled=_imputed_values(fitted, split, row),
        both_ways=not seen and fitted.unseen == "average",
        change=change,
        share=share,
    )


def _imputed_values(fitted: Fitted, split: Split, row: FloatArray) -> tuple[tuple[str, float], ...]:
    """The features of a hyperplane that the row does not have, with the values they count as."""
    if not isinstance(split, Hyperplane):
        return ()
    pairs = zip(split.features, split.missing_values, strict=True)
    return tuple((fitted.schema.name(feature), mean) for feature, mean in pairs if np.isnan(row[feature]))
