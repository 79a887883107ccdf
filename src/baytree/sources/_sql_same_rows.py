"""Proof that a database encoded the rows in which bins, categories and classes were found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .._typing import FloatArray
from ..growth import ColumnBins, other_rows
from ._sql_execution import fetch

_COLUMNS_PER_QUERY = 64
_MAX_NUMBER = 2**31  # on a grid


def check_targets(coded: Any, names: Sequence[str], n_rows: int) -> None:
    """Raise an error for another number of rows, and for targets and weights beyond their grids."""
    aggregates = {"n": coded.count()}
    for name in names:
        aggregates |= {f"low_{name}": coded[name].min(), f"high_{name}": coded[name].max()}
    row = {name: values[0] for name, values in fetch(coded.aggregate(**aggregates)).items()}
    if row["n"] != n_rows:
        raise other_rows(f"{n_rows:,} rows of positive weight at first, then {row['n']:,}")
    if any(row[f"low_{name}"] is None or row[f"low_{name}"] < 0 or row[f"high_{name}"] > _MAX_NUMBER for name in names):
        raise other_rows("a target or weight has another value")


def check_classes(coded: Any, class_rows: FloatArray) -> None:
    """Raise an error if classes have other numbers of rows."""
    groups = fetch(coded.group_by("u0").aggregate(n=coded.count()))
    if dict(zip(groups["u0"], groups["n"], strict=True)) != dict(enumerate(class_rows.astype(np.int64).tolist())):
        raise other_rows("the classes of the target have other rows")


def check_codes(
    coded: Any, codes: Mapping[int, Any], columns: Sequence[ColumnBins], n_missing: Mapping[int, int]
) -> Iterator[int]:
    """The columns with unexpected codes, or with another number of missing values."""
    chosen = list(codes)
    for start in range(0, len(chosen), _COLUMNS_PER_QUERY):
        batch = chosen[start : start + _COLUMNS_PER_QUERY]
        table = coded.select(**{f"c{i}": codes[i] for i in batch})
        largest = {f"c{i}": table[f"c{i}"].max() for i in batch}
        counted = [i for i in batch if columns[i].has_missing and i in n_missing]
        missing = {f"m{i}": (table[f"c{i}"] == len(columns[i].highs)).sum() for i in counted}
        row = {name: values[0] for name, values in fetch(table.aggregate(**largest, **missing)).items()}
        for i in batch:
            # Null if a value had no code.
            is_unexpected = row[f"c{i}"] is None or row[f"c{i}"] >= columns[i].n_codes
            if is_unexpected or (i in counted and (row[f"m{i}"] or 0) != n_missing[i]):
                yield i
