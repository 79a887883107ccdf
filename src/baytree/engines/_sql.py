"""Databases, through Ibis: a level of the tree is a GROUP BY, and the rows never leave the database.

The codes and whole numbers of the rows are a temporary table where the database allows one, and an expression over the
table where not. Everything that is fetched is a count or a sum of whole numbers.
"""

from __future__ import annotations

import uuid
from contextlib import suppress
from copy import copy
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
    SumSource,
    column_factor,
    number_factor,
)
from ..outcomes import Family, Outcome, Target, whole_outcome
from ..table import Column, Kind, Schema
from ._ctrl_c import ctrl_c_is_no_error, end_running_query
from ._given import Given, KnownColumns, occurring
from ._parts import Names, is_left_out, left_out
from ._sql_bins import Range, find_bins
from ._sql_encode import Slices, SliceTables
from ._sql_look import TableLook
from ._sql_place import PlacedRows
from ._sql_whole import (
    OUTSIDE,
    Digits,
    coded,
    fetch,
    fetch_arrays,
    halves,
    is_missing,
    number,
    product_digits,
    whole_expression,
)

_FEATURES_A_QUERY = 16


@dataclass
class SqlSource:
    """Asks a database what a fit wants to know."""

    table: Any
    names: Names
    given: Given = field(default_factory=Given)
    known: KnownColumns | None = field(default=None, init=False)
    rows: Any = field(default=None, init=False)  # those that count
    schema: Schema | None = field(default=None, init=False)
    columns: tuple[ColumnBins, ...] = field(default=(), init=False)
    classes: AnyArray | None = field(default=None, init=False)
    plan: TargetPlan | None = field(default=None, init=False)
    coded: Any = field(default=None, init=False)
    stored: list[AnyArray] = field(default_factory=list, init=False)  # what the coded rows have for each code
    temporary: str | None = field(default=None, init=False)
    placed: PlacedRows | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.names.check(list(self.table.columns))
        self.features = [name for name in self.table.columns if name not in self.names.all]

    def look(self, plan: TargetPlan, categorical_features: Any, max_bins: int) -> Found:  # noqa: ARG002
        """A few queries over the whole table; columns of which all is known are left alone."""
        self.plan = plan
        look = TableLook(self.table, self.names)
        self.known = known = look.known(self.given, categorical_features)
        kinds = look.kinds(known)
        self.rows = rows = look.counted_rows()
        rest = known.rest
        reach = look.reach(rows, {i: kinds[i] for i in rest}, has_classes=plan.has_classes)
        found = [
            Column(kinds[i], look.labels(rows, self.features[i]) if kinds[i] is Kind.CATEGORY else None) for i in rest
        ]
        self.schema = known.schema(Schema(tuple(found), tuple(self.features[i] for i in rest)))
        if not plan.has_classes:
            look.check_numbers(rows, plan)
            return Found(self.schema, reach)
        self.classes, counts, largest = look.classes(rows)
        return Found(self.schema, reach, self.classes, counts, largest)

    def bins(self, max_bins: int, left_out_columns: BoolArray) -> tuple[ColumnBins, ...]:
        """A few queries for all columns of numbers that are not known."""
        schema, known = _known(self.schema), _known(self.known)
        result = known.bins | {i: left_out() for i in np.flatnonzero(left_out_columns).tolist()}
        rest = [i for i in known.rest if i not in result]
        found, ranges = self._ranges(rest), {}
        for i in rest:
            has_missing, low = bool(found[f"m_{i}"]), found.get(f"l_{i}")
            if low is None:
                positions = np.arange(_n_categories(schema.columns[i]), dtype=np.float64)
                result[i] = ColumnBins(positions, positions, has_missing)
            else:
                ranges[self.features[i]] = Range(float(low) + 0.0, float(found[f"h_{i}"]) + 0.0, has_missing)
        ends = find_bins(self.rows, ranges, max_bins)
        self.columns = tuple(ends[name] if name in ends else result[i] for i, name in enumerate(self.features))
        return self.columns

    def _ranges(self, features: list[int]) -> dict[str, Any]:
        """Missing values of each feature, and the ends of numbers; some to a query, so that Ctrl-C is heard."""
        result: dict[str, Any] = {}
        for start in range(0, len(features), _FEATURES_A_QUERY):
            own = {i: self.rows[self.features[i]] for i in features[start : start + _FEATURES_A_QUERY]}
            asked = {f"m_{i}": is_missing(column).sum() for i, column in own.items()}
            for i, column in own.items():
                if _known(self.schema).columns[i].categories is None:
                    asked |= {f"l_{i}": number(column).min(), f"h_{i}": number(column).max()}
            result |= {name: values[0] for name, values in fetch(self.rows.aggregate(**asked)).items()}
        return result

    def totals(self, plan: TargetPlan, family: Family) -> list[int]:
        """The rows as codes and whole numbers, from here on."""
        self.plan = plan
        self._encode(plan, family)
        numbers = [self.coded[f"u{k}"] for k in range(self.n_numbers)]
        digits = product_digits(numbers, self.weight, with_square=len(numbers) == 1)
        asked = {f"d{i}": own.expression for i, own in enumerate(_flat(digits))}
        known = {f"c{i}": self.coded[f"c{i}"] for i in _known(self.known).bins}
        table = self.coded.select(**asked, **known)
        lowest = {name: table[name].min() for name in known}
        found = fetch(table.aggregate(**{name: table[name].sum().cast("int64") for name in asked}, **lowest))
        for i in _known(self.known).bins:
            if found[f"c{i}"][0] == OUTSIDE:
                raise self._outside(i)
        self._narrow()
        if self.temporary is not None:
            self.placed = PlacedRows(self.coded, self.stored)
        sums = iter([int(found[f"d{i}"][0] or 0) for i in range(len(asked))])
        return [sum(next(sums) << own.power for own in each) for each in digits]

    def _narrow(self) -> None:
        """Given categories that do not occur have no codes."""
        asked = [i for i in _known(self.known).may_not_occur if not is_left_out(self.columns[i])]
        occurs = {i: np.zeros(self.columns[i].n_codes, dtype=bool) for i in asked}
        seen = [self.coded.select(f=ibis.literal(i), code=self.coded[f"c{i}"]).distinct() for i in asked]
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
        wrong = self.rows.filter(coded(own, self.columns[i], _known(self.schema).columns[i]) == OUTSIDE)
        found: ValueError = _known(self.known).outside(
            i, fetch(wrong.select(value=self.features[i]).limit(1))["value"][0]
        )
        return found

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
        sliced = {}
        for i, (column, bins) in enumerate(columns):
            is_found = i not in known.bins and schema.columns[i].categories is None and not is_left_out(bins)
            slices = Slices.of(bins) if is_found else None  # given bins may have values beyond their ends
            if slices is None:
                others[f"c{i}"] = coded(column, bins, schema.columns[i])
            else:
                sliced[f"c{i}"] = column, len(bins.highs), slices
        backend = self.table.get_backend()
        tables, name = SliceTables(backend), f"baytree_{uuid.uuid4().hex[:12]}"
        try:
            self.temporary = name
            with ctrl_c_is_no_error():
                self.coded = backend.create_table(name, obj=tables.coded(rows, sliced, others), temp=True)
        except Exception:  # noqa: BLE001  a database that takes no temporary table says so in its own way
            codes = {f"c{i}": coded(column, bins, schema.columns[i]) for i, (column, bins) in enumerate(columns)}
            self.coded, self.temporary = rows.select(**(others | codes)), None
        finally:
            tables.close()

    def close(self) -> None:
        """Drop the temporary tables."""
        end_running_query(self.table.get_backend())
        if self.placed is not None:
            self.placed.close()
        if self.temporary is not None:
            with suppress(Exception):  # a connection that was lost has no temporary tables any more
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
            adder(number[found["node"]], first[found["f"]] + self._codes(found["f"], found["code"]), found)
        return adder.result

    def _codes(self, feature: AnyArray, stored: AnyArray) -> AnyArray:
        """Codes of features from what the coded rows have for them."""
        result = stored.copy()
        for f in np.unique(feature):
            own = feature == f
            result[own] = np.searchsorted(self.stored[f], stored[own])
        return result

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
                _in_codes(self.coded[f"c{feature}"], self.stored[feature][lower]),
                below(int(routes.lower[node])),
                below(int(routes.upper[node])),
            )

        return below(0)

    def sample(self, shares: int) -> Sample:
        """Some thousand rows at most, as codes and whole numbers."""
        found = fetch(self.coded.filter(self._mark() % shares == 0))
        arrays = {name: np.array(values, dtype=np.int64) for name, values in found.items()}
        chosen = np.stack([np.searchsorted(own, arrays[f"c{i}"]) for i, own in enumerate(self.stored)])
        return Sample(chosen, np.stack([arrays[f"u{k}"] for k in range(self.n_numbers)], axis=1), arrays.get("w"))

    def halves(self) -> tuple[SumSource, SumSource]:
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
        stored, own = self.stored[i], self.coded[f"c{i}"]
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


def _in_codes(code: Any, codes: AnyArray) -> Any:
    """Whether a code is one of some."""
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
