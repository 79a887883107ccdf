"""The calibration of class probabilities, label by label and leaf by leaf."""

from __future__ import annotations

from math import exp, log


def log_likelihood(seen, held_out, rates, discount, strength):
    """Log probability of held-out labels, one after another: each that was seen counts as one more row."""
    total = 0.0
    for leaf_seen, leaf_held_out, leaf_rates in zip(seen, held_out, rates, strict=True):
        alpha = [strength * rate + discount * count for rate, count in zip(leaf_rates, leaf_seen, strict=True)]
        for label, count in enumerate(leaf_held_out):
            for _ in range(int(count)):
                total += log(alpha[label] / sum(alpha))
                alpha[label] += 1
    return total


def posterior_points(seen, held_out, rates, discounts, strengths):
    """Of blocks of four discounts and three strengths: mean discount, geometric mean strength, and share.

    Beforehand the discount has a density of 3 discount ** 2.
    """
    grid = [(r, s) for r in discounts for s in strengths]
    logs = [log_likelihood(seen, held_out, rates, r, s) + 2 * log(r) for r, s in grid]
    share = {cell: exp(value - max(logs)) for cell, value in zip(grid, logs, strict=True)}
    points = []
    for i in range(0, len(discounts), 4):
        for j in range(0, len(strengths), 3):
            block = [(r, s) for r in discounts[i : i + 4] for s in strengths[j : j + 3]]
            weight = sum(share[cell] for cell in block)
            if weight > 1e-6 * sum(share.values()):
                discount = sum(share[cell] * cell[0] for cell in block) / weight
                strength = exp(sum(share[cell] * log(cell[1]) for cell in block) / weight)
                points.append((discount, strength, weight))
    total = sum(weight for _, _, weight in points)
    return [(discount, strength, weight / total) for discount, strength, weight in points]


def parameters(counts, points, rates):
    """The Dirichlet parameters of each leaf: those with the means and the total variance of the mixture."""
    result = []
    for leaf in counts:
        means, squares = [0.0] * len(leaf), [0.0] * len(leaf)
        for discount, strength, share in points:
            alpha = [strength * rate + discount * count for rate, count in zip(rates, leaf, strict=True)]
            for label, alpha_of_class in enumerate(alpha):
                means[label] += share * alpha_of_class / sum(alpha)
                squares[label] += share * alpha_of_class * (alpha_of_class + 1) / (sum(alpha) * (sum(alpha) + 1))
        variance = sum(s - m**2 for s, m in zip(squares, means, strict=True))
        total = sum(m * (1 - m) for m in means) / variance - 1
        result.append([m * total for m in means])
    return result
