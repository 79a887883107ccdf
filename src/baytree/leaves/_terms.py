"""The terms of models in leaves: which columns a leaf uses, and how their values are centred and scaled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from functools import cached_property
from typing import Self

import numpy as np

from .._typing import AnyArray, FloatArray, IntArray
from ..table import Rows


class TermKind(IntEnum):
    """What a term is a number of; the compiled core has the same codes."""

    VALUE = 0  # the value of a column of numbers
    CATEGORY = 1  # 1 for one category of a column, else 0
    MISSING = 2  # 1 where the value of a column is missing, else 0


@dataclass(frozen=True, eq=False)
class LeafTerms:
    """The terms of every node: those of node i are entries ``start[i]`` to ``start[i + 1]`` of the other arrays.

    Attributes
    ----------
    start
        Where the terms of each node begin, and the end.
    kind, feature, category
        What a term is: a `TermKind`, the position of its column, and of an indicator the position of the category.
    centre, scale
        Mean and standard deviation in the node: a term enters as ``(value - centre) / scale``, 0 where it is missing.
    low, high
        The range of the values in the node.
    """

    start: IntArray
    kind: AnyArray
    feature: IntArray
    category: FloatArray
    centre: FloatArray
    scale: FloatArray
    low: FloatArray
    high: FloatArray

    def __post_init__(self) -> None:
        for field in fields(self):
            getattr(self, field.name).flags.writeable = False

    def __setstate__(self, state: dict[str, AnyArray]) -> None:
        vars(self).update(state)
        self.__post_init__()

    def __len__(self) -> int:
        return len(self.feature)

    @property
    def counts(self) -> IntArray:
        """The number of terms of each node."""
        return np.diff(self.start)

    @cached_property
    def used_features(self) -> IntArray:
        """The features of all terms, in ascending order."""
        return np.unique(self.feature)

    def of(self, node: int) -> range:
        """The terms of a node."""
        return range(int(self.start[node]), int(self.start[node + 1]))

    def scaled(self, node: int, rows: Rows, row: IntArray, *, clip: bool) -> FloatArray:
        """The terms of a node for some rows, centred and scaled, shape (len(row), n_terms); clipped to their range."""
        result = np.empty((len(row), len(self.of(node))))
        for k, term in enumerate(self.of(node)):
            values = self.values(term, rows, row)
            if clip:
                values = np.clip(values, self.low[term], self.high[term])
            with np.errstate(over="ignore"):
                scaled = (values - self.centre[term]) / self.scale[term]
            result[:, k] = np.where(np.isnan(scaled), 0.0, np.clip(scaled, -1e100, 1e100))
        return result

    def values(self, term: int, rows: Rows, row: IntArray) -> FloatArray:
        """The values of a term for some rows, NaN where they are missing."""
        column = rows.feature(int(self.feature[term]), row)
        match TermKind(int(self.kind[term])):
            case TermKind.VALUE:
                return column
            case TermKind.CATEGORY:
                return (column == self.category[term]).astype(np.float64)
            case TermKind.MISSING:
                return np.isnan(column).astype(np.float64)

    def take(self, nodes: IntArray) -> Self:
        """The terms of some nodes, in a new order."""
        place, start = take_ragged(self.start, nodes)
        others = {field.name: getattr(self, field.name)[place] for field in fields(self) if field.name != "start"}
        return type(self)(start=start, **others)

    def concatenate(self, others: Sequence[Self]) -> Self:
        """These terms and, behind them, those of other nodes."""
        parts = [self, *others]
        start = np.append(0, np.cumsum(np.concatenate([part.counts for part in parts])))
        names = [field.name for field in fields(self) if field.name != "start"]
        return type(self)(
            start=start, **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        )


def take_ragged(start: IntArray, nodes: IntArray) -> tuple[IntArray, IntArray]:
    """The positions of the entries of some nodes in ragged arrays, and where those of each begin there."""
    counts = np.diff(start)[nodes]
    new_start = np.append(0, np.cumsum(counts))
    place = np.repeat(start[nodes] - new_start[:-1], counts) + np.arange(new_start[-1])
    return place.astype(np.int64), new_start


def rows_by_node(node: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Each node that occurs, with the positions of its entries."""
    order = np.argsort(node, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(node[order]) != 0)) if len(node) else np.zeros(0, dtype=np.int64)
    for begin, end in zip(first, np.append(first[1:], len(node)), strict=True):
        yield int(node[order[begin]]), order[begin:end]
