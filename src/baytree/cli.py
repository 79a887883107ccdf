"""The command line: ``baytree report`` and ``baytree reproduce``."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from . import report
from .datasets import NAMES
from .estimators import BayesianTreeClassifier, BayesianTreeRegressor, load
from .outcomes import REGRESSION_OUTCOMES
from .reproduce import PARTS, reproduce
from .table import nearest_name

_FEW_VALUES = 20  # whole numbers with so many values are taken for classes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; bad input ends in one sentence and the code 2, Ctrl-C in the code 130."""
    options = _parser().parse_args(arguments)
    try:
        print(options.run(options))
    except (ValueError, TypeError, OSError, ImportError) as error:
        sys.stderr.write(f"\nbaytree: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write(f"\nStopped. {options.when_stopped}\n")
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="baytree", description="Bayesian decision trees.")
    parser.add_argument("--version", action="version", version=f"baytree {version('baytree')}")
    commands = parser.add_subparsers(required=True, metavar="command")
    _add_report(commands)
    _add_reproduce(commands)
    return parser


def _add_report(commands: Any) -> None:
    command = commands.add_parser(
        "report",
        help="a model as one HTML page",
        description="Fit a tree to a CSV file, or take a saved model, and write what it says as one HTML page.",
    )
    command.add_argument("--data", required=True, help="CSV file with the rows the model is, or was, fitted to")
    command.add_argument("--target", required=True, help="the column to predict")
    command.add_argument("--out", required=True, help="HTML file to write")
    command.add_argument("--model", help="a saved model (model.save); without it one is fitted")
    command.add_argument(
        "--outcome",
        choices=["class", *REGRESSION_OUTCOMES],
        help="what is fitted; by default classes where the target is text or has few whole values, else normal",
    )
    command.add_argument("--title", help="heading of the page")
    for name, meaning in _BESIDE.items():
        command.add_argument(f"--{name}", metavar="COLUMN", help=meaning)
    command.add_argument(
        "--subgroups", metavar="COLUMNS", help="columns whose values get figures of their own: sex,age"
    )
    command.add_argument(
        "--decision", type=float, help="probability from which on the second of two classes is predicted"
    )
    command.set_defaults(run=_report, when_stopped="Nothing was written.")


def _report(options: argparse.Namespace) -> Path:
    _refuse_to_overwrite(options.out, [options.data, options.model])
    X, y = _read_csv(options.data, options.target)
    X, beside = _take_beside(X, options)
    if options.model is None:
        outcome = options.outcome or ("class" if _holds_classes(y) else "normal")
        if outcome == "class":
            model = BayesianTreeClassifier(decision=options.decision)
        elif options.decision is None:
            model = BayesianTreeRegressor(outcome=outcome)
        else:
            raise ValueError("--decision is for classes.")
        model.fit(X, y, **{name: value for name, value in beside.items() if name != "groups"})
    elif options.decision is not None:
        raise ValueError("--decision is for a model that is fitted here: a saved model has its own.")
    else:
        model = load(options.model)
    title = options.title or f"{options.target}, from {Path(options.data).name}"
    subgroups = [] if options.subgroups is None else options.subgroups.split(",")
    source = _fingerprint(Path(options.data))
    return report.write(model, X, y, options.out, title=title, source=source, subgroups=subgroups, **beside)


# Options of `baytree report` that name a column which is not one of the model's.
_BESIDE = {
    "weight": "how often each row counts",
    "exposure": "of counts: time or size over which each row was counted",
    "event": "of durations: whether each ended in an event",
    "groups": "rows that belong together, for the cross-validation",
}


def _take_beside(X: Any, options: argparse.Namespace) -> tuple[Any, dict[str, Any]]:
    """The table without the columns that options name, and these."""
    named = {name: getattr(options, name) for name in _BESIDE if getattr(options, name) is not None}
    for name, column in named.items():
        if column not in X.columns:
            raise ValueError(
                f"--{name} names the column {column!r}, which is not there: {nearest_name(column, X.columns)}"
            )
    beside = {"sample_weight" if name == "weight" else name: X[column] for name, column in named.items()}
    return X.drop(columns=list(named.values())), beside


def _refuse_to_overwrite(out: str, inputs: Sequence[str | None]) -> None:
    """An output is never one of the inputs."""
    for path in inputs:
        if path is not None and Path(out).resolve() == Path(path).resolve():
            raise ValueError(f"--out would overwrite {path!r}, which is read: give it another name.")


def _fingerprint(path: Path) -> str:
    return f"{path.name}, SHA-256 {hashlib.sha256(path.read_bytes()).hexdigest()}"


def _read_csv(path: str, target: str) -> tuple[Any, Any]:
    try:
        import pandas as pd  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise ImportError("baytree report reads CSV files with pandas: pip install 'baytree[cli]'.") from None
    try:
        table = pd.read_csv(path)
    except pd.errors.EmptyDataError:
        raise ValueError(f"The file {path!r} is empty.") from None
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        raise ValueError(f"The file {path!r} is not a CSV file: {error}") from None
    if target not in table.columns:
        hint = " Its values seem to be separated by ';', not ','." if ";" in str(table.columns[0]) else ""
        raise ValueError(f"The file {path!r} has no column {target!r}: {nearest_name(target, table.columns)}{hint}")
    known = table[table[target].notna()]
    if len(known) == 0:
        raise ValueError(f"No row of {path!r} has a value in the column {target!r}.")
    if len(known) < len(table):
        sys.stderr.write(f"{len(table) - len(known):,} rows without a value in {target!r} are left out.\n")
    y = known[target]
    if len(known) < len(table) and y.dtype.kind == "f" and (y == y.round()).all():
        y = y.astype(np.int64)  # whole numbers that were read as real ones because some are missing
    return known.drop(columns=target), y


def _holds_classes(y: Any) -> bool:
    """Whether a column looks like labels: text, truth values, few whole numbers."""
    if y.dtype.kind not in "iuf":
        return True
    values = np.unique(y)
    return len(values) <= _FEW_VALUES and bool(np.all(values == np.round(values)))


def _add_reproduce(commands: Any) -> None:
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
    command.set_defaults(
        run=lambda o: reproduce(o.data, o.out, parts=o.only, repeats=o.repeats, sets=o.sets),
        when_stopped="Called again with the same --out, the command goes on from here.",
    )


def _names(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    def read(text: str) -> tuple[str, ...]:
        chosen = tuple(name.strip() for name in text.split(","))
        for name in chosen:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is not one of {', '.join(known)}")
        return chosen

    return read
