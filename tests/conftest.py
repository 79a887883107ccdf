"""Settings and fixtures of all tests."""

from __future__ import annotations

import os
import sys

import pytest
from hypothesis import settings

from tests.browser import browser, open_page  # noqa: F401 - fixtures
from tests.databases import duckdb, in_postgres, put  # noqa: F401 - fixtures
from tests.fake_data import write_fakes
from tests.postgres import find_binaries, postgres_server
from tests.sql_engines import database  # noqa: F401 - a fixture

# A busy machine is no defect. Tests that need more examples than others say how many times as many: see `examples`.
settings.register_profile("quick", deadline=None, max_examples=40)
# What lands must not depend on luck: CI draws the same examples every time, local runs and `make fuzz` draw new ones.
settings.register_profile("thorough", deadline=None, max_examples=60, derandomize=True)
settings.load_profile("thorough" if os.environ.get("CI") else "quick")


def pytest_configure(config):
    # Weights are drawn of any size; test_weights.py tells which are warned of.
    config.addinivalue_line("filterwarnings", "ignore:sample_weight sums to:UserWarning")


@pytest.fixture(autouse=True)
def close_figures():
    """Figures that a test leaves open are none of the next one's."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def fake_sets(tmp_path):
    """A folder with tables of the sizes of some of the paper's sets."""
    folder = tmp_path / "data"
    folder.mkdir()
    write_fakes(folder)
    return folder


@pytest.fixture(scope="session")
def postgres():
    """How to connect to a PostgreSQL server that lives as long as the tests."""
    if find_binaries() is None and not os.environ.get("BAYTREE_NEEDS_POSTGRES"):
        pytest.skip("needs PostgreSQL: apt install postgresql")
    with postgres_server() as connection:
        yield connection
