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


def forest_probabilities(p, exponent, intercepts):
    """The calibrated class probabilities of one row, whose average over trees is p."""
    scores = [exp(b) * share**exponent for share, b in zip(p, intercepts, strict=True)]
    return [score / sum(scores) for score in scores]


def forest_loss(rows, exponent, intercepts):
    """The log loss of all trees, row by row: that of the trees without a row, less what more trees would gain."""
    total = 0.0
    for whole, one, other, gain, code, weight in zip(
        rows.whole, *rows.halves, rows.gain, rows.code, rows.weight, strict=True
    ):
        of_whole, of_one, of_other = (
            -log(forest_probabilities(p, exponent, intercepts)[code]) for p in (whole, one, other)
        )
        total += weight * (of_whole - gain * ((of_one + of_other) / 2 - of_whole))
    return total


def forest_penalty(exponent, intercepts):
    """Less the logarithm of the prior: Gamma(5, 4) of the exponent, Normal(0, 1) of the intercepts; no constants."""
    return 4 * exponent - 4 * log(exponent) + sum(b * b for b in intercepts) / 2


def forest_contributions(added, base, exponent, intercepts, n_steps=20_000):
    """What each feature of a row adds to calibrated probabilities, in many small steps from the base to the average."""
    n_classes = len(base)
    total = [sum(of_feature[c] for of_feature in added) for c in range(n_classes)]
    result = [[0.0] * n_classes for _ in added]
    for step in range(n_steps):
        p = [base[c] + (step + 0.5) / n_steps * total[c] for c in range(n_classes)]
        q = forest_probabilities(p, exponent, intercepts)
        for i, of_feature in enumerate(added):
            of_all = sum(q[k] * of_feature[k] / p[k] for k in range(n_classes))
            for c in range(n_classes):
                result[i][c] += exponent * q[c] * (of_feature[c] / p[c] - of_all) / n_steps
    return result
