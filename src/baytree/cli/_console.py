"""The messages of a command, on standard output, or on standard error where standard output is for data."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from rich.console import Console as RichConsole
from rich.table import Table

from ._json import json_text

_WIDEST = 1000  # of a table


class _Console(RichConsole):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the one who runs the command."""
        raise BrokenPipeError


class Console:
    """Writes headings, lines, notes and tables."""

    def __init__(self, *, on_stderr: bool = False) -> None:
        self._console = _Console(stderr=on_stderr, highlight=False, soft_wrap=True, emoji=False)
        # A narrow terminal wraps the lines of a table; rich would cut them.
        self._wide = _Console(stderr=on_stderr, highlight=False, emoji=False, width=_WIDEST)

    def heading(self, text: str) -> None:
        """A line that stands out, below an empty one."""
        self._console.print(f"\n{text}", style="bold", markup=False)

    def line(self, text: str) -> None:
        """A line as it is."""
        self._console.print(text, markup=False)

    def note(self, text: str) -> None:
        """Something to look at."""
        self._console.print(f"! {text}", style="yellow", markup=False)

    def table(self, names: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """The first column to the left, the others to the right."""
        table = Table(box=None, pad_edge=False, header_style="dim")
        for i, name in enumerate(names):
            table.add_column(name, justify="right" if i else "left", no_wrap=True)
        for row in rows:
            table.add_row(*row)
        self._wide.print(table)


def print_json(value: Any) -> None:
    """A result for programs."""
    sys.stdout.write(json_text(value, indent=2) + "\n")
