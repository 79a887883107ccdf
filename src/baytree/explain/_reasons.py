"""The reasons for the decision on a row: the columns that push most towards it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._typing import IntArray
from .._validation import check_integer, short_repr
from ..fitted import Fitted, contributions
from ..table import Rows, Schema
from ._contribution import contributions_of
from ._row_decisions import RowDecisions

_DIRECTIONS = {"high": 1, "low": -1}


@dataclass(frozen=True)
class Reason:
    """One of the columns that push the prediction of a row most towards a decision."""

    row: int
    rank: int  # from 1
    feature: str
    contribution: float
    value: float | bool | str | None
    code: str | None = None
    text: str | None = None


def reasons_of(fitted: Fitted, rows: Rows, k: Any, codes: Any, towards: Any, n_threads: int = 1) -> list[Reason]:
    """The k columns of each row that push most towards its decision, or towards a class that is named."""
    k = check_integer("k", k, low=1)
    given = read_codes(fitted.schema, codes)
    if not fitted.has_finite_means():
        raise ValueError("A leaf predicts an infinite mean, which has no reasons: fit more rows, or a stronger prior.")
    columns, directions = _read_towards(fitted, rows, towards, n_threads)
    shapley, X = contributions(fitted, rows, n_threads), rows.dense()
    result = []
    for i, (column, direction) in enumerate(zip(columns.tolist(), directions.tolist(), strict=True)):
        of_row = contributions_of(fitted.schema, shapley, i, column, X[i])
        pushing = [one for one in of_row if one.contribution * direction > 0][:k]
        result += [
            Reason(i, rank, one.feature, one.contribution, one.value, *given.get(one.column, (None, None)))
            for rank, one in enumerate(pushing, 1)
        ]
    return result


def _read_towards(fitted: Fitted, rows: Rows, towards: Any, n_threads: int) -> tuple[IntArray, IntArray]:
    """For each row, which of the predicted numbers is explained, and whether upwards (1) or downwards (-1)."""
    decided = RowDecisions(fitted)
    if towards is None:
        mean = fitted.mean(rows, n_threads)
        codes = fitted.class_codes(rows, n_threads, mean) if fitted.outcome.predicts_classes else decided.codes(mean)
        pairs = [(decided.column(code), decided.direction(code)) for code in codes.tolist()]
    elif fitted.outcome.predicts_classes:
        labels = fitted.outcome.labels.tolist()
        if towards not in labels:
            raise ValueError(f"towards must be one of the classes {short_repr(labels)}; got {short_repr(towards)}.")
        pairs = [(labels.index(towards), 1)] * len(rows)
    else:
        if not isinstance(towards, str) or towards not in _DIRECTIONS:
            raise ValueError(f"towards must be 'high' or 'low' where numbers are predicted; got {short_repr(towards)}.")
        pairs = [(0, _DIRECTIONS[towards])] * len(rows)
    columns, directions = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return columns, directions


def read_codes(schema: Schema, codes: Any) -> dict[int, tuple[str, str | None]]:
    """Read codes by column: a code, or a code with its text."""
    what = "codes must be a dict from column to a code, or to a pair of a code and its text"
    given = schema.by_position("codes", {} if codes is None else codes)
    if given is None:
        raise TypeError(f"{what}; got {short_repr(codes)}.")
    result: dict[int, tuple[str, str | None]] = {}
    for column, entry in given.items():
        pair = (entry, None) if isinstance(entry, str) else entry
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)
        if not is_pair or not (pair[1] is None or isinstance(pair[1], str)):
            raise TypeError(f"{what}; got {short_repr(entry)} for {schema.name(column)!r}.")
        result[column] = (pair[0], pair[1])
    return result
