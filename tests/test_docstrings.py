"""Everything public is described: what it takes, what it returns, and an example that runs with the doctests."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from pathlib import Path

import pytest

import baytree

MODULES = (
    "baytree",
    "baytree.edit",
    "baytree.engines",
    "baytree.export",
    "baytree.metrics",
    "baytree.plot",
    "baytree.report",
)
ESTIMATORS = [value for name in baytree.__all__ if hasattr(value := getattr(baytree, name), "fit")]
# Results that users hold in their hands, and the options of an outcome: documented by name.
RESULTS = (
    "baytree.decision.Decision",
    "baytree.evaluation.ComparedFigure",
    "baytree.evaluation.Comparison",
    "baytree.evaluation.SwapSet",
    "baytree.explain.Alternative",
    "baytree.explain.Alternatives",
    "baytree.explain.Change",
    "baytree.explain.Contribution",
    "baytree.explain.Counterfactual",
    "baytree.explain.Explanation",
    "baytree.explain.Step",
    "baytree.figures.Figure",
    "baytree.fitted.DecisionChange",
    "baytree.fitted.Edit",
    "baytree.fitted.Fitted",
    "baytree.fitted.FittedOn",
    "baytree.outcomes.Calibration",
    "baytree.outcomes.ForestCalibration",
    "baytree.fitted.SplitStability",
    "baytree.fitted.Stability",
    "baytree.leaves.ConstantLeaves",
    "baytree.metrics.Band",
    "baytree.metrics.Bands",
    "baytree.metrics.GroupImpact",
    "baytree.mixtures.Mixture",
    "baytree.outcomes.NegativeBinomial",
    "baytree.tree.CategorySet",
    "baytree.tree.Evidence",
    "baytree.tree.Hyperplane",
    "baytree.tree.PresentMissing",
    "baytree.tree.Threshold",
    "baytree.tree.TreeStore",
)


def find(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def in_modules():
    """Every public function and class by its path."""
    for module in MODULES:
        for name in importlib.import_module(module).__all__:
            if callable(find(f"{module}.{name}")):
                yield f"{module}.{name}"


def members():
    """Every public method and property of the estimators that is ours, once."""
    for estimator in ESTIMATORS:
        for name in dir(estimator):
            member = inspect.getattr_static(estimator, name)
            function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
            if not name.startswith("_") and getattr(function, "__module__", "").startswith("baytree."):
                yield f"{function.__module__}:{function.__qualname__}", function


MEMBERS = dict(members())
PROPERTIES = {
    member.fget
    for estimator in ESTIMATORS
    for member in (inspect.getattr_static(estimator, name) for name in dir(estimator))
    if isinstance(member, property)
}
FUNCTIONS = {path: find(path) for path in in_modules() if not inspect.isclass(find(path))} | MEMBERS
CLASSES = {path: find(path) for path in (*in_modules(), *RESULTS) if inspect.isclass(find(path))}


def described(doc):
    """The names that stand in the sections on parameters and attributes."""
    names = set()
    for section in re.findall(r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", doc, re.M | re.S):
        for line in re.findall(r"^(\*{0,2}\w.*)$", section, re.M):
            names |= {name.strip().lstrip("*") for name in line.split(",")}
    return names


def parameters(function):
    function = getattr(function, "fn", function)  # of a method that not every estimator has
    return {name for name in inspect.signature(function).parameters if name not in ("self", "cls")}


@pytest.mark.parametrize("path", [*FUNCTIONS, *CLASSES])
def test_there_is_an_example_that_runs(path):
    doc = inspect.getdoc((FUNCTIONS | CLASSES)[path])
    assert doc
    assert "Examples\n--------\n" in doc
    assert ">>> " in doc


@pytest.mark.parametrize("path", FUNCTIONS)
def test_what_a_function_takes_and_returns_is_described_and_typed(path):
    function = FUNCTIONS[path]
    doc = inspect.getdoc(function)
    assert parameters(function) <= described(doc)
    annotations = function.__annotations__
    assert parameters(function) | {"return"} <= set(annotations)
    if annotations["return"] != "None" and function not in PROPERTIES:
        assert "Returns\n-------\n" in doc


@pytest.mark.parametrize("path", [path for path in CLASSES if not issubclass(CLASSES[path], (tuple, Exception))])
def test_what_a_class_holds_is_described(path):
    kind = CLASSES[path]
    names = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else parameters(kind)
    assert names <= described(inspect.getdoc(kind))


def test_the_reference_lists_everything_public():
    page = Path(__file__).parents[1] / "docs" / "api.md"
    listed = set(re.findall(r"^ {2,}(baytree[\w.]+)$", page.read_text("utf-8"), re.M))
    assert listed == {*in_modules(), *RESULTS}
