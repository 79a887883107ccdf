"""A source whose finished passes are stored in a checkpoint, and which takes stored ones from there."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, runtime_checkable

from .._typing import BoolArray
from ..growth import (
    ClassHistograms,
    ColumnBins,
    DivisibleSource,
    EncodedRows,
    Histograms,
    HistogramSource,
    KeyedParts,
    KeyedRows,
    KeyedSource,
    Routes,
)
from ..outcomes import Family, Outcome
from ..sources import EncodingSource, TableSummary, TargetPlan
from ._checkpoint import Checkpoint

T = TypeVar("T")


@dataclass
class Journal:
    """The passes of a fit, by what they were asked for."""

    checkpoint: Checkpoint

    def passed(self, what: str, request: Any, work: Callable[[], T]) -> T:
        """The result of a pass: the stored one, or that of the work."""
        # Nothing is read back from these bytes. Where they should differ for equal requests, the pass is made again.
        name = hashlib.sha256(what.encode() + pickle.dumps(request)).hexdigest()[:32]
        result = self.checkpoint.stored(name)
        if result is None:
            result = work()
            self.checkpoint.store(name, result)
        return result


@runtime_checkable
class SummedSource(Protocol):
    """A source that adds up hashes of all values as it encodes them."""

    def row_sums(self) -> list[int]:
        """The sums of all columns."""


@dataclass
class JournaledRows:
    """Rows, or half of them, whose passes are stored."""

    rows: HistogramSource
    journal: Journal
    half: int

    def rows_in_memory(self) -> EncodedRows | None:
        """All rows, if they are in memory: then there are no passes."""
        return self.rows.rows_in_memory()

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """The histograms of the open nodes."""
        return self.journal.passed(f"histograms {self.half}", routes, lambda: self.rows.histograms(routes))

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sum of the logs of factors in each open node."""
        return self.journal.passed(
            f"factors {self.half}", (outcome, routes), lambda: self.rows.factors(outcome, routes)
        )


@dataclass
class JournaledParts:
    """Rows with keys whose passes are stored."""

    parts: KeyedParts
    journal: Journal

    def rows_in_memory(self) -> KeyedRows | None:
        """All rows, if they are in memory: then there are no passes."""
        return self.parts.rows_in_memory()

    def reduce(self, work: Callable[[KeyedRows], T], merge: Callable[[T, T], T]) -> T:
        """Apply a function to each part and merge the results."""
        if self.parts.rows_in_memory() is not None:
            return self.parts.reduce(work, merge)
        return self.journal.passed("reduce", work, lambda: self.parts.reduce(work, merge))

    def close(self) -> None:
        """Release memory and files."""
        self.parts.close()


@dataclass
class JournaledSource:
    """A source whose passes over the encoded rows are stored."""

    source: EncodingSource
    journal: Journal

    @property
    def columns(self) -> tuple[ColumnBins, ...]:
        """The columns, final after `totals`."""
        return self.source.columns

    def summarise(self, plan: TargetPlan, categorical_features: Any, max_bins: int) -> TableSummary:
        """Summarise the columns and targets in a first pass over the rows."""
        return self.source.summarise(plan, categorical_features, max_bins)

    def bins(self, plan: TargetPlan, max_bins: int, excluded: BoolArray) -> tuple[ColumnBins, ...]:
        """Find the bins of every column."""
        return self.source.bins(plan, max_bins, excluded)

    def totals(self, plan: TargetPlan, family: Family) -> list[int]:
        """Encode the rows, and refuse others than those of the checkpoint."""
        totals = self.source.totals(plan, family)
        ends = [number for column in self.columns for number in (*column.lows.tolist(), *column.highs.tolist())]
        rows = self.source.row_sums() if isinstance(self.source, SummedSource) else []
        self.journal.checkpoint.check_source([*totals, *ends, *rows])
        return totals

    def rows_in_memory(self) -> EncodedRows | None:
        """All rows, if they are in memory: then there are no passes."""
        return self.source.rows_in_memory()

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """The histograms of the open nodes."""
        return self.journal.passed("histograms", routes, lambda: self.source.histograms(routes))

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sum of the logs of factors in each open node."""
        return self.journal.passed("factors", (outcome, routes), lambda: self.source.factors(outcome, routes))

    def halves(self) -> tuple[HistogramSource, HistogramSource]:
        """Two halves of the rows."""
        one, other = self.source.halves()
        return JournaledRows(one, self.journal, 0), JournaledRows(other, self.journal, 1)

    def sample(self, n_shares: int) -> EncodedRows:
        """One of `n_shares` shares of the rows."""
        return self.journal.passed("sample", n_shares, lambda: self.source.sample(n_shares))

    def close(self) -> None:
        """Release the resources of the fit."""
        self.source.close()


@dataclass
class JournaledKeyedSource(JournaledSource):
    """Such a source that gives its rows their keys."""

    def keyed(self) -> KeyedParts:
        """The rows with their keys."""
        source: DivisibleSource = self.source
        if not isinstance(source, KeyedSource):
            raise TypeError("The source gives no keys.")
        return JournaledParts(source.keyed(), self.journal)


def journaled(source: EncodingSource, checkpoint: Checkpoint) -> EncodingSource:
    """A source whose passes are stored in a checkpoint."""
    kind = JournaledKeyedSource if isinstance(source, KeyedSource) else JournaledSource
    return kind(source, Journal(checkpoint))
