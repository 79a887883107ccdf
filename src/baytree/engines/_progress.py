"""How far a fit is, on standard error: with rich where it is installed."""

from __future__ import annotations

import sys
import time
from typing import Any

_QUIET = 2.0  # seconds before anything is said
_SLOWEST = 0.98  # what is left of the rows of a level at the next one, at most, where the end is guessed


class Progress:
    """Tells of levels, open nodes, rows a second, and about how long it will take."""

    def __init__(self) -> None:
        self.start = self.last = time.monotonic()
        self.rows = 0
        self.line: Any = None

    def __call__(self, depth: int, n_open: int, n_rows: int) -> None:
        """Tell of a level."""
        now = time.monotonic()
        seconds, self.last = now - self.last, now
        shrinks, self.rows = n_rows / max(self.rows, 1), n_rows
        if now - self.start < _QUIET:
            return
        if self.line is None:
            self.line = _line()
        # At the first level nothing is known of those to come.
        to_go = f", about {left(seconds, shrinks):.0f} s to go" if depth else ""
        self.line.show(
            f"level {depth + 1}: {n_open:,} open nodes, {n_rows:,} rows, {n_rows / max(seconds, 1e-9):,.0f} rows a "
            f"second, {now - self.start:.0f} s so far{to_go}"
        )

    def close(self) -> None:
        """End the line."""
        if self.line is not None:
            self.line.close()


def left(seconds: float, shrinks: float) -> float:
    """What the levels to come take together, where each takes this part of the one before."""
    part = min(shrinks, _SLOWEST)
    return seconds * part / (1 - part)


class _Plain:
    """One line that is written over."""

    def show(self, text: str) -> None:
        sys.stderr.write(f"\r{text} ")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\n")


class _Rich:
    """The same with a spinner."""

    def __init__(self, status: Any) -> None:
        self.status = status
        status.start()

    def show(self, text: str) -> None:
        self.status.update(text)

    def close(self) -> None:
        self.status.stop()


def _line() -> _Plain | _Rich:
    if not sys.stderr.isatty():
        return _Plain()
    try:
        from rich.console import Console  # noqa: PLC0415
    except ImportError:
        return _Plain()
    return _Rich(Console(stderr=True).status(""))
