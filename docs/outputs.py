"""Run the code of the pages, in order, and write below it what it prints: ``make outputs``.

A block of Python that prints something is followed by a block without a language, its output. The tests run the same
code and compare.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)
NEED_DATA = ("committee.md", "credit.md", "german_credit.md")  # they read the folder that BAYTREE_DATA names


@dataclass(frozen=True)
class Snippet:
    """A block of code and what the page says that it prints."""

    code: str
    output: str
    start: int
    end: int

    @property
    def text(self) -> str:
        """The block as it stands in a page."""
        below = f"\n```\n{self.output}```\n" if self.output else ""
        return f"```python\n{self.code}```\n{below}"


def pages() -> list[Path]:
    """The README and every page with code."""
    found = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in found if snippets(page.read_text("utf-8"))]


def snippets(text: str) -> list[Snippet]:
    """The blocks of a page, in order."""
    return [Snippet(match["code"], match["output"] or "", match.start(), match.end()) for match in BLOCK.finditer(text)]


def printed(code: str, names: dict[str, object]) -> str:
    """What a block prints; names are those that the blocks before it made."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "page", "exec"), names)  # noqa: S102 (the code of our own pages)
    return out.getvalue()


def renewed(text: str) -> str:
    """A page with the outputs that its code has now."""
    names: dict[str, object] = {}
    parts, last = [], 0
    for snippet in snippets(text):
        parts.append(text[last : snippet.start])
        parts.append(Snippet(snippet.code, printed(snippet.code, names), 0, 0).text)
        last = snippet.end
    return "".join([*parts, text[last:]])


def main(names: list[str]) -> None:
    """Renew the pages of these names, or all."""
    if os.environ.get("BAYTREE_DATA"):  # pages run elsewhere
        os.environ["BAYTREE_DATA"] = str(Path(os.environ["BAYTREE_DATA"]).resolve())
    for page in pages():
        if (names and page.name not in names) or (page.name in NEED_DATA and not os.environ.get("BAYTREE_DATA")):
            continue
        old = page.read_text("utf-8")
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            new = renewed(old)
        page.write_text(new, "utf-8")
        print(f"{page.name}: {'changed' if new != old else 'as it was'}")


if __name__ == "__main__":
    main(sys.argv[1:])
