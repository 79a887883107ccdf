"""Histograms of open nodes by queries: a GROUP BY for each feature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol

import ibis
import numpy as np

from .._typing import AnyArray
from ..growth import ClassHistograms, Histograms, other_rows
from ._sql_fixed_point import Digit, int128_halves, product_digits
from ._sql_packing import Packing

_ROWS_DIFFER = "one column counts other rows than another"
_INT64, _INT32 = np.iinfo(np.int64), np.iinfo(np.int32)


class Aggregation(Protocol):
    """The queries for histograms, and their results as arrays.

    Nodes are divided into parts, one for each class, and each row has the number of its part.
    """

    @property
    def n_parts(self) -> int:
        """The number of parts of a node."""

    @property
    def sum_columns(self) -> list[str]:
        """The columns that are added up."""

    @property
    def first_part(self) -> str:
        """The part of each row while all rows are in node 0, in DuckDB's SQL."""

    def part(self, rows: Any, node: Any) -> Any:
        """The part of each row, given its node."""

    def query(self, rows: Any, code: Any, first: int) -> Any:
        """The sums of a feature whose first code is at position `first`; `key` identifies part and code."""

    def histograms(self, n_open: int, results: Iterable[dict[str, AnyArray]]) -> Histograms | ClassHistograms:
        """Combine the results of the queries."""


@dataclass(frozen=True)
class Layout:
    """The positions of the codes of all columns, one column after the other."""

    packing: Packing
    first: AnyArray  # position of the first code of each column, and the end
    present: AnyArray  # positions of the codes that occur

    @property
    def width(self) -> int:
        """The number of positions."""
        return int(self.first[-1])

    def queries(self, rows: Any, aggregation: Aggregation) -> list[Any]:
        """A query for each column, over rows all of which are in open nodes."""
        return [
            aggregation.query(rows, self.packing.code(rows, feature), int(first))
            for feature, first in enumerate(self.first[:-1])
        ]

    def key(self, groups: Any, first: int) -> Any:
        """The key of part and code, by position in the histograms of all parts; DuckDB is slow at remainders."""
        return groups["part"].cast("int64") * self.width + groups["code"].cast("int64") + first

    def take_present(self, sums: AnyArray, axis: int) -> AnyArray:
        """The sums of the codes that occur."""
        return sums if len(self.present) == self.width else np.take(sums, self.present, axis)

    def check_keys(self, result: dict[str, AnyArray], n_parts: int) -> None:
        """Raise an error for keys beyond those of all parts."""
        if not np.all((result["key"] >= 0) & (result["key"] < n_parts * self.width)):
            raise other_rows(_ROWS_DIFFER)

    def check_rows(self, rows: AnyArray) -> None:
        """Raise an error if columns have different numbers of rows, on which the compiled core relies."""
        by_column = np.add.reduceat(rows, self.first[:-1], axis=-1)
        if np.any(by_column != by_column[..., :1]):
            raise other_rows(_ROWS_DIFFER)


@dataclass(frozen=True)
class ClassAggregation:
    """The weights of rows by node, code and class."""

    layout: Layout
    n_classes: int
    weighted: bool
    n_rows: int

    @property
    def n_parts(self) -> int:
        """One part for each class."""
        return self.n_classes

    @property
    def sum_columns(self) -> list[str]:
        """The weight of each row."""
        return ["w"] if self.weighted else []

    @property
    def first_part(self) -> str:
        """The class of each row."""
        return "row.u0"

    def part(self, rows: Any, node: Any) -> Any:
        """The part of each row, by node and class."""
        return (node * self.n_classes + rows["u0"]).cast("int32")

    def query(self, rows: Any, code: Any, first: int) -> Any:
        """The number and the weight of the rows of each part and code."""
        table = rows.select("part", *self.sum_columns, code=code)
        sums = {name: table[name].sum().cast("int64") for name in self.sum_columns}
        groups = table.group_by("part", "code").aggregate(n=table.count(), **sums)
        return groups.select("n", *sums, key=self.layout.key(groups, first))

    def histograms(self, n_open: int, results: Iterable[dict[str, AnyArray]]) -> ClassHistograms:
        """The histograms by node, code and class."""
        names = ["n", *self.sum_columns]
        dtype = np.int64 if self.weighted or self.n_rows > _INT32.max else np.int32
        arrays = np.zeros((len(names), n_open, self.n_classes, self.layout.width), dtype=dtype)
        for result in results:
            self.layout.check_keys(result, n_open * self.n_classes)
            for array, name in zip(arrays, names, strict=True):
                array.reshape(-1)[result["key"]] = result[name]
        self.layout.check_rows(arrays[0])
        rows, *weights = (np.moveaxis(self.layout.take_present(array, -1), 1, -1) for array in arrays)
        return ClassHistograms(weights[0], rows.sum(axis=-1)) if weights else ClassHistograms(rows, None)


@dataclass(frozen=True)
class NumberAggregation:
    """The sums and extremes of numbers by node and code."""

    layout: Layout
    n_numbers: int
    weighted: bool

    @property
    def n_parts(self) -> int:
        """One part, of all rows."""
        return 1

    @property
    def sum_columns(self) -> list[str]:
        """The numbers and the weight of each row."""
        return [f"u{k}" for k in range(self.n_numbers)] + (["w"] if self.weighted else [])

    @property
    def first_part(self) -> str:
        """Node 0."""
        return "0"

    def part(self, rows: Any, node: Any) -> Any:  # noqa: ARG002
        """The node of each row."""
        return node.cast("int32")

    def query(self, rows: Any, code: Any, first: int) -> Any:
        """The sums of the digits of each number, and the extremes, of each part and code."""
        numbers = [rows[f"u{k}"] for k in range(self.n_numbers)]
        outcome = numbers[0] if self.n_numbers == 1 else numbers[0] * 2**31 + numbers[1]
        digits = {f"d{i}": digit.expression for i, digit in enumerate(flatten(self._digits(rows)))}
        table = rows.select("part", code=code, outcome=outcome, **digits)
        sums = {name: table[name].sum().cast("int64") for name in digits}
        groups = table.group_by("part", "code").aggregate(
            n=table.count(), low=table.outcome.min(), high=table.outcome.max(), **sums
        )
        return groups.mutate(key=self.layout.key(groups, first)).drop("part", "code")

    def _digits(self, rows: Any) -> list[list[Digit]]:
        numbers = [rows[f"u{k}"] for k in range(self.n_numbers)]
        return product_digits(numbers, rows["w"] if self.weighted else None, with_square=self.n_numbers == 1)

    def histograms(self, n_open: int, results: Iterable[dict[str, AnyArray]]) -> Histograms:
        """The histograms by node and code."""
        shape = (n_open, self.layout.width)
        powers = [[digit.power for digit in number] for number in self._digits(_COLUMNS)]
        rows, low, high = np.zeros(shape, np.int64), np.full(shape, _INT64.max), np.full(shape, _INT64.min)
        sums = np.zeros((*shape, 3 if self.n_numbers == 1 else 4, 2), dtype=np.int64)
        for result in results:
            self.layout.check_keys(result, n_open)
            node, at = np.divmod(result["key"], self.layout.width)
            rows[node, at], low[node, at], high[node, at] = result["n"], result["low"], result["high"]
            digits = iter(range(sum(map(len, powers))))
            for k, powers_of_number in enumerate(powers):
                parts = [result[f"d{next(digits)}"].astype(object) << power for power in powers_of_number]
                sums[node, at, k] = int128_halves(reduce(add, parts))
        self.layout.check_rows(rows)
        return Histograms(*(self.layout.take_present(array, 1) for array in (rows, sums, low, high)))


# The digits of numbers and weights do not depend on the rows, so a table without rows shows their powers.
_COLUMNS = ibis.table({"u0": "int64", "u1": "int64", "w": "int64"}, name="columns")


def flatten(digits: list[list[Digit]]) -> list[Digit]:
    """The digits of all numbers in one list."""
    return [digit for number in digits for digit in number]
