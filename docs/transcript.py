"""Write docs/first_model_command_line.md by running what it shows: ``python docs/transcript.py``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).with_name("first_model_command_line.md")
TABLE = """\
from sklearn.datasets import load_breast_cancer

table = load_breast_cancer(as_frame=True).frame
table["diagnosis"] = table.pop("target").map({0: "malignant", 1: "benign"})
table.insert(0, "patient", [f"P{i:04d}" for i in range(1, 570)])
table.to_csv("tumours.csv", index=False)
"""


@dataclass(frozen=True)
class Step:
    """A command, what is said before it, and the exit code that it must have."""

    text: str
    command: str
    code: int = 0


STEPS = (
    Step(
        "Fit a tree. Name the column to predict; `fit` reports how it uses the other columns and how good the tree\n"
        "is on held-out rows:",
        "baytree fit tumours.csv --target diagnosis -o model.json",
    ),
    Step(
        "Explain a prediction: reasons, the interval of its probability, and changes that would lead to another class:",
        "baytree explain model.json tumours.csv patient=P0011",
    ),
    Step(
        "Explain a case that is not in a table. Columns that you leave out are treated as missing:",
        "baytree explain model.json 'worst radius=15' 'worst concave points=0.16' 'mean texture=19'",
    ),
    Step(
        "Predict other rows. The table may be larger than memory:",
        "baytree predict model.json tumours.csv --carry patient | head -4",
    ),
    Step("Or score rows in your database:", "baytree export model.json --to sql --table patients | cut -c -100"),
    Step(
        "Suppose a model was fitted to the first 300 patients, and again to all of them. Compare the two:",
        "head -301 tumours.csv | baytree fit - --target diagnosis --folds 0 -o early.json > early.txt",
    ),
    Step("", "baytree compare early.json model.json tumours.csv --target diagnosis"),
    Step(
        "Write an HTML report. It works offline, in print and on a phone:",
        "baytree report tumours.csv --target diagnosis --model model.json -o report.html",
    ),
    Step("Errors are reported in one sentence:", "baytree fit tumours.csv --target diagnose", 1),
)
HEAD = f"""\
# First model on the command line

<!-- written by `python docs/transcript.py`, which runs all of this -->

Install baytree with its command line, and write a table to a file. This table comes with scikit-learn; you can use your
own CSV, TSV or Parquet file instead.

    pip install '.[cli]'

```python
{TABLE}```
"""
TAIL = """\
More: [the command line](command_line.md).
"""


def run(steps: tuple[Step, ...], folder: Path) -> list[str]:
    """What the steps print, one after the other in a folder that has the table."""
    (folder / "bin").mkdir()
    command = folder / "bin" / "baytree"
    command.write_text(f"#!{sys.executable}\nimport sys\nfrom baytree.cli import main\n\nsys.exit(main())\n")
    command.chmod(0o755)
    source = Path(__file__).parents[1] / "src"
    environment = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "SOURCE_DATE_EPOCH": "0"}
    if list((source / "baytree").glob("_core.*.so")):
        environment["PYTHONPATH"] = str(source)
    subprocess.run([sys.executable, "-c", TABLE], cwd=folder, check=True)  # noqa: S603
    printed = []
    for step in steps:
        done = subprocess.run(  # noqa: S602
            step.command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode != step.code:
            sys.exit(f"{step.command} ended with {done.returncode}: {done.stderr}")
        printed.append((done.stdout + done.stderr).strip("\n"))
    return printed


def page(printed: list[str]) -> str:
    """The page, with what the steps printed."""
    parts = [HEAD]
    for step, output in zip(STEPS, printed, strict=True):
        body = f"$ {step.command}\n{output}".rstrip()
        parts.append("\n".join([*([step.text, ""] if step.text else []), "```text", body, "```", ""]))
    return "\n".join([*parts, TAIL])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        PAGE.write_text(page(run(STEPS, Path(scratch))), encoding="utf-8")
