"""``baytree completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import sys

import click

from ._options import debug_option


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@debug_option
def completion(shell: str) -> None:
    r"""Print the completion script of a SHELL.

    \b
    bash:  baytree completion bash >> ~/.bashrc
    zsh:   baytree completion zsh >> ~/.zshrc
    fish:  baytree completion fish > ~/.config/fish/completions/baytree.fish
    """
    from click.shell_completion import get_completion_class

    from ._commands import commands

    kind = get_completion_class(shell)
    if kind is None:
        raise ValueError(f"click cannot complete in {shell}.")
    sys.stdout.write(kind(commands, {}, "baytree", "_BAYTREE_COMPLETE").source() + "\n")
