"""``baytree report``: a model as one HTML page."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import click

from ._options import (
    beside_options,
    data_argument,
    debug_option,
    out_option,
    outcome_option,
    outputs_differ,
    reading_options,
    target_option,
    task_option,
)
from ._sniff import Reading


@click.command(short_help="Write a model as one HTML page.")
@data_argument
@target_option
@out_option("HTML file to write.", required=True)
@click.option("--model", type=click.Path(path_type=str), help="A model file; without it a tree is fitted.")
@task_option
@outcome_option
@click.option("--title", help="Heading of the page.")
@beside_options("weight", "exposure", "event", "groups")
@click.option("--subgroups", metavar="COLUMNS", help="Columns whose values get figures of their own: sex,age.")
@click.option(
    "--decision",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Probability from which on the second of two classes is predicted.",
)
@reading_options
@debug_option
def report(
    data: str,
    target: str,
    out: str,
    model: str | None,
    task: str | None,
    outcome: str | None,
    title: str | None,
    beside: dict[str, str],
    subgroups: str | None,
    decision: float | None,
    reading: Reading,
) -> None:
    """Write what a model says of DATA as one HTML page, to read, to print and to share.

    DATA holds the rows that the model is, or was, fitted to.
    """
    from .. import report as page
    from ._models import check_folder, make_model, read_model
    from ._talk import Talk
    from ._training import read_for_model, read_training

    outputs_differ(out, data, model)
    check_folder(out)
    if model is not None:
        if (decision, task, outcome) != (None, None, None):
            raise ValueError(
                "--decision, --task and --outcome are for a tree that is fitted here: a model has its own."
            )
        estimator = read_model(model)
        X, y, given = read_for_model(estimator, data, target, reading=reading, beside=beside)
    else:
        kind = "regression" if outcome else task
        found = read_training(data, target, reading=reading, task=kind, beside=beside)
        found.tell(Talk(aside=True))
        X, y, given = found.columns.table, found.task.y, found.beside
        if decision is not None and not found.task.is_classification:
            raise ValueError("--decision is for classes.")
        estimator = make_model("tree", found.task.kind, outcome=outcome, decision=decision)
        estimator.fit(X, y, **{name: value for name, value in given.items() if name != "groups"})
    written = page.write(
        estimator,
        X,
        y,
        out,
        title=title or f"{target}, from {Path(data).name}",
        source=_source(data),
        target=target,
        subgroups=[] if subgroups is None else subgroups.split(","),
        **given,
    )
    sys.stdout.write(f"{written}\n")


def _source(data: str) -> str:
    """Where the rows come from, and a fingerprint of the file."""
    if data == "-":
        return "standard input"
    return f"{Path(data).name}, SHA-256 {hashlib.sha256(Path(data).read_bytes()).hexdigest()}"
