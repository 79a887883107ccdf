"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from ._sniff import Reading
from ._state import State

TASKS = ("classification", "regression")
# As the package names them; importing it would take too long for a help text. A test compares.
OUTCOMES = ("normal", "poisson", "negative_binomial", "exponential")
F = TypeVar("F", bound=Callable[..., Any])


def _set_debug(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(State).debug = True


debug_option = click.option(
    "--debug", is_flag=True, expose_value=False, is_eager=True, callback=_set_debug, help="Show an error's traceback."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
target_option = click.option("--target", required=True, metavar="COLUMN", help="The column to predict.")
task_option = click.option("--task", type=click.Choice(TASKS), help="Guessed from the target by default.")
outcome_option = click.option(
    "--outcome",
    type=click.Choice(OUTCOMES),
    help="Of numbers: amounts (normal), counts, or durations (exponential). Default: normal.",
)
data_argument = click.argument("data", type=click.Path(path_type=str))
model_argument = click.argument("model", type=click.Path(path_type=str))


def out_option(text: str, *, required: bool = False) -> Callable[[F], F]:
    """Where to write; ``-`` is standard output."""
    return click.option("-o", "--out", required=required, type=click.Path(path_type=str), help=text)


def reading_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """How text files are read, where guessing is not enough; the function gets them as `reading`."""

    @click.option("--delimiter", metavar="TEXT", help="What separates values; found out by default.")
    @click.option("--encoding", metavar="NAME", help="Of a text file; UTF-8 by default.")
    @click.option("--missing", multiple=True, metavar="TEXT", help="A further text that means missing: '?'. Repeat it.")
    @wraps(function)
    def reading(*arguments: Any, delimiter: Any, encoding: Any, missing: Any, **options: Any) -> Any:
        return function(*arguments, reading=Reading(delimiter, encoding, missing), **options)

    return reading


_MEANING = {
    "weight": "Column that says how often each row counts.",
    "exposure": "Of counts: column with the time or size over which each row was counted.",
    "event": "Of durations: column that says whether each ended in an event.",
    "groups": "Column that says which rows belong together, for the cross-validation.",
}


def beside_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options that name columns which belong to the rows; the function gets those that are given as `beside`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapped(*arguments: Any, **options: Any) -> Any:
            given = {name: options.pop(name) for name in names}
            return function(*arguments, beside={n: c for n, c in given.items() if c is not None}, **options)

        for name in reversed(names):
            wrapped = click.option(f"--{name}", metavar="COLUMN", help=_MEANING[name])(wrapped)
        return wrapped

    return decorate


def outputs_differ(out: str | None, *inputs: str | None) -> None:
    """An output is never one of the inputs."""
    for path in inputs:
        if path not in (None, "-") and out not in (None, "-") and Path(str(out)).resolve() == Path(str(path)).resolve():
            raise ValueError(f"--out would overwrite {path!r}, which is read: give it another name.")
