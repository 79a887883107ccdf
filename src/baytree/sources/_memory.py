"""Rows in memory: the first source, which has everything that a fit may need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sklearn.utils.validation import check_consistent_length

from ..growth import Growth, OnLevel, TableData
from ..outcomes import Family, Target
from ..table import Rows, Schema
from ._source import Need, TableSummary
from ._targets import Learnt, TargetPlan


@dataclass
class MemorySource:
    """A table that scikit-learn's checks accepted, with its target and what belongs to it."""

    table: Any
    y: Any
    weight: Any = None
    extras: dict[str, Any] = field(default_factory=dict)
    names: Any = None
    n_threads: int = 1
    rows: Rows | None = field(default=None, init=False)
    learnt: Learnt | None = field(default=None, init=False)

    has = frozenset(Need)
    bins_by_default = None

    def look(self, plan: TargetPlan, categorical_features: Any, max_bins: int | None) -> TableSummary:  # noqa: ARG002
        """Everything is read at once: rows that count for nothing are no rows."""
        rows, schema = Schema.learn(self.table, categorical_features, self.names)
        target = read_target(plan, rows, self.y, self.weight, self.extras)
        schema.refuse_infinity(rows, self.n_threads)
        self.learnt = plan.reader.learn(target)
        counted = self.learnt.counted
        self.rows = rows if counted is None else Rows(rows.matrix[counted])
        return TableSummary(schema, classes=self.learnt.classes)

    def training_data(
        self,
        plan: TargetPlan,  # noqa: ARG002
        summary: TableSummary,
        family: Family,
        growth: Growth,
        on_level: OnLevel | None,  # noqa: ARG002
    ) -> TableData:
        """The rows as they are; with bins, their targets are whole numbers, as everywhere."""
        if self.rows is None or self.learnt is None:
            raise RuntimeError("A source is asked in order: look, training_data.")
        target = self.learnt.target
        if growth.max_bins is not None:
            family.of(target, None)  # errors tell the row
            target = family.on_grids(target)
        return TableData(self.rows, summary.schema, target, growth, self.learnt.counted)

    def close(self) -> None:
        """Nothing is kept."""


def read_target(plan: TargetPlan, rows: Rows, y: Any, weight: Any, extras: dict[str, Any]) -> Target:
    """Read y and what belongs to it."""
    y = plan.reader.check_y(y)
    check_consistent_length(rows.matrix, y)
    return plan.reader.read(y, weight, extras)
