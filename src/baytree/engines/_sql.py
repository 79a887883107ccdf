"""Databases, through Ibis: a level of the tree is a GROUP BY, and the rows never leave the database.

The codes and whole numbers of the rows are a temporary table where the database allows one, and an expression over the
table where not. Everything that is fetched is a count or a sum of whole numbers.
"""

from __future__ import annotations

import uuid
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
from ._parts import Names, left_out
from ._sql_look import TableLook, bin_ends, number
from ._sql_whole import Digits, coded, fetch, halves, is_missing, product_digits, whole_expression

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
        """One query for each column of many values; window functions find the ends of its bins."""
        schema = _known(self.schema)
        rows = self.rows
        nunique = {f"n_{i}": number(rows[name]).nunique() for i, name in enumerate(self.features)
                   if schema.columns[i].categories is None}  # fmt: skip
        missing = {f"m_{i}": is_missing(rows[name]).sum() for i, name in enumerate(self.features)}
        found = {name: int(values[0] or 0) for name, values in fetch(rows.aggregate(**nunique, **missing)).items()}
        result = []
        for i, name in enumerate(self.features):
            has_missing, categories = found[f"m_{i}"] > 0, schema.columns[i].categories
            if left_out_columns[i]:
                result.append(left_out())
            elif categories is not None:
                positions = np.arange(len(categories), dtype=np.float64)
                result.append(ColumnBins(positions, positions, has_missing))
            else:
                lows, highs = bin_ends(rows, name, found[f"n_{i}"], max_bins)
                result.append(ColumnBins(lows, highs, has_missing))
        self.columns = tuple(result)
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
        chosen = {
            f"c{i}": coded(rows[name], bins, schema.columns[i])
            for i, (name, bins) in enumerate(zip(self.features, self.columns, strict=True))
        }
        numbers, weight = whole_expression(rows, self.names, plan, family)
        chosen |= {f"u{k}": number for k, number in enumerate(numbers)}
        chosen |= {} if weight is None else {"w": weight}
        expression = rows.select(**chosen)
        backend = self.table.get_backend()
        name = f"baytree_{uuid.uuid4().hex[:12]}"
        try:
            self.coded = backend.create_table(name, obj=expression, temp=True)
            self.temporary = name
        except Exception:  # noqa: BLE001  a database that takes no temporary table says so in its own way
            self.coded = expression

    def close(self) -> None:
        """Drop the temporary table."""
        if self.temporary is not None:
            self.table.get_backend().drop_table(self.temporary, force=True)
            self.temporary = None

    def kept(self) -> EncodedRows | None:
        """They are in the database."""
        return None

    def sums(self, routes: Routes) -> Sums:
        """A GROUP BY for each feature, several to a query."""
        first = np.cumsum([0, *(bins.n_codes for bins in self.columns)])
        n_classes = 0 if self.classes is None else len(self.classes)
        n_numbers = self.n_numbers
        width = n_classes or (3 if n_numbers == 1 else 4)
        shape = (routes.n_open, int(first[-1]))
        result = Sums(
            np.zeros(shape, dtype=np.int64),
            np.zeros((*shape, width, 2), dtype=np.int64),
            np.full(shape, np.iinfo(np.int64).max),
            np.full(shape, np.iinfo(np.int64).min),
        )
        placed = self.coded.mutate(node=self._node(routes)).filter(lambda t: t.node >= 0)
        for start in range(0, len(self.columns), _FEATURES_A_QUERY):
            chosen = range(start, min(start + _FEATURES_A_QUERY, len(self.columns)))
            self._add_features(placed, chosen, first, result)
        return result

    def _add_features(self, placed: Any, chosen: range, first: AnyArray, result: Sums) -> None:
        queries: list[Any] = []
        digits: list[list[Digits]] = []
        for feature in chosen:
            query, digits = self._grouped(placed, feature)
            queries.append(query)
        found = fetch(reduce(lambda one, other: one.union(other), queries))
        node, at = np.array(found["node"], dtype=np.int64), np.array(found["f"], dtype=np.int64)
        at = first[at] + np.array(found["code"], dtype=np.int64)
        rows = np.array(found["n"], dtype=np.int64)
        np.add.at(result.rows, (node, at), rows)
        np.minimum.at(result.low, (node, at), np.array(found["low"], dtype=np.int64))
        np.maximum.at(result.high, (node, at), np.array(found["high"], dtype=np.int64))
        own_digits = iter(np.array(found[f"d{k}"], dtype=object) for k in range(len(_flat(digits))))
        for k, each in enumerate(digits):
            value = sum((next(own_digits) << own.power for own in each), np.zeros(len(node), dtype=object))
            place = k if self.classes is None else np.array(found["low"], dtype=np.int64)
            result.sums[node, at, place] = halves(value)

    def _grouped(self, placed: Any, feature: int) -> tuple[Any, list[list[Digits]]]:
        """Rows and sums by node and code of a feature; of class labels by class too."""
        weight = placed["w"] if "w" in placed.columns else None
        numbers = [placed[f"u{k}"] for k in range(self.n_numbers)]
        keys = {"node": placed.node, "code": placed[f"c{feature}"].cast("int64")}
        if self.classes is not None:
            keys["class_"] = numbers[0]
            digits = product_digits([], weight, with_square=False)
            key = numbers[0]
        else:
            digits = product_digits(numbers, weight, with_square=len(numbers) == 1)
            key = numbers[0] if len(numbers) == 1 else numbers[0] * 2**31 + numbers[1]
        asked = {f"d{i}": own.expression for i, own in enumerate(_flat(digits))}
        table = placed.select(**keys, key=key, **asked)
        sums = {name: table[name].sum().cast("int64") for name in asked}
        found = table.group_by(list(keys)).aggregate(n=table.count(), low=table.key.min(), high=table.key.max(), **sums)
        return found.mutate(f=ibis.literal(feature)), digits

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


def _in_codes(code: Any, lower: BoolArray) -> Any:
    """Whether a code is one of those that go to the lower side."""
    codes = np.flatnonzero(lower)
    if len(codes) and codes[-1] - codes[0] + 1 == len(codes):
        return (code >= int(codes[0])) & (code <= int(codes[-1]))
    return code.isin([int(own) for own in codes])


def _flat(digits: list[list[Digits]]) -> list[Digits]:
    return [own for each in digits for own in each]


def _known(value: Any) -> Any:
    if value is None:
        raise RuntimeError("A source is asked in order: look, bins, totals, sums.")
    return value
