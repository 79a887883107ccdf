"""Values as JSON: numbers, text, lists, dictionaries and arrays."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..outcomes import REGRESSION_OUTCOMES
from ..priors import PartitionPrior

# Classes of parameters that a file may name; each is plain data.
_RECORDS: dict[str, type] = {"PartitionPrior": PartitionPrior} | {
    family.options.__name__: family.options for family in REGRESSION_OUTCOMES.values() if family.options is not None
}
_MOST_TEXT = 2**28  # bytes of all text in arrays, which are as wide as their longest text
_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|U\d{1,9}|O)")


def encode(value: Any) -> Any:
    """A value as JSON holds it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, np.ndarray):
        return {"array": _encode_dtype(value), "shape": list(value.shape), "values": _encode_values(value)}
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    if isinstance(value, (list, tuple)):
        return {"list": [encode(item) for item in value]}
    if isinstance(value, (set, frozenset)):  # in one order, so that files are equal; it is read as a list
        return {"list": [encode(item) for item in sorted(value, key=lambda item: (isinstance(item, str), item))]}
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if is_dataclass(value) and not isinstance(value, type) and _RECORDS.get(type(value).__name__) is type(value):
        return {
            "record": type(value).__name__,
            "fields": {name: encode(entry) for name, entry in asdict(value).items()},
        }
    if hasattr(value, "__array__"):
        return encode(np.asarray(value))
    raise TypeError(f"A value of type {type(value).__name__} cannot be written to a model file.")


def encode_beside(array: AnyArray, name: str, beside: dict[str, bytes]) -> dict[str, Any]:
    """An array of numbers whose bytes are kept beside the document, under a name; the document has their checksum."""
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    beside[name] = little.tobytes()
    digest = hashlib.sha256(beside[name]).hexdigest()
    return {"array": little.dtype.str, "shape": list(array.shape), "beside": name, "sha256": digest}


def _encode_dtype(array: AnyArray) -> str:
    if array.dtype.kind == "U" and array.nbytes > _MOST_TEXT:
        raise ValueError("Texts of so different lengths cannot be written to a model file as one array.")
    if array.dtype.kind in "iufbUO":
        return array.dtype.str
    raise TypeError(f"An array of dtype {array.dtype} cannot be written to a model file.")


def _encode_values(array: AnyArray) -> list[Any]:
    flat = array.ravel().tolist()
    if array.dtype.kind == "f":
        return [x if math.isfinite(x) else repr(x) for x in flat]
    return [encode(x) for x in flat] if array.dtype.kind == "O" else flat


class Decoder:
    """Reads what `encode` and `encode_beside` wrote, one document at a time."""

    def __init__(self, beside: Mapping[str, bytes] | None = None) -> None:
        self.beside = beside or {}
        self.text_left = _MOST_TEXT

    def decode(self, value: Any) -> Any:
        """One value."""
        if not isinstance(value, dict):
            return value
        if "beside" in value:
            return self._array_beside(value["array"], value["shape"], value["beside"], value["sha256"])
        if "array" in value:
            return self._array(value["array"], value["shape"], value["values"])
        if "float" in value:
            return float(value["float"])
        if "list" in value:
            return [self.decode(item) for item in value["list"]]
        if "dict" in value:
            return {self.decode(key): self.decode(item) for key, item in value["dict"]}
        if "record" in value:
            return _RECORDS[value["record"]](**self.decode_all(value["fields"]))
        raise ValueError("an unknown kind of value")

    def decode_all(self, values: dict[str, Any]) -> dict[str, Any]:
        """Every value of a dictionary."""
        return {name: self.decode(value) for name, value in values.items()}

    def _array(self, name: Any, shape: Any, values: Any) -> AnyArray:
        dtype, size = _dtype_and_size(name, shape)
        if not isinstance(values, list) or size != len(values):
            raise ValueError("an array whose values do not fill its shape")
        if dtype.kind == "f":
            values = [float(x) for x in values]
        elif dtype.kind == "O":
            values = [self.decode(x) for x in values]
        elif dtype.kind == "U":
            self._check_text(dtype, values)
        elif not all(type(x) is (bool if dtype.kind == "b" else int) for x in values):
            raise ValueError("an array of whole numbers or truth values holds something else")
        result = np.empty(len(values), dtype=dtype)
        result[:] = values
        return result.reshape(shape)

    def _check_text(self, dtype: np.dtype[Any], values: list[Any]) -> None:
        """Refuse text that would take far more memory than the file."""
        if not all(isinstance(x, str) for x in values):
            raise ValueError("an array of text holds something else")
        self.text_left -= dtype.itemsize * len(values)
        if dtype.itemsize > 4 * max(map(len, values), default=0) + 4 or self.text_left < 0:
            raise ValueError("an array of text is wider than its text")

    def _array_beside(self, dtype_name: Any, shape: Any, name: Any, digest: Any) -> AnyArray:
        dtype, size = _dtype_and_size(dtype_name, shape)
        content = self.beside[name]
        if dtype.kind not in "biuf" or len(content) != size * dtype.itemsize:
            raise ValueError("an array whose values do not fill its shape")
        if hashlib.sha256(content).hexdigest() != digest:
            raise ValueError(f"the checksum of {name} does not fit what it holds")
        if dtype.kind == "b" and content.strip(b"\0\1"):
            raise ValueError("an array of truth values holds something else")
        return np.frombuffer(content, dtype=dtype).reshape(shape).astype(dtype.newbyteorder("="))


def _dtype_and_size(name: Any, shape: Any) -> tuple[np.dtype[Any], int]:
    if not isinstance(name, str) or _DTYPE.fullmatch(name) is None:
        raise ValueError("an array of an unknown type")
    if not isinstance(shape, list) or any(type(n) is not int or n < 0 for n in shape):
        raise ValueError("an array without a shape")
    return np.dtype(name), math.prod(shape)
