"""A given tree on some rows: what its nodes hold, and how probable its splits are among all that the rows allow."""

from __future__ import annotations

import math

from tests.reference import route
from tests.reference.tree import FEW_CATEGORIES, Node, Partition, Problem, choose, log_of


def nodes_of(tree, problem: Problem) -> list[Node]:
    """The nodes of a tree in its order, with the rows of a problem; the mode of a node is the split that is given."""
    rows = [[] for _ in range(tree.node_count)]
    for i, row in enumerate(problem.X):
        for node in route.path_of(tree, row):
            rows[node].append(i)
    nodes = [None] * tree.node_count

    def visit(i, depth, prior):
        space = problem.partition_space(rows[i], depth, prior)
        values = [partition.score for partition in space]
        _, best = choose(space, values, problem.settings.choose == "column")
        node = nodes[i] = Node(rows[i], depth, prior, space, values, space[0], best)
        if tree.kind[i] == 0:
            return node
        node.mode = split_as_given(tree, i, problem, node)
        for child in (int(tree.children_left[i]), int(tree.children_right[i])):
            smoothed = problem.outcome.update(rows[child], prior, problem.settings.smoothing)
            node.children.append(visit(child, depth + 1, smoothed))
        return node

    visit(0, 0, list(problem.settings.prior))
    return nodes


def split_as_given(tree, i, problem, node) -> Partition:
    """The split of a node with its prior: that of the partition into the same two sets, none if there is no such."""
    feature = int(tree.feature[i])
    left = [row for row in node.rows if route.goes_left(tree, i, problem.X[row])]
    sides = [left, [row for row in node.rows if row not in left]]
    likelihood = sum(problem.outcome.log_likelihood(side, node.prior) for side in sides)
    for partition in node.partitions[1:]:
        here = problem.sides(node.rows, feature, partition.split) if partition.feature == feature else None
        if here in (sides, sides[::-1]):
            return Partition(feature, None, partition.log_prior, likelihood)
    return Partition(feature, None, prior_of_set(problem, node, feature, sides), likelihood)


def prior_of_set(problem, node, feature, sides) -> float:
    """Log prior of a set of many categories, of which the partition space lists only some."""
    settings, values = problem.settings, [{repr(problem.X[row][feature]) for row in side} for side in sides]
    many = len(values[0] | values[1]) > FEW_CATEGORIES
    if len(node.partitions) == 1 or feature not in settings.categorical or not settings.subsets or not many:
        return -math.inf
    weights = [sum(problem.weight[row] for row in side) for side in sides]
    least = settings.min_weight_fraction_leaf * problem.total_weight * (1 - 1e-9)
    if min(map(len, sides)) < max(settings.min_samples_leaf, 1) or min(weights) < least:
        return -math.inf
    s = settings.split ** (1 + node.depth if settings.by_depth else 1)
    share = sum(problem.share_of_set(feature, len(side)) for side in values)
    return math.log(s * problem.w[feature]) + log_of(share)
