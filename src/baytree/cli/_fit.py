"""``baytree fit``: from a table to a tree."""

from __future__ import annotations

import shlex
from typing import Any

import click

from ._models import MODELS, PARTITIONS
from ._options import (
    beside_options,
    data_argument,
    debug_option,
    json_option,
    out_option,
    outcome_option,
    outputs_differ,
    reading_options,
    target_option,
    task_option,
)
from ._sniff import Reading

_FEWEST_ROWS = 20  # of a cross-validation
_DEEP = 6  # levels of a tree that are shown


@click.command(short_help="Fit a tree to a table and say how good it is.")
@data_argument
@target_option
@out_option("File for the model, such as model.json; - for standard output.")
@task_option
@outcome_option
@click.option("--model", type=click.Choice(MODELS), default="tree", show_default=True, help="What is fitted.")
@click.option("--partitions", type=click.Choice(PARTITIONS), help="Splits along features, or along hyperplanes too.")
@click.option("--keep", multiple=True, metavar="COLUMN", help="Use a column that would be left out. Repeat it.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="Leave a column out. Repeat it.")
@click.option("--folds", default=5, show_default=True, type=click.IntRange(0), help="Of the cross-validation; 0: none.")
@beside_options("weight", "exposure", "event")
@reading_options
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
    beside: dict[str, str],
    reading: Reading,
    as_json: bool,
) -> None:
    """Fit a tree to DATA (csv, tsv or parquet; - for standard input) and say how good it is.

    Text becomes categories, missing values are part of every split. Identifiers, dates and columns that never vary are
    left out; the output says which.
    """
    from ._models import check_folder, make_model, write_model
    from ._talk import Talk
    from ._training import read_training

    outputs_differ(out, data)
    if out not in (None, "-"):
        check_folder(str(out))
    if folds == 1:
        raise click.BadParameter("1 is no cross-validation: use 0 for none, or 2 and more.", param_hint="--folds")
    talk = Talk(aside=as_json or out == "-")
    found = read_training(
        data,
        target,
        reading=reading,
        task=task or ("regression" if outcome else None),
        beside=beside,
        keep=keep,
        drop=drop,
    )
    found.tell(talk)
    if outcome is not None and found.task.is_classification:
        raise ValueError("--outcome is for numbers: leave out --task classification.")
    estimator = make_model(model, found.task.kind, outcome=outcome, partitions=partitions)
    estimator.fit(found.columns.table, found.task.y, **found.beside)
    _tell_tree(talk, estimator)
    comparison = _compare(talk, estimator, found, folds)
    if out is not None:
        write_model(estimator, out)
    _tell_next(talk, data, target, out)
    if as_json:
        _print_json(estimator, found, comparison, out)


def _tell_tree(talk: Any, estimator: Any) -> None:
    from .._words import count_text, listed
    from ..export import to_text

    fitted = estimator.fitted_
    tree = fitted.readable.trees
    size = f"{count_text(int(tree.is_leaf.sum()), 'leaf', 'leaves')}, {count_text(tree.node_count // 2, 'split')}"
    if fitted.readable is not fitted:
        talk.heading(f"The {type(estimator).__name__}, by the one tree that says most of it ({size})")
    else:
        talk.heading(f"The tree ({size})")
    talk.say(to_text(estimator, max_depth=_DEEP))
    classes = listed(list(fitted.class_names), 6)
    said = f"the class, p of {classes}" if classes else "the mean"
    below = f"; below level {_DEEP}: baytree show" if tree.depth.max() > _DEEP else ""
    talk.say(f"(odds of each split against no split; in each leaf {said}, the posterior and n rows{below})")
    if tree.node_count == 1:
        talk.note(
            "No split is more probable than none: these columns say nothing about the target, or too few rows do."
        )


def _compare(talk: Any, estimator: Any, found: Any, folds: int) -> Any:
    from ._against import compare_models

    n = len(found.task.y)
    if folds == 0:
        return None
    talk.heading("How good it is on rows it has not seen")
    if n < max(_FEWEST_ROWS, folds):
        talk.say(f"{n} rows are too few to tell.")
        return None
    if set(found.beside) - {"sample_weight"}:
        talk.say(
            "Not measured here, because scikit-learn's trees take neither exposure nor events: see baytree report."
        )
        return None
    weight = found.beside.get("sample_weight")
    comparison = compare_models(estimator, found.columns.table, found.task.y, weight, folds)
    talk.table(comparison.names(), comparison.rows())
    some = f" of {comparison.n_rows:,} rows, drawn at random" if comparison.n_rows < n else ""
    talk.say(f"({folds}-fold cross-validation{some})")
    return comparison


def _tell_next(talk: Any, data: str, target: str, out: str | None) -> None:
    talk.heading("What to do next")
    table = shlex.quote("data.csv" if data == "-" else data)
    if out is None:
        talk.say("(add -o model.json to what you did, to keep the model)")
    model = shlex.quote("model.json" if out in (None, "-") else str(out))
    for line, what in (
        (f"baytree explain {model} {table} --row 1", "why a row gets its answer"),
        (f"baytree predict {model} {table}", "predictions for other rows"),
        (f"baytree report {table} --target {shlex.quote(target)} --model {model} -o report.html", "a page to share"),
        (f"baytree export {model} --to sql", "the model as SQL; also onnx, python, c"),
    ):
        talk.say(f"{line}   # {what}")


def _print_json(estimator: Any, found: Any, comparison: Any, out: str | None) -> None:
    from ._talk import print_json

    tree = estimator.fitted_.readable.trees
    print_json(
        {
            "model": type(estimator).__name__,
            "file": out,
            "task": found.task.kind,
            "task_because": found.task.why,
            "target": found.task.name,
            "n_rows": len(found.task.y),
            "n_rows_without_target": found.task.n_left_out,
            "columns": found.columns.table.column_names,
            "left_out": found.columns.left_out,
            "notes": found.columns.notes,
            "n_leaves": int(tree.is_leaf.sum()),
            "depth": int(tree.depth.max()),
            "cross_validation": None
            if comparison is None
            else {
                "folds": comparison.folds,
                "n_rows": comparison.n_rows,
                "models": {
                    line.model: {name: None if value != value else value for name, value in line.figures.items()}
                    for line in comparison.lines
                },
            },
        }
    )
