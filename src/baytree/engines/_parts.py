"""Parts of a table: frames or arrays that fit into memory, one at a time, and what is asked of each of them.

All functions here take a part and return something small that adds up with that of other parts; they are run wherever
the part is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np

from .. import _core
from .._typing import FloatArray, IntArray
from ..estimators import Found, TargetPlan
from ..growth import ClassSums, ColumnBins, EncodedRows, Routes, Sample, Sums
from ..outcomes import Family, Outcome, Reach, Target, whole_weight
from ..table import PartSchema, Rows, Schema, as_table, is_frame, nearest_name
from ._bins import Counted, collect, count, splitters_of

_DIGIT = 31


@dataclass(frozen=True)
class Names:
    """The columns that are no features."""

    target: str
    weight: str | None = None
    exposure: str | None = None
    event: str | None = None

    @property
    def all(self) -> list[str]:
        """Those that are given."""
        return [name for name in (self.target, self.weight, self.exposure, self.event) if name is not None]

    @property
    def extras(self) -> dict[str, str]:
        """The columns of the extras, by the name of the extra."""
        given = {"exposure": self.exposure, "event": self.event}
        return {name: column for name, column in given.items() if column is not None}

    def check(self, columns: list[str]) -> None:
        """Refuse names that the table does not have."""
        for name in self.all:
            if name not in columns:
                raise ValueError(f"The table has no column {name!r}: {nearest_name(name, columns)}")
        if len(columns) == len(set(self.all)):
            raise ValueError("The table has no column but the target and what belongs to it: there are no features.")


@dataclass(frozen=True)
class Part:
    """Features, and what belongs to the target."""

    X: Any
    y: Any
    weight: Any = None
    extras: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features."""
        return tuple(map(str, nw.from_native(self.X, eager_only=True).columns)) if is_frame(self.X) else None


def split_frame(frame: Any, names: Names) -> Part:
    """Features and target of a frame."""
    if type(frame).__name__ == "RecordBatch":
        frame = _table_of_batch(frame)
    frame = nw.from_native(frame, eager_only=True)
    names.check(frame.columns)

    def column(name: str | None) -> Any:
        return None if name is None else frame[name].to_numpy()

    extras = {name: column(own) for name, own in names.extras.items()}
    return Part(frame.drop(names.all).to_native(), column(names.target), column(names.weight), extras)


def _table_of_batch(batch: Any) -> Any:
    """A record batch of pyarrow as a table."""
    import pyarrow as pa  # noqa: PLC0415

    return pa.Table.from_batches([batch])


@dataclass(frozen=True)
class Looked:
    """What a look at a part finds; `reach` is None where none of its rows counts."""

    part: PartSchema
    reach: Reach | None
    class_rows: dict[Any, tuple[int, float]]  # of each label: rows, and the largest weight
    counted: tuple[Counted | None, ...]  # None: categories without an order
    max_bins: int

    def __or__(self, other: Looked) -> Looked:
        reach = self.reach if other.reach is None else other.reach if self.reach is None else self.reach | other.reach
        labels = dict(self.class_rows)
        for label, (rows, weight) in other.class_rows.items():
            before = labels.get(label, (0, 0.0))
            labels[label] = (before[0] + rows, max(before[1], weight))
        counted = tuple(
            a if b is None else b if a is None else a.merged(b, self.max_bins)
            for a, b in zip(self.counted, other.counted, strict=True)
        )
        return Looked(self.part | other.part, reach, labels, counted, self.max_bins)

    def found(self) -> Found:
        """The same for the fit."""
        if self.reach is None:
            raise ValueError("No row counts: the table is empty, or all weights are zero.")
        if not self.class_rows:
            return Found(self.part, self.reach)
        classes = np.unique(np.array(list(self.class_rows)))
        of_class = [self.class_rows[label] for label in classes.tolist()]
        rows, weights = (np.array(own, dtype=np.float64) for own in zip(*of_class, strict=True))
        return Found(self.part, self.reach, classes, rows, weights)


def first_splitters(part: Part, categorical_features: Any) -> tuple[FloatArray, ...]:
    """Splitters of all columns, from a first part."""
    rows, _ = Schema.learn(as_table(part.X), categorical_features, part.names)
    return tuple(splitters_of(np.asarray(column)) for column in rows.matrix.T)


def look(
    part: Part, plan: TargetPlan, categorical_features: Any, splitters: tuple[FloatArray, ...], max_bins: int
) -> Looked | None:
    """Look at a part; one without rows says nothing."""
    if len(part) == 0:
        return None
    rows, schema = Schema.learn(as_table(part.X), categorical_features, part.names)
    if schema.n_features != len(splitters):
        raise ValueError("The parts of the table do not have the same columns: give all of them the same.")
    target, counts = plan.look(part.y, part.weight, part.extras)
    schema.refuse_infinity(rows)
    rows = rows if counts is None else Rows(rows.matrix[counts])
    pairs = enumerate(zip(splitters, schema.columns, strict=True))
    found = count(rows.matrix, {i: own for i, (own, column) in pairs if not column.is_nominal}, max_bins)
    counted = tuple(found.get(i) for i in range(schema.n_features))
    if len(target.y) == 0:
        return Looked(PartSchema.of(schema, rows), None, {}, counted, max_bins)
    reach = Reach.of(target, of_y=not plan.has_classes)
    return Looked(PartSchema.of(schema, rows), reach, _class_rows(target, plan), counted, max_bins)


def _class_rows(target: Target, plan: TargetPlan) -> dict[Any, tuple[int, float]]:
    if not plan.has_classes:
        return {}
    labels, codes = np.unique(target.y, return_inverse=True)
    weight = np.ones(len(codes)) if target.weight is None else target.weight
    largest = np.zeros(len(labels))
    np.maximum.at(largest, codes, weight)
    return dict(zip(labels.tolist(), zip(np.bincount(codes).tolist(), largest.tolist(), strict=True), strict=True))


@dataclass(frozen=True)
class Collected:
    """Values of columns near the ends of their bins; of a column of categories the positions that occur."""

    values: dict[int, list[FloatArray]]  # those of each part
    finer: dict[int, Counted]  # columns that are counted again

    def merged(self, other: Collected, max_bins: int) -> Collected:
        """That of both parts."""
        values = {column: own + other.values[column] for column, own in self.values.items()}
        finer = {column: own.merged(other.finer[column], max_bins) for column, own in self.finer.items()}
        return Collected(values, finer)


def collect_part(
    part: Part, plan: TargetPlan, schema: Schema, wanted: dict[int, Counted | None], max_bins: int
) -> Collected | None:
    """Collect what the bins of some columns need."""
    if len(part) == 0:
        return None
    _, counts = plan.look(part.y, part.weight, part.extras)
    matrix = schema.read(as_table(part.X)).matrix
    matrix = matrix if counts is None else matrix[counts]
    counted = {column: own for column, own in wanted.items() if own is not None}
    fine = {column: own for column, own in counted.items() if own.is_fine(max_bins)}
    coarse = {column: own.finer_splitters(max_bins) for column, own in counted.items() if column not in fine}
    values = {column: [own] for column, own in collect(matrix, fine, max_bins).items()}
    for column in wanted.keys() - counted.keys():
        own = np.unique(matrix[:, column])
        values[column] = [own[~np.isnan(own)]]
    return Collected(values, count(matrix, coarse, max_bins))


def encode(part: Part, plan: TargetPlan, schema: Schema, bins: tuple[ColumnBins, ...], family: Family) -> EncodedRows:
    """Encode a part."""
    two_bytes = max(own.n_codes for own in bins) > 256
    if len(part) == 0:
        width = 1 if family.has_classes or not family.outcome.from_zero else 2
        weighted = plan.grids is not None and plan.grids.weight is not None
        none, codes = np.zeros(0, dtype=np.int64), np.zeros((0, len(bins)), dtype=np.uint16 if two_bytes else np.uint8)
        return EncodedRows(codes, none.reshape(0, width), none if weighted else None)
    target, counts = plan.whole(part.y, part.weight, part.extras)
    matrix = schema.read(as_table(part.X)).matrix
    matrix = matrix if counts is None else matrix[counts]
    highs, missing = [own.highs for own in bins], [own.has_missing for own in bins]
    codes = np.asarray(_core.encode_part(matrix, highs, missing, [is_left_out(own) for own in bins], two_bytes, 1))
    numbers = np.ascontiguousarray(np.stack(family.whole.whole_rows(target), axis=1), dtype=np.int64)
    return EncodedRows(codes, numbers, None if target.weight is None else whole_weight(target))


def left_out() -> ColumnBins:
    """The bins of a column that no split may use: all values are alike."""
    return ColumnBins(np.array([-np.inf]), np.array([np.inf]), has_missing=False)


def is_left_out(bins: ColumnBins) -> bool:
    """Whether these are such."""
    return len(bins.highs) == 1 and bool(np.isinf(bins.highs[0]))


@dataclass(frozen=True)
class Asked:
    """What the sums of a part need to know beside the tree."""

    first: IntArray  # where the codes of each column begin, and the end
    n_classes: int  # 0: numbers
    n_threads: int = 1

    @classmethod
    def of(cls, bins: tuple[ColumnBins, ...], n_classes: int, n_threads: int = 1) -> Asked:
        """For columns with these bins."""
        first = np.cumsum([0, *(own.n_codes for own in bins)]).astype(np.int64)
        return cls(first, n_classes, n_threads)


def sums_of(part: EncodedRows, asked: Asked, routes: Routes) -> Sums | ClassSums:
    """The sums of the open nodes over a part."""
    how = (part.codes, asked.first, _core_routes(routes))
    if asked.n_classes:
        classes = part.numbers[:, 0]
        return ClassSums(*_core.tally_classes(*how, classes, part.weight, asked.n_classes, asked.n_threads))
    return Sums(*_core.tally_numbers(*how, part.numbers, part.weight, asked.n_threads))


def _core_routes(r: Routes) -> _core.Routes:
    return _core.Routes(r.feature, r.lower, r.upper, r.start, r.goes_lower, r.open, r.n_open)


def factors_of(part: EncodedRows, asked: Asked, routes: Routes, outcome: Outcome, plan: TargetPlan) -> list[int]:
    """The sums of the logs of factors in the open nodes over a part."""
    result = [0] * routes.n_open
    factor = None if plan.grids is None or len(part) == 0 else part.factor(outcome, plan.grids)
    if factor is None:
        return result
    node = np.asarray(_core.open_nodes(part.codes, asked.first, _core_routes(routes), asked.n_threads))
    weight = np.ones(len(factor), dtype=np.int64) if part.weight is None else part.weight
    mask = 2**_DIGIT - 1
    for digit, power in ((factor >> _DIGIT, _DIGIT), (factor & mask, 0)):
        product = digit * weight
        for half, more in ((product >> _DIGIT, _DIGIT), (product & mask, 0)):
            sums = np.zeros(routes.n_open, dtype=np.int64)
            np.add.at(sums, node, half)
            for i, own in enumerate(sums.tolist()):
                result[i] += own << (power + more)
    return result


def sample_of(part: EncodedRows, shares: int) -> Sample:
    """Some rows of a part."""
    return Sample(part.codes.T, part.numbers, part.weight).chosen(shares)


def totals_of(part: EncodedRows, family: Family) -> list[int]:
    """`WholeOutcome.totals_of` a part."""
    weight = np.ones(len(part.numbers), dtype=np.int64) if part.weight is None else part.weight
    return family.whole.totals([*part.numbers.T], weight)
