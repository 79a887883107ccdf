"""Databases, through Ibis: a level of the tree is a GROUP BY, and the rows never leave the database.

The codes and whole numbers of the rows are a temporary table where the database allows one, and an expression over the
table where not. Everything that is fetched is a count or a sum of whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import ibis
import numpy as np

from .._typing import AnyArray, BoolArray
from ..growth import (
    MODULUS,
    NUMBER_MODULUS,
    TIMES,
    ClassHistograms,
    ColumnBins,
    EncodedRows,
    Histograms,
    HistogramSource,
    Routes,
    Sample,
    column_factor,
    number_factor,
)
from ..outcomes import Family, Outcome, Target, fixed_point_outcome
from ..table import Column, Kind, Schema
from ._column_specs import ColumnSpecs, TableSpec, occurring
from ._ctrl_c import end_running_query
from ._parts import Names, is_left_out, left_out
from ._source import TableSummary
from ._sql_backend import backend_of
from ._sql_bins import Range, find_bins
from ._sql_encode import Sliced, Slices, coded_by_slices
from ._sql_fixed_point import (
    coded,
    fetch,
    fetch_arrays,
    outside,
    product_digits,
    whole_expression,
)
from ._sql_histograms import Adder, ClassAdder, Layout, NumberAdder, flat
from ._sql_look import TableLook
from ._sql_place import PlacedRows
from ._sql_settings import Settings
from ._sql_target import TargetLook
from ._sql_values import TemporaryTables
from ._sql_words import Words
from ._targets import TargetPlan


@dataclass
class SqlSource:
    """Asks a database what a fit wants to know."""

    table: Any
    names: Names
    given: TableSpec = field(default_factory=TableSpec)
    known: ColumnSpecs | None = field(default=None, init=False)
    rows: Any = field(default=None, init=False)  # those that count
    schema: Schema | None = field(default=None, init=False)
    n_rows: int = field(default=0, init=False)
    ranges: dict[int, Range] = field(default_factory=dict, init=False)
    columns: tuple[ColumnBins, ...] = field(default=(), init=False)
    classes: AnyArray | None = field(default=None, init=False)
    plan: TargetPlan | None = field(default=None, init=False)
    coded: Any = field(default=None, init=False)
    n_stored: list[int] = field(default_factory=list, init=False)  # codes of each column that the coded rows can have
    words: Words | None = field(default=None, init=False)  # where the coded rows have the codes
    stored: list[AnyArray] = field(default_factory=list, init=False)  # what the coded rows have for each code
    placed: PlacedRows | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.names.check(list(self.table.columns))
        backend = backend_of(self.table)
        self.settings = Settings(backend)
        self.temporary = TemporaryTables(backend)  # the coded rows, where they are one
        self.features = [name for name in self.table.columns if name not in self.names.all]

    def look(self, plan: TargetPlan, categorical_features: Any, max_bins: int) -> TableSummary:  # noqa: ARG002
        """A few queries over the whole table; columns of which all is known are left alone."""
        self.plan = plan
        look, targets = TableLook(self.table, self.names), TargetLook(self.table, self.names, plan)
        self.known = known = look.known(self.given, categorical_features)
        kinds = look.kinds(known)
        self.rows = rows = targets.counted_rows()
        rest = known.rest
        reach = targets.reach(rows)
        self.n_rows = reach.n_rows
        self.ranges = look.ranges(rows, reach.n_rows, {i: kinds[i] for i in rest})
        found = [
            Column(kinds[i], look.labels(rows, self.features[i]) if kinds[i] is Kind.CATEGORY else None) for i in rest
        ]
        self.schema = known.schema(Schema(tuple(found), tuple(self.features[i] for i in rest)))
        if not plan.has_classes:
            targets.check_numbers(rows)
            return TableSummary(self.schema, reach)
        self.classes, counts, largest = targets.classes(rows)
        return TableSummary(self.schema, reach, self.classes, counts, largest)

    def bins(self, max_bins: int, left_out_columns: BoolArray) -> tuple[ColumnBins, ...]:
        """A few queries for all columns of numbers that are not known."""
        schema, known = _known(self.schema), _known(self.known)
        result = known.bins | {i: left_out() for i in np.flatnonzero(left_out_columns).tolist()}
        rest = [i for i in known.rest if i not in result]
        ranges = {}
        for i in rest:
            own = self.ranges[i]
            if own.low is None:
                positions = np.arange(_n_categories(schema.columns[i]), dtype=np.float64)
                result[i] = ColumnBins(positions, positions, own.has_missing)
            else:
                ranges[self.features[i]] = own
        ends = find_bins(self.rows, ranges, max_bins, self._look_again)
        self.columns = tuple(ends[name] if name in ends else result[i] for i, name in enumerate(self.features))
        return self.columns

    def _look_again(self, name: str) -> Range:
        """The range of a feature that was guessed wrong."""
        i, look = self.features.index(name), TableLook(self.table, self.names)
        self.ranges |= look.ranges_of_numbers(self.rows, self.n_rows, [i])
        return self.ranges[i]

    def totals(self, plan: TargetPlan, family: Family) -> list[int]:
        """The rows as codes and whole numbers, from here on."""
        self.plan = plan
        self._encode(plan, family)
        numbers = [self.coded[f"u{k}"] for k in range(self.n_numbers)]
        digits = product_digits(numbers, self.weight, with_square=len(numbers) == 1)
        asked = {f"d{i}": own.expression for i, own in enumerate(flat(digits))}
        known = {f"c{i}": _known(self.words).code(self.coded, i) for i in _known(self.known).bins}
        table = self.coded.select(**asked, **known)
        largest = {name: table[name].max() for name in known}
        found = fetch(table.aggregate(**{name: table[name].sum().cast("int64") for name in asked}, **largest))
        for i in _known(self.known).bins:
            if found[f"c{i}"][0] == outside(self.columns[i]):
                raise self._outside(i)
        self._narrow()
        if self.temporary.names:
            self.placed = PlacedRows(self.coded, self.stored, self._layout, self._adder, self.settings)
        sums = iter([int(found[f"d{i}"][0] or 0) for i in range(len(asked))])
        return [sum(next(sums) << own.power for own in each) for each in digits]

    def _narrow(self) -> None:
        """Given categories that do not occur have no codes."""
        asked = [i for i in _known(self.known).may_not_occur if not is_left_out(self.columns[i])]
        occurs = {i: np.zeros(self.columns[i].n_codes, dtype=bool) for i in asked}
        seen = [
            self.coded.select(f=ibis.literal(i), code=_known(self.words).code(self.coded, i)).distinct() for i in asked
        ]
        found = fetch(reduce(lambda one, other: one.union(other), seen)) if seen else {"f": [], "code": []}
        for i, code in zip(found["f"], found["code"], strict=True):
            occurs[i][code] = True
        columns = dict(enumerate(self.columns)) | {i: occurring(self.columns[i], own) for i, own in occurs.items()}
        self.columns = tuple(columns.values())
        self.stored = [
            np.flatnonzero(occurs[i]) if i in occurs else np.arange(own.n_codes) for i, own in columns.items()
        ]

    def _outside(self, i: int) -> ValueError:
        """What to say of a value that a known column must not have."""
        own = self.rows[self.features[i]]
        bins = self.columns[i]
        wrong = self.rows.filter(coded(own, bins, _known(self.schema).columns[i]) == outside(bins))
        found: ValueError = _known(self.known).outside(
            i, fetch(wrong.select(value=self.features[i]).limit(1))["value"][0]
        )
        return found

    @property
    def _layout(self) -> Layout:
        """The codes of all columns in a line."""
        first = np.cumsum([0, *self.n_stored])
        occurs = np.concatenate([start + own for start, own in zip(first[:-1], self.stored, strict=True)])
        return Layout(_known(self.words), first, occurs)

    @property
    def _adder(self) -> Adder:
        if self.classes is not None:
            return ClassAdder(self._layout, len(self.classes), self.weight is not None, self.n_rows)
        return NumberAdder(self._layout, self.n_numbers, self.weight is not None)

    @property
    def n_numbers(self) -> int:
        """Whole numbers of a row."""
        return sum(name.startswith("u") for name in self.coded.columns)

    @property
    def weight(self) -> Any:
        """The whole weight of a row; None: 1."""
        return self.coded["w"] if "w" in self.coded.columns else None

    def _encode(self, plan: TargetPlan, family: Family) -> None:
        """The table of codes and whole numbers: temporary, or an expression where that cannot be."""
        rows, schema, known = self.rows, _known(self.schema), _known(self.known)
        numbers, weight = whole_expression(rows, self.names, plan, family)
        others = {f"u{k}": number for k, number in enumerate(numbers)} | ({} if weight is None else {"w": weight})
        columns = [(rows[name], bins) for name, bins in zip(self.features, self.columns, strict=True)]
        self.n_stored = [own.n_codes for own in self.columns]
        backend = self.table.get_backend()
        self.words = Words.of([n + (i in known.bins) for i, n in enumerate(self.n_stored)], backend)
        sliced = {}
        for i, (column, bins) in enumerate(columns):
            is_found = i not in known.bins and schema.columns[i].categories is None and not is_left_out(bins)
            slices = Slices.of(bins) if is_found else None  # given bins may have values beyond their ends
            if slices is not None:
                missing = len(bins.highs) if bins.has_missing else None
                sliced[f"c{i}"] = Sliced(self.ranges[i].value(column), missing, slices)

        def plain(chosen: Iterable[int]) -> dict[str, Any]:
            return {f"c{i}": coded(*columns[i], schema.columns[i]) for i in chosen}

        if not self.temporary.are_possible(rows):
            self.coded = self._packed(rows.select(**others, **plain(range(len(columns)))), others)
            return
        tables = TemporaryTables(backend)
        try:
            some = plain(i for i in range(len(columns)) if f"c{i}" not in sliced)
            codes = coded_by_slices(tables, rows, sliced, others | some)
            self.coded = self.temporary.of_query(self._packed(codes, others), "part")
        finally:
            tables.drop()

    def _packed(self, codes: Any, others: dict[str, Any]) -> Any:
        """The codes of rows in words, beside the other columns; all rows are in node 0."""
        packed = _known(self.words).packed([codes[f"c{i}"] for i in range(len(self.columns))])
        part = ibis.literal(0) if self.classes is None else codes["u0"]
        return codes.select(*others, **packed, part=part.cast("int32"))

    def close(self) -> None:
        """Drop the temporary tables."""
        end_running_query(self.table.get_backend())
        self.settings.close()
        if self.placed is not None:
            self.placed.close()
        self.temporary.drop()

    def kept(self) -> EncodedRows | None:
        """They are in the database."""
        return None

    def histograms(self, routes: Routes) -> Histograms | ClassHistograms:
        """A GROUP BY for each feature."""
        adder = self._adder
        if self.placed is not None:
            return adder.sums(routes.n_open, self.placed.sums(routes))
        part = adder.part(self.coded, self._node(routes))
        placed = self.coded.mutate(part=part).filter(lambda rows: rows.part >= 0)
        return adder.sums(routes.n_open, map(fetch_arrays, self._layout.queries(placed, adder)))

    def _node(self, routes: Routes) -> Any:
        """The number of the open node that a row is in, or -1."""
        leads_on = routes.open >= 0  # to an open node
        for node in reversed(range(len(leads_on))):  # children come behind their parents
            if routes.feature[node] >= 0:
                leads_on[node] = leads_on[routes.lower[node]] | leads_on[routes.upper[node]]

        def below(node: int) -> Any:
            if routes.feature[node] < 0 or not leads_on[node]:
                return ibis.literal(max(int(routes.open[node]), -1), "int32")
            feature = int(routes.feature[node])
            lower = routes.goes_lower[routes.start[node] :][: self.columns[feature].n_codes].astype(bool)
            return ibis.ifelse(
                _in_codes(_known(self.words).code(self.coded, feature), self.stored[feature][lower]),
                below(int(routes.lower[node])),
                below(int(routes.upper[node])),
            )

        return below(0)

    def sample(self, shares: int) -> Sample:
        """Some thousand rows at most, as codes and whole numbers."""
        found = fetch(self.coded.filter(self._mark() % shares == 0))
        arrays = {name: np.array(values, dtype=np.int64) for name, values in found.items()}
        codes = [_known(self.words).read(arrays, i) for i in range(len(self.stored))]
        chosen = np.stack([np.searchsorted(*both) for both in zip(self.stored, codes, strict=True)])
        return Sample(chosen, np.stack([arrays[f"u{k}"] for k in range(self.n_numbers)], axis=1), arrays.get("w"))

    def halves(self) -> tuple[HistogramSource, HistogramSource]:
        """The same queries over rows that are filtered; they do not move from level to level."""
        one, other = copy(self), copy(self)
        for which, half in enumerate((one, other)):
            half.placed = None
            half.coded = self.coded.filter(self._mark() % 2 == which)
        return one, other

    def _mark(self) -> Any:
        """`marks_of` a row, as an expression."""
        codes = [self._expression(i) for i in range(len(self.columns))]
        numbers = [self.coded[f"u{k}"] for k in range(self.n_numbers)]
        mark = reduce(add, [(own + 1) * column_factor(i) for i, own in enumerate(codes)])
        mark = reduce(add, [own % NUMBER_MODULUS * number_factor(k) for k, own in enumerate(numbers)], mark)
        for times in TIMES:
            mark = mark % MODULUS * times
        return mark % MODULUS

    def _expression(self, i: int) -> Any:
        """The code of a feature in each row."""
        stored, own = self.stored[i], _known(self.words).code(self.coded, i)
        if np.array_equal(stored, np.arange(len(stored))):
            return own.cast("int64")
        return own.cases(*((int(code), place) for place, code in enumerate(stored)), else_=0).cast("int64")

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """By node, count, exposure and weight, as far as they differ."""
        grids = _known(_known(self.plan).grids)
        placed = self.coded.mutate(node=self._node(routes)).filter(lambda t: t.node >= 0)
        keys = ["node", "u0", "u1", *(["w"] if self.weight is not None else [])]
        found = fetch(placed.group_by(keys).aggregate(n=lambda t: t.count()))
        counts, exposure = (np.array(found[name], dtype=np.int64) for name in ("u0", "u1"))
        extras = {name: grid.value(exposure) for name, grid in grids.extras.items()}
        y = np.zeros(0) if grids.y is None else grids.y.value(counts)
        factor = fixed_point_outcome(outcome).fixed_point_factor(Target(y, None, extras, grids))
        result = [0] * routes.n_open
        for i, own in enumerate([] if factor is None else factor.tolist()):
            times = int(found["n"][i]) * (int(found["w"][i]) if "w" in found else 1)
            result[int(found["node"][i])] += times * own
        return result


def _in_codes(code: Any, codes: AnyArray) -> Any:
    """Whether a code is one of some."""
    if len(codes) and codes[-1] - codes[0] + 1 == len(codes):
        return (code >= int(codes[0])) & (code <= int(codes[-1]))
    return code.isin([int(own) for own in codes])


def _n_categories(column: Column) -> int:
    return 0 if column.categories is None else len(column.categories)


def _known(value: Any) -> Any:
    if value is None:
        raise RuntimeError("A source is asked in order: look, bins, totals, sums.")
    return value
