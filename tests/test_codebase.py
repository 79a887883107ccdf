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


def cpp_functions(text):
    """Every function of a C++ file, from its first line to its closing brace: (first line, number of lines)."""
    # Without comments, directives, strings and characters, in which braces mean nothing.
    text = re.sub(r"""//[^\n]*|^ *#[^\n]*|"(\\.|[^"\\\n])*"|'(\\.|[^'\\])'""", "", text, flags=re.M)
    depth = body = start = 0  # body: the depth at which the function that we are in began; 0: none
    for match in re.finditer(r"[{};]", text):
        at, mark = match.start(), match.group()
        head = re.sub(r"^(template\s*<.*?>(?=\s*\w)|public:|private:|\s)+", "", text[start:at], flags=re.S)
        if mark == "{":
            depth += 1
            is_block = re.match(r"(namespace|class|struct|enum|concept)\b", head) or head.rstrip().endswith("=")
            if not body and "(" in head and not is_block:
                body, first = depth, text.count("\n", 0, at - len(head)) + 1
        elif mark == "}":
            if depth == body:
                yield first, text.count("\n", 0, at) + 2 - first
                body = 0
            depth -= 1
        if not body:
            start = at + 1


def test_the_functions_of_cpp_are_found():
    """The counter itself, on the forms that the code has."""
    text = """namespace a {
template <class T, class U>
struct Sum : Base {
  std::vector<int> start{0};
  explicit Sum(int n)
      : n_(n) {
    for (;;) { n_ += '{'; }
  }
 private:
  int n_ = 10'000;
};
constexpr int kTable[] = {f(1), 2};
template <class T>
concept Known = requires(T t) {
  { t.size() };
};
// void not_a_function() {
template <Outcome T>
auto f(T t) {
  auto g = [&](int x) { return x; };
  return g("}");
}
}  // namespace a
"""
    assert list(cpp_functions(text)) == [(5, 4), (19, 4)]


def test_no_function_of_cpp_has_50_lines():
    functions = [
        (path, *function)
        for path in (ROOT / "cpp").rglob("*.?pp")
        for function in cpp_functions(path.read_text("utf-8"))
    ]
    assert len(functions) > 400
    assert not [(str(path), first, n) for path, first, n in functions if n >= 50]


def test_the_core_is_free_of_python():
    core = list((ROOT / "cpp" / "core").rglob("*.?pp"))
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
