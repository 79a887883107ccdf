"""The greedy-modal tree, written down as docs/model.md states it.

Plain Python: no NumPy, no tables, no incremental sums, every set of rows is looked at afresh. What is particular to
an outcome is in outcomes.py.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

TOLERANCE = 1e-9


@dataclass
class Settings:
    """What the tree depends on besides the data. `prior` holds the parameters at the root."""

    prior: list[float]
    split: float = 0.99
    by_depth: bool = True
    by_distance: bool = False
    proper: bool = True
    feature_weight: list[float] | None = None
    smoothing: float = 0.0
    max_depth: float = math.inf
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_leaf_nodes: float = math.inf


@dataclass
class Partition:
    """feature None is the trivial partition."""

    feature: int | None
    lower: float
    upper: float
    log_prior: float
    log_likelihood: float

    @property
    def score(self) -> float:
        return self.log_prior + self.log_likelihood


@dataclass
class Node:
    rows: list[int]
    depth: int
    prior: list[float]
    partitions: list[Partition]
    mode: Partition
    children: list[Node] = field(default_factory=list)

    @property
    def leaf_score(self) -> float:
        return self.partitions[0].score


class Problem:
    def __init__(self, X, outcome, settings: Settings):
        self.X, self.outcome, self.weight, self.settings = X, outcome, outcome.weight, settings
        self.total_weight = sum(self.weight)
        d = len(X[0])
        raw = settings.feature_weight or [1.0] * d
        everything = list(range(len(X)))
        counted = [r for r in range(d) if not settings.proper or self.cuts(everything, r)]
        total = sum(raw[r] for r in counted)
        self.w = [raw[r] / total if total else 0.0 for r in range(d)]

    def cuts(self, rows, r):
        """Pairs of neighbouring distinct values of feature r that the limits let us cut between."""
        values = sorted({self.X[i][r] for i in rows})
        allowed = []
        least = self.settings.min_weight_fraction_leaf * self.total_weight * (1 - TOLERANCE)
        for low, high in pairwise(values):
            sides = [[i for i in rows if self.X[i][r] <= low], [i for i in rows if self.X[i][r] > low]]
            if all(
                len(side) >= self.settings.min_samples_leaf and sum(self.weight[i] for i in side) >= least
                for side in sides
            ):
                allowed.append((low, high))
        return allowed

    def partition_space(self, rows, depth, prior):
        """The trivial partition, then every cut in order of feature and threshold."""
        settings = self.settings
        whole = self.outcome.log_likelihood(rows, prior)
        alone = [Partition(None, math.nan, math.nan, 0.0, whole)]
        cuts = [self.cuts(rows, r) for r in range(len(self.X[0]))]
        if depth >= settings.max_depth or len({self.outcome.record(i) for i in rows}) == 1 or not any(cuts):
            return alone
        s = settings.split ** (1 + depth if settings.by_depth else 1)
        cuttable = sum(self.w[r] for r in range(len(cuts)) if cuts[r])
        trivial = 1 - s * min(cuttable, 1.0) if settings.proper else 1 - s
        space = [Partition(None, math.nan, math.nan, math.log(trivial), whole)]
        for r, of_feature in enumerate(cuts):
            span = sum(Fraction(high) - Fraction(low) for low, high in of_feature)
            for low, high in of_feature:
                by_distance = (Fraction(high) - Fraction(low)) / span
                v = by_distance if settings.by_distance else Fraction(1, len(of_feature))
                likelihood = self.outcome.log_likelihood([i for i in rows if self.X[i][r] <= low], prior)
                likelihood += self.outcome.log_likelihood([i for i in rows if self.X[i][r] > low], prior)
                space.append(Partition(r, low, high, math.log(s * self.w[r]) + log_of(v), likelihood))
        return space

    def grow(self, rows=None, depth=0, prior=None) -> Node:
        rows = list(range(len(self.X))) if rows is None else rows
        prior = list(self.settings.prior) if prior is None else prior
        space = self.partition_space(rows, depth, prior)
        best = max(partition.score for partition in space)
        mode = next(p for p in space if p.score >= best - TOLERANCE * (1 + abs(best)))
        node = Node(rows, depth, prior, space, mode)
        if mode.feature is not None:
            for side in (lambda x: x <= mode.lower, lambda x: x > mode.lower):
                part = [i for i in rows if side(self.X[i][mode.feature])]
                node.children.append(
                    self.grow(part, depth + 1, self.outcome.update(part, prior, self.settings.smoothing))
                )
        return node


def log_of(fraction: Fraction) -> float:
    """Log of a fraction of any size."""
    return math.log(fraction.numerator) - math.log(fraction.denominator)


def gain(node: Node) -> float:
    """How much the log posterior of a tree rises when this leaf is split by its mode."""
    return node.mode.log_prior + sum(child.leaf_score for child in node.children) - node.leaf_score


def limit_leaves(root: Node, max_leaf_nodes: float) -> None:
    """Keep sprouts best first until there are enough leaves."""
    order = depth_first(root)
    frontier, kept = [root], []
    while 1 + len(kept) < max_leaf_nodes:
        sprouts = sorted((node for node in frontier if node.children), key=order.index)
        if not sprouts:
            break
        best = max(gain(node) for node in sprouts)
        chosen = next(node for node in sprouts if gain(node) >= best - TOLERANCE * (1 + abs(best)))
        frontier.remove(chosen)
        frontier.extend(chosen.children)
        kept.append(chosen)
    for node in order:
        if all(node is not sprout for sprout in kept):
            node.children = []


def depth_first(node: Node) -> list[Node]:
    return [node, *(below for child in node.children for below in depth_first(child))]


def grow(X, outcome, settings: Settings) -> Node:
    root = Problem(X, outcome, settings).grow()
    limit_leaves(root, settings.max_leaf_nodes)
    return root


def log_sum_exp(values):
    top = max(values)
    return top + math.log(sum(math.exp(value - top) for value in values))


def log_posterior(node: Node, include_sprouts: bool = True) -> float:
    if not node.children:
        return node.leaf_score
    below = sum(log_posterior(child, include_sprouts) for child in node.children)
    return below + (node.mode.log_prior if include_sprouts else 0.0)


def log_evidence(node: Node) -> float:
    if not node.children:
        return node.leaf_score
    return log_sum_exp([node.leaf_score, node.mode.log_prior + sum(log_evidence(child) for child in node.children)])


def feature_posterior(node: Node, n_features: int) -> list[float]:
    """Probability of each feature, then of the trivial partition."""
    total = log_sum_exp([partition.score for partition in node.partitions])
    share = [0.0] * (n_features + 1)
    for partition in node.partitions:
        share[-1 if partition.feature is None else partition.feature] += math.exp(partition.score - total)
    return share


def log_odds_split(node: Node) -> float:
    cuts = [partition.score for partition in node.partitions[1:]]
    return max(cuts) - node.leaf_score if cuts else -math.inf
