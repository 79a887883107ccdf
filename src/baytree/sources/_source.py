"""A source: rows somewhere, in the form in which a fit asks for them. What one cannot do, it declines here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from ..growth import ColumnBins, DividedSource, Growth, HistogramData, OnLevel, TrainingData
from ..outcomes import Extent, Family, TargetRange
from ..table import Schema
from ._targets import TargetPlan

DEFAULT_BINS = 255  # where rows are not in memory


class Need(Enum):
    """What a fit may need beyond histograms of its rows; the sentence says so where a source does not have it."""

    OWN_OUTCOME = "An outcome of your own needs the rows in memory: fit it there."
    LOOKAHEAD = "lookahead needs the rows in memory: make it 0."
    HYPERPLANES = "Hyperplanes need the rows in memory: make partitions 'axis'."
    TREE_SPACE = "A tree space needs the rows in memory: fit it there, or fit a single tree."
    FOREST = "A forest needs the rows in memory: fit it there, or fit a single tree."


@dataclass(frozen=True)
class TableSummary:
    """What a first pass over the rows shows: columns, the range of the target, its classes."""

    schema: Schema
    target_range: TargetRange | None = None
    classes: AnyArray | None = None
    class_rows: FloatArray | None = None  # how many rows each class has
    class_largest: FloatArray | None = None  # the largest weight of each class


class Source(Protocol):
    """Rows somewhere, which are asked in this order."""

    @property
    def has(self) -> frozenset[Need]:
        """What it has beyond histograms."""

    @property
    def bins_by_default(self) -> int | None:
        """Bins of a column where the user gives no number; None: every distinct value counts."""

    def look(self, plan: TargetPlan, categorical_features: Any, max_bins: int | None) -> TableSummary:
        """What the columns and the targets are."""

    def training_data(
        self, plan: TargetPlan, summary: TableSummary, family: Family, growth: Growth, on_level: OnLevel | None
    ) -> TrainingData:
        """The rows with the columns and targets that were settled."""

    def close(self) -> None:
        """Give up what was kept for the fit."""


class EncodingSource(DividedSource, Protocol):
    """Rows that are encoded where they are, so that nothing but histograms of them is known."""

    columns: tuple[ColumnBins, ...]  # settled once the totals are known

    def look(self, plan: TargetPlan, categorical_features: Any, max_bins: int) -> TableSummary:
        """What the columns and the targets are."""

    def bins(self, max_bins: int, left_out: BoolArray) -> tuple[ColumnBins, ...]:
        """The bins of every column; those that are left out have one."""

    def totals(self, plan: TargetPlan, family: Family) -> list[int]:
        """`FixedPointOutcome.totals_of` all rows; from here on the rows are whole numbers of this plan."""

    def close(self) -> None:
        """Give up what was kept for the fit."""


@dataclass(frozen=True)
class RemoteSource:
    """Rows that are not in memory, as a source of a fit."""

    encoding: EncodingSource

    has = frozenset[Need]()
    bins_by_default = DEFAULT_BINS

    def look(self, plan: TargetPlan, categorical_features: Any, max_bins: int | None) -> TableSummary:
        """What the columns and the targets are."""
        return self.encoding.look(plan, categorical_features, max_bins or DEFAULT_BINS)

    def bins(self, max_bins: int | None, summary: TableSummary) -> tuple[ColumnBins, ...]:
        """The bins of every column."""
        return self.encoding.bins(max_bins or DEFAULT_BINS, np.zeros(summary.schema.n_features, dtype=bool))

    def training_data(
        self, plan: TargetPlan, summary: TableSummary, family: Family, growth: Growth, on_level: OnLevel | None
    ) -> TrainingData:
        """The rows as codes and whole numbers, where they are."""
        source, grids, target_range = self.encoding, plan.grids, summary.target_range
        if grids is None or target_range is None:
            raise ValueError("the target is not on grids")
        source.bins(growth.max_bins or DEFAULT_BINS, growth.feature_weight == 0)
        totals = source.totals(plan, family)
        extent = Extent(target_range.n_rows, float(totals[0]) * grids.weight_unit)
        return HistogramData(source, summary.schema, source.columns, grids, extent, growth, tuple(totals), on_level)

    def close(self) -> None:
        """Give up what was kept for the fit."""
        self.encoding.close()


def refuse_needs(source: Source, needs: Iterable[Need]) -> None:
    """Refuse, before anything is read, what a source does not have."""
    for need in needs:
        if need not in source.has:
            raise ValueError(need.value)
