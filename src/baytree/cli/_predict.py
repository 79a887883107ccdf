"""``baytree predict``: rows in, the same rows with predictions out, in bounded memory."""

from __future__ import annotations

from typing import Any

import click

from ._options import (
    data_argument,
    debug_option,
    json_option,
    model_argument,
    out_option,
    outputs_differ,
    reading_options,
)
from ._sniff import Reading


@click.command(short_help="Predict the rows of a table with a model.")
@model_argument
@data_argument
@out_option("File to write: .csv, .tsv, .parquet or .jsonl. Default: CSV on standard output.")
@click.option("--carry", multiple=True, metavar="COLUMN", help="Carry only this column along, an id say. Repeat it.")
@click.option("--interval", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="Add an interval: 0.9.")
@reading_options
@json_option
@debug_option
def predict(
    model: str,
    data: str,
    out: str | None,
    carry: tuple[str, ...],
    interval: float | None,
    reading: Reading,
    as_json: bool,
) -> None:
    """Predict the rows of DATA (csv, tsv or parquet; - for standard input) with MODEL.

    Every row comes back with its prediction and, of classes, their probabilities. Rows are read and written part by
    part, so DATA may be larger than memory.
    """
    from ._batches import open_batches
    from ._features import Features
    from ._models import check_folder, read_model
    from ._write import open_writer

    outputs_differ(out, data, model)
    if model == data == "-":
        raise ValueError("MODEL and DATA cannot both come from standard input.")
    if out not in (None, "-"):
        check_folder(str(out))
    estimator = read_model(model)
    with open_batches(data, reading) as batches:
        features = Features(estimator.fitted_, tuple(reading.means_missing), batches.decimal)
        features.check(batches.names, data)
        kept = _kept(batches.names, carry, data)
        first_row = 1
        with open_writer(out, as_json=as_json) as writer:
            for part in batches.parts:
                added = _predictions(estimator, features.read(part, first_row), interval)
                writer.write(_joined(part.select(kept), added))
                first_row += part.num_rows


def _kept(names: list[str], carry: tuple[str, ...], path: str) -> list[str]:
    from ..table import nearest_name

    for name in carry:
        if name not in names:
            raise ValueError(
                f"--carry names the column {name!r}, which {path!r} does not have: {nearest_name(name, names)}"
            )
    return list(carry) or names


def _predictions(estimator: Any, X: Any, interval: float | None) -> dict[str, Any]:
    """The new columns; none has rows where there are none."""
    fitted = estimator.fitted_
    found: dict[str, Any] = {"prediction": estimator.predict(X)}
    names = fitted.class_names
    if names:
        found |= {f"probability_{name}": p for name, p in zip(names, estimator.predict_proba(X).T, strict=True)}
    if interval is not None:
        ends = estimator.predict_interval(X, level=interval)
        sides = {
            f"{side}_{name}": ends[:, c, i] for c, name in enumerate(names) for i, side in enumerate(("low", "high"))
        }
        found |= sides if names else {"low": ends[:, 0], "high": ends[:, 1]}
    return found


def _joined(table: Any, added: dict[str, Any]) -> Any:
    import pyarrow as pa

    for name, values in added.items():
        if name in table.column_names:
            raise ValueError(f"The table has a column {name!r} already: choose what comes along with --carry.")
        table = table.append_column(name, pa.array(values.tolist()))
    return table
