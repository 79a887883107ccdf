"""Why a row got its answer: the path through the tree, in words and numbers, and what would have changed it."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ._html import STYLE, escaped, faint
from ._typing import FloatArray, IntArray
from .counterfactual import Counterfactual, Counterfactuals
from .rules import Wording, feature_name, format_odds, number_text, summary_text
from .tree import Tree

# What a node predicts: name -> estimate, lower and upper end of a 90 % interval.
Summary = dict[str, tuple[float, float, float]]

_SHOWN_UNUSED = 5


@dataclass(frozen=True)
class Step:
    """One cut on the way down."""

    feature: str
    value: float | str | None  # of the row: a number, a level, None where it is missing
    condition: str  # that it meets: "<= 3", "in {red, blue}", "is missing"
    threshold: float | None  # of a cut between numbers
    seen: bool  # False: no training row here had such a cell, so it went with the larger part
    log_odds: float  # of the cut against no cut
    runner_up: str | None  # the second most probable feature at this node
    runner_up_share: float
    filled: tuple[tuple[str, float], ...] = ()  # gaps of the row in a hyperplane, and what they count as

    def __str__(self) -> str:
        text = f"{self._says()}  (odds {format_odds(self.log_odds)}"
        if self.runner_up is not None and self.runner_up_share >= 0.005:
            text += f"; else {self.runner_up}, {self.runner_up_share:.0%}"
        return text + ")"

    def _says(self) -> str:
        value = number_text(self.value) if isinstance(self.value, float) else self.value
        if self.threshold is not None and value == number_text(self.threshold):
            value = repr(self.value)  # the digits that tell them apart
        cell = f"{self.feature} is missing" if self.value is None else f"{self.feature} = {value}"
        if self.filled:
            gaps = ", ".join(f"{name} is missing and counts as {number_text(mean)}" for name, mean in self.filled)
            return f"{cell} {self.condition}, where {gaps}"
        if not self.seen:
            return f"{cell}, not seen here, goes with the larger part: {self.condition}"
        if self.value is not None:
            return f"{cell} {self.condition}"
        return cell if self.condition == "is missing" else f"{cell}: {self.condition}"


@dataclass(frozen=True)
class Explanation:
    """The path of one row, what its leaf knows, and what would have changed the decision.

    The decision is the predicted class; of a number, whether the estimate is above that of the whole table. What the
    smallest change is, and how it is found: `baytree.counterfactual`.
    """

    steps: tuple[Step, ...]
    leaf: int
    n_rows: int  # training rows in the leaf
    decision: str
    estimate: dict[str, float]  # class -> probability, or outcome -> its mean
    interval: dict[str, tuple[float, float]]  # 90 % credible interval of each
    family: str  # of the posterior: "Beta"
    posterior: dict[str, float]  # its parameters
    unused: tuple[str, ...]  # features that were not asked on the path
    change_of_one: Counterfactual | None  # smallest change of one feature that changes the decision
    change_of_two: Counterfactual | None  # of at most two; that of one where two are not nearer
    note: str = ""  # what a reader must know first

    def __str__(self) -> str:
        lines = [self.decision, *([self.note] if self.note else [])]
        lines += [f"{'because' if i == 0 else '    and'} {step}" for i, step in enumerate(self.steps)]
        lines.append(f"{self._leaf()}:")
        lines += [f"    {line}" for line in self._estimates()]
        lines += self._changes()
        if self.unused:
            lines.append(f"not asked: {self._not_asked()}")
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

    def _not_asked(self) -> str:
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
        lines += [f"<br>{escaped(change)}" for change in self._changes()]
        if self.unused:
            lines.append(f"<br>{faint('not asked: ' + self._not_asked())}")
        return f'<div style="{STYLE}">{"".join(lines)}</div>'


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def explain_rows(model: Any, X: FloatArray, leaves: IntArray) -> list[Explanation]:
    """Explain each row of a matrix, which falls into the leaf given, by a single-tree estimator."""
    tree, decisions = model.tree_, model._decisions()
    wording, counterfactuals = Wording(model, tree), Counterfactuals(model, decisions)
    found = np.unique(leaves)
    leaf_part = {
        leaf: _leaf_part(model, leaf, summary, decisions.name(leaf))
        for leaf, summary in zip(found.tolist(), model._summaries(found), strict=True)
    }
    explanations = []
    for row, leaf in zip(X, leaves.tolist(), strict=True):
        one, two = counterfactuals.of(row, leaf)
        steps = tuple(_step(wording, tree, node, child, row) for node, child in pairwise(tree.path(leaf)))
        explanations.append(Explanation(steps=steps, change_of_one=one, change_of_two=two, **leaf_part[leaf]))
    return explanations


def _leaf_part(model: Any, leaf: int, summary: Summary, decision: str) -> dict[str, Any]:
    """What all rows of a leaf have in common."""
    tree: Tree = model.tree_
    asked = set().union(*(tree.features_of(node) for node in tree.path(leaf)[:-1]))
    return {
        "leaf": leaf,
        "n_rows": int(tree.n_node_samples[leaf]),
        "decision": decision,
        "estimate": {name: estimate for name, (estimate, _, _) in summary.items()},
        "interval": {name: (low, high) for name, (_, low, high) in summary.items()},
        "family": model.outcome_.family,
        "posterior": dict(zip(model._posterior_names, tree.posterior[leaf].tolist(), strict=True)),
        "unused": tuple(feature_name(i, model._names) for i in range(tree.n_features) if i not in asked),
    }


def _step(wording: Wording, tree: Tree, node: int, child: int, row: FloatArray) -> Step:
    feature = int(tree.feature[node])
    shares = tree.feature_posterior[node, :-1].copy()
    shares[feature] = -1.0
    second = int(np.argmax(shares))
    alone = len(shares) == 1
    return Step(
        feature=wording.feature(node),
        value=wording.value(node, row),
        condition=wording.condition(node, left=bool(child == tree.children_left[node])),
        threshold=float(tree.threshold[node]) if np.isfinite(tree.threshold[node]) else None,
        seen=bool(tree.is_oblique[node]) or tree.has_seen(node, float(row[feature])),
        log_odds=float(tree.log_odds_split[node]),
        runner_up=None if alone else feature_name(second, wording.names),
        runner_up_share=0.0 if alone else float(shares[second]),
        filled=_filled(wording, tree, node, row),
    )


def _filled(wording: Wording, tree: Tree, node: int, row: FloatArray) -> tuple[tuple[str, float], ...]:
    """The features of a hyperplane that the row does not have, with the values they count as."""
    terms = tree.terms_of(node)
    pairs = zip(tree.oblique_feature[terms].tolist(), tree.oblique_gap_value[terms].tolist(), strict=True)
    return tuple((feature_name(feature, wording.names), mean) for feature, mean in pairs if np.isnan(row[feature]))
