"""What a leaf demands of a row, in words: one condition for each feature."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..table import Column, Kind, Schema
from ..tree import TreeStore
from ._boxes import Box, Categories, Demand


def conditions_of(tree: TreeStore, schema: Schema, box: Box) -> Iterator[str]:
    """All conditions of a leaf: ``30 < age <= 50``, ``colour in {red, blue}``; a hyperplane is one of its own."""
    for feature, demand in box.demands.items():
        name, column = schema.name(feature), schema.columns[feature]
        low, high = math.isfinite(demand.low), math.isfinite(demand.high)
        if demand.categories is None and demand.has_numbers and low and high and column.kind is not Kind.TRUTH:
            bounds = f"{column.bound_text(demand.low)} < {name} <= {column.bound_text(demand.high)}"
            yield f"{bounds}{_or_missing(demand)}"
        else:
            yield f"{name} {demand_text(demand, column)}"
    for node, left in box.hyperplanes:
        split = tree.split(node)
        yield f"{split.subject(schema)} {split.condition(schema, left=left)}"


def demand_text(demand: Demand, column: Column) -> str:
    """What must hold of a feature: ``> 30 and <= 50``, ``is true``, ``in {red, blue}``, ``is missing``."""
    if demand.categories is not None:
        return _set_text(demand, demand.categories, column)
    if not demand.has_numbers:
        return "is missing"
    bounds = [(demand.low, False)] if math.isfinite(demand.low) else []
    bounds += [(demand.high, True)] if math.isfinite(demand.high) else []
    if not bounds:
        return "is present"
    if column.kind is Kind.TRUTH:
        bounds = bounds[-1:]
    return " and ".join(column.condition(bound, left=left) for bound, left in bounds) + _or_missing(demand)


def _or_missing(demand: Demand) -> str:
    return " or missing" if demand.missing and demand.missing_known else ""


def _set_text(demand: Demand, categories: Categories, column: Column) -> str:
    """The shorter of the two sets, with ``in`` or ``not in``; missing counts as a category where it occurred."""
    names = column.category_texts()
    inside = [name for name, here in zip(names, categories.here, strict=True) if here]
    outside = [name for name, here in zip(names, categories.here, strict=True) if not here]
    if demand.missing_known:
        (inside if demand.missing else outside).append("missing")
    if len(inside) <= len(outside):
        return f"in {{{', '.join(inside)}}}"
    return f"not in {{{', '.join(outside)}}}"
