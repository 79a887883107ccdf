"""Search for the prior with the highest evidence, by growing trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .._typing import FloatArray
from ..growth import TrainingData, held_out_log_likelihood
from ..outcomes import Family, Outcome
from ..tree import TreeStore, reduce_trees

MIN_HALF_WEIGHT = 20.0  # rows of a half, by weight


def settle_outcome(family: Family, prior: Any, data: TrainingData) -> Outcome:
    """The outcome with its prior: given, set from the target, or settled by trees."""
    return family.settle(data.target_for_prior(family, prior), prior, PriorSearch(data))


@dataclass(frozen=True)
class PriorSearch:
    """Grows the trees of one table that a search compares."""

    data: TrainingData

    def log_evidence(self, outcome: Outcome) -> float:
        """Log probability of the rows, over the tree that they grow and its prunings, up to a constant."""
        return self.data.grow(outcome, factors=False).log_evidence()

    def leaves(self, outcome: Outcome) -> tuple[FloatArray, FloatArray]:
        """Prior and posterior of the leaves of the tree that the rows grow."""
        tree = _grow_limited(self.data, outcome)
        return tree.prior[tree.is_leaf], tree.posterior[tree.is_leaf]

    def log_evidence_by_halves(self, outcome: Outcome) -> float:
        """Log probability of each half of the rows given the tree of the other; of all where the halves are too small.

        A tree that was grown on the same rows explains them too well, and noise looks smaller than it is.
        """
        if not self._halves:
            self._halves.append(self.data.halves(outcome))
        (one, other), total = self._halves[0], 0.0
        for here, there in ((one, other), (other, one)):
            if len(here) == 0:  # few rows, or equal ones, may all be in one half
                return self.data.grow(outcome).log_evidence()
            tree = _grow_limited(here, outcome)
            sums = there.leaf_sums(tree, outcome)
            if outcome.weights(sums.statistics).sum() < MIN_HALF_WEIGHT:
                return self.data.grow(outcome).log_evidence()
            total += held_out_log_likelihood(tree, sums, outcome)
        return total

    @cached_property
    def _halves(self) -> list[tuple[TrainingData, TrainingData]]:
        """A cache of the halves, which are the same for every outcome."""
        return []


def _grow_limited(data: TrainingData, outcome: Outcome) -> TreeStore:
    """The tree that the rows grow, with no more leaves than the model may have."""
    return reduce_trees(data.grow(outcome, factors=False), prune=False, max_leaf_nodes=data.growth.max_leaf_nodes)
