"""Edits of a tree, by going through every partition."""

from __future__ import annotations

import math

from tests.reference.given import nodes_of
from tests.reference.tree import Problem, Step


class ProblemWithout(Problem):
    """A problem whose nodes, from one on down, use all columns but some."""

    forbidden: frozenset = frozenset()

    def sets_on(self, path):
        return [columns - self.forbidden for columns in super().sets_on(path)]


def log_posterior(tree, problem: Problem) -> float:
    """Log of prior times likelihood of a tree."""
    nodes = nodes_of(tree, problem)
    return sum(node.mode.log_prior if node.children else node.leaf_score for node in nodes)


def best_score(tree, problem: Problem, node: int, feature: int) -> float:
    """Prior times likelihood of the best split of a node on a feature; -inf if there is none."""
    scores = [part.score for part in nodes_of(tree, problem)[node].partitions if part.feature == feature]
    return max(scores, default=-math.inf)


def grown_below(tree, problem: Problem, node: int):
    """What grows below a node of a tree."""
    steps = path_to(tree, node)
    at = nodes_of(tree, problem)[node]
    return problem.grow(at.rows, at.depth, at.prior, path=tuple(steps))


def path_to(tree, node: int) -> list[Step]:
    above = {int(tree.children_left[i]): (i, False) for i in tree.internal_nodes.tolist()}
    above |= {int(tree.children_right[i]): (i, True) for i in tree.internal_nodes.tolist()}
    steps = []
    while node in above:
        node, is_upper = above[node]
        steps.append(Step(is_upper, tuple(tree.split(node).features)))
    return steps[::-1]


def shape_of(node) -> list[list[int]]:
    """The rows of the nodes of a grown tree, in depth-first order; those of the side of the first row come first."""
    return [sorted(node.rows), *(shape for child in sorted(node.children, key=first) for shape in shape_of(child))]


def first(node) -> int:
    return min(node.rows)


def loss(tree, y, weight, folds, rows, alpha, n_classes) -> float:
    """The log loss of leaves that predict the rows of a fold from those of the others."""
    leaf = tree.apply(rows)
    total = 0.0
    for i in range(len(y)):
        others = [j for j in range(len(y)) if folds[j] != folds[i] and leaf[j] == leaf[i]]
        counts = [alpha[c] + sum(weight[j] for j in others if y[j] == c) for c in range(n_classes)]
        total -= weight[i] * math.log(counts[y[i]] / sum(counts))
    return total / sum(weight)
