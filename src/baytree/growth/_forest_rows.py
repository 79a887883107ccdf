"""The rows of a forest: a table that the compiled core draws weights for, or encoded rows with keys, at any source."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from .._typing import AnyArray, FloatArray
from ..outcomes import Outcome
from ..tree import TreeStore
from ._forest import ForestPlan, grow_forest
from ._histogram_data import HistogramData
from ._keyed_forest import KeyedForest, uses_keys
from ._out_of_bag import out_of_bag_weights
from ._row_keys import KeyedInMemory, with_keys
from ._table_data import TableData

# How much each tree counts as one grown without each of some rows, given by their positions; (n_rows, n_trees).
OutOfBagWeights: TypeAlias = Callable[[AnyArray], FloatArray]


class ForestRows(Protocol):
    """Rows on which the trees of a forest grow."""

    def grow(self, outcome: Outcome, plan: ForestPlan) -> TreeStore:
        """Grow the trees of a plan."""

    def sample(self, outcome: Outcome, plan: ForestPlan) -> tuple[TableData, OutOfBagWeights]:
        """Rows in memory to measure the trees of a plan on, at least some thousand if there are so many."""

    def all_out_of_bag(self, outcome: Outcome, plan: ForestPlan) -> FloatArray:
        """The out-of-bag weights of all rows of a table in memory."""

    def close(self) -> None:
        """Release the resources of the forest."""


@dataclass(frozen=True)
class TableForest:
    """A table in memory."""

    data: TableData

    def grow(self, outcome: Outcome, plan: ForestPlan) -> TreeStore:
        """Grow the trees of a plan, on all threads."""
        return grow_forest(self.data.columns, self.data.target, outcome, self.data.growth, plan)

    def sample(self, outcome: Outcome, plan: ForestPlan) -> tuple[TableData, OutOfBagWeights]:
        """All rows."""
        return self.data, partial(self._out_of_bag(outcome, plan), one_copy=True)

    def all_out_of_bag(self, outcome: Outcome, plan: ForestPlan) -> FloatArray:
        """The out-of-bag weights of all rows."""
        return self._out_of_bag(outcome, plan)(np.arange(len(self.data)))

    def _out_of_bag(self, outcome: Outcome, plan: ForestPlan) -> Callable[..., FloatArray]:
        data = self.data
        return partial(out_of_bag_weights, data.columns, data.target, outcome, data.growth, plan)

    def close(self) -> None:
        """Nothing needs to be released."""


@dataclass(frozen=True)
class EncodedForest:
    """Encoded rows with keys."""

    forest: KeyedForest

    def grow(self, outcome: Outcome, plan: ForestPlan) -> TreeStore:
        """Grow the trees of a plan, several in each pass over the rows."""
        return self.forest.grow(outcome, plan)

    def sample(self, outcome: Outcome, plan: ForestPlan) -> tuple[TableData, OutOfBagWeights]:  # noqa: ARG002
        """A few thousand rows, the same ones at any source."""
        data, rows = self.forest.sample()
        weights = self.forest.lacks(rows, plan)
        return data, weights.__getitem__

    def all_out_of_bag(self, outcome: Outcome, plan: ForestPlan) -> FloatArray:  # noqa: ARG002
        """The out-of-bag weights of all rows, which must be in memory."""
        rows = self.forest.keyed.rows_in_memory()
        if rows is None:
            raise RuntimeError("The rows are not in memory.")
        return self.forest.lacks(rows, plan)

    def close(self) -> None:
        """Release the rows with keys."""
        self.forest.keyed.close()


def rows_of_forest(data: Any, outcome: Outcome, plan: ForestPlan) -> ForestRows:
    """The rows of a forest: with keys where they have bins, so that the forest is the same at any source."""
    if isinstance(data, HistogramData):
        return EncodedForest(KeyedForest(data, data.keyed()))
    encoded = data.encoded(outcome) if uses_keys(data.growth, plan) else None
    if encoded is None:
        return TableForest(data)
    of_table, rows = encoded
    return EncodedForest(KeyedForest(of_table, KeyedInMemory(with_keys(rows))))
