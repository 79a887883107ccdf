"""The proof that a model which is about to be saved can be loaded, and is the same model then."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from .._typing import AnyArray
from ..fitted import Fitted
from ..leaves import ConstantLeaves
from ._document import read_document
from ._error import ModelFileError
from ._values import encode


def prove_readable(
    document: Any, beside: dict[str, bytes], estimator: str, parameters: dict[str, Any], fitted: Fitted
) -> None:
    """Read what a model file will hold; refuse to go on where that fails or gives another model."""
    try:
        _, read, again = read_document(document, {estimator: dict.fromkeys(parameters)}, beside)
        if {name: encode(value) for name, value in read.items()} != _encoded(parameters):
            raise ValueError("its parameters come back changed")  # noqa: TRY301
        _compare(fitted, again, "fitted_")
    except (ModelFileError, ValueError) as error:
        raise RuntimeError(
            f"The model was not saved, because its file could not be read back as the same model: {error} Please "
            "report this; what the file held before is still there."
        ) from error


def _encoded(parameters: dict[str, Any]) -> dict[str, Any]:
    return {name: encode(value) for name, value in parameters.items()}


def _compare(one: Any, other: Any, name: str) -> None:
    """Refuse values that differ in anything: arrays in a bit, records in a field."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        same = isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and _same_array(one, other)
    elif is_dataclass(one) and not isinstance(one, type) and type(one) is type(other):
        for part in _parts(one):
            _compare(getattr(one, part), getattr(other, part), f"{name}.{part}")
        return
    elif isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)) and len(one) == len(other):
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            _compare(a, b, f"{name}[{i}]")
        return
    else:
        same = one == other or (one != one and other != other)
    if not same:
        raise ValueError(f"{name} comes back changed.")


def _parts(record: Any) -> tuple[str, ...]:
    """What is compared of a record: of leaves what they predict, which a file has in fewer parts than they do."""
    if isinstance(record, ConstantLeaves):
        return "prior", "statistics", "value"
    return tuple(field.name for field in fields(record))


def _same_array(one: AnyArray, other: AnyArray) -> bool:
    if one.shape != other.shape or one.dtype.kind != other.dtype.kind:
        return False
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
