"""What the pages print is what their code prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.mark.parametrize("page", ["your_outcome.md", "your_table.md", "tree_space.md", "oblique.md"])
def test_the_example_of_a_page_prints_what_it_says(page, capsys):
    text = (DOCS / page).read_text(encoding="utf-8")
    code, output = re.findall(r"```(?:python)?\n(.*?)```", text, re.DOTALL)[:2]
    exec(compile(code, page, "exec"), {})
    assert capsys.readouterr().out == output
