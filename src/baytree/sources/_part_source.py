"""A source of parts: frames or arrays that are read one after the other, or to which functions are sent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from .._typing import BoolArray
from ..growth import (
    ClassHistograms,
    CodeLayout,
    ColumnBins,
    EncodedRows,
    Histograms,
    HistogramSource,
    KeyedParts,
    Routes,
)
from ..outcomes import Family, Outcome
from ..table import Schema
from ._bins import ColumnValues, IntervalCounts, bins_of
from ._column_specs import ColumnSpecs, TableSpec, present_bins
from ._part_sums import PartSums
from ._parts import (
    EncodedPart,
    IntervalValues,
    Part,
    PartSummary,
    TargetSummary,
    collect_part,
    drop_absent_codes,
    encode,
    encode_features,
    encode_target,
    excluded_bins,
    factors_of,
    histograms_of,
    is_excluded,
    read_column_specs,
    sample_of,
    summarise_part,
    summarise_target,
    totals_of,
)
from ._source import TableSummary, require
from ._targets import TargetPlan

T = TypeVar("T")
Summary = TypeVar("Summary", PartSummary, TargetSummary)


class EncodedParts(Protocol):
    """Encoded parts, in memory, in files or on other machines."""

    def reduce(self, work: Callable[[EncodedPart], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to each part and merge the results."""

    def map(self, work: Callable[[EncodedPart], EncodedPart]) -> EncodedParts:
        """Replace each part by the result of a function."""

    def sums(self) -> PartSums | None:
        """The sums of the rows from which the parts were encoded; None without rows."""

    def rows_in_memory(self) -> EncodedRows | None:
        """All rows, if they fit into the memory of this machine."""

    def keyed(self) -> KeyedParts:
        """The rows with their keys, all that are equal in one part."""

    def close(self) -> None:
        """Release memory and files."""


class Parts(Protocol):
    """The parts of a table."""

    def first(self, work: Callable[[Part], T]) -> T:
        """Apply a function to a part that has rows."""

    def reduce(self, work: Callable[[Part], T | None], merge: Callable[[T, T], T]) -> T | None:
        """Apply a function to each part and merge the results; None if there are none."""

    def encode(self, work: Callable[[Part], EncodedPart]) -> EncodedParts:
        """Encode each part and store it."""


@dataclass(frozen=True)
class EncodedSource:
    """Encoded parts, or one half of their rows, as a source of histograms."""

    parts: EncodedParts
    layout: CodeLayout
    half: int | None = None

    def rows_in_memory(self) -> EncodedRows | None:
        """All rows if they fit into memory; None for a half, whose tree is grown level by level."""
        return self.parts.rows_in_memory() if self.half is None else None

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """The histograms of the open nodes, in one pass over all parts."""
        return self.parts.reduce(partial(histograms_of, layout=self.layout, routes=routes, half=self.half), _sum)

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sum of the logs of factors in each open node, in one pass over all parts."""
        work = partial(factors_of, layout=self.layout, routes=routes, outcome=outcome, half=self.half)
        return self.parts.reduce(work, _sum_of_lists)


@dataclass
class PartSource:
    """A source whose rows come in parts."""

    parts: Parts
    table_spec: TableSpec = field(default_factory=TableSpec)
    n_threads: int = 1
    specs: ColumnSpecs | None = field(default=None, init=False)
    summary: PartSummary | None = field(default=None, init=False)
    schema: Schema | None = field(default=None, init=False)
    plan: TargetPlan | None = field(default=None, init=False)
    columns: tuple[ColumnBins, ...] = field(default=(), init=False)
    layout: CodeLayout | None = field(default=None, init=False)
    encoded: EncodedParts | None = field(default=None, init=False)

    def summarise(self, plan: TargetPlan, categorical_features: Any, max_bins: int) -> TableSummary:
        """Summarise the columns and targets in one pass over all parts."""
        work = partial(read_column_specs, table_spec=self.table_spec, categorical_features=categorical_features)
        self.plan = plan
        self.specs, splitters = self.parts.first(work)
        if not self.specs.incomplete:
            return self._encode_features(plan, self.specs)
        summarise = partial(summarise_part, plan=plan, specs=self.specs, splitters=splitters, max_bins=max_bins)
        self.summary = self.parts.reduce(summarise, _union)
        if self.summary is None:
            raise ValueError("The table has no rows.")
        self.schema = self.specs.schema(self.summary.schema.schema)
        return self.summary.target.table_summary(self.schema)

    def _encode_features(self, plan: TargetPlan, specs: ColumnSpecs) -> TableSummary:
        """Encode the features in the first pass, since all columns are specified, and summarise the targets."""
        self.schema = specs.schema(None)
        self.encoded = self.parts.encode(partial(encode_features, plan=plan, specs=specs))
        return self.encoded.reduce(partial(summarise_target, plan=plan), _union).table_summary(self.schema)

    def bins(self, plan: TargetPlan, max_bins: int, excluded: BoolArray) -> tuple[ColumnBins, ...]:
        """Find the bins; columns of many values or of categories take a pass over all parts, with weights two."""
        self.plan = plan
        schema, specs = require(self.schema), require(self.specs)
        bins = specs.bins | {i: excluded_bins() for i in np.flatnonzero(excluded).tolist()}
        if self.summary is not None:
            self._add_bins(self.summary, bins, max_bins)
        self.columns = tuple(bins[i] for i in range(schema.n_features))
        return self.columns

    def _add_bins(self, summary: PartSummary, bins: dict[int, ColumnBins], max_bins: int) -> None:
        """Add the bins of the remaining columns."""
        incomplete = require(self.specs).incomplete
        counts = dict(zip(incomplete, summary.counts, strict=True))
        missing = dict(zip(incomplete, summary.schema.has_missing.tolist(), strict=True))
        for i, column in counts.items():
            if i not in bins and column is not None and (column.distinct is not None or column.counts.sum() == 0):
                bins[i] = bins_of(column, None, max_bins, has_missing=missing[i])
        while remaining := {i: column for i, column in counts.items() if i not in bins}:
            collected = self._collect(require(self.plan), require(self.schema), remaining, max_bins)
            summary.sums.check(collected.sums)
            for i, values in collected.values.items():
                bins[i] = _column_bins(counts[i], ColumnValues.sorted(values), max_bins, missing[i])
            counts |= collected.finer

    def _collect(
        self, plan: TargetPlan, schema: Schema, counts: dict[int, IntervalCounts | None], max_bins: int
    ) -> IntervalValues:
        work = partial(collect_part, plan=plan, schema=schema, counts=counts, max_bins=max_bins)
        return require(self.parts.reduce(work, partial(_merged_values, max_bins=max_bins)))

    def totals(self, plan: TargetPlan, family: Family) -> list[int]:
        """Encode all parts and add up their totals."""
        self.plan = plan
        if self.encoded is not None:
            self.encoded = self.encoded.map(partial(encode_target, plan=plan, bins=self.columns, family=family))
        else:
            specs, schema = require(self.specs), require(self.schema)
            work = partial(encode, plan=plan, specs=specs, schema=schema, bins=self.columns, family=family)
            self.encoded = self.parts.encode(work)
        unordered = require(self.specs).complete_categories
        n_codes = {i: self.columns[i].n_codes for i in unordered if not is_excluded(self.columns[i])}
        totals = self.encoded.reduce(partial(totals_of, family=family, n_codes=n_codes), _sum)
        if self.summary is not None:
            self.summary.sums.check(self.encoded.sums())
        self._drop_absent_codes(self.encoded, totals.is_present)
        n_classes = 0 if plan.classes is None else len(plan.classes)
        self.layout = CodeLayout.of(self.columns, n_classes, require(plan.grids), self.n_threads)
        return totals.sums

    def _drop_absent_codes(self, encoded: EncodedParts, is_present: dict[int, BoolArray]) -> None:
        """Remove the codes of specified categories that do not occur."""
        present = {i: present_bins(self.columns[i], codes) for i, codes in is_present.items()}
        self.columns = tuple((dict(enumerate(self.columns)) | present).values())
        with_absent = {i: codes for i, codes in is_present.items() if not codes[:-1].all()}
        if with_absent:
            self.encoded = encoded.map(partial(drop_absent_codes, is_present=with_absent))

    def row_sums(self) -> list[int]:
        """The sums of the hashes of all columns, in their order."""
        sums = require(self.encoded).sums()
        return [] if sums is None else [sums.n_rows, *sums.features.values(), *sums.target.values()]

    def rows_in_memory(self) -> EncodedRows | None:
        """All rows, if they are cached and fit into memory."""
        return self._source.rows_in_memory()

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """The histograms of the open nodes, in one pass over all encoded parts."""
        return self._source.histograms(routes)

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sum of the logs of factors in each open node, in one pass over all encoded parts."""
        return self._source.factors(outcome, routes)

    def halves(self) -> tuple[HistogramSource, HistogramSource]:
        """Two halves of the rows, which every pass selects anew."""
        return replace(self._source, half=0), replace(self._source, half=1)

    def keyed(self) -> KeyedParts:
        """The rows with their keys."""
        return require(self.encoded).keyed()

    @property
    def _source(self) -> EncodedSource:
        return EncodedSource(require(self.encoded), require(self.layout))

    def sample(self, n_shares: int) -> EncodedRows:
        """One of `n_shares` shares of the rows."""
        return require(self.encoded).reduce(partial(sample_of, n_shares=n_shares), _sum)

    def close(self) -> None:
        """Release the encoded parts."""
        if self.encoded is not None:
            self.encoded.close()
            self.encoded = None


def _column_bins(counts: IntervalCounts | None, of: ColumnValues, max_bins: int, has_missing: bool) -> ColumnBins:
    if counts is None:  # categories
        positions = np.unique(of.values)
        return ColumnBins(positions, positions, has_missing)
    return bins_of(counts, of, max_bins, has_missing=has_missing)


def _union(one: Summary, other: Summary) -> Summary:
    return one | other


def _merged_values(one: IntervalValues, other: IntervalValues, max_bins: int) -> IntervalValues:
    return one.merge(other, max_bins)


def _sum_of_lists(one: list[int], other: list[int]) -> list[int]:
    return [a + b for a, b in zip(one, other, strict=True)]


def _sum(one: Any, other: Any) -> Any:
    return one + other
