"""Training data in memory: a table that is encoded for the compiled core."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .. import _core
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..outcomes import (
    Family,
    Grids,
    Outcome,
    SampleSize,
    Target,
    TargetRange,
    asks_for_evidence,
    fixed_point_outcome,
    integer_weight,
)
from ..table import Rows, Schema
from ..tree import Outline, TreeStore
from ._binning import ColumnBins, bins_of_columns, encode_rows
from ._canonical_target import canonical_target
from ._encoded_rows import CodeLayout, EncodedRows, RowHistograms, n_sample_shares
from ._fingerprint import fingerprint
from ._folds import assign_folds
from ._grower import explore_space, grow_below, grow_tree, score_tree, settle_given, space_of_prunings
from ._histogram_data import HistogramData, n_classes_of
from ._leaf_models import CandidateTerms, candidate_terms, grow_with_models
from ._missing import count_missing
from ._settings import Growth
from ._training_data import LeafSums, TrainingData

_MOST_CODES = 2**26  # of a sparse table, for a dense array of them
_MAX_CODES = 2**16  # of each column, for halves that are the same at any source


@dataclass(frozen=True, eq=False)
class TableData:
    """Rows in memory with their targets.

    Attributes
    ----------
    rows, schema, target
        The rows of positive weight, their columns and their targets.
    growth
        How trees are grown.
    has_weight
        Which rows of the input table have positive weight; None if all have.
    """

    rows: Rows
    schema: Schema
    target: Target
    growth: Growth
    has_weight: BoolArray | None = None
    _last: dict[str, Any] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def numbers_of_columns(self) -> list[tuple[float, float, bool]]:
        """The lowest and the highest number of each column, and whether all are integers; NaN for no number."""
        scan = self.rows.scan(self.growth.n_threads)
        return list(zip(scan.lowest.tolist(), scan.highest.tolist(), scan.are_integers.tolist(), strict=True))

    def total_weight(self) -> float:
        """The sum of the weights."""
        return self.target.total_weight()

    def take(self, chosen: AnyArray, weight: FloatArray | None = None) -> TableData:
        """Some of the rows, not encoded yet, with their weights or others."""
        target = self.target.take(chosen)
        if weight is not None:
            target = replace(target, weight=weight)
        return TableData(Rows(self.rows.matrix[chosen]), self.schema, target, self.growth)

    def reweighted(self, weight: FloatArray, n_threads: int) -> TableData:
        """Return the encoded rows with other weights; their targets are no fixed-point numbers."""
        target, growth = replace(self.target, weight=weight, grids=None), replace(self.growth, n_threads=n_threads)
        result = TableData(self.rows, self.schema, target, growth, self.has_weight)
        vars(result)["columns"] = self.columns
        return result

    def with_growth(self, growth: Growth) -> TableData:
        """Return the encoded rows with other settings, which do not change how columns are encoded."""
        result = TableData(self.rows, self.schema, self.target, growth, self.has_weight)
        vars(result)["columns"] = self.columns
        return result

    @cached_property
    def columns(self) -> _core.Columns:
        """The encoded columns, as the compiled core reads them."""
        return encode_rows(self.rows, self.schema.is_nominal, self.growth, self._weight_of_bins)

    @property
    def _weight_of_bins(self) -> IntArray | None:
        """The integer weight of each row, by which quantile bins are found."""
        target = self.target
        if target.weight is None or self.growth.max_bins is None:
            return None
        if target.grids is None:  # an outcome of the user's own
            grids = Grids.over(TargetRange.of(target, of_y=False), from_zero=True, positive=False)
            target = replace(target, grids=grids)
        return integer_weight(target)

    def grow(self, outcome: Outcome, *, factors: bool = True) -> TreeStore:  # noqa: ARG002
        """Grow the tree of an outcome; the last tree is cached, since the search for a prior has grown it already."""
        if self._last.get("outcome") is not outcome:
            tree = self.count_missing(self._grow(outcome))
            self._last.update(outcome=outcome, tree=tree)
        grown: TreeStore = self._last["tree"]
        return grown

    def _grow(self, outcome: Outcome) -> TreeStore:
        if self.growth.forced is not None:
            return self.grow_below(self.growth.forced.outline, outcome)
        if self.growth.leaf_models is None:
            return grow_tree(self.columns, self.target, outcome, self.growth)
        return grow_with_models(self.columns, self._terms, self.target, outcome, self.growth)

    @cached_property
    def _terms(self) -> CandidateTerms:
        return candidate_terms(self.rows, self.schema, self.growth)

    def explore(self, outcome: Outcome, budget: _core.Budget) -> tuple[TreeStore, bool]:
        """Explore the tree space of an outcome; the second result is true if the user interrupted the search."""
        return explore_space(self.columns, self.target, outcome, self.growth, budget)

    def prunings(self, outcome: Outcome) -> TreeStore:
        """The tree space of the tree of an outcome and its prunings; with `max_bins` the one of any source."""
        if self.growth.forced is None and (self.target.grids is None or self.growth.oblique):
            return self.explore(outcome, _core.Budget(0, None, False, None))[0]
        return space_of_prunings(self.grow(outcome))

    def score(self, tree: TreeStore, outcome: Outcome) -> TreeStore:
        """Compute the posteriors, priors and odds of the nodes of a given tree from these rows."""
        scored = score_tree(tree, self.columns, outcome.to_core(self.target), outcome, self.growth)
        return self.count_missing(scored)

    def grow_below(self, outline: Outline, outcome: Outcome) -> TreeStore:
        """Score an outline on these rows, and grow the tree where the outline asks for it."""
        grown = grow_below(outline, self.columns, outcome.to_core(self.target), outcome, self.growth)
        return settle_given(self.count_missing(grown))

    def count_missing(self, tree: TreeStore) -> TreeStore:
        """Count the rows that lack the feature of each split."""
        return count_missing(tree, lambda _: iter([self.rows]), self.growth.n_threads)

    def target_for_prior(self, family: Family, prior: Any) -> Target:
        """A target that leads to the same prior as the rows, in any order."""
        target = self.target
        if not self.growth.needs_canonical_target and target.grids is None:
            return target
        family.of(target, None if asks_for_evidence(prior) else prior)  # its errors name the row
        return canonical_target(target) if target.grids is None else family.summary(target)

    def leaf_sums(self, tree: TreeStore, outcome: Outcome) -> LeafSums:
        """The sums of statistics in the leaves of a tree."""
        leaf, no_infinity = tree.routing.leaf(self.rows, self.growth.n_threads)
        if not no_infinity:
            self.schema.refuse_infinity(self.rows)
        leaves = np.flatnonzero(tree.is_leaf)
        statistics = outcome.sum_statistics(self.target, leaf, tree.node_count)
        return LeafSums(statistics[leaves], np.bincount(leaf, minlength=tree.node_count)[leaves])

    def halves(self, outcome: Outcome) -> tuple[TrainingData, TrainingData]:
        """Two halves of the rows; with `max_bins` the same ones as at any source."""
        encoded = None if self.growth.lookahead or self.growth.oblique else self.encoded(outcome)
        if encoded is None:
            in_first = assign_folds(self.rows, self.target, 2) == 0
            return self.take(in_first), self.take(~in_first)
        data, rows = encoded
        one, other = (replace(data, source=RowHistograms(rows.half(which), data.layout(outcome))) for which in (0, 1))
        return one, other

    def encoded(self, outcome: Outcome) -> tuple[HistogramData, EncodedRows] | None:
        """The rows with `max_bins` as at any source; None without, and where a column has too many codes."""
        grids = self.target.grids
        if grids is None or self._codes.max(initial=0) >= _MAX_CODES:
            return None
        rows, bins = self._encode_rows(outcome), self.bins
        layout = CodeLayout.of(bins, n_classes_of(outcome), grids, self.growth.n_threads)
        sample_size = SampleSize(len(self), self.target.total_weight())
        data = HistogramData(RowHistograms(rows, layout), self.schema, bins, grids, sample_size, self.growth)
        return data, rows

    def sample(self, outcome: Outcome) -> TableData:
        """All rows; with `max_bins` a few thousand, the same ones as at any source."""
        grids = self.target.grids
        if grids is None:
            return self
        sample = self._encode_rows(outcome).sample(n_sample_shares(len(self)))
        return data_of_sample(sample, self.bins, self.schema, grids, self.growth)

    def coded_rows(self) -> Rows:
        """The rows as positions of their values among those of the column: units and constant columns do not count."""
        if sparse.issparse(self.rows.matrix) and np.prod(self.rows.matrix.shape) > _MOST_CODES:
            return self.rows
        codes = np.empty((len(self.rows), self.columns.n_columns), order="F")
        for feature in range(self.columns.n_columns):
            codes[:, feature] = np.asarray(self.columns.codes(feature))
        return Rows(codes)

    def size(self) -> tuple[tuple[int, int], float, str]:
        """The shape of the table, the total weight of its rows, and its hash."""
        hash_of_table = fingerprint(self.rows, self.target, self.growth.n_threads)
        return self.rows.matrix.shape, self.target.total_weight(), hash_of_table

    @cached_property
    def bins(self) -> tuple[ColumnBins, ...]:
        """The bins of the columns."""
        return bins_of_columns(self.columns, self.rows)

    @cached_property
    def _codes(self) -> AnyArray:
        """The codes of all columns, of shape (n_rows, n_columns)."""
        return np.stack([np.asarray(self.columns.codes(f)) for f in range(self.columns.n_columns)], axis=1)

    def _encode_rows(self, outcome: Outcome) -> EncodedRows:
        """The rows as codes and fixed-point targets."""
        codes = self._codes
        if codes.max(initial=0) < _MAX_CODES:
            codes = codes.astype(np.uint8 if codes.max(initial=0) < 256 else np.uint16)
        numbers = np.stack(fixed_point_outcome(outcome).fixed_point_rows(self.target), axis=1)
        weight = None if self.target.weight is None else integer_weight(self.target)
        return EncodedRows(codes, np.ascontiguousarray(numbers, dtype=np.int64), weight)


def data_of_sample(
    sample: EncodedRows, bins: tuple[ColumnBins, ...], schema: Schema, grids: Grids, growth: Growth
) -> TableData:
    """The rows of a sample as a table, each value at the midpoint of its bin."""
    y = sample.numbers[:, 0] if grids.y is None else grids.y.value(sample.numbers[:, 0])
    weight = None if sample.weight is None or grids.weight is None else grids.weight.value(sample.weight)
    return TableData(Rows(sample.matrix(bins)), schema, Target(y, weight, grids=grids), growth)
