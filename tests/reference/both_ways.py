"""Predict by a tree or a tree space whose unseen values go both ways, by following every way."""

from __future__ import annotations

from . import route


def weights_of(tree, row, node=0):
    """Return the share of a row in each leaf of a tree: a dictionary."""
    if tree.kind[node] == 0:
        return {node: 1.0}
    sides = [int(tree.children_left[node]), int(tree.children_right[node])]
    shares = _shares(tree, node, row, [tree.weighted_n_node_samples[side] for side in sides])
    result = {}
    for side, share in zip(sides, shares, strict=True):
        if share > 0:
            for leaf, weight in weights_of(tree, row, side).items():
                result[leaf] = result.get(leaf, 0.0) + share * weight
    return result


def space_weights_of(space, row, node=0):
    """Return the share of a row in each node of a tree space: a dictionary."""
    result = {}
    for choice in range(space.choice_start[node], space.choice_start[node + 1]):
        if space.kind[choice] == 0:
            result[node] = result.get(node, 0.0) + space.choice_share[choice]
            continue
        sides = [int(space.children_left[choice]), int(space.children_right[choice])]
        shares = _shares(space, choice, row, [space.weighted_n_node_samples[side] for side in sides])
        for side, share in zip(sides, shares, strict=True):
            if share > 0:
                for end, weight in space_weights_of(space, row, side).items():
                    result[end] = result.get(end, 0.0) + space.choice_share[choice] * share * weight
    return result


def _shares(splits, i, row, weights):
    if route.has_seen(splits, i, row):
        left = route.goes_left(splits, i, row)
        return [float(left), float(not left)]
    return [weight / sum(weights) for weight in weights]
