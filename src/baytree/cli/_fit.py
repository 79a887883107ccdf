"""``baytree fit``: from a table to a tree."""

from __future__ import annotations

import shlex
from typing import Any

import click

from ._files import TextFormat
from ._options import (
    check_output,
    data_argument,
    debug_option,
    json_option,
    metadata_options,
    out_option,
    outcome_option,
    target_option,
    task_option,
    text_options,
)

_MODELS = ("tree", "space", "forest")
_PARTITIONS = ("axis", "oblique")
_FEWEST_ROWS = 20  # of a cross-validation
_DEEP = 6  # levels of a tree that are shown


@click.command(short_help="Fit a tree to a table and say how good it is.")
@data_argument
@target_option
@out_option("File for the model, such as model.json; - for standard output.")
@task_option
@outcome_option
@click.option("--model", type=click.Choice(_MODELS), default="tree", show_default=True, help="What is fitted.")
@click.option("--partitions", type=click.Choice(_PARTITIONS), help="Splits along features, or along hyperplanes too.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Use a column that would be left out. Repeatable.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out. Repeatable.")
@click.option(
    "--folds", default=5, show_default=True, type=click.IntRange(0), help="Folds of the cross-validation; 0 for none."
)
@metadata_options("weight", "exposure", "event")
@text_options
@json_option
@debug_option
def fit(
    data: str,
    target: str,
    out: str | None,
    task: str | None,
    outcome: str | None,
    model: str,
    partitions: str | None,
    keep: tuple[str, ...],
    drop: tuple[str, ...],
    folds: int,
    metadata: dict[str, str],
    text_format: TextFormat,
    as_json: bool,
) -> None:
    """Fit a tree to DATA (csv, tsv or parquet; - for standard input) and say how good it is.

    Text becomes categories, missing values are part of every split. Identifiers, dates and columns that never vary are
    left out; the output says which.
    """
    from ._console import Console
    from ._model import make_model, write_model
    from ._training_table import read_training_table

    check_output(out, data)
    if folds == 1:
        raise click.BadParameter("1 is no cross-validation: use 0 for none, or 2 and more.", param_hint="--folds")
    console = Console(on_stderr=as_json or out == "-")
    task = task or ("regression" if outcome else None)
    training = read_training_table(
        data, target, text_format=text_format, task=task, metadata=metadata, keep=keep, drop=drop
    )
    training.describe(console)
    if outcome is not None and training.target.is_classification:
        raise ValueError("--outcome is for numbers: leave out --task classification.")
    estimator = make_model(model, training.target.task, outcome=outcome, partitions=partitions)
    estimator.fit(training.features.table, training.target.y, **training.metadata)
    _print_tree(console, estimator)
    comparison = _compare(console, estimator, training, folds)
    if out is not None:
        write_model(estimator, out)
    _print_next_steps(console, data, target, out)
    if as_json:
        _print_json(estimator, training, comparison, out)


def _print_tree(console: Any, estimator: Any) -> None:
    from .._words import count_text, list_text
    from ..export import to_text

    fitted = estimator.fitted_
    tree = fitted.readable.trees
    size = f"{count_text(int(tree.is_leaf.sum()), 'leaf', 'leaves')}, {count_text(tree.node_count // 2, 'split')}"
    if fitted.readable is not fitted:
        console.heading(f"The {type(estimator).__name__}, by the one tree that says most of it ({size})")
    else:
        console.heading(f"The tree ({size})")
    console.line(to_text(estimator, max_depth=_DEEP))
    classes = list_text(list(fitted.class_names), 6)
    estimate = f"the class, p of {classes}" if classes else "the mean"
    below = f"; below level {_DEEP}: baytree show" if tree.depth.max() > _DEEP else ""
    console.line(
        "(split: odds of splitting the node against leaving it whole; column: probability of this column at the node, "
        f"and of the next one; in each leaf {estimate}, the posterior and n rows{below})"
    )
    if tree.node_count == 1:
        console.note(
            "No split is more probable than none: these columns say nothing about the target, or too few rows do."
        )


def _compare(console: Any, estimator: Any, training: Any, folds: int) -> Any:
    from ._comparison import compare_models

    y, metadata = training.target.y, training.metadata
    if folds == 0:
        return None
    console.heading("How good it is on rows it has not seen")
    if set(metadata) - {"sample_weight"}:
        console.line(
            "Not measured here, because scikit-learn's trees take neither exposure nor events: see baytree report."
        )
        return None
    enough = len(y) >= max(_FEWEST_ROWS, folds)
    weight = metadata.get("sample_weight")
    comparison = compare_models(estimator, training.features.table, y, weight, folds) if enough else None
    if comparison is None:
        console.line(f"{len(y)} rows are too few to tell.")
        return None
    console.table(comparison.columns(), comparison.rows())
    some = f" of {comparison.n_rows:,} rows, drawn at random" if comparison.n_rows < len(y) else ""
    console.line(f"({comparison.n_folds}-fold cross-validation{some})")
    return comparison


def _print_next_steps(console: Any, data: str, target: str, out: str | None) -> None:
    console.heading("What to do next")
    table = shlex.quote("data.csv" if data == "-" else data)
    if out is None:
        console.line("(add -o model.json to what you did, to keep the model)")
    model = shlex.quote("model.json" if out in (None, "-") else str(out))
    for command, what in (
        (f"baytree explain {model} {table} --row 1", "why a row gets its answer"),
        (f"baytree predict {model} {table}", "predictions for other rows"),
        (f"baytree report {table} --target {shlex.quote(target)} --model {model} -o report.html", "a page to share"),
        (f"baytree export {model} --to sql", "the model as SQL; also onnx, c"),
    ):
        console.line(f"{command}   # {what}")


def _print_json(estimator: Any, training: Any, comparison: Any, out: str | None) -> None:
    from ._console import print_json

    tree, target, features = estimator.fitted_.readable.trees, training.target, training.features
    print_json(
        {
            "model": type(estimator).__name__,
            "file": out,
            "task": target.task,
            "task_because": target.reason,
            "target": target.name,
            "n_rows": len(target.y),
            "n_rows_without_target": target.n_missing,
            "columns": features.table.column_names,
            "left_out": features.left_out,
            "notes": features.notes,
            "n_leaves": int(tree.is_leaf.sum()),
            "depth": int(tree.depth.max()),
            "cross_validation": None
            if comparison is None
            else {
                "folds": comparison.n_folds,
                "n_rows": comparison.n_rows,
                "models": {
                    model: {name: None if value != value else value for name, value in figures.items()}
                    for model, figures in comparison.figures.items()
                },
            },
        }
    )
