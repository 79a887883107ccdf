"""Predictions as an expression of a database."""

from __future__ import annotations

from typing import Any

import ibis
import numpy as np

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
    if fitted.missing == "average":
        raise ValueError("missing='average' is more than one leaf a row: use baytree.export.to_ibis, which carries it.")
    leaf = _below(fitted, table, 0)
    with_leaf = table.mutate(baytree_leaf=leaf)
    leaves = np.flatnonzero(fitted.tree.is_leaf)
    value = fitted.tree.value[:, 0]
    if fitted.classes is None:
        found = {"prediction": _looked_up(with_leaf, leaves, value[leaves, 0])}
    else:
        labels = fitted.classes[fitted.node_codes[leaves]]
        found = {"prediction": _looked_up(with_leaf, leaves, labels)}
        found |= {
            f"probability_{i}": _looked_up(with_leaf, leaves, value[leaves, i]) for i in range(len(fitted.classes))
        }
    return with_leaf.mutate(**found).drop("baytree_leaf")


def _looked_up(table: Any, leaves: AnyArray, values: AnyArray) -> Any:
    """What a leaf predicts."""
    told = [real(value) if values.dtype.kind == "f" else said(value) for value in values.tolist()]
    pairs = list(zip(leaves.tolist(), told, strict=True))
    return table.baytree_leaf.cases(*pairs[:-1], else_=told[-1]) if len(pairs) > 1 else told[0]


def _below(fitted: FittedTree, table: Any, node: int) -> Any:
    """The leaf below a node that a row reaches."""
    tree = fitted.tree
    if tree.is_leaf[node]:
        return ibis.literal(node, "int32")
    left, right = (_below(fitted, table, int(child[node])) for child in (tree.children_left, tree.children_right))
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
