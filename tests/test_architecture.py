"""What the shape of the code promises: results do not call back, packages are entered by their door."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "baytree"
pytestmark = pytest.mark.skipif(not SOURCE.exists(), reason="needs the repository, not only the package")


def modules():
    return list(SOURCE.rglob("*.py"))


def imports_of(path):
    """(package, module) of every import inside of baytree: ("tree", "_arrays") for ``from ..tree._arrays import x``."""
    depth = len(path.relative_to(SOURCE).parts)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.ImportFrom):
            continue
        name = node.module or ""
        if node.level == depth and name:
            package, _, module = name.partition(".")
            yield package, module
        elif name.startswith("baytree."):
            package, _, module = name.removeprefix("baytree.").partition(".")
            yield package, module


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_package_is_entered_by_its_door(path):
    package_of_file = path.relative_to(SOURCE).parts[0]
    assert not [(package, module) for package, module in imports_of(path) if module and package != package_of_file]


@pytest.mark.parametrize(
    "pattern",
    [r"\bmodel: Any\b", r'hasattr\([^)]*"classes_"', r"\bmodel\._[a-z]", r"getattr\([^)]*feature_names_in_"],
)
def test_results_do_not_call_back_into_estimators(pattern):
    outside = [path for path in modules() if path.relative_to(SOURCE).parts[0] != "estimators"]
    offending = [str(path) for path in outside if re.search(pattern, path.read_text("utf-8"))]
    assert not offending


def test_the_kinds_of_a_split_are_not_guessed_from_thresholds():
    guess = re.compile(r"is(nan|inf|finite|posinf)\([^)]*threshold")
    kept = {"persistence/_trees.py"}  # a file's arrays must be what their kind says
    guessing = [str(path.relative_to(SOURCE)) for path in modules() if guess.search(path.read_text("utf-8"))]
    assert set(guessing) <= kept, guessing


def test_old_words_are_gone():
    words = re.compile(r"\b(sprouts?|trivial partition|gaps_lower|level_goes_left|oblique_gap_value)\b")
    folders = ("src", "cpp", "docs", "tests")
    files = [
        path
        for folder in folders
        for pattern in ("*.py", "*.hpp", "*.cpp", "*.md", "*.js")
        for path in (SOURCE.parents[1] / folder).rglob(pattern)
        if path != Path(__file__)
    ]
    assert not [str(path) for path in files if words.search(path.read_text("utf-8"))]


def test_no_test_imports_another():
    """What several need is in conftest.py, strategies.py and other modules that hold no tests."""
    imports = re.compile(r"^\s*(from|import) .*\btest_\w+", re.MULTILINE)
    tests = Path(__file__).parent.rglob("*.py")
    assert not [str(path) for path in tests if imports.search(path.read_text("utf-8"))]


def test_predictions_come_from_rows_and_not_from_the_means_of_nodes():
    """The mean of a node is for leaf models, for what stores, grows and exports them, and for the report."""
    value = re.compile(r"\.value\[|\bleaves\.value\b|\btrees\.value\b")
    allowed = {"leaves", "tree", "growth", "fitted", "persistence", "export", "report"}
    reading = [path.relative_to(SOURCE) for path in modules() if value.search(path.read_text("utf-8"))]
    assert {path.parts[0] for path in reading} <= allowed, reading


def test_the_outcome_tells_whether_a_class_is_predicted():
    guess = re.compile(r"\b(fitted|fitted_|outcome)\.classes is (not )?None")
    assert not [str(path) for path in modules() if guess.search(path.read_text("utf-8"))]
