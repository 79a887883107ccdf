"""``baytree show`` and ``baytree export``: what a model file holds, and the model in another form."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import Any

import click

from ._options import check_output, debug_option, interval_option, json_option, model_argument, out_option

FORMS = ("sql", "onnx", "c", "rules", "text", "csv", "json")


@click.command(short_help="Show the contents of a model file.")
@model_argument
@click.option("--depth", type=click.IntRange(0), help="Maximum depth to show (all levels by default).")
@click.option("--rules", is_flag=True, help="Show one rule per leaf instead of the tree.")
@json_option
@debug_option
def show(model: str, depth: int | None, rules: bool, as_json: bool) -> None:
    """Show the training data, the target and the tree of MODEL."""
    from .._words import count_text, list_text
    from ..export import to_rules, to_text
    from ._console import Console, print_json
    from ._model import read_model

    estimator = read_model(model)
    fitted = estimator.fitted_
    if as_json:
        print_json(_facts(estimator))
        return
    console, facts = Console(), fitted.fitted_on
    console.heading(f"{type(estimator).__name__} in {'standard input' if model == '-' else model}")
    console.line(
        f"predicts: {'the class ' + list_text(list(fitted.class_names), 8) if fitted.class_names else 'a number'}"
    )
    if facts is not None:
        columns = count_text(facts.n_columns, "column")
        console.line(f"fitted on: {count_text(facts.n_rows, 'row')} x {columns}, {facts.date}, baytree {facts.version}")
        console.line(f"fingerprint of the table: {facts.fingerprint[:16]}")
    names = [fitted.schema.name(i) for i in fitted.used_features]
    console.line(f"uses: {list_text(names, 12) if names else 'no column'}")
    tree = fitted.readable.trees
    console.heading(f"The tree ({count_text(int(tree.is_leaf.sum()), 'leaf', 'leaves')})")
    console.line(str(to_rules(estimator)) if rules else to_text(estimator, max_depth=depth))


def _facts(estimator: Any) -> dict[str, Any]:
    from ..export import to_rules

    fitted = estimator.fitted_
    tree = fitted.readable.trees
    return {
        "model": type(estimator).__name__,
        "classes": list(fitted.class_names) or None,
        "outcome": fitted.outcome.name,
        "fitted_on": None if fitted.fitted_on is None else asdict(fitted.fitted_on),
        "columns": [fitted.schema.name(i) for i in range(fitted.schema.n_features)],
        "used_columns": [fitted.schema.name(i) for i in fitted.used_features],
        "n_leaves": int(tree.is_leaf.sum()),
        "depth": int(tree.depth.max()),
        "rules": [str(rule) for rule in to_rules(estimator)],
    }


@click.command(short_help="Export a model to SQL, ONNX, C and other formats.")
@model_argument
@click.option(
    "--to", "form", required=True, type=click.Choice(FORMS), help="Format to write; csv has one line per node."
)
@out_option("File to write (standard output by default).")
@click.option(
    "--dialect", default="duckdb", show_default=True, help="SQL dialect: duckdb, sqlite, postgres and others."
)
@click.option("--table", default="rows", show_default=True, help="Table of the rows in SQL.")
@click.option("--name", default="predict", show_default=True, help="Name of the C function.")
@interval_option
@debug_option
def export(model: str, form: str, out: str | None, dialect: str, table: str, name: str, interval: float | None) -> None:
    """Export MODEL to SQL, ONNX, C, rules, text, CSV or JSON."""
    from ._model import read_model
    from ._output import open_out

    check_output(out, model)
    if interval is not None and form not in ("sql", "c"):
        raise click.UsageError(f"--interval is only for sql and c: leave it out with --to {form}.")
    if form == "onnx" and out is None and sys.stdout.isatty():
        raise click.UsageError("ONNX is binary: give a file with --out.")
    content = _export_text(read_model(model), form, dialect=dialect, table=table, name=name, interval=interval)
    if out not in (None, "-"):
        with open_out(str(out)) as file:
            file.write(content if isinstance(content, bytes) else content.encode())
    elif isinstance(content, bytes):
        sys.stdout.buffer.write(content)
    else:
        sys.stdout.write(content)


def _export_text(
    estimator: Any, form: str, *, dialect: str, table: str, name: str, interval: float | None
) -> str | bytes:
    from .. import export as forms

    if form == "onnx":
        return bytes(forms.to_onnx(estimator).SerializeToString())
    if form == "sql":
        text = forms.to_sql(estimator, dialect=dialect, table=table, interval=interval)
    elif form == "c":
        text = forms.to_c(estimator, name=name, interval=interval)
    elif form == "json":
        text = json.dumps(forms.to_dict(estimator), indent=2)
    elif form == "csv":
        text = str(forms.to_frame(estimator).to_csv(index=False))
    else:
        text = str(forms.to_rules(estimator)) if form == "rules" else forms.to_text(estimator)
    return text if text.endswith("\n") else text + "\n"
