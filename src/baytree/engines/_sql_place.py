"""Rows of a database in the nodes of a tree: a temporary table, which is written anew where they move to children."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ibis
import numpy as np

from .._typing import AnyArray
from ..growth import WAITS, Routes
from ._sql_settings import Settings
from ._sql_sums import Adder, Layout
from ._sql_values import TemporaryTables
from ._sql_whole import Repeated

_GONE = -1  # nobody will ask for the node of these rows
_FIELDS = ("node", "word", "shift", "mask", "first", "last", "inside", "outside", "chosen")


@dataclass
class PlacedRows:
    """The codes and whole numbers of rows, with a number for the node that each is in.

    Nodes that are asked for have their numbers among them; those that wait have -2, -3 and so on.
    """

    coded: Any  # all rows, in node 0
    stored: list[AnyArray]  # by column: what the rows have for each code
    layout: Layout
    adder: Adder
    settings: Settings
    table: Any = field(default=None, init=False)
    nodes: dict[int, int] = field(default_factory=dict, init=False)  # that the rows are in, by their numbers
    queries: Repeated | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.temporary = TemporaryTables(self.coded.get_backend())

    def sums(self, routes: Routes) -> list[dict[str, AnyArray]]:
        """What is found of open nodes; a tree grows from one call to the next, and a single node is a new one."""
        if len(routes.feature) == 1 or self.table is None:
            self.close()
            self.table, self.nodes = self.coded, {0: 0}
        asked = self.coded if len(routes.feature) == 1 else self._move(routes, _numbers(routes))
        if self.queries is None:
            self.queries = Repeated(self.coded, lambda rows: self.layout.queries(rows, self.adder))
        self.settings.count_in(asked)
        return self.queries.fetch(asked)

    def _move(self, routes: Routes, numbers: dict[int, int]) -> Any:
        """Send the rows of nodes that were split to the children; returns those that are asked for.

        Rows of finished nodes are left out.
        """
        moves = [self._move_of(number, node, routes, numbers) for number, node in self.nodes.items()]
        joined = self.table.join(self.temporary.of_values(_FIELDS, moves), "node")
        words = [joined[name] for name in self.layout.words.names]
        word = joined["word"].cases(*enumerate(words[1:], 1), else_=words[0]) if len(words) > 1 else words[0]
        code = (word >> joined["shift"]) & joined["mask"]
        is_inside = code.between(joined["first"], joined["last"])
        if any(move[-1] for move in moves):
            of_set = joined["chosen"].substr(code.cast("int32"), 1) == "1"
            is_inside = ibis.ifelse(joined["chosen"] == "", is_inside, of_set)
        node = ibis.ifelse(is_inside, joined["inside"], joined["outside"]).cast("int32")
        columns = [name for name in self.coded.columns if name != "node"]
        moved = joined.select(*columns, node=node).filter(lambda rows: rows["node"] != _GONE)
        old = list(self.temporary.names)
        self.table = self.temporary.of_query(moved)
        self.temporary.drop(old)
        self.nodes = {number: node for node, number in numbers.items()}
        if min(self.nodes) >= 0:
            return self.table
        return self.temporary.of_query(self.table.filter(self.table["node"] >= 0))

    def _move_of(self, number: int, node: int, routes: Routes, numbers: dict[int, int]) -> tuple[Any, ...]:
        """The column that decides, codes from one to another, the nodes inside and outside; codes that are no range."""
        feature = int(routes.feature[node])
        if feature < 0:
            stays = numbers.get(node, _GONE)
            return number, 0, 0, 0, 0, 0, stays, stays, ""
        words, stored = self.layout.words, self.stored[feature]
        where = (number, words.word[feature], words.shift[feature], 2 ** words.bits[feature] - 1)
        goes_lower = routes.goes_lower[routes.start[node] :][: len(stored)].astype(bool)
        lower, upper = (numbers.get(int(child[node]), _GONE) for child in (routes.lower, routes.upper))
        for inside, one, other in ((goes_lower, lower, upper), (~goes_lower, upper, lower)):
            places = np.flatnonzero(inside)
            if len(places) == 0 or places[-1] - places[0] + 1 == len(places):
                first, last = stored[places[[0, -1]]].tolist() if len(places) else (1, 0)
                return *where, first, last, one, other, ""
        chosen = np.zeros(int(stored[-1]) + 1, dtype=np.uint8)
        chosen[stored] = goes_lower
        return *where, 0, 0, lower, upper, "".join(map(str, chosen.tolist()))

    def close(self) -> None:
        """Drop the temporary tables."""
        self.temporary.drop()
        self.table = None


def _numbers(routes: Routes) -> dict[int, int]:
    """The number of each open node."""
    waiting = np.flatnonzero(routes.open == WAITS)
    asked = np.flatnonzero(routes.open >= 0)
    numbers = {int(node): int(routes.open[node]) for node in asked}
    return numbers | {int(node): -2 - i for i, node in enumerate(waiting)}
