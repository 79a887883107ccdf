"""Running a command: errors in one sentence, and the exit code."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import click

from ._commands import commands
from ._state import State

USER_ERROR, STOPPED, NOBODY_READS = 1, 130, 141
# What bad input raises, here and in the libraries that read it; anything else is a defect of ours.
_SAID = (ValueError, TypeError, OSError, ImportError, MemoryError)


def run(arguments: list[str]) -> int:
    """Run the command that some arguments name."""
    _write_utf8()
    state = State()
    try:
        return _invoke(arguments, state)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write(f"\nStopped. {state.when_stopped}\n")
        return STOPPED
    except BrokenPipeError:
        # Python would complain once more when it flushes what nobody reads.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    except Exception as error:  # noqa: BLE001 - the last one to ask
        if state.debug:
            traceback.print_exc()
        sys.stderr.write(f"baytree: {_sentence(error)}\n")
        _give_up_output()
        return USER_ERROR


def _invoke(arguments: list[str], state: State) -> int:
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
        return "There is not enough memory: try fewer rows, or read docs/engines.md on tables bigger than memory."
    if isinstance(error, OSError) and error.strerror:
        where = f"{str(error.filename)!r}: " if error.filename is not None else ""
        return f"{where}{error.strerror}."
    if isinstance(error, _SAID):
        return str(error)
    return f"an error of its own ({type(error).__name__}: {error}). Please report it with what --debug prints."


def _give_up_output() -> None:
    """What could not be written is not tried again when Python ends, on a full disk say."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _write_utf8() -> None:
    """Files and pipes get UTF-8 wherever we run; a terminal keeps what it understands."""
    for stream in (sys.stdout, sys.stderr):
        known: Any = stream
        if hasattr(known, "reconfigure"):
            known.reconfigure(**({"errors": "replace"} if known.isatty() else {"encoding": "utf-8"}))
