"""``baytree explain``: why a row gets its answer, and what would change it."""

from __future__ import annotations

from typing import Any

import click

from ._options import debug_option, json_option, model_argument, reading_options
from ._sniff import Reading

_MOST = 10  # rows that are explained at once


@click.command(short_help="Say why a row gets its answer.")
@model_argument
@click.argument("what", nargs=-1, metavar="[DATA] [NAME=VALUE]...")
@click.option("--row", "rows", multiple=True, type=click.IntRange(1), help="Of DATA, counted from 1. Repeat it.")
@click.option("--immutable", multiple=True, metavar="COLUMN", help="What no proposal may change. Repeat it.")
@reading_options
@json_option
@debug_option
def explain(
    model: str,
    what: tuple[str, ...],
    rows: tuple[int, ...],
    immutable: tuple[str, ...],
    reading: Reading,
    as_json: bool,
) -> None:
    r"""Explain rows by MODEL: the path, the posterior, and what would have led to another answer.

    \b
    baytree explain model.json data.csv --row 12        the twelfth row
    baytree explain model.json data.csv customer=4711   rows that have this value
    baytree explain model.json age=39 sex=F             a case; what is not named is missing
    """
    from ._models import read_model
    from ._talk import Talk, print_json

    data, values = _divided(what)
    estimator = read_model(model)
    if data is None:
        if rows:
            raise click.UsageError("--row needs DATA.")
        cases = [("the case", _given(estimator, values, reading))]
    else:
        cases = _found(estimator, data, values, rows, reading)
    options = {"immutable": list(immutable)} if immutable else {}
    explained = [(name, estimator.explain(case, **options)[0]) for name, case in cases]
    if as_json:
        print_json([{"row": name} | one.to_dict() for name, one in explained])
        return
    talk = Talk()
    for name, one in explained:
        if data is not None:
            talk.heading(name)
        talk.say(str(one))


def _divided(what: tuple[str, ...]) -> tuple[str | None, dict[str, str]]:
    """The table, where there is one, and the values by name."""
    pairs = [own.partition("=") for own in what if "=" in own]
    tables = [own for own in what if "=" not in own]
    if len(tables) > 1 or not what:
        raise click.UsageError("Give a table, or the values of a case as NAME=VALUE.")
    return (tables[0] if tables else None), {name: value for name, _, value in pairs}


def _given(estimator: Any, values: dict[str, str], reading: Reading) -> Any:
    """A case whose values are named."""
    from ..table import nearest_name
    from ._batches import one_row
    from ._features import Features

    fitted = estimator.fitted_
    names = [fitted.schema.name(i) for i in range(fitted.schema.n_features)]
    for name in values:
        if name not in names:
            raise ValueError(f"The model has no column {name!r}: {nearest_name(name, names)}")
    return Features(fitted, tuple(reading.means_missing)).read(one_row(dict.fromkeys(names, "") | values))


def _found(
    estimator: Any, data: str, values: dict[str, str], rows: tuple[int, ...], reading: Reading
) -> list[tuple[str, Any]]:
    """The rows of a table that are meant, with their names."""
    from ..table import nearest_name
    from ._batches import open_batches
    from ._features import Features

    found: list[tuple[str, Any]] = []
    n_rows = 0
    wanted = set(rows) if rows or values else {1}
    with open_batches(data, reading) as batches:
        features = Features(estimator.fitted_, tuple(reading.means_missing), batches.decimal)
        features.check(batches.names, data)
        for name in values:
            if name not in batches.names:
                raise ValueError(f"{data!r} has no column {name!r}: {nearest_name(name, batches.names)}")
        for part in batches.parts:
            found += [
                (f"Row {n_rows + i + 1:,}", features.read(part.slice(i, 1), n_rows + i + 1))
                for i in _matching(part, values, wanted, n_rows)
            ]
            n_rows += part.num_rows
            if len(found) > _MOST or (not values and len(found) == len(wanted)):
                break
    if len(found) > _MOST:
        raise ValueError(f"More than {_MOST} rows are meant: name the row with --row.")
    if values and not found:
        said = " and ".join(f"{name}={value}" for name, value in values.items())
        raise ValueError(f"No row of {data!r} has {said}.")
    if not values and len(found) < len(wanted):
        raise ValueError(f"{data!r} has {n_rows:,} rows: there is no row {max(wanted):,}.")
    return found


def _matching(part: Any, values: dict[str, str], wanted: set[int], before: int) -> list[int]:
    """The rows of a part that have all values, or one of the numbers."""
    positions = [i - 1 - before for i in sorted(wanted) if before < i <= before + part.num_rows]
    if not values:
        return positions
    columns = {name: part[name].to_pylist() for name in values}
    rows = positions if wanted else range(part.num_rows)
    return [i for i in rows if all(_same(columns[name][i], value) for name, value in values.items())]


def _same(value: Any, text: str) -> bool:
    if value is None or str(value).strip() == text.strip():
        return value is not None
    try:
        return float(value) == float(text)
    except (TypeError, ValueError):
        return False
