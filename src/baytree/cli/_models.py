"""The model that options describe, and model files."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from ._files import check_exists

MODELS = ("tree", "space", "forest")
PARTITIONS = ("axis", "oblique")


def make_model(kind: str, task: str, **options: Any) -> Any:
    """A model that is not fitted yet; options that are None are left to it."""
    from .. import estimators

    name = {"tree": "BayesianTree", "space": "TreeSpace", "forest": "BayesianForest"}[kind]
    suffix = "Classifier" if task == "classification" else "Regressor"
    given = {option: value for option, value in options.items() if value is not None}
    if kind == "forest":
        given["random_state"] = 0
    return getattr(estimators, name + suffix)(**given)


def read_model(path: str) -> Any:
    """A model from a file, or from standard input."""
    from ..estimators import from_document, load
    from ..persistence import read_content

    if path == "-":
        return from_document(*read_content(sys.stdin.buffer.read(), "standard input"))
    check_exists(path)
    return load(path)


def write_model(estimator: Any, out: str) -> None:
    """A model to a file, or to standard output."""
    if out != "-":
        check_folder(out)
        estimator.save(out)
        return
    with tempfile.TemporaryDirectory() as folder:
        estimator.save(Path(folder) / "model")
        sys.stdout.buffer.write((Path(folder) / "model").read_bytes())


def check_folder(out: str) -> None:
    """Refuse to write where there is no folder, before anything is worked out."""
    if not Path(out).parent.is_dir():
        raise ValueError(f"--out {out!r}: the folder {str(Path(out).parent)!r} does not exist.")
    if Path(out).is_dir():
        raise ValueError(f"--out {out!r} is a folder: give a file.")
