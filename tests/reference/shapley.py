"""Shapley values of a prediction, by the sum over all subsets of features.

The value of a subset is what the tree predicts when only its features are known. Path-dependent: where a split needs a
feature that is not known, both sides are averaged by the weight of their training rows. Interventional: features that
are not known come from rows of a background, one after the other.
"""

from __future__ import annotations

from itertools import combinations
from math import factorial

from tests.reference.route import entries, goes_left


def features_of(splits, i):
    """The features that a split looks at."""
    if splits.kind[i] == 4:
        return {int(feature) for feature in entries(splits, i, "hyperplane_feature", "hyperplane_start")}
    return {int(splits.feature[i])}


def below(grown, i, row, known, value_of):
    """What a split predicts for a row of which some features are known."""
    left, right = int(grown.children_left[i]), int(grown.children_right[i])
    if known is None or features_of(grown, i) <= known:
        return value_of(left if goes_left(grown, i, row) else right)
    weight = [grown.weighted_n_node_samples[child] for child in (left, right)]
    return [(weight[0] * a + weight[1] * b) / sum(weight) for a, b in zip(value_of(left), value_of(right), strict=True)]


def predict(grown, row, known=None, node=0):
    """What a tree or a tree space predicts; None: all features are known."""

    def value_of(child):
        return predict(grown, row, known, child)

    values = list(grown.value[node, 0])
    result = [0.0] * len(values)
    for choice in range(grown.choice_start[node], grown.choice_start[node + 1]):
        added = values if grown.kind[choice] == 0 else below(grown, choice, row, known, value_of)
        result = [a + grown.choice_share[choice] * b for a, b in zip(result, added, strict=True)]
    return result


def path_dependent(grown, row):
    """The value of a subset, path-dependent."""
    return lambda known: predict(grown, row, known)


def interventional(grown, row, background):
    """The value of a subset, interventional."""

    def value(known):
        mixed = [[row[f] if f in known else other[f] for f in range(len(row))] for other in background]
        predictions = [predict(grown, mixed_row) for mixed_row in mixed]
        return [sum(values) / len(predictions) for values in zip(*predictions, strict=True)]

    return value


def average(members, kind, *arguments):
    """The value of a subset, on average over trees and tree spaces, each with its share."""
    values = [(share, kind(grown, *arguments)) for share, grown in members]

    def value(known):
        weighted = [[share * numbers for numbers in value(known)] for share, value in values]
        return [sum(numbers) for numbers in zip(*weighted, strict=True)]

    return value


def shapley(value, n_features):
    """(base, [values of each feature])."""
    everything = range(n_features)
    base = value(frozenset())
    result = []
    for feature in everything:
        others = [other for other in everything if other != feature]
        total = [0.0] * len(base)
        for size in range(n_features):
            weight = factorial(size) * factorial(n_features - size - 1) / factorial(n_features)
            for chosen in combinations(others, size):
                without, with_it = value(frozenset(chosen)), value(frozenset((*chosen, feature)))
                total = [t + weight * (b - a) for t, a, b in zip(total, without, with_it, strict=True)]
        result.append(total)
    return base, result
