"""``baytree compare``: what changed between two models."""

from __future__ import annotations

from typing import Any

import click

from ._files import TextFormat
from ._options import debug_option, json_option, text_options


@click.command(short_help="Say what changed between two models.")
@click.argument("before", type=click.Path(path_type=str))
@click.argument("after", type=click.Path(path_type=str))
@click.argument("data", type=click.Path(path_type=str), required=False)
@click.option("--target", metavar="COLUMN", help="The column of DATA that is predicted: tells which model is right.")
@text_options
@json_option
@debug_option
def compare(
    before: str, after: str, data: str | None, target: str | None, text_format: TextFormat, as_json: bool
) -> None:
    """Say what changed between two models: settings, columns, splits, leaves and, on DATA, predictions."""
    from ._console import Console, print_json
    from ._differences import model_differences
    from ._model import read_model

    if target is not None and data is None:
        raise click.UsageError("--target needs DATA.")
    models = read_model(before), read_model(after)
    if (models[0].fitted_.outcome.predicts_classes) != (models[1].fitted_.outcome.predicts_classes):
        raise ValueError(f"One of {before!r} and {after!r} predicts classes, the other numbers: nothing to compare.")
    differences = model_differences(*models)
    rows = None if data is None else _row_differences(*models, data, target, text_format)
    if as_json:
        print_json({"models": differences.to_dict(), "rows": None if rows is None else rows.to_dict()})
        return
    console = Console()
    console.heading(f"{before} and {after}")
    differences.describe(console)
    if rows is not None:
        console.heading(f"On the rows of {'standard input' if data == '-' else data}")
        rows.describe(console)


def _row_differences(before: Any, after: Any, data: str, target: str | None, text_format: TextFormat) -> Any:
    from ._columns import check_column
    from ._differences import RowDifferences
    from ._model import FeatureReader
    from ._table import open_table

    with open_table(data, text_format) as parts:
        first, second = (FeatureReader.of(model, parts, text_format, data) for model in (before, after))
        if target is not None:
            check_column(target, parts.names, data)
        classes = {*before.fitted_.class_names, *after.fitted_.class_names}
        differences = RowDifferences(before, after)
        for table in parts.tables:
            start = differences.n_rows + 1
            y = None if target is None else first.read_target(table[target], target, classes, start)
            differences.add(first.read(table, start), second.read(table, start), y)
    return differences
