"""Databases, through Ibis: a level of the tree is a GROUP BY, and the rows stay in the database.

The codes and fixed-point targets of the rows are stored in a temporary table if the database allows one, and are an
expression over the table otherwise. Only counts and integer sums are fetched.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import ibis
import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from ..growth import (
    ClassHistograms,
    ColumnBins,
    EncodedRows,
    Histograms,
    HistogramSource,
    Routes,
    hash_of_codes,
    other_rows,
)
from ..outcomes import Family, Outcome, Target, fixed_point_outcome
from ..table import Column, Kind, Schema
from ._column_specs import ColumnSpecs, TableSpec, present_bins
from ._interrupts import end_running_query
from ._parts import excluded_bins, is_excluded
from ._roles import ColumnRoles
from ._source import TableSummary, require
from ._sql_backend import ConnectionSettings, backend_of
from ._sql_bins import BinQueries, Range, find_bins
from ._sql_columns import ColumnQueries
from ._sql_dialects import dialect_of
from ._sql_execution import fetch, fetch_arrays
from ._sql_fixed_point import (
    code_expression,
    fixed_point_target,
    integer_weights,
    labels_of,
    number,
    product_digits,
    unexpected_code,
)
from ._sql_histograms import Aggregation, ClassAggregation, Layout, NumberAggregation, flatten
from ._sql_lookups import MIN_LABELS, LookedUpColumn
from ._sql_node_table import NodeTable
from ._sql_packing import Packing
from ._sql_same_rows import check_classes, check_codes, check_targets
from ._sql_slices import SlicedColumn, Slices, encode_by_slices
from ._sql_snapshot import Snapshot, fixed_rows
from ._sql_target import TargetQueries
from ._sql_temporary import TemporaryTables
from ._targets import TargetPlan


def spark_frame_of(table: Any) -> Any:
    """The Spark data frame of an Ibis table in Spark, which grows a tree faster than queries; else None."""
    backend = backend_of(table)
    return backend.raw_sql(backend.compile(table)) if backend.name == "pyspark" else None


@dataclass
class SqlSource:
    """A source whose rows are a table of a database."""

    table: Any
    names: ColumnRoles
    table_spec: TableSpec = field(default_factory=TableSpec)
    specs: ColumnSpecs | None = field(default=None, init=False)
    rows: Any = field(default=None, init=False)  # those of positive weight
    schema: Schema | None = field(default=None, init=False)
    n_rows: int = field(default=0, init=False)
    ranges: dict[int, Range] = field(default_factory=dict, init=False)
    positions: dict[int, AnyArray] = field(default_factory=dict, init=False)  # of categories with positive weight
    columns: tuple[ColumnBins, ...] = field(default=(), init=False)
    classes: AnyArray | None = field(default=None, init=False)
    class_rows: FloatArray | None = field(default=None, init=False)
    plan: TargetPlan | None = field(default=None, init=False)
    coded: Any = field(default=None, init=False)  # the rows as packed codes and fixed-point targets
    n_stored: list[int] = field(default_factory=list, init=False)  # number of codes of each column in the coded rows
    packing: Packing | None = field(default=None, init=False)
    stored: list[AnyArray] = field(default_factory=list, init=False)  # for each column, the stored value of each code
    node_table: NodeTable | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.names.check(list(self.table.columns))
        backend = backend_of(self.table)
        self.settings, self.dialect = ConnectionSettings(backend), dialect_of(backend)
        self.temporary, self.fixed = TemporaryTables(backend), TemporaryTables(backend)  # of coded and of raw rows
        self.snapshot: Snapshot | None = None
        self.features = self.names.features_of(self.table.columns)

    def summarise(
        self,
        plan: TargetPlan,
        categorical_features: Any,
        max_bins: int,  # noqa: ARG002
    ) -> TableSummary:
        """Summarise the columns and targets by a few queries; columns that are specified need none."""
        self.plan = plan
        self.specs = specs = self.table_spec.of(self.features, len(self.features), categorical_features)
        kinds = ColumnQueries(self.table, self.names).kinds(specs)
        TargetQueries(self.table, self.names, plan).check_types()
        self.table = fixed_rows(self.table, self.fixed)
        self.stores_codes = self.temporary.are_possible(self.table)
        self.snapshot = Snapshot(self.table.get_backend())
        columns, targets = ColumnQueries(self.table, self.names), TargetQueries(self.table, self.names, plan)
        incomplete = specs.incomplete
        self.rows = rows = targets.counted_rows()
        if (uncounted := targets.uncounted_rows()) is not None:
            columns.refuse_infinity(uncounted, [i for i in incomplete if kinds[i] is Kind.NUMBER])
        target_range = targets.target_range(rows)
        self.n_rows = target_range.n_rows
        self.ranges = columns.ranges(rows, target_range.n_rows, {i: kinds[i] for i in incomplete})
        labels = {i: columns.labels(self.features[i]) for i in incomplete if kinds[i] is Kind.CATEGORY}
        self.positions = {i: positions for i, (_, positions) in labels.items()}
        learnt = tuple(Column(kinds[i], labels[i][0] if i in labels else None) for i in incomplete)
        self.schema = specs.schema(Schema(learnt, tuple(self.features[i] for i in incomplete)))
        if not plan.has_classes:
            targets.check_numbers(rows)
            return TableSummary(self.schema, target_range)
        self.classes, self.class_rows, largest = targets.classes(rows)
        return TableSummary(self.schema, target_range, self.classes, self.class_rows, largest)

    def bins(self, plan: TargetPlan, max_bins: int, excluded: BoolArray) -> tuple[ColumnBins, ...]:
        """Find the bins of numeric columns that are not specified, by a few queries for all of them."""
        specs = require(self.specs)
        bins = specs.bins | {i: excluded_bins() for i in np.flatnonzero(excluded).tolist()}
        ranges = {}
        for i in specs.incomplete:
            if i in bins:
                continue
            column_range = self.ranges[i]
            if column_range.low is None:
                positions = self.positions.get(i, np.zeros(0))
                bins[i] = ColumnBins(positions, positions, column_range.has_missing)
            else:
                ranges[self.features[i]] = column_range
        of_rows = BinQueries(self.rows, integer_weights(self.rows, self.names, plan), max_bins)
        numeric = find_bins(of_rows, ranges, self._exact_range)
        self.columns = tuple(numeric[name] if name in numeric else bins[i] for i, name in enumerate(self.features))
        return self.columns

    def _exact_range(self, name: str) -> Range:
        """The range of a feature whose guess was wrong."""
        i, columns = self.features.index(name), ColumnQueries(self.table, self.names)
        self.ranges |= columns.ranges_of_numbers(self.rows, self.n_rows, [i])
        return self.ranges[i]

    def totals(self, plan: TargetPlan, family: Family) -> list[int]:
        """Encode the rows and add up their targets."""
        self.plan = plan
        self._encode(plan, family)
        numbers = [self.coded[f"u{k}"] for k in range(self.n_numbers)]
        digits = product_digits(numbers, self.weight, with_square=len(numbers) == 1)
        expressions = {f"d{i}": digit.expression for i, digit in enumerate(flatten(digits))}
        self._check_rows()
        table = self.coded.select(**expressions)
        row = fetch(table.aggregate(**{name: table[name].sum().cast("int64") for name in expressions}))
        self._drop_absent_codes()
        if self.temporary.names:
            require(self.snapshot).close(keep=True)
            self.fixed.drop()
            self.settings.forget_order()
            self.node_table = NodeTable(self.coded, self.stored, self._layout, self._aggregation, self.settings)
        sums = iter([int(row[f"d{i}"][0] or 0) for i in range(len(expressions))])
        return [sum(next(sums) << digit.power for digit in number) for number in digits]

    def _check_rows(self) -> None:
        """Raise an error if other rows were encoded than those in which bins, categories and classes were found."""
        names = [f"u{k}" for k in range(self.n_numbers)] + ([] if self.weight is None else ["w"])
        check_targets(self.coded, names, self.n_rows)
        if self.class_rows is not None:
            check_classes(self.coded, self.class_rows)
        specified, packing = require(self.specs).bins, require(self.packing)
        codes = {i: packing.code(self.coded, i) for i, bins in enumerate(self.columns) if not is_excluded(bins)}
        n_missing = {i: of.n_missing for i, of in self.ranges.items() if i in codes}
        for i in check_codes(self.coded, codes, self.columns, n_missing):
            if i in specified:
                raise self._error_of_value(i)
            raise other_rows(f"column {self.features[i]!r} has other values")

    def _drop_absent_codes(self) -> None:
        """Remove the codes of specified categories that do not occur."""
        unordered = [i for i in require(self.specs).complete_categories if not is_excluded(self.columns[i])]
        is_present = {i: np.zeros(self.columns[i].n_codes, dtype=bool) for i in unordered}
        packing = require(self.packing)
        queries = [self.coded.select(f=ibis.literal(i), code=packing.code(self.coded, i)).distinct() for i in unordered]
        pairs = fetch(reduce(lambda one, other: one.union(other), queries)) if queries else {"f": [], "code": []}
        for i, code in zip(pairs["f"], pairs["code"], strict=True):
            is_present[i][code] = True
        present = {i: present_bins(self.columns[i], codes) for i, codes in is_present.items()}
        columns = dict(enumerate(self.columns)) | present
        self.columns = tuple(columns.values())
        self.stored = [
            np.flatnonzero(is_present[i]) if i in is_present else np.arange(column.n_codes)
            for i, column in columns.items()
        ]

    def _error_of_value(self, i: int) -> ValueError:
        """The error for a value that contradicts the specification of its column."""
        bins, column = self.columns[i], require(self.schema).columns[i]
        code = code_expression(self.rows[self.features[i]], bins, column, self.dialect, is_specified=True)
        wrong = self.rows.filter(code == unexpected_code(bins))
        value = fetch(wrong.select(value=self.features[i]).limit(1))["value"][0]
        return require(self.specs).error_of_value(i, value)

    @property
    def _layout(self) -> Layout:
        first = np.cumsum([0, *self.n_stored])
        present = np.concatenate([start + codes for start, codes in zip(first[:-1], self.stored, strict=True)])
        return Layout(require(self.packing), first, present)

    @property
    def _aggregation(self) -> Aggregation:
        if self.classes is not None:
            return ClassAggregation(self._layout, len(self.classes), self.weight is not None, self.n_rows)
        return NumberAggregation(self._layout, self.n_numbers, self.weight is not None)

    @property
    def n_numbers(self) -> int:
        """The number of fixed-point numbers in the target of a row."""
        return sum(name.startswith("u") for name in self.coded.columns)

    @property
    def weight(self) -> Any:
        """The integer weight of each row; None for 1."""
        return self.coded["w"] if "w" in self.coded.columns else None

    def _encode(self, plan: TargetPlan, family: Family) -> None:
        """Encode the rows, into a temporary table if the database allows one."""
        rows, schema, specs = self.rows, require(self.schema), require(self.specs)
        numbers, weight = fixed_point_target(rows, self.names, plan, family)
        others = {f"u{k}": number for k, number in enumerate(numbers)} | ({} if weight is None else {"w": weight})
        columns = [(rows[name], bins) for name, bins in zip(self.features, self.columns, strict=True)]
        self.n_stored = [bins.n_codes for bins in self.columns]
        backend = self.table.get_backend()
        self.packing = Packing.of([self._n_codes_with_unexpected(i) for i in range(len(self.columns))], backend)

        def expressions(chosen: Iterable[int]) -> dict[str, Any]:
            return {
                f"c{i}": code_expression(*columns[i], schema.columns[i], self.dialect, is_specified=i in specs.bins)
                for i in chosen
            }

        if not self.stores_codes:
            self.coded = self._pack(rows.select(**others, **expressions(range(len(columns)))), others)
            return
        chosen = [i for i, bins in enumerate(self.columns) if not is_excluded(bins)]
        sliced = {f"c{i}": column for i in chosen if (column := self._sliced(i, *columns[i])) is not None}
        looked_up = {f"c{i}": labels for i in chosen if (labels := self._looked_up(i, *columns[i])) is not None}
        tables = TemporaryTables(backend)
        try:
            known = sliced.keys() | looked_up.keys()
            plain = expressions(i for i in range(len(columns)) if f"c{i}" not in known)
            codes = encode_by_slices(tables, rows, sliced, looked_up, others | plain)
            self.coded = self.temporary.of_query(self._pack(codes, others), "part")
        finally:
            tables.drop()

    def _sliced(self, i: int, column: Any, bins: ColumnBins) -> SlicedColumn | None:
        """A column of numbers whose codes are looked up by slices, if it can be."""
        if require(self.schema).columns[i].categories is not None or not self.dialect.has_lists:
            return None
        missing = len(bins.highs)
        if i not in require(self.specs).bins:
            slices = Slices.of(bins)
            return None if slices is None else SlicedColumn(self.ranges[i].value(column), missing, slices)
        limits = bins.ends[:-1]
        slices = Slices.of_limits(limits)
        if slices is None:
            return None
        return SlicedColumn(number(column), missing, slices, limits, unexpected_code(bins))

    def _looked_up(self, i: int, column: Any, bins: ColumnBins) -> LookedUpColumn | None:
        """A column of many categories, whose codes are looked up by their labels."""
        categories = require(self.schema).columns[i].categories
        if categories is None or len(bins.highs) < MIN_LABELS:
            return None
        return LookedUpColumn(column, labels_of(bins, categories), unexpected_code(bins))

    def _n_codes_with_unexpected(self, i: int) -> int:
        """The codes of a column and of values that it should not have; those of numbers then count as missing."""
        bins, column = self.columns[i], require(self.schema).columns[i]
        if is_excluded(bins):
            return 1
        if i in require(self.specs).bins or column.categories is not None:
            return unexpected_code(bins) + 1
        return len(bins.highs) + 1

    def _pack(self, codes: Any, others: dict[str, Any]) -> Any:
        """The packed codes of rows and other columns; all rows are in node 0."""
        packed = require(self.packing).pack([codes[f"c{i}"] for i in range(len(self.columns))])
        part = ibis.literal(0) if self.classes is None else codes["u0"]
        return codes.select(*others, **packed, part=part.cast("int32"))

    def close(self) -> None:
        """Restore the settings of the connection and drop the temporary tables."""
        end_running_query(self.table.get_backend())
        self.settings.close()
        if self.snapshot is not None:
            self.snapshot.close()
        if self.node_table is not None:
            self.node_table.close()
        self.temporary.drop()
        self.fixed.drop()

    def rows_in_memory(self) -> EncodedRows | None:
        """None: the rows are in the database."""
        return None

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """The histograms of the open nodes, by a GROUP BY for each feature."""
        aggregation = self._aggregation
        if self.node_table is not None and routes.by_level:
            return aggregation.histograms(routes.n_open, self.node_table.query_results(routes))
        part = aggregation.part(self.coded, self._node(routes))
        rows = self.coded.mutate(part=part).filter(lambda rows: rows.part >= 0)
        return aggregation.histograms(routes.n_open, map(fetch_arrays, self._layout.queries(rows, aggregation)))

    def _node(self, routes: Routes) -> Any:
        """The number of the open node of each row, or -1."""
        leads_to_open = routes.open >= 0
        for node in reversed(range(len(leads_to_open))):  # children come after their parents
            if routes.feature[node] >= 0:
                leads_to_open[node] = leads_to_open[routes.lower[node]] | leads_to_open[routes.upper[node]]

        def below(node: int) -> Any:
            if routes.feature[node] < 0 or not leads_to_open[node]:
                return ibis.literal(max(int(routes.open[node]), -1), "int32")
            feature = int(routes.feature[node])
            lower = routes.goes_lower[routes.start[node] :][: self.columns[feature].n_codes].astype(bool)
            return ibis.ifelse(
                _is_code_among(require(self.packing).code(self.coded, feature), self.stored[feature][lower]),
                below(int(routes.lower[node])),
                below(int(routes.upper[node])),
            )

        return below(0)

    def sample(self, n_shares: int) -> EncodedRows:
        """One of `n_shares` shares of the rows."""
        columns = fetch(self.coded.filter(self._hashes() % n_shares == 0))
        arrays = {name: np.array(values, dtype=np.int64) for name, values in columns.items()}
        stored = [require(self.packing).read(arrays, i) for i in range(len(self.stored))]
        codes = np.stack([np.searchsorted(*pair) for pair in zip(self.stored, stored, strict=True)], axis=1)
        numbers = np.stack([arrays[f"u{k}"] for k in range(self.n_numbers)], axis=1)
        return EncodedRows(codes, numbers, arrays.get("w"))

    def halves(self) -> tuple[HistogramSource, HistogramSource]:
        """Two halves of the rows, by filters; a half has no table of nodes."""
        one, other = copy(self), copy(self)
        for which, half in enumerate((one, other)):
            half.node_table = None
            half.coded = self.coded.filter(self._hashes() % 2 == which)
        return one, other

    def _hashes(self) -> Any:
        """The hash of each row."""
        codes = [self._code(i) for i in range(len(self.columns))]
        return hash_of_codes(codes, [self.coded[f"u{k}"] for k in range(self.n_numbers)])

    def _code(self, i: int) -> Any:
        """The code of a feature in each row."""
        stored, code = self.stored[i], require(self.packing).code(self.coded, i)
        if np.array_equal(stored, np.arange(len(stored))):
            return code.cast("int64")
        return code.cases(*((int(value), place) for place, value in enumerate(stored)), else_=0).cast("int64")

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """The sum of the logs of factors in each open node, from groups of equal count, exposure and weight."""
        grids = require(require(self.plan).grids)
        rows = self.coded.mutate(node=self._node(routes)).filter(lambda t: t.node >= 0)
        keys = ["node", "u0", "u1", *(["w"] if self.weight is not None else [])]
        groups = fetch(rows.group_by(keys).aggregate(n=lambda t: t.count()))
        counts, exposure = (np.array(groups[name], dtype=np.int64) for name in ("u0", "u1"))
        extras = {name: grid.value(exposure) for name, grid in grids.extras.items()}
        y = np.zeros(0) if grids.y is None else grids.y.value(counts)
        factor = fixed_point_outcome(outcome).fixed_point_factor(Target(y, None, extras, grids))
        result = [0] * routes.n_open
        for i, log_factor in enumerate([] if factor is None else factor.tolist()):
            times = int(groups["n"][i]) * (int(groups["w"][i]) if "w" in groups else 1)
            result[int(groups["node"][i])] += times * log_factor
        return result


def _is_code_among(code: Any, codes: AnyArray) -> Any:
    """Whether a code is one of some sorted codes."""
    if len(codes) and codes[-1] - codes[0] + 1 == len(codes):
        return (code >= int(codes[0])) & (code <= int(codes[-1]))
    return code.isin([int(value) for value in codes])
