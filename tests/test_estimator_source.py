"""The estimators' source: one order of parameters, every one described in every class, from one place."""

from __future__ import annotations

import inspect
import itertools
from pathlib import Path

import pytest

import baytree
from baytree.estimators import ESTIMATORS

tools = pytest.importorskip("tools.estimator_source", reason="needs the repository, not only the package")


def test_the_source_holds_what_is_kept_in_one_place():
    assert tools.outdated() == [], "run python -m tools.estimator_source"


def test_parameters_have_one_order():
    orders = [list(inspect.signature(kind).parameters) for kind in ESTIMATORS.values()]
    for one, other in itertools.combinations(orders, 2):
        assert [name for name in one if name in other] == [name for name in other if name in one]


@pytest.mark.parametrize("kind", ESTIMATORS.values(), ids=lambda kind: kind.__name__)
def test_every_parameter_is_described(kind):
    text = inspect.getdoc(kind)
    section = text[text.index("Parameters\n") : text.index("Attributes\n")]
    for name in inspect.signature(kind).parameters:
        assert f"\n{name}\n    " in section, name


def test_no_help_sends_the_reader_elsewhere():
    folder = Path(inspect.getfile(baytree)).parent / "estimators"
    for path in folder.glob("_*or.py"), folder.glob("_*ier.py"):
        for file in path:
            assert "As in" not in file.read_text("utf-8"), file.name
