"""The ONNX graph of trees and of tree spaces, from the columns to what is predicted."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from .._typing import AnyArray, FloatArray, IntArray
from ..decision import Decision
from ..fitted import Fitted, real_outcome
from ..leaves import ModelLeaves
from ..tree import SplitKind, TreeStore, concatenate_stores
from ._members import Member, has_std, member_values
from ._onnx_graph import Columns, Graph, add_columns, add_conditions
from ._onnx_leaves import leaf_means

OUTPUTS = ("label", "probabilities", "mean", "leaf", "std")
_LARGEST = np.finfo(np.float64).max


def onnx_model(fitted: Fitted, used: list[int], missing: str) -> onnx.ModelProto:
    """The model of a fitted result that reads some columns, with a text for missing values."""
    graph = Graph([*map(fitted.schema.name, used), "X", *OUTPUTS])
    columns = add_columns(graph, fitted.schema, used, missing)
    if fitted.has_one_leaf:
        leaf = _leaves(graph, [fitted.trees], columns)
        _tree_outputs(graph, fitted, leaf, columns)
        return graph.model()
    members = member_values(fitted, None, std=has_std(fitted))
    if fitted.trees.is_plain:
        average = _tree_average(graph, members, columns)
    else:
        average = _space_average(graph, fitted.trees, np.concatenate([values for _, values in members]), columns)
    _average_outputs(graph, fitted, average, members[0][1].shape[1])
    return graph.model()


def _leaves(graph: Graph, trees: list[TreeStore], columns: Columns) -> str:
    """The leaf of each row in each tree, (n_rows, n_trees), numbered throughout: a tree ensemble that predicts numbers.

    The ensemble tests thresholds itself; the other splits are evaluated before, each as a column of zeros and ones.
    """
    if all(tree.node_count == 1 for tree in trees):
        zeros = graph.zeros(columns.numbers, len(trees), np.int64)
        return graph.add("Add", zeros, graph.whole(list(range(len(trees)))))
    features, n_features, ensemble = [columns.numbers], len(columns.used), _Ensemble()
    splits, first = concatenate_stores(trees), np.cumsum([0, *(tree.node_count for tree in trees)])
    place = columns.places(np.where(splits.is_of(SplitKind.NONE), columns.used[0], splits.feature))
    others = np.flatnonzero(splits.is_of(SplitKind.CATEGORY_SET) | splits.is_of(SplitKind.HYPERPLANE))
    if len(others):
        goes_right = graph.add("Not", add_conditions(graph, splits, others, columns))
        features.append(graph.add("Cast", goes_right, to=TensorProto.DOUBLE))
        place[others] = n_features + np.arange(len(others))
    for tree, begin in zip(trees, first, strict=False):
        ensemble.add(tree, place[begin : begin + tree.node_count])
    table = graph.add("Concat", *features, axis=1) if len(features) > 1 else features[0]
    leaf = graph.add("TreeEnsemble", table, domain="ai.onnx.ml", **ensemble.attributes())
    return graph.add("Cast", leaf, to=TensorProto.INT64)


class _Ensemble:
    """The attributes of a tree ensemble, tree by tree: internal nodes and leaves have numbers of their own."""

    def __init__(self) -> None:
        self.roots: list[int] = []
        self.nodes: dict[str, list[AnyArray]] = {}
        self.leaves: dict[str, list[AnyArray]] = {}
        self.n_nodes = self.n_leaves = 0
        self.n_before = 0  # nodes and leaves of the trees before

    def add(self, tree: TreeStore, place: IntArray) -> None:
        """Add a tree whose splits look at these features."""
        inner, leaf = tree.internal_nodes, np.flatnonzero(tree.is_leaf)
        number = np.empty(tree.node_count, dtype=np.int64)
        number[inner], number[leaf] = self.n_nodes + np.arange(len(inner)), self.n_leaves + np.arange(len(leaf))
        self.roots.append(self.n_nodes)
        left, right = tree.children_left[inner], tree.children_right[inner]
        if len(inner) == 0:  # a tree that is a leaf has a node whose two sides are that leaf
            inner, left, right = leaf, leaf, leaf
        of_value = tree.is_of(SplitKind.THRESHOLD)[inner]
        present = tree.is_of(SplitKind.PRESENT_MISSING)[inner]
        node_arrays = {
            "nodes_featureids": place[inner],
            "nodes_splits": np.where(of_value, tree.threshold[inner], np.where(present, _LARGEST, 0.5)),
            "nodes_missing_value_tracks_true": (of_value & tree.missing_go_to_left[inner]).astype(np.int64),
            "nodes_truenodeids": number[left],
            "nodes_trueleafs": tree.is_leaf[left].astype(np.int64),
            "nodes_falsenodeids": number[right],
            "nodes_falseleafs": tree.is_leaf[right].astype(np.int64),
        }
        leaf_arrays = {
            "leaf_weights": (self.n_before + leaf).astype(np.float64),
            "leaf_targetids": np.full(len(leaf), len(self.roots) - 1),
        }
        self.n_before += tree.node_count
        for name, array in node_arrays.items():
            self.nodes.setdefault(name, []).append(array)
        for name, array in leaf_arrays.items():
            self.leaves.setdefault(name, []).append(array)
        self.n_nodes, self.n_leaves = self.n_nodes + len(inner), self.n_leaves + len(leaf)

    def attributes(self) -> dict[str, Any]:
        """The attributes in the operator's types: tensors of doubles, lists of whole numbers."""
        arrays = {name: np.concatenate(parts) for name, parts in (self.nodes | self.leaves).items()}
        return {
            **{n: numpy_helper.from_array(a) if a.dtype == np.float64 else a.tolist() for n, a in arrays.items()},
            "nodes_modes": numpy_helper.from_array(np.zeros(self.n_nodes, dtype=np.uint8)),  # x <= t
            "tree_roots": self.roots,
            "n_targets": len(self.roots),
            "aggregate_function": 1,  # the sum, of one tree for each target
            "post_transform": 0,
        }


def _tree_average(graph: Graph, members: list[tuple[Member, FloatArray]], columns: Columns) -> str:
    """The average of the leaf values of trees, (n_rows, n_values)."""
    leaves = _leaves(graph, [member.trees for member, _ in members], columns)
    of_nodes = np.concatenate([member.share * values for member, values in members])
    return graph.add(
        "ReduceSum", graph.add("Gather", graph.constant(of_nodes), leaves, axis=0), graph.whole([1]), keepdims=0
    )


def _space_average(graph: Graph, space: TreeStore, values: FloatArray, columns: Columns) -> str:
    """The average prediction of the roots, (n_rows, n_values): depth by depth, from the deepest up."""
    splits = np.flatnonzero(~space.is_leaf)
    if len(splits) == 0:
        return graph.add("Add", graph.zeros(columns.numbers, values.shape[1], np.float64), graph.constant(values))
    goes_left = add_conditions(graph, space, splits, columns)
    below = ""
    for depth in range(space.max_depth, -1, -1):
        nodes = np.flatnonzero(space.depth == depth)
        leaf = graph.constant(values[nodes][None])  # (1, n_nodes, n_values)
        if not below:
            below = leaf
            continue
        added = _depth_sums(graph, space, nodes, values.shape[1], goes_left, below)
        below = graph.add("Sum", added, leaf)  # an Add of next to nothing is taken out by some run times
    if space.n_trees == 1:
        return graph.add("Squeeze", below, graph.whole([1]))
    return graph.add("ReduceMean", below, graph.whole([1]), keepdims=0)


def _depth_sums(graph: Graph, space: TreeStore, nodes: IntArray, n_values: int, goes_left: str, below: str) -> str:
    """The sums over splits at the nodes of one depth, (n_rows, n_nodes, n_values).

    Nodes are taken together where they have about as many splits: up to 2, 4, 8 and so on.
    """
    n_splits = np.bincount(space.owner[~space.is_leaf], minlength=space.node_count)
    size = np.ceil(np.log2(np.maximum(n_splits[nodes], 2)))
    groups = [nodes[size == n] for n in np.unique(size)]
    parts = [_node_sums(graph, space, group, n_values, goes_left, below) for group in groups]
    if len(parts) == 1:
        return parts[0]
    return graph.gather(graph.add("Concat", *parts, axis=1), np.argsort(np.concatenate(groups)))


def _node_sums(graph: Graph, space: TreeStore, nodes: IntArray, n_values: int, goes_left: str, below: str) -> str:
    """The sums over splits at some nodes of one depth.

    Every node has as many splits as the one with the most; those that it lacks lead to a node of zeros.
    """
    splits = np.flatnonzero(~space.is_leaf)
    n_by_node = np.bincount(space.owner[splits], minlength=space.node_count)
    first, n_splits = (np.cumsum(n_by_node) - n_by_node)[nodes], n_by_node[nodes]
    n_slots = max(2, int(n_splits.max()))  # two: run times take out a Mul by what float32 cannot tell from one
    place = first[:, None] + np.arange(n_slots)
    has_split = (np.arange(n_slots) < n_splits[:, None]).ravel()
    place = np.where(has_split, place.ravel(), 0)  # among all splits
    choice = splits[place]
    nodes_below = np.flatnonzero(space.depth == space.depth[nodes[0]] + 1)
    sides = [
        np.where(has_split, np.searchsorted(nodes_below, children[choice]), len(nodes_below))
        for children in (space.children_left, space.children_right)
    ]
    with_zeros = graph.add("Pad", below, graph.whole([0, 0, 0, 0, 1, 0]))
    left, right = (graph.gather(with_zeros, side) for side in sides)
    is_left = graph.add("Unsqueeze", graph.gather(goes_left, place), graph.whole([2]))
    share = np.where(has_split, space.choice_share[choice], 0.0)[None, :, None]
    terms = graph.add("Mul", graph.add("Where", is_left, left, right), graph.constant(share))
    shape = graph.whole([0, len(nodes), n_slots, n_values])
    return graph.add("ReduceSum", graph.add("Reshape", terms, shape), graph.whole([2]), keepdims=0)


def _tree_outputs(graph: Graph, fitted: Fitted, leaves: str, columns: Columns) -> None:
    """The outputs of a single tree, from its leaves."""
    tree = fitted.trees
    leaf = graph.add("Squeeze", leaves, graph.whole([1]), output=graph.output("leaf", np.int64, [None]))

    if isinstance(tree.leaves, ModelLeaves) and not tree.leaves.is_constant:
        _class_or_mean_outputs(graph, fitted, leaf_means(graph, tree.leaves, leaf, columns))
        return

    def add_leaf_output(name: str, values: AnyArray) -> None:
        graph.add("Gather", graph.constant(values), leaf, axis=0, output=graph.output(name, values, None))

    if fitted.outcome.predicts_classes:
        add_leaf_output("label", _labels(fitted.outcome.labels)[fitted.node_codes])
        add_leaf_output("probabilities", tree.value[:, 0])
        return
    add_leaf_output("mean", tree.value[:, 0])
    if fitted.has_distribution():
        std: FloatArray = np.asarray(real_outcome(fitted.outcome).std(tree.calibrated), dtype=np.float64)
        add_leaf_output("std", std[:, None])


def _average_outputs(graph: Graph, fitted: Fitted, average: str, n: int) -> None:
    """The mean and, where more is averaged, the standard deviation; or class probabilities and the decision."""
    n_values, calibration = len(fitted.value_names), fitted.forest_calibration
    mean = average if n == n_values else graph.gather(average, list(range(n_values)))
    if calibration is not None:
        powers = graph.add("Pow", mean, graph.number(calibration.exponent))
        mean = graph.add("Mul", powers, graph.constant(np.exp(calibration.intercepts)[None]))
    _class_or_mean_outputs(graph, fitted, mean)
    if n > n_values:
        first, second = (graph.gather(average, [i]) for i in (n - 2, n - 1))
        variance = graph.add("Sub", second, graph.add("Mul", first, first))
        least = graph.add("Max", variance, graph.number(0.0))
        graph.add("Sqrt", least, output=graph.output("std", np.float64, [None, 1]))


def _class_or_mean_outputs(graph: Graph, fitted: Fitted, average: str) -> None:
    """The mean; or class probabilities and the decision."""
    n_values = len(fitted.value_names)
    if not fitted.outcome.predicts_classes:
        graph.add("Identity", average, output=graph.output("mean", np.float64, [None, n_values]))
        return
    total = graph.add("ReduceSum", average, graph.whole([1]))
    shares = graph.output("probabilities", np.float64, [None, n_values])
    graph.add("Div", average, total, output=shares)
    labels = _labels(fitted.outcome.labels)
    best = _decision(graph, fitted.decision, shares)
    graph.add("Gather", graph.constant(labels), best, axis=0, output=graph.output("label", labels, None))


def _decision(graph: Graph, decision: Decision, shares: str) -> str:
    """The position of the class that is decided for, given class probabilities."""
    if decision.costs is not None:
        return graph.add("ArgMin", graph.add("MatMul", shares, graph.constant(decision.costs)), axis=1, keepdims=0)
    if decision.threshold is None:
        return graph.add("ArgMax", shares, axis=1, keepdims=0)
    share = graph.add("Squeeze", graph.gather(shares, [decision.positive]), graph.whole([1]))
    reached = graph.add("GreaterOrEqual", share, graph.number(decision.threshold))
    sides = (graph.constant(np.array(position)) for position in (decision.positive, 1 - decision.positive))
    return graph.add("Where", reached, *sides)


def _labels(classes: AnyArray) -> AnyArray:
    """Class labels as ONNX has them: text, or numbers of 64 bits."""
    if classes.dtype.kind in "iu" and classes.dtype != np.uint64:
        return classes.astype(np.int64)
    return classes.astype(np.float64) if classes.dtype.kind == "f" else classes
