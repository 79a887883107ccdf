"""What a database is told for as long as a fit lasts."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

from ._sql_fixed_point import fetch

# DuckDB counts without a hash where all that is counted by has at most this many bits: part of a node, and code. It
# looks at all numbers of so many bits, which pays where there are not far fewer rows.
_HASH, _MOST_BITS = "perfect_ht_threshold", 22
_MOST_BITS_OF_ALL = 24  # of all threads together: each has a table of its own
_MOST_PARTS = 2**10 - 2  # ten bits: the parts of more nodes are counted faster in tables that are apart
_MOST_GROUPS = 8
_ORDER = "preserve_insertion_order"  # nobody asks for it, and it takes time


class Settings:
    """Settings of a connection, which are as before once they are given up."""

    def __init__(self, backend: Any) -> None:
        self.backend, self.before = backend, {}
        if backend.name == "duckdb":
            names = [_HASH, _ORDER, "threads"]
            asked = ", ".join(f"current_setting('{name}')" for name in names)
            self.before = dict(zip(names, backend.con.sql(f"SELECT {asked}").fetchone(), strict=True))
            n_threads = int(self.before.pop("threads"))
            self.most_bits = min(_MOST_BITS, _MOST_BITS_OF_ALL - n_threads.bit_length())
            self._tell(_HASH, self.most_bits)
            self._tell(_ORDER, False)

    @property
    def can_update(self) -> bool:
        """Whether to change some rows of a table is quicker than to write it anew."""
        return bool(self.before)

    def count_in(self, rows: Any) -> None:
        """Some rows are counted next."""
        if self.before:
            bits = int(fetch(rows.aggregate(n=rows.count()))["n"][0]).bit_length() + 1
            self._tell(_HASH, min(bits, self.most_bits))

    def groups(self, n_nodes: int, n_parts: int) -> list[tuple[int, int]]:
        """The nodes that are counted together, from the first to the one behind the last."""
        together = n_nodes
        if self.before:
            together = max(_MOST_PARTS // n_parts, math.ceil(n_nodes / _MOST_GROUPS), 1)
        return [(first, min(first + together, n_nodes)) for first in range(0, n_nodes, together)]

    def _tell(self, name: str, value: Any) -> None:
        self.backend.raw_sql(f"SET {name} = {value}")

    def close(self) -> None:
        """As before."""
        for name, value in self.before.items():
            with suppress(Exception):  # a connection that was lost has no settings any more
                self._tell(name, value)
        self.before = {}
