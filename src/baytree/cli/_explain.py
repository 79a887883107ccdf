"""``baytree explain``: why a row gets its answer, and what would change it."""

from __future__ import annotations

from typing import Any

import click

from ._files import TextFormat
from ._options import debug_option, json_option, model_argument, text_options

_MOST = 10  # rows that are explained at once


@click.command(short_help="Explain single predictions.")
@model_argument
@click.argument("what", nargs=-1, metavar="[DATA] [NAME=VALUE]...")
@click.option(
    "--row",
    "rows",
    multiple=True,
    type=click.IntRange(1),
    help="Row of DATA, counted from 1. May be given more than once.",
)
@click.option(
    "--immutable",
    multiple=True,
    metavar="COLUMN",
    help="Column that suggested changes must leave alone. May be given more than once.",
)
@text_options
@json_option
@debug_option
def explain(
    model: str,
    what: tuple[str, ...],
    rows: tuple[int, ...],
    immutable: tuple[str, ...],
    text_format: TextFormat,
    as_json: bool,
) -> None:
    """Explain predictions of MODEL: the path, the posterior, and changes that would lead to another decision.

    \b
    baytree explain model.json data.csv --row 12        the twelfth row
    baytree explain model.json data.csv customer=4711   rows that have this value
    baytree explain model.json age=39 sex=F             a single case; columns not named are missing
    """  # noqa: D301 - the character that tells click to keep the lines
    from ._console import Console, print_json
    from ._model import FeatureReader, read_model

    data, values = _table_and_values(what)
    estimator = read_model(model)
    if data is None:
        if rows:
            raise click.UsageError("--row needs DATA.")
        reader = FeatureReader(estimator.fitted_, text_format.missing_texts)
        cases = [("the case", reader.read_case(values))]
    else:
        cases = _rows_of(estimator, data, values, set(rows), text_format)
    options = {"immutable": list(immutable)} if immutable else {}
    explanations = [(name, estimator.explain(case, **options)[0]) for name, case in cases]
    if as_json:
        print_json([{"row": name} | explanation.to_dict() for name, explanation in explanations])
        return
    console = Console()
    for name, explanation in explanations:
        if data is not None:
            console.heading(name)
        console.line(str(explanation))


def _table_and_values(what: tuple[str, ...]) -> tuple[str | None, dict[str, str]]:
    """The table, where there is one, and the values by name."""
    pairs = [argument.partition("=") for argument in what if "=" in argument]
    tables = [argument for argument in what if "=" not in argument]
    if len(tables) > 1 or not what:
        raise click.UsageError("Give a table, or the values of a case as NAME=VALUE.")
    return (tables[0] if tables else None), {name: value for name, _, value in pairs}


def _rows_of(
    estimator: Any, data: str, values: dict[str, str], numbers: set[int], text_format: TextFormat
) -> list[tuple[str, Any]]:
    """The rows of a table that have the values, and the numbers if there are any; with their names."""
    from ._columns import check_column
    from ._model import FeatureReader
    from ._table import open_table

    chosen: list[tuple[str, Any]] = []
    n_rows = 0
    wanted = numbers if numbers or values else {1}
    with open_table(data, text_format) as parts:
        reader = FeatureReader.of(estimator, parts, text_format, data)
        for name in values:
            check_column(name, parts.names, data)
        for table in parts.tables:
            chosen += [
                (f"Row {n_rows + i + 1:,}", reader.read(table.slice(i, 1), n_rows + i + 1))
                for i in _matching_rows(table, values, wanted, n_rows)
            ]
            n_rows += table.num_rows
            if len(chosen) > _MOST or (not values and len(chosen) == len(wanted)):
                break
    if len(chosen) > _MOST:
        raise ValueError(f"More than {_MOST} rows match: choose rows with --row.")
    if values and not chosen:
        pairs = " and ".join(f"{name}={value}" for name, value in values.items())
        raise ValueError(f"No row of {data!r} has {pairs}.")
    if not values and len(chosen) < len(wanted):
        raise ValueError(f"{data!r} has {n_rows:,} rows: there is no row {max(wanted):,}.")
    return chosen


def _matching_rows(table: Any, values: dict[str, str], wanted: set[int], n_before: int) -> list[int]:
    """The rows of a part that have all values, or one of the numbers."""
    from ._columns import same_value

    positions = [i - 1 - n_before for i in sorted(wanted) if n_before < i <= n_before + table.num_rows]
    if not values:
        return positions
    columns = {name: table[name].to_pylist() for name in values}
    rows = positions if wanted else range(table.num_rows)
    return [i for i in rows if all(same_value(columns[name][i], value) for name, value in values.items())]
