"""Rows in memory: the source that has every capability."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sklearn.utils.validation import check_consistent_length

from ..growth import Growth, OnLevel, TableData
from ..outcomes import Family, Target
from ..table import Rows, Schema
from ._source import Capability, TableSummary, require
from ._targets import TargetPlan, TrainingTarget


@dataclass
class MemorySource:
    """A table that passed scikit-learn's checks, with its target, weights and extras."""

    table: Any
    y: Any
    weight: Any = None
    extras: dict[str, Any] = field(default_factory=dict)
    names: Any = None
    n_threads: int = 1
    rows: Rows | None = field(default=None, init=False)
    target: TrainingTarget | None = field(default=None, init=False)

    capabilities = frozenset(Capability)
    bins_by_default = None

    def summarise(
        self,
        plan: TargetPlan,
        categorical_features: Any,
        max_bins: int | None,  # noqa: ARG002
    ) -> TableSummary:
        """Read the whole table, and drop rows of weight zero."""
        rows, schema = Schema.learn(self.table, categorical_features, self.names)
        target = read_target(plan, rows, self.y, self.weight, self.extras)
        schema.refuse_infinity(rows, self.n_threads)
        self.target = plan.reader.learn(target)
        has_weight = self.target.has_weight
        self.rows = rows if has_weight is None else Rows(rows.matrix[has_weight])
        return TableSummary(schema, classes=self.target.classes)

    def training_data(
        self,
        plan: TargetPlan,  # noqa: ARG002
        summary: TableSummary,
        family: Family,
        growth: Growth,
        on_level: OnLevel | None,  # noqa: ARG002
    ) -> TableData:
        """The rows in memory; with `max_bins` their targets are in fixed point, as at every source."""
        rows, training_target = require(self.rows), require(self.target)
        target = training_target.target
        if growth.max_bins is not None:
            family.of(target, None)  # its errors name the row
            target = family.round_to_grids(target)
        return TableData(rows, summary.schema, target, growth, training_target.has_weight)

    def close(self) -> None:
        """Nothing needs to be released."""


def read_target(plan: TargetPlan, rows: Rows, y: Any, weight: Any, extras: dict[str, Any]) -> Target:
    """Read y, weights and extras."""
    y = plan.reader.check_y(y)
    check_consistent_length(rows.matrix, y)
    return plan.reader.read(y, weight, extras)
