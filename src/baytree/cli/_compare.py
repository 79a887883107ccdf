"""``baytree compare``: what changed between two models."""

from __future__ import annotations

from typing import Any

import click

from ._options import debug_option, json_option, reading_options
from ._sniff import Reading


@click.command(short_help="Say what changed between two models.")
@click.argument("before", type=click.Path(path_type=str))
@click.argument("after", type=click.Path(path_type=str))
@click.argument("data", type=click.Path(path_type=str), required=False)
@click.option("--target", metavar="COLUMN", help="The column of DATA that is predicted: tells which model is right.")
@reading_options
@json_option
@debug_option
def compare(before: str, after: str, data: str | None, target: str | None, reading: Reading, as_json: bool) -> None:
    """Say what changed between two models: settings, columns, splits, leaves and, on DATA, predictions."""
    from ._difference import model_differences
    from ._models import read_model
    from ._talk import Talk, print_json

    if target is not None and data is None:
        raise click.UsageError("--target needs DATA.")
    first, second = read_model(before), read_model(after)
    if (first.fitted_.classes is None) != (second.fitted_.classes is None):
        raise ValueError(f"One of {before!r} and {after!r} predicts classes, the other numbers: nothing to compare.")
    found = model_differences(first, second)
    rows = None if data is None else _on_rows(first, second, data, target, reading)
    if as_json:
        print_json({"models": found.to_dict(), "rows": None if rows is None else rows.to_dict()})
        return
    talk = Talk()
    talk.heading(f"{before} and {after}")
    found.tell(talk)
    if rows is not None:
        talk.heading(f"On the rows of {'standard input' if data == '-' else data}")
        rows.tell(talk)


def _on_rows(first: Any, second: Any, data: str, target: str | None, reading: Reading) -> Any:
    from ..table import nearest_name
    from ._batches import open_batches
    from ._features import Features
    from ._row_difference import RowDifferences

    with open_batches(data, reading) as batches:
        both = [Features(own.fitted_, tuple(reading.means_missing), batches.decimal) for own in (first, second)]
        for features in both:
            features.check(batches.names, data)
        if target is not None and target not in batches.names:
            raise ValueError(f"{data!r} has no column {target!r}: {nearest_name(target, batches.names)}")
        found = RowDifferences(first, second, has_target=target is not None)
        for part in batches.parts:
            start = found.n_rows + 1
            y = None if target is None else part[target].to_pylist()
            found.add(both[0].read(part, start), both[1].read(part, start), y)
    return found
