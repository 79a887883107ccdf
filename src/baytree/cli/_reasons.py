"""``baytree reasons``: the columns that push most towards the decision on each row, for adverse-action letters."""

from __future__ import annotations

from typing import Any

import click

from ._files import TextFormat
from ._options import (
    check_output,
    data_argument,
    debug_option,
    json_option,
    model_argument,
    out_option,
    text_options,
)


@click.command(short_help="List the main reasons for each decision.")
@model_argument
@data_argument
@click.option("-k", default=4, show_default=True, type=click.IntRange(1), help="Maximum number of reasons for a row.")
@click.option(
    "--codes", metavar="FILE", help="Reason codes: a CSV file with the columns column, code and text, or a JSON file."
)
@click.option("--towards", metavar="CLASS", help="Class to give reasons for. Default: the decision on the row.")
@out_option("File to write: .csv, .tsv, .parquet or .jsonl. Default: CSV on standard output.")
@text_options
@json_option
@debug_option
def reasons(
    model: str,
    data: str,
    k: int,
    codes: str | None,
    towards: str | None,
    out: str | None,
    text_format: TextFormat,
    as_json: bool,
) -> None:
    """List the columns that contribute most to the decision on each row of DATA, with their contributions.

    Rows are counted from 1. Reasons for a forest or tree space are those of the average that predicts.
    """
    from ._model import FeatureReader, read_model
    from ._predict import open_writer
    from ._table import open_table

    check_output(out, data, model, codes)
    estimator = read_model(model)
    by_column = None if codes is None else _read_codes(codes)
    label = None if towards is None else _label(estimator.fitted_, towards)
    with open_table(data, text_format) as parts:
        features = FeatureReader.of(estimator, parts, text_format, data)
        n_rows = 0
        with open_writer(out, as_json=as_json) as writer:
            for table in parts.tables:
                X = features.read(table, n_rows + 1)
                writer.write(_table(estimator._reasons(X, k, by_column, label), n_rows, with_codes=codes is not None))
                n_rows += table.num_rows


def _table(reasons: list[Any], n_before: int, *, with_codes: bool) -> Any:
    """Reasons as an Arrow table; values are text, since those of different columns stand below each other."""
    import pyarrow as pa

    columns: dict[str, Any] = {
        "row": pa.array([n_before + one.row + 1 for one in reasons], pa.int64()),
        "rank": pa.array([one.rank for one in reasons], pa.int64()),
        "feature": pa.array([one.feature for one in reasons], pa.string()),
        "contribution": pa.array([one.contribution for one in reasons], pa.float64()),
        "value": pa.array([None if one.value is None else _text(one.value) for one in reasons], pa.string()),
    }
    if with_codes:
        columns["code"] = pa.array([one.code for one in reasons], pa.string())
        columns["text"] = pa.array([one.text for one in reasons], pa.string())
    return pa.table(columns)


def _text(value: float | bool | str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.15g}" if isinstance(value, float) else value


def _label(fitted: Any, text: str) -> Any:
    """The class that a text names; of numbers the text itself."""
    if not fitted.outcome.predicts_classes:
        return text
    if text not in fitted.class_names:
        raise ValueError(f"--towards must be one of the classes {', '.join(fitted.class_names)}; got {text!r}.")
    return fitted.outcome.labels.tolist()[fitted.class_names.index(text)]


def _read_codes(path: str) -> dict[str, tuple[str, str | None]]:
    """The codes by column, from a CSV or JSON file."""
    import csv
    import json
    from pathlib import Path

    content = Path(path).read_text("utf-8-sig")
    if content.lstrip().startswith("{"):
        codes: dict[str, tuple[str, str | None]] = json.loads(content)
        return codes
    rows = csv.DictReader(content.splitlines())
    if not {"column", "code"} <= set(rows.fieldnames or ()):
        raise ValueError(f"--codes {path!r} must have the columns 'column' and 'code', and may have 'text'.")
    return {row["column"]: (row["code"], row.get("text")) for row in rows}
