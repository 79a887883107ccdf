"""Run the first example of the README and hold its output to what the README says: ``readme_example.py README.md``."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

_EXAMPLE = re.compile(r"```python\n([^`]*)```\n\n```(?:text)?\n([^`]*)```")


def main(path: str) -> None:
    """Run it; what it prints is printed."""
    example = _EXAMPLE.search(Path(path).read_text("utf-8"))
    if example is None:
        sys.exit(f"{path} has no example with its output.")
    code, expected = example.groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, path, "exec"), {})  # noqa: S102 - our own README
    print(printed.getvalue(), end="")
    if printed.getvalue() != expected:
        sys.exit(f"{path} says something else.")


if __name__ == "__main__":
    main(sys.argv[1])
