"""The command line: ``baytree --help``.

Commands import what they need when they run, so that help and completion answer at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.util import find_spec

_NEEDED = ("click", "pyarrow", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code is 0, or 1 (bad input), 2 (bad usage), 130 (Ctrl-C), 141 (nobody reads on)."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(f"The command line needs {', '.join(missing)}: pip install 'baytree[cli]'.\n")
        return 1
    from ._run import run

    return run(sys.argv[1:] if arguments is None else list(arguments))
