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


def posterior_means(seen, held_out, rates, discounts, strengths):
    """The mean of the discount and the geometric mean of the strength over a grid, under flat priors."""
    weights, discount_sum, log_strength_sum = 0.0, 0.0, 0.0
    highest = max(log_likelihood(seen, held_out, rates, r, s) for r in discounts for s in strengths)
    for discount in discounts:
        for strength in strengths:
            weight = exp(log_likelihood(seen, held_out, rates, discount, strength) - highest)
            weights += weight
            discount_sum += weight * discount
            log_strength_sum += weight * log(strength)
    return discount_sum / weights, exp(log_strength_sum / weights)


def parameters(counts, discount, strength, rates):
    """The Dirichlet parameters of each leaf."""
    return [[strength * rate + discount * count for rate, count in zip(rates, leaf, strict=True)] for leaf in counts]
