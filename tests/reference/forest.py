"""The forest, naively: rows in order, trees by the engine of single trees, averaged."""

from __future__ import annotations

import bisect
import itertools
import math
import struct
from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import integrate, stats

from baytree import _core
from baytree.growth import Growth, enforce_monotonic
from baytree.growth._grower import read_tree
from baytree.leaves import ConstantLeaves
from baytree.outcomes import Outcome, Target
from baytree.tree import SplitKind, TreeStore
from tests.reference import bins, thresholds
from tests.reference.draws import MASK, Random, mark


@dataclass(frozen=True)
class Problem:
    """What a forest is grown on: rows with their target, the outcome with its prior, the settings."""

    X: Any
    is_nominal: Any
    target: Target
    outcome: Outcome
    growth: Growth
    seed: int
    n_features: int  # that each node may use
    resample: bool
    prune: bool
    weight_of_bins: Any = None  # of each row, by which bins are found; None: every row counts once

    @cached_property
    def n_draws(self):
        """The total weight, rounded; sums end in other digits in another order, and these may decide at a half."""
        *_, total = itertools.accumulate(rows_in_order(self)[1])
        return int(min(max(math.floor(total + 0.5), 1), 100 * len(self.X)))

    @property
    def factor(self):
        """Constraints hold for what a tree sees, so there is none with them: it sees the weights that it has."""
        if self.growth.monotonic is None:
            return self.growth.engine.forest_factor or self.outcome.forest_factor
        return in_20_digits(float(np.sum(self.weight)) / self.n_draws) if self.resample else 1.0

    @property
    def whole(self):
        return self.growth.engine.forest_whole and self.factor.is_integer()

    @property
    def weight(self):
        return [1.0] * len(self.X) if self.target.weight is None else self.target.weight.tolist()

    def values(self):
        """The columns as trees see them: bins as their middles, features of weight zero as constants."""
        columns = []
        for f, column in enumerate(self.X.T):
            if self.growth.feature_weight[f] == 0:
                columns.append(np.zeros(len(column)))
            elif self.growth.max_bins is None or self.is_nominal[f]:
                columns.append(column)
            else:
                columns.append(np.array(bins.middles(column.tolist(), self.growth.max_bins, self.weight_of_bins)))
        return np.array(columns).T

    def numbers(self):
        """What the outcome of each row consists of."""
        if self.outcome.name == "categorical":
            return self.target.y[:, None].astype(float)
        rows = self.outcome.statistics(self.target)
        return rows[:, 1:2] if self.outcome.name == "normal" else rows[:, 1:]


def in_20_digits(number):
    """The nearest number of 20 binary digits."""
    scale = 1.0
    while number * scale >= 2**20:
        scale /= 2
    while number * scale < 2**19:
        scale *= 2
    return round(number * scale) / scale


def row_marks(problem):
    """Two numbers a row, that tell different rows apart: of the columns for hyperplanes, and of all and the outcome."""
    growth = problem.growth
    codes = [np.unique(column, return_inverse=True, equal_nan=True)[1] for column in problem.values().T]
    result = []
    for i, numbers in enumerate(problem.numbers()):
        of_point = of_all = 0
        for number in numbers.tolist():
            (bits,) = struct.unpack("<Q", struct.pack("<d", number + 0.0))
            of_all = mark((of_all + bits) & MASK)
        for f, of_column in enumerate(codes):
            if of_column.max() == 0:
                continue
            m = mark(f << 32 | int(of_column[i]))
            is_part = not problem.is_nominal[f] and (growth.monotonic is None or growth.monotonic[f] == 0)
            of_point = of_point + (m if is_part else 0) & MASK
            of_all = of_all + (m << 29 & MASK | m >> 35) & MASK
        result.append((of_point, of_all))
    return result


def rows_in_order(problem):
    """The rows in the order of their marks, equal ones together, and what each such set weighs.

    Where leaves must have several rows, equal rows stay apart.
    """
    marks, weight = row_marks(problem), problem.weight
    sets = []
    for i in sorted(range(len(marks)), key=lambda i: (*marks[i], weight[i])):
        if sets and marks[sets[-1][0]] == marks[i] and problem.growth.min_samples_leaf < 2:
            sets[-1].append(i)
        else:
            sets.append([i])
    return sets, [sum(n * w for w, n in sorted(Counter(weight[i] for i in rows).items())) for rows in sets]


def tree_counts(problem, totals, tree):
    """How often each set of rows counts in a tree, and what a count of 1 stands for."""
    random, rounding = Random(problem.seed, 0, tree), Random(problem.seed, 1, tree)
    if problem.resample:
        ends = list(itertools.accumulate(totals))
        counts = [0.0] * len(totals)
        for draw in range(problem.n_draws):
            at = bisect.bisect_right(ends, random.uniform(draw, 0) * ends[-1])
            counts[min(at, len(totals) - 1)] += problem.factor
        return np.array(counts), ends[-1] / problem.n_draws / problem.factor
    counts = [problem.factor * random.gamma(total, place) for place, total in enumerate(totals)]
    if problem.whole:
        counts = [float(math.floor(count + rounding.uniform(i, 0))) for i, count in enumerate(counts)]
    else:
        counts = [math.floor(count * 2**20 + 0.5) / 2**20 for count in counts]
    if not any(counts):
        counts[int(rounding.uniform(len(counts), 0) * len(counts))] = problem.factor
    return np.array(counts), 1 / problem.factor


def out_of_bag_weights(problem, row, n_trees):
    """How much each tree counts as one that lacks a row of the table, the one that counts most as 1."""
    sets, totals = rows_in_order(problem)
    place = next(i for i, rows in enumerate(sets) if row in rows)
    together, others = totals[place], totals[place] - problem.weight[row]
    if len(sets[place]) == 1:
        others = 0.0
    result = []
    for tree in range(n_trees):
        count = tree_counts(problem, totals, tree)[0][place]
        if others == 0:
            result.append(float(count == 0))
        elif problem.resample:
            result.append((others / together) ** (count / problem.factor))  # no draw was this row
        elif problem.whole:
            result.append(probability(problem, count, others) / probability(problem, count, together))
        else:
            densities = (stats.gamma(weight).pdf(count / problem.factor) for weight in (others, together))
            result.append(next(densities) / next(densities))
    return np.array(result) / (max(result) or 1.0)


def probability(problem, count, weight):
    """The probability of a count: a weight of Gamma(weight), times the factor, is rounded up or down to it."""
    factor = problem.factor
    ends = max(count - 1, 0) / factor, count / factor, (count + 1) / factor

    def rounded_to_it(g):
        return stats.gamma(weight).pdf(g) * (1 - abs(g * factor - count))

    return sum(integrate.quad(rounded_to_it, low, high)[0] for low, high in itertools.pairwise(ends) if low < high)


@dataclass(frozen=True)
class Member:
    """A tree, which of its nodes are internal after pruning, and what its nodes predict."""

    tree: TreeStore
    internal: set[int]
    value: Any
    times: Any  # how many rows of the table each node has
    rows: Any  # of the table, that the tree was grown on, equal ones once

    def nodes(self):
        """Nodes that are left, in depth-first order."""
        left = [0]
        while left:
            node = left.pop()
            yield node
            if node in self.internal:
                left += [int(self.tree.children_right[node]), int(self.tree.children_left[node])]

    def leaf_of(self, row):
        node = 0
        while node in self.internal:
            goes_left = self.tree.split(node).goes_left(row)
            node = int((self.tree.children_left if goes_left else self.tree.children_right)[node])
        return node


def member(problem, t):
    """One tree of the forest."""
    sets, totals = rows_in_order(problem)
    counts, unit = tree_counts(problem, totals, t)
    some = [rows_of_set for rows_of_set, count in zip(sets, counts, strict=True) if count > 0]
    rows = np.array([rows_of_set[0] for rows_of_set in some])
    seen = problem.values()[rows]
    base = np.array(totals)[counts > 0]
    nodes = _grow(problem, t, np.ascontiguousarray(seen), rows, counts[counts > 0], base)
    tree = read_tree(nodes, problem.outcome, problem.growth)
    times, at = _rows_of_nodes(tree, seen, [len(rows_of_set) for rows_of_set in some])
    if problem.growth.max_bins is not None:
        tree = _with_thresholds_of_bins(tree, problem, rows, at)
    statistics = _summed_up(tree, nodes["statistics"] * unit)
    prior = _priors(problem, tree, statistics)
    internal = _pruned(problem, tree, problem.outcome.log_marginal(prior, statistics))
    value = problem.outcome.mean(problem.outcome.update(prior, statistics))
    leaves = ConstantLeaves(problem.outcome, prior, statistics, monotonic_mean=value)
    in_order = enforce_monotonic(replace(tree, leaves=leaves), problem.growth.monotonic)
    return Member(tree, internal, in_order.value[:, 0], times, rows)


def _grow(problem, t, seen, rows, counts, base):
    growth, target, settings = problem.growth, problem.target, problem.growth.settings()
    settings.set_row_factor(problem.factor, counts.sum() / base.sum())
    if problem.n_features < seen.shape[1]:
        settings.draw_features(problem.seed, t, problem.n_features)
    keep_values = growth.partition_prior.location == "distance" or growth.oblique
    columns = _core.encode(seen, problem.is_nominal.astype(np.uint8), 0, 0, keep_values, 1)
    extras = {name: values[rows] for name, values in target.extras.items()}
    return _core.grow(
        columns,
        problem.outcome.to_core(Target(target.y[rows], counts, extras)),
        problem.outcome.core_prior().tolist(),
        settings,
        growth.look_ahead(),
        growth.engine.subtree_rows,
        1,
    )


def _rows_of_nodes(tree, seen, times):
    """Of each node, how many rows of the table it has, and which places of `seen`."""
    counts, at = np.zeros(tree.node_count, dtype=int), [[] for _ in range(tree.node_count)]
    for place, row in enumerate(seen):
        node = 0
        while True:
            counts[node] += times[place]
            at[node].append(place)
            if tree.kind[node] == SplitKind.NONE:
                break
            left = tree.split(node).goes_left(row)
            node = int((tree.children_left if left else tree.children_right)[node])
    return counts, at


def _with_thresholds_of_bins(tree, problem, rows, at):
    """Thresholds lie between the highest value of one bin and the lowest of the next that a node has."""
    threshold, middles = tree.threshold.copy(), problem.values()
    for node in np.flatnonzero(tree.kind == SplitKind.THRESHOLD):
        f = tree.feature[node]
        if not np.isfinite(threshold[node]):
            continue  # present or missing
        ranges = bins.bins(problem.X[:, f].tolist(), problem.growth.max_bins, problem.weight_of_bins)
        seen = middles[rows[at[node]], f]
        below, above = seen[seen <= threshold[node]].max(), seen[seen > threshold[node]].min()
        high = max(high for low, high in ranges if low <= below)
        low = min(low for low, high in ranges if high >= above)
        between = thresholds.roundest if problem.growth.round_thresholds else thresholds.midpoint
        threshold[node] = between(high, low)
    return replace(tree, threshold=threshold)


def _summed_up(tree, statistics):
    """Those of the leaves, and from the leaves up."""
    result = statistics.copy()
    for node in reversed(range(tree.node_count)):
        if tree.kind[node] != SplitKind.NONE:
            result[node] = result[tree.children_left[node]] + result[tree.children_right[node]]
    return result


def _priors(problem, tree, statistics):
    """That of the root, but for smoothing."""
    result = np.tile(problem.outcome.prior, (tree.node_count, 1))
    if problem.growth.smoothing > 0:
        for node in np.flatnonzero(tree.kind != SplitKind.NONE):
            for child in (tree.children_left[node], tree.children_right[node]):
                seen = problem.growth.smoothing * statistics[child]
                result[child] = problem.outcome.update(result[node][None, :], seen[None, :])[0]
    return result


def _pruned(problem, tree, log_likelihood):
    """The internal nodes that limit and pruning leave, by the evidence without the factor."""
    left, right = tree.children_left, tree.children_right
    as_leaf, log_prior = tree.log_prior_leaf + log_likelihood, tree.log_prior_split
    internal = set(np.flatnonzero(tree.kind != SplitKind.NONE).tolist())
    limit = problem.growth.max_leaf_nodes

    def best(node):
        """The highest log posterior below a node, and the internal nodes that it takes."""
        if node not in internal:
            return as_leaf[node], set()
        lower, upper = best(int(left[node])), best(int(right[node]))
        as_tree = log_prior[node] + lower[0] + upper[0]
        if as_tree > as_leaf[node] + 1e-9 * (1 + abs(as_leaf[node])):
            return as_tree, {node} | lower[1] | upper[1]
        return as_leaf[node], set()

    def of_size(node, n_leaves):
        """The highest log posterior below a node with so many leaves, and the internal nodes that it takes."""
        if n_leaves == 1:
            return as_leaf[node], set()
        found = []
        for on_left in range(1, n_leaves) if node in internal else ():
            lower, upper = of_size(int(left[node]), on_left), of_size(int(right[node]), n_leaves - on_left)
            if lower and upper:
                found.append((log_prior[node] + lower[0] + upper[0], {node} | lower[1] | upper[1]))
        return max(found, key=lambda pair: pair[0]) if found else None

    kept = best(0)[1] if problem.prune else internal
    if limit is None or len(kept) < limit:
        return kept
    sizes = range(1, limit + 1) if problem.prune else [limit]
    return max((of_size(0, size) for size in sizes if of_size(0, size)), key=lambda pair: pair[0])[1]


def average(members, X):
    """What the trees predict for rows, on average."""
    return np.array([sum(one.value[one.leaf_of(row)] for one in members) / len(members) for row in X])
