"""Forests of encoded rows, in memory or at a source: the weights of a row follow from its key and a tree's number.

So a tree is one more set of histograms, and several trees are grown in each pass over the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .._typing import BoolArray
from ..outcomes import Outcome
from ..tree import TreeStore
from ._encoded_rows import CodeLayout, n_sample_shares
from ._forest import ForestPlan, store_of_members
from ._histogram_data import ForestMember, HistogramData, LevelPass, Levels
from ._histograms import ClassHistograms, Histograms
from ._row_draws import DrawSize, Sums, TreeDraw
from ._row_keys import KeyedParts, KeyedRows, hash_of_encoded, mean_over_copies
from ._settings import Growth
from ._table_data import TableData, data_of_sample

TREES_AT_ONCE = 10
_MAX_BYTES = 2**28  # size of the histograms of one pass over the rows
_MEMBER_FIELDS = {  # of the nodes of a tree, those of a forest, which are smaller
    "kind": np.uint8,
    "feature": np.int32,
    "threshold": np.float64,
    "has_missing": np.bool_,
    "missing_go_to_left": np.bool_,
    "log_prior_split": np.float32,
    "category_start": np.int32,
    "category": np.int32,
    "category_goes_left": np.bool_,
    "hyperplane_start": np.int32,
    "hyperplane_feature": np.int32,
    "hyperplane_coefficient": np.float64,
    "hyperplane_missing_value": np.float64,
    "n_rows": np.int32,
    "log_prior_leaf": np.float32,
    "children_right": np.int32,
    "log_odds_split": np.float32,
    "statistics": np.float64,
}


class _Asked(NamedTuple):
    """What one tree asks of a pass."""

    draw: TreeDraw
    request: LevelPass


@dataclass(frozen=True)
class KeyedForest:
    """The rows of a forest."""

    data: HistogramData
    keyed: KeyedParts

    def grow(self, outcome: Outcome, plan: ForestPlan) -> TreeStore:
        """Grow the trees of a plan, some of them at once."""
        stores = []
        for first in range(plan.first, plan.first + plan.n_trees, TREES_AT_ONCE):
            numbers = range(first, min(first + TREES_AT_ONCE, plan.first + plan.n_trees))
            stores += self._grow_some(outcome, plan, numbers)
        return store_of_members(stores, outcome, self.data.growth, len(self.data.bins))

    def _grow_some(self, outcome: Outcome, plan: ForestPlan, numbers: range) -> list[dict[str, Any]]:
        draws, sizes = self._draws(plan, numbers)
        data = [self._data_of(plan, draw, size) for draw, size in zip(draws, sizes, strict=True)]
        rows = self.keyed.rows_in_memory()
        if rows is not None:
            self._tell(draws)
            members = [one.nodes_of_rows(draw.rows(rows), outcome) for one, draw in zip(data, draws, strict=True)]
        else:
            factors, max_bytes = outcome.has_factor, _MAX_BYTES // len(draws)
            levels = [one.levels(outcome, factors=factors, max_bytes=max_bytes) for one in data]
            members = self._grow_together(draws, levels, data[0].layout(outcome))
        return [_member(nodes, 1 / plan.factor) for nodes in members]

    def _draws(self, plan: ForestPlan, numbers: range) -> tuple[list[TreeDraw], list[DrawSize]]:
        """The draws of some trees, and the sizes of their rows."""
        draws = [TreeDraw.of(plan, tree, self.data.grids) for tree in numbers]
        sizes = self._sizes(draws)
        empty = [size.n_rows == 0 for size in sizes]
        if any(empty):
            draws = [replace(draw, all_rows=none) for draw, none in zip(draws, empty, strict=True)]
            sizes = self._sizes(draws)
        return draws, sizes

    def _sizes(self, draws: list[TreeDraw]) -> list[DrawSize]:
        return self.keyed.reduce(partial(_sizes_of, draws=draws), _add_each)

    def _data_of(self, plan: ForestPlan, draw: TreeDraw, size: DrawSize) -> HistogramData:
        """The rows of a tree, whose weights are their counts."""
        grids = replace(self.data.grids, weight=draw.grid(), whole_weights=True)
        member = ForestMember(plan.seed, draw.tree, plan.n_features, draw.row_factor(size))
        return replace(
            self.data,
            grids=grids,
            sample_size=draw.sample_size(size),
            totals=(),
            on_level=None,
            member=member,
        )

    def _grow_together(self, draws: list[TreeDraw], growing: list[Levels], layout: CodeLayout) -> list[dict[str, Any]]:
        """Grow several trees, with one pass over the rows for what all of them ask."""
        nodes: dict[int, dict[str, Any]] = {}
        asked = {i: next(levels) for i, levels in enumerate(growing)}
        while asked:
            self._tell(draws)
            requests = tuple(_Asked(draws[i], request) for i, request in asked.items())
            answers = self.keyed.reduce(partial(_answers, layout=layout, requests=requests), _add_each)
            for i, answer in zip(list(asked), answers, strict=True):
                try:
                    asked[i] = growing[i].send(answer)
                except StopIteration as end:
                    nodes[i] = end.value
                    del asked[i]
        return [nodes[i] for i in range(len(growing))]

    def _tell(self, draws: list[TreeDraw]) -> None:
        if self.data.on_level is not None:
            self.data.on_level(f"Trees {draws[0].tree + 1:,} to {draws[-1].tree + 1:,}")

    def sample(self) -> tuple[TableData, KeyedRows]:
        """A few thousand rows in memory, all of those that are equal, and their keys."""
        rows = self.keyed.reduce(partial(_sample_of, n_shares=n_sample_shares(len(self.data))), _add)
        rows = rows.take(np.argsort(rows.keys))  # the order in which figures of them are added up
        data = self.data
        return data_of_sample(rows, data.bins, data.schema, data.grids, data.growth), rows

    def lacks(self, rows: KeyedRows, plan: ForestPlan) -> Any:
        """How much each tree of a plan counts as one grown without each of some rows; shape (n_rows, n_trees).

        A tree lacks a row that does not count in it. Equal rows cannot be told apart: they share what they lack.
        """
        numbers = range(plan.first, plan.first + plan.n_trees)
        draws, _ = self._draws(plan, numbers)
        lacking: BoolArray = np.stack([draw.counts(rows) == 0 for draw in draws], axis=1)
        return mean_over_copies(rows, lacking).astype(np.float32)


def uses_keys(growth: Growth, plan: ForestPlan) -> bool:
    """Whether the weights of a forest follow from the keys of encoded rows: where columns have bins."""
    plain = not growth.oblique and growth.lookahead == 0 and growth.engine.forest_whole
    return growth.max_bins is not None and plain and not plan.resample


def _member(nodes: dict[str, Any], unit: float) -> dict[str, Any]:
    """The nodes of a tree as those of a forest; `unit` is what a count of 1 stands for."""
    arrays = {name: nodes[name].astype(dtype) for name, dtype in _MEMBER_FIELDS.items()}
    return arrays | {"statistics": arrays["statistics"] * unit}


def _sizes_of(rows: KeyedRows, draws: list[TreeDraw]) -> list[DrawSize]:
    return [draw.size(rows) for draw in draws]


def _answers(
    rows: KeyedRows, layout: CodeLayout, requests: tuple[_Asked, ...]
) -> list[Histograms | ClassHistograms | Sums]:
    """What each tree asks of a part."""
    answers: list[Histograms | ClassHistograms | Sums] = []
    for draw, (routes, outcome) in requests:
        of_tree = draw.rows(rows)
        if outcome is None:
            answers.append(of_tree.histograms(layout, routes))
        else:
            answers.append(Sums(of_tree.factors(layout, routes, outcome)))
    return answers


def _add_each(one: list[Any], other: list[Any]) -> list[Any]:
    return [a + b for a, b in zip(one, other, strict=True)]


def _add(one: KeyedRows, other: KeyedRows) -> KeyedRows:
    return one + other


def _sample_of(rows: KeyedRows, n_shares: int) -> KeyedRows:
    return rows.take((hash_of_encoded(rows) >> np.uint64(33)) % np.uint64(n_shares) == 0)
