"""Growth of rows that live elsewhere: a source answers with sums, the compiled core decides, level by level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .. import _core
from .._typing import BoolArray, IntArray
from ..outcomes import Extent, Grids, Outcome, whole_outcome
from ..tree import Tree
from ._grow import read_tree
from ._settings import Growth
from ._siblings import Siblings
from ._sums import WAITS, ClassSums, ColumnBins, Routes, Sums
from ._whole_rows import EncodedRows

_MOST_BYTES = 2**28  # of the sums of one look at the rows


class SumSource(Protocol):
    """Rows that live somewhere."""

    def kept(self) -> EncodedRows | None:
        """All rows, where they are at hand; None: nothing but their sums is known."""

    def sums(self, routes: Routes) -> Sums | ClassSums:
        """The sums of the open nodes."""

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sum of the logs of factors over the rows of each open node."""


class DividedSource(SumSource, Protocol):
    """The same, and its halves."""

    def halves(self) -> tuple[SumSource, SumSource]:
        """Two halves of the rows; `marks_of` a row tells in which it is."""


# Is told of the levels: depth, open nodes, rows looked at.
Tell = Callable[[int, int, int], None]


@dataclass(frozen=True)
class Elsewhere:
    """A source whose columns and whole numbers are settled."""

    source: SumSource
    bins: tuple[ColumnBins, ...]
    is_nominal: BoolArray
    grids: Grids
    extent: Extent

    def grow(self, outcome: Outcome, growth: Growth, tell: Tell | None = None, *, factors: bool = True) -> Tree:
        """Grow the tree; the logs of factors that no partition changes are added at the end, if they are wanted."""
        kept = self.source.kept()
        if kept is not None:
            if tell is not None:
                tell(0, 1, len(kept))
            return self._grow_kept(kept, outcome, growth)
        levels = self._grown(outcome, growth, tell)
        nodes = levels.tree(len(self.bins))
        if factors and outcome.has_factor:
            self._add_factors(nodes, levels, outcome)
        return read_tree(nodes, outcome, growth)

    def held_out(
        self, outcome: Outcome, growth: Growth, other: SumSource, scales: list[float], tell: Tell | None = None
    ) -> tuple[float, float]:
        """The log probability of other rows, given the tree of these, and their weight.

        The scales make statistics of sums of whole numbers: of weights, numbers and factors.
        """
        levels = self._grown(outcome, growth, tell)
        routes = levels.routes()
        leaves = np.array([node for node in _depth_first(routes) if routes["feature"][node] < 0])
        asked = _routes(levels, leaves)
        tree = read_tree(levels.tree(len(self.bins)), outcome, growth)
        found = other.sums(asked)
        if isinstance(found, ClassSums):
            raise TypeError("Classes need no other rows to be judged by.")
        halves = found.sums[:, : self.bins[0].n_codes]
        whole = (halves[..., 0].astype(np.uint64).astype(object) + halves[..., 1].astype(object) * 2**64).sum(axis=1)
        whole[:, -1] = other.factors(outcome, asked)
        statistics = whole.astype(np.float64) * scales
        return float(outcome.log_marginal(tree.posterior[tree.is_leaf], statistics).sum()), float(
            statistics[:, 0].sum()
        )

    def _grown(self, outcome: Outcome, growth: Growth, tell: Tell | None) -> Any:
        levels, depth, at_once = self._start(outcome, growth), 0, 1
        first = np.cumsum([0, *(own.n_codes for own in self.bins)])
        siblings = Siblings(first)
        while len(levels.open):
            chosen, n_open = levels.open[:at_once], len(levels.open)
            asked = siblings.asked(chosen)
            found = self.source.sums(_routes(levels, asked))
            if isinstance(found, ClassSums):
                found = siblings.complete(found, asked, chosen)
            if tell is not None:
                tell(depth, n_open, int(found.n_rows(slice(first[1])).sum()))
            if isinstance(found, ClassSums):
                levels.grow(found.weights, found.rows, growth.n_threads)
                siblings.keep(found, chosen, _routes(levels, levels.open))
            else:
                levels.grow(found.rows, found.sums, found.low, found.high, growth.n_threads)
            at_once = max(1, _MOST_BYTES * len(chosen) // found.n_bytes)
            depth += 1
        return levels

    def _grow_kept(self, rows: EncodedRows, outcome: Outcome, growth: Growth) -> Tree:
        """Grow the tree as that of a table in memory."""
        columns = _core.columns_of_codes(rows.codes, *self._columns(growth))
        factor = rows.factor(outcome, self.grids)
        numbers = [np.ascontiguousarray(own) for own in rows.numbers.T]
        if len(numbers) > 1:
            numbers.append(np.zeros(len(rows), dtype=np.int64) if factor is None else factor)
        core = whole_outcome(outcome).whole_core(numbers, rows.weight, self.grids, self.extent)
        nodes = _core.grow(
            columns,
            core,
            outcome.core_prior().tolist(),
            growth.settings(),
            growth.look_ahead(),
            growth.engine.subtree_rows,
            growth.n_threads,
        )
        return read_tree(nodes, outcome, growth)

    def _columns(self, growth: Growth) -> tuple[Any, list[bool], list[bool], bool]:
        """What the compiled core wants to know of the columns."""
        return (
            [(bins.lows, bins.highs) for bins in self.bins],
            [bins.has_missing for bins in self.bins],
            self.is_nominal.tolist(),
            growth.partition_prior.location == "distance",
        )

    def _start(self, outcome: Outcome, growth: Growth) -> Any:
        columns = _core.columns_without_rows(*self._columns(growth))
        none = np.zeros(0, dtype=np.int64)
        core = whole_outcome(outcome).whole_core(
            [none, none, none], None if self.grids.weight is None else none, self.grids, self.extent
        )
        unit = self.grids.weight_unit
        return _core.levels(columns, core, outcome.core_prior().tolist(), growth.settings(), unit)

    def _add_factors(self, nodes: dict[str, Any], levels: Any, outcome: Outcome) -> None:
        """Put the sums of the factors of each node, in its place among the statistics."""
        routes = levels.routes()
        leaves = np.flatnonzero(routes["feature"] < 0)
        sums = dict(zip(leaves.tolist(), self.source.factors(outcome, _routes(levels, leaves)), strict=True))
        for node in reversed(range(len(routes["feature"]))):  # children come behind their parents
            if node not in sums:
                sums[node] = sums[int(routes["lower"][node])] + sums[int(routes["upper"][node])]
        unit = whole_outcome(outcome).factor_unit(self.grids) * self.grids.weight_unit
        nodes["statistics"][:, 3] = [float(sums[node]) * unit for node in _depth_first(routes)]


def _routes(levels: Any, chosen: IntArray) -> Routes:
    found = levels.routes()
    number = np.full(len(found["feature"]), -1, dtype=np.int32)
    number[levels.open] = WAITS
    number[chosen] = np.arange(len(chosen))
    return Routes(**found, open=number, n_open=len(chosen))


def _depth_first(routes: dict[str, IntArray]) -> list[int]:
    """The nodes as a tree has them: the lower child right behind its parent."""
    order, stack = [], [0]
    while stack:
        node = stack.pop()
        order.append(node)
        if routes["feature"][node] >= 0:
            stack += [int(routes["upper"][node]), int(routes["lower"][node])]
    return order
