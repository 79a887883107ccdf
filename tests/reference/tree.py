"""The greedy-modal tree and its most probable pruning, written down as docs/theory.md states it.

Plain Python: no NumPy, no tables, no incremental sums, every set of rows is looked at afresh. What is particular to
an outcome is in outcomes.py.
"""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from tests.reference.draws import FeatureDraw

TOLERANCE = 1e-9
FEW_CATEGORIES = 8
OBLIQUE_SIZES = (2, 3, 4, 6, 8, 12, 20)


@dataclass
class Settings:
    """What the tree depends on besides the data. `prior` holds the parameters at the root."""

    prior: list[float]
    split: float = 0.5
    by_depth: bool = False
    by_distance: bool = False
    subsets: bool = True
    proper: bool = True
    choose: str = "column"
    feature_weight: list[float] | None = None
    smoothing: float = 0.0
    max_depth: float = math.inf
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    max_leaf_nodes: float = math.inf
    categorical: set[int] = field(default_factory=set)
    monotonic: list[int] | None = None
    lookahead: int = 0
    prune: bool = True
    oblique: float = 0.0  # share of the split for hyperplanes
    draw: FeatureDraw | None = None  # of each node's features; none: it may use all


@dataclass
class Split:
    """What sends a value to the left: up to `lower`, in `categories`, missing where `missing_left`."""

    lower: float = math.nan
    upper: float = math.nan
    categories: frozenset | None = None
    missing_left: bool = False
    log_share: float = -math.inf  # of the feature's prior mass

    def left(self, value) -> bool:
        if math.isnan(value):
            return self.missing_left
        return value in self.categories if self.categories is not None else value <= self.lower

    @property
    def divides_missing(self) -> bool:
        return self.categories is None and self.lower == math.inf


@dataclass
class Partition:
    """feature None stands for no split."""

    feature: int | None
    split: Split | None
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
    best_choice: float  # value of the best split that the node may choose; of none: -inf
    children: list[Node] = field(default_factory=list)
    odds_of_pruned: float | None = None  # of the best tree below, which was pruned, against the leaf

    @property
    def leaf_score(self) -> float:
        return self.partitions[0].score


class Problem:
    def __init__(self, X, outcome, settings: Settings):
        self.X, self.outcome, self.weight, self.settings = X, outcome, outcome.weight, settings
        self.total_weight = sum(self.weight)
        d = len(X[0])
        self.n_categories = [len({repr(row[r]) for row in X}) for r in range(d)]  # missing values count as one
        raw = settings.feature_weight or [1.0] * d
        everything = list(range(len(X)))
        counted = [r for r in range(d) if not settings.proper or self.splits(everything, r)]
        total = sum(raw[r] for r in counted)
        drawable = [r for r in counted if raw[r] > 0]
        self.features = list(range(d)) if settings.draw is None else drawable  # that a node may use
        self.share = settings.oblique if len(self.numeric(everything, self.features)) > 1 else 0.0
        self.w = [(1 - self.share) * raw[r] / total if total else 0.0 for r in range(d)]

    def on_offer(self, rows, path) -> tuple[list[int], float]:
        """The features that a node may use, and what their prior mass is multiplied by.

        Some of those that have two values in the node are drawn. They share out the mass of all of these, and that of
        hyperplanes too where fewer than two features are left for them.
        """
        draw = self.settings.draw
        varying = [r for r in self.features if len({repr(self.X[i][r] + 0.0) for i in rows}) > 1]
        if draw is None or len(varying) <= draw.n_features:
            return self.features, 1.0
        drawn = draw.chosen(path, varying)
        mass, everything = sum(self.w[r] for r in varying), range(len(self.X))
        if len(self.numeric(everything, varying)) > 1 and len(self.numeric(everything, drawn)) < 2:
            mass += self.share
        return drawn, mass / sum(self.w[r] for r in drawn)

    def numeric(self, rows, features) -> list[int]:
        """Of some features those of numbers that vary in a node and are under no constraint."""
        features = [r for r in features if r not in self.settings.categorical]
        if self.settings.monotonic is not None:
            features = [r for r in features if self.settings.monotonic[r] == 0]
        return [r for r in features if len({self.X[i][r] for i in rows if not math.isnan(self.X[i][r])}) > 1]

    def count_points(self, rows) -> int:
        """Different points among some rows, in the features that hyperplanes can use; missing is a value of its own."""
        free = self.settings.monotonic
        features = [r for r in range(len(self.X[0])) if r not in self.settings.categorical and not (free and free[r])]
        return len({tuple("?" if math.isnan(self.X[i][r]) else self.X[i][r] + 0.0 for r in features) for i in rows})

    def hyperplane_prior(self, rows, depth, size, path=()) -> float:
        """Log prior of one split by a hyperplane of some features: a size, a choice of features, one of the ways."""
        n_features, others = len(self.numeric(rows, self.on_offer(rows, path)[0])), self.count_points(rows) - 1
        s = self.settings.split ** (1 + depth if self.settings.by_depth else 1)
        sizes = [k for k in OBLIQUE_SIZES if k <= n_features]
        ways = sum(math.comb(others, i) for i in range(1, size + 1))
        return math.log(s * self.share) - math.log(len(sizes) * math.comb(n_features, size) * ways)

    def sides(self, rows, r, split):
        return [[i for i in rows if split.left(self.X[i][r]) == left] for left in (True, False)]

    def within_limits(self, rows, r, split) -> bool:
        least = self.settings.min_weight_fraction_leaf * self.total_weight * (1 - TOLERANCE)
        return all(
            len(side) >= self.settings.min_samples_leaf and sum(self.weight[i] for i in side) >= least
            for side in self.sides(rows, r, split)
        )

    def splits(self, rows, r) -> list[Split]:
        """The ways to split feature r that the limits allow, with their shares of its prior mass."""
        if r in self.settings.categorical:
            return [split for split in self.category_splits(rows, r) if self.within_limits(rows, r, split)]
        values = sorted({self.X[i][r] for i in rows if not math.isnan(self.X[i][r])})
        has_missing = any(math.isnan(self.X[i][r]) for i in rows)
        splits = []
        for low, high in pairwise(values):
            splits.append(Split(low, high))
            if has_missing:
                splits.append(Split(low, high, missing_left=True))
        if has_missing and values:
            splits.append(Split(math.inf, math.inf))
        splits = [split for split in splits if self.within_limits(rows, r, split)]
        in_order = [split for split in splits if not split.divides_missing]
        length = {id(split): Fraction(split.upper) - Fraction(split.lower) for split in in_order}
        n_even = len(splits) - len(length)
        for split in splits:
            if self.settings.by_distance and not split.divides_missing:
                share = Fraction(len(splits) - n_even, len(splits)) * length[id(split)] / sum(length.values())
            else:
                share = Fraction(1, len(splits))
            split.log_share = log_of(share)
        return splits

    def category_splits(self, rows, r) -> list[Split]:
        """One category against the rest, then sets of categories; missing is the last of them."""
        values = [self.X[i][r] for i in rows]
        categories = sorted({value for value in values if not math.isnan(value)})
        categories += [math.nan] if any(math.isnan(value) for value in values) else []
        n = len(categories)
        if n < 2:
            return []
        n_dummies = self.n_categories[r]
        alone = n == 2 and (self.settings.subsets or n_dummies == 2)
        singles = [{0}] if alone else [{k} for k in range(n)]
        sets = self.sets_of_categories(rows, r, categories) if self.settings.subsets else []
        splits = []
        for members in singles + sets:
            chosen = [categories[k] for k in members]
            # Either side may be the set that was drawn, of the column's categories; but dummies are one each.
            drawn = [len(chosen)] if not self.settings.subsets and not alone else [len(chosen), n - len(chosen)]
            log_share = log_of(sum(self.share_of_set(r, size) for size in drawn))
            present = frozenset(category for category in chosen if not math.isnan(category))
            splits.append(Split(categories=present, missing_left=len(present) < len(chosen), log_share=log_share))
        return splits

    def sets_of_categories(self, rows, r, categories) -> list[set[int]]:
        n = len(categories)
        if n <= FEW_CATEGORIES:
            every = ({k for k in range(n) if bits >> k & 1} for bits in range(1, 2 ** (n - 1)))
            return [members for members in every if 1 < len(members) < n - 1]
        of_category = [[i for i in rows if same_value(self.X[i][r], category)] for category in categories]
        sets, listed = [], set()
        for keys in self.keys_of_categories(of_category, rows):
            order = sorted(range(n), key=lambda k: (keys[k], k))
            apart = 1e-9 * max(abs(key) for key in keys)
            for length in range(2, n - 1):
                members = frozenset(order[:length])
                if keys[order[length]] - keys[order[length - 1]] <= apart:
                    continue
                if not listed & {members, frozenset(range(n)) - members}:
                    listed.add(members)
                    sets.append(set(members))
        return sets

    def keys_of_categories(self, of_category, rows):
        """Numbers to order the categories by: each mean, then how much the category moves that of the node."""
        of_node = self.outcome.order_keys(rows, rows)
        weights = [sum(self.weight[i] for i in rows_of_category) for rows_of_category in of_category]
        for k, middle in enumerate(of_node):
            means = [self.outcome.order_keys(rows_of_category, rows)[k] for rows_of_category in of_category]
            yield means
            yield [w * (mean - middle) for w, mean in zip(weights, means, strict=True)]

    def share_of_set(self, r, size) -> Fraction:
        """Prior of drawing a certain set of so many of a column's categories; it is at most half of them."""
        largest = self.n_categories[r] // 2 if self.settings.subsets else 1
        return Fraction(1, largest * math.comb(self.n_categories[r], size)) if size <= largest else Fraction(0)

    def mass(self, rows, r, splits) -> float:
        """The part of a feature's prior mass that can be split in a node."""
        if r not in self.settings.categorical or not splits:
            return float(bool(splits))
        here = len({repr(self.X[i][r]) for i in rows})
        if here <= FEW_CATEGORIES or not self.settings.subsets:
            return math.fsum(math.exp(split.log_share) for split in splits)
        return float(sum(math.comb(here, size) * self.share_of_set(r, size) for size in range(1, here)))

    def prediction(self, rows, prior) -> float:
        return self.outcome.mean(self.outcome.update(rows, prior, 1 + self.settings.smoothing))[-1]

    def direction(self, r, split) -> int:
        free = self.settings.monotonic is None or split.categories is not None or split.divides_missing
        return 0 if free else self.settings.monotonic[r]

    def keeps_order(self, sides, direction, prior, bounds) -> bool:
        if self.settings.monotonic is None:
            return True
        left, right = (self.prediction(side, prior) for side in sides)
        slack = 1e-10 * (1 + abs(left) + abs(right)) if math.isfinite(left + right) else 0.0
        inside = bounds[0] <= min(left, right) + slack and max(left, right) <= bounds[1] + slack
        return inside and (direction == 0 or direction * left <= direction * right + slack)

    def partition_space(self, rows, depth, prior, bounds=(-math.inf, math.inf), path=()):
        """No split, then every split in order of feature and threshold."""
        settings = self.settings
        whole = self.outcome.log_likelihood(rows, prior)
        alone = [Partition(None, None, 0.0, whole)]
        features, factor = self.on_offer(rows, path)
        splits = [self.splits(rows, r) if r in features else [] for r in range(len(self.X[0]))]
        if depth >= settings.max_depth or len({self.outcome.record(i) for i in rows}) == 1 or not any(splits):
            return alone
        s = settings.split ** (1 + depth if settings.by_depth else 1)
        w = [weight * factor for weight in self.w]
        splittable = sum(w[r] * self.mass(rows, r, splits[r]) for r in range(len(splits)))
        splittable += self.share if len(self.numeric(rows, features)) > 1 else 0.0
        no_split = 1 - s * min(splittable, 1.0) if settings.proper else 1 - s
        space = [Partition(None, None, math.log(no_split), whole)]
        for r, of_feature in enumerate(splits):
            for split in of_feature:
                sides = self.sides(rows, r, split)
                likelihood = sum(self.outcome.log_likelihood(side, prior) for side in sides)
                if not self.keeps_order(sides, self.direction(r, split), prior, bounds):
                    likelihood = -math.inf
                space.append(Partition(r, split, math.log(s * w[r]) + split.log_share, likelihood))
        return space

    def grow(self, rows=None, depth=0, prior=None, bounds=(-math.inf, math.inf), path=()) -> Node:
        rows = list(range(len(self.X))) if rows is None else rows
        prior = list(self.settings.prior) if prior is None else prior
        space = self.partition_space(rows, depth, prior, bounds, path)
        levels = self.settings.lookahead
        values = [self.value(partition, rows, depth, prior, bounds, path, levels) for partition in space]
        mode, best_choice = choose(space, values, self.settings.choose == "column" and levels == 0)
        node = Node(rows, depth, prior, space, values, mode, best_choice)
        if mode.feature is not None:
            sides = self.sides(rows, mode.feature, mode.split)
            both = zip(sides, self.divide_bounds(sides, mode, prior, bounds), (False, True), strict=True)
            for side, inside, is_upper in both:
                smoothed = self.outcome.update(side, prior, self.settings.smoothing)
                node.children.append(self.grow(side, depth + 1, smoothed, inside, (*path, is_upper)))
        return node

    def value(self, partition, rows, depth, prior, bounds, path, levels) -> float:
        """Of the best tree that starts with a partition and looks so many levels further."""
        if partition.feature is None or levels == 0 or partition.log_likelihood == -math.inf:
            return partition.score
        value = partition.log_prior
        sides = self.sides(rows, partition.feature, partition.split)
        both = zip(sides, self.divide_bounds(sides, partition, prior, bounds), (False, True), strict=True)
        for side, inside, is_upper in both:
            smoothed = self.outcome.update(side, prior, self.settings.smoothing)
            here = (side, depth + 1, smoothed, inside, (*path, is_upper))
            value += max(self.value(below, *here, levels - 1) for below in self.partition_space(*here))
        return value

    def divide_bounds(self, sides, mode, prior, bounds):
        direction = self.direction(mode.feature, mode.split)
        if direction == 0:
            return bounds, bounds
        middle = sum(0.5 * self.prediction(side, prior) for side in sides)
        below, above = (bounds[0], middle), (middle, bounds[1])
        return (below, above) if direction > 0 else (above, below)


def as_good_as(best: float) -> float:
    """Scores from here on count as equal to the best."""
    return best - TOLERANCE * (1 + abs(best))


def choose(space: list[Partition], values: list[float], by_column: bool) -> tuple[Partition, float]:
    """The partition that a node takes, and the value of the best split that it may take."""
    column = most_probable_column(space) if by_column else None
    choice = [(p, v) for p, v in zip(space, values, strict=True) if column is None or p.feature in (None, column)]
    taken = next(p for p, v in choice if v >= as_good_as(max(value for _, value in choice)))
    return taken, max((value for partition, value in choice if partition.feature is not None), default=-math.inf)


def most_probable_column(space: list[Partition]) -> int | None:
    """The feature whose splits have the highest probability together, the first among equals."""
    scores: dict[int, list[float]] = {}
    for partition in space[1:]:
        scores.setdefault(partition.feature, []).append(partition.score)
    sums = {feature: log_sum_exp(of_feature) for feature, of_feature in scores.items()}
    return next((feature for feature, total in sums.items() if total >= as_good_as(max(sums.values()))), None)


def same_value(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def log_of(fraction: Fraction) -> float:
    """Log of a fraction of any size."""
    return math.log(fraction.numerator) - math.log(fraction.denominator)


def best_of_size(node: Node, n_leaves: int) -> tuple[float, list[Node]] | None:
    """The most probable pruning below a node with so many leaves, and the nodes that it splits; None: there is none.

    Among equals the one with the fewest leaves on the left side.
    """
    if n_leaves == 1:
        return node.leaf_score, []
    found = []
    for on_left in range(1, n_leaves) if node.children else ():
        left, right = best_of_size(node.children[0], on_left), best_of_size(node.children[1], n_leaves - on_left)
        if left and right:
            found.append((node.mode.log_prior + left[0] + right[0], [node, *left[1], *right[1]]))
    best = max((score for score, _ in found), default=-math.inf)
    return next((best, split) for score, split in found if score >= as_good_as(best)) if found else None


def limit_leaves(root: Node, max_leaf_nodes: int, prune: bool) -> None:
    """Keep the most probable pruning with at most so many leaves; without `prune` with exactly so many."""
    sizes = range(1, max_leaf_nodes + 1) if prune else [max_leaf_nodes]
    found = [best for best in (best_of_size(root, size) for size in sizes) if best]
    highest = max(score for score, _ in found)
    _, kept = next(best for best in found if best[0] >= as_good_as(highest))
    for node in depth_first(root):
        if node.children and all(node is not other for other in kept):
            node.odds_of_pruned = node.mode.log_prior + sum(best_score(child) for child in node.children)
            node.odds_of_pruned -= node.leaf_score
    for node in depth_first(root):
        if all(node is not other for other in kept):
            node.children = []


def n_leaves(node: Node) -> int:
    return sum(not below.children for below in depth_first(node))


def best_score(node: Node) -> float:
    """Of the most probable pruning below a node."""
    as_tree = node.mode.log_prior + sum(best_score(child) for child in node.children) if node.children else -math.inf
    return max(node.leaf_score, as_tree)


def depth_first(node: Node) -> list[Node]:
    return [node, *(below for child in node.children for below in depth_first(child))]


def grow(X, outcome, settings: Settings) -> Node:
    root = Problem(X, outcome, settings).grow()
    reduce(root, settings)
    return root


def reduce(root: Node, settings: Settings) -> None:
    """Prune a grown tree as the settings ask for it."""
    pruned = n_leaves(pruned_copy(root) if settings.prune else root)
    if pruned > settings.max_leaf_nodes:
        limit_leaves(root, int(settings.max_leaf_nodes), settings.prune)
    elif settings.prune:
        prune(root)


def pruned_copy(root: Node) -> Node:
    result = deepcopy(root)
    prune(result)
    return result


def prune(node: Node) -> float:
    """Make every node a leaf that is more probable as one than with the best pruning below it; return its score."""
    if not node.children:
        return node.leaf_score
    score = node.mode.log_prior + sum(prune(child) for child in node.children)
    if score > node.leaf_score + TOLERANCE * (1 + abs(node.leaf_score)):
        return score
    node.children, node.odds_of_pruned = [], score - node.leaf_score
    return node.leaf_score


def log_sum_exp(values):
    top = max(values)
    return top if top == -math.inf else top + math.log(sum(math.exp(value - top) for value in values))


def log_posterior(node: Node, include_internal: bool = True) -> float:
    if not node.children:
        return node.leaf_score
    below = sum(log_posterior(child, include_internal) for child in node.children)
    return below + (node.mode.log_prior if include_internal else 0.0)


def log_evidence(node: Node) -> float:
    if not node.children:
        return node.leaf_score
    return log_sum_exp([node.leaf_score, node.mode.log_prior + sum(log_evidence(child) for child in node.children)])


def feature_posterior(node: Node, n_features: int) -> list[float]:
    """Probability of each feature, then of no split."""
    total = log_sum_exp(node.values)
    share = [0.0] * (n_features + 1)
    for partition, value in zip(node.partitions, node.values, strict=True):
        share[-1 if partition.feature is None else partition.feature] += math.exp(value - total)
    return share


def log_odds_split(node: Node) -> float:
    if node.odds_of_pruned is not None:
        return node.odds_of_pruned
    return node.best_choice - node.leaf_score
