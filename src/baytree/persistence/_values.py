"""Values as JSON: numbers, text, lists, dictionaries and arrays."""

from __future__ import annotations

import math
import re
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
    if isinstance(value, dict):
        return {"dict": [[encode(key), encode(item)] for key, item in value.items()]}
    if is_dataclass(value) and not isinstance(value, type) and _RECORDS.get(type(value).__name__) is type(value):
        return {"record": type(value).__name__, "fields": {name: encode(own) for name, own in asdict(value).items()}}
    if hasattr(value, "__array__"):
        return encode(np.asarray(value))
    raise TypeError(f"A value of type {type(value).__name__} cannot be written to a model file.")


def _encode_dtype(array: AnyArray) -> str:
    if array.dtype.kind in "iufbUO":
        return array.dtype.str
    raise TypeError(f"An array of dtype {array.dtype} cannot be written to a model file.")


def _encode_values(array: AnyArray) -> list[Any]:
    flat = array.ravel().tolist()
    if array.dtype.kind == "f":
        return [x if math.isfinite(x) else repr(x) for x in flat]
    return [encode(x) for x in flat] if array.dtype.kind == "O" else flat


def decode(value: Any) -> Any:
    """The value that `encode` wrote."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        return _decode_array(value["array"], value["shape"], value["values"])
    if "float" in value:
        return float(value["float"])
    if "list" in value:
        return [decode(item) for item in value["list"]]
    if "dict" in value:
        return {decode(key): decode(item) for key, item in value["dict"]}
    if "record" in value:
        return _RECORDS[value["record"]](**{name: decode(own) for name, own in value["fields"].items()})
    raise ValueError("an unknown kind of value")


def _decode_array(name: Any, shape: Any, values: Any) -> AnyArray:
    if not isinstance(name, str) or _DTYPE.fullmatch(name) is None:
        raise ValueError("an array of an unknown type")
    if not isinstance(values, list) or not isinstance(shape, list):
        raise ValueError("an array without values")
    if any(not isinstance(n, int) or isinstance(n, bool) or n < 0 for n in shape) or math.prod(shape) != len(values):
        raise ValueError("an array whose values do not fill its shape")
    dtype = np.dtype(name)
    if dtype.kind == "f":
        values = [float(x) for x in values]
    elif dtype.kind == "O":
        values = [decode(x) for x in values]
    elif dtype.kind == "U" and dtype.itemsize > 4 * max(map(len, values), default=0) + 4:
        raise ValueError("an array of text is wider than its text")
    elif dtype.kind in "iub" and not all(type(x) is (bool if dtype.kind == "b" else int) for x in values):
        raise ValueError("an array of whole numbers or truth values holds something else")
    result = np.empty(len(values), dtype=dtype)
    result[:] = values
    return result.reshape(shape)
