"""Rows as codes and whole numbers, in memory: what is asked of them is what any source can answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from .._typing import AnyArray, IntArray
from ..outcomes import Grids, Outcome, Target, whole_outcome
from ._elsewhere import ColumnBins, Routes, Sums
from ._sample import marks_of

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
class WholeRows:
    """Codes (one row a column), whole numbers and whole weights of some rows."""

    codes: AnyArray
    numbers: IntArray
    weight: IntArray | None

    def half(self, which: int) -> WholeRows:
        """One half of the rows, by what is in them."""
        rows = marks_of(self.codes, self.numbers) % 2 == which
        weight = None if self.weight is None else self.weight[rows]
        return WholeRows(np.ascontiguousarray(self.codes[:, rows]), self.numbers[rows], weight)

    def sums(self, asked: Asked, routes: Routes) -> Sums:
        """The sums of the open nodes."""
        numbers = self.numbers
        if asked.n_classes == 0 and numbers.shape[1] == 2:  # the factor is added at the end
            numbers = np.concatenate([numbers, np.zeros((len(numbers), 1), dtype=np.int64)], axis=1)
        r = routes
        return Sums(
            *_core.tally(
                self.codes, asked.first, r.feature, r.lower, r.upper, r.start, r.goes_lower, r.open, r.n_open,
                numbers, self.weight, asked.n_classes, asked.n_threads,
            )
        )  # fmt: skip

    def factors(self, asked: Asked, routes: Routes, outcome: Outcome) -> list[int]:
        """The sums of the logs of factors in the open nodes."""
        result = [0] * routes.n_open
        grids = asked.grids
        if len(self.numbers) == 0 or grids.y is None:
            return result
        extras = {name: grid.value(self.numbers[:, 1]) for name, grid in grids.extras.items()}
        factor = whole_outcome(outcome).whole_factor(Target(grids.y.value(self.numbers[:, 0]), None, extras, grids))
        if factor is None:
            return result
        r = routes
        arrays = (r.feature, r.lower, r.upper, r.start, r.goes_lower, r.open)
        node = np.asarray(_core.open_nodes(self.codes, asked.first, *arrays, asked.n_threads))
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


@dataclass(frozen=True)
class RowSource:
    """The same as a source of a growth."""

    rows: WholeRows
    asked: Asked

    def sums(self, routes: Routes) -> Sums:
        """The sums of the open nodes."""
        return self.rows.sums(self.asked, routes)

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sums of the logs of factors."""
        return self.rows.factors(self.asked, routes, outcome)
