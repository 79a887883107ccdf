"""``baytree fit``: from a table to a tree."""

from __future__ import annotations

import shlex
from dataclasses import asdict
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
from ._tree_options import TreeOptions, tree_options

_MODELS = ("tree", "space", "forest")
_PARTITIONS = ("axis", "oblique")
_LEAVES = ("constant", "linear")
_FEWEST_ROWS = 20  # of a cross-validation
_DEEP = 6  # levels of a tree that are shown
_MANY_ROWS = 50_000  # above which refits are left out
_MOST_LINES = 12  # splits whose stability is shown


@click.command(short_help="Fit a tree to a table and measure how good it is.")
@data_argument
@target_option
@out_option("Model file to write, such as model.json (- for standard output).")
@task_option
@outcome_option
@click.option("--model", type=click.Choice(_MODELS), default="tree", show_default=True, help="Model to fit.")
@click.option(
    "--partitions",
    type=click.Choice(_PARTITIONS),
    help="Splits on single columns (axis), or also on hyperplanes of several columns (oblique).",
)
@click.option(
    "--leaf", type=click.Choice(_LEAVES), help="Model in the leaves: a constant, or a linear or logistic model."
)
@tree_options
@click.option(
    "--keep",
    multiple=True,
    metavar="COLUMN",
    help="Column to use although it would be left out. May be given more than once.",
)
@click.option("--drop", multiple=True, metavar="COLUMN", help="Column to leave out. May be given more than once.")
@click.option(
    "--folds",
    default=5,
    show_default=True,
    type=click.IntRange(0),
    help="Number of cross-validation folds (0 to skip).",
)
@click.option(
    "--refits",
    type=click.IntRange(0),
    help="Number of refits for the stability table (0 to skip).  "
    "[default: 30; 10 for slow models, 0 above 50,000 rows]",
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
    leaf: str | None,
    rules: TreeOptions,
    keep: tuple[str, ...],
    drop: tuple[str, ...],
    folds: int,
    refits: int | None,
    metadata: dict[str, str],
    text_format: TextFormat,
    as_json: bool,
) -> None:
    """Fit a tree to DATA (csv, tsv or parquet; - for standard input) and measure how good it is.

    Text columns become categories, and missing values need no preparation. Identifiers, dates and constant columns are
    left out and listed in the output.
    """
    from ._console import Console
    from ._model import make_model, write_model
    from ._training_table import read_training_table

    check_output(out, data)
    if folds == 1:
        raise click.BadParameter(
            "Cross-validation needs at least 2 folds: give 2 or more, or 0 to skip it.", param_hint="--folds"
        )
    console = Console(on_stderr=as_json or out == "-")
    task = task or ("regression" if outcome else None)
    training = read_training_table(
        data, target, text_format=text_format, task=task, metadata=metadata, keep=keep, drop=drop
    )
    training.describe(console)
    if outcome is not None and training.target.is_classification:
        raise ValueError("--outcome is for regression: leave out --task classification.")
    if leaf is not None and model != "tree":
        raise ValueError(f"--leaf is for a single tree: leave it out, or choose --model tree instead of {model}.")
    estimator = make_model(
        model,
        training.target.task,
        outcome=outcome,
        partitions=partitions,
        leaf=leaf,
        **rules.parameters(training),
    )
    estimator.fit(training.features.table, training.target.y, **training.metadata)
    _print_tree(console, estimator)
    stability = _measure_stability(console, estimator, training, refits)
    comparison = _compare(console, estimator, training, folds)
    if out is not None:
        write_model(estimator, out)
    _print_next_steps(console, data, target, out)
    if as_json:
        _print_json(estimator, training, comparison, stability, out)


def _print_tree(console: Any, estimator: Any) -> None:
    from .._words import count_text, list_text
    from ..export import to_text

    fitted = estimator.fitted_
    tree = fitted.readable.trees
    size = f"{count_text(int(tree.is_leaf.sum()), 'leaf', 'leaves')}, {count_text(tree.node_count // 2, 'split')}"
    size += f", {count_text(_n_terms(tree), 'term')}" if _n_terms(tree) else ""
    if fitted.readable is not fitted:
        console.heading(f"The readable tree of the {type(estimator).__name__} ({size})")
    else:
        console.heading(f"The tree ({size})")
    console.line(to_text(estimator, max_depth=_DEEP))
    classes = list_text(list(fitted.class_names), 6)
    estimate = f"the class, p of {classes}" if classes else "the mean"
    below = f"; below level {_DEEP}: baytree show" if tree.depth.max() > _DEEP else ""
    terms = ", and below it the model's terms with their 90 % intervals" if _n_terms(tree) else ""
    console.line(
        "(split: odds of splitting the node over leaving it whole; column: probability of this column and of the next "
        f"most probable one; each leaf shows {estimate}, the posterior and the number of rows{terms}{below})"
    )
    if tree.node_count == 1 and not _n_terms(tree):
        console.note(
            "The most probable tree has no split: the columns are not related to the target, or there are too few rows."
        )


def _n_terms(tree: Any) -> int:
    """The number of terms in all leaves."""
    return int(tree.leaves.n_terms[tree.is_leaf].sum())


def _measure_stability(console: Any, estimator: Any, training: Any, refits: int | None) -> Any:
    """Refit the tree on weighted rows and print which splits are kept; of large tables only if it is asked for."""
    n_rows, is_fast = len(training.target.y), estimator.fitted_.kind == "tree" and estimator.partitions == "axis"
    n_refits = (30 if is_fast else 10) if refits is None else refits
    if refits is None and n_rows > _MANY_ROWS:
        console.heading("Stability")
        console.line(
            f"Skipped, because {n_refits} refits of this many rows take long. To measure it: --refits {n_refits}"
        )
        return None
    if n_refits == 0:
        return None
    console.heading("Stability")
    stability = estimator.stability(training.features.table, training.target.y, n_refits=n_refits, **training.metadata)
    lines = str(stability).splitlines()
    if len(lines) > _MOST_LINES + 2:
        left_off = f"({len(lines) - 2 - _MOST_LINES:,} more splits: model.stability, or baytree report)"
        lines = [*lines[: _MOST_LINES + 1], left_off, lines[-1]]
    for line in lines:
        console.line(line)
    return stability


def _compare(console: Any, estimator: Any, training: Any, folds: int) -> Any:
    from ._comparison import compare_models

    y, metadata = training.target.y, training.metadata
    if folds == 0:
        return None
    console.heading("Performance on held-out rows")
    if set(metadata) - {"sample_weight"}:
        console.line(
            "Not measured here, because scikit-learn's trees take neither exposure nor events. See baytree report."
        )
        return None
    enough = len(y) >= max(_FEWEST_ROWS, folds)
    weight = metadata.get("sample_weight")
    comparison = compare_models(estimator, training.features.table, y, weight, folds) if enough else None
    if comparison is None:
        console.line(f"{len(y)} rows are too few to measure it.")
        return None
    console.table(comparison.columns(), comparison.rows())
    console.line(f"({comparison.method}; ms: milliseconds of a fit)")
    return comparison


def _print_next_steps(console: Any, data: str, target: str, out: str | None) -> None:
    console.heading("Next steps")
    table = shlex.quote("data.csv" if data == "-" else data)
    if out is None:
        console.line("(add -o model.json to the command above to keep the model)")
    model = shlex.quote("model.json" if out in (None, "-") else str(out))
    for command, what in (
        (f"baytree explain {model} {table} --row 1", "explain a prediction"),
        (f"baytree predict {model} {table}", "predict other rows"),
        (
            f"baytree report {table} --target {shlex.quote(target)} --model {model} -o report.html",
            "write an HTML report",
        ),
        (f"baytree export {model} --to sql", "export the model as SQL (or onnx, c)"),
    ):
        console.line(f"{command}   # {what}")


def _print_json(estimator: Any, training: Any, comparison: Any, stability: Any, out: str | None) -> None:
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
            "n_terms": _n_terms(tree),
            "depth": int(tree.depth.max()),
            "stability": None
            if stability is None
            else {
                "refits": stability.n_refits,
                "decisions": stability.decisions,
                "change": stability.change,
                "splits": [asdict(split) for split in stability.splits],
            },
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
