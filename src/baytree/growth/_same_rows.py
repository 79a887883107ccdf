"""Proof that a source gives the same rows in every pass: sums of rows, weights and targets must add up."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .._typing import AnyArray, IntArray
from ._histograms import ClassHistograms, Histograms, Routes
from ._other_rows import other_rows

_WRAP = 2**64  # sums of wide integers are compared modulo this


@dataclass
class NodeTotals:
    """The sums that open nodes must have: those of their parent on their side of its split.

    They are integers, so they are equal or the rows differ; the order of the rows does not matter.
    """

    first: IntArray  # position of the first code of each column, and the end
    expected: dict[int, AnyArray] = field(default_factory=dict)

    @classmethod
    def of_table(cls, first: IntArray, n_rows: int, totals: tuple[int, ...]) -> NodeTotals:
        """Those of the root, from the totals of a table; without totals, as of half of a table, it may have any."""
        if not totals:
            return cls(first)
        return cls(first, {0: np.array([n_rows, *(total % _WRAP for total in totals)], dtype=np.uint64)})

    def check(self, histograms: Histograms | ClassHistograms, nodes: IntArray) -> None:
        """Raise an error if nodes do not have the sums that are expected of them."""
        sums_of_nodes = _sums(histograms, slice(0, self.first[1]))
        for sums, node in zip(sums_of_nodes, nodes.tolist(), strict=True):
            expected = self.expected.get(node)
            if expected is None:
                continue
            width = min(len(sums), len(expected))
            if sums[0] != expected[0]:
                raise other_rows(f"a node has {int(sums[0]):,} rows instead of {int(expected[0]):,}")
            if np.any(sums[:width] != expected[:width]):
                raise other_rows("the sums of targets or weights differ")

    def expect_of_children(self, histograms: Histograms | ClassHistograms, nodes: IntArray, routes: Routes) -> None:
        """Note the sums of the children of nodes that were split."""
        for place, node in enumerate(nodes.tolist()):
            self.expected.pop(node, None)
            feature = int(routes.feature[node])
            children = (int(routes.lower[node]), int(routes.upper[node])) if feature >= 0 else ()
            if all(routes.open[child] == -1 for child in children):
                continue
            codes = slice(*self.first[feature : feature + 2])
            by_code = _sums_by_code(histograms, place, codes)
            goes_lower = routes.goes_lower[routes.start[node] :][: len(by_code)].astype(bool)
            for child, rows in zip(children, (goes_lower, ~goes_lower), strict=True):
                if routes.open[child] != -1:
                    self.expected[child] = by_code[rows].sum(axis=0, dtype=np.uint64)


def _sums(histograms: Histograms | ClassHistograms, codes: slice) -> AnyArray:
    """The sums of all nodes over some codes: rows, weights and, of numbers, the sums of targets."""
    if isinstance(histograms, ClassHistograms):
        weights = histograms.weights[:, codes].sum(axis=(1, 2), dtype=np.int64)
        rows = weights if histograms.rows is None else histograms.rows[:, codes].sum(axis=1)
        return np.stack([rows, weights], axis=1).astype(np.uint64)
    sums = histograms.sums[:, codes, :, 0].astype(np.uint64).sum(axis=1)
    return np.concatenate([histograms.rows[:, codes].sum(axis=1)[:, None].astype(np.uint64), sums[:, :3]], axis=1)


def _sums_by_code(histograms: Histograms | ClassHistograms, place: int, codes: slice) -> AnyArray:
    if isinstance(histograms, ClassHistograms):
        weights = histograms.weights[place, codes].sum(axis=1, dtype=np.int64)
        rows = weights if histograms.rows is None else histograms.rows[place, codes]
        return np.stack([rows, weights], axis=1).astype(np.uint64)
    sums = histograms.sums[place, codes, :, 0].astype(np.uint64)
    return np.concatenate([histograms.rows[place, codes][:, None].astype(np.uint64), sums[:, :3]], axis=1)
