"""Models in leaves in ONNX: tables of their terms and coefficients, of which each row takes those of its leaf."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import AnyArray, FloatArray
from ..leaves import PROBIT, QUADRATURE, LinearLeaves, LogisticLeaves, ModelLeaves, TermKind
from ._onnx_graph import Columns, Graph

_LARGEST_TERM = 1e100


def leaf_means(graph: Graph, leaves: ModelLeaves, leaf: str, columns: Columns) -> str:
    """What is expected of each row, (n_rows, n_values), from its leaf."""
    terms = _scaled_terms(graph, leaves, leaf, columns)
    if isinstance(leaves, LinearLeaves):
        return _linear_means(graph, leaves, leaf, terms)
    if isinstance(leaves, LogisticLeaves):
        return _chances(graph, leaves, leaf, terms)
    raise TypeError(f"ONNX knows no leaves of the kind {type(leaves).__name__}.")


def _of_leaf(graph: Graph, leaf: str, table: AnyArray) -> str:
    """The entry of each row's leaf."""
    return graph.add("Gather", graph.constant(table), leaf, axis=0)


def _slots(leaves: ModelLeaves, values: AnyArray, other: Any) -> AnyArray:
    """One number for each term as a table, (n_nodes, most terms of a node); nodes with fewer have another number."""
    counts = leaves.terms.counts
    table = np.full((len(counts), counts.max()), other, dtype=np.asarray(values).dtype)
    table[np.arange(table.shape[1]) < counts[:, None]] = values
    return table


def _scaled_terms(graph: Graph, leaves: ModelLeaves, leaf: str, columns: Columns) -> str:
    """The terms of each row, centred and scaled, (n_rows, most terms of a node)."""
    terms = leaves.terms

    def table(values: AnyArray, other: Any) -> str:
        return _of_leaf(graph, leaf, _slots(leaves, values, other))

    value = graph.add("GatherElements", columns.numbers, table(columns.places(terms.feature), 0), axis=1)
    zero, one = graph.number(0.0), graph.number(1.0)
    is_missing = graph.add("Where", graph.add("IsNaN", value), one, zero)
    is_category = graph.add("Where", graph.add("Equal", value, table(terms.category, 0.0)), one, zero)
    of_category, of_missing = (table(terms.kind == kind, False) for kind in (TermKind.CATEGORY, TermKind.MISSING))
    value = graph.add("Where", of_category, is_category, graph.add("Where", of_missing, is_missing, value))
    if not leaves.extrapolate:
        value = _clipped(graph, value, table(terms.low, 0.0), table(terms.high, 0.0))
    scaled = graph.add("Div", graph.add("Sub", value, table(terms.centre, 0.0)), table(terms.scale, 1.0))
    scaled = _clipped(graph, scaled, graph.number(-_LARGEST_TERM), graph.number(_LARGEST_TERM))
    return graph.add("Where", graph.add("IsNaN", scaled), zero, scaled)


def _clipped(graph: Graph, value: str, low: str, high: str) -> str:
    """A value moved into a range; a missing one stays missing."""
    value = graph.add("Where", graph.add("Less", value, low), low, value)
    return graph.add("Where", graph.add("Greater", value, high), high, value)


def _linear_means(graph: Graph, leaves: LinearLeaves, leaf: str, terms: str) -> str:
    products = graph.add("Mul", terms, _of_leaf(graph, leaf, _slots(leaves, leaves.coefficient, 0.0)))
    total = graph.add("ReduceSum", products, graph.whole([1]))
    mean = graph.add("Add", _of_leaf(graph, leaf, leaves.value), total)
    low, high = (_of_leaf(graph, leaf, ends[:, None]) for ends in leaves.limits.T)
    return _clipped(graph, mean, low, high)


def _chances(graph: Graph, leaves: LogisticLeaves, leaf: str, terms: str) -> str:
    """Expected class probabilities; those of leaves without terms are in a table."""
    b, q = _forms(leaves)
    nothing = graph.zeros(terms, 1, np.float64)
    u = graph.add("Concat", graph.add("Add", nothing, graph.number(1.0)), terms, axis=1)
    column = graph.add("Unsqueeze", u, graph.whole([2]))  # (n_rows, width, 1)
    mean = graph.add("Squeeze", graph.add("MatMul", _of_leaf(graph, leaf, b), column), graph.whole([2]))
    product = graph.add("MatMul", _of_leaf(graph, leaf, q), graph.add("Unsqueeze", column, graph.whole([1])))
    product = graph.add("Squeeze", product, graph.whole([3]))  # (n_rows, n_logits, width)
    square = graph.add("Mul", product, graph.add("Unsqueeze", u, graph.whole([1])))
    variance = graph.add("ReduceSum", square, graph.whole([2]), keepdims=0)
    variance = graph.add("Where", graph.add("Less", variance, graph.number(0.0)), graph.number(0.0), variance)
    chances = _of_two(graph, mean, variance) if leaves.n_classes == 2 else _of_several(graph, mean, variance)
    has_terms = _of_leaf(graph, leaf, (leaves.terms.counts > 0)[:, None])
    return graph.add("Where", has_terms, chances, _of_leaf(graph, leaf, leaves.value))


def _forms(leaves: LogisticLeaves) -> tuple[FloatArray, FloatArray]:
    """The forms of all nodes, with zeros for the terms that a node lacks."""
    counts = leaves.terms.counts
    width, n_logits = counts.max() + 1, 1 if leaves.n_classes == 2 else leaves.n_classes
    b, q = np.zeros((len(counts), n_logits, width)), np.zeros((len(counts), n_logits, width, width))
    for node in np.flatnonzero(counts).tolist():
        n = counts[node] + 1
        b[node, :, :n], q[node, :, :n, :n] = leaves.forms(node)
    return b, q


def _of_two(graph: Graph, mean: str, variance: str) -> str:
    """Expected probabilities of two classes whose log odds are normal, by quadrature."""
    points, weights = QUADRATURE
    away = graph.add("Mul", graph.add("Sqrt", variance), graph.constant(points[None]))
    at, weight = graph.add("Add", mean, away), graph.constant(weights[:, None])
    sides = (at, graph.add("Neg", at))
    one = graph.number(1.0)
    chances = (graph.add("Div", one, graph.add("Add", one, graph.add("Exp", side))) for side in sides)
    return graph.add("Concat", *(graph.add("MatMul", chance, weight) for chance in chances), axis=1)


def _of_several(graph: Graph, mean: str, variance: str) -> str:
    """Expected probabilities of classes whose logits are normal, by the probit approximation."""
    less = graph.add("Sum", graph.add("Mul", variance, graph.number(PROBIT)), graph.number(1.0))
    return graph.add("Softmax", graph.add("Div", mean, graph.add("Sqrt", less)), axis=1)
