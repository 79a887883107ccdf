"""Why a row got its answer: the path through the tree, in words and numbers, and what would have changed it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import FloatArray
from .._words import number_text, odds_text, summary_text
from ..fitted import FittedTree, Summary
from ..table import Rows
from ..tree import Hyperplane, Split, Threshold
from ._counterfactual import Counterfactual, Counterfactuals
from ._html import STYLE, escaped, faint

_SHOWN_UNUSED = 5


@dataclass(frozen=True)
class Step:
    """One split on the way down."""

    feature: str
    value: float | bool | str | None  # of the row: a number, a truth value, a category, None where it is missing
    condition: str  # that it meets: "<= 3", "in {red, blue}", "is missing"
    threshold: float | None  # of a split between numbers
    seen: bool  # False: no training row here had such a value, so it went to the larger side
    log_odds: float  # of the split against no split
    runner_up: str | None  # the second most probable feature at this node
    runner_up_share: float
    filled: tuple[tuple[str, float], ...] = ()  # missing values in a hyperplane, and what they count as

    def __str__(self) -> str:
        text = f"{self._says()}  (odds {odds_text(self.log_odds)}"
        if self.runner_up is not None and self.runner_up_share >= 0.005:
            text += f"; else {self.runner_up}, {self.runner_up_share:.0%}"
        return text + ")"

    def _says(self) -> str:
        if isinstance(self.value, bool):
            return f"{self.feature} {self.condition}"
        value = number_text(self.value) if isinstance(self.value, float) else self.value
        if self.threshold is not None and value == number_text(self.threshold):
            value = repr(self.value)  # the digits that tell them apart
        subject = f"{self.feature} is missing" if self.value is None else f"{self.feature} = {value}"
        if self.filled:
            missing = ", ".join(f"{name} is missing and counts as {number_text(mean)}" for name, mean in self.filled)
            return f"{subject} {self.condition}, where {missing}"
        if not self.seen:
            return f"{subject}, not seen here, goes to the larger side: {self.condition}"
        if self.value is not None:
            return f"{subject} {self.condition}"
        return subject if self.condition == "is missing" else f"{subject}: {self.condition}"


@dataclass(frozen=True)
class PrunedSplit:
    """A split that was grown and is not in the tree: what it led to was less probable than a leaf."""

    feature: str
    log_odds: float  # of the best tree below, against the leaf

    def __str__(self) -> str:
        return f"a further split on {self.feature} was {odds_text(-self.log_odds)} against"


@dataclass(frozen=True)
class Explanation:
    """The path of one row, what its leaf knows, and what would have changed the decision.

    The decision is the predicted class; of a number, whether the estimate is above that of the whole table. What the
    smallest change is, and how it is found: docs/explain.md.
    """

    steps: tuple[Step, ...]
    leaf: int
    n_rows: int  # training rows in the leaf
    decision: str
    estimate: dict[str, float]  # class -> probability, or outcome -> its mean
    interval: dict[str, tuple[float, float]]  # 90 % credible interval of each
    family: str  # of the posterior: "Beta"
    posterior: dict[str, float]  # its parameters
    unused: tuple[str, ...]  # features that the path does not use
    change_of_one: Counterfactual | None  # smallest change of one feature that changes the decision
    change_of_two: Counterfactual | None  # of at most two; that of one where two are not nearer
    pruned: PrunedSplit | None = None  # what was grown below the leaf
    note: str = ""  # what a reader must know first

    def __str__(self) -> str:
        lines = [self.decision, *([self.note] if self.note else [])]
        lines += [f"{'because' if i == 0 else '    and'} {step}" for i, step in enumerate(self.steps)]
        lines.append(f"{self._leaf()}:")
        lines += [f"    {line}" for line in self._estimates()]
        lines += [] if self.pruned is None else [f"    {self.pruned}"]
        lines += self._changes()
        if self.unused:
            lines.append(f"not used: {self._not_used()}")
        return "\n".join(lines)

    def _leaf(self) -> str:
        numbers = ", ".join(f"{parameter:.6g}" for parameter in self.posterior.values())
        return f"leaf {self.leaf}, {self.n_rows} training rows, {self.family}({numbers})"

    def _estimates(self) -> list[str]:
        return [summary_text(name, estimate, *self.interval[name]) for name, estimate in self.estimate.items()]

    def _changes(self) -> list[str]:
        """The changes worth telling: that of two features where it is not that of one."""
        lines = [] if self.change_of_one is None else [f"to change it: {self.change_of_one}"]
        if self.change_of_two is not None and self.change_of_two != self.change_of_one:
            lines.append(f"{'or nearer' if lines else 'to change it'}: {self.change_of_two}")
        return lines

    def _not_used(self) -> str:
        text, more = ", ".join(self.unused[:_SHOWN_UNUSED]), len(self.unused) - _SHOWN_UNUSED
        return f"{text} and {more} more" if more > 0 else text

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as strings, numbers, lists and dictionaries, fit for JSON; None for no number."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def _repr_html_(self) -> str:
        steps = "".join(f"<li>{escaped(step)}</li>" for step in self.steps)
        note = f" {faint(self.note)}" if self.note else ""
        lines = [
            f"<b>{escaped(self.decision)}</b>{note}",
            f'<ol style="margin:0">{steps}</ol>',
            f"{escaped(self._leaf())}",
        ]
        lines += [f"<br>{escaped(line)}" for line in self._estimates()]
        lines += [] if self.pruned is None else [f"<br>{faint(self.pruned)}"]
        lines += [f"<br>{escaped(change)}" for change in self._changes()]
        if self.unused:
            lines.append(f"<br>{faint('not used: ' + self._not_used())}")
        return f'<div style="{STYLE}">{"".join(lines)}</div>'


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def explain_rows(fitted: FittedTree, rows: Rows, n_threads: int = 1) -> list[Explanation]:
    """Explain each row of a table that was read whole."""
    tree = fitted.tree
    leaves = fitted.leaves(rows, n_threads)
    counterfactuals, decisions = Counterfactuals(fitted), fitted.decisions()
    found = np.unique(leaves)
    leaf_part = {
        leaf: _leaf_part(fitted, leaf, summary, decisions.name(leaf))
        for leaf, summary in zip(found.tolist(), fitted.summaries(found), strict=True)
    }
    splits = {node: tree.split(node) for leaf in found for node in tree.path(leaf)[:-1]}
    explanations = []
    values = (row for part in rows.dense_parts() for row in part)
    for row, leaf in zip(values, leaves.tolist(), strict=True):
        one, two = counterfactuals.of(row, leaf)
        steps = tuple(_step(fitted, splits[node], node, child, row) for node, child in pairwise(tree.path(leaf)))
        explanations.append(Explanation(steps=steps, change_of_one=one, change_of_two=two, **leaf_part[leaf]))
    return explanations


def _leaf_part(fitted: FittedTree, leaf: int, summary: Summary, decision: str) -> dict[str, Any]:
    """What all rows of a leaf have in common."""
    tree, schema = fitted.tree, fitted.schema
    used = {feature for node in tree.path(leaf)[:-1] for feature in tree.split(node).features}
    return {
        "leaf": leaf,
        "n_rows": int(tree.n_node_samples[leaf]),
        "decision": decision,
        "estimate": {name: estimate for name, (estimate, _, _) in summary.items()},
        "interval": {name: (low, high) for name, (_, low, high) in summary.items()},
        "family": fitted.outcome.family,
        "posterior": dict(zip(fitted.posterior_names, tree.posterior[leaf].tolist(), strict=True)),
        "unused": tuple(schema.name(i) for i in range(schema.n_features) if i not in used),
        "pruned": _pruned(fitted, leaf),
    }


def _pruned(fitted: FittedTree, leaf: int) -> PrunedSplit | None:
    grown, node = fitted.grown, fitted.in_grown(leaf)
    if grown.is_leaf[node]:
        return None
    return PrunedSplit(grown.split(node).subject(fitted.schema), float(fitted.tree.log_odds_split[leaf]))


def _step(fitted: FittedTree, split: Split, node: int, child: int, row: FloatArray) -> Step:
    tree, schema = fitted.tree, fitted.schema
    shares = tree.feature_posterior[node, :-1].copy()
    shares[tree.feature[node]] = -1.0
    second = int(np.argmax(shares))
    alone = len(shares) == 1
    return Step(
        feature=split.subject(schema),
        value=_value(fitted, split, row),
        condition=split.condition(schema, left=bool(child == tree.children_left[node])),
        threshold=split.threshold if isinstance(split, (Threshold, Hyperplane)) else None,
        seen=split.has_seen(row),
        log_odds=float(tree.log_odds_split[node]),
        runner_up=None if alone else schema.name(second),
        runner_up_share=0.0 if alone else float(shares[second]),
        filled=_filled(fitted, split, row),
    )


def _value(fitted: FittedTree, split: Split, row: FloatArray) -> float | bool | str | None:
    """What a row has where a split looks; of a hyperplane the sum."""
    if isinstance(split, Hyperplane):
        return split.sum(row)
    column, number = fitted.schema.columns[split.feature], float(row[split.feature])
    value = column.value(number)
    return column.text(number) if column.categories is not None and value is not None else value


def _filled(fitted: FittedTree, split: Split, row: FloatArray) -> tuple[tuple[str, float], ...]:
    """The features of a hyperplane that the row does not have, with the values they count as."""
    if not isinstance(split, Hyperplane):
        return ()
    pairs = zip(split.features, split.missing_values, strict=True)
    return tuple((fitted.schema.name(feature), mean) for feature, mean in pairs if np.isnan(row[feature]))
