"""The program: its commands, its errors in one sentence, and its exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from importlib.metadata import version
from typing import Any

import click

from ._compare import compare
from ._explain import explain
from ._fit import fit
from ._options import CommandState, debug_option
from ._predict import predict
from ._reasons import reasons
from ._report import report
from ._show import export, show

USER_ERROR, INTERRUPTED, BROKEN_PIPE = 1, 130, 141
# What bad input raises, here and in the libraries that read it; anything else is a defect of ours.
_USER_ERRORS = (ValueError, TypeError, OSError, ImportError, MemoryError)


class _OrderedGroup(click.Group):
    """Lists its commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        return list(self.commands)


@click.group(cls=_OrderedGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(version("baytree"), message="baytree %(version)s")
def commands() -> None:
    """Fit, read and deploy Bayesian decision trees.

    Start with:  baytree fit data.csv --target COLUMN
    """


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@debug_option
def completion(shell: str) -> None:
    """Print the completion script of a SHELL.

    \b
    bash:  baytree completion bash >> ~/.bashrc
    zsh:   baytree completion zsh >> ~/.zshrc
    fish:  baytree completion fish > ~/.config/fish/completions/baytree.fish
    """  # noqa: D301 - the character that tells click to keep the lines
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    if kind is None:
        raise ValueError(f"click cannot complete in {shell}.")
    sys.stdout.write(kind(commands, {}, "baytree", "_BAYTREE_COMPLETE").source() + "\n")


for _command in (fit, predict, explain, reasons, show, report, export, compare, completion):
    commands.add_command(_command)


def run(arguments: list[str]) -> int:
    """Run the command that some arguments name; the exit code."""
    _write_utf8()
    state = CommandState()
    try:
        return _invoke(arguments, state)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped. Nothing was written.\n")
        return INTERRUPTED
    except BrokenPipeError:
        # Python would raise the error again when it flushes the broken pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the last one to ask
        if state.debug:
            traceback.print_exc()
        sys.stderr.write(f"baytree: {_sentence(error)}\n")
        _give_up_output()
        return USER_ERROR


def _invoke(arguments: list[str], state: CommandState) -> int:
    if "_BAYTREE_COMPLETE" in os.environ:
        commands.main(arguments, prog_name="baytree")  # ends the program
    try:
        with commands.make_context("baytree", arguments, obj=state) as context:
            commands.invoke(context)
    except click.exceptions.Exit as end:
        sys.stdout.flush()
        return end.exit_code
    sys.stdout.flush()
    return 0


def _sentence(error: Exception) -> str:
    if isinstance(error, MemoryError):
        return "There is not enough memory: try fewer rows, or read docs/large_data.md on tables bigger than memory."
    if isinstance(error, OSError) and error.strerror:
        where = f"{str(error.filename)!r}: " if error.filename is not None else ""
        return f"{where}{error.strerror}."
    if isinstance(error, _USER_ERRORS):
        return str(error)
    return f"an internal error ({type(error).__name__}: {error}). Please report it with the output of --debug."


def _give_up_output() -> None:
    """Do not try again to write what could not be written when Python ends, on a full disk for example."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_utf8() -> None:
    """Files and pipes get UTF-8 wherever we run; a terminal keeps what it understands."""
    for stream in (sys.stdout, sys.stderr):
        text: Any = stream
        if hasattr(text, "reconfigure"):
            text.reconfigure(**({"errors": "replace"} if text.isatty() else {"encoding": "utf-8"}))
