"""The rows of a database by node of a tree: a temporary table with the node of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import or_
from typing import Any, NamedTuple

import ibis
import numpy as np

from .._typing import AnyArray
from ..growth import WAITING, Routes
from ._sql_backend import ConnectionSettings
from ._sql_execution import PreparedQueries, read_arrays, run_queries, stored_name
from ._sql_histograms import Aggregation, Layout
from ._sql_temporary import TemporaryTables

_FINISHED = -1  # number of the rows of finished nodes
_MAX_NUMBERS = 2**18  # of nodes, after which all rows are numbered anew


class RowMove(NamedTuple):
    """The split of a node: rows whose code is from `first` to `last` go to `inside`, all others to `outside`.

    The codes are bits of a packed word, and `first` and `last` are shifted in the same way.
    """

    node: int
    word: int
    shift: int
    mask: int
    first: int
    last: int
    inside: int
    outside: int
    chosen: str = ""  # a digit for each code, if the codes of `inside` are not a range


@dataclass
class NodeTable:
    """The codes and fixed-point targets of rows, with a number for the part of the node that each row is in.

    Nodes are numbered anew here, so that nodes whose histograms are asked for have consecutive numbers; the numbers of
    their parts follow from these. If all rows move, the table is written anew. Otherwise DuckDB updates the rows that
    move, and the others keep the number that the parent of their node had.
    """

    coded: Any  # all rows, in node 0; DuckDB updates their nodes in place
    stored: list[AnyArray]  # for each column, the stored value of each code
    layout: Layout
    aggregation: Aggregation
    settings: ConnectionSettings
    rows: Any = field(default=None, init=False)
    numbers: dict[int, int] = field(default_factory=dict, init=False)  # of the nodes of the rows
    n_numbers: int = field(default=1, init=False)  # numbers in use
    can_update: bool = field(default=False, init=False)  # whether the table can be updated in place
    has_moved: bool = field(default=False, init=False)  # whether some coded rows are no longer in node 0
    prepared: PreparedQueries | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        backend = self.coded.get_backend()
        self.temporary, self.selections = TemporaryTables(backend), TemporaryTables(backend)

    def query_results(self, routes: Routes) -> Iterator[dict[str, AnyArray]]:
        """The sums of open nodes; the tree grows from one call to the next, and an open root begins a new tree."""
        is_root = routes.open[0] >= 0
        if is_root or self.rows is None:
            self._reset()
        self.selections.drop()
        for table in [self.coded] if is_root else self._move_rows(routes):
            self.settings.tune_for(table)
            yield from run_queries(table.get_backend(), self._queries_of(table))

    def _queries_of(self, table: Any) -> list[Callable[[], dict[str, AnyArray]]]:
        if table is self.coded:
            return [partial(read_arrays, expression) for expression in self._expressions(table)]
        self.prepared = self.prepared or PreparedQueries(table, self._expressions)
        return self.prepared.for_table(table)

    def _expressions(self, rows: Any) -> list[Any]:
        return self.layout.queries(rows, self.aggregation)

    def _reset(self) -> None:
        """Put all rows into node 0."""
        self.close()
        if self.has_moved:
            first_part = self.aggregation.first_part
            self.temporary.run(f"UPDATE {stored_name(self.coded)} SET part = {first_part}")  # noqa: S608
        self.rows, self.numbers = self.coded, {0: 0}
        self.can_update, self.has_moved = self.settings.can_update, False

    def _move_rows(self, routes: Routes) -> list[Any]:
        """Move the rows of nodes that were split to the children; returns tables of the nodes to count."""
        counted, waiting = (np.flatnonzero(nodes).tolist() for nodes in (routes.open >= 0, routes.open == WAITING))
        update = bool(waiting) and self.can_update and self.n_numbers < _MAX_NUMBERS
        first = self.n_numbers if update else 0
        numbers = {node: first + int(routes.open[node]) for node in counted}
        numbers |= self._inherited_numbers(routes) if update else {}
        more = [node for node in waiting if node not in numbers]
        numbers |= {node: first + len(counted) + i for i, node in enumerate(more)}
        moves = self._moves(routes, numbers, update=update)
        if update:
            self._update(moves)
        else:
            self.can_update = self.settings.can_update and bool(waiting)
            self._write(moves)
        self.numbers, self.n_numbers = numbers, first + len(counted) + len(more)
        groups = self.settings.groups(len(counted), self.aggregation.n_parts)
        if not waiting and len(groups) == 1:
            return [self.rows]
        return [self.selections.of_query(self._rows_of(first, *group)) for group in groups]

    def _rows_of(self, first: int, start: int, stop: int) -> Any:
        """The rows of some nodes, with their parts numbered from node `first`."""
        before, n_parts = first * self.aggregation.n_parts, self.aggregation.n_parts
        rows = self.rows.filter(self.rows["part"].between(before + start * n_parts, before + stop * n_parts - 1))
        return self._columns(rows, (rows["part"] - before).cast("int32"))

    def _columns(self, rows: Any, part: Any) -> Any:
        return rows.select(*self.layout.packing.names, *self.aggregation.sum_columns, part=part)

    def _inherited_numbers(self, routes: Routes) -> dict[int, int]:
        """The numbers of nodes whose rows stay: of waiting nodes, and of one waiting child of each split node."""
        result: dict[int, int] = {}
        for node, number in self.numbers.items():
            below = [node] if routes.feature[node] < 0 else [int(routes.lower[node]), int(routes.upper[node])]
            heir = next((child for child in below if routes.open[child] == WAITING), None)
            if heir is not None:
                result[heir] = number
        return result

    def _moves(self, routes: Routes, numbers: dict[int, int], *, update: bool) -> list[RowMove]:
        """The moves of all rows; in an update, of those whose number changes.

        In an update, rows of finished nodes keep their number unless another node has it.
        """
        taken = set(numbers.values())
        moves = []
        for node, number in self.numbers.items():
            finished = number if update and number not in taken else _FINISHED
            move = self._move_of(node, number, finished, routes, numbers)
            if not update or {move.inside, move.outside} != {number}:
                moves.append(move)
        return moves

    def _move_of(self, node: int, number: int, finished: int, routes: Routes, numbers: dict[int, int]) -> RowMove:
        feature = int(routes.feature[node])
        if feature < 0:
            to = numbers.get(node, finished)
            return RowMove(number, 0, 0, 0, 0, 0, to, to)
        packing, stored = self.layout.packing, self.stored[feature]
        shift = packing.shift[feature]
        bits = (number, packing.word[feature], shift, packing.mask(feature))
        goes_lower = routes.goes_lower[routes.start[node] :][: len(stored)].astype(bool)
        lower, upper = (numbers.get(int(child[node]), finished) for child in (routes.lower, routes.upper))
        for is_inside, one, other in ((goes_lower, lower, upper), (~goes_lower, upper, lower)):
            codes = np.flatnonzero(is_inside)
            if len(codes) == 0 or codes[-1] - codes[0] + 1 == len(codes):
                first, last = stored[codes[[0, -1]]].tolist() if len(codes) else (1, 0)
                return RowMove(*bits, first << shift, last << shift, one, other)
        chosen = np.zeros(int(stored[-1]) + 1, dtype=np.uint8)
        chosen[stored] = goes_lower
        return RowMove(*bits, 0, 0, lower, upper, "".join(map(str, chosen.tolist())))

    def _write(self, moves: list[RowMove]) -> None:
        """Write all rows anew, except those of finished nodes."""
        old = list(self.temporary.names)
        words = _split_words(moves)
        joined = self.rows.join(self._parts(moves, words), "part")
        bits = reduce(or_, [joined[self.layout.packing.names[word]] & joined[f"mask{word}"] for word in words])
        is_inside = bits <= joined["last"]
        if any(move.first for move in moves):
            is_inside &= bits >= joined["first"]
        if any(move.chosen for move in moves):
            of_set = joined["chosen"].substr((bits >> joined["shift"]).cast("int32"), 1) == "1"
            is_inside = ibis.ifelse(joined["chosen"] == "", is_inside, of_set)
        part = ibis.ifelse(is_inside, joined["inside"], joined["outside"])
        moved = self._columns(joined, part)
        self.rows = self.temporary.of_query(moved.filter(moved["part"] >= 0), "part" if self.can_update else None)
        self.temporary.drop(old)

    def _update(self, moves: list[RowMove]) -> None:
        """Update the parts of the rows that move, in DuckDB's SQL."""
        words = _split_words(moves)
        self.has_moved |= self.rows is self.coded
        self._parts(moves, words)
        rows, parts = stored_name(self.rows), self.temporary.names[-1]
        bits = " | ".join(f"(rows.row.{self.layout.packing.names[word]} & parts.mask{word})" for word in words)
        is_inside = f"({bits}) <= parts.last"
        if any(move.first for move in moves):  # otherwise DuckDB would compute the bits twice for nothing
            is_inside += f" AND ({bits}) >= parts.first"
        if any(move.chosen for move in moves):
            of_set = f"substr(parts.chosen, CAST(({bits}) >> parts.shift AS INTEGER) + 1, 1) = '1'"
            is_inside = f"CASE WHEN parts.chosen = '' THEN {is_inside} ELSE {of_set} END"
        part = f"CASE WHEN {is_inside} THEN parts.inside ELSE parts.outside END"
        self.temporary.run(
            f"UPDATE {rows} AS rows SET part = {part} FROM {parts} AS parts "  # noqa: S608
            f"WHERE rows.part = parts.part AND {part} <> rows.part"
        )
        self.temporary.drop([name for name in self.temporary.names if name != rows])

    def _parts(self, moves: list[RowMove], words: list[int]) -> Any:
        """A table of the moves of each part, with a mask for each word."""
        n_parts, values_of_moves = self.aggregation.n_parts, zip(*moves, strict=True)
        fields = {
            name: np.repeat(values, n_parts) for name, values in zip(RowMove._fields, values_of_moves, strict=True)
        }
        part_of_node = np.tile(np.arange(n_parts), len(moves))
        numbers = {"part": "node", "inside": "inside", "outside": "outside"}
        columns = {name: (fields[node] * n_parts + part_of_node).astype(np.int32) for name, node in numbers.items()}
        columns |= {f"mask{word}": np.where(fields["word"] == word, fields["mask"], 0) for word in words}
        return self.temporary.of_values(columns | {name: fields[name] for name in ("first", "last", "shift", "chosen")})

    def close(self) -> None:
        """Drop the temporary tables."""
        self.temporary.drop()
        self.selections.drop()
        self.rows, self.n_numbers, self.can_update = None, 1, False


def _split_words(moves: list[RowMove]) -> list[int]:
    """The words that hold the codes of the split features."""
    return sorted({move.word for move in moves})
