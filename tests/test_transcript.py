"""The page of the first five minutes is what its commands print today."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "docs").exists(), reason="needs the repository, not only the package")
pytest.importorskip("click")


def shown(page):
    """Command -> what the page says it prints, without the lines of times, whose digits set the width of a column."""
    parts = re.findall(r"```text\n\$ (.*)\n((?:(?!```).*\n)*)```", page)
    return {
        command: re.sub(
            " {2,}",
            "  ",
            re.sub(r"(?m)^(scikit-learn's|Bayesian\w+ {2,}\d|with \w+ leaves|most frequent).*\n", "", text),
        )
        for command, text in parts
    }


def test_the_page_is_up_to_date(tmp_path):
    module = runpy.run_path(str(ROOT / "docs" / "transcript.py"))
    today = module["page"](module["run"](module["STEPS"], tmp_path))
    assert shown(module["PAGE"].read_text("utf-8")) == shown(today), "run `make transcript`"
    assert len(shown(today)) == len(module["STEPS"])
