"""What `import baytree` brings in, and what it must not."""

from __future__ import annotations

import subprocess
import sys

import pytest

import baytree

# Heavy, or optional: imported by those who use them.
_OPTIONAL = {
    "click",
    "dask",
    "distributed",
    "duckdb",
    "ibis",
    "matplotlib",
    "onnx",
    "polars",
    "pyspark",
    "rich",
    "sqlglot",
}


def imported_by(code):
    """The modules that a fresh interpreter has after some code, beyond those of scikit-learn's trees."""
    program = f"import sys, sklearn.tree; before = set(sys.modules)\n{code}\nprint(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_the_package_alone_imports_nothing():
    assert {name for name in imported_by("import baytree") if "." in name} == set()


@pytest.mark.parametrize("name", ["BayesianTreeClassifier", "load"])
def test_estimators_import_nothing_heavy_and_nothing_optional(name):
    packages = {module.partition(".")[0] for module in imported_by(f"from baytree import {name}")}
    assert not packages & _OPTIONAL
    assert not {
        m for m in imported_by(f"from baytree import {name}") if m.startswith(("scipy.", "pandas.", "pyarrow."))
    }


def test_packages_are_there_when_they_are_used():
    assert callable(baytree.export.to_text)
    assert callable(baytree.report.write)
    assert {"export", "plot", "BayesianTreeClassifier", "__version__"} <= set(dir(baytree))
    with pytest.raises(AttributeError, match="has no attribute 'forrest'"):
        baytree.forrest  # noqa: B018
