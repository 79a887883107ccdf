"""What the pages print is what their code prints."""

from __future__ import annotations

import importlib.util
import os
import re
import tomllib
from pathlib import Path

import matplotlib as mpl
import pytest

from docs import outputs

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("page", outputs.pages(), ids=lambda page: page.name)
def test_the_code_of_a_page_runs_in_order_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    if page.name in outputs.NEED_DATA and not os.environ.get("BAYTREE_DATA"):
        pytest.skip("needs BAYTREE_DATA")
    if "BAYTREE_DATA" in os.environ:  # which may name a folder beside this one
        monkeypatch.setenv("BAYTREE_DATA", str(Path(os.environ["BAYTREE_DATA"]).resolve()))
    monkeypatch.chdir(tmp_path)  # some write files
    names = {}
    with mpl.rc_context({"backend": "agg"}):
        for snippet in outputs.snippets(page.read_text("utf-8")):
            assert outputs.printed(snippet.code, names) == snippet.output


def test_code_and_output_are_told_apart():
    text = "a\n```python\nprint(1)\n```\n\n```\n1\n```\nb\n```python\nx = 2\n```\n\nc\n```\nno output\n```\n"
    assert [(s.code, s.output) for s in outputs.snippets(text)] == [("print(1)\n", "1\n"), ("x = 2\n", "")]
    assert outputs.renewed(text) == text
    assert outputs.renewed(text.replace("print(1)", "print(3)")) == text.replace("1", "3")


def text_of(page):
    """A page without its code."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name
)
def test_every_link_leads_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", text_of(page)):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))], ids=lambda page: page.name
)
def test_commands_and_extras_exist(page):
    text = page.read_text("utf-8")
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    assert set(re.findall(r"(?:^ *|`|\()make ([a-z][\w-]*)", text, re.M)) <= targets
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    named = {
        extra for names in re.findall(r"pip install '(?:baytree|\.)\[([\w,]+)\]'", text) for extra in names.split(",")
    }
    assert named <= set(extras)
    for module in re.findall(r"python -m (benchmarks\.\w+)", text):
        assert importlib.util.find_spec(module)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) < 120
