"""Parts of a table: frames or arrays that fit into memory one at a time, and the work that is done on each of them.

All functions here take a part and return a small result that can be merged with those of other parts. They run where
the part is, which may be another machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add, or_
from typing import Any

import narwhals as nw
import numpy as np

from .. import _core
from .._typing import AnyArray, BoolArray, FloatArray
from ..growth import ClassHistograms, CodeLayout, ColumnBins, EncodedRows, Histograms, Routes, join_rows
from ..outcomes import Family, Outcome, Target, TargetRange, integer_weight
from ..table import PartSchema, Schema, as_table, is_frame
from ._bins import ColumnValues, IntervalCounts, collect, count, splitters_of
from ._column_specs import ColumnSpecs, TableSpec
from ._frames import eager
from ._part_sums import PartSums, refuse_new_categories
from ._roles import ColumnRoles
from ._source import TableSummary
from ._targets import TargetPlan


@dataclass(frozen=True)
class Part:
    """Features, target, weights and extras."""

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
        """Put the columns in the order of the other parts; different columns raise an error."""
        part_names = self.names
        if part_names == names and self.X.shape[1] == n_columns:
            return self
        if part_names is None or names is None:
            raise ValueError("The parts of the table do not have the same columns: give all of them the same.")
        for one, two in ((part_names, names), (names, part_names)):
            if unknown := [name for name in one if name not in two]:
                raise ValueError(
                    f"The parts of the table do not have the same columns, only some have {unknown[0]!r}: give all of "
                    "them the same."
                )
        return replace(self, X=self.select([part_names.index(name) for name in names]))

    def select(self, columns: list[int]) -> Any:
        """Some of the features."""
        if columns == list(range(self.X.shape[1])):
            return self.X
        if not is_frame(self.X):
            return self.X[:, columns]
        return nw.from_native(self.X, eager_only=True)[:, columns].to_native()


def split_frame(frame: Any, names: ColumnRoles) -> Part:
    """Divide a frame into features, target, weights and extras."""
    table = eager(frame)
    names.check(table.columns)

    def column(name: str | None) -> Any:
        return None if name is None else _array(table[name])

    extras = {name: column(of) for name, of in names.extras.items()}
    features = table.select(names.features_of(table.columns)).to_native()
    return Part(features, column(names.target), column(names.weight), extras)


def _array(series: nw.Series[Any]) -> AnyArray:
    """A column as an array."""
    if series.implementation.is_pyarrow() and series.dtype == nw.Categorical:
        # NumPy would get the last category where a value of an Arrow dictionary is missing.
        dictionary = series.to_native()
        series = nw.from_native(dictionary.cast(dictionary.type.value_type), series_only=True)
    return series.to_numpy()


@dataclass(frozen=True)
class TargetSummary:
    """The range and the classes of the targets of a part."""

    target_range: TargetRange | None  # None where all weights are zero
    class_rows: dict[Any, tuple[int, float]]  # for each label, the number of rows and their largest weight

    @classmethod
    def of(cls, target: Target, plan: TargetPlan) -> TargetSummary:
        """Summarise a target."""
        if len(target.y) == 0:
            return cls(None, {})
        return cls(TargetRange.of(target, of_y=not plan.has_classes), _class_rows(target, plan))

    def __or__(self, other: TargetSummary) -> TargetSummary:
        ranges = [part.target_range for part in (self, other) if part.target_range is not None]
        labels = dict(self.class_rows)
        for label, (rows, weight) in other.class_rows.items():
            before = labels.get(label, (0, 0.0))
            labels[label] = (before[0] + rows, max(before[1], weight))
        return TargetSummary(reduce(or_, ranges) if ranges else None, labels)

    def table_summary(self, schema: Schema) -> TableSummary:
        """The summary of a table with these targets."""
        if self.target_range is None:
            raise ValueError("No row counts: the table is empty, or all weights are zero.")
        if not self.class_rows:
            return TableSummary(schema, self.target_range)
        classes = np.unique(np.array(list(self.class_rows)))
        pairs = [self.class_rows[label] for label in classes.tolist()]
        rows, weights = (np.array(values, dtype=np.float64) for values in zip(*pairs, strict=True))
        return TableSummary(schema, self.target_range, classes, rows, weights)


@dataclass(frozen=True)
class PartSummary:
    """The results of the first pass over a part: the columns that are not specified, and the targets."""

    schema: PartSchema
    counts: tuple[IntervalCounts | None, ...]  # None for unordered categories
    target: TargetSummary
    sums: PartSums
    max_bins: int

    def __or__(self, other: PartSummary) -> PartSummary:
        counts = tuple(
            a if b is None else b if a is None else a.merge(b, self.max_bins)
            for a, b in zip(self.counts, other.counts, strict=True)
        )
        target, sums = self.target | other.target, self.sums + other.sums
        return PartSummary(self.schema | other.schema, counts, target, sums, self.max_bins)


def read_column_specs(
    part: Part, table_spec: TableSpec, categorical_features: Any
) -> tuple[ColumnSpecs, tuple[FloatArray, ...]]:
    """The specifications of the columns, and splitters of the incomplete ones from this part."""
    specs = table_spec.of(part.names, part.X.shape[1], categorical_features)
    if not specs.incomplete:
        return specs, ()
    rows, _ = _learn_schema(part, specs)
    return specs, tuple(splitters_of(np.asarray(column)) for column in rows.T)


def _learn_schema(part: Part, specs: ColumnSpecs) -> tuple[FloatArray, Schema]:
    """Read the columns whose specifications are incomplete."""
    incomplete = specs.incomplete
    names = None if part.names is None else [part.names[i] for i in incomplete]
    rows, schema = Schema.learn(as_table(part.select(incomplete)), specs.categorical_features(), names, specs.kinds())
    schema.refuse_infinity(rows)
    return rows.dense(), schema


def summarise_part(
    part: Part, plan: TargetPlan, specs: ColumnSpecs, splitters: tuple[FloatArray, ...], max_bins: int
) -> PartSummary | None:
    """Summarise a part; None for a part without rows."""
    if len(part) == 0:
        return None
    part = part.like(specs.names, len(specs.columns))
    matrix, schema = _learn_schema(part, specs)
    target, has_weight = plan.read(part.y, part.weight, part.extras)
    part_schema = PartSchema.of(schema, matrix, has_weight)
    matrix = matrix if has_weight is None else matrix[has_weight]
    pairs = enumerate(zip(splitters, schema.columns, strict=True))
    numeric = count(matrix, {i: between for i, (between, column) in pairs if not column.is_nominal}, max_bins)
    counts = tuple(numeric.get(i) for i in range(schema.n_features))
    sums = PartSums.of(matrix, dict(zip(specs.incomplete, schema.columns, strict=True)), target, specs.names)
    return PartSummary(part_schema, counts, TargetSummary.of(target, plan), sums, max_bins)


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
    """Values of columns near the ends of their bins; for categories, the positions that occur."""

    values: dict[int, list[ColumnValues]]  # of each part
    finer: dict[int, IntervalCounts]  # second counts, between finer splitters, or by weight
    sums: PartSums

    def merge(self, other: IntervalValues, max_bins: int) -> IntervalValues:
        """The values of two parts."""
        values = {i: arrays + other.values[i] for i, arrays in self.values.items()}
        finer = {i: counts.merge(other.finer[i], max_bins) for i, counts in self.finer.items()}
        return IntervalValues(values, finer, self.sums + other.sums)


def collect_part(
    part: Part, plan: TargetPlan, schema: Schema, counts: dict[int, IntervalCounts | None], max_bins: int
) -> IntervalValues | None:
    """Collect the values that decide the bins of some columns; None for a part without rows."""
    if len(part) == 0:
        return None
    target, has_weight = plan.read(part.y, part.weight, part.extras)
    rows = schema.read(as_table(part.like(schema.names, schema.n_features).X), np.array(list(counts)))
    place = {i: i if rows.column_of is None else int(rows.column_of[i]) for i in counts}
    matrix = (rows.dense() if has_weight is None else rows.dense()[has_weight])[:, list(place.values())]
    columns = {i: schema.columns[i] for i in counts}
    refuse_new_categories(matrix, columns, schema.names)
    sums = PartSums.of(matrix, columns, target, schema.names)
    weight = plan.integer_weight(target)
    place = {i: at for at, i in enumerate(counts)}
    numeric = {i: column for i, column in counts.items() if column is not None}
    fine, coarse = {}, {}
    for i, column in numeric.items():
        if weight is not None and column.n_values is None:
            coarse[place[i]] = column.splitters  # they were counted before the unit of weights was known
        elif column.is_fine(max_bins):
            fine[place[i]] = column
        else:
            coarse[place[i]] = column.finer_splitters(max_bins)
    near, finer = collect(matrix, fine, max_bins, weight), count(matrix, coarse, max_bins, weight)
    values = {i: [near[at]] for i, at in place.items() if at in near}
    for i in counts.keys() - numeric.keys():
        positions = np.unique(matrix[:, place[i]])
        values[i] = [ColumnValues(positions[~np.isnan(positions)])]
    return IntervalValues(values, {i: finer[at] for i, at in place.items() if at in finer}, sums)


@dataclass(frozen=True)
class RawTarget:
    """The meaning of the numbers of a part before the targets of all parts are known: y and extras."""

    labels: AnyArray | None  # y is a position among these labels; None for a number
    extras: tuple[str, ...]


@dataclass(frozen=True)
class EncodedPart(EncodedRows):
    """A part as codes and fixed-point targets, or targets as they were read."""

    numbers: AnyArray
    weight: AnyArray | None
    raw: RawTarget | None = None
    sums: PartSums | None = None  # of the rows as they were read; None without rows

    @property
    def n_bytes(self) -> int:
        """The size in memory."""
        return self.codes.nbytes + self.numbers.nbytes + (0 if self.weight is None else self.weight.nbytes)

    def target(self) -> Target:
        """The target as it was read."""
        if self.raw is None:
            raise RuntimeError("The target is in fixed point already.")
        y = self.numbers[:, 0] if self.raw.labels is None else self.raw.labels[self.numbers[:, 0].astype(np.int64)]
        extras = {name: self.numbers[:, i + 1] for i, name in enumerate(self.raw.extras)}
        return Target(np.asarray(y), None if self.weight is None else np.asarray(self.weight), extras)


def join_parts(parts: list[EncodedPart]) -> EncodedPart:
    """The rows of several parts, whose targets are in fixed point unless there is but one, and their sums."""
    if len(parts) == 1:
        return parts[0]
    rows, sums = join_rows(parts), [part.sums for part in parts if part.sums is not None]
    return EncodedPart(rows.codes, rows.numbers, rows.weight, None, reduce(add, sums) if sums else None)


def encode(
    part: Part, plan: TargetPlan, specs: ColumnSpecs, schema: Schema, bins: tuple[ColumnBins, ...], family: Family
) -> EncodedPart:
    """Encode the features and the target of a part."""
    if len(part) == 0:
        return _empty_part(bins, plan, family)
    target, has_weight = plan.read(part.y, part.weight, part.extras)
    codes, sums = _codes(part, specs, schema, bins, (target, has_weight))
    return replace(_fixed_point_part(codes, plan.to_fixed_point(target), family), sums=sums)


def encode_features(part: Part, plan: TargetPlan, specs: ColumnSpecs) -> EncodedPart:
    """Encode the features of a part whose columns are all specified, and store its target as it was read."""
    bins, names = tuple(specs.bins.values()), tuple(sorted(part.extras))
    labels = np.zeros(0) if plan.has_classes else None
    if len(part) == 0:
        weight = None if part.weight is None else np.zeros(0)
        return EncodedPart(_empty_codes(bins), np.zeros((0, 1 + len(names))), weight, RawTarget(labels, names))
    target, has_weight = plan.read(part.y, part.weight, part.extras)
    y = target.y
    if plan.has_classes:
        labels, y = np.unique(target.y, return_inverse=True)
    numbers = np.stack([y, *(target.extras[name] for name in names)], axis=1).astype(np.float64)
    codes, sums = _codes(part, specs, specs.schema(None), bins, (target, has_weight))
    return EncodedPart(codes, numbers, target.weight, RawTarget(labels, names), sums)


def summarise_target(part: EncodedPart, plan: TargetPlan) -> TargetSummary:
    """Summarise the target of a part whose target is stored as it was read."""
    return TargetSummary.of(part.target(), plan)


def encode_target(part: EncodedPart, plan: TargetPlan, bins: tuple[ColumnBins, ...], family: Family) -> EncodedPart:
    """Convert the target of a part to fixed point."""
    if len(part) == 0:
        return _empty_part(bins, plan, family)
    codes = part.codes
    excluded = [i for i, column in enumerate(bins) if is_excluded(column)]
    if excluded:
        codes = np.array(codes)
        codes[:, excluded] = 0
    return replace(_fixed_point_part(codes, plan.to_fixed_point(part.target()), family), sums=part.sums)


def _fixed_point_part(codes: AnyArray, target: Target, family: Family) -> EncodedPart:
    numbers = np.ascontiguousarray(np.stack(family.fixed_point.fixed_point_rows(target), axis=1), dtype=np.int64)
    return EncodedPart(codes, numbers, None if target.weight is None else integer_weight(target))


def _empty_part(bins: tuple[ColumnBins, ...], plan: TargetPlan, family: Family) -> EncodedPart:
    width = 1 if family.has_classes or not family.outcome.from_zero else 2
    weighted = plan.grids is not None and plan.grids.weight is not None
    empty = np.zeros(0, dtype=np.int64)
    return EncodedPart(_empty_codes(bins), empty.reshape(0, width), empty if weighted else None)


def _empty_codes(bins: tuple[ColumnBins, ...]) -> AnyArray:
    return np.zeros((0, len(bins)), dtype=np.uint16 if _needs_two_bytes(bins) else np.uint8)


def _needs_two_bytes(bins: tuple[ColumnBins, ...]) -> bool:
    return max(column.n_codes for column in bins) > 256


def _codes(
    part: Part,
    specs: ColumnSpecs,
    schema: Schema,
    bins: tuple[ColumnBins, ...],
    read: tuple[Target, AnyArray | None],
) -> tuple[AnyArray, PartSums]:
    """The codes of all features of a part, and its sums; values beyond the last of specified bins are in that bin.

    `read` has the target of the rows of positive weight, and which rows these are.
    """
    target, has_weight = read
    matrix = specs.read(part.like(schema.names, schema.n_features).X, schema)
    matrix = matrix if has_weight is None else matrix[has_weight]
    columns = dict(enumerate(schema.columns))
    refuse_new_categories(matrix, columns, schema.names)
    sums = PartSums.of(matrix, columns, target, schema.names)
    specified = specs.bins
    highs = [column.ends if i in specified else column.highs for i, column in enumerate(bins)]
    missing, excluded = [column.has_missing for column in bins], [is_excluded(column) for column in bins]
    codes = _core.encode_part(matrix, highs, missing, excluded, _needs_two_bytes(bins), 1)
    return np.asarray(codes), sums


def excluded_bins() -> ColumnBins:
    """The single bin of a column that no split may use."""
    return ColumnBins(np.array([-np.inf]), np.array([np.inf]), has_missing=False)


def is_excluded(bins: ColumnBins) -> bool:
    """Whether these are the bins of a column that no split may use."""
    return len(bins.highs) == 1 and bool(np.isinf(bins.highs[0]))


def histograms_of(
    part: EncodedPart, layout: CodeLayout, routes: Routes, half: int | None = None
) -> Histograms | ClassHistograms:
    """The histograms of the open nodes over a part, or over one half of its rows."""
    return _select_half(part, half).histograms(layout, routes)


def factors_of(
    part: EncodedPart, layout: CodeLayout, routes: Routes, outcome: Outcome, half: int | None = None
) -> list[int]:
    """The sum of the logs of factors in each open node, over a part or over one half of its rows."""
    return _select_half(part, half).factors(layout, routes, outcome)


def _select_half(part: EncodedPart, half: int | None) -> EncodedRows:
    return part if half is None else part.half(half)


def sample_of(part: EncodedPart, n_shares: int) -> EncodedRows:
    """One of `n_shares` shares of the rows of a part."""
    return part.sample(n_shares)


@dataclass(frozen=True)
class Totals:
    """`FixedPointOutcome.totals` of a part, and which codes of some columns occur."""

    sums: list[int]
    is_present: dict[int, BoolArray]

    def __add__(self, other: Totals) -> Totals:
        sums = [a + b for a, b in zip(self.sums, other.sums, strict=True)]
        return Totals(sums, {i: codes | other.is_present[i] for i, codes in self.is_present.items()})


def totals_of(part: EncodedPart, family: Family, n_codes: dict[int, int]) -> Totals:
    """The totals of a part, and the codes that occur in the columns for which `n_codes` has a number of codes."""
    weight = np.ones(len(part), dtype=np.int64) if part.weight is None else part.weight
    is_present = {i: np.bincount(part.codes[:, i], minlength=n) > 0 for i, n in n_codes.items()}
    return Totals(family.fixed_point.totals([*part.numbers.T], weight), is_present)


def drop_absent_codes(part: EncodedPart, is_present: dict[int, BoolArray]) -> EncodedPart:
    """Renumber the codes of some columns without those that do not occur."""
    codes = np.array(part.codes)
    for i, present in is_present.items():
        codes[:, i] = (np.cumsum(present) - 1)[codes[:, i]]
    return replace(part, codes=codes)
