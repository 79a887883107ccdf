"""What a database is told for as long as a fit lasts."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ._sql_whole import fetch

# DuckDB counts without a hash where all that is counted by has at most this many bits: node, code and class. It looks
# at all numbers of so many bits, which pays where there are not far fewer rows.
_NAME, _MOST_BITS = "perfect_ht_threshold", 22
_MOST_BITS_OF_ALL = 24  # of all threads together: each has a table of its own


class Settings:
    """Settings of a connection, which are as before once they are given up."""

    def __init__(self, backend: Any) -> None:
        self.backend, self.before = backend, None
        if backend.name == "duckdb":
            asked = f"SELECT current_setting('{_NAME}'), current_setting('threads')"
            self.before, n_threads = backend.con.sql(asked).fetchone()
            self.most_bits = min(_MOST_BITS, _MOST_BITS_OF_ALL - int(n_threads).bit_length())
            self._tell(self.most_bits)

    def count_in(self, rows: Any) -> None:
        """Some rows are counted next."""
        if self.before is not None:
            self._tell(min(int(fetch(rows.aggregate(n=rows.count()))["n"][0]).bit_length() + 1, self.most_bits))

    def _tell(self, bits: int) -> None:
        self.backend.raw_sql(f"SET {_NAME} = {bits}")

    def close(self) -> None:
        """As before."""
        if self.before is not None:
            with suppress(Exception):  # a connection that was lost has no settings any more
                self._tell(self.before)
            self.before = None
