"""Rows that stand for a whole table where a few thousand are enough: the same ones in memory and elsewhere."""

from __future__ import annotations

import numpy as np

from .._typing import AnyArray
from ..growth import ColumnBins, Sample, bins_of_columns, n_shares
from ..outcomes import Grids, Outcome, Target, whole_outcome, whole_weight
from ..table import Rows, Schema
from ._data import EncodedData, TrainingData


def sampled_rows(data: EncodedData, outcome: Outcome) -> TrainingData:
    """Some rows of a table in memory whose target is on grids."""
    if data.target.grids is None:
        return data
    codes = np.stack([np.asarray(data.columns.codes(f)) for f in range(data.columns.n_columns)])
    numbers = np.stack(whole_outcome(outcome).whole_rows(data.target), axis=1)
    weight = None if data.target.weight is None else whole_weight(data.target)
    chosen = Sample(codes, numbers, weight).chosen(n_shares(len(data.rows)))
    bins = bins_of_columns(data.columns, data.rows)
    return data_of_sample(chosen, bins, data.schema, data.target.grids, data.classes)


def data_of_sample(
    sample: Sample, bins: tuple[ColumnBins, ...], schema: Schema, grids: Grids, classes: AnyArray | None
) -> TrainingData:
    """The rows of a sample of real values, each in the middle of its bins."""
    y = sample.numbers[:, 0] if grids.y is None else grids.y.value(sample.numbers[:, 0])
    weight = None if sample.weight is None or grids.weight is None else grids.weight.value(sample.weight)
    return TrainingData(Rows(sample.matrix(bins)), schema, Target(y, weight, grids=grids), classes)
