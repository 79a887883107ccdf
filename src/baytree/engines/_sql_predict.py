"""Predictions as an expression of a database: those of `export.to_ibis`, with the columns of other sources."""

from __future__ import annotations

from typing import Any

from ibis.backends.sql import SQLBackend
from ibis.common.exceptions import IbisError

from ..export import to_ibis
from ..fitted import Fitted
from ._predict import column_names


def predict_table(fitted: Fitted, table: Any) -> Any:
    """The table with its predictions; nothing is executed."""
    names = fitted.schema.names
    if names is None:
        raise ValueError("The model was fitted to columns without names: a table in a database has no others.")
    absent = [names[i] for i in fitted.used_features if names[i] not in table.columns]
    if absent:
        raise ValueError(f"The table lacks the column {absent[0]!r}, which the model uses.")
    if not _runs_sql(table):
        raise ValueError(
            "This Ibis table belongs to no database, or to a backend that runs no SQL: give a frame instead."
        )
    new = column_names(fitted)
    kept = [name for name in table.columns if name not in new]
    # Columns of the table may have names that the query makes: they go through it under other ones.
    through = {f"baytree_kept_{i}": name for i, name in enumerate(kept)}
    copies = {copy: table[name] for copy, name in through.items()}
    predicted = to_ibis(fitted, table.mutate(**copies), columns=[*copies])
    if not fitted.outcome.predicts_classes:
        predicted = predicted.rename(dict(zip(new, fitted.outcome.value_names(len(new)), strict=True)))
    return predicted.select(*copies, *new).rename({name: copy for copy, name in through.items()})


def _runs_sql(table: Any) -> bool:
    try:
        return isinstance(table.get_backend(), SQLBackend)
    except IbisError:
        return False
