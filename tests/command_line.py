"""The command line as users run it, in this process and in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd

# A shell that runs the tests in the background would have the process ignore Ctrl-C.
_RUN = """
import signal, sys
from baytree.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""


def start(*arguments, **options):
    """A process that runs a command."""
    source = Path(__file__).parents[1] / "src"
    environment = {"PYTHONPATH": str(source)} if "baytree" in sys.modules and _is_source(source) else {}
    return subprocess.Popen(
        [sys.executable, "-c", _RUN, *map(str, arguments)],
        env={**os.environ, **environment, **options.pop("env", {})},
        stderr=subprocess.PIPE,
        **options,
    )


def _is_source(source):
    """Whether the package that is tested is the one beside the tests, not an installed one."""
    return Path(sys.modules["baytree"].__file__).is_relative_to(source)


def customers(n=300, seed=0):
    """A table with all that a first table may hold: an id, a date, text, missing values, a column that never varies."""
    random = np.random.default_rng(seed)
    income = random.lognormal(10, 0.5, n).round(2)
    region = random.choice(["north", "south", "east"], n)
    member = random.random(n) < 0.4
    score = 3 * (income > 22_000) + 2 * (region == "north") - 2 * member
    table = pd.DataFrame(
        {
            "customer": [f"C{i:05d}" for i in random.permutation(n)],
            "joined": pd.date_range("2020-01-01", periods=n).astype(str),
            "income": np.where(random.random(n) < 0.1, np.nan, income),
            "region": region,
            "member": member,
            "country": "DE",
            "bought": np.where(score + random.normal(0, 1, n) > 1.5, "yes", "no"),
        }
    )
    table["spent"] = (score * 100 + random.normal(0, 20, n)).round(2)
    return table
