"""Files: written beside and moved into place, so that a failure leaves what was there."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

from ..fitted import Fitted
from ._document import document_of


def write_text(path: str | Path, text: str) -> Path:
    """Write a text file; where that fails, a file of the same name stays as it was."""
    path = Path(path)
    handle, beside = tempfile.mkstemp(prefix=f".{path.name[:100]}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        Path(beside).chmod(path.stat().st_mode if path.exists() else 0o666 & ~_umask())
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise
    return path


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_model(estimator: str, parameters: dict[str, Any], fitted: Fitted, path: str | Path) -> None:
    """Write a fitted estimator, given by the name of its class, its parameters and what it found."""
    write_text(path, json.dumps(document_of(estimator, parameters, fitted), allow_nan=False))


def read_file(path: str | Path) -> Any:
    """Read the document in a model file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{str(path)!r} is not a baytree model: it is not a JSON file ({error}).") from None
