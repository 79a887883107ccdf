"""What does importing baytree add to importing scikit-learn's trees? ``python -m benchmarks.imports``.

Processor time of fresh processes, the best of several; byte code is there, as in an installed package.
"""

from __future__ import annotations

import os
import subprocess
import sys

_PROGRAM = """
import time
start = time.process_time()
import sklearn.tree
middle = time.process_time()
{statement}
print(middle - start, time.process_time() - middle)
"""
STATEMENTS = ("import baytree", "from baytree import BayesianTreeClassifier", "import baytree.cli")


def seconds(statement: str, repeats: int = 7) -> tuple[float, float]:
    """Best times of importing scikit-learn's trees, and of a statement after that."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", _PROGRAM.format(statement=statement)]
    runs = [
        subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
        for _ in range(repeats + 1)  # the first writes byte code
    ]
    times = [tuple(map(float, run.split())) for run in runs[1:]]
    return min(time[0] for time in times), min(time[1] for time in times)


def main() -> None:
    """Print a line for each statement."""
    for statement in STATEMENTS:
        theirs, ours = seconds(statement)
        promise = "at most 150 ms" if "from" in statement else ""
        print(f"{statement:46s} {1e3 * ours:6.0f} ms after {1e3 * theirs:.0f} ms for sklearn.tree   {promise}")


if __name__ == "__main__":
    main()
