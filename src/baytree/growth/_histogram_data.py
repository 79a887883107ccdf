"""Training data at a source: the source adds up its rows in histograms, and the compiled core grows the tree."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np

from .. import _core
from .._typing import BoolArray, IntArray
from ..outcomes import Family, Grids, Outcome, SampleSize, Target, fixed_point_outcome
from ..table import Schema
from ..tree import TreeStore
from ._binning import ColumnBins
from ._encoded_rows import EncodedRows, n_sample_shares
from ._grower import read_tree, replace_scores, score_tree
from ._histograms import WAITING, ClassHistograms, Histograms, Routes, Subtraction, routes_to
from ._missing import LevelCounts, count_missing, encoded_rows_without
from ._same_rows import NodeTotals
from ._settings import Growth
from ._training_data import LeafSums

if TYPE_CHECKING:
    from ._table_data import TableData

_MAX_BYTES = 2**28  # size of the histograms of one pass over the rows
_BYTES_PER_SUM = 16


class HistogramSource(Protocol):
    """Encoded rows at a source, which gives their histograms."""

    def rows_in_memory(self) -> EncodedRows | None:
        """All rows, if they are in the memory of this machine."""

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """The histograms of the open nodes."""

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sum of the logs of factors in each open node."""


@runtime_checkable
class DivisibleSource(HistogramSource, Protocol):
    """A source that can divide its rows by their hashes."""

    def halves(self) -> tuple[HistogramSource, HistogramSource]:
        """Two halves of the rows."""

    def sample(self, n_shares: int) -> EncodedRows:
        """One of `n_shares` shares of the rows."""


# A callback after each level, with its depth and the numbers of its open nodes and their rows.
OnLevel = Callable[[int, int, int], None]


@dataclass(frozen=True, eq=False)
class HistogramData:
    """Rows of a source as codes and fixed-point targets."""

    source: HistogramSource
    schema: Schema
    bins: tuple[ColumnBins, ...]
    grids: Grids
    sample_size: SampleSize
    growth: Growth
    totals: tuple[int, ...] = ()
    on_level: OnLevel | None = None

    @property
    def is_nominal(self) -> BoolArray:
        """Which columns are unordered categories."""
        return self.schema.is_nominal

    def numbers_of_columns(self) -> list[tuple[float, float, bool]]:
        """The ends of the first and the last bin of each column, and whether the ends of all bins are integers."""
        return [column.numbers for column in self.bins]

    def __len__(self) -> int:
        return self.sample_size.n_rows

    def total_weight(self) -> float:
        """The sum of the weights."""
        return self.sample_size.weight

    def grow(self, outcome: Outcome, *, factors: bool = True) -> TreeStore:
        """Grow the tree of an outcome; `factors` includes the logs of factors that no split changes."""
        rows = self.source.rows_in_memory()
        if rows is not None:
            if self.on_level is not None:
                self.on_level(0, 1, len(rows))
            return self._grow_in_memory(rows, outcome)
        nodes = self._grow_levels(outcome)
        tree = read_tree(nodes, outcome, self.growth)
        if factors and outcome.has_factor:
            tree = read_tree(self._add_factors(nodes, tree, outcome), outcome, self.growth)
        return tree

    def score(self, tree: TreeStore, outcome: Outcome) -> TreeStore:
        """Compute the posteriors, priors and odds of the nodes of a given tree from these rows."""
        rows = self.source.rows_in_memory()
        if rows is not None:
            scored = score_tree(tree, *self._columns_and_target(rows, outcome), outcome, self.growth)
            return self.count_missing(scored)
        nodes = self._grow_levels(outcome, tree)
        if outcome.has_factor:
            nodes = self._add_factors(nodes, tree, outcome)
        return replace(replace_scores(tree, nodes, outcome, self.growth), n_missing=_known(nodes["n_missing"]))

    def target_for_prior(self, family: Family, prior: Any) -> Target:  # noqa: ARG002
        """A few rows that lead to the same prior as all; invalid values were refused when they were read."""
        return family.fixed_point.summary(list(self.totals), self.grids)

    def leaf_sums(self, tree: TreeStore, outcome: Outcome) -> LeafSums:
        """The sums of statistics in the leaves of a tree."""
        totals, n_rows, codes = [], [], self.bins[0].n_codes
        for routes in self._leaf_routes(tree, outcome):
            histograms = self.source.histograms(routes)
            sums = histograms.totals(codes)
            if outcome.has_factor:
                sums[:, -1] = self.source.factors(outcome, routes)
            totals.append(sums)
            n_rows.append(histograms.n_rows(slice(codes)).sum(axis=1))
        statistics = fixed_point_outcome(outcome).statistics_of_sums(np.concatenate(totals), self.grids)
        return LeafSums(statistics, np.concatenate(n_rows))

    def halves(self, outcome: Outcome) -> tuple[Self, Self]:  # noqa: ARG002
        """Two halves of the rows."""
        one, other = self._divisible_source.halves()
        return replace(self, source=one, totals=()), replace(self, source=other, totals=())

    def sample(self, outcome: Outcome) -> TableData:  # noqa: ARG002
        """A few thousand rows in memory."""
        from ._table_data import data_of_sample  # noqa: PLC0415

        sample = self._divisible_source.sample(n_sample_shares(self.sample_size.n_rows))
        return data_of_sample(sample, self.bins, self.schema, self.grids, self.growth)

    def size(self) -> tuple[tuple[int, int], float, str]:
        """The shape of the table, the total weight of its rows, and its hash, which is the same at every source."""
        digest = hashlib.sha256(repr(list(self.totals)).encode())
        for bins in self.bins:
            digest.update(bins.lows.tobytes() + bins.highs.tobytes())
        return (self.sample_size.n_rows, len(self.bins)), self.sample_size.weight, digest.hexdigest()

    @property
    def _divisible_source(self) -> DivisibleSource:
        if not isinstance(self.source, DivisibleSource):
            raise TypeError("Half of a source cannot be divided again.")
        return self.source

    def _grow_levels(self, outcome: Outcome, tree: TreeStore | None = None) -> dict[str, Any]:
        """Grow a tree level by level, or score a given one; returns the nodes."""
        levels, depth, at_once = self._new_levels(outcome, tree), 0, 1
        first = np.cumsum([0, *(bins.n_codes for bins in self.bins)])
        subtraction, n_threads = Subtraction(first), self.growth.n_threads
        node_totals = NodeTotals.of_table(first, self.sample_size.n_rows, self.totals)
        missing = LevelCounts(first, [bins.has_missing for bins in self.bins])
        while len(levels.open):
            chosen, n_open = levels.open[:at_once], len(levels.open)
            counted = subtraction.nodes_to_count(chosen)
            histograms = self.source.histograms(_open_routes(levels, counted))
            node_totals.check(histograms, counted)
            if isinstance(histograms, ClassHistograms):
                histograms = subtraction.complete(histograms, counted, chosen)
            if self.on_level is not None:
                self.on_level(depth, n_open, int(histograms.n_rows(slice(first[1])).sum()))
            if isinstance(histograms, ClassHistograms):
                levels.grow(histograms.weights, histograms.rows, n_threads)
            else:
                levels.grow(histograms.rows, histograms.sums, histograms.low, histograms.high, n_threads)
            routes = _open_routes(levels, levels.open)
            node_totals.expect_of_children(histograms, chosen, routes)
            if isinstance(histograms, ClassHistograms):
                subtraction.add_parents(histograms, chosen, routes)
            missing.add(chosen, histograms.n_rows, levels.routes()["feature"])
            at_once = max(1, _MAX_BYTES * len(chosen) // histograms.n_bytes)
            depth += 1
        routes = levels.routes()
        nodes: dict[str, Any] = levels.tree(len(self.bins))
        return nodes | {"n_missing": missing.depth_first(routes["feature"], routes["lower"], routes["upper"])}

    def _grow_in_memory(self, rows: EncodedRows, outcome: Outcome) -> TreeStore:
        """Grow the tree as for a table in memory."""
        columns, target, growth = *self._columns_and_target(rows, outcome), self.growth
        nodes = _core.grow(
            columns,
            target,
            outcome.core_prior().tolist(),
            growth.settings(),
            growth.look_ahead(),
            growth.engine.subtree_rows,
            growth.n_threads,
        )
        return self.count_missing(read_tree(nodes, outcome, growth))

    def count_missing(self, tree: TreeStore) -> TreeStore:
        """Count the rows that lack the feature of each split, if the rows are in memory."""
        rows = self.source.rows_in_memory()
        without = None if rows is None else partial(encoded_rows_without, rows, self.bins)
        return replace(tree, n_missing=None) if without is None else count_missing(tree, without)

    def _columns_and_target(self, rows: EncodedRows, outcome: Outcome) -> tuple[_core.Columns, Any]:
        """Convert encoded rows for the compiled core, as a table in memory."""
        columns = _core.columns_of_codes(rows.codes, *self._core_columns())
        factor = rows.factor(outcome, self.grids)
        numbers = [np.ascontiguousarray(column) for column in rows.numbers.T]
        if len(numbers) > 1:
            numbers.append(np.zeros(len(rows), dtype=np.int64) if factor is None else factor)
        return columns, fixed_point_outcome(outcome).fixed_point_core(
            numbers, rows.weight, self.grids, self.sample_size
        )

    def _core_columns(self) -> tuple[Any, list[bool], list[bool], bool]:
        """Describe the columns for the compiled core."""
        return (
            [(bins.lows, bins.highs) for bins in self.bins],
            [bins.has_missing for bins in self.bins],
            self.is_nominal.tolist(),
            self.growth.partition_prior.location == "distance",
        )

    def _new_levels(self, outcome: Outcome, tree: TreeStore | None) -> Any:
        columns = _core.columns_without_rows(*self._core_columns())
        empty = np.zeros(0, dtype=np.int64)
        core = fixed_point_outcome(outcome).fixed_point_core(
            [empty, empty, empty], None if self.grids.weight is None else empty, self.grids, self.sample_size
        )
        prior, settings = outcome.core_prior().tolist(), self.growth.settings()
        given = None if tree is None else tree.routing.for_scoring()
        return _core.levels(columns, core, prior, settings, self.grids.weight_unit, given)

    def _add_factors(self, nodes: dict[str, Any], tree: TreeStore, outcome: Outcome) -> dict[str, Any]:
        """Add the logs of factors that no split changes to the statistics of nodes."""
        statistics = nodes["statistics"].copy()
        statistics[:, -1] = self._factors_of(tree, outcome)
        return nodes | {"statistics": statistics}

    def _factors_of(self, tree: TreeStore, outcome: Outcome) -> list[float]:
        """The sum of the logs of factors in each node; the source gives those of the leaves."""
        sums: list[int] = [0] * tree.node_count
        leaves = np.flatnonzero(tree.is_leaf).tolist()
        leaf_sums = [
            factor for routes in self._leaf_routes(tree, outcome) for factor in self.source.factors(outcome, routes)
        ]
        for leaf, factor in zip(leaves, leaf_sums, strict=True):
            sums[leaf] = factor
        for node in reversed(tree.internal_nodes.tolist()):  # children come after their parents
            sums[node] = sums[int(tree.children_left[node])] + sums[int(tree.children_right[node])]
        unit = fixed_point_outcome(outcome).factor_unit(self.grids) * self.grids.weight_unit
        return [float(total) * unit for total in sums]

    def _leaf_routes(self, tree: TreeStore, outcome: Outcome) -> Iterator[Routes]:
        """Routes to the leaves of a tree, in batches whose histograms fit into memory."""
        n_bytes = sum(bins.n_codes for bins in self.bins) * (len(outcome.prior) + 4) * _BYTES_PER_SUM
        leaves = np.flatnonzero(tree.is_leaf)
        return routes_to(tree, self.bins, leaves, max(1, _MAX_BYTES // n_bytes))


def _open_routes(levels: Any, chosen: IntArray) -> Routes:
    routes = levels.routes()
    number = np.full(len(routes["feature"]), -1, dtype=np.int32)
    number[levels.open] = WAITING
    number[chosen] = np.arange(len(chosen))
    return Routes(**routes, open=number, n_open=len(chosen))


def _known(counts: IntArray) -> IntArray | None:
    """Counts of missing values; None where no split has any."""
    return counts if counts.any() else None
