"""The parts of an ONNX graph: columns as numbers, and the conditions of splits, in double precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from .._typing import AnyArray, IntArray
from ..table import Column, Kind, Schema
from ..tree import SplitKind, TreeStore

OPSETS = {"": 18, "ai.onnx.ml": 5}
IR_VERSION = 10


class Graph:
    """A graph as it grows: its nodes, its constants, its inputs and outputs."""

    def __init__(self, taken: Sequence[str]) -> None:
        self.taken = set(taken)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def fresh(self, what: str) -> str:
        """A name that nothing else has."""
        name = what
        while name in self.taken:
            name = f"{what}_{len(self.taken)}"
        self.taken.add(name)
        return name

    def constant(self, array: Any, what: str = "constant") -> str:
        """An array that is part of the model."""
        name = self.fresh(what)
        array = np.ascontiguousarray(array)
        if array.dtype.kind in "OU":
            texts: Any = [str(text).encode() for text in array.ravel()]
            self.constants.append(helper.make_tensor(name, TensorProto.STRING, array.shape, texts))
        else:
            self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", output: str | None = None, **attributes: Any) -> str:
        """An operator with one output, whose name is returned."""
        name = self.fresh(operator.lower()) if output is None else output
        self.nodes.append(helper.make_node(operator, list(inputs), [name], domain=domain, **attributes))
        return name

    def gather(self, values: str, positions: Sequence[int] | IntArray, axis: int = 1) -> str:
        """Some columns, or others along an axis."""
        return self.add("Gather", values, self.constant(np.asarray(positions, dtype=np.int64)), axis=axis)

    def output(self, name: str, values: Any, shape: Sequence[int | None] | None) -> str:
        """A name that is an output of the type of some values; of their shape, but for the rows, if none is given."""
        dtype = values.dtype if isinstance(values, np.ndarray) else np.dtype(values)
        kind = TensorProto.STRING if dtype.kind in "OU" else helper.np_dtype_to_tensor_dtype(dtype)
        shape = [None, *values.shape[1:]] if shape is None else shape
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def whole(self, numbers: Sequence[int]) -> str:
        """Whole numbers, such as shapes and axes."""
        return self.constant(np.array(numbers, dtype=np.int64))

    def zeros(self, like: str, n_columns: int, dtype: Any) -> str:
        """Zeros with as many rows as another array."""
        n_rows = self.add("Slice", self.add("Shape", like), self.whole([0]), self.whole([1]))
        shape = self.add("Concat", n_rows, self.whole([n_columns]), axis=0)
        return self.add("ConstantOfShape", shape, value=numpy_helper.from_array(np.zeros(1, dtype=dtype)))

    def number(self, value: float) -> str:
        """One number that goes with an array of any shape."""
        return self.constant(np.array(value, dtype=np.float64))

    def model(self) -> onnx.ModelProto:
        """The whole model, checked."""
        graph = helper.make_graph(self.nodes, "baytree", self.inputs, self.outputs, self.constants)
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="baytree", ir_version=IR_VERSION)
        onnx.checker.check_model(model)
        return model


@dataclass(frozen=True)
class Columns:
    """The columns that a model uses, as the graph has them."""

    schema: Schema
    used: list[int]
    numbers: str  # (n_rows, n_used), NaN where missing

    def places(self, features: IntArray) -> IntArray:
        """Positions of some features among the used ones."""
        return np.searchsorted(np.array(self.used), features)


def add_columns(graph: Graph, schema: Schema, used: list[int], missing: str) -> Columns:
    """Inputs for the used columns, and the matrix of numbers that they make."""
    if schema.names is None and not any(holds_text(column) for column in schema.columns):
        shape = [None, schema.n_features]
        graph.inputs.append(helper.make_tensor_value_info("X", TensorProto.DOUBLE, shape))
        inputs = [graph.gather("X", [feature]) for feature in used]
    else:
        inputs = [schema.name(feature) for feature in used]
        for name, feature in zip(inputs, used, strict=True):
            kind = TensorProto.STRING if holds_text(schema.columns[feature]) else TensorProto.DOUBLE
            graph.inputs.append(helper.make_tensor_value_info(name, kind, [None, 1]))
    pairs = zip(inputs, used, strict=True)
    numbers = [_as_number(graph, values, schema.columns[feature], missing) for values, feature in pairs]
    return Columns(schema, used, graph.add("Concat", *numbers, axis=1))


def holds_text(column: Column) -> bool:
    """Whether the categories of a column are text."""
    return column.categories is not None and column.categories.dtype.kind == "O"


def _as_number(graph: Graph, values: str, column: Column, missing: str) -> str:
    """A column as numbers: those it has, or positions of its categories."""
    if column.categories is None:
        return values
    unseen = np.nan if column.kind is Kind.ORDERED else -1.0  # without a place in the order it is missing
    n = len(column.categories)
    if holds_text(column):
        code = graph.add(
            "LabelEncoder",
            values,
            domain="ai.onnx.ml",
            keys_strings=[*column.categories.tolist(), missing],
            values_floats=[*map(float, range(n)), np.nan],
            default_float=unseen,
        )
        return graph.add("Cast", code, to=TensorProto.DOUBLE)
    equal = graph.add(
        "Cast", graph.add("Equal", values, graph.constant(column.categories[None])), to=TensorProto.DOUBLE
    )
    axes = graph.whole([1])
    is_known = graph.add("Cast", graph.add("ReduceSum", equal, axes), to=TensorProto.BOOL)
    position = graph.add("MatMul", equal, graph.constant(np.arange(float(n))[:, None]))
    code = graph.add("Where", is_known, position, graph.number(unseen))
    return graph.add("Where", graph.add("IsNaN", values), graph.number(np.nan), code)


def add_conditions(graph: Graph, splits: TreeStore, choices: IntArray, columns: Columns) -> str:
    """Whether each row goes left at each of some splits: truth values (n_rows, n_splits)."""
    parts, owners = [], []
    for kind, add in _OF_KIND.items():
        of_kind = choices[splits.is_of(kind)[choices]]
        if len(of_kind):
            for part, owner in add(graph, splits, of_kind, columns):
                parts.append(part)
                owners.append(owner)
    conditions = graph.add("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]
    place = {split: i for i, split in enumerate(np.concatenate(owners).tolist())}
    return graph.gather(conditions, [place[split] for split in choices.tolist()])


def _thresholds(graph: Graph, splits: TreeStore, choices: IntArray, columns: Columns) -> list[tuple[str, IntArray]]:
    values = graph.gather(columns.numbers, columns.places(splits.feature[choices]))
    below = graph.add("LessOrEqual", values, graph.constant(splits.threshold[choices]))
    missing_left = graph.constant(splits.missing_go_to_left[choices])
    return [(graph.add("Or", below, graph.add("And", graph.add("IsNaN", values), missing_left)), choices)]


def _present_missing(
    graph: Graph, splits: TreeStore, choices: IntArray, columns: Columns
) -> list[tuple[str, IntArray]]:
    values = graph.gather(columns.numbers, columns.places(splits.feature[choices]))
    return [(graph.add("Not", graph.add("IsNaN", values)), choices)]


def _category_sets(graph: Graph, splits: TreeStore, choices: IntArray, columns: Columns) -> list[tuple[str, IntArray]]:
    """One table for each feature: by category, another category and missing, where each of its splits sends them."""
    result = []
    for feature in np.unique(splits.feature[choices]).tolist():
        of_feature = choices[splits.feature[choices] == feature]
        categories = columns.schema.columns[feature].categories
        n = 0 if categories is None else len(categories)
        table = np.stack([_category_directions(splits, int(i), n) for i in of_feature], axis=1)
        values = graph.add(
            "Squeeze", graph.gather(columns.numbers, columns.places(np.array([feature]))), graph.whole([1])
        )
        code = graph.add("Where", graph.add("IsNaN", values), graph.number(n + 1), values)
        code = graph.add("Where", graph.add("Less", code, graph.number(0)), graph.number(n), code)
        code = graph.add("Cast", code, to=TensorProto.INT64)
        result.append((graph.add("Gather", graph.constant(table), code, axis=0), of_feature))
    return result


def _category_directions(splits: TreeStore, i: int, n: int) -> AnyArray:
    part = slice(int(splits.category_start[i]), int(splits.category_start[i + 1]))
    goes_left = np.full(n + 2, bool(splits.unseen_go_to_left[i]))
    goes_left[splits.category[part]] = splits.category_goes_left[part]
    goes_left[n + 1] = splits.missing_go_to_left[i]
    return goes_left


def _hyperplanes(graph: Graph, splits: TreeStore, choices: IntArray, columns: Columns) -> list[tuple[str, IntArray]]:
    """Sums term by term, in the order of the model; those that have fewer terms add zeros.

    A single one is there twice: run times take out a Mul by what float32 cannot tell from one.
    """
    choices = np.repeat(choices, 2) if len(choices) == 1 else choices
    start, count = splits.hyperplane_start[choices], np.diff(splits.hyperplane_start)[choices]
    total = ""
    for term in range(int(count.max())):
        has_term = term < count
        at = np.where(has_term, start + term, start)
        coefficient = np.where(has_term, splits.hyperplane_coefficient[at], 0.0)
        values = graph.gather(columns.numbers, columns.places(splits.hyperplane_feature[at]))
        instead = graph.constant(splits.hyperplane_missing_value[at])
        values = graph.add("Where", graph.add("IsNaN", values), instead, values)
        product = graph.add("Mul", graph.constant(coefficient), values)
        total = graph.add("Add", total, product) if total else product
    return [(graph.add("LessOrEqual", total, graph.constant(splits.threshold[choices])), choices)]


_OF_KIND = {
    SplitKind.THRESHOLD: _thresholds,
    SplitKind.PRESENT_MISSING: _present_missing,
    SplitKind.CATEGORY_SET: _category_sets,
    SplitKind.HYPERPLANE: _hyperplanes,
}
