"""The forest, naively: random numbers one by one, rows in order, trees by the engine of single trees, averaged."""

from __future__ import annotations

import math
import struct

import numpy as np

from baytree import _core
from baytree.growth import grow_tree
from baytree.outcomes import Target

_MASK = 2**64 - 1


def mark(number):
    """splitmix64."""
    z = (number + 1) * 0x9E3779B97F4A7C15 & _MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & _MASK
    return z ^ (z >> 31)


class Random:
    """The numbers of one stream of one tree."""

    def __init__(self, seed, stream, tree):
        self.key = mark((mark((mark(seed) + stream) & _MASK) + tree) & _MASK)

    def uniform(self, item, draw):
        bits = mark((mark((self.key + item) & _MASK) + draw) & _MASK)
        return ((bits >> 11) + 0.5) * 2.0**-53

    def gamma(self, shape, item):
        if shape == 1:
            return -math.log(self.uniform(item, 0))
        draw, boost = 0, 1.0
        if shape < 1:
            boost, draw = math.pow(self.uniform(item, 0), 1 / shape), 1
        d = (shape + 1 if shape < 1 else shape) - 1 / 3
        c = 1 / math.sqrt(9 * d)
        while True:
            x = math.sqrt(-2 * math.log(self.uniform(item, draw))) * math.cos(
                2 * math.pi * self.uniform(item, draw + 1)
            )
            root = 1 + c * x
            v = root * root * root
            if root > 0 and math.log(self.uniform(item, draw + 2)) < 0.5 * x * x + d - d * v + d * math.log(v):
                return d * v * boost
            draw += 3

    def choose(self, n, size):
        items, chosen = list(range(n)), set()
        for i in range(size):
            other = i + int(self.uniform(i, 0) * (n - i))
            items[i], items[other] = items[other], items[i]
            chosen.add(items[i])
        return chosen


def row_marks(X, y, is_nominal):
    """Two numbers a row, that tell different rows apart: of the columns for hyperplanes, and of all and the outcome."""
    marks = []
    codes = [np.unique(column, return_inverse=True, equal_nan=True)[1] for column in X.T]
    for i in range(len(X)):
        (bits,) = struct.unpack("<Q", struct.pack("<d", float(y[i]) + 0.0))
        of_point, of_all = 0, mark(bits)
        for f, of_column in enumerate(codes):
            if of_column.max() == 0:
                continue
            m = mark(f << 32 | int(of_column[i]))
            of_point = of_point + (0 if is_nominal[f] else m) & _MASK
            of_all = of_all + (m << 29 & _MASK | m >> 35) & _MASK
        marks.append((of_point, of_all))
    return marks


def tree_weights(X, y, weight, is_nominal, *, seed, tree, factor, whole=True):
    """The rows, each of those that are equal once, with how often each counts in a tree."""
    weight = np.ones(len(y)) if weight is None else weight
    groups = {}
    for i, key in enumerate(row_marks(X, y, is_nominal)):
        groups.setdefault(key, []).append(i)
    random, rounding = Random(seed, 0, tree), Random(seed, 1, tree)
    rows, counts = [], []
    for place, key in enumerate(sorted(groups)):
        total = sum(sorted(weight[groups[key]]))
        count = factor * random.gamma(total, place)
        rows.append(groups[key][0])
        counts.append(math.floor(count + rounding.uniform(place, 0)) if whole else count)
    if not any(counts):
        counts[int(rounding.uniform(len(counts), 0) * len(counts))] = factor
    return np.array(rows), np.array(counts, dtype=np.float64)


def tree_of(rows, counts, X, y, is_nominal, outcome, growth):
    """The tree that rows grow, each as often as it counts."""
    some = counts > 0
    table = np.ascontiguousarray(X[rows[some]])
    n_bins = growth.engine.n_bins if len(table) > growth.engine.subtree_rows else 0
    columns = _core.encode(table, is_nominal.astype(np.uint8), n_bins, 0, growth.oblique, 1)
    return grow_tree(columns, Target(y[rows[some]], counts[some]), outcome, growth)


def average(trees, X, outcome, factor, whole):
    """What the trees predict on average, with the honest counts of their leaves."""
    total = 0.0
    for tree in trees:
        posterior = outcome.update(tree.prior, class_counts(tree, whole) / factor)
        total = total + outcome.mean(posterior)[tree.apply(X)]
    return total / len(trees)


def class_counts(tree, whole):
    """Of each node, with the factor."""
    counts = tree.posterior - tree.prior
    return np.rint(counts) if whole else counts
