"""What a command says to people: on standard output, or beside it where that is for data."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave it to the one who runs the command."""
        raise BrokenPipeError


class Talk:
    """Says things; `aside` where standard output is for data."""

    def __init__(self, *, aside: bool = False) -> None:
        self._console = _Console(stderr=aside, highlight=False, soft_wrap=True, emoji=False)

    def heading(self, text: str) -> None:
        """A line that stands out, below an empty one."""
        self._console.print(f"\n{text}", style="bold", markup=False)

    def say(self, text: str = "") -> None:
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
        self._console.print(table)


@contextmanager
def progress(text: str, total: int) -> Iterator[Any]:
    """A bar on standard error, gone when all is done; nothing where nobody looks. Call it with what comes next."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    console = _Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(text, total=total)

        def advance(described: str) -> None:
            bar.update(task, advance=1, description=described)

        yield advance


def print_json(value: Any) -> None:
    """A result for programs."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=2, default=_plain)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
