"""How probable each half of the rows is, given the tree of the other: from sums of whole numbers, as sources give."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..growth import Asked, DividedSource, Elsewhere, EncodedRows, Growth, RowSource, Tell, bins_of_columns
from ..outcomes import Extent, NegativeBinomialOutcome, Outcome, whole_outcome, whole_weight
from ._data import EncodedData

FEWEST = 20.0  # rows of a half, by weight
_MOST = 2**16 - 1  # the highest code that a source may have


@dataclass(frozen=True)
class Halves:
    """The halves of a table; a mark of what is in a row tells its half, so that no order and no place changes it."""

    one: Elsewhere
    other: Elsewhere

    @classmethod
    def of_memory(cls, data: EncodedData, outcome: Outcome, growth: Growth) -> Halves | None:
        """Of a table in memory, if it may be that of a source: columns of bins, and splits that need nothing else."""
        target, grids = data.target, data.target.grids
        if grids is None or growth.lookahead or growth.oblique:
            return None
        codes = np.stack([np.asarray(data.columns.codes(f)) for f in range(data.columns.n_columns)], axis=1)
        if codes.max(initial=0) > _MOST:
            return None
        numbers = np.ascontiguousarray(np.stack(whole_outcome(outcome).whole_rows(target), axis=1), dtype=np.int64)
        codes = codes.astype(np.uint8 if codes.max(initial=0) < 256 else np.uint16)
        rows = EncodedRows(codes, numbers, None if target.weight is None else whole_weight(target))
        bins = bins_of_columns(data.columns, data.rows)
        asked = Asked.of(bins, 0, grids, growth.n_threads)
        extent = Extent(len(target.y), target.total_weight())
        one, other = (
            Elsewhere(RowSource(rows.half(which), asked), bins, data.schema.is_nominal, grids, extent)
            for which in (0, 1)
        )
        return cls(one, other)

    @classmethod
    def of(cls, rows: Elsewhere, source: DividedSource) -> Halves:
        """Of rows that live elsewhere."""
        one, other = source.halves()
        return cls(replace(rows, source=one), replace(rows, source=other))

    def log_evidence(self, outcome: Outcome, growth: Growth, tell: Tell | None = None) -> float | None:
        """The sum of both; None: the halves are too small.

        A tree that was grown on the same rows explains them too well, and noise looks smaller than it is.
        """
        if not isinstance(outcome, NegativeBinomialOutcome):
            raise TypeError(f"The outcome {outcome.name!r} does not choose a dispersion.")
        total = 0.0
        for here, there in ((self.one, self.other), (self.other, self.one)):
            scales = outcome.scales(here.grids)
            found, weight = here.held_out(outcome, growth, there.source, scales, tell)
            if weight < FEWEST:
                return None
            total += found
        return total
