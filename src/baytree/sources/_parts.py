"""Parts of a table: frames or arrays that fit into memory, one at a time, and what is asked of each of them.

All functions here take a part and return something small that adds up with that of other parts; they are run wherever
the part is.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np

from .. import _core
from .._typing import AnyArray, BoolArray, FloatArray
from ..growth import ClassHistograms, CodeLayout, ColumnBins, EncodedRows, Histograms, Routes, Sample
from ..outcomes import Family, Outcome, Target, TargetRange, whole_weight
from ..table import PartSchema, Rows, Schema, as_table, is_frame, nearest_name
from ._bins import IntervalCounts, collect, count, splitters_of
from ._column_specs import ColumnSpecs, TableSpec
from ._frames import eager
from ._source import TableSummary
from ._targets import TargetPlan


@dataclass(frozen=True)
class Names:
    """The columns that are no features."""

    target: str
    weight: str | None = None
    exposure: str | None = None
    event: str | None = None

    @property
    def all(self) -> list[str]:
        """Those that are given, each once."""
        given = (self.target, self.weight, self.exposure, self.event)
        return list(dict.fromkeys(name for name in given if name is not None))

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
        if len(columns) == len(self.all):
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

    def like(self, names: tuple[str, ...] | None, n_columns: int) -> Part:
        """The same part with its columns in the order of the others; columns that they do not have are refused."""
        own = self.names
        if own == names and self.X.shape[1] == n_columns:
            return self
        if own is None or names is None:
            raise ValueError("The parts of the table do not have the same columns: give all of them the same.")
        for one, two in ((own, names), (names, own)):
            if unknown := [name for name in one if name not in two]:
                raise ValueError(
                    f"The parts of the table do not have the same columns, only some have {unknown[0]!r}: give all of "
                    "them the same."
                )
        return replace(self, X=self.only([own.index(name) for name in names]))

    def only(self, columns: list[int]) -> Any:
        """Some of the features."""
        if columns == list(range(self.X.shape[1])):
            return self.X
        if not is_frame(self.X):
            return self.X[:, columns]
        return nw.from_native(self.X, eager_only=True)[:, columns].to_native()


def split_frame(frame: Any, names: Names) -> Part:
    """Features and target of a frame."""
    table = eager(frame)
    names.check(table.columns)

    def column(name: str | None) -> Any:
        return None if name is None else _array(table[name])

    extras = {name: column(own) for name, own in names.extras.items()}
    return Part(table.drop(names.all).to_native(), column(names.target), column(names.weight), extras)


def _array(series: nw.Series[Any]) -> AnyArray:
    """A column as an array."""
    if series.implementation.is_pyarrow() and series.dtype == nw.Categorical:
        # NumPy gets the last category where a value of an Arrow dictionary is missing.
        own = series.to_native()
        series = nw.from_native(own.cast(own.type.value_type), series_only=True)
    return series.to_numpy()


@dataclass(frozen=True)
class TargetSummary:
    """What a look at the targets of a part finds; `reach` is None where none of its rows counts."""

    reach: TargetRange | None
    class_rows: dict[Any, tuple[int, float]]  # of each label: rows, and the largest weight

    @classmethod
    def of(cls, target: Target, plan: TargetPlan) -> TargetSummary:
        """At targets that were read."""
        if len(target.y) == 0:
            return cls(None, {})
        return cls(TargetRange.of(target, of_y=not plan.has_classes), _class_rows(target, plan))

    def __or__(self, other: TargetSummary) -> TargetSummary:
        reach = self.reach if other.reach is None else other.reach if self.reach is None else self.reach | other.reach
        labels = dict(self.class_rows)
        for label, (rows, weight) in other.class_rows.items():
            before = labels.get(label, (0, 0.0))
            labels[label] = (before[0] + rows, max(before[1], weight))
        return TargetSummary(reach, labels)

    def found(self, schema: Schema) -> TableSummary:
        """The same for the fit."""
        if self.reach is None:
            raise ValueError("No row counts: the table is empty, or all weights are zero.")
        if not self.class_rows:
            return TableSummary(schema, self.reach)
        classes = np.unique(np.array(list(self.class_rows)))
        of_class = [self.class_rows[label] for label in classes.tolist()]
        rows, weights = (np.array(own, dtype=np.float64) for own in zip(*of_class, strict=True))
        return TableSummary(schema, self.reach, classes, rows, weights)


@dataclass(frozen=True)
class PartSummary:
    """What the first pass over a part finds: of the columns that are not known, and of the targets."""

    part: PartSchema
    counted: tuple[IntervalCounts | None, ...]  # None: categories without an order
    looked: TargetSummary
    max_bins: int

    def __or__(self, other: PartSummary) -> PartSummary:
        counted = tuple(
            a if b is None else b if a is None else a.merged(b, self.max_bins)
            for a, b in zip(self.counted, other.counted, strict=True)
        )
        return PartSummary(self.part | other.part, counted, self.looked | other.looked, self.max_bins)


def known_columns(
    part: Part, given: TableSpec, categorical_features: Any
) -> tuple[ColumnSpecs, tuple[FloatArray, ...]]:
    """What is known of the columns, and splitters of the others from this part."""
    known = given.of(part.names, part.X.shape[1], categorical_features)
    if not known.rest:
        return known, ()
    rows, _ = _learn(part, known)
    return known, tuple(splitters_of(np.asarray(column)) for column in rows.T)


def _learn(part: Part, known: ColumnSpecs) -> tuple[FloatArray, Schema]:
    """Read the columns that are not known."""
    own, rest = part.names, known.rest
    names = None if own is None else [own[i] for i in rest]
    rows, schema = Schema.learn(as_table(part.only(rest)), known.chosen_rest(), names, known.kinds())
    schema.refuse_infinity(rows)
    return rows.dense(), schema


def look(
    part: Part, plan: TargetPlan, known: ColumnSpecs, splitters: tuple[FloatArray, ...], max_bins: int
) -> PartSummary | None:
    """Look at a part; one without rows says nothing."""
    if len(part) == 0:
        return None
    part = part.like(known.names, len(known.columns))
    matrix, schema = _learn(part, known)
    target, counts = plan.look(part.y, part.weight, part.extras)
    matrix = matrix if counts is None else matrix[counts]
    pairs = enumerate(zip(splitters, schema.columns, strict=True))
    found = count(matrix, {i: own for i, (own, column) in pairs if not column.is_nominal}, max_bins)
    counted = tuple(found.get(i) for i in range(schema.n_features))
    return PartSummary(PartSchema.of(schema, Rows(matrix)), counted, TargetSummary.of(target, plan), max_bins)


def _class_rows(target: Target, plan: TargetPlan) -> dict[Any, tuple[int, float]]:
    if not plan.has_classes:
        return {}
    labels, codes = np.unique(target.y, return_inverse=True)
    weight = np.ones(len(codes)) if target.weight is None else target.weight
    largest = np.zeros(len(labels))
    np.maximum.at(largest, codes, weight)
    return dict(zip(labels.tolist(), zip(np.bincount(codes).tolist(), largest.tolist(), strict=True), strict=True))


@dataclass(frozen=True)
class IntervalValues:
    """Values of columns near the ends of their bins; of a column of categories the positions that occur."""

    values: dict[int, list[FloatArray]]  # those of each part
    finer: dict[int, IntervalCounts]  # columns that are counted again

    def merged(self, other: IntervalValues, max_bins: int) -> IntervalValues:
        """That of both parts."""
        values = {column: own + other.values[column] for column, own in self.values.items()}
        finer = {column: own.merged(other.finer[column], max_bins) for column, own in self.finer.items()}
        return IntervalValues(values, finer)


def collect_part(
    part: Part, plan: TargetPlan, schema: Schema, wanted: dict[int, IntervalCounts | None], max_bins: int
) -> IntervalValues | None:
    """Collect what the bins of some columns need."""
    if len(part) == 0:
        return None
    _, counts = plan.look(part.y, part.weight, part.extras)
    rows = schema.read(as_table(part.like(schema.names, schema.n_features).X), np.array(list(wanted)))
    places = {column: column if rows.column_of is None else int(rows.column_of[column]) for column in wanted}
    matrix = rows.dense() if counts is None else rows.dense()[counts]
    counted = {column: own for column, own in wanted.items() if own is not None}
    fine = {places[column]: own for column, own in counted.items() if own.is_fine(max_bins)}
    coarse = {places[c]: own.finer_splitters(max_bins) for c, own in counted.items() if places[c] not in fine}
    near, finer = collect(matrix, fine, max_bins), count(matrix, coarse, max_bins)
    values = {column: [near[place]] for column, place in places.items() if place in near}
    for column in wanted.keys() - counted.keys():
        own = np.unique(matrix[:, places[column]])
        values[column] = [own[~np.isnan(own)]]
    return IntervalValues(values, {column: finer[place] for column, place in places.items() if place in finer})


@dataclass(frozen=True)
class RawTarget:
    """What the numbers of a part are while the targets of other parts are not known: y, and extras."""

    labels: AnyArray | None  # y is a position among these; None: a number
    extras: tuple[str, ...]


@dataclass(frozen=True)
class EncodedPart(EncodedRows):
    """A part as codes and whole numbers, or numbers that are not whole yet."""

    numbers: AnyArray
    weight: AnyArray | None
    raw: RawTarget | None = None

    def target(self) -> Target:
        """The target that the numbers stand for, as it was read."""
        if self.raw is None:
            raise RuntimeError("the target is in whole numbers already")
        y = self.numbers[:, 0] if self.raw.labels is None else self.raw.labels[self.numbers[:, 0].astype(np.int64)]
        extras = {name: self.numbers[:, i + 1] for i, name in enumerate(self.raw.extras)}
        return Target(np.asarray(y), None if self.weight is None else np.asarray(self.weight), extras)


def encode(
    part: Part, plan: TargetPlan, known: ColumnSpecs, schema: Schema, bins: tuple[ColumnBins, ...], family: Family
) -> EncodedPart:
    """Encode a part."""
    if len(part) == 0:
        return _no_rows(bins, plan, family)
    target, counts = plan.fixed_point(part.y, part.weight, part.extras)
    return _whole(_codes(part, known, schema, bins, counts), target, family)


def keep(part: Part, plan: TargetPlan, known: ColumnSpecs) -> EncodedPart:
    """Encode the features of a part whose columns are known, and keep its target as it is."""
    bins, names = tuple(known.bins.values()), tuple(sorted(part.extras))
    labels = np.zeros(0) if plan.has_classes else None
    if len(part) == 0:
        weight = None if part.weight is None else np.zeros(0)
        return EncodedPart(_no_codes(bins), np.zeros((0, 1 + len(names))), weight, RawTarget(labels, names))
    target, counts = plan.look(part.y, part.weight, part.extras)
    y = target.y
    if plan.has_classes:
        labels, y = np.unique(target.y, return_inverse=True)
    numbers = np.stack([y, *(target.extras[name] for name in names)], axis=1).astype(np.float64)
    codes = _codes(part, known, known.schema(None), bins, counts)
    return EncodedPart(codes, numbers, target.weight, RawTarget(labels, names))


def looked_at(kept: EncodedPart, plan: TargetPlan) -> TargetSummary:
    """What the targets of a part are that were kept as they are."""
    return TargetSummary.of(kept.target(), plan)


def settle(kept: EncodedPart, plan: TargetPlan, bins: tuple[ColumnBins, ...], family: Family) -> EncodedPart:
    """Whole numbers instead of targets that were kept as they are."""
    if len(kept) == 0:
        return _no_rows(bins, plan, family)
    codes = kept.codes
    left_out_columns = [column for column, own in enumerate(bins) if is_left_out(own)]
    if left_out_columns:
        codes = np.array(codes)
        codes[:, left_out_columns] = 0
    return _whole(codes, plan.settled(kept.target()), family)


def _whole(codes: AnyArray, target: Target, family: Family) -> EncodedPart:
    numbers = np.ascontiguousarray(np.stack(family.fixed_point.fixed_point_rows(target), axis=1), dtype=np.int64)
    return EncodedPart(codes, numbers, None if target.weight is None else whole_weight(target))


def _no_rows(bins: tuple[ColumnBins, ...], plan: TargetPlan, family: Family) -> EncodedPart:
    width = 1 if family.has_classes or not family.outcome.from_zero else 2
    weighted = plan.grids is not None and plan.grids.weight is not None
    none = np.zeros(0, dtype=np.int64)
    return EncodedPart(_no_codes(bins), none.reshape(0, width), none if weighted else None)


def _no_codes(bins: tuple[ColumnBins, ...]) -> AnyArray:
    return np.zeros((0, len(bins)), dtype=np.uint16 if _two_bytes(bins) else np.uint8)


def _two_bytes(bins: tuple[ColumnBins, ...]) -> bool:
    return max(own.n_codes for own in bins) > 256


def _codes(
    part: Part, known: ColumnSpecs, schema: Schema, bins: tuple[ColumnBins, ...], counts: AnyArray | None
) -> AnyArray:
    """The codes of all features of a part; no value is outside of bins that were given."""
    matrix = known.read(part.like(schema.names, schema.n_features).X, schema)
    matrix = matrix if counts is None else matrix[counts]
    given = known.bins
    highs = [own.ends if column in given else own.highs for column, own in enumerate(bins)]
    missing, left_out_columns = [own.has_missing for own in bins], [is_left_out(own) for own in bins]
    return np.asarray(_core.encode_part(matrix, highs, missing, left_out_columns, _two_bytes(bins), 1))


def left_out() -> ColumnBins:
    """The bins of a column that no split may use: all values are alike."""
    return ColumnBins(np.array([-np.inf]), np.array([np.inf]), has_missing=False)


def is_left_out(bins: ColumnBins) -> bool:
    """Whether these are such."""
    return len(bins.highs) == 1 and bool(np.isinf(bins.highs[0]))


def sums_of(
    part: EncodedPart, asked: CodeLayout, routes: Routes, half: int | None = None
) -> Histograms | ClassHistograms:
    """The histograms of the open nodes over a part, or over one half of its rows."""
    return _half_of(part, half).histograms(asked, routes)


def factors_of(
    part: EncodedPart, asked: CodeLayout, routes: Routes, outcome: Outcome, half: int | None = None
) -> list[int]:
    """The sums of the logs of factors in the open nodes over a part, or over one half of its rows."""
    return _half_of(part, half).factors(asked, routes, outcome)


def _half_of(part: EncodedPart, half: int | None) -> EncodedRows:
    return part if half is None else part.half(half)


def sample_of(part: EncodedPart, shares: int) -> Sample:
    """Some rows of a part."""
    return Sample(part.codes.T, part.numbers, part.weight).chosen(shares)


@dataclass(frozen=True)
class Totals:
    """`FixedPointOutcome.totals_of` a part, and which codes of some columns its rows have."""

    sums: list[int]
    occurs: dict[int, BoolArray]

    def __add__(self, other: Totals) -> Totals:
        sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)]
        return Totals(sums, {column: own | other.occurs[column] for column, own in self.occurs.items()})


def totals_of(part: EncodedPart, family: Family, n_codes: dict[int, int]) -> Totals:
    """The totals of a part; the codes of the columns that have so many are looked at."""
    weight = np.ones(len(part), dtype=np.int64) if part.weight is None else part.weight
    occurs = {column: np.bincount(part.codes[:, column], minlength=n) > 0 for column, n in n_codes.items()}
    return Totals(family.fixed_point.totals([*part.numbers.T], weight), occurs)


def narrow(part: EncodedPart, occurs: dict[int, BoolArray]) -> EncodedPart:
    """The same part without the codes of some columns that do not occur."""
    codes = np.array(part.codes)
    for column, own in occurs.items():
        codes[:, column] = (np.cumsum(own) - 1)[codes[:, column]]
    return replace(part, codes=codes)
