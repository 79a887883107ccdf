"""Model files: a JSON document or, where the model is large, a zip archive of one and its arrays."""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
from pathlib import Path
from typing import Any

from ..fitted import Fitted
from ._document import document_of
from ._error import ModelFileError
from ._output import write_bytes
from ._proof import prove_readable

_MOST_VALUES_AS_TEXT = 2**14
_DOCUMENT = "model.json"
# What zipfile and json raise where bytes are not what they should be.
_ERRORS = (
    EOFError,
    LookupError,
    NotImplementedError,
    OSError,
    RecursionError,
    RuntimeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
)


def write_model(estimator: str, parameters: dict[str, Any], fitted: Fitted, path: str | Path) -> None:
    """Write a fitted estimator, given by the name of its class, its parameters and its `fitted_`.

    A large one becomes a zip archive of the document and the arrays. The same model gives the same bytes. They are read
    back before they replace an older file.
    """
    content = _content_of(estimator, parameters, fitted)
    prove_readable(*read_content(content, str(path)), estimator, parameters, fitted)
    write_bytes(path, content)


def _content_of(estimator: str, parameters: dict[str, Any], fitted: Fitted) -> bytes:
    beside: dict[str, bytes] = {}
    document = document_of(estimator, parameters, fitted, beside)
    arrays = [array for store in document["stores"].values() for array in store.values()]
    if "out_of_bag" in document:
        arrays.append(document["out_of_bag"]["mean"])
    if sum(math.prod(array["shape"]) for array in arrays) <= _MOST_VALUES_AS_TEXT:
        return json.dumps(document_of(estimator, parameters, fitted), allow_nan=False).encode()
    return _archive({_DOCUMENT: json.dumps(document, allow_nan=False).encode(), **beside})


def _archive(members: dict[str, bytes]) -> bytes:
    """A zip archive, not compressed: what compression writes depends on its version."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member)
    return content.getvalue()


def read_file(path: str | Path) -> tuple[Any, dict[str, bytes]]:
    """Read the document in a model file, and what is beside it."""
    return read_content(Path(path).read_bytes(), str(path))


def read_content(content: bytes, name: str) -> tuple[Any, dict[str, bytes]]:
    """Read the document in the content of a model file, and what is beside it; `name` is for errors."""
    try:
        beside = _members(content) if content.startswith(b"PK") else {_DOCUMENT: content}
        return json.loads(beside.pop(_DOCUMENT).decode()), beside
    except _ERRORS as error:
        raise ModelFileError(
            f"{name!r} is not a baytree model: it is neither a JSON file nor an archive of one ({error})."
        ) from None


def _members(content: bytes) -> dict[str, bytes]:
    """The members of an archive that `_archive` wrote; others are refused, so that nothing exceeds the file's size."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        if any(entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1 for entry in entries):
            raise ValueError("its members are compressed or encrypted")
        if sum(entry.file_size for entry in entries) > len(content) or len({*archive.namelist()}) < len(entries):
            raise ValueError("its members overlap")
        return {entry.filename: archive.read(entry) for entry in entries}
