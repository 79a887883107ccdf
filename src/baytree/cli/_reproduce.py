"""``baytree reproduce``: the paper's tables and figures."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from ._options import debug_option
from ._state import State

PARTS = ("paper", "beyond", "regression", "figures")
SETS = ("heart", "credit", "haberman", "seismic", "ripley", "gamma", "diabetic", "eeg")


class _Names(click.ParamType):  # type: ignore[type-arg]
    """Some of the known names, separated by commas."""

    name = "names"

    def __init__(self, known: Sequence[str]) -> None:
        self._known = known

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        chosen = tuple(own.strip() for own in value.split(","))
        for own in chosen:
            if own not in self._known:
                self.fail(f"{own!r} is not one of {', '.join(self._known)}.", param, ctx)
        return chosen


@click.command(short_help="Run the comparisons of the paper.")
@click.option("--data", envvar="BAYTREE_DATA", help="Folder of CSV files (or BAYTREE_DATA); else OpenML is asked.")
@click.option("-o", "--out", required=True, help="Folder for the pages and the finished runs.")
@click.option("--only", type=_Names(PARTS), default=",".join(PARTS), help=f"Some of {','.join(PARTS)}.")
@click.option("--sets", type=_Names(SETS), default=",".join(SETS), help=f"Some of {','.join(SETS)}.")
@click.option("--repeats", default=1, show_default=True, help="Shufflings of the folds.")
@click.option("--ebm", is_flag=True, help="Compare the explainable boosting machine too; it is slow.")
@debug_option
@click.pass_obj
def reproduce(
    state: State, data: str | None, out: str, only: tuple[str, ...], sets: tuple[str, ...], repeats: int, ebm: bool
) -> None:
    """Run the paper's comparisons and write report.md and report.html. A stopped run goes on."""
    from .. import reproduce as comparisons

    state.when_stopped = "Called again with the same --out, the command goes on from here."
    sys.stdout.write(f"{comparisons.reproduce(data, out, parts=only, repeats=repeats, sets=sets, ebm=ebm)}\n")
