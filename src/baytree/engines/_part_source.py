"""A source of parts: whatever can hand out frames or arrays one after the other, or let functions come to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from .._typing import BoolArray
from ..estimators import Found, TargetPlan
from ..growth import ClassSums, ColumnBins, EncodedRows, Routes, Sample, Sums
from ..outcomes import Family, Outcome
from ..table import Schema
from ._bins import Counted, bins_of
from ._parts import (
    Asked,
    Collected,
    Looked,
    Part,
    collect_part,
    encode,
    factors_of,
    first_splitters,
    left_out,
    look,
    sample_of,
    sums_of,
    totals_of,
)

T = TypeVar("T")
MOST_CODES = 65536  # of a column


class EncodedParts(Protocol):
    """Parts that were encoded, wherever they are kept."""

    def reduce(self, work: Callable[[EncodedRows], T], merge: Callable[[T, T], T]) -> T:
        """Do some work on each part, and merge what it gives."""

    def kept(self) -> EncodedRows | None:
        """All of them at once, where they fit into the memory of this machine."""

    def close(self) -> None:
        """Keep them no longer."""


class Parts(Protocol):
    """Where the parts are."""

    def first(self, work: Callable[[Part], T]) -> T:
        """Do some work on a part that has rows."""

    def reduce(self, work: Callable[[Part], T | None], merge: Callable[[T, T], T]) -> T | None:
        """Do some work on each part, and merge what it gives; None: there is nothing."""

    def encode(self, work: Callable[[Part], EncodedRows]) -> EncodedParts:
        """Encode each part, and keep it."""


@dataclass
class PartSource:
    """Asks parts what a fit wants to know."""

    parts: Parts
    n_threads: int = 1
    looked: Looked | None = field(default=None, init=False)
    plan: TargetPlan | None = field(default=None, init=False)
    columns: tuple[ColumnBins, ...] = field(default=(), init=False)
    asked: Asked | None = field(default=None, init=False)
    encoded: EncodedParts | None = field(default=None, init=False)

    def look(self, plan: TargetPlan, categorical_features: Any, max_bins: int) -> Found:
        """One pass over all parts."""
        splitters = self.parts.first(partial(first_splitters, categorical_features=categorical_features))
        work = partial(
            look, plan=plan, categorical_features=categorical_features, splitters=splitters, max_bins=max_bins
        )
        self.looked, self.plan = self.parts.reduce(work, _either), plan
        if self.looked is None:
            raise ValueError("The table has no rows.")
        return self.looked.found()

    def bins(self, max_bins: int, left_out_columns: BoolArray) -> tuple[ColumnBins, ...]:
        """A pass over all parts where a column has many values, or categories; seldom a second one."""
        looked, plan = _known(self.looked), _known(self.plan)
        schema, counted = looked.part.schema, dict(enumerate(looked.counted))
        found: dict[int, ColumnBins] = {i: left_out() for i in np.flatnonzero(left_out_columns).tolist()}
        missing = looked.part.has_missing.tolist()
        for column, own in counted.items():
            if column not in found and own is not None and (own.distinct is not None or own.counts.sum() == 0):
                found[column] = bins_of(own, None, max_bins, has_missing=missing[column])
        while len(found) < len(counted):
            wanted = {column: own for column, own in counted.items() if column not in found}
            collected = self._collect(plan, schema, wanted, max_bins)
            for column, values in collected.values.items():
                found[column] = _column_bins(counted[column], np.concatenate(values), max_bins, missing[column])
            counted |= collected.finer
        self.columns = tuple(found[column] for column in range(len(counted)))
        for column, bins in enumerate(self.columns):
            if bins.n_codes > MOST_CODES:
                raise ValueError(f"{schema.describe(column)} has more than {MOST_CODES} categories: make them fewer.")
        return self.columns

    def _collect(self, plan: TargetPlan, schema: Schema, wanted: dict[int, Counted | None], max_bins: int) -> Collected:
        work = partial(collect_part, plan=plan, schema=schema, wanted=wanted, max_bins=max_bins)
        return _known(self.parts.reduce(work, partial(_collected, max_bins=max_bins)))

    def totals(self, plan: TargetPlan, family: Family) -> list[int]:
        """Encodes all parts."""
        schema = _known(self.looked).part.schema
        self.plan = plan
        work = partial(encode, plan=plan, schema=schema, bins=self.columns, family=family)
        self.encoded = self.parts.encode(work)
        self.asked = Asked.of(self.columns, 0 if plan.classes is None else len(plan.classes), self.n_threads)
        return self.encoded.reduce(partial(totals_of, family=family), _added)

    def kept(self) -> EncodedRows | None:
        """Where the parts were cached and are not too many."""
        return _known(self.encoded).kept()

    def sums(self, routes: Routes) -> Sums | ClassSums:
        """A pass over all encoded parts."""
        return _known(self.encoded).reduce(partial(sums_of, asked=_known(self.asked), routes=routes), _plus)

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The same."""
        work = partial(factors_of, asked=_known(self.asked), routes=routes, outcome=outcome, plan=_known(self.plan))
        return _known(self.encoded).reduce(work, _added)

    def sample(self, shares: int) -> Sample:
        """The same."""
        return _known(self.encoded).reduce(partial(sample_of, shares=shares), _joined)

    def close(self) -> None:
        """Give up what was kept."""
        if self.encoded is not None:
            self.encoded.close()
            self.encoded = None


def _column_bins(counted: Counted | None, values: Any, max_bins: int, has_missing: bool) -> ColumnBins:
    if counted is None:  # categories
        positions = np.unique(values)
        return ColumnBins(positions, positions, has_missing)
    return bins_of(counted, values, max_bins, has_missing=has_missing)


def _known(value: T | None) -> T:
    if value is None:
        raise RuntimeError("A source is asked in order: look, bins, totals, sums.")
    return value


def _either(one: Looked, other: Looked) -> Looked:
    return one | other


def _collected(one: Collected, other: Collected, max_bins: int) -> Collected:
    return one.merged(other, max_bins)


def _added(one: list[int], other: list[int]) -> list[int]:
    return [a + b for a, b in zip(one, other, strict=True)]


def _joined(one: Sample, other: Sample) -> Sample:
    return one + other


def _plus(one: Any, other: Any) -> Any:
    return one + other
