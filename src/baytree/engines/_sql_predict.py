"""Predictions as an expression of a database."""

from __future__ import annotations

from typing import Any

import ibis
import numpy as np
from ibis.common.exceptions import IbisError
from ibis.expr.operations import SQLQueryResult

from .._typing import AnyArray
from ..fitted import FittedTree
from ..table import Kind
from ..tree import CategorySet, Threshold
from ._sql_whole import as_number, is_missing, real, said


def predict_table(fitted: FittedTree, table: Any) -> Any:
    """The table with its predictions; nothing is executed."""
    names = fitted.schema.names
    if names is None:
        raise ValueError("The model was fitted to columns without names: a table in a database has no others.")
    absent = [names[i] for i in fitted.used_features if names[i] not in table.columns]
    if absent:
        raise ValueError(f"The table lacks the column {absent[0]!r}, which the tree uses.")
    if _backend_name(table) == "sqlite":
        raise ValueError("Ibis does not ask SQLite for NaN: use baytree.export.to_ibis, which needs not to.")
    if fitted.missing == "average":
        raise ValueError("missing='average' is more than one leaf a row: use baytree.export.to_ibis, which carries it.")
    leaves = np.flatnonzero(fitted.tree.is_leaf)
    place = _below(fitted, table, {int(leaf): i for i, leaf in enumerate(leaves)}, 0)
    value = fitted.tree.value[leaves, 0]
    if fitted.classes is None:
        labels, numbers = [], {"prediction": value[:, 0]}
    else:
        labels = [said(label) for label in fitted.classes[fitted.node_codes[leaves]].tolist()]
        numbers = {f"probability_{i}": value[:, i] for i in range(len(fitted.classes))}
    look_up = _LOOK_UP.get(_backend_name(table), _by_bisection)
    rows, found = look_up(table.mutate(baytree_leaf=place), numbers)
    decided = {"prediction": _search(rows.baytree_leaf, labels)} if labels else {}
    return rows.mutate(**decided, **found).select(*dict.fromkeys([*table.columns, *decided, *found]))


def _by_bisection(rows: Any, numbers: dict[str, AnyArray]) -> tuple[Any, dict[str, Any]]:
    """Rows, and what is predicted for them as expressions, given the numbers of each leaf."""
    return rows, {
        name: _search(rows.baytree_leaf, [real(value) for value in own.tolist()]) for name, own in numbers.items()
    }


def _by_lists(rows: Any, numbers: dict[str, AnyArray]) -> tuple[Any, dict[str, Any]]:
    """The same; DuckDB takes an element of a list much faster than it finds a case, and Ibis compiles it faster."""
    lists = {name: ibis.literal(str(own.tolist())).cast("array<float64>") for name, own in numbers.items()}
    return rows, {name: own[rows.baytree_leaf] for name, own in lists.items()}


def _by_join(rows: Any, numbers: dict[str, AnyArray]) -> tuple[Any, dict[str, Any]]:
    """The same; PostgreSQL would find the leaf anew for each number that is looked up in another way."""
    columns = {"baytree_leaf_place": np.arange(len(next(iter(numbers.values()))))}
    columns |= {f"baytree_leaf_{name}": own for name, own in numbers.items()}
    kinds = {name: "float64" if own.dtype.kind == "f" else "int32" for name, own in columns.items()}
    asked = [
        f"UNNEST(CAST('{{{', '.join(map(repr, own.tolist()))}}}' AS {_ARRAYS[kinds[name]]})) AS {name}"
        for name, own in columns.items()
    ]
    leaves = SQLQueryResult(f"SELECT {', '.join(asked)}", ibis.schema(kinds), rows.get_backend()).to_expr()
    joined = rows.join(leaves, rows.baytree_leaf == leaves.baytree_leaf_place)
    joined = joined.drop("baytree_leaf").rename(baytree_leaf="baytree_leaf_place")
    return joined, {name: joined[f"baytree_leaf_{name}"] for name in numbers}


_LOOK_UP = {"duckdb": _by_lists, "postgres": _by_join}
_ARRAYS = {"float64": "DOUBLE PRECISION[]", "int32": "INT[]"}


def _backend_name(table: Any) -> str:
    """Nothing where the table belongs to no database yet."""
    try:
        return str(table.get_backend().name)
    except IbisError:
        return ""


def _search(place: Any, values: list[Any], first: int = 0) -> Any:
    """The value at a place, by bisection; the places begin with the first."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    lower, upper = (_search(place, values[:half], first), _search(place, values[half:], first + half))
    return ibis.ifelse(place < first + half, lower, upper)


def _below(fitted: FittedTree, table: Any, places: dict[int, int], node: int) -> Any:
    """The place among all leaves of the leaf below a node that a row reaches."""
    tree = fitted.tree
    if tree.is_leaf[node]:
        return ibis.literal(places[node], "int32")
    left, right = (
        _below(fitted, table, places, int(child[node])) for child in (tree.children_left, tree.children_right)
    )
    return ibis.ifelse(_goes_left(fitted, table, node), left, right)


def _goes_left(fitted: FittedTree, table: Any, node: int) -> Any:
    split = fitted.tree.split(node)
    if len(split.features) > 1:
        raise ValueError("A database cannot follow hyperplanes: predict in memory.")
    feature = split.features[0]
    own, column = table[fitted.schema.name(feature)], fitted.schema.columns[feature]
    gone = is_missing(own)
    labels = [] if column.categories is None else column.categories.tolist()
    value = own if own.type().is_string() else as_number(own)
    if isinstance(split, CategorySet):
        chosen = split.right if split.unseen_left else split.left
        known = [said(labels[i]) if isinstance(labels[i], str) else real(labels[i]) for i in chosen]
        inside = value.isin(known) if known else ibis.literal(False)
        return ibis.ifelse(gone, split.missing_left, ~inside if split.unseen_left else inside)
    if column.kind is Kind.ORDERED:
        place = value.cases(*((said(label), i) for i, label in enumerate(labels)), else_=-1)
        gone, value = gone | (place < 0), place.cast("float64")
    if isinstance(split, Threshold):
        below = value <= real(split.threshold)
        return ibis.ifelse(gone, split.missing_left, below)
    return ~gone
