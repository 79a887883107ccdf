"""Random numbers by name, one by one: of the weights of a tree, and of the features of its nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass

MASK = 2**64 - 1


def mark(number):
    """splitmix64."""
    z = (number + 1) * 0x9E3779B97F4A7C15 & MASK
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & MASK
    return z ^ (z >> 31)


class Random:
    """The numbers of one stream of one tree or node."""

    def __init__(self, seed, stream, tree):
        self.key = mark((mark((mark(seed) + stream) & MASK) + tree) & MASK)

    def uniform(self, item, draw):
        bits = mark((mark((self.key + item) & MASK) + draw) & MASK)
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

    def choose(self, items, size):
        items = list(items)
        for i in range(size):
            other = i + int(self.uniform(i, 0) * (len(items) - i))
            items[i], items[other] = items[other], items[i]
        return sorted(items[:size])


@dataclass(frozen=True)
class FeatureDraw:
    """How the nodes of a tree draw their features: so many each, by the way from the root."""

    seed: int
    tree: int
    n_features: int

    def chosen(self, path, features):
        """Of the features that could be split in a node; each step of `path` is up or down."""
        way = 0
        for step in path:
            way = mark((way + 1 + step.is_upper) & MASK)
        return Random(self.seed, 2, (mark(self.tree) + way) & MASK).choose(features, self.n_features)
