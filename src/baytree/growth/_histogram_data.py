"""Training data at a source: the source adds up its rows in histograms, and the compiled core grows the tree."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np

from .. import _core
from .._typing import BoolArray, IntArray
from ..outcomes import Family, Grids, Outcome, SampleSize, Target, fixed_point_outcome
from ..table import Schema
from ..tree import Outline, TreeStore, structure_of
from ._binning import ColumnBins
from ._encoded_rows import CodeLayout, EncodedRows, n_sample_shares
from ._grower import grow_below, read_tree, replace_scores, score_tree, settle_given, space_of_prunings
from ._histograms import WAITING, ClassHistograms, Histograms, Routes, Subtraction, routes_to
from ._machine import half_of_memory
from ._missing import LevelCounts, count_missing, encoded_parts_without
from ._row_keys import KeyedInMemory, KeyedParts, with_keys
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


class LevelPass(NamedTuple):
    """What a tree that grows asks of the next pass over the rows: histograms, or the logs of factors of an outcome."""

    routes: Routes
    outcome: Outcome | None = None


# A tree that grows level by level: it yields what it asks for and is sent the answer; at the end it returns its nodes.
Levels: TypeAlias = Generator[LevelPass, Any, dict[str, Any]]


@runtime_checkable
class DivisibleSource(HistogramSource, Protocol):
    """A source that can divide its rows by their hashes."""

    def halves(self) -> tuple[HistogramSource, HistogramSource]:
        """Two halves of the rows."""

    def sample(self, n_shares: int) -> EncodedRows:
        """One of `n_shares` shares of the rows."""


@runtime_checkable
class KeyedSource(Protocol):
    """A source that gives its rows their keys where they are."""

    def keyed(self) -> KeyedParts:
        """The rows with their keys."""


# A callback after each level, which is given what has been grown.
OnLevel = Callable[[str], None]


class ForestMember(NamedTuple):
    """What the core knows of a tree of a forest: what it draws features by, and how much more its rows count."""

    seed: int
    tree: int
    n_features: int
    row_factor: tuple[float, float]  # as planned, and of the rows of the tree


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
    member: ForestMember | None = None  # the tree of a forest that these rows are for

    @property
    def is_nominal(self) -> BoolArray:
        """Which columns are unordered categories."""
        return self.schema.is_nominal

    def with_growth(self, growth: Growth) -> Self:
        """Return the rows with other settings, which do not change how columns are encoded."""
        return replace(self, growth=growth)

    def layout(self, outcome: Outcome) -> CodeLayout:
        """The layout of histograms of an outcome."""
        return CodeLayout.of(self.bins, n_classes_of(outcome), self.grids, self.growth.n_threads)

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
        if self.growth.forced is not None:
            return self.grow_below(self.growth.forced.outline, outcome, factors=factors)
        rows = self.source.rows_in_memory()
        if rows is not None:
            if self.on_level is not None:
                self.on_level(_level_text(0, 1, len(rows)))
            return self._grow_in_memory(rows, outcome)
        nodes = self._answer(self.levels(outcome, factors=factors and outcome.has_factor))
        return read_tree(nodes, outcome, self.growth)

    def prunings(self, outcome: Outcome) -> TreeStore:
        """The tree space of the tree of an outcome and its prunings."""
        return space_of_prunings(self.grow(outcome))

    def score(self, tree: TreeStore, outcome: Outcome) -> TreeStore:
        """Compute the posteriors, priors and odds of the nodes of a given tree from these rows."""
        rows = self.source.rows_in_memory()
        if rows is not None:
            scored = score_tree(tree, *self._columns_and_target(rows, outcome), outcome, self.growth)
            return self.count_missing(scored)
        nodes = self._answer(self.levels(outcome, tree, tree.routing.for_scoring(), factors=outcome.has_factor))
        return replace(replace_scores(tree, nodes, outcome, self.growth), n_missing=_known(nodes["n_missing"]))

    def grow_below(self, outline: Outline, outcome: Outcome, *, factors: bool = True) -> TreeStore:
        """Score an outline on these rows, and grow the tree where the outline asks for it."""
        rows = self.source.rows_in_memory()
        if rows is not None:
            grown = grow_below(outline, *self._columns_and_target(rows, outcome), outcome, self.growth)
            return settle_given(self.count_missing(grown))
        structure = structure_of(outline, len(self.bins), outcome)
        nodes = self._answer(self.levels(outcome, structure=structure, factors=factors and outcome.has_factor))
        return settle_given(read_tree(nodes, outcome, self.growth))

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

    def keyed(self) -> KeyedParts:
        """The rows with their keys, at the source; one that cannot give them sends its encoded rows here."""
        if isinstance(self.source, KeyedSource):
            return self.source.keyed()
        n_bytes = len(self) * (len(self.bins) + 4) * 8
        if n_bytes > half_of_memory():
            raise ValueError(
                f"A forest needs the encoded rows of a database in memory, here {n_bytes / 2**30:.1f} GB, and half of "
                "the memory of this machine is less: write the table to Parquet files and fit these, or fit a tree."
            )
        rows = self._divisible_source.sample(1)
        dtype = np.uint8 if max(bins.n_codes for bins in self.bins) <= 256 else np.uint16
        return KeyedInMemory(with_keys(replace(rows, codes=rows.codes.astype(dtype))))

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

    def _answer(self, levels: Levels) -> dict[str, Any]:
        """Let the source answer what a tree asks for, until it is grown."""
        try:
            request = next(levels)
            while True:
                if request.outcome is None:
                    request = levels.send(self.source.histograms(request.routes))
                else:
                    request = levels.send(self.source.factors(request.outcome, request.routes))
        except StopIteration as end:
            nodes: dict[str, Any] = end.value
            return nodes

    def levels(
        self,
        outcome: Outcome,
        tree: TreeStore | None = None,
        structure: _core.TreeStructure | None = None,
        *,
        factors: bool,
        max_bytes: int = _MAX_BYTES,
    ) -> Levels:
        """Grow a tree level by level, or what a structure gives, by what is sent in answer to what is asked for.

        `tree` is the tree of the structure, where nothing grows below it.
        """
        levels, depth, at_once = self._new_levels(outcome, structure), 0, 1
        first = np.cumsum([0, *(bins.n_codes for bins in self.bins)])
        subtraction, n_threads = Subtraction(first), self.growth.n_threads
        node_totals = NodeTotals.of_table(first, self.sample_size.n_rows, self.totals)
        missing = LevelCounts(first, [bins.has_missing for bins in self.bins])
        while len(levels.open):
            chosen, n_open = levels.open[:at_once], len(levels.open)
            counted = subtraction.nodes_to_count(chosen)
            histograms = yield LevelPass(_open_routes(levels, counted))
            node_totals.check(histograms, counted)
            if isinstance(histograms, ClassHistograms):
                histograms = subtraction.complete(histograms, counted, chosen)
            if self.on_level is not None:
                self.on_level(_level_text(depth, n_open, int(histograms.n_rows(slice(first[1])).sum())))
            if isinstance(histograms, ClassHistograms):
                levels.grow(histograms.weights, histograms.rows, n_threads)
            else:
                levels.grow(histograms.rows, histograms.sums, histograms.low, histograms.high, n_threads)
            routes = _open_routes(levels, levels.open)
            node_totals.expect_of_children(histograms, chosen, routes)
            if isinstance(histograms, ClassHistograms):
                subtraction.add_parents(histograms, chosen, routes)
            missing.add(chosen, histograms.n_rows, levels.routes()["feature"])
            at_once = max(1, max_bytes * len(chosen) // histograms.n_bytes)
            depth += 1
        routes = levels.routes()
        nodes: dict[str, Any] = levels.tree(len(self.bins))
        nodes["n_missing"] = missing.depth_first(routes["feature"], routes["lower"], routes["upper"])
        if factors:
            whole = tree or read_tree(nodes, outcome, self.growth)
            nodes = yield from self._with_factors(nodes, whole, outcome)
        return nodes

    def _grow_in_memory(self, rows: EncodedRows, outcome: Outcome) -> TreeStore:
        return self.count_missing(read_tree(self.nodes_of_rows(rows, outcome), outcome, self.growth))

    def nodes_of_rows(self, rows: EncodedRows, outcome: Outcome) -> dict[str, Any]:
        """Grow the tree of these rows as for a table in memory; returns its nodes."""
        columns, target, growth = *self._columns_and_target(rows, outcome), self.growth
        nodes: dict[str, Any] = _core.grow(
            columns,
            target,
            outcome.core_prior().tolist(),
            self._settings(),
            growth.look_ahead(),
            growth.engine.subtree_rows,
            growth.n_threads,
        )
        return nodes

    def _settings(self) -> _core.Settings:
        """The settings of growth for the compiled core."""
        settings = self.growth.settings()
        if self.member is not None:
            settings.set_row_factor(*self.member.row_factor)
            if self.member.n_features < len(self.bins):
                settings.draw_features(self.member.seed, self.member.tree, self.member.n_features)
        return settings

    def count_missing(self, tree: TreeStore) -> TreeStore:
        """Count the rows that lack the feature of each split, if the rows are in memory."""
        rows = self.source.rows_in_memory()
        if rows is None:
            return replace(tree, n_missing=None)
        return count_missing(tree, partial(encoded_parts_without, rows, self.bins), self.growth.n_threads)

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

    def _new_levels(self, outcome: Outcome, structure: _core.TreeStructure | None) -> Any:
        columns = _core.columns_without_rows(*self._core_columns())
        empty = np.zeros(0, dtype=np.int64)
        core = fixed_point_outcome(outcome).fixed_point_core(
            [empty, empty, empty], None if self.grids.weight is None else empty, self.grids, self.sample_size
        )
        prior, settings = outcome.core_prior().tolist(), self._settings()
        return _core.levels(columns, core, prior, settings, self.grids.weight_unit, structure)

    def _with_factors(self, nodes: dict[str, Any], tree: TreeStore, outcome: Outcome) -> Levels:
        """Add the logs of factors that no split changes to the statistics of nodes, from those of the leaves."""
        sums: list[int] = [0] * tree.node_count
        leaf_sums: list[int] = []
        for routes in self._leaf_routes(tree, outcome):
            leaf_sums += yield LevelPass(routes, outcome)
        for leaf, factor in zip(np.flatnonzero(tree.is_leaf).tolist(), leaf_sums, strict=True):
            sums[leaf] = factor
        for node in reversed(tree.internal_nodes.tolist()):  # children come after their parents
            sums[node] = sums[int(tree.children_left[node])] + sums[int(tree.children_right[node])]
        unit = fixed_point_outcome(outcome).factor_unit(self.grids) * self.grids.weight_unit
        statistics = nodes["statistics"].copy()
        statistics[:, -1] = [float(total) * unit for total in sums]
        return nodes | {"statistics": statistics}

    def _leaf_routes(self, tree: TreeStore, outcome: Outcome) -> Iterator[Routes]:
        """Routes to the leaves of a tree, in batches whose histograms fit into memory."""
        n_bytes = sum(bins.n_codes for bins in self.bins) * (len(outcome.prior) + 4) * _BYTES_PER_SUM
        leaves = np.flatnonzero(tree.is_leaf)
        return routes_to(tree, self.bins, leaves, max(1, _MAX_BYTES // n_bytes))


def _level_text(depth: int, n_open: int, n_rows: int) -> str:
    return f"Level {depth + 1}: {n_open:,} open nodes, {n_rows:,} rows"


def n_classes_of(outcome: Outcome) -> int:
    """The number of classes in histograms; 0 for numbers."""
    return len(outcome.prior) if outcome.predicts_classes else 0


def _open_routes(levels: Any, chosen: IntArray) -> Routes:
    routes = levels.routes()
    number = np.full(len(routes["feature"]), -1, dtype=np.int32)
    number[levels.open] = WAITING
    number[chosen] = np.arange(len(chosen))
    return Routes(**routes, open=number, n_open=len(chosen))


def _known(counts: IntArray) -> IntArray | None:
    """Counts of missing values; None where no split has any."""
    return counts if counts.any() else None
