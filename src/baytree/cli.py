"""The command line: ``baytree reproduce``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from .datasets import NAMES
from .reproduce import PARTS, reproduce


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; bad input ends in one sentence and the code 2, Ctrl-C in the code 130."""
    options = _parser().parse_args(arguments)
    try:
        page = reproduce(options.data, options.out, parts=options.only, repeats=options.repeats, sets=options.sets)
    except (ValueError, TypeError, OSError, ImportError) as error:
        sys.stderr.write(f"\nbaytree: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped. Called again with the same --out, the command goes on from here.\n")
        return 130
    print(page)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="baytree", description="Bayesian decision trees.")
    commands = parser.add_subparsers(required=True, metavar="command")
    command = commands.add_parser(
        "reproduce",
        help="the paper's tables and figures, and what lies beyond them",
        description="Run the paper's comparisons and write report.md and report.html. A stopped run goes on.",
    )
    command.add_argument("--data", default=os.environ.get("BAYTREE_DATA"), help="folder of CSV files (or BAYTREE_DATA)")
    command.add_argument("--out", required=True, help="folder for the pages and the finished runs")
    command.add_argument("--only", type=_names(PARTS), default=PARTS, help=f"some of {','.join(PARTS)}")
    command.add_argument("--sets", type=_names(NAMES), default=NAMES, help=f"some of {','.join(NAMES)}")
    command.add_argument("--repeats", type=int, default=1, help="shufflings of the folds (default 1)")
    return parser


def _names(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    def read(text: str) -> tuple[str, ...]:
        chosen = tuple(name.strip() for name in text.split(","))
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(known)}")
        return chosen

    return read
