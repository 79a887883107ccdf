"""``baytree report``: a model as one HTML page."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import click

from ._files import TextFormat
from ._options import (
    check_output,
    data_argument,
    debug_option,
    metadata_options,
    out_option,
    outcome_option,
    target_option,
    task_option,
    text_options,
)
from ._tree_options import TreeOptions, tree_options


@click.command(short_help="Write an HTML report.")
@data_argument
@target_option
@out_option("HTML file to write.", required=True)
@click.option("--model", type=click.Path(path_type=str), help="Model file. Without it, a tree is fitted.")
@task_option
@outcome_option
@click.option("--title", help="Title of the report.")
@metadata_options("weight", "exposure", "event", "groups")
@click.option("--subgroups", metavar="COLUMNS", help="Columns to report subgroups for, such as sex,age.")
@tree_options
@text_options
@debug_option
def report(
    data: str,
    target: str,
    out: str,
    model: str | None,
    task: str | None,
    outcome: str | None,
    title: str | None,
    metadata: dict[str, str],
    subgroups: str | None,
    rules: TreeOptions,
    text_format: TextFormat,
) -> None:
    """Write an HTML report on a model and DATA: quality, decisions, subgroups, the tree, and single cases.

    DATA must hold the rows to which the model is, or was, fitted.
    """
    from .. import report as page
    from ._console import Console
    from ._model import make_model, read_model, read_rows_for
    from ._training_table import read_training_table

    check_output(out, data, model)
    if model is not None:
        given = rules.given + [f"--{name}" for name, value in (("task", task), ("outcome", outcome)) if value]
        if given:
            raise ValueError(
                f"{given[0]} is for a new fit, but the model in {model!r} is fitted: leave it out, or give it to "
                "baytree fit."
            )
        estimator = read_model(model)
        X, y, values = read_rows_for(estimator, data, target, text_format=text_format, metadata=metadata)
    else:
        task = "regression" if outcome else task
        training = read_training_table(data, target, text_format=text_format, task=task, metadata=metadata)
        training.describe(Console(on_stderr=True))
        X, y, values = training.features.table, training.target.y, training.metadata
        estimator = make_model("tree", training.target.task, outcome=outcome, **rules.parameters(training))
        estimator.fit(X, y, **{name: value for name, value in values.items() if name != "groups"})
    written = page.write(
        estimator,
        X,
        y,
        out,
        title=title or f"{target}, from {Path(data).name}",
        source=_source(data),
        target=target,
        subgroups=[] if subgroups is None else subgroups.split(","),
        **values,
    )
    sys.stdout.write(f"{written}\n")


def _source(data: str) -> str:
    """The source of the rows, and a fingerprint of the file."""
    if data == "-":
        return "standard input"
    return f"{Path(data).name}, SHA-256 {hashlib.sha256(Path(data).read_bytes()).hexdigest()}"
