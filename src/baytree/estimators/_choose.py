"""Which of several outcomes the rows make most probable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import _core
from ..growth import Growth, folds_of, grow_tree
from ..outcomes import Outcome
from ._data import TrainingData

_FEWEST = 20.0  # rows of a half, by weight


def choose_outcome(candidates: list[Outcome], data: TrainingData, columns: _core.Columns, growth: Growth) -> Outcome:
    """The outcome with the highest evidence."""
    if not candidates:
        raise ValueError("prior='evidence' has no prior to choose from.")
    if len(candidates) == 1:
        return candidates[0]
    evidence = _by_halves(data, growth) if candidates[0].chosen_by_halves else None
    if evidence is None:
        evidence = _of_all(data, columns, growth)
    return candidates[int(np.argmax([evidence(outcome) for outcome in candidates]))]


def _of_all(data: TrainingData, columns: _core.Columns, growth: Growth) -> Callable[[Outcome], float]:
    """The evidence of the greedy tree and its prunings."""
    return lambda outcome: grow_tree(columns, data.target, outcome, growth).log_evidence()


def _by_halves(data: TrainingData, growth: Growth) -> Callable[[Outcome], float] | None:
    """The evidence of each half of the rows, given the tree of the other; None where the halves are too small.

    A tree that was grown on the same rows explains them too well, and noise looks smaller than it is.
    """
    in_first = folds_of(data.rows, data.target, 2) == 0
    halves = [data.take(own) for own in (in_first, ~in_first)]
    if min(half.target.total_weight() for half in halves) < _FEWEST:
        return None
    pairs = [(here, here.encoded(growth), there) for here, there in (halves, halves[::-1])]

    def evidence(outcome: Outcome) -> float:
        total = 0.0
        for here, columns, there in pairs:
            tree = grow_tree(columns, here.target, outcome, growth)
            statistics = outcome.sum_statistics(there.target, tree.route(there.rows)[0], tree.node_count)
            total += float(outcome.log_marginal(tree.posterior, statistics)[tree.is_leaf].sum())
        return total

    return evidence
