"""Rows in memory: a table as it is, encoded for the compiled core where trees are grown on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from .. import _core
from .._typing import AnyArray, BoolArray
from ..outcomes import (
    Extent,
    Family,
    Grids,
    Outcome,
    Target,
    asks_for_evidence,
    fixed_point_outcome,
    whole_weight,
)
from ..table import Rows, Schema
from ..tree import TreeStore
from ._encode import bins_of_columns, encode_rows
from ._encoded_rows import CodeLayout, EncodedRows, RowHistograms
from ._fingerprint import fingerprint
from ._folds import folds_of
from ._grow import explore_space, grow_tree, score_tree
from ._histogram_growth import HistogramData
from ._histograms import ColumnBins
from ._in_any_order import in_any_order
from ._sample import Sample, n_shares
from ._settings import Growth
from ._training_data import LeafSums, TrainingData

_MOST_CODES = 2**16  # of a column whose halves can be those of any source


@dataclass(frozen=True, eq=False)
class TableData:
    """Rows with their targets.

    Attributes
    ----------
    rows, schema, target
        The rows that count, their columns and their targets.
    growth
        How trees are grown.
    counted
        Which rows of the table that was given these are; None: all.
    """

    rows: Rows
    schema: Schema
    target: Target
    growth: Growth
    counted: BoolArray | None = None
    _last: dict[str, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, chosen: AnyArray) -> TableData:
        """Some of the rows, to be encoded anew."""
        return TableData(Rows(self.rows.matrix[chosen]), self.schema, self.target.take(chosen), self.growth)

    @cached_property
    def columns(self) -> _core.Columns:
        """The columns as the compiled core reads them."""
        return encode_rows(self.rows, self.schema.is_nominal, self.growth)

    def grow(self, outcome: Outcome, *, factors: bool = True) -> TreeStore:  # noqa: ARG002
        """The tree of an outcome; the last one is kept, since a prior is tried before it is taken."""
        if self._last.get("outcome") is not outcome:
            tree = grow_tree(self.columns, self.target, outcome, self.growth)
            self._last.update(outcome=outcome, tree=tree)
        grown: TreeStore = self._last["tree"]
        return grown

    def explore(self, outcome: Outcome, budget: _core.Budget) -> tuple[TreeStore, bool]:
        """The tree space of an outcome, and whether the user interrupted its exploration."""
        return explore_space(self.columns, self.target, outcome, self.growth, budget)

    def score(self, tree: TreeStore, outcome: Outcome) -> TreeStore:
        """A given tree with the posteriors, priors and odds that these rows give its nodes."""
        return score_tree(tree, self.columns, outcome.to_core(self.target), outcome, self.growth)

    def target_for_prior(self, family: Family, prior: Any) -> Target:
        """A target that has the same prior as the rows, whatever their order."""
        target = self.target
        if not self.growth.in_any_order and target.grids is None:
            return target
        family.of(target, None if asks_for_evidence(prior) else prior)  # errors tell the row
        return in_any_order(target) if target.grids is None else family.summary(target)

    def leaf_sums(self, tree: TreeStore, outcome: Outcome) -> LeafSums:
        """What the rows add up to in the leaves of a tree."""
        leaf, no_infinity = tree.routing.leaf(self.rows, self.growth.n_threads)
        if not no_infinity:
            self.schema.refuse_infinity(self.rows)
        leaves = np.flatnonzero(tree.is_leaf)
        statistics = outcome.sum_statistics(self.target, leaf, tree.node_count)
        return LeafSums(statistics[leaves], np.bincount(leaf, minlength=tree.node_count)[leaves])

    def halves(self, outcome: Outcome) -> tuple[TrainingData, TrainingData]:
        """Two halves of the rows; with bins the same ones as at any source."""
        grids = self.target.grids
        if grids is None or self.growth.lookahead or self.growth.oblique or self._codes.max(initial=0) >= _MOST_CODES:
            in_first = folds_of(self.rows, self.target, 2) == 0
            return self.take(in_first), self.take(~in_first)
        rows, bins = self._encoded(outcome), self._bins
        layout = CodeLayout.of(bins, 0, grids, self.growth.n_threads)
        extent = Extent(len(self), self.target.total_weight())
        one, other = (
            HistogramData(RowHistograms(rows.half(which), layout), self.schema, bins, grids, extent, self.growth)
            for which in (0, 1)
        )
        return one, other

    def sample(self, outcome: Outcome) -> TableData:
        """These rows; of rows in bins some thousand, the same ones as at any source."""
        grids = self.target.grids
        if grids is None or grids.y is None:
            return self
        rows = self._encoded(outcome)
        sample = Sample(rows.codes.T, rows.numbers, rows.weight).chosen(n_shares(len(self)))
        return data_of_sample(sample, self._bins, self.schema, grids, self.growth)

    def size(self) -> tuple[tuple[int, int], float, str]:
        """Rows and columns, the total weight of the rows, and a hash of the table."""
        hash_of_table = fingerprint(self.rows, self.target, self.growth.n_threads)
        return self.rows.matrix.shape, self.target.total_weight(), hash_of_table

    @cached_property
    def _bins(self) -> tuple[ColumnBins, ...]:
        return bins_of_columns(self.columns, self.rows)

    @cached_property
    def _codes(self) -> AnyArray:
        """Codes, those of a row side by side."""
        return np.stack([np.asarray(self.columns.codes(f)) for f in range(self.columns.n_columns)], axis=1)

    def _encoded(self, outcome: Outcome) -> EncodedRows:
        """The rows as codes and whole numbers."""
        codes = self._codes
        if codes.max(initial=0) < _MOST_CODES:
            codes = codes.astype(np.uint8 if codes.max(initial=0) < 256 else np.uint16)
        numbers = np.stack(fixed_point_outcome(outcome).fixed_point_rows(self.target), axis=1)
        weight = None if self.target.weight is None else whole_weight(self.target)
        return EncodedRows(codes, np.ascontiguousarray(numbers, dtype=np.int64), weight)


def data_of_sample(
    sample: Sample, bins: tuple[ColumnBins, ...], schema: Schema, grids: Grids, growth: Growth
) -> TableData:
    """The rows of a sample of numbers, each value in the middle of its bin."""
    y = sample.numbers[:, 0] if grids.y is None else grids.y.value(sample.numbers[:, 0])
    weight = None if sample.weight is None or grids.weight is None else grids.weight.value(sample.weight)
    return TableData(Rows(sample.matrix(bins)), schema, Target(y, weight, grids=grids), growth)
