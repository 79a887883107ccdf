"""The commands, as ``baytree --help`` lists them."""

from __future__ import annotations

from importlib.metadata import version

import click

from ._compare import compare
from ._completion import completion
from ._explain import explain
from ._export import export
from ._fit import fit
from ._predict import predict
from ._report import report
from ._show import show


class _InOrder(click.Group):
    """Lists its commands in the order in which they are used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click calls it
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(version("baytree"), message="baytree %(version)s")
def commands() -> None:
    """Bayesian decision trees: fit one to a table, read it, use it.

    Start with:  baytree fit data.csv --target COLUMN
    """


for _command in (fit, predict, explain, show, report, export, compare, completion):
    commands.add_command(_command)
