"""Growth by histograms: a source adds up its rows by open node, feature and code; the compiled core decides."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np

from .. import _core
from .._typing import BoolArray, IntArray
from ..outcomes import Extent, Family, Grids, Outcome, Target, fixed_point_outcome
from ..table import Schema
from ..tree import TreeStore
from ._encoded_rows import EncodedRows
from ._grow import read_tree, score_tree, with_scores
from ._histograms import WAITS, ClassHistograms, ColumnBins, Histograms, Routes, routes_of
from ._sample import Sample, n_shares
from ._settings import Growth
from ._siblings import Siblings
from ._training_data import LeafSums

if TYPE_CHECKING:
    from ._table_data import TableData

_MOST_BYTES = 2**28  # of the histograms of one pass over the rows
_BYTES_OF_A_NUMBER = 16


class HistogramSource(Protocol):
    """Encoded rows somewhere, of which histograms are known."""

    def kept(self) -> EncodedRows | None:
        """All rows, where they are at hand; None: nothing but their histograms is known."""

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """The histograms of the open nodes."""

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sum of the logs of factors over the rows of each open node."""


@runtime_checkable
class DividedSource(HistogramSource, Protocol):
    """One that can be divided by what is in its rows."""

    def halves(self) -> tuple[HistogramSource, HistogramSource]:
        """Two halves of the rows; `marks_of` a row gives its half."""

    def sample(self, shares: int) -> Sample:
        """The rows whose marks are in the first of so many shares."""


# Is called after each level with its depth, the number of open nodes and of rows.
OnLevel = Callable[[int, int, int], None]


@dataclass(frozen=True, eq=False)
class HistogramData:
    """Rows of a source whose columns and whole numbers are settled."""

    source: HistogramSource
    schema: Schema
    bins: tuple[ColumnBins, ...]
    grids: Grids
    extent: Extent
    growth: Growth
    totals: tuple[int, ...] = ()
    on_level: OnLevel | None = None

    @property
    def is_nominal(self) -> BoolArray:
        """Which columns are categories without an order."""
        return self.schema.is_nominal

    def __len__(self) -> int:
        return self.extent.n_rows

    def grow(self, outcome: Outcome, *, factors: bool = True) -> TreeStore:
        """Grow the tree; the logs of factors that no partition changes are added at the end, if they are wanted."""
        kept = self.source.kept()
        if kept is not None:
            if self.on_level is not None:
                self.on_level(0, 1, len(kept))
            return self._grow_kept(kept, outcome)
        nodes = self._grow_levels(outcome)
        tree = read_tree(nodes, outcome, self.growth)
        if not factors or not outcome.has_factor:
            return tree
        return read_tree(self._with_factors(nodes, tree, outcome), outcome, self.growth)

    def score(self, tree: TreeStore, outcome: Outcome) -> TreeStore:
        """A given tree with the posteriors, priors and odds that these rows give its nodes."""
        kept = self.source.kept()
        if kept is not None:
            return score_tree(tree, *self._columns_and_target(kept, outcome), outcome, self.growth)
        nodes = self._grow_levels(outcome, tree)
        if outcome.has_factor:
            nodes = self._with_factors(nodes, tree, outcome)
        return with_scores(tree, nodes, outcome, self.growth)

    def target_for_prior(self, family: Family, prior: Any) -> Target:  # noqa: ARG002
        """A few rows that have the same prior as all; wrong values were refused when they were read."""
        return family.fixed_point.summary(list(self.totals), self.grids)

    def leaf_sums(self, tree: TreeStore, outcome: Outcome) -> LeafSums:
        """What the rows add up to in the leaves of a tree."""
        whole, n_rows, codes = [], [], self.bins[0].n_codes
        for routes in self._leaf_routes(tree, outcome):
            part = self.source.histograms(routes)
            sums = part.sums_of(codes)
            if outcome.has_factor:
                sums[:, -1] = self.source.factors(outcome, routes)
            whole.append(sums)
            n_rows.append(part.n_rows(slice(codes)).sum(axis=1))
        statistics = fixed_point_outcome(outcome).statistics_of_sums(np.concatenate(whole), self.grids)
        return LeafSums(statistics, np.concatenate(n_rows))

    def halves(self, outcome: Outcome) -> tuple[Self, Self]:  # noqa: ARG002
        """Two halves of the rows."""
        one, other = self._divided.halves()
        return replace(self, source=one), replace(self, source=other)

    def sample(self, outcome: Outcome) -> TableData:  # noqa: ARG002
        """Some thousand rows in memory."""
        from ._table_data import data_of_sample  # noqa: PLC0415

        sample = self._divided.sample(n_shares(self.extent.n_rows))
        return data_of_sample(sample, self.bins, self.schema, self.grids, self.growth)

    def size(self) -> tuple[tuple[int, int], float, str]:
        """Rows and columns, the total weight of the rows, and a hash of the table, the same at every source."""
        digest = hashlib.sha256(repr(list(self.totals)).encode())
        for bins in self.bins:
            digest.update(bins.lows.tobytes() + bins.highs.tobytes())
        return (self.extent.n_rows, len(self.bins)), self.extent.weight, digest.hexdigest()

    @property
    def _divided(self) -> DividedSource:
        if not isinstance(self.source, DividedSource):
            raise TypeError("Half of a source is not divided again.")
        return self.source

    def _grow_levels(self, outcome: Outcome, given: TreeStore | None = None) -> dict[str, Any]:
        """The nodes of the tree that grows, or of a given one, level by level."""
        levels, depth, at_once = self._start(outcome, given), 0, 1
        first = np.cumsum([0, *(bins.n_codes for bins in self.bins)])
        siblings, n_threads = Siblings(first), self.growth.n_threads
        while len(levels.open):
            chosen, n_open = levels.open[:at_once], len(levels.open)
            asked = siblings.asked(chosen)
            part = self.source.histograms(_open_routes(levels, asked))
            if isinstance(part, ClassHistograms):
                part = siblings.complete(part, asked, chosen)
            if self.on_level is not None:
                self.on_level(depth, n_open, int(part.n_rows(slice(first[1])).sum()))
            if isinstance(part, ClassHistograms):
                levels.grow(part.weights, part.rows, n_threads)
                siblings.keep(part, chosen, _open_routes(levels, levels.open))
            else:
                levels.grow(part.rows, part.sums, part.low, part.high, n_threads)
            at_once = max(1, _MOST_BYTES * len(chosen) // part.n_bytes)
            depth += 1
        nodes: dict[str, Any] = levels.tree(len(self.bins))
        return nodes

    def _grow_kept(self, rows: EncodedRows, outcome: Outcome) -> TreeStore:
        """Grow the tree as that of a table in memory."""
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
        return read_tree(nodes, outcome, growth)

    def _columns_and_target(self, rows: EncodedRows, outcome: Outcome) -> tuple[_core.Columns, Any]:
        """Encoded rows as the compiled core reads a table in memory."""
        columns = _core.columns_of_codes(rows.codes, *self._columns())
        factor = rows.factor(outcome, self.grids)
        numbers = [np.ascontiguousarray(column) for column in rows.numbers.T]
        if len(numbers) > 1:
            numbers.append(np.zeros(len(rows), dtype=np.int64) if factor is None else factor)
        return columns, fixed_point_outcome(outcome).fixed_point_core(numbers, rows.weight, self.grids, self.extent)

    def _columns(self) -> tuple[Any, list[bool], list[bool], bool]:
        """What the compiled core wants to know of the columns."""
        return (
            [(bins.lows, bins.highs) for bins in self.bins],
            [bins.has_missing for bins in self.bins],
            self.is_nominal.tolist(),
            self.growth.partition_prior.location == "distance",
        )

    def _start(self, outcome: Outcome, given: TreeStore | None) -> Any:
        columns = _core.columns_without_rows(*self._columns())
        none = np.zeros(0, dtype=np.int64)
        core = fixed_point_outcome(outcome).fixed_point_core(
            [none, none, none], None if self.grids.weight is None else none, self.grids, self.extent
        )
        prior, settings = outcome.core_prior().tolist(), self.growth.settings()
        of_tree = None if given is None else given.routing.for_scoring()
        return _core.levels(columns, core, prior, settings, self.grids.weight_unit, of_tree)

    def _with_factors(self, nodes: dict[str, Any], tree: TreeStore, outcome: Outcome) -> dict[str, Any]:
        """Nodes with the logs of factors that no partition changes."""
        statistics = nodes["statistics"].copy()
        statistics[:, -1] = self._factors_of(tree, outcome)
        return nodes | {"statistics": statistics}

    def _factors_of(self, tree: TreeStore, outcome: Outcome) -> list[float]:
        """The sums of the factors of each node, of which a source tells those of leaves."""
        sums: list[int] = [0] * tree.node_count
        leaves = np.flatnonzero(tree.is_leaf).tolist()
        found = [
            factor for routes in self._leaf_routes(tree, outcome) for factor in self.source.factors(outcome, routes)
        ]
        for leaf, factor in zip(leaves, found, strict=True):
            sums[leaf] = factor
        for node in reversed(tree.internal_nodes.tolist()):  # children come behind their parents
            sums[node] = sums[int(tree.children_left[node])] + sums[int(tree.children_right[node])]
        unit = fixed_point_outcome(outcome).factor_unit(self.grids) * self.grids.weight_unit
        return [float(total) * unit for total in sums]

    def _leaf_routes(self, tree: TreeStore, outcome: Outcome) -> Iterator[Routes]:
        """Routes to the leaves of a tree, some at a time, so that their histograms fit into memory."""
        n_bytes = sum(bins.n_codes for bins in self.bins) * (len(outcome.prior) + 4) * _BYTES_OF_A_NUMBER
        leaves = np.flatnonzero(tree.is_leaf)
        return routes_of(tree, self.bins, leaves, max(1, _MOST_BYTES // n_bytes))


def _open_routes(levels: Any, chosen: IntArray) -> Routes:
    routes = levels.routes()
    number = np.full(len(routes["feature"]), -1, dtype=np.int32)
    number[levels.open] = WAITS
    number[chosen] = np.arange(len(chosen))
    return Routes(**routes, open=number, n_open=len(chosen))
