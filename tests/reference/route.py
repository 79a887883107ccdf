"""The way of a row through a tree, read from the arrays alone.

The arrays are those that `TreeStore` describes; kinds of split are 0 none (a leaf), 1 threshold, 2 present or missing,
3 a set of categories, 4 a hyperplane. A tree space has the same arrays, one entry for each of its choices.
"""

from __future__ import annotations

import math


def entries(splits, i, name, start):
    """The entries of split i in an array that may have several for a split."""
    first, end = getattr(splits, start)[i], getattr(splits, start)[i + 1]
    return list(getattr(splits, name)[first:end])


def weighted_sum(splits, i, row):
    """What a hyperplane compares with its threshold; missing values count as what the hyperplane says."""
    features = entries(splits, i, "hyperplane_feature", "hyperplane_start")
    coefficients = entries(splits, i, "hyperplane_coefficient", "hyperplane_start")
    instead = entries(splits, i, "hyperplane_missing_value", "hyperplane_start")
    total = 0.0
    for feature, coefficient, mean in zip(features, coefficients, instead, strict=True):
        total += coefficient * (mean if math.isnan(row[feature]) else row[feature])
    return total


def goes_left(splits, i, row):
    """Whether split i sends a row to the left."""
    if splits.kind[i] == 4:
        return weighted_sum(splits, i, row) <= splits.threshold[i]
    value = row[splits.feature[i]]
    if math.isnan(value):
        return bool(splits.missing_go_to_left[i])
    if splits.kind[i] == 1:
        return value <= splits.threshold[i]
    if splits.kind[i] == 2:
        return True
    categories = entries(splits, i, "category", "category_start")
    ways = entries(splits, i, "category_goes_left", "category_start")
    return bool(ways[categories.index(value)] if value in categories else splits.unseen_go_to_left[i])


def has_seen(splits, i, row):
    """Whether the training rows of a node tell where its split sends a row."""
    if splits.kind[i] == 4:
        return True
    value = row[splits.feature[i]]
    if math.isnan(value):
        return bool(splits.has_missing[i])
    return splits.kind[i] != 3 or value in entries(splits, i, "category", "category_start")


def path_of(tree, row):
    """The nodes that a row passes, from the root to its leaf."""
    nodes = [0]
    while tree.kind[nodes[-1]] != 0:
        node = nodes[-1]
        nodes.append(int((tree.children_left if goes_left(tree, node, row) else tree.children_right)[node]))
    return nodes


def leaf_of(tree, row):
    """The leaf that a row falls into."""
    return path_of(tree, row)[-1]


def weights_of(space, row, node=0):
    """How probably a row ends in each node of a tree space: a dictionary."""
    result = {}
    for choice in range(space.choice_start[node], space.choice_start[node + 1]):
        if space.kind[choice] == 0:
            below = {node: 1.0}
        else:
            child = (space.children_left if goes_left(space, choice, row) else space.children_right)[choice]
            below = weights_of(space, row, int(child))
        for end, weight in below.items():
            result[end] = result.get(end, 0.0) + space.choice_share[choice] * weight
    return result
