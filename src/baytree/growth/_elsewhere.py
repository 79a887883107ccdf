"""Growth of rows that live elsewhere: a source answers with sums, the compiled core decides, level by level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .. import _core
from .._typing import AnyArray, BoolArray, FloatArray, IntArray
from ..outcomes import Extent, Grids, Outcome, Target, whole_outcome
from ..tree import Tree
from ._grow import read_tree
from ._settings import Growth

_MOST_BYTES = 2**28  # of the sums of one look at the rows
_WHOLE = np.iinfo(np.int64)
WAITS = -2  # a node will be asked for later


@dataclass(frozen=True)
class ColumnBins:
    """The lowest and the highest value of each bin of a column; of one of categories the positions that occur."""

    lows: FloatArray
    highs: FloatArray
    has_missing: bool

    @property
    def n_codes(self) -> int:
        """Bins, and one for missing values."""
        return len(self.highs) + self.has_missing


@dataclass(frozen=True)
class Routes:
    """How rows go down a tree by their codes: see cpp/core/growth/levels.hpp."""

    feature: AnyArray
    lower: AnyArray
    upper: AnyArray
    start: AnyArray
    goes_lower: AnyArray
    open: AnyArray  # by node: its number among those that are asked for, WAITS where it is open too, or -1
    n_open: int


@dataclass(frozen=True)
class Sums:
    """For every open node and code: rows, sums of whole numbers of 128 bits, extremes of what tells outcomes apart."""

    rows: IntArray
    sums: IntArray
    low: IntArray
    high: IntArray

    def wide(self) -> Sums:
        """These."""
        return self

    def __add__(self, other: Sums) -> Sums:
        total = self.sums.copy()
        _core.add_wide(total, other.sums)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return Sums(self.rows + other.rows, total, low, high)


@dataclass(frozen=True)
class ClassSums:
    """The same of classes: for every open node, code and class what the rows weigh, in whole numbers."""

    weights: IntArray
    rows: IntArray | None  # None: as many as they weigh

    def wide(self) -> Sums:
        """With all that can be told from it."""
        shape, n_classes = self.weights.shape[:-1], self.weights.shape[-1]
        low, high = np.full(shape, _WHOLE.max), np.full(shape, _WHOLE.min)
        for k in range(n_classes):
            present = self.weights[..., k] > 0
            np.minimum(low, k, out=low, where=present)
            np.copyto(high, k, where=present)
        sums = np.zeros((*self.weights.shape, 2), dtype=np.int64)
        sums[..., 0] = self.weights
        return Sums(self.weights.sum(axis=-1) if self.rows is None else self.rows, sums, low, high)

    def __add__(self, other: ClassSums) -> ClassSums:
        rows = None if self.rows is None or other.rows is None else self.rows + other.rows
        return ClassSums(self.weights + other.weights, rows)


@dataclass(frozen=True)
class EncodedRows:
    """Rows as codes (those of a row side by side), whole numbers and whole weights."""

    codes: AnyArray
    numbers: IntArray
    weight: IntArray | None

    def __len__(self) -> int:
        return len(self.numbers)

    def factor(self, outcome: Outcome, grids: Grids) -> IntArray | None:
        """The log of each row's factor that no partition changes, in whole numbers; None: there is none."""
        if not outcome.has_factor or grids.y is None:
            return None
        extras = {name: grid.value(self.numbers[:, 1]) for name, grid in grids.extras.items()}
        return whole_outcome(outcome).whole_factor(Target(grids.y.value(self.numbers[:, 0]), None, extras, grids))


class SumSource(Protocol):
    """Rows that live somewhere."""

    def kept(self) -> EncodedRows | None:
        """All rows, where they are at hand; None: nothing but their sums is known."""

    def sums(self, routes: Routes) -> Sums | ClassSums:
        """The sums of the open nodes."""

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sum of the logs of factors over the rows of each open node."""


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
        levels = self._start(outcome, growth)
        bytes_a_node = 8 * levels.n_codes * (3 + 2 * levels.width)
        at_once = max(1, _MOST_BYTES // bytes_a_node)
        depth = 0
        while len(levels.open):
            chosen = levels.open[:at_once]
            found = self.source.sums(_routes(levels, chosen)).wide()
            if tell is not None:
                tell(depth, len(levels.open), int(found.rows[:, : self.bins[0].n_codes].sum()))
            levels.grow(found.rows, found.sums, found.low, found.high, growth.n_threads)
            depth += 1
        nodes = levels.tree(len(self.bins))
        if factors and outcome.has_factor:
            self._add_factors(nodes, levels, outcome)
        return read_tree(nodes, outcome, growth)

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
