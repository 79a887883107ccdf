"""How far a fit is, on standard error."""

from __future__ import annotations

import sys
import time

_QUIET = 2.0  # seconds before anything is said


class Progress:
    """Tells of levels, open nodes and rows a second."""

    def __init__(self) -> None:
        self.start = time.monotonic()
        self.last = self.start
        self.level, self.rows, self.wrote = 0, 0, False

    def __call__(self, depth: int, n_open: int, n_rows: int) -> None:
        """Tell of a level."""
        now = time.monotonic()
        self.level = depth + 1
        speed = n_rows / max(now - self.last, 1e-9)
        self.last = now
        if now - self.start < _QUIET:
            return
        self.wrote = True
        sys.stderr.write(
            f"\rlevel {self.level}: {n_open:,} open nodes, {n_rows:,} rows, {speed:,.0f} rows a second, "
            f"{now - self.start:.0f} s so far "
        )
        sys.stderr.flush()

    def close(self) -> None:
        """End the line."""
        if self.wrote:
            sys.stderr.write("\n")
