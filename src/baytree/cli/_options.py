"""Options that several commands have, and what they tell the program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import click

from ._files import TextFormat

TASKS = ("classification", "regression")
# As the package names them; importing it would take too long for a help text. A test compares.
OUTCOMES = ("normal", "poisson", "negative_binomial", "exponential")
F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class CommandState:
    """Whether errors come with their traceback."""

    debug: bool = False


def _set_debug(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        context.ensure_object(CommandState).debug = True


debug_option = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=_set_debug,
    help="Show the traceback of an error.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
target_option = click.option("--target", required=True, metavar="COLUMN", help="Column to predict.")
task_option = click.option("--task", type=click.Choice(TASKS), help="Task; detected from the target by default.")
outcome_option = click.option(
    "--outcome",
    type=click.Choice(OUTCOMES),
    help="Distribution of a numeric target: amounts (normal), counts (poisson, negative_binomial) or "
    "durations (exponential).  [default: normal]",
)
positive_option = click.option(
    "--positive", metavar="CLASS", help="Class of interest, such as bad. Default: the one of the decision rule."
)
actions_option = click.option(
    "--actions", metavar="NAMES", help="Name of the action for each class, such as bad=decline,good=approve."
)
interval_option = click.option(
    "--interval",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Add an interval of this probability, such as 0.9.",
)
data_argument = click.argument("data", type=click.Path(path_type=str))
model_argument = click.argument("model", type=click.Path(path_type=str))


def out_option(text: str, *, required: bool = False) -> Callable[[F], F]:
    """An option for the output file; ``-`` is standard output."""
    return click.option("-o", "--out", required=required, type=click.Path(path_type=str), help=text)


def text_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Options for the format of text files, where detection fails; the function gets them as `text_format`."""

    @click.option("--delimiter", metavar="TEXT", help="Field delimiter (detected by default).")
    @click.option("--encoding", metavar="NAME", help="Encoding of the text file (UTF-8 by default).")
    @click.option(
        "--missing",
        multiple=True,
        metavar="TEXT",
        help="Text that means missing, such as '?'. May be given more than once.",
    )
    @click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark (detected by default).")
    @click.option(
        "--thousands", type=click.Choice([",", ".", "'", " "]), help="Thousands separator (detected by default)."
    )
    @wraps(function)
    def with_format(*arguments: Any, **options: Any) -> Any:
        text_format = TextFormat(**{field.name: options.pop(field.name) for field in fields(TextFormat)})
        if text_format.decimal is not None and text_format.decimal == text_format.thousands:
            raise click.UsageError("--decimal and --thousands cannot be the same mark.")
        return function(*arguments, text_format=text_format, **options)

    return with_format


_META_HELP = {
    "weight": "Column of row weights.",
    "exposure": "Column of exposures, for counts: the time or size over which each row was counted.",
    "event": "Column of event indicators, for durations: whether each ended in an event.",
    "groups": "Column of groups that cross-validation keeps together.",
}


def metadata_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options that name columns which describe the rows and are no features; the function gets them as `metadata`."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def wrapper(*arguments: Any, **options: Any) -> Any:
            columns = {name: options.pop(name) for name in names}
            return function(*arguments, metadata={n: c for n, c in columns.items() if c is not None}, **options)

        for name in reversed(names):
            wrapper = click.option(f"--{name}", metavar="COLUMN", help=_META_HELP[name])(wrapper)
        return wrapper

    return decorate


def check_output(out: str | None, *inputs: str | None) -> None:
    """Refuse, before any work is done, an output that cannot be written or would overwrite an input."""
    if out in (None, "-"):
        return
    path = Path(str(out))
    for name in inputs:
        if name not in (None, "-") and path.resolve() == Path(str(name)).resolve():
            raise ValueError(f"--out would overwrite the input {name!r}: choose another name.")
    if not path.parent.is_dir():
        raise ValueError(f"--out {out!r}: the folder {str(path.parent)!r} does not exist.")
    if path.is_dir():
        raise ValueError(f"--out {out!r} is a folder: give a file.")


def read_actions(text: str | None) -> dict[str, str] | None:
    """The names of the decisions by class."""
    if text is None:
        return None
    pairs = [part.split("=", 1) for part in text.split(",")]
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise click.BadParameter(f"{text!r} is not of the form bad=decline,good=approve.", param_hint="--actions")
    return {label.strip(): action.strip() for label, action in pairs}
