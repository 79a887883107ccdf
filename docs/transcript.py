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
        "Fit a tree. You only have to say which column to predict. `fit` tells you what it does with the others,\n"
        "and how good the tree is on rows it has not seen:",
        "baytree fit tumours.csv --target diagnosis -o model.json",
    ),
    Step(
        "Why does a patient get this answer, how sure is it, and what would change it?",
        "baytree explain model.json tumours.csv patient=P0011",
    ),
    Step(
        "Explain a case that is in no table. What you leave out counts as missing:",
        "baytree explain model.json 'worst radius=15' 'worst concave points=0.16' 'mean texture=19'",
    ),
    Step(
        "Predict other rows. Each comes back with its prediction; the table may be larger than memory:",
        "baytree predict model.json tumours.csv --carry patient | head -4",
    ),
    Step("Or score them in your database:", "baytree export model.json --to sql --table patients | cut -c -100"),
    Step(
        "A model was fitted to the first 300 patients, and again when more had come. What changed, and for whom?",
        "head -301 tumours.csv | baytree fit - --target diagnosis --folds 0 -o early.json > early.txt",
    ),
    Step("", "baytree compare early.json model.json tumours.csv --target diagnosis"),
    Step(
        "Write a page for the people who decide. It works offline, in print and on a phone:",
        "baytree report tumours.csv --target diagnosis --model model.json -o report.html",
    ),
    Step("Mistakes end in one sentence:", "baytree fit tumours.csv --target diagnose", 1),
)
HEAD = f"""\
# First model on the command line

<!-- written by `python docs/transcript.py`, which runs all of this -->

Install baytree with its command line, and take a table. This one comes with scikit-learn; your own CSV, TSV or Parquet
file will do as well.

    pip install 'baytree[cli]'

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
