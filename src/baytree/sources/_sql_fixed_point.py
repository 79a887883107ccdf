"""Codes and fixed-point targets as expressions of a database."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import numpy as np

from .._typing import AnyArray
from ..growth import ColumnBins
from ..outcomes import Family, Grid
from ..table import Column, Kind
from ._parts import is_excluded
from ._roles import ColumnRoles
from ._sql_dialects import Dialect, real
from ._targets import TargetPlan

_DIGIT = 31
_MASK = 2**_DIGIT - 1


@dataclass(frozen=True)
class Digit:
    """A digit of an integer, times a power of 2; its sum over all rows is below 2**63."""

    expression: Any
    power: int = 0


# The floor of Ibis casts its result to a large integer, which is slow.
floor = ibis.udf.scalar.builtin(
    lambda value: None,  # noqa: ARG005
    name="floor",
    signature=((dt.float64,), dt.float64),
)


_character = ibis.udf.scalar.builtin(
    lambda code: None,  # noqa: ARG005
    name="chr",
    signature=((dt.int32,), dt.string),
)


def label_literal(label: Any) -> Any:
    """A label as a literal; null characters, which would end the statement, are written by their code."""
    if not isinstance(label, str) or "\0" not in label:
        return ibis.literal(label)
    first, *others = map(ibis.literal, label.split("\0"))
    return reduce(lambda text, piece: text + _character(0) + piece, others, first)


def as_number(column: Any) -> Any:
    """A column as float64; booleans are 1 and 0, and null stays null."""
    is_truth = column.type().is_boolean()
    return (ibis.cases((column, 1), (~column, 0)) if is_truth else column).cast("float64")


def is_missing(column: Any) -> Any:
    """Whether a value is null or NaN."""
    if may_be_nan(column):
        return column.isnull() | as_number(column).isnan().fill_null(False)
    return column.isnull()


def may_be_nan(column: Any) -> bool:
    """Whether a column can hold NaN, infinite values or fractions; decimals of PostgreSQL can as well."""
    dtype = column.type()
    return bool(dtype.is_floating() or dtype.is_decimal())


def number(column: Any) -> Any:
    """A column as float64, with null for missing values and 0.0 for -0.0."""
    return ibis.ifelse(is_missing(column), ibis.null("float64"), as_number(column) + 0.0)


def code_expression(column: Any, bins: ColumnBins, of: Column, dialect: Dialect, *, is_specified: bool) -> Any:
    """The code of each value of a column; `unexpected_code` for a value that is not in its bins or categories.

    Where bins were found, no value is outside of them: one that is all the same counts as missing, as one too many.
    """
    if is_excluded(bins):
        return ibis.literal(0, "int32")
    missing = ibis.literal(len(bins.highs), "int32")
    unexpected = unexpected_code(bins)
    if of.categories is not None:
        value = column if column.type().is_string() else as_number(column)
        return _position(value, is_missing(column), labels_of(bins, of.categories), unexpected)
    if of.kind is Kind.TRUTH and not column.type().is_boolean():
        return _position(as_number(column), is_missing(column), [0.0, 1.0], unexpected)
    if len(bins.highs) == 0:
        return ibis.ifelse(is_missing(column), missing, unexpected)
    code = dialect.search(as_number(column), bins.ends[:-1])
    if is_specified and may_be_nan(column):
        code = ibis.ifelse(as_number(column).isinf(), unexpected, code)
    is_outside = is_missing(column)
    if not is_specified:
        is_outside |= (as_number(column) < real(bins.lows[0])) | (as_number(column) > real(bins.highs[-1]))
    return ibis.ifelse(is_outside, missing, code)


def labels_of(bins: ColumnBins, categories: AnyArray) -> list[Any]:
    """The label of each code of a column of categories: rows of positive weight may have some of them only."""
    labels: list[Any] = categories.tolist()
    return [labels[int(place)] for place in bins.highs] if len(labels) > len(bins.highs) else labels


def unexpected_code(bins: ColumnBins) -> int:
    """The code of values that are not in the bins or categories of a column; it follows that of missing values."""
    return len(bins.highs) + 1


def _position(value: Any, missing: Any, labels: list[Any], else_: int) -> Any:
    """The position of each value among labels."""
    literals = [label_literal(label) if isinstance(label, str) else real(label) for label in labels]
    positions = value.cases(*((label, i) for i, label in enumerate(literals)), else_=else_) if literals else else_
    return ibis.ifelse(missing, len(labels), positions).cast("int32")


def on_grid(value: Any, grid: Grid) -> Any:
    """The number of the grid point nearest to a value."""
    point = (as_number(value) / real(grid.unit) + 0.5).floor().cast("int64") - grid.base
    return ibis.greatest(point, 1) if grid.positive else point


def fixed_point_target(rows: Any, names: ColumnRoles, plan: TargetPlan, family: Family) -> tuple[list[Any], Any]:
    """The fixed-point target of each row, and its integer weight (None for 1)."""
    grids = plan.grids
    if grids is None:
        raise RuntimeError("The target has no grids yet.")
    target = rows[names.target]
    if plan.classes is not None:
        numbers = [_classes(target, plan.classes)]
    elif grids.y is not None and not family.outcome.from_zero:
        numbers = [on_grid(target, grids.y)]
    else:
        numbers = _rates(rows, names, plan, family)
    return numbers, integer_weights(rows, names, plan)


def integer_weights(rows: Any, names: ColumnRoles, plan: TargetPlan) -> Any:
    """The integer weight of each row; None for 1."""
    weight = None if names.weight is None else as_number(rows[names.weight])
    if plan.classes is not None and plan.by_class is not None:
        pairs = zip(plan.classes.tolist(), plan.by_class.tolist(), strict=True)
        labels = ((label_literal(label), real(of)) for label, of in pairs)
        class_weight = rows[names.target].cases(*labels, else_=real(1.0))
        weight = class_weight if weight is None else class_weight * weight
    return (
        None
        if weight is None or plan.grids is None or plan.grids.weight is None
        else on_grid(weight, plan.grids.weight)
    )


def _classes(target: Any, classes: AnyArray) -> Any:
    if len(classes) == 1:
        return ibis.literal(0, "int32")
    positions = ((label_literal(label), i) for i, label in enumerate(classes.tolist()))
    return target.cases(*positions, else_=-1).cast("int32")


def _rates(rows: Any, names: ColumnRoles, plan: TargetPlan, family: Family) -> list[Any]:
    """The number of events and the exposure of each row."""
    grids = plan.grids
    if grids is None or grids.y is None:
        raise RuntimeError("The target has no grids yet.")
    y = on_grid(rows[names.target], grids.y)
    one = ibis.literal(1, "int64")
    if "event" in {extra.name for extra in family.outcome.extras}:
        return [one if names.event is None else as_number(rows[names.event]).cast("int64"), y]
    return [y, one if names.exposure is None else on_grid(rows[names.exposure], grids.extras["exposure"])]


def product_digits(numbers: list[Any], weight: Any, *, with_square: bool) -> list[list[Digit]]:
    """The digits of the weight and of the weighted numbers of each row, and of the weighted square of a single number.

    Numbers and weights are below 2**31, so no product of two digits exceeds 64 bits.
    """
    one = ibis.literal(1, "int64")
    result = [[Digit(one if weight is None else weight)]]
    result += [[Digit(number)] if weight is None else _split(number * weight) for number in numbers]
    if with_square:
        square = _split(numbers[0] * numbers[0])
        result.append(square if weight is None else [part for digit in square for part in _multiply(digit, weight)])
    return result


def _split(product: Any, power: int = 0) -> list[Digit]:
    return [Digit(product >> _DIGIT, power + _DIGIT), Digit(product & _MASK, power)]


def _multiply(digit: Digit, weight: Any) -> list[Digit]:
    return _split(digit.expression * weight, digit.power)


def int128_halves(values: AnyArray) -> AnyArray:
    """Integers of 128 bits, each as two of 64."""
    low = (values & (2**64 - 1)).astype(np.uint64).view(np.int64)
    return np.stack([low, (values >> 64).astype(np.int64)], axis=-1)
