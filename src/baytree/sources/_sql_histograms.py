"""The sums of open nodes as queries: a GROUP BY for each feature."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol

import ibis
import numpy as np

from .._typing import AnyArray
from ..growth import ClassHistograms, Histograms
from ._sql_fixed_point import Digits, halves, product_digits
from ._sql_words import Words

_OTHER_ROWS = (
    "The database counts other rows for one column than for another: do not change the table during a fit, or fit a "
    "copy of it."
)
_NUMBERS, _SMALL_NUMBERS = np.iinfo(np.int64), np.iinfo(np.int32)


class Adder(Protocol):
    """How sums are asked for, and what they come to.

    Rows have a number for the part of a node that they are in: classes are counted apart.
    """

    @property
    def n_parts(self) -> int:
        """Of a node."""

    @property
    def summed(self) -> list[str]:
        """The columns that are added."""

    @property
    def first_part(self) -> str:
        """The part that DuckDB's rows are in while all are in node 0, as text."""

    def part(self, rows: Any, node: Any) -> Any:
        """The part that rows are in, as an expression."""

    def query(self, rows: Any, code: Any, first: int) -> Any:
        """The sums of a feature, whose codes begin at some place; `key` tells part and code."""

    def sums(self, n_open: int, found: Iterable[dict[str, AnyArray]]) -> Histograms | ClassHistograms:
        """All that was found, together."""


@dataclass(frozen=True)
class Layout:
    """The codes of all columns in a line: as the rows have them, and which of them occur."""

    words: Words
    first: AnyArray  # where the codes of each column begin, and the end
    occurs: AnyArray  # the places that the codes of the columns have in the line

    @property
    def width(self) -> int:
        """Places in the line."""
        return int(self.first[-1])

    def queries(self, rows: Any, adder: Adder) -> list[Any]:
        """The sums of rows, all of which are in nodes that are asked for."""
        return [
            adder.query(rows, self.words.code(rows, feature), int(first))
            for feature, first in enumerate(self.first[:-1])
        ]

    def key(self, found: Any, first: int) -> Any:
        """Tells the part and the place of what was found by part and code; a remainder would take DuckDB long."""
        return found["part"].cast("int64") * self.width + found["code"].cast("int64") + first

    def chosen(self, sums: AnyArray, axis: int) -> AnyArray:
        """The codes that occur, of sums by place."""
        return sums if len(self.occurs) == self.width else np.take(sums, self.occurs, axis)

    def check(self, found: dict[str, AnyArray], n_parts: int) -> None:
        """Refuse keys that no part has."""
        if not np.all((found["key"] >= 0) & (found["key"] < n_parts * self.width)):
            raise ValueError(_OTHER_ROWS)

    def check_rows(self, rows: AnyArray) -> None:
        """Refuse rows by place that are not as many for each column: the compiled core relies on it."""
        by_column = np.add.reduceat(rows, self.first[:-1], axis=-1)
        if np.any(by_column != by_column[..., :1]):
            raise ValueError(_OTHER_ROWS)


@dataclass(frozen=True)
class ClassAdder:
    """What rows weigh by node, code and class."""

    layout: Layout
    n_classes: int
    weighted: bool
    n_rows: int

    @property
    def n_parts(self) -> int:
        """One for each class."""
        return self.n_classes

    @property
    def summed(self) -> list[str]:
        """Weights."""
        return ["w"] if self.weighted else []

    @property
    def first_part(self) -> str:
        """The class."""
        return "row.u0"

    def part(self, rows: Any, node: Any) -> Any:
        """By node and class."""
        return (node * self.n_classes + rows["u0"]).cast("int32")

    def query(self, rows: Any, code: Any, first: int) -> Any:
        """The weight of each class."""
        table = rows.select("part", *self.summed, code=code)
        asked = {name: table[name].sum().cast("int64") for name in self.summed}
        found = table.group_by("part", "code").aggregate(n=table.count(), **asked)
        return found.select("n", *asked, key=self.layout.key(found, first))

    def sums(self, n_open: int, found: Iterable[dict[str, AnyArray]]) -> ClassHistograms:
        """By node, code and class."""
        names = ["n", *self.summed]
        kind = np.int64 if self.weighted or self.n_rows > _SMALL_NUMBERS.max else np.int32
        sums = np.zeros((len(names), n_open, self.n_classes, self.layout.width), dtype=kind)
        for own in found:
            self.layout.check(own, n_open * self.n_classes)
            for all_sums, name in zip(sums, names, strict=True):
                all_sums.reshape(-1)[own["key"]] = own[name]
        self.layout.check_rows(sums[0])
        rows, *weights = (np.moveaxis(self.layout.chosen(own, -1), 1, -1) for own in sums)
        return ClassHistograms(weights[0], rows.sum(axis=-1)) if weights else ClassHistograms(rows, None)


@dataclass(frozen=True)
class NumberAdder:
    """Histograms and extremes of numbers by node and code."""

    layout: Layout
    n_numbers: int
    weighted: bool

    @property
    def n_parts(self) -> int:
        """All rows together."""
        return 1

    @property
    def summed(self) -> list[str]:
        """Numbers and weights."""
        return [f"u{k}" for k in range(self.n_numbers)] + (["w"] if self.weighted else [])

    @property
    def first_part(self) -> str:
        """The node."""
        return "0"

    def part(self, rows: Any, node: Any) -> Any:  # noqa: ARG002
        """The node."""
        return node.cast("int32")

    def query(self, rows: Any, code: Any, first: int) -> Any:
        """The sums of the digits of each number."""
        numbers = [rows[f"u{k}"] for k in range(self.n_numbers)]
        tells = numbers[0] if self.n_numbers == 1 else numbers[0] * 2**31 + numbers[1]
        asked = {f"d{i}": own.expression for i, own in enumerate(flat(self._digits(rows)))}
        table = rows.select("part", code=code, tells=tells, **asked)
        sums = {name: table[name].sum().cast("int64") for name in asked}
        found = table.group_by("part", "code").aggregate(
            n=table.count(), low=table.tells.min(), high=table.tells.max(), **sums
        )
        return found.mutate(key=self.layout.key(found, first)).drop("part", "code")

    def _digits(self, rows: Any) -> list[list[Digits]]:
        numbers = [rows[f"u{k}"] for k in range(self.n_numbers)]
        return product_digits(numbers, rows["w"] if self.weighted else None, with_square=self.n_numbers == 1)

    def sums(self, n_open: int, found: Iterable[dict[str, AnyArray]]) -> Histograms:
        """By node and code."""
        shape = (n_open, self.layout.width)
        powers = [[own.power for own in each] for each in self._digits(_COLUMNS)]
        rows, low, high = np.zeros(shape, np.int64), np.full(shape, _NUMBERS.max), np.full(shape, _NUMBERS.min)
        sums = np.zeros((*shape, 3 if self.n_numbers == 1 else 4, 2), dtype=np.int64)
        for own in found:
            self.layout.check(own, n_open)
            node, at = np.divmod(own["key"], self.layout.width)
            rows[node, at], low[node, at], high[node, at] = own["n"], own["low"], own["high"]
            digits = iter(range(sum(map(len, powers))))
            for k, each in enumerate(powers):
                parts = [own[f"d{next(digits)}"].astype(object) << power for power in each]
                sums[node, at, k] = halves(reduce(add, parts))
        self.layout.check_rows(rows)
        return Histograms(*(self.layout.chosen(own, 1) for own in (rows, sums, low, high)))


# Numbers and weights of no row: what digits they have does not depend on any.
_COLUMNS = ibis.table({"u0": "int64", "u1": "int64", "w": "int64"}, name="columns")


def flat(digits: list[list[Digits]]) -> list[Digits]:
    """One after the other."""
    return [own for each in digits for own in each]
