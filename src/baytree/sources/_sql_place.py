"""Rows of a database in the nodes of a tree: a temporary table, which tells of each row where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial, reduce
from operator import or_
from typing import Any, NamedTuple

import ibis
import numpy as np

from .._typing import AnyArray
from ..growth import WAITS, Routes
from ._sql_ask import answers
from ._sql_fixed_point import Repeated, read_arrays, stored_name
from ._sql_histograms import Adder, Layout
from ._sql_settings import Settings
from ._sql_values import TemporaryTables

_GONE = -1  # nobody will ask for the node of these rows
_MOST_NUMBERS = 2**18  # of nodes that were ever given; then all begin anew


class Move(NamedTuple):
    """Where the rows of a node go: those whose code is from the first to the last one way, all others the other way.

    The codes are bits of a word, and so are the first and the last.
    """

    node: int
    word: int
    shift: int
    mask: int
    first: int
    last: int
    inside: int
    outside: int
    chosen: str = ""  # a digit for each code, where those that go one way are no range


@dataclass
class PlacedRows:
    """The codes and whole numbers of rows, with a number for the part of the node that each is in.

    Nodes have numbers of their own here, and their parts follow from these. Nodes that are asked for have numbers one
    after the other. The rows are written anew where they all move; else DuckDB writes where some are, and leaves the
    others with the number that their node's parent had.
    """

    coded: Any  # all rows, in node 0; DuckDB moves them
    stored: list[AnyArray]  # by column: what the rows have for each code
    layout: Layout
    adder: Adder
    settings: Settings
    rows: Any = field(default=None, init=False)
    numbers: dict[int, int] = field(default_factory=dict, init=False)  # of the nodes that the rows are in
    n_numbers: int = field(default=1, init=False)  # that were given
    can_stay: bool = field(default=False, init=False)  # whether the table can be updated
    has_moved: bool = field(default=False, init=False)  # whether the coded rows are not in node 0 any more
    queries: Repeated | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        backend = self.coded.get_backend()
        self.temporary, self.asked = TemporaryTables(backend), TemporaryTables(backend)

    def sums(self, routes: Routes) -> Iterator[dict[str, AnyArray]]:
        """What is found of open nodes; a tree grows from one call to the next, and a single node is a new one."""
        if len(routes.feature) == 1 or self.rows is None:
            self._start()
        self.asked.drop()
        for table in [self.coded] if len(routes.feature) == 1 else self._moved(routes):
            self.settings.count_in(table)
            yield from answers(table.get_backend(), self._asks(table))

    def _asks(self, table: Any) -> list[Callable[[], dict[str, AnyArray]]]:
        if table is self.coded:
            return [partial(read_arrays, own) for own in self._queries(table)]
        self.queries = self.queries or Repeated(table, self._queries)
        return self.queries.asks(table)

    def _queries(self, rows: Any) -> list[Any]:
        return self.layout.queries(rows, self.adder)

    def _start(self) -> None:
        self.close()
        if self.has_moved:
            self.temporary.run(f"UPDATE {stored_name(self.coded)} SET part = {self.adder.first_part}")  # noqa: S608
        self.rows, self.numbers = self.coded, {0: 0}
        self.can_stay, self.has_moved = self.settings.can_update, False

    def _moved(self, routes: Routes) -> list[Any]:
        """Send the rows of nodes that were split to the children; returns those that are asked for, in some tables."""
        asked, waiting = (np.flatnonzero(own).tolist() for own in (routes.open >= 0, routes.open == WAITS))
        stay = bool(waiting) and self.can_stay and self.n_numbers < _MOST_NUMBERS
        first = self.n_numbers if stay else 0
        numbers = {node: first + int(routes.open[node]) for node in asked}
        numbers |= self._heirs(routes) if stay else {}
        more = [node for node in waiting if node not in numbers]
        numbers |= {node: first + len(asked) + i for i, node in enumerate(more)}
        moves = self._moves(routes, numbers, stay=stay)
        if stay:
            self._update(moves)
        else:
            self.can_stay = self.settings.can_update and bool(waiting)
            self._write(moves)
        self.numbers, self.n_numbers = numbers, first + len(asked) + len(more)
        groups = self.settings.groups(len(asked), self.adder.n_parts)
        if not waiting and len(groups) == 1:
            return [self.rows]
        return [self.asked.of_query(self._chosen(first, *own)) for own in groups]

    def _chosen(self, first: int, start: int, stop: int) -> Any:
        """The rows of some nodes, whose parts have numbers as if the first node's was 0."""
        before, n_parts = first * self.adder.n_parts, self.adder.n_parts
        chosen = self.rows.filter(self.rows["part"].between(before + start * n_parts, before + stop * n_parts - 1))
        return self._columns(chosen, (chosen["part"] - before).cast("int32"))

    def _columns(self, rows: Any, part: Any) -> Any:
        return rows.select(*self.layout.words.names, *self.adder.summed, part=part)

    def _heirs(self, routes: Routes) -> dict[int, int]:
        """The numbers of nodes whose rows stay: those that wait, or the child that waits of one that was split."""
        result: dict[int, int] = {}
        for node, number in self.numbers.items():
            below = [node] if routes.feature[node] < 0 else [int(routes.lower[node]), int(routes.upper[node])]
            heir = next((own for own in below if routes.open[own] == WAITS), None)
            if heir is not None:
                result[heir] = number
        return result

    def _moves(self, routes: Routes, numbers: dict[int, int], *, stay: bool) -> list[Move]:
        """Of all rows, or of those that do not stay; rows of finished nodes may, where no other node has the number."""
        taken = set(numbers.values())
        moves = []
        for node, number in self.numbers.items():
            gone = number if stay and number not in taken else _GONE
            move = self._move_of(node, number, gone, routes, numbers)
            if not stay or {move.inside, move.outside} != {number}:
                moves.append(move)
        return moves

    def _move_of(self, node: int, number: int, gone: int, routes: Routes, numbers: dict[int, int]) -> Move:
        feature = int(routes.feature[node])
        if feature < 0:
            to = numbers.get(node, gone)
            return Move(number, 0, 0, 0, 0, 0, to, to)
        words, stored = self.layout.words, self.stored[feature]
        shift = words.shift[feature]
        where = (number, words.word[feature], shift, words.mask(feature))
        goes_lower = routes.goes_lower[routes.start[node] :][: len(stored)].astype(bool)
        lower, upper = (numbers.get(int(child[node]), gone) for child in (routes.lower, routes.upper))
        for inside, one, other in ((goes_lower, lower, upper), (~goes_lower, upper, lower)):
            places = np.flatnonzero(inside)
            if len(places) == 0 or places[-1] - places[0] + 1 == len(places):
                first, last = stored[places[[0, -1]]].tolist() if len(places) else (1, 0)
                return Move(*where, first << shift, last << shift, one, other)
        chosen = np.zeros(int(stored[-1]) + 1, dtype=np.uint8)
        chosen[stored] = goes_lower
        return Move(*where, 0, 0, lower, upper, "".join(map(str, chosen.tolist())))

    def _write(self, moves: list[Move]) -> None:
        """Write all rows anew, but those of finished nodes."""
        old = list(self.temporary.names)
        words = _words(moves)
        joined = self.rows.join(self._parts(moves, words), "part")
        bits = reduce(or_, [joined[self.layout.words.names[word]] & joined[f"mask{word}"] for word in words])
        is_inside = bits <= joined["last"]
        if any(move.first for move in moves):
            is_inside &= bits >= joined["first"]
        if any(move.chosen for move in moves):
            of_set = joined["chosen"].substr((bits >> joined["shift"]).cast("int32"), 1) == "1"
            is_inside = ibis.ifelse(joined["chosen"] == "", is_inside, of_set)
        part = ibis.ifelse(is_inside, joined["inside"], joined["outside"])
        moved = self._columns(joined, part)
        self.rows = self.temporary.of_query(moved.filter(moved["part"] >= 0), "part" if self.can_stay else None)
        self.temporary.drop(old)

    def _update(self, moves: list[Move]) -> None:
        """Write where the rows are that do not stay, as DuckDB reads it."""
        words = _words(moves)
        self.has_moved |= self.rows is self.coded
        self._parts(moves, words)
        rows, parts = stored_name(self.rows), self.temporary.names[-1]
        bits = " | ".join(f"(rows.row.{self.layout.words.names[word]} & parts.mask{word})" for word in words)
        is_inside = f"({bits}) <= parts.last"
        if any(move.first for move in moves):  # DuckDB puts the bits together again
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

    def _parts(self, moves: list[Move], words: list[int]) -> Any:
        """A table of the moves of each part; the bits of the codes are in one of the words."""
        n_parts = self.adder.n_parts
        of = {name: np.repeat(own, n_parts) for name, own in zip(Move._fields, zip(*moves, strict=True), strict=True)}
        own = np.tile(np.arange(n_parts), len(moves))
        numbers = {"part": "node", "inside": "inside", "outside": "outside"}
        columns = {name: (of[node] * n_parts + own).astype(np.int32) for name, node in numbers.items()}
        columns |= {f"mask{word}": np.where(of["word"] == word, of["mask"], 0) for word in words}
        return self.temporary.of_values(columns | {name: of[name] for name in ("first", "last", "shift", "chosen")})

    def close(self) -> None:
        """Drop the temporary tables."""
        self.temporary.drop()
        self.asked.drop()
        self.rows, self.n_numbers, self.can_stay = None, 1, False


def _words(moves: list[Move]) -> list[int]:
    """The words that have the codes which decide."""
    return sorted({move.word for move in moves})
