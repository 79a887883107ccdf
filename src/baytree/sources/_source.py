"""The interface between a fit and a source of rows, and the capabilities that a source may lack."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeVar

import numpy as np

from .._progress import Progress
from .._typing import AnyArray, BoolArray, FloatArray
from ..growth import ColumnBins, DivisibleSource, Growth, HistogramData, OnLevel, TrainingData
from ..outcomes import Family, SampleSize, TargetRange
from ..table import Schema
from ._targets import TargetPlan

T = TypeVar("T")
DEFAULT_BINS = 255  # at sources whose rows are not in memory


class Capability(Enum):
    """Needs of a fit besides histograms of its rows; the value is the error message of a source without it."""

    OWN_OUTCOME = "An outcome of your own needs the rows in memory: fit it there."
    IMPORTANCE = (
        "weights='importance' needs the rows in memory: multiply the weights by (sum of w) / (sum of w²) and make "
        "weights 'counts'."
    )
    LOOKAHEAD = "lookahead needs the rows in memory: make it 0."
    HYPERPLANES = "Hyperplanes need the rows in memory: make partitions 'axis'."
    LEAF_MODELS = "leaf='linear' needs the rows in memory: make it 'constant'."
    TREE_SPACE = (
        "A tree space needs the rows in memory, except that of the prunings of one tree: make space 'prunings', or fit "
        "a single tree."
    )
    OUT_OF_BAG = "oob_score=True needs the rows in memory: make it False."
    RESAMPLING = "bootstrap='resample' needs the rows in memory: make it 'bayesian'."


@dataclass(frozen=True)
class TableSummary:
    """The results of the first pass over the rows: columns, the range of the target, its classes."""

    schema: Schema
    target_range: TargetRange | None = None
    classes: AnyArray | None = None
    class_rows: FloatArray | None = None  # number of rows of each class
    class_largest: FloatArray | None = None  # largest weight of each class


class Source(Protocol):
    """Rows of a fit; the methods are called in this order."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities of the source besides histograms."""

    @property
    def bins_by_default(self) -> int | None:
        """The default of `max_bins`; None distinguishes all values."""

    def summarise(self, plan: TargetPlan, categorical_features: Any, max_bins: int | None) -> TableSummary:
        """Summarise the columns and targets in a first pass over the rows."""

    def training_data(
        self, plan: TargetPlan, summary: TableSummary, family: Family, growth: Growth, on_level: OnLevel | None
    ) -> TrainingData:
        """The rows, with their final columns and targets."""

    def close(self) -> None:
        """Release the resources of the fit."""


class EncodingSource(DivisibleSource, Protocol):
    """Rows that are encoded where they are, and of which only histograms are transferred."""

    @property
    def columns(self) -> tuple[ColumnBins, ...]:
        """The bins of the columns, final after `totals`."""

    def summarise(self, plan: TargetPlan, categorical_features: Any, max_bins: int) -> TableSummary:
        """Summarise the columns and targets in a first pass over the rows."""

    def bins(self, plan: TargetPlan, max_bins: int, excluded: BoolArray) -> tuple[ColumnBins, ...]:
        """Find the bins of every column, by the weights of the rows; an excluded column has one bin."""

    def totals(self, plan: TargetPlan, family: Family) -> list[int]:
        """Encode the rows by this plan, and return their `FixedPointOutcome.totals`."""

    def close(self) -> None:
        """Release the resources of the fit."""


@dataclass(frozen=True)
class RemoteSource:
    """A source whose rows are not in memory."""

    encoding: EncodingSource
    progress: Progress | None = None

    capabilities = frozenset[Capability]()
    bins_by_default = DEFAULT_BINS

    def summarise(self, plan: TargetPlan, categorical_features: Any, max_bins: int | None) -> TableSummary:
        """Summarise the columns and targets in a first pass over the rows."""
        self._begin("Reading columns and target")
        return self.encoding.summarise(plan, categorical_features, max_bins or DEFAULT_BINS)

    def _begin(self, step: str) -> None:
        """Show the step that follows."""
        if self.progress is not None:
            self.progress.begin(step)

    def bins(self, plan: TargetPlan, max_bins: int | None, summary: TableSummary) -> tuple[ColumnBins, ...]:
        """Find the bins of every column."""
        excluded = np.zeros(summary.schema.n_features, dtype=bool)
        return self.encoding.bins(plan, max_bins or DEFAULT_BINS, excluded)

    def training_data(
        self, plan: TargetPlan, summary: TableSummary, family: Family, growth: Growth, on_level: OnLevel | None
    ) -> TrainingData:
        """The rows as codes and fixed-point targets, at the source."""
        source, grids, target_range = self.encoding, plan.grids, summary.target_range
        if grids is None or target_range is None:
            raise RuntimeError("The target has no grids yet.")
        self._begin("Finding bins")
        source.bins(plan, growth.max_bins or DEFAULT_BINS, growth.feature_weight == 0)
        self._begin("Encoding rows")
        totals = source.totals(plan, family)
        sample_size = SampleSize(target_range.n_rows, float(totals[0]) * grids.weight_unit)
        return HistogramData(
            source, summary.schema, source.columns, grids, sample_size, growth, tuple(totals), on_level
        )

    def close(self) -> None:
        """Release the resources of the fit."""
        self.encoding.close()


def check_capabilities(source: Source, required: Iterable[Capability]) -> None:
    """Raise an error, before anything is read, if a source lacks a capability."""
    for capability in required:
        if capability not in source.capabilities:
            raise ValueError(capability.value)


def require(value: T | None) -> T:
    """A value that an earlier call of a source's methods sets."""
    if value is None:
        raise RuntimeError("The methods of a source are called in order: summarise, bins, totals, histograms.")
    return value
