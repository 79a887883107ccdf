"""Rows as codes and whole numbers, in memory: what is asked of them is what any source can answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from .._typing import AnyArray, IntArray
from ..outcomes import Grids, Outcome, Target, fixed_point_outcome
from ._histograms import ClassHistograms, ColumnBins, Histograms, Routes
from ._sample import marks_of

_DIGIT = 31


@dataclass(frozen=True)
class CodeLayout:
    """Where the codes of the columns lie in a histogram, and what the rows hold."""

    first: IntArray  # where the codes of each column begin, and the end
    n_classes: int  # 0: numbers
    grids: Grids
    n_threads: int = 1

    @classmethod
    def of(cls, bins: tuple[ColumnBins, ...], n_classes: int, grids: Grids, n_threads: int = 1) -> CodeLayout:
        """For columns with these bins."""
        first = np.cumsum([0, *(own.n_codes for own in bins)]).astype(np.int64)
        return cls(first, n_classes, grids, n_threads)


@dataclass(frozen=True)
class EncodedRows:
    """Rows as codes (those of a row side by side), whole numbers and whole weights."""

    codes: AnyArray
    numbers: IntArray
    weight: IntArray | None

    def __len__(self) -> int:
        return len(self.numbers)

    def half(self, which: int) -> EncodedRows:
        """One half of the rows, by what is in them."""
        rows = marks_of(self.codes.T, self.numbers) % 2 == which
        return EncodedRows(self.codes[rows], self.numbers[rows], None if self.weight is None else self.weight[rows])

    def histograms(self, layout: CodeLayout, routes: Routes) -> Histograms | ClassHistograms:
        """The histograms of the open nodes."""
        how = (self.codes, layout.first, _core_routes(routes))
        if layout.n_classes:
            classes = self.numbers[:, 0]
            return ClassHistograms(*_core.tally_classes(*how, classes, self.weight, layout.n_classes, layout.n_threads))
        return Histograms(*_core.tally_numbers(*how, self.numbers, self.weight, layout.n_threads))

    def factor(self, outcome: Outcome, grids: Grids) -> IntArray | None:
        """The log of each row's factor that no partition changes, in whole numbers; None: there is none."""
        if not outcome.has_factor or grids.y is None:
            return None
        extras = {name: grid.value(self.numbers[:, 1]) for name, grid in grids.extras.items()}
        return fixed_point_outcome(outcome).fixed_point_factor(
            Target(grids.y.value(self.numbers[:, 0]), None, extras, grids)
        )

    def factors(self, layout: CodeLayout, routes: Routes, outcome: Outcome) -> list[int]:
        """The sums of the logs of factors in the open nodes."""
        result = [0] * routes.n_open
        factor = self.factor(outcome, layout.grids) if len(self) else None
        if factor is None:
            return result
        node = np.asarray(_core.open_nodes(self.codes, layout.first, _core_routes(routes), layout.n_threads))
        weight = np.ones(len(factor), dtype=np.int64) if self.weight is None else self.weight
        mask = 2**_DIGIT - 1
        for digit, power in ((factor >> _DIGIT, _DIGIT), (factor & mask, 0)):
            product = digit * weight
            for half, more in ((product >> _DIGIT, _DIGIT), (product & mask, 0)):
                sums = np.zeros(routes.n_open, dtype=np.int64)
                np.add.at(sums, node, half)
                for i, own in enumerate(sums.tolist()):
                    result[i] += own << (power + more)
        return result


def _core_routes(r: Routes) -> _core.Routes:
    return _core.Routes(r.feature, r.lower, r.upper, r.start, r.goes_lower, r.open, r.n_open)


@dataclass(frozen=True)
class RowHistograms:
    """Encoded rows as a source of histograms, for growth level by level."""

    rows: EncodedRows
    layout: CodeLayout

    def kept(self) -> EncodedRows | None:
        """Not to be grown in one go."""
        return None

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """The histograms of the open nodes."""
        return self.rows.histograms(self.layout, routes)

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sums of the logs of factors."""
        return self.rows.factors(self.layout, routes, outcome)
