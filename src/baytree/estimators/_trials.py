"""The outcome of a fit: trees that are grown to settle its prior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .._typing import FloatArray
from ..growth import Growth, folds_of, in_any_order
from ..outcomes import Family, Outcome, asks_for_evidence
from ._data import EncodedData, TrainingData
from ._halves import FEWEST, Halves


def settle_outcome(family: Family, prior: Any, data: EncodedData, growth: Growth) -> Outcome:
    """The outcome with its prior: given, set from the target, or settled by trees."""
    target = data.target
    if growth.in_any_order or target.grids is not None:
        family.of(target, None if asks_for_evidence(prior) else prior)  # errors tell the row
        target = in_any_order(target) if target.grids is None else family.summary(target)
    return family.settle(target, prior, GrownTrials(data, growth))


@dataclass(frozen=True)
class GrownTrials:
    """Trees of one table; its columns are encoded once for all of them."""

    data: EncodedData
    growth: Growth

    def log_evidence(self, outcome: Outcome) -> float:
        """Log probability of the rows, over the tree that they grow and its prunings."""
        return self.data.grow(outcome, self.growth).log_evidence()

    def leaves(self, outcome: Outcome) -> tuple[FloatArray, FloatArray]:
        """Prior and posterior of the leaves of the tree that the rows grow."""
        tree = self.data.grow(outcome, self.growth)
        return tree.prior[tree.is_leaf], tree.posterior[tree.is_leaf]

    def log_evidence_by_halves(self, outcome: Outcome) -> float:
        """Log probability of each half of the rows given the tree of the other; of all where the halves are too small.

        A tree that was grown on the same rows explains them too well, and noise looks smaller than it is.
        """
        whole = self._whole_halves(outcome)
        if whole is not None:
            found = whole.log_evidence(outcome, self.growth)
            return self.log_evidence(outcome) if found is None else found
        if min(half.target.total_weight() for half in self._halves) < FEWEST:
            return self.log_evidence(outcome)
        total = 0.0
        for here, there in self._pairs:
            tree = here.grow(outcome, self.growth)
            statistics = outcome.sum_statistics(there.target, tree.route(there.rows)[0], tree.node_count)
            total += float(outcome.log_marginal(tree.posterior, statistics)[tree.is_leaf].sum())
        return total

    def _whole_halves(self, outcome: Outcome) -> Halves | None:
        """The halves that a source would have; they are the same for every dispersion."""
        if not self._kept:
            self._kept.append(Halves.of_memory(self.data, outcome, self.growth))
        return self._kept[0]

    @cached_property
    def _kept(self) -> list[Halves | None]:
        return []

    @cached_property
    def _halves(self) -> tuple[TrainingData, TrainingData]:
        in_first = folds_of(self.data.rows, self.data.target, 2) == 0
        return self.data.take(in_first), self.data.take(~in_first)

    @cached_property
    def _pairs(self) -> list[tuple[EncodedData, TrainingData]]:
        one, other = self._halves
        return [(one.encoded(self.growth), other), (other.encoded(self.growth), one)]
