"""The conditions of a leaf as text, one for each feature."""

from __future__ import annotations

import math
from collections.abc import Iterator

from .._words import number_text
from ..table import Column, Kind, Schema
from ..tree import NumberText, TreeStore
from ._boxes import Box, Categories, Condition


def conditions_of(tree: TreeStore, schema: Schema, box: Box, number: NumberText = number_text) -> Iterator[str]:
    """All conditions of a leaf: ``30 < age <= 50``, ``colour in {red, blue}``; a hyperplane is one of its own."""
    for feature, condition in box.conditions.items():
        name, column = schema.name(feature), schema.columns[feature]
        low, high = math.isfinite(condition.low), math.isfinite(condition.high)
        if condition.categories is None and condition.has_numbers and low and high and column.kind is not Kind.TRUTH:
            ends = column.bound_text(condition.low, number), column.bound_text(condition.high, number)
            yield f"{ends[0]} < {name} <= {ends[1]}{_missing_suffix(condition)}"
        else:
            yield f"{name} {condition_text(condition, column, number)}"
    for node, left in box.hyperplanes:
        split = tree.split(node)
        yield f"{split.subject(schema)} {split.condition(schema, left=left, number=number)}"


def condition_text(condition: Condition, column: Column, number: NumberText = number_text) -> str:
    """A condition as text: ``> 30 and <= 50``, ``is true``, ``in {red, blue}``, ``is missing``."""
    if condition.categories is not None:
        return _set_text(condition, condition.categories, column)
    if not condition.has_numbers:
        return "is missing"
    bounds = [(condition.low, False)] if math.isfinite(condition.low) else []
    bounds += [(condition.high, True)] if math.isfinite(condition.high) else []
    if not bounds:
        return "is present"
    if column.kind is Kind.TRUTH:
        bounds = bounds[-1:]
    return " and ".join(column.condition(bound, left=left, number=number) for bound, left in bounds) + _missing_suffix(
        condition
    )


def _missing_suffix(condition: Condition) -> str:
    return " or missing" if condition.missing and condition.missing_known else ""


def _set_text(condition: Condition, categories: Categories, column: Column) -> str:
    """The shorter of the two sets, with ``in`` or ``not in``; missing counts as a category where it occurred."""
    names = column.category_texts()
    sides = list(zip(names, categories.leads_here, strict=True))
    inside = [name for name, leads_here in sides if leads_here]
    outside = [name for name, leads_here in sides if not leads_here]
    if condition.missing_known:
        (inside if condition.missing else outside).append("missing")
    if len(inside) <= len(outside):
        return f"in {{{', '.join(inside)}}}"
    return f"not in {{{', '.join(outside)}}}"
