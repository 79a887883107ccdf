"""A source of parts: whatever can hand out frames or arrays one after the other, or let functions come to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from .._typing import BoolArray
from ..growth import ClassHistograms, CodeLayout, ColumnBins, EncodedRows, Histograms, HistogramSource, Routes, Sample
from ..outcomes import Family, Outcome
from ..table import Schema
from ._bins import IntervalCounts, bins_of
from ._column_specs import MOST_CODES, ColumnSpecs, TableSpec, occurring
from ._parts import (
    EncodedPart,
    IntervalValues,
    Part,
    PartSummary,
    TargetSummary,
    Totals,
    collect_part,
    encode,
    factors_of,
    is_left_out,
    keep,
    known_columns,
    left_out,
    look,
    looked_at,
    narrow,
    sample_of,
    settle,
    sums_of,
    totals_of,
)
from ._source import TableSummary
from ._targets import TargetPlan

T = TypeVar("T")


class EncodedParts(Protocol):
    """Parts that were encoded, wherever they are kept."""

    def reduce(self, work: Callable[[EncodedPart], T], merge: Callable[[T, T], T]) -> T:
        """Do some work on each part, and merge what it gives."""

    def changed(self, work: Callable[[EncodedPart], EncodedPart]) -> EncodedParts:
        """The parts as some work makes them, instead of these."""

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

    def encode(self, work: Callable[[Part], EncodedPart]) -> EncodedParts:
        """Encode each part, and keep it."""


@dataclass(frozen=True)
class EncodedSource:
    """Encoded parts, or one half of their rows, as a source of a growth."""

    parts: EncodedParts
    asked: CodeLayout
    half: int | None = None

    def kept(self) -> EncodedRows | None:
        """Halves are grown level by level."""
        return self.parts.kept() if self.half is None else None

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """A pass over all parts."""
        return self.parts.reduce(partial(sums_of, asked=self.asked, routes=routes, half=self.half), _plus)

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The same."""
        work = partial(factors_of, asked=self.asked, routes=routes, outcome=outcome, half=self.half)
        return self.parts.reduce(work, _added)


@dataclass
class PartSource:
    """Asks parts what a fit wants to know."""

    parts: Parts
    given: TableSpec = field(default_factory=TableSpec)
    n_threads: int = 1
    known: ColumnSpecs | None = field(default=None, init=False)
    seen: PartSummary | None = field(default=None, init=False)
    schema: Schema | None = field(default=None, init=False)
    plan: TargetPlan | None = field(default=None, init=False)
    columns: tuple[ColumnBins, ...] = field(default=(), init=False)
    asked: CodeLayout | None = field(default=None, init=False)
    encoded: EncodedParts | None = field(default=None, init=False)

    def look(self, plan: TargetPlan, categorical_features: Any, max_bins: int) -> TableSummary:
        """One pass over all parts."""
        work = partial(known_columns, given=self.given, categorical_features=categorical_features)
        self.plan = plan
        self.known, splitters = self.parts.first(work)
        if not self.known.rest:
            return self._look_at_targets(plan, self.known)
        asked = partial(look, plan=plan, known=self.known, splitters=splitters, max_bins=max_bins)
        self.seen = self.parts.reduce(asked, _either)
        if self.seen is None:
            raise ValueError("The table has no rows.")
        self.schema = self.known.schema(self.seen.part.schema)
        return self.seen.looked.found(self.schema)

    def _look_at_targets(self, plan: TargetPlan, known: ColumnSpecs) -> TableSummary:
        """All columns are known: the pass that encodes them is the first."""
        self.schema = known.schema(None)
        self.encoded = self.parts.encode(partial(keep, plan=plan, known=known))
        return self.encoded.reduce(partial(looked_at, plan=plan), _both).found(self.schema)

    def bins(self, max_bins: int, left_out_columns: BoolArray) -> tuple[ColumnBins, ...]:
        """A pass over all parts where a column has many values, or categories; seldom a second one."""
        schema, known = _known(self.schema), _known(self.known)
        found = known.bins | {i: left_out() for i in np.flatnonzero(left_out_columns).tolist()}
        if self.seen is not None:
            self._find_bins(self.seen, found, max_bins)
        self.columns = tuple(found[column] for column in range(schema.n_features))
        for column, bins in enumerate(self.columns):
            if bins.n_codes > MOST_CODES:
                raise ValueError(f"{schema.describe(column)} has more than {MOST_CODES} categories: make them fewer.")
        return self.columns

    def _find_bins(self, seen: PartSummary, found: dict[int, ColumnBins], max_bins: int) -> None:
        """Add the bins that are not found yet."""
        rest = _known(self.known).rest
        counted, missing = (dict(zip(rest, own, strict=True)) for own in (seen.counted, seen.part.has_missing.tolist()))
        for column, own in counted.items():
            if column not in found and own is not None and (own.distinct is not None or own.counts.sum() == 0):
                found[column] = bins_of(own, None, max_bins, has_missing=missing[column])
        while wanted := {column: own for column, own in counted.items() if column not in found}:
            collected = self._collect(_known(self.plan), _known(self.schema), wanted, max_bins)
            for column, values in collected.values.items():
                found[column] = _column_bins(counted[column], np.concatenate(values), max_bins, missing[column])
            counted |= collected.finer

    def _collect(
        self, plan: TargetPlan, schema: Schema, wanted: dict[int, IntervalCounts | None], max_bins: int
    ) -> IntervalValues:
        work = partial(collect_part, plan=plan, schema=schema, wanted=wanted, max_bins=max_bins)
        return _known(self.parts.reduce(work, partial(_collected, max_bins=max_bins)))

    def totals(self, plan: TargetPlan, family: Family) -> list[int]:
        """Encodes all parts; `columns` is settled then."""
        self.plan = plan
        if self.encoded is not None:
            self.encoded = self.encoded.changed(partial(settle, plan=plan, bins=self.columns, family=family))
        else:
            known, schema = _known(self.known), _known(self.schema)
            work = partial(encode, plan=plan, known=known, schema=schema, bins=self.columns, family=family)
            self.encoded = self.parts.encode(work)
        may_not = _known(self.known).may_not_occur
        n_codes = {i: self.columns[i].n_codes for i in may_not if not is_left_out(self.columns[i])}
        totals = self.encoded.reduce(partial(totals_of, family=family, n_codes=n_codes), _plus_totals)
        self._narrow(self.encoded, totals.occurs)
        n_classes = 0 if plan.classes is None else len(plan.classes)
        self.asked = CodeLayout.of(self.columns, n_classes, _known(plan.grids), self.n_threads)
        return totals.sums

    def _narrow(self, encoded: EncodedParts, occurs: dict[int, BoolArray]) -> None:
        """Given categories that do not occur have no codes."""
        columns = dict(enumerate(self.columns)) | {i: occurring(self.columns[i], own) for i, own in occurs.items()}
        self.columns = tuple(columns.values())
        absent = {i: own for i, own in occurs.items() if not own[:-1].all()}
        if absent:
            self.encoded = encoded.changed(partial(narrow, occurs=absent))

    def kept(self) -> EncodedRows | None:
        """Where the parts were cached and are not too many."""
        return self._all.kept()

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """A pass over all encoded parts."""
        return self._all.histograms(routes)

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The same."""
        return self._all.factors(outcome, routes)

    def halves(self) -> tuple[HistogramSource, HistogramSource]:
        """Each is a choice of rows in every part."""
        return replace(self._all, half=0), replace(self._all, half=1)

    @property
    def _all(self) -> EncodedSource:
        return EncodedSource(_known(self.encoded), _known(self.asked))

    def sample(self, shares: int) -> Sample:
        """The same."""
        return _known(self.encoded).reduce(partial(sample_of, shares=shares), _joined)

    def close(self) -> None:
        """Give up what was kept."""
        if self.encoded is not None:
            self.encoded.close()
            self.encoded = None


def _column_bins(counted: IntervalCounts | None, values: Any, max_bins: int, has_missing: bool) -> ColumnBins:
    if counted is None:  # categories
        positions = np.unique(values)
        return ColumnBins(positions, positions, has_missing)
    return bins_of(counted, np.sort(values), max_bins, has_missing=has_missing)


def _known(value: T | None) -> T:
    if value is None:
        raise RuntimeError("A source is asked in order: look, bins, totals, sums.")
    return value


def _either(one: PartSummary, other: PartSummary) -> PartSummary:
    return one | other


def _both(one: TargetSummary, other: TargetSummary) -> TargetSummary:
    return one | other


def _collected(one: IntervalValues, other: IntervalValues, max_bins: int) -> IntervalValues:
    return one.merged(other, max_bins)


def _added(one: list[int], other: list[int]) -> list[int]:
    return [a + b for a, b in zip(one, other, strict=True)]


def _joined(one: Sample, other: Sample) -> Sample:
    return one + other


def _plus_totals(one: Totals, other: Totals) -> Totals:
    return one + other


def _plus(one: Any, other: Any) -> Any:
    return one + other
