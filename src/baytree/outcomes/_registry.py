"""The outcomes there are: a new one is a file beside this one and a line here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._validation import short_repr
from ._base import FixedPointOutcome, Outcome, PriorSearch
from ._categorical import CategoricalOutcome
from ._custom import REQUIRED, CustomOutcome
from ._exponential import ExponentialOutcome
from ._grids import Grids, TargetRange, grids_of, round_to_grids
from ._negative_binomial import NegativeBinomialOutcome
from ._normal import NormalOutcome
from ._poisson import PoissonOutcome
from ._target import Target

# The outcomes that `outcome=` of a regressor may name.
REGRESSION_OUTCOMES: dict[str, type[Outcome]] = {
    outcome.name: outcome for outcome in (NormalOutcome, PoissonOutcome, NegativeBinomialOutcome, ExponentialOutcome)
}
OUTCOMES: dict[str, type[Outcome]] = {CategoricalOutcome.name: CategoricalOutcome, **REGRESSION_OUTCOMES}


@dataclass(frozen=True)
class Family:
    """An outcome's class with its options: what the `outcome` parameter means."""

    outcome: type[Outcome]
    options: Any = None

    @property
    def is_own(self) -> bool:
        """Whether the user wrote it."""
        return self.outcome is CustomOutcome

    @property
    def has_classes(self) -> bool:
        """Whether y is a class label."""
        return self.outcome is CategoricalOutcome

    @property
    def fixed_point(self) -> type[FixedPointOutcome]:
        """The outcome's class, where its statistics are sums of whole numbers."""
        if not issubclass(self.outcome, FixedPointOutcome):
            raise TypeError(f"The outcome {self.outcome.name!r} is no sum of whole numbers.")
        return self.outcome

    def round_to_grids(self, target: Target) -> Target:
        """The target in whole numbers; an outcome of the user's own has none."""
        if self.is_own:
            return target
        return round_to_grids(target, self.grids(TargetRange.of(target, of_y=not self.has_classes)))

    def grids(self, target_range: TargetRange) -> Grids:
        """The grids of targets in a range."""
        return Grids.over(target_range, from_zero=self.outcome.from_zero, positive=self.outcome.positive_only)

    def summary(self, target: Target) -> Target:
        """A few rows that have the same prior as those of a target on grids."""
        totals = [] if self.has_classes else self.fixed_point.totals_of(target)  # the prior of classes needs none
        return self.fixed_point.summary(totals, grids_of(target))

    def of(self, target: Target, prior: Any) -> Outcome:
        """The outcome of a target, with its prior."""
        return self.outcome.of(target, prior, self.options)

    def settle(self, target: Target, prior: Any, search: PriorSearch) -> Outcome:
        """Return the outcome of a target with its final prior, for which trees may be grown."""
        return self.outcome.settle(target, prior, self.options, search)


def read_outcome(outcome: Any) -> Family:
    """Read the `outcome` parameter: a name, the options of an outcome, or an object of the user's own."""
    if isinstance(outcome, str):
        if outcome not in REGRESSION_OUTCOMES:
            names = ", ".join(map(repr, REGRESSION_OUTCOMES))
            raise ValueError(f"outcome must be one of {names} or an object of your own; got {short_repr(outcome)}.")
        family = REGRESSION_OUTCOMES[outcome]
        return Family(family, None if family.options is None else family.options())
    for family in REGRESSION_OUTCOMES.values():
        if family.options is not None and isinstance(outcome, family.options):
            return Family(family, outcome)
    missing = CustomOutcome.lacks(outcome)
    if missing:
        names = ", ".join(map(repr, REGRESSION_OUTCOMES))
        raise TypeError(
            f"outcome must be one of {names} or an object with {', '.join(REQUIRED)}; "
            f"{type(outcome).__name__} lacks {', '.join(missing)}."
        )
    return Family(CustomOutcome, outcome)
