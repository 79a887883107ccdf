"""What the pages print is what their code prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def examples(page):
    """Code with the output that follows it, in order."""
    return re.findall(r"```python\n([^`]*)```\n\n```\n([^`]*)```", page.read_text(encoding="utf-8"))


def assert_prints(pairs, capsys):
    names = {}
    for code, output in pairs:
        exec(compile(code, "page", "exec"), names)
        assert capsys.readouterr().out == output


@pytest.mark.parametrize(
    "page",
    [
        "your_outcome.md",
        "your_table.md",
        "tree_space.md",
        "forest.md",
        "oblique.md",
        "explain.md",
        "model_files.md",
        "exports.md",
        "engines.md",
    ],
)
def test_the_examples_of_a_page_print_what_it_says(page, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    found = examples(ROOT / "docs" / page)
    assert found
    assert_prints(found, capsys)


def test_the_first_examples_of_the_readme_print_what_it_says(capsys):
    assert_prints(examples(ROOT / "README.md")[:2], capsys)
