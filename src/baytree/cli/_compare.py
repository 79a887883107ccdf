"""``baytree compare``: what changed between two models, and which one is better on some rows."""

from __future__ import annotations

from typing import Any

import click

from ._files import TextFormat
from ._options import actions_option, debug_option, json_option, positive_option, read_actions, text_options


@click.command(short_help="Compare two models.")
@click.argument("before", type=click.Path(path_type=str))
@click.argument("after", type=click.Path(path_type=str))
@click.argument("data", type=click.Path(path_type=str), required=False)
@click.option("--target", metavar="COLUMN", help="Column of DATA with the true outcome, to measure both models.")
@positive_option
@actions_option
@text_options
@json_option
@debug_option
def compare(
    before: str,
    after: str,
    data: str | None,
    target: str | None,
    positive: str | None,
    actions: str | None,
    text_format: TextFormat,
    as_json: bool,
) -> None:
    """Compare the settings, columns and splits of two models and, on DATA, their predictions.

    With --target also the area under the curve, Gini, KS, log loss, expected cost and accuracy (for numbers the errors)
    of both, with a 90 % interval for each difference, and the outcomes of the rows that are decided otherwise. Use rows
    that neither model was fitted to.
    """
    from ._console import Console, print_json
    from ._differences import model_differences
    from ._model import read_model
    from ._row_figures import RowFigures

    if target is not None and data is None:
        raise click.UsageError("--target needs DATA.")
    if target is None and (positive is not None or actions is not None):
        raise click.UsageError("--positive and --actions need --target.")
    models = read_model(before), read_model(after)
    if (models[0].fitted_.outcome.predicts_classes) != (models[1].fitted_.outcome.predicts_classes):
        raise ValueError(
            f"One of {before!r} and {after!r} predicts classes and the other numbers: they cannot be compared."
        )
    differences = model_differences(*models)
    figures = None if target is None else RowFigures(*models, positive, read_actions(actions))
    rows = None if data is None else _row_differences(*models, data, target, text_format, figures)
    comparison = None if figures is None else figures.comparison()
    if as_json:
        measured = {} if comparison is None else {"comparison": comparison.to_dict()}
        print_json({"models": differences.to_dict(), "rows": None if rows is None else rows.to_dict() | measured})
        return
    console = Console()
    console.heading(f"{before} and {after}")
    differences.describe(console)
    if rows is not None:
        console.heading(f"On the rows of {'standard input' if data == '-' else data}")
        rows.describe(console, with_figures=comparison is None)
    if comparison is not None:
        console.heading("Comparison of both models")
        _describe(console, comparison)


def _describe(console: Any, comparison: Any) -> None:
    """The figures of both models, and the rows by both decisions."""
    header, *lines = comparison.figure_rows()
    console.table(header, lines)
    rows = f"{comparison.n:,.0f} row{'' if comparison.n == 1 else 's'}"
    console.line(f"(difference: after minus before, with a paired 90 % interval; {rows}, {comparison.method})")
    if comparison.swaps:
        console.heading("Decisions of both models")
        header, *lines = comparison.swap_rows()
        console.table([f"{name} decides" for name in header[:2]] + header[2:], lines)


def _row_differences(
    before: Any, after: Any, data: str, target: str | None, text_format: TextFormat, figures: Any
) -> Any:
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
            tables = first.read(table, start), second.read(table, start)
            differences.add(*tables, y)
            if y is not None:
                figures.add(tables, y)
    return differences
