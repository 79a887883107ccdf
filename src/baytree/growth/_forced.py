"""Forced splits: reading and writing the parameter, a tree as nested dictionaries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._typing import AnyArray, BoolArray
from .._validation import short_repr
from ..decision import position_of
from ..table import Kind, Schema
from ..tree import (
    ANYTHING,
    LEAF,
    CategorySet,
    Hyperplane,
    Outline,
    OutlineNode,
    PresentMissing,
    Split,
    Threshold,
    TreeStore,
    outline_of,
    paths_of,
)
from ._read_split import read_split

_KEYS = {
    "split": {"column", "threshold", "categories", "others", "missing", "left", "right", "forbidden"},
    "plane": {"coefficients", "missing_values", "threshold", "left", "right", "forbidden"},
    "leaf": {"leaf", "decision"},
    "free": {"forbidden"},
}


@dataclass(frozen=True)
class ForcedTree:
    """The splits that a tree begins with, what is forbidden below its nodes, and decisions of leaves.

    Attributes
    ----------
    outline
        The splits; below the leaves that may grow, anything does.
    decided
        The class that is decided on in a leaf, by the sides on the way to it.
    """

    outline: Outline
    decided: dict[str, int] = field(default_factory=dict)

    @property
    def forbids(self) -> bool:
        """Whether some columns are forbidden."""
        return any(node.forbidden for node in self.outline)

    @property
    def n_leaves(self) -> int:
        """The number of leaves before anything grows."""
        return sum(node.split is None for node in self.outline)

    def is_forced(self, tree: TreeStore) -> BoolArray:
        """Which nodes of a tree that grew from here have a split that was forced."""
        forced = {path for path, node in zip(paths_of(self.outline), self.outline, strict=True) if node.split}
        return np.array([path in forced for path in paths_of(outline_of(tree))])

    def decided_leaves(self, tree: TreeStore) -> dict[int, int]:
        """The leaves of a tree whose decision was set, with the class."""
        paths = paths_of(outline_of(tree)) if self.decided else []
        return {node: self.decided[path] for node, path in enumerate(paths) if path in self.decided}


def read_forced(forced_splits: Any, schema: Schema, classes: AnyArray | None) -> ForcedTree | None:
    """Read the `forced_splits` parameter."""
    if forced_splits is None:
        return None
    outline: list[OutlineNode] = []
    decided: dict[str, int] = {}
    stack: list[tuple[Any, str]] = [(forced_splits, "")]
    while stack:
        entry, path = stack.pop()
        place = "".join(f"[{'left' if side == 'L' else 'right'!r}]" for side in path)
        try:
            node, label = _read_node(entry, schema)
            if label is not None:
                decided[path] = _read_decision(label, classes)
        except (TypeError, ValueError) as error:
            raise type(error)(f"forced_splits{place}: {error}") from None
        outline.append(node)
        if node.split is not None:
            stack += [(entry.get("right"), path + "R"), (entry.get("left"), path + "L")]
    return ForcedTree(tuple(outline), decided)


def _read_decision(label: Any, classes: AnyArray | None) -> int:
    if classes is None:
        raise ValueError("decision names a class, and numbers are predicted.")
    return position_of(label, classes, "decision")


def _read_node(entry: Any, schema: Schema) -> tuple[OutlineNode, Any]:
    """A node, and the label that is decided on if it is a leaf."""
    if entry is None:
        return OutlineNode(grow=ANYTHING), None
    if not isinstance(entry, dict):
        raise TypeError(f"a node must be a dict or None; got {short_repr(entry)}.")
    names = {"column": "split", "coefficients": "plane", "leaf": "leaf"}
    kind = next((names[key] for key in names if key in entry), "free")
    unknown = set(entry) - _KEYS[kind]
    if unknown:
        raise ValueError(f"unknown key {short_repr(min(unknown, key=str))}: it takes {sorted(_KEYS[kind])}.")
    if kind == "leaf":
        if entry["leaf"] is not True:
            raise ValueError("leaf must be True: leave the node out where it may grow.")
        return LEAF, entry.get("decision")
    forbidden = _read_forbidden(entry.get("forbidden", ()), schema)
    if kind == "free":
        return OutlineNode(grow=ANYTHING, forbidden=forbidden), None
    return OutlineNode(
        _read_plane(entry, schema) if kind == "plane" else _read_one(entry, schema), forbidden=forbidden
    ), None


def _read_forbidden(columns: Any, schema: Schema) -> tuple[int, ...]:
    if not isinstance(columns, (list, tuple, set)):
        raise TypeError(f"forbidden must be a list of columns; got {short_repr(columns)}.")
    return tuple(sorted({schema.position("forbidden", column) for column in columns}))


def _read_one(entry: dict[str, Any], schema: Schema) -> Split:
    missing = entry.get("missing", "right")
    if missing not in ("left", "right", "alone"):
        raise ValueError(f"missing must be 'left', 'right' or 'alone'; got {short_repr(missing)}.")
    if missing == "alone":
        return PresentMissing(schema.position("column", entry["column"]))
    return read_split(
        schema,
        entry["column"],
        entry.get("threshold"),
        entry.get("categories"),
        missing_left=missing == "left",
        others=entry.get("others"),
    )


def _read_plane(entry: dict[str, Any], schema: Schema) -> Hyperplane:
    coefficients = schema.by_position("coefficients", entry["coefficients"])
    missing = schema.by_position("missing_values", entry.get("missing_values", {}))
    numbers = (
        [] if coefficients is None else [*coefficients.values(), entry.get("threshold"), *(missing or {}).values()]
    )
    if len(numbers) < 3 or not all(isinstance(n, (int, float)) and np.isfinite(n) for n in numbers):
        raise ValueError("a hyperplane has a dict of coefficients of two columns or more, and a threshold.")
    terms = {} if coefficients is None else coefficients
    return Hyperplane(
        tuple(terms),
        tuple(float(n) for n in terms.values()),
        tuple(float((missing or {}).get(column, 0.0)) for column in terms),
        float(entry["threshold"]),
    )


def forced_splits_of(tree: TreeStore, schema: Schema, decided: dict[str, Any]) -> dict[str, Any]:
    """The parameter that forces a whole tree; `decided` has labels of leaves, by the sides on the way to them."""
    outline = outline_of(tree)
    below: list[dict[str, Any]] = []  # from the last node to the first: what hangs below comes before
    for node, path in zip(reversed(outline), reversed(paths_of(outline)), strict=True):
        if node.split is None:
            below.append({"leaf": True} | ({"decision": decided[path]} if path in decided else {}))
        else:
            left, right = below.pop(), below.pop()
            below.append(_entry_of(node.split, schema) | {"left": left, "right": right})
    return below[0]


def _name(schema: Schema, feature: int) -> str | int:
    return feature if schema.names is None else schema.names[feature]


def _entry_of(split: Split, schema: Schema) -> dict[str, Any]:
    if isinstance(split, Hyperplane):
        names = [_name(schema, feature) for feature in split.features]
        return {
            "coefficients": dict(zip(names, split.coefficients, strict=True)),
            "missing_values": dict(zip(names, split.missing_values, strict=True)),
            "threshold": split.threshold,
        }
    entry: dict[str, Any] = {"column": _name(schema, split.feature)}
    column = schema.columns[split.feature]
    match split:
        case PresentMissing():
            return entry | {"missing": "alone"}
        case Threshold():
            threshold: Any = split.threshold
            if column.kind is Kind.ORDERED and column.categories is not None:
                threshold = column.categories.tolist()[int(np.floor(threshold))]
            entry |= {} if column.kind is Kind.TRUTH else {"threshold": threshold}
        case CategorySet():
            labels = [] if column.categories is None else column.categories.tolist()
            sides = {"categories": split.left, "others": split.right}
            entry |= {name: [labels[position] for position in side] for name, side in sides.items()}
    return entry | {"missing": "left" if split.missing_left else "right"}
