"""Rows of a database in the nodes of a tree: a temporary table, which is written anew where they move to children."""

from __future__ import annotations

import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import ibis
import numpy as np

from .._typing import AnyArray
from ..growth import WAITS, Routes
from ._ctrl_c import ctrl_c_is_no_error

_HERE = "node"


@dataclass
class PlacedRows:
    """The codes and whole numbers of rows, with the node that each is in."""

    coded: Any
    stored: list[AnyArray]  # by column: what the rows have for each code
    table: Any = field(default=None, init=False)
    nodes: list[int] = field(default_factory=list, init=False)  # that the rows are in
    temporary: list[str] = field(default_factory=list, init=False)

    def at(self, routes: Routes) -> Any:
        """The rows of open nodes; a tree grows from one call to the next, and a single node is a new one."""
        if len(routes.feature) == 1:
            self.close()
            self.table, self.nodes = self.coded.mutate(**{_HERE: ibis.literal(0, "int32")}), [0]
        elif any(routes.feature[node] >= 0 for node in self.nodes):
            self._move(routes)
        return self.table

    def _move(self, routes: Routes) -> None:
        """Send the rows of nodes that were split to the children; those of finished ones are left out."""
        moves = [self._move_of(node, routes) for node in self.nodes]
        values = ", ".join(map(str, moves))
        query = f"SELECT * FROM (VALUES {values}) AS moves(feature, to_lower, to_upper, goes_lower, {_HERE})"  # noqa: S608
        backend = self.coded.get_backend()
        joined = self.table.join(backend.sql(query, dialect="duckdb"), _HERE)
        used = sorted({move[0] for move in moves})
        codes = [(feature, joined[f"c{feature}"].cast("int32")) for feature in used]
        code = joined["feature"].cases(*codes[1:], else_=codes[0][1]) if len(codes) > 1 else codes[0][1]
        is_lower = joined["goes_lower"].substr(code, 1) == "1"
        node = ibis.ifelse(is_lower, joined["to_lower"], joined["to_upper"]).cast("int32")
        moved = joined.select(*self.coded.columns, **{_HERE: node}).filter(lambda rows: rows[_HERE] >= 0)
        name = f"baytree_{uuid.uuid4().hex[:12]}"
        self.temporary.append(name)
        with ctrl_c_is_no_error():
            self.table = backend.create_table(name, obj=moved, temp=True)
        self._drop(self.temporary[:-1])
        self.nodes = sorted({node for move in moves for node in move[1:3] if node >= 0})

    def _move_of(self, node: int, routes: Routes) -> tuple[int, int, int, str, int]:
        """The feature that decides, the nodes to go to (-1: nobody will ask for them), and which codes go lower."""
        feature = int(routes.feature[node])
        if feature < 0:
            stays = self._if_open(node, routes)
            return 0, stays, stays, "1", node
        lower, upper = (self._if_open(int(child[node]), routes) for child in (routes.lower, routes.upper))
        stored = self.stored[feature]
        goes_lower = np.zeros(int(stored[-1]) + 1, dtype=np.uint8)
        goes_lower[stored] = routes.goes_lower[routes.start[node] :][: len(stored)]
        return feature, lower, upper, "".join(map(str, goes_lower.tolist())), node

    @staticmethod
    def _if_open(node: int, routes: Routes) -> int:
        return node if routes.open[node] >= 0 or routes.open[node] == WAITS else -1

    def close(self) -> None:
        """Drop the temporary tables."""
        self._drop(self.temporary)
        self.table = None

    def _drop(self, names: list[str]) -> None:
        for name in list(names):
            with suppress(Exception):  # a connection that was lost has no temporary tables any more
                self.coded.get_backend().drop_table(name, force=True)
            self.temporary.remove(name)
