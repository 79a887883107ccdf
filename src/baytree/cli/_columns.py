"""The roles of columns: features, what is left out and why, and what describes the rows (weights, events, groups)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._words import count_text, list_text
from ..table import nearest_name
from ._files import source_text

_FEW_ROWS = 20  # where all values differ by chance
_NEARLY_ALL = 0.95
_ID_NAME = re.compile(r"(^|[\W_])(id|uuid|guid|key|index|nr|number|rowid)$", re.IGNORECASE)
_MOSTLY = 0.8
_METADATA_IN_FIT = {"weight": "sample_weight"}  # where the estimators have another name


@dataclass(frozen=True)
class FeatureColumns:
    """The columns to predict from, and what there is to say of the others."""

    table: pa.Table
    left_out: dict[str, str] = field(default_factory=dict)  # name -> why
    notes: list[str] = field(default_factory=list)

    def kinds(self) -> str:
        """The number of columns of each kind: 3 of numbers, 2 of categories."""
        types = [column.type for column in self.table.columns]
        numbers = sum(is_number(kind) for kind in types)
        truths = sum(pa.types.is_boolean(kind) for kind in types)
        counts = {"numbers": numbers, "truth values": truths, "categories": len(types) - numbers - truths}
        return ", ".join(f"{n} of {kind}" for kind, n in counts.items() if n)


def is_number(kind: pa.DataType) -> bool:
    """Whether values of a type are numbers."""
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)


def is_text(kind: pa.DataType) -> bool:
    """Whether values of a type are text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def same_value(value: Any, text: Any) -> bool:
    """Whether a value equals a text, as text or as a number."""
    if value is None or str(value).strip() == str(text).strip():
        return value is not None
    try:
        return float(value) == float(text)
    except (TypeError, ValueError):
        return False


def check_names(names: Iterable[str], columns: list[str], option: str, path: str) -> None:
    """Refuse an option that names a column which is not there."""
    for name in names:
        if name not in columns:
            near = nearest_name(name, columns)
            raise ValueError(f"{option} names the column {name!r}, which {path!r} does not have: {near}")


def check_column(name: str, columns: list[str], path: str) -> None:
    """Refuse a table without a column."""
    if name not in columns:
        raise ValueError(f"{source_text(path)} has no column {name!r}: {nearest_name(name, columns)}")


def take_metadata(table: pa.Table, metadata: dict[str, str], path: str) -> tuple[pa.Table, dict[str, Any]]:
    """The table without the columns that describe the rows, and these as `fit` takes them."""
    for name, column in metadata.items():
        check_names([column], table.column_names, f"--{name}", path)
    values = {_METADATA_IN_FIT.get(name, name): _as_array(table[column]) for name, column in metadata.items()}
    return table.drop_columns(sorted(set(metadata.values()))), values


def _as_array(column: pa.ChunkedArray) -> Any:
    return np.asarray(pc.cast(column, pa.float64()) if pa.types.is_decimal(column.type) else column)


def choose_features(table: pa.Table, keep: Sequence[str], drop: Sequence[str]) -> FeatureColumns:
    """The columns to fit to; `keep` has those to use all the same."""
    left_out = dict.fromkeys(drop, "as --drop says")
    notes: list[str] = []
    used: dict[str, pa.ChunkedArray] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name in left_out:
            continue
        kept = pc.cast(column, pa.float64()) if pa.types.is_decimal(column.type) else column
        impossible = _unusable(kept)
        reason = impossible or ("" if name in keep else _reason_to_drop(name, kept))
        if impossible and name in keep:
            raise ValueError(f"--keep {name!r}: the column {impossible}.")
        if reason:
            left_out[name] = reason
            continue
        used[name] = kept
        notes += _number_warnings(name, kept)
    if not used:
        why = "; ".join(f"{name!r} {reason}" for name, reason in left_out.items()) or "there is only the target"
        raise ValueError(f"No column is left to predict from: {why}.")
    return FeatureColumns(pa.table(used), left_out, notes)


def _unusable(column: pa.ChunkedArray) -> str:
    """Why a tree cannot use a column at all."""
    kind = column.type
    if pa.types.is_temporal(kind):
        return "holds dates or times; if their year, month or age matters, add it as a column of numbers"
    if pa.types.is_null(kind) or column.null_count == len(column):
        return "has no values"
    if not (is_number(kind) or is_text(kind) or pa.types.is_boolean(kind) or pa.types.is_dictionary(kind)):
        return f"holds neither numbers nor text ({kind})"
    return ""


def _reason_to_drop(name: str, column: pa.ChunkedArray) -> str:
    """Why a column is better left out."""
    n_values, n_present = pc.count_distinct(column).as_py(), len(column) - column.null_count
    if n_values == 1 and n_present == len(column):
        return "is constant"
    if n_present < _FEW_ROWS:
        return ""
    if is_text(column.type) and n_values >= _NEARLY_ALL * n_present:
        return "looks like an identifier or free text (nearly every row has its own value)"
    if pa.types.is_integer(column.type) and n_values == len(column):
        ends = pc.min_max(column).as_py()
        if ends["max"] - ends["min"] + 1 == n_values:
            return "looks like a row number"
        if _ID_NAME.search(name):
            return "looks like an identifier (every row has its own number)"
    return ""


def _number_warnings(name: str, column: pa.ChunkedArray) -> list[str]:
    """A column of text that was meant as numbers."""
    if not is_text(column.type):
        return []
    values = [value for value in pc.unique(column).to_pylist() if value is not None]
    others = [value for value in values if not _is_number(value)]
    if len(values) < _FEW_ROWS or len(values) - len(others) < _MOSTLY * len(values):
        return []
    examples = list_text([repr(value) for value in others], 3)
    return [
        f"{name!r} is read as categories ({count_text(len(values), 'value')}), because not all of its values are "
        f"numbers: {examples}. If such a value means missing: --missing {others[0]!r}"
    ]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
