"""Interaction constraints: reading the sets of columns that may stand on one path."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from .._validation import short_repr
from ..table import Schema

ColumnSets = tuple[tuple[int, ...], ...]
_MOST_PAIRED = 1000  # columns of which all pairs are listed
_MOST_WITH_PLANES = 200  # sets in each of which hyperplanes are searched
_WHAT = "interaction_cst must be 'pairwise', 'no_interactions' or a list of sets of columns"


def read_interactions(interaction_cst: Any, schema: Schema, *, with_planes: bool) -> ColumnSets | None:
    """Read the `interaction_cst` parameter: sets of positions, in ascending order; None without limits.

    Every column is in a set: those that no set names form one more. `with_planes`: hyperplanes are searched in the
    sets.
    """
    if interaction_cst is None:
        return None
    if isinstance(interaction_cst, str):
        sets = _named_sets(interaction_cst, schema.n_features)
    else:
        sets = _given_sets(interaction_cst, schema)
    everything = set(range(schema.n_features))
    rest = tuple(sorted(everything.difference(*sets)))
    sets = sorted({*sets, *((rest,) if rest else ())})
    if any(len(columns) == schema.n_features for columns in sets):
        return None
    n_planes = sum(len(columns) > 1 for columns in sets)
    if with_planes and n_planes > _MOST_WITH_PLANES:
        raise ValueError(
            f"interaction_cst has {n_planes:,} sets of several columns, and hyperplanes are searched in at most "
            f'{_MOST_WITH_PLANES}: give fewer sets, or partitions="axis".'
        )
    return tuple(sets)


def _named_sets(name: str, n_features: int) -> list[tuple[int, ...]]:
    if name == "no_interactions":
        return [(column,) for column in range(n_features)]
    if name != "pairwise":
        raise ValueError(f"{_WHAT}; got {short_repr(name)}.")
    if n_features > _MOST_PAIRED:
        raise ValueError(
            f"interaction_cst='pairwise' is for at most {_MOST_PAIRED:,} columns, and X has {n_features:,}: give sets."
        )
    return list(combinations(range(n_features), min(2, n_features)))


def _given_sets(given: Any, schema: Schema) -> list[tuple[int, ...]]:
    if not isinstance(given, Iterable) or isinstance(given, dict):
        raise TypeError(f"{_WHAT}; got {short_repr(given)}.")
    result = []
    for columns in given:
        if isinstance(columns, str | dict) or not isinstance(columns, Iterable):
            raise TypeError(f"{_WHAT}; got {short_repr(columns)} in place of a set.")
        positions = {schema.position("interaction_cst", column) for column in columns}
        if not positions:
            raise ValueError("interaction_cst holds an empty set: leave it out, or name its columns.")
        result.append(tuple(sorted(positions)))
    if not result:
        raise ValueError("interaction_cst is an empty list: give None for no limit, or at least one set of columns.")
    return result
