"""Rows as codes and whole numbers, in memory: what is asked of them is what any source can answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from .._typing import AnyArray, IntArray
from ..outcomes import Grids, Outcome, Target, whole_outcome
from ._sample import marks_of
from ._sums import ClassSums, ColumnBins, Routes, Sums

_DIGIT = 31


@dataclass(frozen=True)
class Asked:
    """What the sums of rows need to know beside the tree."""

    first: IntArray  # where the codes of each column begin, and the end
    n_classes: int  # 0: numbers
    grids: Grids
    n_threads: int = 1

    @classmethod
    def of(cls, bins: tuple[ColumnBins, ...], n_classes: int, grids: Grids, n_threads: int = 1) -> Asked:
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

    def sums(self, asked: Asked, routes: Routes) -> Sums | ClassSums:
        """The sums of the open nodes."""
        how = (self.codes, asked.first, _core_routes(routes))
        if asked.n_classes:
            classes = self.numbers[:, 0]
            return ClassSums(*_core.tally_classes(*how, classes, self.weight, asked.n_classes, asked.n_threads))
        return Sums(*_core.tally_numbers(*how, self.numbers, self.weight, asked.n_threads))

    def factor(self, outcome: Outcome, grids: Grids) -> IntArray | None:
        """The log of each row's factor that no partition changes, in whole numbers; None: there is none."""
        if not outcome.has_factor or grids.y is None:
            return None
        extras = {name: grid.value(self.numbers[:, 1]) for name, grid in grids.extras.items()}
        return whole_outcome(outcome).whole_factor(Target(grids.y.value(self.numbers[:, 0]), None, extras, grids))

    def factors(self, asked: Asked, routes: Routes, outcome: Outcome) -> list[int]:
        """The sums of the logs of factors in the open nodes."""
        result = [0] * routes.n_open
        factor = self.factor(outcome, asked.grids) if len(self) else None
        if factor is None:
            return result
        node = np.asarray(_core.open_nodes(self.codes, asked.first, _core_routes(routes), asked.n_threads))
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
class RowSource:
    """The same as a source of a growth, level by level."""

    rows: EncodedRows
    asked: Asked

    def kept(self) -> EncodedRows | None:
        """Not to be grown in one go."""
        return None

    def sums(self, routes: Routes) -> Sums | ClassSums:
        """The sums of the open nodes."""
        return self.rows.sums(self.asked, routes)

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sums of the logs of factors."""
        return self.rows.factors(self.asked, routes, outcome)
