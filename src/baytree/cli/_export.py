"""``baytree export``: a model in another form."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from ._options import debug_option, model_argument, out_option, outputs_differ

FORMS = ("sql", "onnx", "python", "c", "rules", "text", "csv", "json")


@click.command(short_help="Write a model as SQL, ONNX, Python, C and others.")
@model_argument
@click.option("--to", "form", required=True, type=click.Choice(FORMS), help="csv has one line per node.")
@out_option("File to write; standard output by default.")
@click.option("--dialect", default="duckdb", show_default=True, help="Of SQL: duckdb, sqlite, postgres and others.")
@click.option("--table", default="rows", show_default=True, help="Of SQL: the table that holds the rows.")
@click.option("--name", default="predict", show_default=True, help="Of Python and C: the function.")
@click.option("--interval", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Add an interval: 0.9.")
@debug_option
def export(model: str, form: str, out: str | None, dialect: str, table: str, name: str, interval: float | None) -> None:
    """Write MODEL as SQL, ONNX, Python, C, rules, text, CSV or JSON."""
    from ..persistence import write_text
    from ._models import check_folder, read_model

    outputs_differ(out, model)
    if out not in (None, "-"):
        check_folder(str(out))
    estimator = read_model(model)
    if form == "onnx":
        _write_onnx(estimator, out)
        return
    text = _text(estimator, form, dialect=dialect, table=table, name=name, interval=interval)
    text = text if text.endswith("\n") else text + "\n"
    if out in (None, "-"):
        sys.stdout.write(text)
    else:
        write_text(str(out), text)


def _text(estimator: Any, form: str, *, dialect: str, table: str, name: str, interval: float | None) -> str:
    import json

    from .. import export as forms

    if interval is not None and form not in ("sql", "python", "c"):
        raise click.UsageError(f"--interval is not for --to {form}.")
    if form == "sql":
        return forms.to_sql(estimator, dialect=dialect, table=table, interval=interval)
    if form in ("python", "c"):
        write = forms.to_python if form == "python" else forms.to_c
        return write(estimator, name=name, interval=interval)
    if form == "json":
        return json.dumps(forms.to_dict(estimator), indent=2)
    if form == "csv":
        return str(forms.to_frame(estimator).to_csv(index=False))
    return str(forms.to_rules(estimator)) if form == "rules" else forms.to_text(estimator)


def _write_onnx(estimator: Any, out: str | None) -> None:
    from ..export import to_onnx

    if out is None and sys.stdout.isatty():
        raise click.UsageError("ONNX is binary: give a file with --out.")
    content = to_onnx(estimator).SerializeToString()
    if out in (None, "-"):
        sys.stdout.buffer.write(content)
    else:
        Path(str(out)).write_bytes(content)
