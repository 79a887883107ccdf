"""What the tree of files promises: sizes, layers, a stub and versions that are up to date."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import baytree

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "cpp").exists(), reason="needs the repository, not only the package")


def source_files():
    for folder in ("cpp", "src", "tests", "benchmarks", "examples", "docs"):
        for pattern in ("*.py", "*.hpp", "*.cpp"):
            yield from (ROOT / folder).rglob(pattern)


def test_no_file_has_more_than_600_lines():
    long = {str(path): n for path in source_files() if (n := len(path.read_text("utf-8").splitlines())) > 600}
    assert not long


def test_the_core_is_free_of_python():
    core = list((ROOT / "cpp" / "core").rglob("*.hpp"))
    for path in core:
        assert not re.search(r"#include.*(nanobind|Python\.h|pybind)", path.read_text("utf-8")), path


def test_the_stub_of_the_compiled_module_is_up_to_date(tmp_path):
    fresh = tmp_path / "_core.pyi"
    subprocess.run(
        [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "baytree._core", "-o", str(fresh)], check=True
    )
    ruff = [sys.executable, "-m", "ruff"]
    configuration = ["--config", str(ROOT / "pyproject.toml")]
    subprocess.run([*ruff, "check", "--fix-only", "-q", *configuration, str(fresh)], check=True)
    subprocess.run([*ruff, "format", "-q", *configuration, str(fresh)], check=True)
    checked_in = (ROOT / "src" / "baytree" / "_core.pyi").read_text("utf-8")
    assert fresh.read_text("utf-8") == checked_in, "run `make stub`"


def test_the_version_is_the_same_everywhere():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert baytree.__version__ == project["version"]
    assert f"version: {project['version']}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"## {project['version']} " in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_everything_public_is_exported_and_documented():
    for name in baytree.__all__:
        assert getattr(baytree, name).__doc__
