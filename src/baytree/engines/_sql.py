"""Databases, through Ibis: a level of the tree is a GROUP BY, and the rows never leave the database.

The codes and whole numbers of the rows are a temporary table where the database allows one, and an expression over the
table where not. Everything that is fetched is a count or a sum of whole numbers.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any

import ibis
import numpy as np

from .._typing import AnyArray, BoolArray
from ..estimators import Found, TargetPlan
from ..growth import (
    MODULUS,
    NUMBER_MODULUS,
    TIMES,
    ClassSums,
    ColumnBins,
    EncodedRows,
    Routes,
    Sample,
    Sums,
    column_factor,
    number_factor,
)
from ..outcomes import Family, Outcome, Target, whole_outcome
from ..table import Column, Kind, PartSchema, Schema
from ._parts import Names, is_left_out, left_out
from ._sql_bins import Range, find_bins
from ._sql_encode import Slices, SliceTables
from ._sql_look import TableLook
from ._sql_place import PlacedRows
from ._sql_whole import Digits, coded, fetch, fetch_arrays, halves, is_missing, number, product_digits, whole_expression

_FEATURES_A_QUERY = 16


@dataclass
class SqlSource:
    """Asks a database what a fit wants to know."""

    table: Any
    names: Names
    rows: Any = field(default=None, init=False)  # those that count
    schema: Schema | None = field(default=None, init=False)
    columns: tuple[ColumnBins, ...] = field(default=(), init=False)
    classes: AnyArray | None = field(default=None, init=False)
    plan: TargetPlan | None = field(default=None, init=False)
    coded: Any = field(default=None, init=False)
    temporary: str | None = field(default=None, init=False)
    placed: PlacedRows | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.names.check(list(self.table.columns))
        self.features = [name for name in self.table.columns if name not in self.names.all]

    def look(self, plan: TargetPlan, categorical_features: Any, max_bins: int) -> Found:  # noqa: ARG002
        """A few queries over the whole table."""
        self.plan = plan
        look = TableLook(self.table, self.names)
        self.rows = rows = look.counted_rows()
        kinds = look.kinds(categorical_features)
        reach, missing, values = look.extremes(rows, kinds, has_classes=plan.has_classes)
        columns = tuple(
            Column(kind, look.labels(rows, name) if kind is Kind.CATEGORY else None)
            for name, kind in zip(self.features, kinds, strict=True)
        )
        self.schema = Schema(columns, tuple(self.features))
        part = PartSchema(self.schema, values, missing)
        if not plan.has_classes:
            look.check_numbers(rows, plan)
            return Found(part, reach)
        self.classes, counts, largest = look.classes(rows)
        return Found(part, reach, self.classes, counts, largest)

    def bins(self, max_bins: int, left_out_columns: BoolArray) -> tuple[ColumnBins, ...]:
        """A few queries for all columns of numbers."""
        schema, rows = _known(self.schema), self.rows
        is_number = [column.categories is None for column in schema.columns]
        values = [number(rows[name]) for name in self.features]
        asked = {f"m_{i}": is_missing(rows[name]).sum() for i, name in enumerate(self.features)}
        asked |= {f"l_{i}": values[i].min() for i in np.flatnonzero(is_number)}
        asked |= {f"h_{i}": values[i].max() for i in np.flatnonzero(is_number)}
        found = {name: own[0] for name, own in fetch(rows.aggregate(**asked)).items()}
        missing = [bool(found[f"m_{i}"]) for i in range(len(self.features))]
        ranges, result = {}, {}
        for i, name in enumerate(self.features):
            if left_out_columns[i]:
                result[name] = left_out()
            elif not is_number[i] or found[f"l_{i}"] is None:
                positions = np.arange(_n_categories(schema.columns[i]), dtype=np.float64)
                result[name] = ColumnBins(positions, positions, missing[i])
            else:
                ranges[name] = Range(float(found[f"l_{i}"]) + 0.0, float(found[f"h_{i}"]) + 0.0, missing[i])
        result |= find_bins(rows, ranges, max_bins)
        self.columns = tuple(result[name] for name in self.features)
        return self.columns

    def totals(self, plan: TargetPlan, family: Family) -> list[int]:
        """The rows as codes and whole numbers, from here on."""
        self.plan = plan
        self._encode(plan, family)
        numbers = [self.coded[f"u{k}"] for k in range(self.n_numbers)]
        digits = product_digits(numbers, self.weight, with_square=len(numbers) == 1)
        asked = {f"d{i}": own.expression for i, own in enumerate(_flat(digits))}
        table = self.coded.select(**asked)
        found = fetch(table.aggregate(**{name: table[name].sum().cast("int64") for name in asked}))
        sums = iter([int(found[f"d{i}"][0] or 0) for i in range(len(asked))])
        return [sum(next(sums) << own.power for own in each) for each in digits]

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
        rows, schema = self.rows, _known(self.schema)
        numbers, weight = whole_expression(rows, self.names, plan, family)
        others = {f"u{k}": number for k, number in enumerate(numbers)} | ({} if weight is None else {"w": weight})
        columns = [(rows[name], bins) for name, bins in zip(self.features, self.columns, strict=True)]
        sliced = {}
        for i, (column, bins) in enumerate(columns):
            is_number = schema.columns[i].categories is None and not is_left_out(bins)
            slices = Slices.of(bins) if is_number else None
            if slices is None:
                others[f"c{i}"] = coded(column, bins, schema.columns[i])
            else:
                sliced[f"c{i}"] = column, len(bins.highs), slices
        backend = self.table.get_backend()
        tables, name = SliceTables(backend), f"baytree_{uuid.uuid4().hex[:12]}"
        try:
            self.coded = backend.create_table(name, obj=tables.coded(rows, sliced, others), temp=True)
            self.temporary = name
            self.placed = PlacedRows(self.coded, [bins.n_codes for bins in self.columns])
        except Exception:  # noqa: BLE001  a database that takes no temporary table says so in its own way
            codes = {f"c{i}": coded(column, bins, schema.columns[i]) for i, (column, bins) in enumerate(columns)}
            self.coded = rows.select(**(others | codes))
        finally:
            with suppress(Exception):  # the connection may be lost
                tables.close()

    def close(self) -> None:
        """Drop the temporary tables."""
        if self.placed is not None:
            self.placed.close()
        if self.temporary is not None:
            self.table.get_backend().drop_table(self.temporary, force=True)
            self.temporary = None

    def kept(self) -> EncodedRows | None:
        """They are in the database."""
        return None

    def sums(self, routes: Routes) -> Sums | ClassSums:
        """A GROUP BY for each feature, several to a query."""
        first = np.cumsum([0, *(bins.n_codes for bins in self.columns)])
        number, placed = self._placed(routes)
        adder = (
            _ClassAdder(self, routes.n_open, first) if self.classes is not None else _Adder(self, routes.n_open, first)
        )
        for start in range(0, len(self.columns), _FEATURES_A_QUERY):
            chosen = range(start, min(start + _FEATURES_A_QUERY, len(self.columns)))
            queries = [adder.query(placed, feature).mutate(f=ibis.literal(feature)) for feature in chosen]
            found = fetch_arrays(reduce(lambda one, other: one.union(other), queries))
            adder(number[found["node"]], first[found["f"]] + found["code"], found)
        return adder.result

    def _placed(self, routes: Routes) -> tuple[AnyArray, Any]:
        """The rows of open nodes with a number of their node, and the number of each among the open ones."""
        if self.placed is None:
            placed = self.coded.mutate(node=self._node(routes)).filter(lambda rows: rows.node >= 0)
            return np.arange(routes.n_open), placed
        asked = np.flatnonzero(routes.open >= 0)  # those that wait come behind, finished ones before
        return routes.open, self.placed.at(routes).filter(lambda rows: rows.node.between(int(asked[0]), int(asked[-1])))

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
                _in_codes(self.coded[f"c{feature}"], lower),
                below(int(routes.lower[node])),
                below(int(routes.upper[node])),
            )

        return below(0)

    def sample(self, shares: int) -> Sample:
        """Some thousand rows at most, as codes and whole numbers."""
        codes = [self.coded[f"c{i}"].cast("int64") for i in range(len(self.columns))]
        numbers = [self.coded[f"u{k}"] for k in range(self.n_numbers)]
        mark = reduce(add, [(own + 1) * column_factor(i) for i, own in enumerate(codes)])
        mark = reduce(add, [own % NUMBER_MODULUS * number_factor(k) for k, own in enumerate(numbers)], mark)
        for times in TIMES:
            mark = mark % MODULUS * times
        found = fetch(self.coded.filter(mark % MODULUS % shares == 0))
        arrays = {name: np.array(values, dtype=np.int64) for name, values in found.items()}
        chosen = np.stack([arrays[f"c{i}"] for i in range(len(codes))])
        return Sample(chosen, np.stack([arrays[f"u{k}"] for k in range(len(numbers))], axis=1), arrays.get("w"))

    def factors(self, outcome: Outcome, routes: Routes) -> list[int]:
        """By node, count, exposure and weight, as far as they differ."""
        grids = _known(_known(self.plan).grids)
        placed = self.coded.mutate(node=self._node(routes)).filter(lambda t: t.node >= 0)
        keys = ["node", "u0", "u1", *(["w"] if self.weight is not None else [])]
        found = fetch(placed.group_by(keys).aggregate(n=lambda t: t.count()))
        counts, exposure = (np.array(found[name], dtype=np.int64) for name in ("u0", "u1"))
        extras = {name: grid.value(exposure) for name, grid in grids.extras.items()}
        y = np.zeros(0) if grids.y is None else grids.y.value(counts)
        factor = whole_outcome(outcome).whole_factor(Target(y, None, extras, grids))
        result = [0] * routes.n_open
        for i, own in enumerate([] if factor is None else factor.tolist()):
            times = int(found["n"][i]) * (int(found["w"][i]) if "w" in found else 1)
            result[int(found["node"][i])] += times * own
        return result


class _ClassAdder:
    """What rows weigh by node, code and class, as queries tell it."""

    def __init__(self, of: SqlSource, n_open: int, first: AnyArray) -> None:
        self.weighted, n_classes = of.weight is not None, len(_known(of.classes))
        rows = np.zeros((n_open, first[-1]), dtype=np.int64) if self.weighted else None
        self.result = ClassSums(np.zeros((n_open, first[-1], n_classes), dtype=np.int64), rows)

    def query(self, placed: Any, feature: int) -> Any:
        """Of a feature."""
        weight = {"w": placed["w"].cast("int64")} if self.weighted else {}
        table = placed.select("node", code=placed[f"c{feature}"], class_=placed["u0"], **weight)
        asked = {"w": table["w"].sum().cast("int64")} if self.weighted else {}
        return table.group_by("node", "code", "class_").aggregate(n=table.count(), **asked)

    def __call__(self, node: AnyArray, at: AnyArray, found: dict[str, AnyArray]) -> None:
        """Add what was found."""
        self.result.weights[node, at, found["class_"]] = found["w" if self.weighted else "n"]
        if self.result.rows is not None:
            np.add.at(self.result.rows, (node, at), found["n"])


class _Adder:
    """Sums and extremes of numbers by node and code."""

    def __init__(self, of: SqlSource, n_open: int, first: AnyArray) -> None:
        self.n_numbers, self.weighted = of.n_numbers, of.weight is not None
        shape = (n_open, int(first[-1]))
        self.result = Sums(
            np.zeros(shape, dtype=np.int64),
            np.zeros((*shape, 3 if self.n_numbers == 1 else 4, 2), dtype=np.int64),
            np.full(shape, np.iinfo(np.int64).max),
            np.full(shape, np.iinfo(np.int64).min),
        )
        self.digits: list[list[Digits]] = []

    def query(self, placed: Any, feature: int) -> Any:
        """Of a feature."""
        numbers = [placed[f"u{k}"] for k in range(self.n_numbers)]
        weight = placed["w"] if self.weighted else None
        self.digits = product_digits(numbers, weight, with_square=len(numbers) == 1)
        key = numbers[0] if len(numbers) == 1 else numbers[0] * 2**31 + numbers[1]
        asked = {f"d{i}": own.expression for i, own in enumerate(_flat(self.digits))}
        table = placed.select("node", code=placed[f"c{feature}"], key=key, **asked)
        sums = {name: table[name].sum().cast("int64") for name in asked}
        return table.group_by("node", "code").aggregate(
            n=table.count(), low=table.key.min(), high=table.key.max(), **sums
        )

    def __call__(self, node: AnyArray, at: AnyArray, found: dict[str, AnyArray]) -> None:
        """Add what was found."""
        result, own_digits = self.result, iter(range(len(_flat(self.digits))))
        result.rows[node, at], result.low[node, at], result.high[node, at] = found["n"], found["low"], found["high"]
        for k, each in enumerate(self.digits):
            parts = [found[f"d{next(own_digits)}"].astype(object) << own.power for own in each]
            result.sums[node, at, k] = halves(reduce(add, parts))


def _in_codes(code: Any, lower: BoolArray) -> Any:
    """Whether a code is one of those that go to the lower side."""
    codes = np.flatnonzero(lower)
    if len(codes) and codes[-1] - codes[0] + 1 == len(codes):
        return (code >= int(codes[0])) & (code <= int(codes[-1]))
    return code.isin([int(own) for own in codes])


def _n_categories(column: Column) -> int:
    return 0 if column.categories is None else len(column.categories)


def _flat(digits: list[list[Digits]]) -> list[Digits]:
    return [own for each in digits for own in each]


def _known(value: Any) -> Any:
    if value is None:
        raise RuntimeError("A source is asked in order: look, bins, totals, sums.")
    return value
