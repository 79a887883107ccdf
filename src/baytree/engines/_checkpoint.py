"""Checkpoints: the results of finished passes over the rows, in a folder, from which an interrupted fit goes on.

A fit follows from the results of its passes alone. So each result is stored when its pass is finished, by a name that
follows from what the pass was asked for, and a later fit takes the stored result instead of making the pass again.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._validation import short_repr
from ..growth import ClassHistograms, DrawSize, EncodedRows, Histograms, KeyedRows, Sums
from ..persistence import open_output, write_text

_FORMAT = 1
_NO_PARAMETERS = ("n_jobs", "verbose")  # which change no result
_DOCUMENT, _DESCRIPTION = "fit.json", "columns.json"
_ARRAYS: dict[str, tuple[type, tuple[str, ...]]] = {
    "numbers": (Histograms, ("rows", "sums", "low", "high")),
    "classes": (ClassHistograms, ("weights", "rows")),
    "keyed": (KeyedRows, ("codes", "numbers", "weight", "keys")),
    "rows": (EncodedRows, ("codes", "numbers", "weight")),
}


@dataclass
class Checkpoint:
    """The folder of a checkpoint."""

    folder: Path
    fit: dict[str, Any]  # what is fitted, and with which parameters

    @classmethod
    def open(cls, folder: Any, model: BaseEstimator, arguments: dict[str, Any]) -> Checkpoint:
        """Open a folder, or make it; one of another fit is refused."""
        checkpoint = cls(Path(folder), _as_json(_facts_of(model, arguments)))
        path = checkpoint.folder / _DOCUMENT
        if path.exists():
            checkpoint._refuse_other(_read_json(path))
            return checkpoint
        if checkpoint.folder.exists() and any(checkpoint.folder.iterdir()):
            raise ValueError(f"The folder {str(folder)!r} is not empty and holds no checkpoint: give one of its own.")
        checkpoint.folder.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(checkpoint.fit))
        return checkpoint

    def _refuse_other(self, stored: Any) -> None:
        if not isinstance(stored, dict) or stored.get("format") != _FORMAT:
            raise ValueError(f"{str(self.folder / _DOCUMENT)!r} is no checkpoint of this version: give another folder.")
        for name in [*self.fit, *sorted(stored.keys() - self.fit.keys())]:
            one, other = stored.get(name), self.fit.get(name)
            if one != other:
                raise ValueError(
                    f"The checkpoint in {str(self.folder)!r} is that of another fit, with {name}={short_repr(one)} "
                    f"instead of {short_repr(other)}: give another folder, or remove it."
                )

    def description(self) -> dict[str, dict[Any, Any]] | None:
        """What `describe` found, if it was stored."""
        path = self.folder / _DESCRIPTION
        return _read_json(path) if path.exists() else None

    def store_description(self, described: dict[str, dict[Any, Any]]) -> None:
        """Store what `describe` found."""
        write_text(self.folder / _DESCRIPTION, json.dumps(described))

    def check_source(self, totals: list[float]) -> None:
        """Refuse another table than that of the stored passes, by the sums of its rows."""
        digest = hashlib.sha256(repr(totals).encode()).hexdigest()
        path = self.folder / "source.json"
        if not path.exists():
            write_text(path, json.dumps(digest))
        elif _read_json(path) != digest:
            raise ValueError(
                f"The checkpoint in {str(self.folder)!r} is that of another table, or its rows have changed: give "
                "another folder, or remove it."
            )

    def stored(self, name: str) -> Any:
        """The result of a pass; None if it is not stored."""
        path = self.folder / f"pass-{name}.npz"
        return _read_result(path) if path.exists() else None

    def store(self, name: str, result: Any) -> None:
        """Store the result of a pass; a file takes its place once it is written."""
        arrays: dict[str, Any] = {}
        meta = _flatten(result, arrays)
        content = io.BytesIO()
        np.savez(content, meta=np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8), **arrays)
        with open_output(self.folder / f"pass-{name}.npz") as file:
            file.write(content.getbuffer())

    def remove(self) -> None:
        """Remove what was stored, since the fit is finished."""
        for path in [*self.folder.glob("pass-*.npz"), *self.folder.glob("*.json")]:
            path.unlink()
        if not any(self.folder.iterdir()):
            self.folder.rmdir()


def _facts_of(model: BaseEstimator, arguments: dict[str, Any]) -> dict[str, Any]:
    parameters = {name: value for name, value in model.get_params(deep=False).items() if name not in _NO_PARAMETERS}
    if "random_state" in parameters and not isinstance(parameters["random_state"], (int, np.integer)):
        raise ValueError(
            "A forest with a checkpoint needs a number as random_state, so that it goes on with the same trees; got "
            f"{short_repr(parameters['random_state'])}."
        )
    return {"format": _FORMAT, "version": version("baytree"), "model": type(model).__name__} | parameters | arguments


def _as_json(value: Any) -> Any:
    """A value as it comes back from JSON; what JSON does not know, as text."""

    def default(other: Any) -> Any:
        return other.tolist() if hasattr(other, "tolist") else repr(other)

    return json.loads(json.dumps(value, default=default, skipkeys=False))


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(f"The checkpoint file {str(path)!r} is damaged: remove its folder.") from None


def _flatten(result: Any, arrays: dict[str, Any]) -> Any:
    """A result as JSON; its arrays go to `arrays`, whose names the JSON has."""
    for kind, (of_type, names) in _ARRAYS.items():
        if type(result) is of_type:
            fields = {}
            for name in names:
                value = getattr(result, name)
                if value is not None:
                    fields[name] = f"a{len(arrays)}"
                    arrays[fields[name]] = value
            return {kind: fields}
    if isinstance(result, DrawSize):
        return {"size": list(result)}
    if isinstance(result, Sums):
        return {"sums": [str(number) for number in result]}
    if isinstance(result, list):
        return {"list": [_flatten(one, arrays) for one in result]}
    if isinstance(result, int):
        return {"int": str(result)}
    raise TypeError(f"A checkpoint does not store {type(result).__name__}.")


def _restore(meta: dict[str, Any], arrays: Any) -> Any:
    ((kind, value),) = meta.items()
    if kind in _ARRAYS:
        of_type, names = _ARRAYS[kind]
        return of_type(**{name: arrays[value[name]] if name in value else None for name in names})
    if kind == "size":
        return DrawSize(*value)
    if kind == "sums":
        return Sums(int(number) for number in value)
    if kind == "list":
        return [_restore(one, arrays) for one in value]
    return int(value)


def _read_result(path: Path) -> Any:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return _restore(json.loads(arrays["meta"].tobytes()), arrays)
    except (ValueError, KeyError, OSError, TypeError):
        raise ValueError(f"The checkpoint file {str(path)!r} is damaged: remove its folder.") from None
