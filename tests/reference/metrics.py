"""Figures of a score, counted pair by pair and threshold by threshold."""

from __future__ import annotations

import numpy as np


def auc(positive, score):
    """The share of pairs of a positive and another row that are in order; equal scores count half."""
    pairs = [(a > b) + 0.5 * (a == b) for a in score[positive] for b in score[~positive]]
    return float(np.mean(pairs))


def ks(positive, score):
    """The largest difference of the two shares from a threshold on, over all thresholds."""
    return max(float(np.mean(score[positive] >= t) - np.mean(score[~positive] >= t)) for t in score)


def delong_variance(positive, first, second):
    """The variance of the difference of two areas (DeLong, DeLong and Clarke-Pearson 1988), by placements."""

    def placements(score):
        of_positive = [np.mean([(a > b) + 0.5 * (a == b) for b in score[~positive]]) for a in score[positive]]
        of_others = [np.mean([(a > b) + 0.5 * (a == b) for a in score[positive]]) for b in score[~positive]]
        return np.array(of_positive), np.array(of_others)

    one, two = placements(first), placements(second)
    return sum(np.var(b - a, ddof=1) / len(a) for a, b in zip(one, two, strict=True))
