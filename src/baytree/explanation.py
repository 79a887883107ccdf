"""Why a row got its answer: the path through the tree, in words and numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ._typing import FloatArray, IntArray
from .rules import Wording, feature_name, number_text
from .tree import Tree

# What a leaf predicts: name -> estimate, lower and upper end of a 90 % interval.
LeafSummary = dict[str, tuple[float, float, float]]


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
        if not self.seen:
            return f"{cell}, not seen here, goes with the larger part: {self.condition}"
        if self.value is not None:
            return f"{cell} {self.condition}"
        return cell if self.condition == "is missing" else f"{cell}: {self.condition}"


@dataclass(frozen=True)
class Explanation:
    """The path of one row, and what its leaf knows."""

    steps: tuple[Step, ...]
    leaf: int
    n_rows: int  # training rows in the leaf
    estimate: dict[str, float]  # class -> probability, or outcome -> its mean
    interval: dict[str, tuple[float, float]]  # 90 % credible interval of each

    def __str__(self) -> str:
        lines = [f"{'because' if i == 0 else '    and'} {step}" for i, step in enumerate(self.steps)]
        lines.append(f"leaf {self.leaf}, {self.n_rows} training rows:")
        for name, estimate in self.estimate.items():
            low, high = self.interval[name]
            lines.append(f"    {name}: {estimate:.4g}  (90 % between {low:.4g} and {high:.4g})")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain dictionaries and numbers."""
        return asdict(self)


def format_odds(log_odds: float) -> str:
    """Odds as people say them: 3:1, 1:20, over a million to one as a power of ten."""
    size = abs(log_odds)
    if size < np.log(1e6):
        number = f"{np.exp(size):.3g}" if size < np.log(100) else f"{np.exp(size):,.0f}"
    else:
        number = f"10^{size / np.log(10):.0f}"
    return f"{number}:1" if log_odds >= 0 else f"1:{number}"


def explain_rows(
    model: Any, X: FloatArray, leaves: IntArray, summary: Callable[[int], LeafSummary]
) -> list[Explanation]:
    """Explain each row of a matrix, which falls into the leaf given; `summary` says what a leaf predicts."""
    wording, tree = Wording(model, model.tree_), model.tree_
    return [_explain(wording, tree, row, int(leaf), summary(int(leaf))) for row, leaf in zip(X, leaves, strict=True)]


def _explain(wording: Wording, tree: Tree, row: FloatArray, leaf: int, summary: LeafSummary) -> Explanation:
    path = tree.path(leaf)
    return Explanation(
        steps=tuple(_step(wording, tree, node, child, row) for node, child in pairwise(path)),
        leaf=leaf,
        n_rows=int(tree.n_node_samples[leaf]),
        estimate={name: estimate for name, (estimate, _, _) in summary.items()},
        interval={name: (low, high) for name, (_, low, high) in summary.items()},
    )


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
    )
