"""The edits of a tree in its document."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from ..fitted import DecisionChange, Edit, Fitted
from ..tree import TreeStore
from ._check import check_record
from ._values import Decoder, encode

_TEXT, _NUMBER, _COUNT, _OPTIONAL_TEXT = (str,), (float, int), (int,), (str, type(None))
_TYPES: dict[str, tuple[type, ...]] = {
    "text": _TEXT,
    "log_odds": _NUMBER,
    "loss_before": _NUMBER,
    "loss_after": _NUMBER,
    "n_rows": _COUNT,
    "n_decisions": _COUNT,
    "before": _TEXT,
    "after": _TEXT,
    "who": _OPTIONAL_TEXT,
    "why": _OPTIONAL_TEXT,
    "when": _OPTIONAL_TEXT,
}


def encode_edits(fitted: Fitted) -> dict[str, Any]:
    """What the document of an edited tree has besides; nothing for other models."""
    result: dict[str, Any] = {}
    if fitted.edits:
        result["edits"] = [_encode_record(edit) for edit in fitted.edits]
    if fitted.set_decisions is not None:
        result["set_decisions"] = encode(fitted.set_decisions)
    return result


def _encode_record(record: Edit | DecisionChange) -> dict[str, Any]:
    return {name: encode(value) for name, value in asdict(record).items()}


def read_edits(document: dict[str, Any], decoder: Decoder, tree: TreeStore, n_classes: int) -> dict[str, Any]:
    """The fields of a fitted tree that tell of its edits."""
    edits = document.get("edits", [])
    if not isinstance(edits, list):
        raise ValueError("the edits are no list")
    codes = decoder.decode(document.get("set_decisions"))
    if codes is not None:
        are_codes = isinstance(codes, np.ndarray) and codes.dtype == np.int64 and codes.shape == (tree.node_count,)
        if not are_codes or not tree.is_plain or np.any((codes < -1) | (codes >= n_classes)):
            raise ValueError("the decisions that were set are no classes of the leaves")
    return {"edits": tuple(_read_edit(edit, decoder) for edit in edits), "set_decisions": codes}


def _read_edit(values: Any, decoder: Decoder) -> Edit:
    check_record(values, Edit)
    values = decoder.decode_all(values)
    changes = tuple(_read_change(change) for change in _as_list(values.pop("decision_changes")))
    _check_types(values)
    return Edit(**values, decision_changes=changes)


def _read_change(values: Any) -> DecisionChange:
    check_record(values, DecisionChange)
    conditions = _as_list(values.pop("conditions"))
    if not all(isinstance(condition, str) for condition in conditions):
        raise ValueError("a condition is no text")
    _check_types(values)
    return DecisionChange(**values, conditions=tuple(conditions))


def _as_list(values: Any) -> list[Any]:
    if not isinstance(values, list):
        raise ValueError("a part of an edit is no list")
    return values


def _check_types(values: dict[str, Any]) -> None:
    for name, value in values.items():
        if not isinstance(value, _TYPES[name]) or isinstance(value, bool):
            raise ValueError(f"the {name} of an edit is of a wrong type")
