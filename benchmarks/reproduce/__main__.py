"""The command: ``python -m benchmarks.reproduce --help``, or ``make reproduce``."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence

from benchmarks.paper_sets import NAMES

from . import PARTS, reproduce

STOPPED = 130
_WHAT = "Run the comparisons of the paper, and some of our own. A stopped run goes on."


def some_of(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    """Reads names that are separated by commas."""

    def names(text: str) -> tuple[str, ...]:
        chosen = tuple(name.strip() for name in text.split(","))
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(known)}")
        return chosen

    return names


def positive(text: str) -> int:
    """Reads a number of repetitions."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1; got {number}")
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the comparisons; the exit code is 0, or 1 (bad data), 2 (bad usage), 130 (Ctrl-C)."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.reproduce", description=_WHAT)
    folder = os.environ.get("BAYTREE_DATA") or None
    options.add_argument("--data", default=folder, help="folder of CSV files (or BAYTREE_DATA); else OpenML is asked")
    options.add_argument("--out", required=True, help="folder for the pages and the finished runs")
    options.add_argument("--only", type=some_of(PARTS), default=PARTS, help=f"some of {','.join(PARTS)}")
    options.add_argument("--sets", type=some_of(NAMES), default=NAMES, help=f"some of {','.join(NAMES)}")
    options.add_argument("--repeats", type=positive, default=1, help="shufflings of the folds (default: 1)")
    options.add_argument("--ebm", action="store_true", help="compare the explainable boosting machine too; it is slow")
    given = options.parse_args(arguments)
    try:
        page = reproduce(given.data, given.out, parts=given.only, repeats=given.repeats, sets=given.sets, ebm=given.ebm)
    except (ValueError, OSError, ImportError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("\nStopped. Called again with the same --out, the command goes on from here.\n")
        return STOPPED
    sys.stdout.write(f"{page}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
