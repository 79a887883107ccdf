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
FEW_LEVELS = 8
OBLIQUE_SIZES = (2, 3, 4, 6, 8, 12, 20)


@dataclass
class Settings:
    """What the tree depends on besides the data. `prior` holds the parameters at the root."""

    prior: list[float]
    split: float = 0.99
    by_depth: bool = True
    by_distance: bool = False
    subsets: bool = True
    proper: bool = True
    feature_weight: list[float] | None = None
    smoothing: float = 0.0
    max_depth: float = math.inf
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_leaf_nodes: float = math.inf
    categorical: set[int] = field(default_factory=set)
    monotonic: list[int] | None = None
    lookahead: int = 0
    oblique: float = 0.0  # share of the split for hyperplanes


@dataclass
class Cut:
    """What sends a cell to the left: a value up to `lower`, a level in `levels`, a gap where `gaps_left`."""

    lower: float = math.nan
    upper: float = math.nan
    levels: frozenset | None = None
    gaps_left: bool = False
    log_share: float = -math.inf  # of the feature's prior mass

    def left(self, cell) -> bool:
        if math.isnan(cell):
            return self.gaps_left
        return cell in self.levels if self.levels is not None else cell <= self.lower

    @property
    def divides_missing(self) -> bool:
        return self.levels is None and self.lower == math.inf


@dataclass
class Partition:
    """feature None is the trivial partition."""

    feature: int | None
    cut: Cut | None
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
    values: list[float]  # of the best tree that starts with each, within the levels looked at
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
        self.n_levels = [len({repr(row[r]) for row in X}) for r in range(d)]  # gaps count as one
        raw = settings.feature_weight or [1.0] * d
        everything = list(range(len(X)))
        counted = [r for r in range(d) if not settings.proper or self.cuts(everything, r)]
        total = sum(raw[r] for r in counted)
        self.share = settings.oblique if len(self.numeric(everything)) > 1 else 0.0
        self.w = [(1 - self.share) * raw[r] / total if total else 0.0 for r in range(d)]

    def numeric(self, rows) -> list[int]:
        """Features of numbers that vary in a node and are under no constraint."""
        features = [r for r in range(len(self.X[0])) if r not in self.settings.categorical]
        if self.settings.monotonic is not None:
            features = [r for r in features if self.settings.monotonic[r] == 0]
        return [r for r in features if len({self.X[i][r] for i in rows if not math.isnan(self.X[i][r])}) > 1]

    def hyperplane_prior(self, rows, depth, size) -> float:
        """Log prior of one cut by a hyperplane of some features: a size, a choice of features, one of the ways."""
        n_features, others = len(self.numeric(rows)), len(rows) - 1
        s = self.settings.split ** (1 + depth if self.settings.by_depth else 1)
        sizes = [k for k in OBLIQUE_SIZES if k <= n_features]
        ways = sum(math.comb(others, i) for i in range(1, size + 1))
        return math.log(s * self.share) - math.log(len(sizes) * math.comb(n_features, size) * ways)

    def sides(self, rows, r, cut):
        return [[i for i in rows if cut.left(self.X[i][r]) == left] for left in (True, False)]

    def within_limits(self, rows, r, cut) -> bool:
        least = self.settings.min_weight_fraction_leaf * self.total_weight * (1 - TOLERANCE)
        return all(
            len(side) >= self.settings.min_samples_leaf and sum(self.weight[i] for i in side) >= least
            for side in self.sides(rows, r, cut)
        )

    def cuts(self, rows, r) -> list[Cut]:
        """The ways to cut feature r that the limits allow, with their shares of its prior mass."""
        if r in self.settings.categorical:
            return [cut for cut in self.level_cuts(rows, r) if self.within_limits(rows, r, cut)]
        values = sorted({self.X[i][r] for i in rows if not math.isnan(self.X[i][r])})
        gaps = any(math.isnan(self.X[i][r]) for i in rows)
        cuts = []
        for low, high in pairwise(values):
            cuts.append(Cut(low, high))
            if gaps:
                cuts.append(Cut(low, high, gaps_left=True))
        if gaps and values:
            cuts.append(Cut(math.inf, math.inf))
        cuts = [cut for cut in cuts if self.within_limits(rows, r, cut)]
        length = {id(cut): Fraction(cut.upper) - Fraction(cut.lower) for cut in cuts if not cut.divides_missing}
        n_even = len(cuts) - len(length)
        for cut in cuts:
            if self.settings.by_distance and not cut.divides_missing:
                share = Fraction(len(cuts) - n_even, len(cuts)) * length[id(cut)] / sum(length.values())
            else:
                share = Fraction(1, len(cuts))
            cut.log_share = log_of(share)
        return cuts

    def level_cuts(self, rows, r) -> list[Cut]:
        """One level against the rest, then sets of levels; a gap is the last level."""
        cells = [self.X[i][r] for i in rows]
        levels = sorted({cell for cell in cells if not math.isnan(cell)})
        levels += [math.nan] if any(math.isnan(cell) for cell in cells) else []
        n = len(levels)
        if n < 2:
            return []
        n_dummies = self.n_levels[r]
        alone = n == 2 and (self.settings.subsets or n_dummies == 2)
        singles = [{0}] if alone else [{k} for k in range(n)]
        sets = self.sets_of_levels(rows, r, levels) if self.settings.subsets else []
        cuts = []
        for members in singles + sets:
            own = [levels[k] for k in members]
            # Either side may be the set that was drawn, of the column's levels; but dummies are one each.
            drawn = [len(own)] if not self.settings.subsets and not alone else [len(own), n - len(own)]
            log_share = log_of(sum(self.share_of_set(r, size) for size in drawn))
            present = frozenset(level for level in own if not math.isnan(level))
            cuts.append(Cut(levels=present, gaps_left=len(present) < len(own), log_share=log_share))
        return cuts

    def sets_of_levels(self, rows, r, levels) -> list[set[int]]:
        n = len(levels)
        if n <= FEW_LEVELS:
            every = ({k for k in range(n) if bits >> k & 1} for bits in range(1, 2 ** (n - 1)))
            return [members for members in every if 1 < len(members) < n - 1]
        of_level = [[i for i in rows if same_cell(self.X[i][r], level)] for level in levels]
        found, listed = [], set()
        for keys in self.keys_of_levels(of_level, rows):
            order = sorted(range(n), key=lambda k: (keys[k], k))
            apart = 1e-9 * max(abs(key) for key in keys)
            for length in range(2, n - 1):
                members = frozenset(order[:length])
                if keys[order[length]] - keys[order[length - 1]] <= apart:
                    continue
                if not listed & {members, frozenset(range(n)) - members}:
                    listed.add(members)
                    found.append(set(members))
        return found

    def keys_of_levels(self, of_level, rows):
        """Numbers to order the levels by: each mean, then how much the level moves that of the node."""
        of_node = self.outcome.order_keys(rows, rows)
        weights = [sum(self.weight[i] for i in own) for own in of_level]
        for k, middle in enumerate(of_node):
            means = [self.outcome.order_keys(own, rows)[k] for own in of_level]
            yield means
            yield [w * (mean - middle) for w, mean in zip(weights, means, strict=True)]

    def share_of_set(self, r, size) -> Fraction:
        """Prior of drawing a certain set of so many of a column's levels; it is at most half of them."""
        largest = self.n_levels[r] // 2 if self.settings.subsets else 1
        return Fraction(1, largest * math.comb(self.n_levels[r], size)) if size <= largest else Fraction(0)

    def mass(self, rows, r, cuts) -> float:
        """The part of a feature's prior mass that can be cut in a node."""
        if r not in self.settings.categorical or not cuts:
            return float(bool(cuts))
        here = len({repr(self.X[i][r]) for i in rows})
        if here <= FEW_LEVELS or not self.settings.subsets:
            return math.fsum(math.exp(cut.log_share) for cut in cuts)
        return float(sum(math.comb(here, size) * self.share_of_set(r, size) for size in range(1, here)))

    def prediction(self, rows, prior) -> float:
        return self.outcome.mean(self.outcome.update(rows, prior, 1 + self.settings.smoothing))[-1]

    def direction(self, r, cut) -> int:
        free = self.settings.monotonic is None or cut.levels is not None or cut.divides_missing
        return 0 if free else self.settings.monotonic[r]

    def keeps_order(self, sides, direction, prior, bounds) -> bool:
        if self.settings.monotonic is None:
            return True
        left, right = (self.prediction(side, prior) for side in sides)
        slack = 1e-10 * (1 + abs(left) + abs(right)) if math.isfinite(left + right) else 0.0
        inside = bounds[0] <= min(left, right) + slack and max(left, right) <= bounds[1] + slack
        return inside and (direction == 0 or direction * left <= direction * right + slack)

    def partition_space(self, rows, depth, prior, bounds=(-math.inf, math.inf)):
        """The trivial partition, then every cut in order of feature and threshold."""
        settings = self.settings
        whole = self.outcome.log_likelihood(rows, prior)
        alone = [Partition(None, None, 0.0, whole)]
        cuts = [self.cuts(rows, r) for r in range(len(self.X[0]))]
        if depth >= settings.max_depth or len({self.outcome.record(i) for i in rows}) == 1 or not any(cuts):
            return alone
        s = settings.split ** (1 + depth if settings.by_depth else 1)
        cuttable = sum(self.w[r] * self.mass(rows, r, cuts[r]) for r in range(len(cuts)))
        cuttable += self.share if len(self.numeric(rows)) > 1 else 0.0
        trivial = 1 - s * min(cuttable, 1.0) if settings.proper else 1 - s
        space = [Partition(None, None, math.log(trivial), whole)]
        for r, of_feature in enumerate(cuts):
            for cut in of_feature:
                sides = self.sides(rows, r, cut)
                likelihood = sum(self.outcome.log_likelihood(side, prior) for side in sides)
                if not self.keeps_order(sides, self.direction(r, cut), prior, bounds):
                    likelihood = -math.inf
                space.append(Partition(r, cut, math.log(s * self.w[r]) + cut.log_share, likelihood))
        return space

    def grow(self, rows=None, depth=0, prior=None, bounds=(-math.inf, math.inf)) -> Node:
        rows = list(range(len(self.X))) if rows is None else rows
        prior = list(self.settings.prior) if prior is None else prior
        space = self.partition_space(rows, depth, prior, bounds)
        values = [self.value(partition, rows, depth, prior, bounds, self.settings.lookahead) for partition in space]
        best = max(values)
        mode = next(p for p, v in zip(space, values, strict=True) if v >= best - TOLERANCE * (1 + abs(best)))
        node = Node(rows, depth, prior, space, values, mode)
        if mode.feature is not None:
            sides = self.sides(rows, mode.feature, mode.cut)
            for side, inside in zip(sides, self.divide_bounds(sides, mode, prior, bounds), strict=True):
                smoothed = self.outcome.update(side, prior, self.settings.smoothing)
                node.children.append(self.grow(side, depth + 1, smoothed, inside))
        return node

    def value(self, partition, rows, depth, prior, bounds, levels) -> float:
        """Of the best tree that starts with a partition and looks so many levels further."""
        if partition.feature is None or levels == 0 or partition.log_likelihood == -math.inf:
            return partition.score
        value = partition.log_prior
        sides = self.sides(rows, partition.feature, partition.cut)
        for side, inside in zip(sides, self.divide_bounds(sides, partition, prior, bounds), strict=True):
            here = (side, depth + 1, self.outcome.update(side, prior, self.settings.smoothing), inside)
            value += max(self.value(below, *here, levels - 1) for below in self.partition_space(*here))
        return value

    def divide_bounds(self, sides, mode, prior, bounds):
        direction = self.direction(mode.feature, mode.cut)
        if direction == 0:
            return bounds, bounds
        middle = sum(0.5 * self.prediction(side, prior) for side in sides)
        below, above = (bounds[0], middle), (middle, bounds[1])
        return (below, above) if direction > 0 else (above, below)


def same_cell(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


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
    total = log_sum_exp(node.values)
    share = [0.0] * (n_features + 1)
    for partition, value in zip(node.partitions, node.values, strict=True):
        share[-1 if partition.feature is None else partition.feature] += math.exp(value - total)
    return share


def log_odds_split(node: Node) -> float:
    return max(node.values[1:]) - node.leaf_score if node.values[1:] else -math.inf
