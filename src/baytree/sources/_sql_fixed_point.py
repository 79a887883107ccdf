"""Codes and whole numbers as expressions of a database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import numpy as np
from ibis.expr.operations import DatabaseTable

from .._typing import AnyArray
from ..growth import ColumnBins
from ..outcomes import Family, Grid
from ..table import Column, Kind
from ._parts import Names, is_left_out
from ._sql_ask import answer
from ._targets import TargetPlan

_DIGIT = 31
_MASK = 2**_DIGIT - 1
_AT_ONCE = 7  # queries: as many as there are codes of eight bits in a word


@dataclass(frozen=True)
class Digits:
    """A part of a whole number, times 2 to some power; sums of it over all rows are below 2**63."""

    expression: Any
    power: int = 0


# Ibis makes an integer of what its own floor returns, which takes long where none is wanted, or a smaller one.
floor = ibis.udf.scalar.builtin(
    lambda value: None,  # noqa: ARG005
    name="floor",
    signature=((dt.float64,), dt.float64),
)


def real(value: float) -> Any:
    """A number as text, which all databases round to the nearest float64; not all do that with decimals."""
    return ibis.literal(repr(float(value))).cast("float64")


_character = ibis.udf.scalar.builtin(
    lambda code: None,  # noqa: ARG005
    name="chr",
    signature=((dt.int32,), dt.string),
)


def said(label: Any) -> Any:
    """A label as it can be told to a database: a null character would end the statement, so that its code is told."""
    if not isinstance(label, str) or "\0" not in label:
        return ibis.literal(label)
    first, *others = map(ibis.literal, label.split("\0"))
    return reduce(lambda text, own: text + _character(0) + own, others, first)


def as_number(column: Any) -> Any:
    """A column as float64; truth values are 1 and 0, and null stays null."""
    is_truth = column.type().is_boolean()
    return (ibis.cases((column, 1), (~column, 0)) if is_truth else column).cast("float64")


def is_missing(column: Any) -> Any:
    """Whether a value is null, or NaN."""
    if may_be_nan(column):
        return column.isnull() | as_number(column).isnan().fill_null(False)
    return column.isnull()


def may_be_nan(column: Any) -> bool:
    """Whether a column can hold NaN, infinite values or fractions: decimals of PostgreSQL can, too."""
    dtype = column.type()
    return bool(dtype.is_floating() or dtype.is_decimal())


def number(column: Any) -> Any:
    """A column as float64, null where it is missing; -0.0 is 0.0."""
    return ibis.ifelse(is_missing(column), ibis.null("float64"), as_number(column) + 0.0)


def coded(column: Any, bins: ColumnBins, of: Column) -> Any:
    """The code of each value of a column; `outside` for one that a column of known values must not have."""
    if is_left_out(bins):
        return ibis.literal(0, "int32")
    missing = ibis.literal(len(bins.highs), "int32")
    if of.categories is not None:
        value = column if column.type().is_string() else as_number(column)
        return _place(value, is_missing(column), of.categories.tolist(), outside(bins))
    if of.kind is Kind.TRUTH and not column.type().is_boolean():
        return _place(as_number(column), is_missing(column), [0.0, 1.0], outside(bins))
    code = _search(as_number(column), bins.ends, 0, len(bins.highs))
    if may_be_nan(column):
        code = ibis.ifelse(as_number(column).isinf(), outside(bins), code)
    return ibis.ifelse(is_missing(column), missing, code)


def outside(bins: ColumnBins) -> int:
    """The code of a value that a column must not have: behind all others."""
    return len(bins.highs) + 1


def _place(value: Any, missing: Any, labels: list[Any], else_: int) -> Any:
    """The place of each value among some labels."""
    known = [said(label) if isinstance(label, str) else real(label) for label in labels]
    places = value.cases(*((label, i) for i, label in enumerate(known)), else_=else_) if known else else_
    return ibis.ifelse(missing, len(labels), places).cast("int32")


def _search(value: Any, highs: AnyArray, first: int, stop: int) -> Any:
    """The first of some bins whose highest value is not exceeded, by bisection."""
    if stop - first <= 1:
        return ibis.literal(first, "int32")
    middle = (first + stop) // 2
    below = value <= real(highs[middle - 1])
    return ibis.ifelse(below, _search(value, highs, first, middle), _search(value, highs, middle, stop))


def on_grid(value: Any, grid: Grid) -> Any:
    """The number of the grid's point nearest to a value."""
    point = (as_number(value) / real(grid.unit) + 0.5).floor().cast("int64") - grid.base
    return ibis.greatest(point, 1) if grid.positive else point


def whole_expression(rows: Any, names: Names, plan: TargetPlan, family: Family) -> tuple[list[Any], Any]:
    """The whole numbers of each row, and its whole weight (None: 1)."""
    grids = plan.grids
    if grids is None:
        raise RuntimeError("The target has no grids yet.")
    target = rows[names.target]
    weight = None if names.weight is None else as_number(rows[names.weight])
    if plan.classes is not None:
        numbers = [_classes(target, plan.classes)]
        if plan.by_class is not None:
            pairs = zip(plan.classes.tolist(), plan.by_class.tolist(), strict=True)
            own = target.cases(*((said(label), real(of)) for label, of in pairs), else_=real(1.0))
            weight = own if weight is None else own * weight
    elif grids.y is not None and not family.outcome.from_zero:
        numbers = [on_grid(target, grids.y)]
    else:
        numbers = _rates(rows, names, plan, family)
    return numbers, None if weight is None or grids.weight is None else on_grid(weight, grids.weight)


def _classes(target: Any, classes: AnyArray) -> Any:
    if len(classes) == 1:
        return ibis.literal(0, "int32")
    return target.cases(*((said(label), i) for i, label in enumerate(classes.tolist())), else_=-1).cast("int32")


def _rates(rows: Any, names: Names, plan: TargetPlan, family: Family) -> list[Any]:
    """Events and exposure."""
    grids = plan.grids
    if grids is None or grids.y is None:
        raise RuntimeError("The target has no grids yet.")
    y = on_grid(rows[names.target], grids.y)
    one = ibis.literal(1, "int64")
    if "event" in {extra.name for extra in family.outcome.extras}:
        return [one if names.event is None else as_number(rows[names.event]).cast("int64"), y]
    return [y, one if names.exposure is None else on_grid(rows[names.exposure], grids.extras["exposure"])]


def product_digits(numbers: list[Any], weight: Any, *, with_square: bool) -> list[list[Digits]]:
    """What the weight and the weighted numbers of each row are made of; of a single number its square too.

    Numbers and weights are below 2**31, so no product of two digits leaves 64 bits.
    """
    one = ibis.literal(1, "int64")
    result = [[Digits(one if weight is None else weight)]]
    result += [[Digits(number)] if weight is None else _split(number * weight) for number in numbers]
    if with_square:
        square = _split(numbers[0] * numbers[0])
        result.append(square if weight is None else [part for own in square for part in _times(own, weight)])
    return result


def _split(product: Any, power: int = 0) -> list[Digits]:
    return [Digits(product >> _DIGIT, power + _DIGIT), Digits(product & _MASK, power)]


def _times(digits: Digits, weight: Any) -> list[Digits]:
    return _split(digits.expression * weight, digits.power)


def halves(values: AnyArray) -> AnyArray:
    """Whole numbers of 128 bits, each as two of 64."""
    low = (values & (2**64 - 1)).astype(np.uint64).view(np.int64)
    return np.stack([low, (values >> 64).astype(np.int64)], axis=-1)


def fetch(expression: Any) -> dict[str, list[Any]]:
    """The result of a query, by column."""
    found = answer(expression.get_backend(), expression.to_pyarrow)
    return dict(zip(found.column_names, (column.to_pylist() for column in found.columns), strict=True))


class Repeated:
    """Queries of the same columns that are asked again and again, of tables that differ in their names alone.

    Ibis compiles what it is asked each time, which can take longer than the answer. DuckDB is given the text, some
    queries at a time, so that each of its threads has one.
    """

    def __init__(self, table: Any, queries: Callable[[Any], list[Any]]) -> None:
        self.name, self.queries, self.backend = stored_name(table), queries, table.get_backend()
        self.texts: list[str] | None = None
        if self.backend.name == "duckdb":
            asked = queries(table)
            texts, self.schema = [self.backend.compile(own) for own in asked], asked[0].schema().to_pyarrow()
            starts = range(0, len(texts), _AT_ONCE)
            self.texts = [" UNION ALL ".join(texts[start : start + _AT_ONCE]) for start in starts]

    def asks(self, table: Any) -> list[Callable[[], dict[str, AnyArray]]]:
        """Each returns arrays of numbers, none of which is missing."""
        if self.texts is None:
            return [partial(read_arrays, own) for own in self.queries(table)]
        return [partial(self._fetch, text.replace(self.name, stored_name(table))) for text in self.texts]

    def _fetch(self, text: str) -> dict[str, AnyArray]:
        return _arrays(self.backend.con.sql(text).to_arrow_table().cast(self.schema))


def stored_name(table: Any) -> str:
    """Of the stored table that an expression reads."""
    (stored,) = table.op().find(DatabaseTable)
    return str(stored.name)


def fetch_arrays(expression: Any) -> dict[str, AnyArray]:
    """The same as arrays of numbers, none of which is missing."""
    return answer(expression.get_backend(), partial(read_arrays, expression))


def read_arrays(expression: Any) -> dict[str, AnyArray]:
    """The same, without an ear for Ctrl-C."""
    return _arrays(expression.to_pyarrow())


def _arrays(found: Any) -> dict[str, AnyArray]:
    return {name: own.to_numpy() for name, own in zip(found.column_names, found.columns, strict=True)}
