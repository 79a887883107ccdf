"""The subgroups of a column: its values, or quarters of many numbers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray, FloatArray
from .._words import category_text, number_text

_MAX_VALUES = 8  # numbers with more values are put into quarters
_MAX_GROUPS = 20


def subgroup_masks(values: AnyArray) -> list[tuple[str, BoolArray]]:
    """The subgroups of a column with the rows of each: values; of many numbers quarters; of many others a rest."""
    missing = np.array([_is_missing(value) for value in values], dtype=bool)
    groups = _quarters(values, missing) if _are_many_numbers(values[~missing]) else _values(values, missing)
    return [*groups, ("missing", missing)] if missing.any() else groups


def _is_missing(value: Any) -> bool:
    return value is None or bool(value != value) or str(value) in ("<NA>", "NaT")


def _are_many_numbers(values: AnyArray) -> bool:
    numbers = all(isinstance(value, int | float | np.number) and not isinstance(value, bool) for value in values)
    return numbers and len(set(values.tolist())) > _MAX_VALUES


def _quarters(values: AnyArray, missing: BoolArray) -> list[tuple[str, BoolArray]]:
    numbers = np.where(missing, np.nan, values).astype(np.float64)
    ends: FloatArray = np.unique(np.nanquantile(numbers, [0, 0.25, 0.5, 0.75, 1], method="lower"))
    groups = []
    for i, (low, high) in enumerate(pairwise(ends.tolist())):
        inside = (numbers > low if i else numbers >= low) & (numbers <= high)
        first = f"{number_text(float(low))} to" if i == 0 else f"over {number_text(float(low))} to"
        groups.append((f"{first} {number_text(float(high))}", inside))
    return groups


def _values(values: AnyArray, missing: BoolArray) -> list[tuple[str, BoolArray]]:
    texts = np.array(
        ["" if is_missing else _text(value) for value, is_missing in zip(values, missing, strict=True)], dtype=object
    )
    names, counts = np.unique(texts[~missing].astype(str), return_counts=True)
    common = names[np.argsort(-counts, kind="stable")]
    shown = common if len(common) <= _MAX_GROUPS else common[: _MAX_GROUPS - 1]
    groups = [(str(name), ~missing & (texts == name)) for name in sorted(shown, key=_order)]
    if len(shown) < len(common):
        rest = ~missing & ~np.isin(texts.astype(str), shown)
        groups.append((f"{len(common) - len(shown)} others", rest))
    return groups


def _text(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number):
        return number_text(float(value))
    return category_text(str(value))


def _order(name: str) -> tuple[int, float, str]:
    """Numbers by size, before text."""
    try:
        return 0, float(name.replace(",", "")), name
    except ValueError:
        return 1, 0.0, name
